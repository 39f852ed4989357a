// Loops that run again to keep the values that they carry.
#include "compiler/autodiff/loop_tapes.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace firn {
namespace {

/// The slot of iteration `iteration`, where every `every`-th has one.
Ref slot_of(const Builder& b, const Ref& iteration, int64_t every) {
    if (every == 1) return iteration;
    const Ref pace = constant_int(b, every);
    const Ref whole =
        elementwise(b, Op::Equal, {elementwise(b, Op::Mod, {iteration, pace}), constant_int(b, 0)});
    return elementwise(b, Op::Select,
                       {whole, elementwise(b, Op::Div, {iteration, pace}), constant_int(b, -1)});
}

/// A loop that carries tapes besides its own values.
struct Keeping {
    Builder b;
    Region body;
    std::vector<Ref> inits;

    /// Adds a carried value; returns its place.
    size_t carry(const Ref& init, const Ref& arg, const Ref& next) {
        inits.push_back(init);
        body.args.push_back(arg);
        body.results.push_back(next);
        return inits.size() - 1;
    }
    /// Stores `value` in the slot of each iteration; a slot outside of `empty` keeps nothing.
    size_t keep(const Ref& value, const Ref& empty, const Ref& slot) {
        const Ref tape = region_arg(b, value->dtype, empty->shape);
        return carry(empty, tape, with_state(b, tape, value, slot));
    }
    /// Does the same for carried value `k` at the begin of each iteration. If every iteration has a
    /// slot, one more slot holds the value after the last iteration, unless elements may break off:
    /// they have no such value.
    size_t keep_begins(size_t k, const Ref& room, const Ref& iteration, int64_t every,
                       bool breaks) {
        const Ref &arg = body.args[k + 1], &init = inits[k];
        if (breaks || every > 1) return keep(arg, room, slot_of(b, iteration, every));
        const Ref first =
            with_state(b, room, expand(b, init, arg->shape), constant_int(b, 0), true);
        return keep(body.results[k], first,
                    elementwise(b, Op::Add, {iteration, constant_int(b, 1)}));
    }
};

Ref empty_tape(const Builder& b, const Node& value, const Size& length) {
    Shape shape = value.shape;
    shape.insert(shape.begin(), length);
    return empty(b, value.dtype, shape);
}

/// Adds a count of iterations, by element; returns its place.
size_t count_iterations(Keeping& made, int active) {
    const Builder& b = made.b;
    const Ref runs = made.body.args[static_cast<size_t>(active) + 1];
    const Ref count = region_arg(b, i32, runs->shape);
    const Ref more = elementwise(b, Op::Add, {count, constant_int(b, 1)});
    return made.carry(expand(b, constant_int(b, 0), runs->shape), count,
                      elementwise(b, Op::Select, {runs, more, count}));
}

Ref largest_of(const Builder& b, const Ref& counts) {
    if (counts->shape.empty()) return counts;
    if (element_count(counts->shape).is(0)) return constant_int(b, 0);
    return elementwise(b, Op::Max,
                       {reduce(b, ReduceOp::Max, counts, {}, false), constant_int(b, 0)});
}

}  // namespace

Size slots_of(const Size& most, int64_t every) {
    return every == 1 ? most + Size(1) : ceil_div(most, Size(every));
}

Tapes empty_tapes(const Builder& b, const Node& loop, const Size& length,
                  const std::vector<bool>& kept) {
    Tapes out;
    for (size_t k = 0; k < kept.size(); ++k)
        out.push_back(kept[k] ? empty_tape(b, *loop.as<LoopAttr>().body->args[k + 1], length)
                              : nullptr);
    return out;
}

Recorded recorded(const Builder& b, const Node& loop, const Size& length,
                  const std::vector<bool>& kept, int64_t every, const std::vector<Ref>& values,
                  const Size& most, bool counts) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Tapes room = empty_tapes(b, loop, length, kept);
    Region body = *attr.body;
    body.results.insert(body.results.end(), values.begin(), values.end());
    Keeping made{b, with_fresh_args(b.table, body), {loop.inputs.begin() + 3, loop.inputs.end()}};
    const auto own = made.body.results.end() - static_cast<long>(values.size());
    const std::vector<Ref> again(own, made.body.results.end());
    made.body.results.erase(own, made.body.results.end());
    const Ref passed = elementwise(b, Op::Sub, {made.body.args[0], loop.inputs[0]});
    const Ref iteration = elementwise(b, Op::Div, {passed, loop.inputs[2]});
    std::vector<std::optional<size_t>> places(kept.size());
    for (size_t k = 0; k < kept.size(); ++k)
        if (kept[k]) places[k] = made.keep_begins(k, room[k], iteration, every, attr.active >= 0);
    std::vector<size_t> places_of_values;
    for (const Ref& value : again)
        places_of_values.push_back(made.keep(value, empty_tape(b, *value, most), iteration));
    const size_t counter = counts ? count_iterations(made, attr.active) : 0;
    const Ref node =
        firn::loop(b, loop.inputs[0], loop.inputs[1], loop.inputs[2], std::move(made.inits),
                   std::move(made.body), attr.active, attr.must_end, attr.sizes);
    Recorded out;
    for (const auto& place : places)
        out.tapes.push_back(place ? result(b, node, static_cast<int>(*place)) : nullptr);
    for (size_t place : places_of_values)
        out.values.push_back(result(b, node, static_cast<int>(place)));
    if (counts) out.count = largest_of(b, result(b, node, static_cast<int>(counter)));
    return out;
}

Tapes recorded_again(const Builder& b, const Node& loop, const Ref& first, const Ref& count,
                     const std::vector<Ref>& states, const Tapes& room, int64_t every) {
    const Region& forward = *loop.as<LoopAttr>().body;
    const bool breaks = loop.as<LoopAttr>().active >= 0;
    Keeping made{b, {}, {}};
    const Ref own = region_arg(b, i32, {});
    made.body.args.push_back(own);
    const Ref iteration = elementwise(b, Op::Add, {first, own});
    std::unordered_map<const Node*, Ref> replaced{
        {forward.args[0].get(),
         elementwise(b, Op::Add,
                     {loop.inputs[0], elementwise(b, Op::Mul, {iteration, loop.inputs[2]})})}};
    std::vector<Ref> args(states.size()), next;
    std::vector<size_t> carried(states.size());
    for (size_t k = 0; k < states.size(); ++k) {
        if (!states[k]) continue;
        const Ref& arg = forward.args[k + 1];
        args[k] = region_arg(b, arg->dtype, arg->shape);
        replaced[arg.get()] = args[k];
        next.push_back(forward.results[k]);
    }
    next = substitute(b.table, next, replaced);
    for (size_t k = 0, n = 0; k < states.size(); ++k)
        if (states[k]) carried[k] = made.carry(states[k], args[k], next[n++]);
    std::vector<std::optional<size_t>> places(room.size());
    for (size_t k = 0; k < room.size(); ++k)
        if (room[k]) places[k] = made.keep_begins(carried[k], room[k], own, every, breaks);
    const Ref node = firn::loop(b, constant_int(b, 0), count, constant_int(b, 1),
                                std::move(made.inits), std::move(made.body), -1);
    Tapes out;
    for (const auto& place : places)
        out.push_back(place ? result(b, node, static_cast<int>(*place)) : nullptr);
    return out;
}

std::vector<bool> carried_dependencies(const Region& body, std::vector<bool> wanted) {
    for (bool changed = true; changed;) {
        std::vector<Ref> next;
        for (size_t k = 0; k < wanted.size(); ++k)
            if (wanted[k]) next.push_back(body.results[k]);
        std::unordered_set<const Node*> below;
        for (const Ref& node : topological(next)) below.insert(node.get());
        changed = false;
        for (size_t k = 0; k < wanted.size(); ++k)
            if (!wanted[k] && below.contains(body.args[k + 1].get())) wanted[k] = changed = true;
    }
    return wanted;
}

}  // namespace firn
