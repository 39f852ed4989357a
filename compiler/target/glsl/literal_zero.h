// Arithmetic with a literal 0, which software drivers fold as if there were no -0, inf or nan.
#pragma once
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// GLSL of a sum, difference, product, quotient or rest of floats with a literal 0, where drivers
/// fold it to a wrong result even if they promise not to; empty for every other node. `operands`
/// are the texts of the node's inputs. May call functions of math_library().
std::string literal_zero_glsl(const KernelCode& code, const KernelNode& node,
                              const std::vector<std::string>& operands);

}  // namespace firn
