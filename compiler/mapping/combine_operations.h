// Operations of which there is one that does the work of several.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Of placed code: 1 + tanh(x), where nobody else asks for the tanh, becomes OnePlusTanh, and
/// 0 <= x and x < n, where n is known not to be negative, becomes InRange. Sines, cosines and
/// tangents whose argument is no more than 1e5 become those of few turns. What nobody asks for any
/// more is not computed.
void combine_operations(KernelCode& code);

}  // namespace firn
