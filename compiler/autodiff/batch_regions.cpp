// Loops and branches over a batch of samples.
#include <algorithm>

#include "compiler/autodiff/batch_run.h"
#include "compiler/autodiff/whole_kernels.h"

namespace firn {
namespace {

/// The trip count of each sample, if samples have bounds of their own.
struct OwnBounds {
    Ref begin, step, trips;  // i32 [count]
};

OwnBounds own_bounds(const BatchRun& run, const Node& loop) {
    const auto op = [&](Op o, const std::vector<Ref>& inputs) {
        return elementwise(run.b, o, inputs);
    };
    const Ref begin = run.all(loop.inputs[0]), end = run.all(loop.inputs[1]),
              step = run.all(loop.inputs[2]);
    const Ref zero = constant_int(run.b, 0), one = constant_int(run.b, 1);
    const Ref up = op(Op::Less, {zero, step}), way = op(Op::Sub, {end, begin});
    const Ref pace = op(Op::Abs, {step});
    const Ref distance = op(Op::Select, {up, way, op(Op::Neg, {way})});
    const Ref trips = op(Op::Div, {op(Op::Add, {distance, op(Op::Sub, {pace, one})}), pace});
    return {begin, step, op(Op::Max, {trips, zero})};
}

std::vector<Ref> batch_kernel(BatchRun& run, const Node& self) {
    std::vector<Ref> whole = whole_kernel(run.b, self, false, refuse_batch);
    run.kept.insert(run.kept.end(), whole.begin(), whole.end());
    batch_sweep(run, whole);
    for (Ref& value : whole) value = run.all(value);
    return whole;
}

}  // namespace

std::vector<Ref> batch_loop(BatchRun& run, const Ref& self) {
    const LoopAttr& attr = self->as<LoopAttr>();
    if (attr.by_hand()) return batch_kernel(run, *self);
    if (!attr.sizes.empty()) refuse_batch(*self, "loops that make sizes");
    const Builder b = run.b;
    const bool bounds = std::any_of(self->inputs.begin(), self->inputs.begin() + 3,
                                    [&](const Ref& bound) { return run.depends(bound); });
    const Region one = with_fresh_args(b.table, *attr.body);
    run.kept.insert(run.kept.end(), one.args.begin(), one.args.end());
    run.kept.insert(run.kept.end(), one.results.begin(), one.results.end());
    Region body;
    body.args.push_back(bounds ? region_arg(b, i32, {}) : one.args[0]);
    std::vector<Ref> inits, bounds_of_all(self->inputs.begin(), self->inputs.begin() + 3);
    Ref goes_on;  // bool [count]: the sample's bounds are not reached
    if (bounds) {
        const OwnBounds by_sample = own_bounds(run, *self);
        const Ref iteration = expand(b, body.args[0], {run.count});
        run.values[one.args[0].get()] = elementwise(
            b, Op::Add, {by_sample.begin, elementwise(b, Op::Mul, {iteration, by_sample.step})});
        goes_on = elementwise(b, Op::Less, {iteration, by_sample.trips});
        const Ref most = run.count.is(0) ? constant_int(b, 0)
                                         : reduce(b, ReduceOp::Max, by_sample.trips, {}, false);
        bounds_of_all = {constant_int(b, 0), most, constant_int(b, 1)};
    }
    for (size_t k = 0; k < one.results.size(); ++k) {
        const Ref& arg = one.args[k + 1];
        inits.push_back(run.all(self->inputs[k + 3]));
        body.args.push_back(region_arg(b, arg->dtype, inits[k]->shape));
        run.values[arg.get()] = body.args.back();
    }
    if (bounds || attr.active >= 0) run.note_lockstep(one.results);
    batch_sweep(run, one.results);
    // A single sample ends its loop when no element is active, regardless of what the body would do
    // then.
    if (attr.active >= 0) {
        const Ref& active = body.args[static_cast<size_t>(attr.active) + 1];
        std::vector<int> axes;
        for (int axis = 1; axis < active->rank(); ++axis) axes.push_back(axis);
        const Ref runs = axes.empty() ? active : reduce(b, ReduceOp::Any, active, axes, false);
        goes_on = goes_on ? elementwise(b, Op::And, {goes_on, runs}) : runs;
    }
    for (size_t k = 0; k < one.results.size(); ++k) {
        Ref next = run.all(one.results[k]);
        if (goes_on)
            next =
                elementwise(b, Op::Select,
                            {run.fitted(goes_on, one.results[k]->shape), next, body.args[k + 1]});
        body.results.push_back(next);
    }
    const Ref made = loop(b, bounds_of_all[0], bounds_of_all[1], bounds_of_all[2], std::move(inits),
                          std::move(body), attr.active, attr.must_end, {}, attr.checkpoint);
    std::vector<Ref> out;
    for (size_t k = 0; k < one.results.size(); ++k)
        out.push_back(result(b, made, static_cast<int>(k)));
    return out;
}

std::vector<Ref> batch_branch(BatchRun& run, const Ref& self) {
    const IfAttr& attr = self->as<IfAttr>();
    const Builder& b = run.b;
    const Ref& condition = self->inputs[0];
    const bool differ = run.depends(condition);
    Region then_body, else_body;
    std::vector<Ref> out(attr.then_body->results.size());
    for (size_t k = 0; k < out.size(); ++k) {
        const Ref &yes = attr.then_body->results[k], &no = attr.else_body->results[k];
        const Shape shape = result(b, self, static_cast<int>(k))->shape;
        const Ref yes_of_all = run.fitted(run.all(yes), shape),
                  no_of_all = run.fitted(run.all(no), shape);
        if (differ) {
            out[k] = elementwise(b, Op::Select,
                                 {run.fitted(run.all(condition), shape), yes_of_all, no_of_all});
            continue;
        }
        then_body.results.push_back(yes_of_all);
        else_body.results.push_back(no_of_all);
    }
    if (differ) return out;
    const Ref made = branch(b, condition, std::move(then_body), std::move(else_body));
    for (size_t k = 0; k < out.size(); ++k) out[k] = result(b, made, static_cast<int>(k));
    return out;
}

}  // namespace firn
