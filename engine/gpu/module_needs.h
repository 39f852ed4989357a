// Finds the features that a module of SPIR-V needs, by the capabilities that it declares.
#pragma once
#include "compiler/program/program.h"

namespace firn {

/// Returns the needs that a kernel states; those of its module where it states none: one from a
/// file of an older version, or one that its user has edited.
DeviceNeeds needs_of(const KernelInfo& kernel);

}  // namespace firn
