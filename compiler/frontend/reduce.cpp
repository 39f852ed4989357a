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

}  // namespace

Tensor sum(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Sum, x, options);
}
Tensor prod(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Prod, x, options);
}
Tensor max(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Max, x, options);
}
Tensor min(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Min, x, options);
}
Tensor any(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::Any, x, options);
}
Tensor all(const Operand& x, const ReduceOptions& options) {
    return reduced(ReduceOp::All, x, options);
}

Tensor mean(const Operand& x, const ReduceOptions& options) {
    SourceLine line = x.line();
    Ref node = x.node();
    DType own = node->dtype;
    // A mean of halves is taken in f32: their sum may be beyond what a half holds.
    DType wide = own.is_float() && own != f16 ? own : f32;
    Tensor total = sum(Operand(cast(x, wide), line), options);
    Size count = 1;
    if (options.axis.values.empty()) count = element_count(node->shape);
    for (int axis : options.axis.values)
        count *= node->shape[static_cast<size_t>(axis < 0 ? axis + node->rank() : axis)];
    Tensor divisor = Tensor(count, line).as(wide, line);
    Tensor out = Arg(total, line) / Arg(divisor, line);
    return own == f16 ? out.as(f16, line) : out;
}

namespace {

Tensor first_of(const char* what, ReduceOp op, const Operand& x, const ArgOptions& options) {
    if (!options.axis) {
        Tensor at = first_of(what, op, reshape(x, {Size(-1)}), {.axis = 0});
        if (!options.keep_dims) return at;
        return reshape(at, Shape(x.node()->shape.size(), Size(1)));
    }
    const Shape& shape = x.node()->shape;
    int axis = checked_axis(what, *options.axis, shape);
    const Size& n = shape[static_cast<size_t>(axis)];
    if (n.is(0))
        refuse(std::string(what) + ": axis " + std::to_string(axis) + " of shape " + text(shape) +
               " has no elements; check the size first");
    Tensor i = index(shape, axis);
    Tensor found = x.tensor() == reduced(op, x, {.axis = axis, .keep_dims = true});
    Tensor candidate = select(found, i, n);
    if (!x.node()->dtype.is_float())
        return min(candidate, {.axis = axis, .keep_dims = options.keep_dims});
    // A nan comes before all numbers: its candidates are negative.
    candidate = select(is_nan(x), i - n, candidate);
    Tensor first = min(candidate, {.axis = axis, .keep_dims = options.keep_dims});
    return select(first < 0, first + n, first);
}

}  // namespace

Tensor argmax(const Operand& x, const ArgOptions& options) {
    LineScope at(x.line());
    return first_of("argmax", ReduceOp::Max, x, options);
}
Tensor argmin(const Operand& x, const ArgOptions& options) {
    LineScope at(x.line());
    return first_of("argmin", ReduceOp::Min, x, options);
}

}  // namespace firn
