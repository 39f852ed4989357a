// Tensors from data and from rules.
#pragma once
#include <cstddef>

#include "compiler/frontend/tensor.h"

namespace firn {

/// A line as a parameter beside which `{}` and `{0, 4}` mean a shape: braces make none.
class CallerLine {
  public:
    CallerLine(const SourceLine& line) : line_(line) {}
    operator SourceLine() const { return line_; }

  private:
    SourceLine line_;
};

/// Contiguous elements that are made or held elsewhere: a vector, a span, a std::array, an Eigen
/// matrix.
template <class Range>
concept ContiguousElements = requires(const Range& range) {
    range.size();
    requires Arithmetic<std::remove_cvref_t<decltype(*range.data())>>;
};

/// The bytes of contiguous elements, for the time of a call.
struct Bytes {
    const std::byte* data;
    size_t count;
    template <class Range>
    requires requires(const Range& range) { sizeof(*range.data()) * range.size(); }
    Bytes(const Range& range)
        : data(reinterpret_cast<const std::byte*>(range.data())),
          count(sizeof(*range.data()) * static_cast<size_t>(range.size())) {}
};

/// A tensor of bytes in storage form (see DType::bytes), row-major. UserError where their number is
/// wrong.
Tensor tensor_from_bytes(const Bytes& bytes, const Shape& shape, DType dtype,
                         SourceLine line = here());

/// Data in: `tensor(values, {n, m})`, row-major. Elements of double give f64; without a shape it is
/// 1-D, with the shape `{}` it is one number.
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
template <class Range>
requires(ContiguousElements<Range> || std::same_as<Range, std::vector<bool>>) Tensor
    tensor(const Range& values, CallerLine line = here()) {
    return tensor(values, Shape{Size(values.size())}, line);
}
/// Literals: floating point is f32, integers are i32: `tensor({1, 2, 3})`, `tensor({0.5, 1.0}, {1,
/// 2})`.
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

Tensor zeros(const Shape& shape, DType dtype = f32, SourceLine line = here());
Tensor ones(const Shape& shape, DType dtype = f32, SourceLine line = here());
/// Every element is `value`; a C++ scalar gives f32, i32 or bool.
Tensor full(const Shape& shape, const Arg& value);

/// 0, 1, ..., end - 1 as i32.
Tensor arange(const Size& end, SourceLine line = here());
/// begin, begin + step, ... below end (above it where step is negative), as i32.
Tensor arange(const Size& begin, const Size& end, int64_t step = 1, SourceLine line = here());
/// The same in f32, from host numbers.
template <std::floating_point T>
Tensor arange(T begin, T end, T step = T(1), SourceLine line = here());
/// `count` numbers from begin to end, both included: in the type of the ends where they are floats,
/// else f32.
Tensor linspace(const Arg& begin, const Arg& end, const Size& count);
/// Ones on the diagonal, zeros elsewhere.
Tensor eye(const Size& n, DType dtype = f32, SourceLine line = here());
Tensor eye(const Size& n, const Size& m, DType dtype = f32, SourceLine line = here());

/// A size that only the device knows: the value of `count` (an integer of rank 0), cut to 0 and
/// `most`. A tensor whose shape has it takes memory for `most`; its kernels run over as many
/// elements as there are, and nothing is read back to the host: until shape(), size() or the data
/// are asked for outside of what is recorded. The same count gives the same size. What needs the
/// number itself, equality with another size, is a UserError. Inside a loop the size is one of a
/// iteration: what has it in its shape lives in that iteration, so a tensor from outside is stored
/// to by index, and a UserError says where it is assigned such a shape. The loop becomes one of
/// kernels.
Size device_size(const Operand& count, const Size& most);

/// The index along `axis` at every element, i32 of the given shape (or of x's shape).
Tensor index(const Shape& shape, int axis, SourceLine line = here());
Tensor index_of(const Operand& x, int axis);
template <SomeTensor T>
Tensor index(const T& x, int axis, SourceLine line = here()) {
    return index_of(Operand(x, line), axis);
}
/// The indices along all axes: `auto [i, j] = indices<2>(u.shape());`
template <size_t Rank>
std::array<Tensor, Rank> indices(const Shape& shape, SourceLine line = here());

/// Checks that `shape` has `rank` axes; what indices<rank> asks.
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
template <std::floating_point T>
Tensor arange(T begin, T end, T step, SourceLine line) {
    return arange_f32(begin, end, step, line);
}

}  // namespace firn
