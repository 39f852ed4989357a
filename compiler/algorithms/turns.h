// Shifts of several axes, mirrors and quarter turns.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Shifts in braces, two or more integers: `{1, -2}`.
struct ShiftList {
    template <class... More>
    requires(sizeof...(More) > 0) ShiftList(const Arg& first, const More&... more)
        : values{first, Arg(more, first.line())...} {}
    std::vector<Arg> values;
};
/// Moves elements along several axes, around their ends, as numpy's roll: `roll(x, {1, -2}, {0,
/// 1})`. UserError where there are not as many shifts as axes.
Tensor roll(const Operand& x, const ShiftList& shifts, const AxisList& axes);
/// Columns and rows in reverse order: axes 1 and 0, which x must have.
Tensor fliplr(const Operand& x);
Tensor flipud(const Operand& x);

struct Rot90Options {
    [[no_unique_address]] ByName by_name = {};
    int k = 1;  // how often; negative: the other way
    int from = 0, to = 1;
};
/// Turned by 90 degrees from one axis towards another, as numpy's rot90: the last column becomes
/// the first row.
Tensor rot90(const Operand& x, const Rot90Options& options = {});

}  // namespace firn
