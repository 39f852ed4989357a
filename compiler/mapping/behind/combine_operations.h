// Replaces several operations by one that does their work.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Combines operations of placed code: 1 + tanh(x) becomes OnePlusTanh if the tanh has no other
/// use; 0 <= x and x < n becomes InRange if n is known not to be negative; sines, cosines and
/// tangents whose argument is at most 1e5 become those for small angles. Nodes that lose their last
/// use are removed.
void combine_operations(KernelCode& code);

}  // namespace firn
