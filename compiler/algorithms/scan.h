// Running sums, products and extrema.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Which elements a scan goes through, and how.
struct ScanOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = std::nullopt;  ///< none: x is flattened, and so is the result
    /// Element k without x[k]: it starts from the identity, and the last is left out.
    bool exclusive = false;
    bool reverse = false;  ///< from the end of the axis
};

/// out[k] = x[0] + .. + x[k], as numpy's cumsum. Bools and integers of 8 and 16 bits give i32, f16
/// and bf16 are added in f32; from a nan on everything is nan. The shape stays.
///
/// Many short axes beside one another are walked along, one invocation each (floats by sums alone).
/// Others: sums of blocks, the scan of those, and every element with what is before it: work in
/// proportion to the elements, 5 kernels for a million of them. Floats are added in that order,
/// which is not the order from the left. Blocks are joined so that the sums of x never fall where
/// none of it is below 0, never rise where none is above, and stay where an element is 0:
/// searchsorted draws nothing of weight 0. G. Blelloch, "Prefix Sums and Their Applications", 1990.
///
/// Examples: `cumsum(tensor({1, 2, 3}))` is `{1, 3, 6}`,
/// `cumsum(tensor({1, 2, 3}), {.exclusive = true})` is `{0, 1, 3}`.
Tensor cumsum(const Operand& x, const ScanOptions& options = {});
/// out[k] = x[0] * .. * x[k]; types, nan and order as for cumsum.
///
/// Example: `cumprod(tensor({1, 2, 3}))` is `{1, 2, 6}`.
Tensor cumprod(const Operand& x, const ScanOptions& options = {});
/// The largest so far, in the type of x; a nan is passed over where a number stands before it.
///
/// Example: `cummax(tensor({3, 1, 4, 2}))` is `{3, 3, 4, 4}`.
Tensor cummax(const Operand& x, const ScanOptions& options = {});
/// The smallest so far, in the type of x; a nan is passed over where a number stands before it.
///
/// Example: `cummin(tensor({3, 1, 4, 2}))` is `{3, 1, 1, 1}`.
Tensor cummin(const Operand& x, const ScanOptions& options = {});

}  // namespace firn
