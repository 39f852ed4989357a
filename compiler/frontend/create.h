// Tensors from data and from rules.
#pragma once
#include <cstddef>

#include "compiler/frontend/tensor.h"

namespace firn {

/// @cond

/// A line as a parameter. An overload that takes it reads `{}` and `{0, 4}` as a shape, because
/// braces make no CallerLine.
class CallerLine {
  public:
    CallerLine(const SourceLine& line) : line_(line) {}
    operator SourceLine() const { return line_; }

  private:
    SourceLine line_;
};

/// @endcond

/// Rows and columns with a stride each: a matrix or map of Eigen.
template <class View>
concept MatrixView = requires(const View& view) {
    view.rows() + view.cols() + view.rowStride() + view.colStride();
    requires Arithmetic<std::remove_cvref_t<decltype(*view.data())>>;
};
/// Elements with a stride along each of any number of axes: an mdspan.
template <class View>
concept ArrayView = requires(const View& view) {
    view.rank() + view.extent(0) + view.stride(0);
    requires Arithmetic<std::remove_cvref_t<decltype(*view.data_handle())>>;
};
/// Elements with a stride along every axis.
template <class View>
concept StridedView = MatrixView<View> || ArrayView<View>;

/// Contiguous elements that are made or held elsewhere: a vector, a span, a std::array.
template <class Range>
concept ContiguousElements = !StridedView<Range> && requires(const Range& range) {
    range.size();
    requires Arithmetic<std::remove_cvref_t<decltype(*range.data())>>;
};

/// The bytes of contiguous elements, for the time of a call.
struct Bytes {
    const std::byte* data;
    size_t count;
    /// The elements of a vector, a span or a std::array, which must live as long.
    template <class Range>
    requires requires(const Range& range) { sizeof(*range.data()) * range.size(); }
    Bytes(const Range& range)
        : data(reinterpret_cast<const std::byte*>(range.data())),
          count(sizeof(*range.data()) * static_cast<size_t>(range.size())) {}
};

/// A tensor of bytes in storage form (see DType::bytes), row-major. UserError where their number is
/// wrong.
///
/// Example: `tensor_from_bytes(std::vector<uint16_t>{0x3c00, 0xc000}, {2}, f16)` is `{1, -2}`.
Tensor tensor_from_bytes(const Bytes& bytes, const Shape& shape, DType dtype,
                         SourceLine line = here());

/// Data in: `tensor(values, {n, m})`, row-major. Elements of double give f64; without a shape it is
/// 1-D, with the shape `{}` it is one number. UserError where the shape has another number of
/// elements.
///
/// Examples: `tensor(std::vector<float>{1, 2, 3, 4}, {2, 2})` is `{{1, 2}, {3, 4}}`,
/// `tensor(std::vector<double>{0.5}).dtype().name()` is `"f64"`,
/// `tensor(std::vector<int>{7}, {})` is `7`.
template <ContiguousElements Range>
Tensor tensor(const Range& values, const Shape& shape, SourceLine line = here()) {
    constexpr auto dtype = stored_as<std::remove_cvref_t<decltype(*values.data())>>();
    static_assert(dtype.has_value(), "there is no dtype with elements of this type");
    return tensor_from_bytes(values, shape, *dtype, line);
}
/// A vector of bool keeps bits and no elements.
template <std::same_as<bool> Bool>
Tensor tensor(const std::vector<Bool>& values, const Shape& shape, SourceLine line = here()) {
    std::vector<uint32_t> wide(values.begin(), values.end());
    return tensor_from_bytes(wide, shape, boolean, line);
}
/// A tensor with one axis, of as many elements.
template <class Range>
requires(ContiguousElements<Range> || std::same_as<Range, std::vector<bool>>) Tensor
    tensor(const Range& values, CallerLine line = here()) {
    return tensor(values, Shape{Size(values.size())}, line);
}
/// Literals: floating point is f32, also double, and integers are i32 (unsigned: u32).
///
/// Examples: `tensor({1, 2, 3})` is `{1, 2, 3}`, `tensor({0.5, 1.0}, {1, 2})` is `{{0.5, 1}}`,
/// `tensor({0.5, 1.0}).dtype().name()` is `"f32"`.
/// @{
template <Arithmetic T>
Tensor tensor(std::initializer_list<T> values, const Shape& shape, SourceLine line = here()) {
    using Element = std::conditional_t<
        std::is_floating_point_v<T>, float,
        std::conditional_t<std::is_same_v<T, bool>, bool,
                           std::conditional_t<std::is_same_v<T, unsigned>, uint32_t, int32_t>>>;
    std::vector<Element> narrow;
    for (T value : values) narrow.push_back(static_cast<Element>(value));
    return tensor(narrow, shape, line);
}
template <Arithmetic T>
Tensor tensor(std::initializer_list<T> values, CallerLine line = here()) {
    return tensor(values, Shape{Size(values.size())}, line);
}
/// @}

/// @cond

/// A number in a list of several types.
struct ListedNumber {
    enum class Kind : uint8_t { Bool, Unsigned, Signed, Float };  // the largest is the list's

    template <Arithmetic T>
    ListedNumber(T number)
        : value(static_cast<double>(number)),
          kind(std::is_floating_point_v<T>   ? Kind::Float
               : std::is_same_v<T, bool>     ? Kind::Bool
               : std::is_same_v<T, unsigned> ? Kind::Unsigned
                                             : Kind::Signed) {}
    double value;
    Kind kind;
};
Tensor tensor_of_rows(const std::vector<std::vector<ListedNumber>>& rows, bool several,
                      SourceLine line);

/// @endcond

/// Literals of several types are f32 where one is floating point, else i32; lists of lists are
/// rows, as in numpy. UserError where rows differ in length.
///
/// Examples: `tensor({1.5, 2, 3})` is `{1.5, 2, 3}`, `tensor({{1, 2}, {3, 4}})` is
/// `{{1, 2}, {3, 4}}`, `tensor({{0.5, 1}, {2, 3}})` is `{{0.5, 1}, {2, 3}}`.
/// @{
inline Tensor tensor(std::initializer_list<ListedNumber> values, CallerLine line = here()) {
    return tensor_of_rows({values}, false, line);
}
inline Tensor tensor(std::initializer_list<std::initializer_list<ListedNumber>> rows,
                     CallerLine line = here()) {
    return tensor_of_rows({rows.begin(), rows.end()}, true, line);
}
template <Arithmetic T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, CallerLine line = here()) {
    std::vector<std::vector<ListedNumber>> listed;
    for (const auto& row : rows) listed.emplace_back(row.begin(), row.end());
    return tensor_of_rows(listed, true, line);
}
/// @}

/// @cond

/// The elements of an array of C, of all its rows.
template <class T>
struct ArrayElements {
    const T* first;
    size_t count;
    const T* data() const { return first; }
    size_t size() const { return count; }
};

/// @endcond

/// An array of C, with its shape.
///
/// Example: after `float rows[2][2] = {{1, 2}, {3, 4}};` `tensor(rows)` is `{{1, 2}, {3, 4}}`.
template <class Array>
requires std::is_bounded_array_v<Array> Tensor tensor(const Array& values,
                                                      CallerLine line = here()) {
    using Element = std::remove_cv_t<std::remove_all_extents_t<Array>>;
    const ArrayElements<Element> all{reinterpret_cast<const Element*>(&values),
                                     sizeof(Array) / sizeof(Element)};
    return [&]<size_t... K>(std::index_sequence<K...>) {
        return tensor(all, Shape{Size(std::extent_v<Array, K>)...}, line);
    }
    (std::make_index_sequence<std::rank_v<Array>>());
}

/// @cond

/// The memory layout of another library's view.
struct Strides {
    std::vector<int64_t> shape, strides;  // strides in elements
};
template <StridedView View>
Strides strides_of(const View& view) {
    if constexpr (MatrixView<View>) {
        return {{view.rows(), view.cols()}, {view.rowStride(), view.colStride()}};
    } else {
        Strides out;
        for (size_t k = 0; k < view.rank(); ++k) {
            out.shape.push_back(static_cast<int64_t>(view.extent(k)));
            out.strides.push_back(static_cast<int64_t>(view.stride(k)));
        }
        return out;
    }
}
template <class View>
requires StridedView<std::remove_cv_t<View>>
auto* elements_of(View& view) {
    if constexpr (MatrixView<View>)
        return view.data();
    else
        return view.data_handle();
}
/// Returns the offsets of the elements, in row-major order.
std::vector<int64_t> offsets(const Strides& of);

/// @endcond

/// Views of other libraries. The tensor is in row-major order, for any order of the view:
/// `tensor(matrix)` has its rows and columns.
/// @{
template <StridedView View>
Tensor tensor(const View& view, const Shape& shape, SourceLine line = here()) {
    std::vector<std::remove_cvref_t<decltype(*elements_of(view))>> packed;
    for (int64_t offset : offsets(strides_of(view))) packed.push_back(elements_of(view)[offset]);
    return tensor(packed, shape, line);
}
template <StridedView View>
Tensor tensor(const View& view, CallerLine line = here()) {
    const Strides of = strides_of(view);
    return tensor(view, Shape(of.shape.begin(), of.shape.end()), line);
}
/// @}

/// @cond

/// Throws a UserError unless x has this shape (a vector: also as one row or column; `flat`: so many
/// elements).
void check_copied(const Tensor& x, const std::vector<int64_t>& shape, bool flat, SourceLine line);

/// @endcond

/// Data out to where it is wanted, converted to the elements there: to contiguous memory such as a
/// span in row-major order, and to views of other libraries element by element. UserError where the
/// sizes differ.
///
/// Example: after `std::vector<float> to(4); copy_to(tensor({1, 2, 3, 4}, {2, 2}), to);` `to` is
/// `{1, 2, 3, 4}`.
template <class View>
requires(StridedView<std::remove_cvref_t<View>> ||
         ContiguousElements<std::remove_cvref_t<View>>) void copy_to(const Tensor& x, View&& view,
                                                                     SourceLine line = here()) {
    if constexpr (StridedView<std::remove_cvref_t<View>>) {
        const Strides of = strides_of(view);
        check_copied(x, of.shape, false, line);
        auto* to = elements_of(view);
        const auto all = x.to_vector<std::remove_cvref_t<decltype(*to)>>(line);
        size_t next = 0;
        for (int64_t offset : offsets(of)) to[offset] = all[next++];
    } else {
        check_copied(x, {static_cast<int64_t>(view.size())}, true, line);
        const auto all = x.to_vector<std::remove_cvref_t<decltype(*view.data())>>(line);
        for (size_t k = 0; k < all.size(); ++k) view.data()[k] = all[k];
    }
}

/// Every element is 0. Sizes are 0 or more; in functions that are recorded they may be symbolic, as
/// those of the following.
///
/// Examples: `zeros({2, 3})` is `{{0, 0, 0}, {0, 0, 0}}`, `zeros({}, i32)` is `0`.
Tensor zeros(const Shape& shape, DType dtype = f32, SourceLine line = here());
/// Every element is 1.
///
/// Example: `ones({3}, i32)` is `{1, 1, 1}`.
Tensor ones(const Shape& shape, DType dtype = f32, SourceLine line = here());
/// Every element is `value`; a C++ scalar gives f32, i32 or bool, and a tensor is repeated as by
/// expand.
///
/// Examples: `full({3}, 7)` is `{7, 7, 7}`, `full({2, 2}, tensor({1, 2}))` is `{{1, 2}, {1, 2}}`.
Tensor full(const Shape& shape, const Arg& value);

/// A tensor with the shape and type of x: zeros, ones, or `value`, converted.
///
/// Examples: `zeros_like(tensor({1.5, 2.5}))` is `{0, 0}`, `ones_like(tensor({7, 8}))` is `{1, 1}`,
/// `full_like(tensor({1.5, 2.5}), 3)` is `{3, 3}`.
/// @{
Tensor zeros_like(const Operand& x);
Tensor ones_like(const Operand& x);
Tensor full_like(const Operand& x, const Arg& value);
/// @}

/// 0, 1, ..., end - 1 as i32.
///
/// Example: `arange(4)` is `{0, 1, 2, 3}`.
Tensor arange(const Size& end, SourceLine line = here());
/// begin, begin + step, ... below end (above it where step is negative), as i32. UserError where
/// the step is 0.
///
/// Examples: `arange(2, 9, 3)` is `{2, 5, 8}`, `arange(3, 0, -1)` is `{3, 2, 1}`.
Tensor arange(const Size& begin, const Size& end, int64_t step = 1, SourceLine line = here());
/// The same in f32, from host numbers of which one is floating point: (end - begin) / step
/// elements, rounded up. If rounding could change that number, use `linspace`.
///
/// Examples: `arange(0.0f, 1.0f, 0.25f)` is `{0, 0.25, 0.5, 0.75}`, `arange(0, 2, 0.5)` is
/// `{0, 0.5, 1, 1.5}`.
template <Arithmetic A, Arithmetic B, Arithmetic C = int>
requires(std::floating_point<A> || std::floating_point<B> || std::floating_point<C>) Tensor
    arange(A begin, B end, C step = C(1), SourceLine line = here());
/// `count` numbers from begin to end, both included: in the type of the ends where they are floats,
/// else f32. One number is begin.
///
/// Examples: `linspace(0, 1, 5)` is `{0, 0.25, 0.5, 0.75, 1}`, `linspace(2, 9, 1)` is `{2}`.
Tensor linspace(const Arg& begin, const Arg& end, const Size& count);
/// Ones on the diagonal, zeros elsewhere: n rows, and m columns or as many.
///
/// Examples: `eye(2)` is `{{1, 0}, {0, 1}}`, `eye(2, 3)` is `{{1, 0, 0}, {0, 1, 0}}`.
/// @{
Tensor eye(const Size& n, DType dtype = f32, SourceLine line = here());
Tensor eye(const Size& n, const Size& m, DType dtype = f32, SourceLine line = here());
/// @}

/// A size that only the device knows: the value of `count` (an integer of rank 0), cut to 0 and
/// `most`. A tensor whose shape has it takes memory for `most`; its kernels run over as many
/// elements as there are, and nothing is read back to the host before shape(), size() or the data
/// are requested outside of a recorded function. The same count gives the same size. An operation
/// that needs the number itself, such as equality with another size, is a UserError. Inside a loop
/// the size belongs to one iteration: tensors with it in their shape live in that iteration, so a
/// tensor from outside is stored to by index, and assigning it such a shape is a UserError. The
/// loop becomes one of kernels.
///
/// Examples: after `Tensor x = tensor({5, 1, 7, 2}); Size large = device_size(sum(x > 4), 4);`
/// `ones({large})` is `{1, 1}`, `slice(sort(x), {.end = large})` is `{1, 2}`.
Size device_size(const Operand& count, const Size& most);

/// The index along `axis` at every element, i32 of the given shape. A negative axis counts from the
/// end.
///
/// Example: `index({2, 3}, 1)` is `{{0, 1, 2}, {0, 1, 2}}`.
Tensor index(const Shape& shape, int axis, SourceLine line = here());

/// @cond

Tensor index_of(const Operand& x, int axis);

/// @endcond

/// The same of x's shape.
///
/// Example: after `Tensor x = tensor({5, 5, 5});` `x + index(x, 0)` is `{5, 6, 7}`.
template <SomeTensor T>
Tensor index(const T& x, int axis, SourceLine line = here()) {
    return index_of(Operand(x, line), axis);
}
/// The indices along all axes. UserError where the shape has another number of them.
///
/// Example: after `Tensor u = zeros({2, 3}); auto [i, j] = indices<2>(u.shape());` `10 * i + j` is
/// `{{0, 1, 2}, {10, 11, 12}}`.
template <size_t Rank>
std::array<Tensor, Rank> indices(const Shape& shape, SourceLine line = here());

/// @cond

/// Checks that `shape` has `rank` axes, as indices<rank> requires.
void check_index_rank(const Shape& shape, size_t rank, SourceLine line);

template <size_t Rank>
std::array<Tensor, Rank> indices(const Shape& shape, SourceLine line) {
    check_index_rank(shape, Rank, line);
    std::array<Tensor, Rank> out;
    for (size_t axis = 0; axis < Rank; ++axis)
        out[axis] = index(shape, static_cast<int>(axis), line);
    return out;
}

Tensor arange_f32(double begin, double end, double step, SourceLine line);
template <Arithmetic A, Arithmetic B, Arithmetic C>
requires(std::floating_point<A> || std::floating_point<B> || std::floating_point<C>) Tensor
    arange(A begin, B end, C step, SourceLine line) {
    return arange_f32(static_cast<double>(begin), static_cast<double>(end),
                      static_cast<double>(step), line);
}

/// @endcond

}  // namespace firn
