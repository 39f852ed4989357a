// Binary search in sorted vectors, and interpolation between their elements.
#pragma once
#include <optional>

#include "compiler/frontend/movement.h"

namespace firn {

struct SearchOptions {
    [[no_unique_address]] ByName by_name = {};
    bool right = false;  // of equal elements: behind the last; false: before the first
};
/// Where each value would be put into `sorted`, [n], so that it stays sorted, as numpy's
/// searchsorted: i32, 0 .. n, of the values' shape. A nan counts as larger than every number. By
/// bisection; what is not sorted gives some index in 0 .. n.
Tensor searchsorted(const Operand& sorted, const Operand& values,
                    const SearchOptions& options = {});
/// In which part between `bins`, [n], which rise or fall, each x lies: i with bins[i - 1] <= x <
/// bins[i], as numpy's digitize; `right` closes the parts above instead of below. i32, 0 .. n.
Tensor digitize(const Operand& x, const Operand& bins, const SearchOptions& options = {});

struct InterpOptions {
    std::optional<Tensor> left = std::nullopt;   // below the first point; none: its value
    std::optional<Tensor> right = std::nullopt;  // above the last
};
/// The piecewise linear function through the points (xp, fp), both [n] with xp rising, at x, as
/// numpy's interp: a float of x's shape, nan where x is. UserError where there are no points.
Tensor interp(const Operand& x, const Operand& xp, const Operand& fp,
              const InterpOptions& options = {});

}  // namespace firn
