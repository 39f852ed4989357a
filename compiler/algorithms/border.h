// Padding with elements of the tensor.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// The elements around a padded tensor a b c.
enum class PadMode : uint8_t {
    Edge,       ///< the element at the edge: a a | a b c | c c
    Reflect,    ///< mirrored at the element at the edge: c b | a b c | b a
    Symmetric,  ///< mirrored at the edge, which comes twice: b a | a b c | c b
    Wrap,       ///< from the other end: b c | a b c | a b
};
/// The numbers of elements before and behind each axis.
struct PadWidths {
    [[no_unique_address]] ByName by_name = {};
    std::vector<Size> before = {};  ///< one per axis; fewer: the first axes
    std::vector<Size> after = {};   ///< the same behind them
};
/// Pads x with its own elements, as numpy's pad with this mode; a padding wider than x repeats the
/// same pattern. With a constant around x, see pad(x, {.before, .after, .value}). UserError: an
/// axis without elements is padded, a width is below 0, there are more widths than axes.
///
/// Examples: `pad(tensor({1, 2, 3}), PadMode::Reflect, {.before = {2}, .after = {1}})` is
/// `{3, 2, 1, 2, 3, 2}`, `pad(tensor({1, 2, 3}), PadMode::Wrap, {.after = {4}})` is
/// `{1, 2, 3, 1, 2, 3, 1}`.
Tensor pad(const Operand& x, PadMode mode, const PadWidths& widths);

}  // namespace firn
