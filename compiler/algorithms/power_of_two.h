// Powers of two around a size, known or symbolic; internal.
#pragma once
#include "compiler/program/size.h"

namespace firn {

/// The smallest k with 2^k >= n; 0 for n = 0. Sizes are below 2^31.
Size log2_from(const Size& n);
/// 2^log2_from(n): the smallest power of two that is at least n.
Size power_of_two_from(const Size& n);

}  // namespace firn
