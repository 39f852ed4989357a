// Matrix products of reshaped operands, and broadcast products.
#include "compiler/algorithms/products.h"

#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/vec.h"

namespace firn {
namespace {

Tensor flat(const Tensor& x) { return reshape(x, {element_count(x.shape())}); }

/// The axes of `shape` that are not in `axes`, in their order.
std::vector<int> others(const Shape& shape, const std::vector<int>& axes) {
    std::vector<int> out;
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
        bool among = false;
        for (int axis : axes) among |= axis == k;
        if (!among) out.push_back(k);
    }
    return out;
}

Shape sizes_of(const Shape& shape, const std::vector<int>& axes) {
    Shape out;
    for (int axis : axes) out.push_back(shape[static_cast<size_t>(axis)]);
    return out;
}

std::vector<int> joined(std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Axes counted from the front; each may be summed over once.
std::vector<int> checked_axes(const std::vector<int>& axes, const Shape& shape) {
    std::vector<int> out;
    for (int axis : axes) {
        const int checked = checked_axis("tensordot", axis, shape);
        for (int before : out)
            if (before == checked)
                refuse("tensordot: axis " + std::to_string(axis) + " of " + text(shape) +
                       " is given twice; each is summed over once");
        out.push_back(checked);
    }
    return out;
}

}  // namespace

Tensor tensordot(const Operand& a, const Operand& b, const std::vector<int>& a_axes,
                 const std::vector<int>& b_axes) {
    LineScope at(a.line());
    const Tensor x = a.tensor(), y = b.tensor();
    const Shape left = x.shape(), right = y.shape();
    const std::vector<int> over_a = checked_axes(a_axes, left),
                           over_b = checked_axes(b_axes, right);
    const Shape summed = sizes_of(left, over_a), with = sizes_of(right, over_b);
    bool fit = summed.size() == with.size();
    for (size_t k = 0; fit && k < with.size(); ++k) fit = !differ(summed[k], with[k]);
    if (!fit)
        refuse("tensordot: a is " + text(left) + " and b is " + text(right) +
               "; the axes of a are " + text(summed) + " and those of b " + text(with) +
               ", give as many of equal sizes");
    const std::vector<int> kept_a = others(left, over_a), kept_b = others(right, over_b);
    Shape shape = sizes_of(left, kept_a), columns = sizes_of(right, kept_b);
    const Tensor rows =
        reshape(permute(x, joined(kept_a, over_a)), {element_count(shape), element_count(summed)});
    const Tensor out = matmul(rows, reshape(permute(y, joined(over_b, kept_b)),
                                            {element_count(with), element_count(columns)}));
    shape.insert(shape.end(), columns.begin(), columns.end());
    return reshape(out, shape);
}

Tensor tensordot(const Operand& a, const Operand& b, int axes) {
    LineScope at(a.line());
    const int left = a.tensor().rank(), right = b.tensor().rank();
    if (axes < 0 || axes > left || axes > right)
        refuse("tensordot: axes is " + std::to_string(axes) + ", a has " + std::to_string(left) +
               " and b " + std::to_string(right) + "; give 0 to the smaller of both");
    std::vector<int> last, first;
    for (int k = 0; k < axes; ++k) last.push_back(left - axes + k), first.push_back(k);
    return tensordot(a, b, last, first);
}

Tensor outer(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    return unsqueeze(flat(a.tensor()), 1) * unsqueeze(flat(b.tensor()), 0);
}

Tensor inner(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    if (a.tensor().rank() == 0 || b.tensor().rank() == 0) return a * b;
    return tensordot(a, b, {-1}, {-1});
}

Tensor vdot(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    return tensordot(flat(a.tensor()), flat(b.tensor()), 1);
}

Tensor kron(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    Shape left = a.tensor().shape(), right = b.tensor().shape(), first, second, shape;
    const size_t rank = left.size() > right.size() ? left.size() : right.size();
    left.insert(left.begin(), rank - left.size(), Size(1));
    right.insert(right.begin(), rank - right.size(), Size(1));
    for (size_t k = 0; k < rank; ++k) {
        first.push_back(left[k]), first.push_back(Size(1));
        second.push_back(Size(1)), second.push_back(right[k]);
        shape.push_back(left[k] * right[k]);
    }
    return reshape(reshape(a, first) * reshape(b, second), shape);
}

Tensor cross(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    const std::vector<Tensor> u = components(a, 3), v = components(b, 3);
    return stack_components(
        {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]},
        a.line());
}

Tensor matrix_power(const Operand& a, int power) {
    LineScope at(a.line());
    Tensor base = a.tensor();
    const Shape shape = base.shape();
    if (shape.size() < 2 || differ(shape.back(), shape[shape.size() - 2]))
        refuse("matrix_power: a is " + text(shape) + "; its last two axes must be equal");
    if (power < 0) base = inverse(base);
    if (power == 0) return expand(eye(shape.back(), base.dtype()), shape);
    Tensor out;
    bool begun = false;
    for (int64_t left = power < 0 ? -static_cast<int64_t>(power) : power; left > 0; left /= 2) {
        if (left % 2 == 1) out = begun ? matmul(out, base) : base, begun = true;
        if (left > 1) base = matmul(base, base);
    }
    return out;
}

}  // namespace firn
