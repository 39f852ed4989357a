// Running sums, products and extrema.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// The options of a scan.
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
/// Many short axes beside one another are summed by one invocation each. An axis of up to 4096
/// elements, if that is no symbol, is cut into at most 64 blocks, which one group sums, and then
/// their sums. Others are cut into blocks of 16, whose sums are cut into blocks of 16, and so on:
/// the work is proportional to the elements. Each element is added to the sum before it in its
/// block, that to the sum before the block in the block of blocks, and so on, so that floats are
/// not added from the left: a sum has the rounding errors of 16 log16(n) additions at most, or of n
/// / 64 + 80 in one group, where numpy's has those of n. If n is a symbol, there are four kinds of
/// blocks, and the errors of n / 65536 additions more.
///
/// The sums are monotone where addition is, as numpy's are: of x without an element below 0 they
/// never fall, of x without one above 0 they never rise, and they stay where an element is 0, so
/// that searchsorted draws nothing of weight 0. G. Blelloch, "Prefix Sums and Their Applications",
/// 1990.
///
/// Examples: `cumsum(tensor({1, 2, 3}))` is `{1, 3, 6}`,
/// `cumsum(tensor({1, 2, 3}), {.exclusive = true})` is `{0, 1, 3}`.
Tensor cumsum(const Operand& x, const ScanOptions& options = {});
/// out[k] = x[0] * .. * x[k]; types and nan as for cumsum. Floats are multiplied in the order of
/// blocks of 16, and products of factors of at least 1 may fall by a rounding error between blocks.
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
