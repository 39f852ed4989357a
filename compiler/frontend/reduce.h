// Reductions over axes.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct ReduceOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};          // none: all
    bool keep_dims = false;  // reduced axes stay with size 1
};
/// Sums of f16 and bf16 accumulate in f32; bool and integers of 8 and 16 bits sum to i32. Without
/// elements: 0.
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

// Over the axes in braces.
inline Tensor sum(const Operand& x, const AxisList& axes) { return sum(x, {.axis = axes.values}); }
inline Tensor prod(const Operand& x, const AxisList& axes) {
    return prod(x, {.axis = axes.values});
}
inline Tensor mean(const Operand& x, const AxisList& axes) {
    return mean(x, {.axis = axes.values});
}
inline Tensor max(const Operand& x, const AxisList& axes) { return max(x, {.axis = axes.values}); }
inline Tensor min(const Operand& x, const AxisList& axes) { return min(x, {.axis = axes.values}); }
// A tensor could be meant by the braces, too.
inline std::vector<int> axes_in(std::initializer_list<Axis> axes) {
    std::vector<int> out;
    for (Axis axis : axes) out.push_back(axis.value);
    return out;
}
template <SomeTensor X>
Tensor max(const X& x, std::initializer_list<Axis> axes, SourceLine line = here()) {
    return max(Operand(x, line), {.axis = axes_in(axes)});
}
template <SomeTensor X>
Tensor min(const X& x, std::initializer_list<Axis> axes, SourceLine line = here()) {
    return min(Operand(x, line), {.axis = axes_in(axes)});
}
inline Tensor any(const Operand& x, const AxisList& axes) { return any(x, {.axis = axes.values}); }
inline Tensor all(const Operand& x, const AxisList& axes) { return all(x, {.axis = axes.values}); }

struct ArgOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = std::nullopt;  // none: the index into x flattened
    bool keep_dims = false;
};
/// The index of the largest or smallest element as i32, the first where several are equal; the
/// first nan where there is one, as in numpy. An axis without elements is a UserError.
Tensor argmax(const Operand& x, const ArgOptions& options = {});
Tensor argmin(const Operand& x, const ArgOptions& options = {});

}  // namespace firn
