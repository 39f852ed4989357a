// Shifts of several axes, mirrors and quarter turns.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Shifts in braces, two or more integers: `{1, -2}`.
struct ShiftList {
    /// Each is a number or an integer tensor of rank 0.
    template <class... More>
    requires(sizeof...(More) > 0) ShiftList(const Arg& first, const More&... more)
        : values{first, Arg(more, first.line())...} {}
    std::vector<Arg> values;
};
/// Moves elements along several axes, around their ends, as numpy's roll. UserError where there are
/// not as many shifts as axes.
///
/// Example: `roll(tensor({1, 2, 3, 4, 5, 6}, {2, 3}), {1, -2}, {0, 1})` is
/// `{{6, 4, 5}, {3, 1, 2}}`.
Tensor roll(const Operand& x, const ShiftList& shifts, const AxisList& axes);
/// Columns in reverse order: axis 1, which x must have, else UserError.
///
/// Example: `fliplr(tensor({1, 2, 3, 4}, {2, 2}))` is `{{2, 1}, {4, 3}}`.
Tensor fliplr(const Operand& x);
/// Rows in reverse order: axis 0, which x must have, else UserError.
///
/// Example: `flipud(tensor({1, 2, 3, 4}, {2, 2}))` is `{{3, 4}, {1, 2}}`.
Tensor flipud(const Operand& x);

/// The number of quarter turns, and their plane.
struct Rot90Options {
    [[no_unique_address]] ByName by_name = {};
    int k = 1;             ///< quarter turns; negative: in the other direction
    int from = 0, to = 1;  ///< the axes, of which there must be two
};
/// x turned by 90 degrees from one axis towards another, as numpy's rot90: the last column becomes
/// the first row.
///
/// Examples: `rot90(tensor({1, 2, 3, 4}, {2, 2}))` is `{{2, 4}, {1, 3}}`,
/// `rot90(tensor({1, 2, 3, 4}, {2, 2}), {.k = -1})` is `{{3, 1}, {4, 2}}`.
Tensor rot90(const Operand& x, const Rot90Options& options = {});

}  // namespace firn
