// Checks whether all parts of a saved program fit together.
#pragma once
#include "compiler/program/saved_program.h"

namespace firn {

/// Throws UserError that names the first inconsistency: an index out of its list, a size that no
/// call gives a value, a copy between sizes that differ, a kernel without code, a parameter out of
/// its own range. A program that passes can be planned and recorded for a device that check_device
/// accepts.
void check_saved(const SavedProgram& saved);

}  // namespace firn
