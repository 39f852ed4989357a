// Whether tensors are equal, or nearly so.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

struct ClosenessOptions {
    double rtol = 1e-5;      // relative to b
    double atol = 1e-8;      // absolute
    bool equal_nan = false;  // nan is close to nan
};
/// |a - b| <= atol + rtol |b|, element by element, as numpy's isclose; an infinity is close to
/// itself alone. Integers are compared as f32, but equal ones are close. Operands broadcast.
Tensor isclose(const Operand& a, const Arg& b, const ClosenessOptions& options = {});
/// Whether all are close: a bool of rank 0.
Tensor allclose(const Operand& a, const Arg& b, const ClosenessOptions& options = {});

struct EqualOptions {
    bool equal_nan = false;
};
/// Whether both have one shape and equal elements, as numpy's array_equal: a bool of rank 0.
/// Symbols that stand for different sizes at a call are an error there.
Tensor array_equal(const Operand& a, const Operand& b, const EqualOptions& options = {});

}  // namespace firn
