// The best form of kernels in native code.
#pragma once
#include "compiler/target/class_rules.h"

namespace firn {

const ClassRules& native_rules(const DeviceProfile& profile);

}  // namespace firn
