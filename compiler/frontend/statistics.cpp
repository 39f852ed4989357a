// Compositions of reductions, in a type wide enough for them.
#include "compiler/frontend/statistics.h"

#include <cmath>

#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/slope.h"
#include "compiler/ir/graph.h"

namespace firn {
namespace {

/// The type that reductions of real numbers are computed in.
DType wide_type(DType own) { return own.is_float() && !own.is_half() ? own : f32; }
/// The type that they come out in.
DType real_type(DType own) { return own.is_float() ? own : f32; }

Tensor variance(const char* what, const Tensor& x, const VarianceOptions& options) {
    for (int axis : options.axis.values) checked_axis(what, axis, x.node()->shape);
    Tensor away = x - mean(x, {.axis = options.axis, .keep_dims = true});
    Tensor total = sum(away * away, {.axis = options.axis, .keep_dims = options.keep_dims});
    Tensor count = reduced_count(x.node()->shape, options.axis, x.dtype());
    return total / max(count - options.correction, 0);
}

}  // namespace

Tensor var(const Operand& x, const VarianceOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    return variance("var", cast(x, wide_type(own)), options).as(real_type(own));
}

Tensor stddev(const Operand& x, const VarianceOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    return sqrt(variance("stddev", cast(x, wide_type(own)), options)).as(real_type(own));
}

namespace {

/// The sum of size^order to the power 1 / order. Its derivative, (size / length)^(order - 1), is 0
/// where nothing has a length, and where an element of an order below 1 has none.
Tensor length_of_order(const Tensor& size, double order, const ReduceOptions& over) {
    const Tensor length = pow(sum(pow(size, order), over), 1 / order);
    return custom_gradient(
        [&](const std::vector<Tensor>&) { return length; }, {size},
        [order, axes = over.axis](const std::vector<Tensor>& xs, const Tensor& y, const Tensor& g) {
            const Tensor along = sum(xs[0], {.axis = axes, .keep_dims = true});  // only its shape
            const Tensor whole = reshape(y, along.shape()), part = reshape(g, along.shape());
            const Tensor slope = pow(xs[0] / whole, order - 1);
            return std::vector<Tensor>{
                select((whole == 0) | (xs[0] == 0), 0,
                       scaled_cotangent(expand(part, xs[0].shape()), slope))};
        });
}

}  // namespace

Tensor norm(const Operand& x, const NormOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    Tensor wide = cast(x, wide_type(own)), size = abs(wide);
    ReduceOptions over{.axis = options.axis, .keep_dims = options.keep_dims};
    if (std::isnan(options.order) || options.order < 0)
        refuse("norm: the order is " + std::to_string(options.order) +
               "; give 0 or more, or infinity");
    Tensor length;
    if (std::isinf(options.order)) {
        length = max(size, over);
        length = select(any(is_nan(size), over), std::nanf(""), length);
    } else if (options.order == 0) {
        length = sum((size != 0).as(size.dtype()), over);
    } else if (options.order == 1) {
        length = sum(size, over);
    } else if (options.order == 2) {
        length = sqrt(sum(wide * wide, over));
    } else {
        length = length_of_order(size, options.order, over);
    }
    return length.as(real_type(own));
}

namespace {

/// The largest element along axes that stay; 0 where it is infinite, so that nothing is taken from
/// infinity.
Tensor finite_max(const Tensor& x, const Axes& axes) {
    Tensor largest = max(x, {.axis = axes, .keep_dims = true});
    return select(is_inf(largest), 0, largest);
}

Tensor log_of_sum(const Tensor& x, const Axes& axes) {
    Tensor largest = finite_max(x, axes);
    return log(sum(exp(x - largest), {.axis = axes, .keep_dims = true})) + largest;
}

}  // namespace

Tensor logsumexp(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    Tensor out = log_of_sum(cast(x, wide_type(own)), options.axis).as(real_type(own));
    if (options.keep_dims) return out;
    Shape shape = sum(x, options).node()->shape;  // only its shape counts
    return reshape(out, shape);
}

Tensor softmax(const Operand& x, const SoftmaxOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    checked_axis("softmax", options.axis, x.node()->shape);
    Tensor wide = cast(x, wide_type(own));
    Tensor grown = exp(wide - max(wide, {.axis = options.axis, .keep_dims = true}));
    return (grown / sum(grown, {.axis = options.axis, .keep_dims = true})).as(real_type(own));
}

Tensor log_softmax(const Operand& x, const SoftmaxOptions& options) {
    LineScope at(x.line());
    DType own = x.node()->dtype;
    checked_axis("log_softmax", options.axis, x.node()->shape);
    Tensor wide = cast(x, wide_type(own));
    Tensor away = wide - max(wide, {.axis = options.axis, .keep_dims = true});
    return (away - log_of_sum(away, options.axis)).as(real_type(own));
}

}  // namespace firn
