// Running sums, products and extrema.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct ScanOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = std::nullopt;  // none: x is flattened, and so is the result
    bool exclusive =
        false;  // element k without x[k]: it starts from the identity, and the last is left out
    bool reverse = false;  // from the end of the axis
};

// Sums of blocks, the scan of those, and every element with what is before it: work in proportion
// to the elements, 5 kernels for a million of them. Floats are added in that order, which is not
// the order from the left. G. Blelloch, "Prefix Sums and Their Applications", 1990.

/// out[k] = x[0] + .. + x[k], as numpy's cumsum. Bools and integers of 8 and 16 bits give i32, f16
/// and bf16 are added in f32; from a nan on everything is nan.
Tensor cumsum(const Operand& x, const ScanOptions& options = {});
/// out[k] = x[0] * .. * x[k]; types and nan as for cumsum.
Tensor cumprod(const Operand& x, const ScanOptions& options = {});
/// The largest and smallest so far; a nan is passed over where there is a number before it.
Tensor cummax(const Operand& x, const ScanOptions& options = {});
Tensor cummin(const Operand& x, const ScanOptions& options = {});

}  // namespace firn
