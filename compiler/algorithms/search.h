// Binary search in sorted vectors, and interpolation between their elements.
#pragma once
#include <optional>

#include "compiler/frontend/movement.h"

namespace firn {

/// The side of equal elements.
struct SearchOptions {
    [[no_unique_address]] ByName by_name = {};
    bool right = false;  ///< true: behind the last equal element; false: before the first
};
/// Returns the index at which each value can be inserted into `sorted`, [n], so that it stays
/// sorted, as numpy's searchsorted: i32, from 0 to n, of the values' shape. A nan counts as larger
/// than every number. It searches by bisection; an unsorted tensor gives some index in 0 .. n.
///
/// Examples: `searchsorted(tensor({1, 3, 5}), tensor({0, 3, 9}))` is `{0, 1, 3}`,
/// `searchsorted(tensor({1, 3, 5}), tensor({0, 3, 9}), {.right = true})` is `{0, 2, 3}`.
Tensor searchsorted(const Operand& sorted, const Operand& values,
                    const SearchOptions& options = {});
/// Returns the part between `bins`, [n], which rise or fall, in which each x lies: i with bins[i -
/// 1] <= x < bins[i], as numpy's digitize; `right` closes the parts above instead of below. i32, 0
/// .. n.
///
/// Examples: `digitize(tensor({0.5f, 1.0f, 2.5f}), tensor({1.0f, 2.0f}))` is `{0, 1, 2}`,
/// `digitize(tensor({0.5f, 1.0f, 2.5f}), tensor({1.0f, 2.0f}), {.right = true})` is `{0, 0, 2}`.
Tensor digitize(const Operand& x, const Operand& bins, const SearchOptions& options = {});

/// The values outside of the points.
struct InterpOptions {
    std::optional<Tensor> left = std::nullopt;   ///< below the first point; none: its value
    std::optional<Tensor> right = std::nullopt;  ///< above the last; none: its value
};
/// The piecewise linear function through the points (xp, fp), both [n] with xp rising, at x, as
/// numpy's interp: a float of x's shape, nan where x is. UserError where there are no points.
///
/// Examples: after `Tensor xp = tensor({0, 1}), fp = tensor({10, 20});`
/// `interp(tensor({0.5f, 3.0f}), xp, fp)` is `{15, 20}`,
/// `interp(tensor({0.5f, 3.0f}), xp, fp, {.right = 0.0f})` is `{15, 0}`.
Tensor interp(const Operand& x, const Operand& xp, const Operand& fp,
              const InterpOptions& options = {});

}  // namespace firn
