// Cotangents behind loops and branches.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "compiler/autodiff/reverse.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/ir/host_size.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

using NodeSet = std::unordered_set<const Node*>;
using Replaced = std::unordered_map<const Node*, Ref>;

/// The values outside of a body that change results with those it reads, and that depend on
/// targets.
std::vector<Ref> active_outside(const ReverseRun& run, const Region& body) {
    const std::vector<Ref> order = topological(body.results);
    NodeSet inside;
    for (const Ref& arg : body.args) inside.insert(arg.get());
    for (const Ref& node : order)
        if (node->op == Op::Loop)
            for (const Ref& arg : node->as<LoopAttr>().body->args) inside.insert(arg.get());
    std::vector<Ref> out;
    const auto note = [&](const Ref& value) {
        if (inside.contains(value.get()) || !value->dtype.is_float() ||
            !run.active.contains(value.get()) || value->op == Op::Loop || value->op == Op::If)
            return;
        if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
    };
    for (const Ref& node : order) {
        const auto is_inside = [&](const Ref& input) { return inside.contains(input.get()); };
        bool found = std::any_of(node->inputs.begin(), node->inputs.end(), is_inside);
        std::vector<Ref> results;
        if (node->op == Op::Loop) results = node->as<LoopAttr>().body->results;
        if (node->op == Op::If) {
            results = node->as<IfAttr>().then_body->results;
            const auto& other = node->as<IfAttr>().else_body->results;
            results.insert(results.end(), other.begin(), other.end());
        }
        found |= std::any_of(results.begin(), results.end(), is_inside);
        if (found) inside.insert(node.get());
    }
    for (const Ref& node : order) {
        if (!inside.contains(node.get())) continue;
        for (const Ref& input : node->inputs) note(input);
        if (node->op == Op::Loop)
            for (const Ref& value : node->as<LoopAttr>().body->results) note(value);
        if (node->op == Op::If)
            for (const auto& side : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                for (const Ref& value : side->results) note(value);
    }
    for (const Ref& value : body.results) note(value);
    return out;
}

/// See Cotangent.
bool all_chosen(const std::vector<Cotangent>& results) {
    return std::all_of(results.begin(), results.end(),
                       [](const Cotangent& g) { return !g.value || g.chosen; });
}

Ref or_zeros(ReverseRun& run, const Ref& found, const Node& like) {
    return found ? found : zeros_like(run, like);
}

Size trip_count(const Node& loop) {
    const auto begin = host_size(*loop.inputs[0], {}), end = host_size(*loop.inputs[1], {}),
               step = host_size(*loop.inputs[2], {});
    if (!begin || !end || !step || !step->is_constant())
        refuse_gradient(loop, "loops whose trip count only the data knows");
    const int64_t by = step->constant();
    const Size way = by > 0 ? *end - *begin : *begin - *end;
    return max(ceil_div(way, Size(std::abs(by))), Size(0));
}

/// All carried values of every iteration that are asked for, one after the other: by carried value
/// [trips, ...], null where nobody asks. From a loop that does what this one does besides: the pass
/// share_loops makes one of both.
std::vector<Ref> recorded(const Builder& b, const Node& loop, const Size& trips,
                          const std::vector<bool>& needed) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    Region body = with_fresh_args(b.table, *attr.body);
    std::vector<Ref> inits(loop.inputs.begin() + 3, loop.inputs.end());
    const size_t carried = inits.size();
    const Ref passed = elementwise(b, Op::Sub, {body.args[0], loop.inputs[0]});
    const Ref turn = elementwise(b, Op::Div, {passed, loop.inputs[2]});
    std::vector<int> places(carried, -1);
    for (size_t k = 0; k < carried; ++k) {
        if (!needed[k]) continue;
        const Ref value = body.args[k + 1];
        Shape shape = value->shape;
        shape.insert(shape.begin(), trips);
        const Ref tape = region_arg(b, value->dtype, shape);
        std::vector<Ref> at{expand(b, turn, value->shape)};
        for (int axis = 0; axis < value->rank(); ++axis) at.push_back(index(b, value->shape, axis));
        places[k] = static_cast<int>(inits.size());
        inits.push_back(expand(b, constant(b, scalar_int(0).to(value->dtype)), shape));
        body.args.push_back(tape);
        body.results.push_back(
            scatter(b, tape, value, at, {.op = ScatterOp::Last, .unique = true}));
    }
    const Ref made = firn::loop(b, loop.inputs[0], loop.inputs[1], loop.inputs[2], std::move(inits),
                                std::move(body), attr.active, attr.must_end, attr.sizes);
    std::vector<Ref> out;
    for (int place : places) out.push_back(place < 0 ? nullptr : result(b, made, place));
    return out;
}

/// The state of one iteration.
Ref state_at(const Builder& b, const Ref& tape, const Ref& iteration) {
    const Shape shape(tape->shape.begin() + 1, tape->shape.end());
    std::vector<Ref> at{expand(b, iteration, shape)};
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        at.push_back(index(b, shape, axis));
    return gather(b, tape, at, std::vector<Bounds>(tape->shape.size(), Bounds::Unchecked),
                  scalar_int(0).to(tape->dtype));
}

/// A loop backwards, being built.
struct Backwards {
    const Node& loop;
    const Region& forward;
    Ref iteration, induction;    // of the backward loop; what the forward loop had then
    std::vector<Ref> states;     // by carried value: what it was when the iteration began
    std::vector<size_t> floats;  // carried values that have cotangents
    std::vector<Ref> outside;    // see active_outside()
    Region body;                 // args: iteration, cotangents of floats, sums for outside
};

Backwards backward_body(ReverseRun& run, const Node& loop, const Size& trips, bool chosen) {
    const Builder& b = run.b;
    Backwards out{loop, *loop.as<LoopAttr>().body, nullptr, nullptr, {}, {}, {}, {}};
    out.iteration = region_arg(b, i32, {});
    out.body.args.push_back(out.iteration);
    const Ref left = elementwise(b, Op::Sub, {size_value(b, trips - Size(1)), out.iteration});
    out.induction =
        elementwise(b, Op::Add, {loop.inputs[0], elementwise(b, Op::Mul, {left, loop.inputs[2]})});
    Replaced replaced{{out.forward.args[0].get(), out.induction}};
    for (size_t k = 0; k + 1 < out.forward.args.size(); ++k) {
        const Ref& arg = out.forward.args[k + 1];
        out.states.push_back(region_arg(b, arg->dtype, arg->shape));
        replaced[arg.get()] = out.states[k];
        if (arg->dtype.is_float()) out.floats.push_back(k);
    }
    out.outside = active_outside(run, out.forward);
    const std::vector<Ref> next = substitute(b.table, out.forward.results, replaced);
    std::vector<Ref> results, seeds, targets;
    for (size_t k : out.floats) {
        results.push_back(next[k]);
        seeds.push_back(region_arg(b, next[k]->dtype, next[k]->shape));
        targets.push_back(out.states[k]);
    }
    targets.insert(targets.end(), out.outside.begin(), out.outside.end());
    const std::vector<Ref> found = reverse_gradients(b, results, seeds, targets, {chosen, true});
    out.body.args.insert(out.body.args.end(), seeds.begin(), seeds.end());
    for (size_t k = 0; k < targets.size(); ++k) {
        if (k < out.floats.size()) {
            out.body.results.push_back(or_zeros(run, found[k], *targets[k]));
            continue;
        }
        const Ref sum = region_arg(b, targets[k]->dtype, targets[k]->shape);
        out.body.args.push_back(sum);
        out.body.results.push_back(found[k] ? elementwise(b, Op::Add, {sum, found[k]}) : sum);
    }
    return out;
}

/// Carried values whose states the backward loop asks for.
std::vector<bool> needed_states(const Backwards& backwards) {
    NodeSet asked;
    for (const Ref& node : topological(backwards.body.results)) asked.insert(node.get());
    std::vector<bool> out;
    for (const Ref& state : backwards.states) out.push_back(asked.contains(state.get()));
    return out;
}

}  // namespace

void reverse_loop(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results) {
    const LoopAttr& attr = self->as<LoopAttr>();
    if (attr.by_hand()) refuse_gradient(*self, "kernels by hand");
    if (attr.active >= 0) refuse_gradient(*self, "loops that break, and while_");
    if (!attr.sizes.empty()) refuse_gradient(*self, "loops that make sizes");
    const Builder& b = run.b;
    const Size trips = trip_count(*self);
    const bool chosen = all_chosen(results);
    Backwards backwards = backward_body(run, *self, trips, chosen);
    const std::vector<bool> needed = needed_states(backwards);
    if (std::find(needed.begin(), needed.end(), true) != needed.end()) {
        const std::vector<Ref> tapes = recorded(b, *self, trips, needed);
        const Ref turn =
            elementwise(b, Op::Sub, {size_value(b, trips - Size(1)), backwards.iteration});
        Replaced states;
        for (size_t k = 0; k < needed.size(); ++k)
            if (needed[k]) states[backwards.states[k].get()] = state_at(b, tapes[k], turn);
        backwards.body.results = substitute(b.table, backwards.body.results, states);
    }
    std::vector<Ref> inits;
    for (size_t k : backwards.floats)
        inits.push_back(or_zeros(run, results[k].value, *backwards.states[k]));
    for (const Ref& value : backwards.outside) inits.push_back(zeros_like(run, *value));
    const Ref backward = loop(b, constant_int(b, 0), size_value(b, trips), constant_int(b, 1),
                              std::move(inits), std::move(backwards.body), -1);
    for (size_t k = 0; k < backwards.floats.size(); ++k)
        contribute(run, self->inputs[3 + backwards.floats[k]],
                   result(b, backward, static_cast<int>(k)), chosen);
    for (size_t k = 0; k < backwards.outside.size(); ++k)
        contribute(run, backwards.outside[k],
                   result(b, backward, static_cast<int>(backwards.floats.size() + k)), chosen);
}

void reverse_branch(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results) {
    const IfAttr& attr = self->as<IfAttr>();
    std::vector<Ref> outside = active_outside(run, *attr.then_body);
    for (const Ref& value : active_outside(run, *attr.else_body))
        if (std::find(outside.begin(), outside.end(), value) == outside.end())
            outside.push_back(value);
    if (outside.empty()) return;
    const bool chosen = all_chosen(results);
    const auto side = [&](const Region& body) {
        std::vector<Ref> values, seeds;
        for (size_t k = 0; k < results.size(); ++k) {
            if (!results[k].value) continue;
            values.push_back(body.results[k]);
            const Shape& to = body.results[k]->shape;
            Ref seed = results[k].value;
            if (to.size() < seed->shape.size())
                refuse_gradient(*self, "branches whose sides have several shapes: use select");
            seeds.push_back(expand(run.b, seed, to));
        }
        Region out;
        const std::vector<Ref> found =
            reverse_gradients(run.b, values, seeds, outside, {chosen, true});
        for (size_t k = 0; k < outside.size(); ++k)
            out.results.push_back(or_zeros(run, found[k], *outside[k]));
        return out;
    };
    const Ref made = branch(run.b, self->inputs[0], side(*attr.then_body), side(*attr.else_body));
    for (size_t k = 0; k < outside.size(); ++k)
        contribute(run, outside[k], result(run.b, made, static_cast<int>(k)), true);
}

}  // namespace firn
