// Positions are sorted by where they go, and every place takes its own one after the other.
#include "compiler/algorithms/scatter_in_order.h"

#include "compiler/algorithms/histogram.h"
#include "compiler/algorithms/scan.h"
#include "compiler/algorithms/sort.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

template <class Combine>
Tensor in_order(const Tensor& start, const Tensor& ids, const Tensor& values,
                const Combine& combine) {
    const Size places = start.size(0);
    // Elements that are left out stand behind the others.
    Tensor id = select((ids >= 0) & (ids < places), ids, places).as(i32);
    Tensor order = argsort(id), counts = bincount(id, places),
           begins = cumsum(counts, {.exclusive = true});
    const DType wide = start.dtype().is_half() ? f32 : start.dtype();
    Tensor out = start.as(wide);
    for (Tensor k : loop(Size(values.size(0)))) {
        if_(k >= counts, [] { break_(); });
        out = combine(out, values(order(begins + k)).as(wide));
    }
    return out.as(start.dtype());
}

using InOrder = Tensor (*)(const Tensor& start, const Tensor& ids, const Tensor& values);

void combine(const char* what, const Access& place, const Arg& value, ScatterOp op,
             InOrder in_order) {
    LineScope at(value.line());
    SessionState& session = *current_state();
    if (kernel_depth(session))
        refuse(std::string(what) +
               ": not in an order inside kernel(...), whose invocations have none");
    // The places would be masked by a condition that belongs to the positions.
    if (const Ref mask = store_mask(place.slot(), value.line()); mask && !mask->shape.empty())
        refuse(std::string(what) + ": not in an order under a condition of shape " +
               text(mask->shape) +
               "; give an index outside where it does not hold, as in x(select(condition, i, -1))");
    const Builder b = builder(session, value.line());
    const auto places = place.places();
    const Ref stored = scatter(
        b, place.version(), value.node(),
        masked_indices(b, place.slot(), std::vector<Ref>(places.begin(), places.end())), {op});
    if (!stored->dtype.is_float()) return place.leave(stored, value.line());
    const Shape& shape = stored->shape;
    Tensor inside = true, flat = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        Tensor index = Tensor::from_node(stored->inputs[axis + 2]);
        inside = inside & (index >= 0) & (index < shape[axis]);
        flat = flat * shape[axis] + index;
    }
    const Shape vector{Size(-1)};
    Tensor values = reshape(Tensor::from_node(stored->inputs[1]), vector);
    Tensor ids = reshape(expand(select(inside, flat, -1), stored->inputs[1]->shape), vector);
    Tensor start = reshape(Tensor::from_node(place.version()), vector);
    place.leave(reshape(in_order(start, ids, values), shape).node(), value.line());
}

}  // namespace

Tensor added_in_order(const Tensor& start, const Tensor& ids, const Tensor& values) {
    return in_order(start, ids, values, [](const Tensor& a, const Tensor& b) { return a + b; });
}

Tensor multiplied_in_order(const Tensor& start, const Tensor& ids, const Tensor& values) {
    return in_order(start, ids, values, [](const Tensor& a, const Tensor& b) { return a * b; });
}

void scatter_add(const Access& place, const Arg& value, const CombineOptions& options) {
    if (!options.deterministic) return scatter_add(place, value);
    combine("scatter_add", place, value, ScatterOp::Add, added_in_order);
}

void scatter_mul(const Access& place, const Arg& value, const CombineOptions& options) {
    if (!options.deterministic) return scatter_mul(place, value);
    combine("scatter_mul", place, value, ScatterOp::Mul, multiplied_in_order);
}

}  // namespace firn
