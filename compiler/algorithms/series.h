// Rows of numbers at equal ratios, and powers.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// `count` numbers from base^begin to base^end at equal ratios, both included, as numpy's logspace:
/// base to the power linspace.
Tensor logspace(const Arg& begin, const Arg& end, const Size& count, const Arg& base = 10.0f);
/// `count` numbers from begin to end at equal ratios, both exactly, as numpy's geomspace; both may
/// be negative. nan where their signs differ or one is 0, a UserError where both are C++ numbers.
Tensor geomspace(const Arg& begin, const Arg& end, const Size& count);

struct VanderOptions {
    bool increasing = false;  // powers from 0 on; false: down to 0
};
/// The powers of each element of x, [n], as numpy's vander: [n, columns], in x's type (i32 at
/// least).
Tensor vander(const Operand& x, const Size& columns, const VanderOptions& options = {});
/// As many columns as elements.
Tensor vander(const Operand& x, const VanderOptions& options = {});

}  // namespace firn
