// Running sums, products and extrema.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct ScanOptions {
    std::optional<int> axis = std::nullopt;  // none: x is flattened, and so is the result
    bool exclusive =
        false;  // element k without x[k]: it starts from the identity, and the last is left out
    bool reverse = false;  // from the end of the axis
};

// One pass over blocks, one over the sums of the blocks, and one that adds them: work in proportion
// to the elements, in 3 kernels up to 1024 of them and 2 more for each factor of 32. Floats are
// added in that order, which is not the order from the left. G. Blelloch, "Prefix Sums and Their
// Applications", 1990.

/// out[k] = x[0] + .. + x[k], as numpy's cumsum. Bools and 8-bit integers give i32, f16 is added in
/// f32; from a nan on everything is nan.
Tensor cumsum(const Operand& x, const ScanOptions& options = {});
/// out[k] = x[0] * .. * x[k]; types and nan as for cumsum.
Tensor cumprod(const Operand& x, const ScanOptions& options = {});
/// The largest and smallest so far; a nan is passed over where there is a number before it.
Tensor cummax(const Operand& x, const ScanOptions& options = {});
Tensor cummin(const Operand& x, const ScanOptions& options = {});

}  // namespace firn
