// Rows of numbers at equal ratios, and powers.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// `count` numbers from base^begin to base^end at equal ratios, both included, as numpy's logspace:
/// base to the power linspace.
///
/// Examples: `logspace(0, 2, 3)` is `{1, 10, 100}`, `logspace(0, 3, 4, 2)` is `{1, 2, 4, 8}`.
Tensor logspace(const Arg& begin, const Arg& end, const Size& count, const Arg& base = 10.0f);
/// `count` numbers from begin to end at equal ratios, both exactly, as numpy's geomspace; both may
/// be negative. nan where their signs differ or one is 0, a UserError where both are C++ numbers.
///
/// Examples: `geomspace(1, 16, 5)` is `{1, 2, 4, 8, 16}`, `geomspace(-1, -100, 3)` is
/// `{-1, -10, -100}`.
Tensor geomspace(const Arg& begin, const Arg& end, const Size& count);

/// The order of the powers.
struct VanderOptions {
    bool increasing = false;  ///< powers from 0 on; false: down to 0
};
/// The powers of each element of x, [n], as numpy's vander: [n, columns], in x's type (i32 at
/// least). UserError where x has not one axis.
///
/// Examples: `vander(tensor({2, 3, 5}), 2)` is `{{2, 1}, {3, 1}, {5, 1}}`,
/// `vander(tensor({2, 3}), 3, {.increasing = true})` is `{{1, 2, 4}, {1, 3, 9}}`.
Tensor vander(const Operand& x, const Size& columns, const VanderOptions& options = {});
/// The same with as many columns as elements.
///
/// Example: `vander(tensor({2, 3, 5}))` is `{{4, 2, 1}, {9, 3, 1}, {25, 5, 1}}`.
Tensor vander(const Operand& x, const VanderOptions& options = {});

}  // namespace firn
