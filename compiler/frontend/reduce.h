// Reductions over axes.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// Over which axes a reduction goes. Each is named once; negative ones count from the end.
struct ReduceOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};          ///< none: all
    bool keep_dims = false;  ///< reduced axes stay with size 1
};
/// The sum of elements. Sums of f16 and bf16 accumulate in f32; bool and integers of 8 and 16 bits
/// sum to i32, and integers wrap. Without elements: 0.
///
/// Examples: after `Tensor x = reshape(arange(6), {2, 3});` `sum(x)` is `15`,
/// `sum(x, {.axis = 0})` is `{3, 5, 7}`, `sum(x, {.axis = -1, .keep_dims = true})` is
/// `{{3}, {12}}`, `sum(x > 1)` is `4`.
Tensor sum(const Operand& x, const ReduceOptions& options = {});
/// The product of elements; types are as of sum. Without elements: 1.
///
/// Examples: `prod(tensor({2, 3, 4}))` is `24`, `prod(zeros({0}))` is `1`.
Tensor prod(const Operand& x, const ReduceOptions& options = {});
/// The mean of elements. Integers and bools give f32; f16 and bf16 are added in f32. Without
/// elements: nan.
///
/// Examples: `mean(tensor({1, 2}))` is `1.5`, `mean(tensor({1, 2, 3, 4}, {2, 2}), {.axis = 0})` is
/// `{2, 3}`, `mean(zeros({0}))` is `nan`.
Tensor mean(const Operand& x, const ReduceOptions& options = {});
/// The largest element. A nan gives way to every number, as in numpy's nanmax: where there is
/// nothing else the result is -inf. Bools and integers of 8 and 16 bits give i32. An axis without
/// elements is a UserError.
///
/// Examples: `max(tensor({1, 3, 2}))` is `3`, `max(tensor({NAN, 2.0f}))` is `2`,
/// `max(tensor({NAN}))` is `-inf`.
Tensor max(const Operand& x, const ReduceOptions& options = {});
/// The smallest element; types, nan (inf where there is nothing else) and errors as for max.
///
/// Examples: `min(tensor({1, 3, 2}))` is `1`, `min(tensor({NAN, 2.0f}))` is `2`.
Tensor min(const Operand& x, const ReduceOptions& options = {});
/// Returns whether any element is true, as a bool. Elements of other types count as true if they
/// are not 0; so does a nan. Without elements: false.
///
/// Examples: `any(tensor({0, 2}))` is `true`, `any(tensor({0.0f, NAN}))` is `true`,
/// `any(zeros({0}))` is `false`.
Tensor any(const Operand& x, const ReduceOptions& options = {});
/// Returns whether all elements are true (see any), as a bool. Without elements: true. As an index,
/// `all` is the whole axis.
///
/// Examples: `all(tensor({0, 2}))` is `false`, `all(zeros({0}))` is `true`,
/// `reshape(arange(4), {2, 2})(all, 1)` is `{1, 3}`.
Tensor all(const Operand& x, const ReduceOptions& options = {});

/// @cond

/// Returns how many elements such a reduction combines, as a float of `dtype`: sizes among tensors
/// are i32, which may be too small.
Tensor reduced_count(const Shape& shape, const Axes& axes, DType dtype);

/// @endcond

/// Over the axes in braces, or those of a variable; an empty list means all.
///
/// Examples: `sum(ones({2, 3, 4}), {0, 1})` is `{6, 6, 6, 6}`, after
/// `std::vector<int> axes{0, 1};` `mean(ones({2, 3, 4}), axes)` is `{1, 1, 1, 1}`.
/// @{
inline Tensor sum(const Operand& x, const AxisList& axes) { return sum(x, {.axis = axes.values}); }
inline Tensor prod(const Operand& x, const AxisList& axes) {
    return prod(x, {.axis = axes.values});
}
inline Tensor mean(const Operand& x, const AxisList& axes) {
    return mean(x, {.axis = axes.values});
}
inline Tensor max(const Operand& x, const AxisList& axes) { return max(x, {.axis = axes.values}); }
inline Tensor min(const Operand& x, const AxisList& axes) { return min(x, {.axis = axes.values}); }
/// @}

/// @cond

// A tensor could be meant by the braces, too.
inline std::vector<int> axes_in(std::initializer_list<Axis> axes) {
    std::vector<int> out;
    for (Axis axis : axes) out.push_back(axis.value);
    return out;
}

/// @endcond

/// Over the axes in braces, or those of a variable.
///
/// Example: `max(tensor({1, 2, 3, 4}, {2, 2}), {0})` is `{3, 4}`.
/// @{
template <SomeTensor X>
Tensor max(const X& x, std::initializer_list<Axis> axes, SourceLine line = here()) {
    return max(Operand(x, line), {.axis = axes_in(axes)});
}
template <SomeTensor X>
Tensor min(const X& x, std::initializer_list<Axis> axes, SourceLine line = here()) {
    return min(Operand(x, line), {.axis = axes_in(axes)});
}
template <SomeTensor X, ListOfIntegers T>
Tensor max(const X& x, const T& axes, SourceLine line = here()) {
    return max(Operand(x, line), {.axis = axes});
}
template <SomeTensor X, ListOfIntegers T>
Tensor min(const X& x, const T& axes, SourceLine line = here()) {
    return min(Operand(x, line), {.axis = axes});
}
inline Tensor any(const Operand& x, const AxisList& axes) { return any(x, {.axis = axes.values}); }
inline Tensor all(const Operand& x, const AxisList& axes) { return all(x, {.axis = axes.values}); }
/// @}

/// Along which axis an extremum is looked for.
struct ArgOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = std::nullopt;  ///< none: the index into x flattened
    bool keep_dims = false;                  ///< the axis (none: every axis) stays with size 1
};
/// The index of the largest element as i32, the first where several are equal; the first nan where
/// there is one, as in numpy. An axis without elements is a UserError; one that only turns out to
/// have none gives 0.
///
/// Examples: `argmax(tensor({1, 3, 3}))` is `1`, `argmax(tensor({1.0f, NAN, 3.0f}))` is `1`,
/// `argmax(tensor({1, 2, 4, 3}, {2, 2}), {.axis = 1})` is `{1, 0}`.
Tensor argmax(const Operand& x, const ArgOptions& options = {});
/// The index of the smallest element; else as argmax.
///
/// Examples: `argmin(tensor({2, 1, 1}))` is `1`, `argmin(tensor({5, 4, 3, 9}, {2, 2}))` is `2`.
Tensor argmin(const Operand& x, const ArgOptions& options = {});

}  // namespace firn
