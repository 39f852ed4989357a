// Padding with what is inside.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

enum class PadMode : uint8_t {
    Edge,       // the element at the edge: a a | a b c | c c
    Reflect,    // mirrored at the element at the edge: c b | a b c | b a
    Symmetric,  // mirrored at the edge, which comes twice: b a | a b c | c b
    Wrap,       // from the other end: b c | a b c | a b
};
struct PadWidths {
    [[no_unique_address]] ByName by_name = {};
    std::vector<Size> before = {};  // one per axis; fewer: the first axes
    std::vector<Size> after = {};
};
/// As numpy's pad with this mode; wider than x, it goes on in the same way. With a constant around
/// x, see pad(x, {.before, .after, .value}). UserError: an axis without elements is padded.
Tensor pad(const Operand& x, PadMode mode, const PadWidths& widths);

}  // namespace firn
