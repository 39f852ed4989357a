// Tests whether tensors are equal, or nearly so.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The tolerances of close numbers.
struct ClosenessOptions {
    double rtol = 1e-5;      ///< relative to b
    double atol = 1e-8;      ///< absolute
    bool equal_nan = false;  ///< nan is close to nan
};
/// Returns whether |a - b| <= atol + rtol |b|, element by element, as numpy's isclose; an infinity
/// is only close to itself. Integers are compared as f32, but equal ones are close. Operands
/// broadcast.
///
/// Example: `isclose(tensor({1.000001f, 1.1f, NAN}), 1.0f)` is `{true, false, false}`.
Tensor isclose(const Operand& a, const Arg& b, const ClosenessOptions& options = {});
/// Returns whether all are close, as numpy's allclose: a bool of rank 0. Operands broadcast.
///
/// Examples: `allclose(tensor({1.0f, NAN}), tensor({1.0f, NAN}))` is `false`,
/// `allclose(tensor({1.0f, NAN}), tensor({1.0f, NAN}), {.equal_nan = true})` is `true`.
Tensor allclose(const Operand& a, const Arg& b, const ClosenessOptions& options = {});

/// The options of array_equal.
struct EqualOptions {
    bool equal_nan = false;  ///< nan is equal to nan
};
/// Returns whether both have one shape and equal elements, as numpy's array_equal:
/// a bool of rank 0. Types may differ; nothing broadcasts. Symbols that stand for different sizes
/// at a call are an error there.
///
/// Examples: `array_equal(tensor({1, 2}), tensor({1.0f, 2.0f}))` is `true`,
/// `array_equal(tensor({1, 1}), tensor({1}))` is `false`.
Tensor array_equal(const Operand& a, const Operand& b, const EqualOptions& options = {});

}  // namespace firn
