// The best form of kernels in GLSL, by the class of the device that runs them.
#pragma once
#include "compiler/target/class_rules.h"

namespace firn {

const ClassRules& glsl_rules(const DeviceProfile& profile);

}  // namespace firn
