// Reductions, each a Reduce node.
#include "compiler/frontend/reduce.h"

#include "compiler/frontend/apply.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/record.h"

namespace firn {
namespace {

Tensor reduced(ReduceOp op, const Operand& x, const ReduceOptions& options) {
    return Tensor::from_node(
        reduce(builder_at(x), op, x.node(), options.axis.values, options.keep_dims));
}

/// An element of x, in its type.
Tensor chosen(ReduceOp op, const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    return in_own_type(reduced(op, x, options), {x});
}

/// The position of an extreme.
Tensor position(ReduceOp op, const Operand& x, const ArgOptions& options) {
    LineScope at(x.line());
    if (options.axis)
        return reduced(op, x, {.axis = *options.axis, .keep_dims = options.keep_dims});
    const Tensor first = reduced(op, reshape(x, {Size(-1)}), {.axis = 0});
    if (!options.keep_dims) return first;
    return reshape(first, Shape(x.node()->shape.size(), Size(1)));
}

}  // namespace

Tensor sum(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Sum, x, options);
}
Tensor prod(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Prod, x, options);
}
Tensor max(const Operand& x, const ReduceOptions& options) {
    return chosen(ReduceOp::Max, x, options);
}
Tensor min(const Operand& x, const ReduceOptions& options) {
    return chosen(ReduceOp::Min, x, options);
}
Tensor any(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Any, x, options);
}
Tensor all(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::All, x, options);
}

Tensor mean(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    Ref node = x.node();
    DType own = node->dtype;
    // A mean of halves is computed in f32: their sum may be beyond the range of a half.
    DType wide = own.is_float() && !own.is_half() ? own : f32;
    const Tensor total = sum(cast(x, wide), options);  // which checks the axes
    Tensor out = total / reduced_count(node->shape, options.axis, wide);
    return own.is_half() ? out.as(own) : out;
}

Tensor reduced_count(const Shape& shape, const Axes& axes, DType dtype) {
    Shape sizes;
    if (axes.values.empty()) sizes = shape;
    for (int axis : axes.values)
        sizes.push_back(shape[static_cast<size_t>(checked_axis("reduction", axis, shape))]);
    const Size count = element_count(sizes);
    if (count.is_constant())
        return Tensor::from_node(constant_float(builder(*current_state(), {}),
                                                static_cast<double>(count.constant()), dtype));
    if (count.upper_bound() <= INT32_MAX) return Tensor(count).as(dtype);
    Tensor out = Tensor(sizes[0]).as(dtype);
    for (size_t k = 1; k < sizes.size(); ++k) out = out * Tensor(sizes[k]).as(dtype);
    return out;
}

Tensor argmax(const Operand& x, const ArgOptions& options) {
    return position(ReduceOp::Argmax, x, options);
}
Tensor argmin(const Operand& x, const ArgOptions& options) {
    return position(ReduceOp::Argmin, x, options);
}

}  // namespace firn
