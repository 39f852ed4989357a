// Reductions over axes.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct ReduceOptions {
    Axes axis = {};          // none: all
    bool keep_dims = false;  // reduced axes stay with size 1
};
/// Sums of f16 accumulate in f32; bool, u8 and i8 sum to i32. Without elements: 0.
Tensor sum(const Operand& x, const ReduceOptions& options = {});
Tensor prod(const Operand& x, const ReduceOptions& options = {});
/// Integers and bools give f32.
Tensor mean(const Operand& x, const ReduceOptions& options = {});
Tensor max(const Operand& x, const ReduceOptions& options = {});
Tensor min(const Operand& x, const ReduceOptions& options = {});
/// Anything but a bool counts as true where it is not 0.
Tensor any(const Operand& x, const ReduceOptions& options = {});
Tensor all(const Operand& x, const ReduceOptions& options = {});

/// How many elements such a reduction combines, as a float of `dtype`: sizes among tensors are i32,
/// which need not hold it.
Tensor reduced_count(const Shape& shape, const Axes& axes, DType dtype);

struct ArgOptions {
    std::optional<int> axis = std::nullopt;  // none: the index into x flattened
    bool keep_dims = false;
};
/// The index of the largest or smallest element as i32, the first where several are equal; the
/// first nan where there is one, as in numpy. An axis without elements is a UserError.
Tensor argmax(const Operand& x, const ArgOptions& options = {});
Tensor argmin(const Operand& x, const ArgOptions& options = {});

}  // namespace firn
