// Whole arrays in plain loops: the meaning of each form of an expression.
#pragma once
#include <vector>

#include "tests/programs/numbers.h"

namespace firn::programs {

using Shape = std::vector<int64_t>;

struct Array {
    DType dtype = i32;
    Shape shape;
    std::vector<Number> elements;  // row-major
    bool weak = false;             // a C++ number
};

int64_t count_of(const Shape& shape);
/// numpy's rule; throws Unsuitable where the shapes do not meet.
Shape broadcast(const Shape& a, const Shape& b);
Array expanded(const Array& x, const Shape& shape);
Array converted(const Array& x, DType dtype);
/// An array with the elements f(index).
template <class F>
Array made(DType dtype, const Shape& shape, const F& f) {
    Array out{dtype, shape, {}, false};
    const int64_t count = count_of(shape);
    if (count > 1'000'000) throw Unsuitable("large");
    std::vector<int64_t> at(shape.size(), 0);
    for (int64_t k = 0; k < count; ++k) {
        out.elements.push_back(f(at));
        for (size_t axis = shape.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
    }
    return out;
}
/// Returns the place of an index in row-major order.
int64_t flat(const Shape& shape, const std::vector<int64_t>& at);

Array applied(Fn fn, const std::vector<Array>& operands);
/// x(places...): fewer places than axes read whole rows.
Array read(const Array& x, const std::vector<Array>& places, Edge edge, double fill);
/// x after `x(places...) = value` (or a combination) where `mask` holds.
Array stored(const Array& x, const std::vector<Array>& places, const Array& value,
             const Array& mask, Combine combine);
Array reduced(const Array& x, Fn fn, const std::vector<int>& axes, bool keep_dims);
Array permuted(const Array& x, const std::vector<int>& axes);
Array flipped(const Array& x, int axis);
Array sliced(const Array& x, int axis, const std::array<int64_t, 3>& range);
Array rolled(const Array& x, const Array& shift, int axis);
Array concatenated(const std::vector<Array>& parts, int axis);
Array stacked(std::vector<Array> parts, int axis);

}  // namespace firn::programs
