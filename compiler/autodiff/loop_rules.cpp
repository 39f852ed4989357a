// Cotangents behind loops.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compiler/autodiff/loop_tapes.h"
#include "compiler/autodiff/loop_trips.h"
#include "compiler/autodiff/reduce_parts.h"
#include "compiler/autodiff/region_values.h"
#include "compiler/autodiff/reverse.h"
#include "compiler/autodiff/whole_kernels.h"
#include "compiler/base/error.h"
#include "compiler/ir/host_size.h"
#include "compiler/ir/narrow_loop.h"

namespace firn {
namespace {

using Replaced = std::unordered_map<const Node*, Ref>;

/// Terms of a reduction from which on it is expensive: its values are kept, not computed again, if
/// there is room. Its kernel stores it and loads it either way. Counted over gradients of 20
/// iterations, with 4 to 64 terms, kept or not: products of 512 rows take a fifth to a quarter
/// fewer operations with their values kept (with 4 terms 3.9 times the value's instead of 4.7, with
/// 16 3.3 instead of 4.2) and 1.8 times the memory; softmax and normalisation of 4,096 rows mostly
/// take within a tenth as many either way (on the GPU profile softmax with 16 terms takes half when
/// kept, normalisation with 64 terms a third more).
constexpr int64_t kExpensiveTerms = 16;
/// Bytes of all expensive values together that one loop keeps: a limit where a tensor may have
/// gigabytes. Half of it or twice as much changes no kernel of firn_bench, for the CPU driver or
/// the GPU profile, nor one of the mixtures, networks and recurrent steps of firn_bench_gradients.
constexpr int64_t kMostKeptBytes = int64_t{1} << 27;

/// A reduction of many terms in the body of a loop, which its iterations backwards may ask for.
struct ExpensiveValue {
    Ref forwards, backwards;  // as the loop computes it, and as an iteration backwards would
    Ref kept;                 // what stands for it there; null: it is computed again
};

/// One iteration of a loop backwards, as a function of values that are only known when loops are
/// made of it.
struct Backwards {
    Ref iteration;               // the iteration that is reversed (i32, rank 0)
    std::vector<Ref> states;     // by carried value: what it was when that began
    std::vector<Ref> ends;       // the same behind it; null where nothing asks for it so
    std::vector<size_t> floats;  // carried values that have cotangents
    std::vector<Ref> outside;    // see active_outside()
    std::vector<bool> needed;    // by carried value: whether its states are asked for
    std::vector<ExpensiveValue> expensive;
    // Cotangents of `floats`, then sums for `outside` (see wide_float): before the iteration, and
    // after it.
    std::vector<Ref> args, results;
};

/// The iteration, bounded by the number of iterations `most` if that is known: inner loops may
/// count to it.
Ref bounded_iteration(const Builder& b, const Ref& iteration, const std::optional<Size>& most) {
    if (!most) return iteration;
    const Ref last = size_value(b, *most - Size(1));
    return elementwise(b, Op::Max,
                       {elementwise(b, Op::Min, {iteration, last}), constant_int(b, 0)});
}

std::vector<bool> asked_for(const std::vector<Ref>& states, const std::vector<Ref>& results) {
    std::unordered_set<const Node*> below;
    for (const Ref& node : topological(results)) below.insert(node.get());
    std::vector<bool> out;
    for (const Ref& state : states) out.push_back(below.contains(state.get()));
    return out;
}

/// If the states of a carried value are kept anyhow, its value after an iteration is read too,
/// instead of being computed again. `next`: the nodes that compute these values.
void read_ends(const Builder& b, Backwards& backwards, const std::vector<Ref>& next) {
    std::vector<Ref> ends(next.size());
    Replaced replaced;
    for (size_t k = 0; k < next.size(); ++k) {
        if (!backwards.needed[k] || info(next[k]->op).properties & kLeaf) continue;
        ends[k] = region_arg(b, next[k]->dtype, next[k]->shape);
        replaced.emplace(next[k].get(), ends[k]);
    }
    backwards.results = substitute(b.table, backwards.results, replaced);
    std::unordered_set<const Node*> below;
    for (const Ref& node : topological(backwards.results)) below.insert(node.get());
    for (size_t k = 0; k < next.size(); ++k) {
        if (ends[k] && below.contains(ends[k].get())) backwards.ends[k] = ends[k];
        backwards.needed[k] =
            below.contains(backwards.states[k].get()) || backwards.ends[k] != nullptr;
    }
}

/// Returns the reductions of many terms that a body computes once, operands first: those in the
/// loops of the body have a value for each of their iterations.
std::vector<Ref> expensive_values(const Region& body) {
    const std::vector<Ref> order = topological(body.results);
    const std::unordered_set<const Node*> in_loops = inside_of_loops(order);
    std::vector<Ref> out;
    for (const Ref& node : order) {
        if (node->op != Op::Reduce || in_loops.contains(node.get())) continue;
        Size terms(1);
        for (int axis : node->as<ReduceAttr>().axes)
            terms = terms * node->inputs[0]->shape[static_cast<size_t>(axis)];
        if (terms.is_constant() && terms.constant() >= kExpensiveTerms) out.push_back(node);
    }
    return out;
}

/// Lets iterations backwards read the kept expensive values that differ from iteration to
/// iteration, of `most` iterations, as far as there is room for all of them.
void keep_expensive_values(const Builder& b, Backwards& backwards, const Size& most,
                           int64_t most_bytes) {
    const auto among = [](const std::vector<Ref>& nodes) {
        std::unordered_set<const Node*> out;
        for (const Ref& node : nodes) out.insert(node.get());
        return out;
    };
    // Visits a value before those that it is computed from: once it is kept, these may not be
    // needed.
    for (size_t k = backwards.expensive.size(); k-- > 0;) {
        ExpensiveValue& expensive = backwards.expensive[k];
        const Node& value = *expensive.backwards;
        const Size bytes = most * element_count(value.shape) * Size(value.dtype.bytes());
        if (!bytes.is_constant() || bytes.constant() > most_bytes ||
            !among(topological(backwards.results)).contains(&value))
            continue;
        const auto below = among(topological({expensive.backwards}));
        const bool differs =
            below.contains(backwards.iteration.get()) ||
            std::any_of(backwards.states.begin(), backwards.states.end(),
                        [&](const Ref& state) { return below.contains(state.get()); });
        if (!differs) continue;
        most_bytes -= bytes.constant();
        expensive.kept = region_arg(b, value.dtype, value.shape);
        backwards.results = substitute(b.table, backwards.results, {{&value, expensive.kept}});
    }
    std::erase_if(backwards.expensive,
                  [](const ExpensiveValue& expensive) { return !expensive.kept; });
    const auto below = among(topological(backwards.results));
    for (size_t k = 0; k < backwards.states.size(); ++k)
        backwards.needed[k] =
            below.contains(backwards.states[k].get()) || backwards.ends[k] != nullptr;
}

Backwards backwards_of(ReverseRun& run, const Node& loop, const std::optional<Size>& most,
                       bool chosen) {
    const Builder& b = run.b;
    const Region& forward = *loop.as<LoopAttr>().body;
    Backwards out;
    out.iteration = region_arg(b, i32, {});
    const Ref passed =
        elementwise(b, Op::Mul, {bounded_iteration(b, out.iteration, most), loop.inputs[2]});
    Replaced replaced{{forward.args[0].get(), elementwise(b, Op::Add, {loop.inputs[0], passed})}};
    for (size_t k = 0; k + 1 < forward.args.size(); ++k) {
        const Ref& arg = forward.args[k + 1];
        out.states.push_back(region_arg(b, arg->dtype, arg->shape));
        replaced[arg.get()] = out.states[k];
        if (arg->dtype.is_float()) out.floats.push_back(k);
    }
    out.outside = active_outside(run, loop);
    const std::vector<Ref> expensive = expensive_values(forward);
    std::vector<Ref> next = forward.results;
    next.insert(next.end(), expensive.begin(), expensive.end());
    next = substitute(b.table, next, replaced);
    for (size_t k = 0; k < expensive.size(); ++k)
        out.expensive.push_back({expensive[k], next[forward.results.size() + k], nullptr});
    next.resize(forward.results.size());
    std::vector<Ref> results, targets;
    for (size_t k : out.floats) {
        results.push_back(next[k]);
        out.args.push_back(region_arg(b, next[k]->dtype, next[k]->shape));
        targets.push_back(out.states[k]);
    }
    targets.insert(targets.end(), out.outside.begin(), out.outside.end());
    const std::vector<Ref> seeds = out.args;
    std::vector<Ref> sums(targets.size());
    for (size_t k = out.floats.size(); k < targets.size(); ++k) {
        sums[k] = region_arg(b, wide_float(targets[k]->dtype), targets[k]->shape);
        out.args.push_back(sums[k]);
    }
    const std::vector<Ref> found = reverse_gradients(
        b, results, seeds, targets, {chosen, true, run.most_tape_bytes, std::move(sums)});
    for (size_t k = 0; k < targets.size(); ++k)
        out.results.push_back(or_zeros(run, found[k], *targets[k]));
    out.needed = asked_for(out.states, out.results);
    out.ends.resize(next.size());
    // Elements that broke off have no state behind their last iteration.
    if (loop.as<LoopAttr>().active < 0) read_ends(b, out, next);
    return out;
}

bool any(const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
}

/// Returns which carried values of every `every`-th iteration are kept: if other iterations are
/// computed again, all that this needs.
std::vector<bool> kept_values(const Node& loop, const std::vector<bool>& needed, int64_t every) {
    return every > 1 ? carried_dependencies(*loop.as<LoopAttr>().body, needed) : needed;
}

/// Builds the backward loop of `count` iterations from `first` (null: 0) on, whose states the tapes
/// keep, with the state after the last one if it is needed. `values`: the kept expensive values of
/// every iteration. `inits`: the initial values of `args`.
std::vector<Ref> reversed_iterations(const Builder& b, const Backwards& backwards, const Ref& first,
                                     const Ref& count, const Tapes& tapes,
                                     const std::vector<Ref>& values, std::vector<Ref> inits) {
    const Ref iteration = region_arg(b, i32, {});
    const Ref last = elementwise(b, Op::Sub, {count, constant_int(b, 1)});
    const Ref slot = elementwise(b, Op::Sub, {last, iteration});
    Replaced known{
        {backwards.iteration.get(), first ? elementwise(b, Op::Add, {first, slot}) : slot}};
    const Ref behind = elementwise(b, Op::Add, {slot, constant_int(b, 1)});
    for (size_t k = 0; k < tapes.size(); ++k) {
        if (tapes[k]) known[backwards.states[k].get()] = state_at(b, tapes[k], slot);
        if (backwards.ends[k]) known[backwards.ends[k].get()] = state_at(b, tapes[k], behind);
    }
    for (size_t k = 0; k < values.size(); ++k)
        known[backwards.expensive[k].kept.get()] = state_at(b, values[k], slot);
    Region body;
    body.args.push_back(iteration);
    body.args.insert(body.args.end(), backwards.args.begin(), backwards.args.end());
    body.results = substitute(b.table, backwards.results, known);
    const size_t results = inits.size();
    const Ref made = loop(b, constant_int(b, 0), count, constant_int(b, 1), std::move(inits),
                          std::move(body), -1);
    std::vector<Ref> out;
    for (size_t k = 0; k < results; ++k) out.push_back(result(b, made, static_cast<int>(k)));
    return out;
}

/// The same from states that are kept of every distances[0]-th iteration: those between are
/// computed again, part by part from the last one, and so are those of a part by the distances that
/// follow.
std::vector<Ref> reversed_by_parts(const Builder& b, const Node& loop, const Backwards& backwards,
                                   const Ref& begin, const Ref& count, const Recorded& kept,
                                   std::vector<int64_t> distances, const std::vector<Ref>& inits) {
    const Tapes& tapes = kept.tapes;
    if (distances.empty())
        return reversed_iterations(b, backwards, begin, count, tapes, kept.values, inits);
    const auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
    const int64_t every = distances[0];
    distances.erase(distances.begin());
    const int64_t inner = distances.empty() ? 1 : distances[0];
    const Ref pace = constant_int(b, every), one = constant_int(b, 1);
    const Ref parts = op(Op::Div, op(Op::Add, count, constant_int(b, every - 1)), pace);
    const Ref iteration = region_arg(b, i32, {});
    const Ref part = op(Op::Sub, op(Op::Sub, parts, one), iteration);
    const Ref passed = op(Op::Mul, part, pace);
    const Ref first = begin ? op(Op::Add, begin, passed) : passed;
    const Ref length = op(Op::Min, pace, op(Op::Sub, count, passed));
    std::vector<Ref> states;
    for (const Ref& tape : tapes) states.push_back(tape ? state_at(b, tape, part) : nullptr);
    Region body;
    body.args.push_back(iteration);
    for (const Ref& init : inits) body.args.push_back(region_arg(b, init->dtype, init->shape));
    const std::vector<Ref> args(body.args.begin() + 1, body.args.end());
    // One part after the other has the same memory.
    Tapes room = empty_tapes(b, loop, slots_of(Size(every), inner),
                             kept_values(loop, backwards.needed, inner));
    std::vector<Ref> begins = inits;
    for (Ref& tape : room) {
        if (!tape) continue;
        begins.push_back(tape);
        tape = region_arg(b, tape->dtype, tape->shape);
        body.args.push_back(tape);
    }
    const Tapes again = recorded_again(b, loop, first, length, states, room, inner);
    body.results =
        reversed_by_parts(b, loop, backwards, first, length, {again, {}, nullptr}, distances, args);
    for (const Ref& tape : again)
        if (tape) body.results.push_back(tape);
    const Ref made =
        firn::loop(b, constant_int(b, 0), parts, one, std::move(begins), std::move(body), -1);
    std::vector<Ref> out;
    for (size_t k = 0; k < inits.size(); ++k) out.push_back(result(b, made, static_cast<int>(k)));
    return out;
}

/// The distances of kept states, the largest first; empty where all fit. A. Griewank and A.
/// Walther, "Algorithm 799: revolve", 2000: with one level of checkpoints about the root of the
/// number of iterations, with n levels the (n + 1)-th root in each.
std::vector<int64_t> checkpoint_distances(const ReverseRun& run, const Node& loop, const Size& most,
                                          const std::vector<bool>& needed) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    if (attr.checkpoint > 1) return {attr.checkpoint};
    if (attr.checkpoint || !most.is_constant()) return {};
    const auto fits = [&](int64_t states, const std::vector<bool>& kept) {
        for (size_t k = 0; k < kept.size(); ++k) {
            const Node& arg = *attr.body->args[k + 1];
            const Size bytes = Size(states) * element_count(arg.shape) * Size(arg.dtype.bytes());
            if (kept[k] && bytes.is_constant() && bytes.constant() > run.most_tape_bytes)
                return false;
        }
        return true;
    };
    const auto slots = [](int64_t states) { return slots_of(Size(states), 1).constant(); };
    if (fits(slots(most.constant()), needed)) return {};
    const std::vector<bool> kept = carried_dependencies(*attr.body, needed);
    int64_t each = 0;  // states of a level
    size_t levels = 0;
    do {
        ++levels;
        const double root = std::pow(double(most.constant()), 1.0 / double(levels + 1));
        each = std::max<int64_t>(2, static_cast<int64_t>(std::ceil(root)));
    } while (each > 2 && !fits(slots(each), kept));
    std::vector<int64_t> out(levels, each);
    for (size_t k = levels - 1; k-- > 0;) out[k] = out[k + 1] * each;
    return out;
}

/// Cotangents behind a loop whose results are equal to `equal`, which are derived instead.
void reverse_equal(ReverseRun& run, const Ref& self, const std::vector<Ref>& equal,
                   const std::vector<Cotangent>& results) {
    std::vector<Ref> sources = active_outside(run, *self);
    for (size_t k = 3; k < self->inputs.size(); ++k)
        if (run.active.contains(self->inputs[k].get()) &&
            std::find(sources.begin(), sources.end(), self->inputs[k]) == sources.end())
            sources.push_back(self->inputs[k]);
    std::vector<Ref> values, seeds;
    for (size_t k = 0; k < results.size(); ++k)
        if (results[k].value) values.push_back(equal[k]), seeds.push_back(results[k].value);
    const bool chosen = all_chosen(results);
    const std::vector<Ref> found =
        reverse_gradients(run.b, values, seeds, sources, {chosen, true, run.most_tape_bytes});
    for (size_t k = 0; k < sources.size(); ++k)
        if (found[k]) contribute(run, sources[k], found[k], chosen);
}

}  // namespace

void reverse_loop(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results) {
    const LoopAttr& attr = self->as<LoopAttr>();
    const Builder& b = run.b;
    if (attr.by_hand())
        return reverse_equal(run, self, whole_kernel(b, *self, true, refuse_gradient), results);
    if (!attr.sizes.empty()) refuse_gradient(*self, "loops that make sizes");
    if (const std::vector<Ref> narrow = narrowed_loop(b, *self); !narrow.empty())
        return reverse_equal(run, self, narrow, results);
    const bool chosen = all_chosen(results), breaks = attr.active >= 0;
    Trips trips = trips_of(b, *self);
    // The default limit of a while_ without max_steps is no number of states to keep.
    if (attr.must_end != MustEnd::No) trips.most.reset();
    Backwards backwards = backwards_of(run, *self, trips.most, chosen);
    const bool keeps = any(backwards.needed);
    if (keeps && !trips.most)
        refuse_gradient(*self, breaks ? "a while_ whose states need a bound: give it a .max_steps; "
                                        "or a loop of a kernel by hand with bounds of each "
                                        "invocation: let it count to min(count, most)"
                                      : "a loop whose states need a bound: let it count to "
                                        "min(count, most), with a number that the host knows");
    const Size most = trips.most.value_or(Size(0));
    std::vector<int64_t> distances;
    if (keeps) distances = checkpoint_distances(run, *self, most, backwards.needed);
    const int64_t every = distances.empty() ? 1 : distances[0];
    if (keeps && !breaks && distances.empty())
        keep_expensive_values(b, backwards, most, std::min(run.most_tape_bytes, kMostKeptBytes));
    else
        backwards.expensive.clear();
    std::vector<Ref> values;
    for (const ExpensiveValue& expensive : backwards.expensive)
        values.push_back(expensive.forwards);
    const std::vector<bool> kept = kept_values(*self, backwards.needed, every);
    Recorded kept_states{Tapes(kept.size()), {}, nullptr};
    if (keeps || breaks)
        kept_states = recorded(b, *self, slots_of(most, every), kept, every, values, most, breaks);
    Ref count = breaks ? kept_states.count : trips.count;
    // The explicit bound serves gradients of this gradient.
    if (trips.most && !host_size(*count, {}))
        count = elementwise(b, Op::Min, {count, size_value(b, most)});
    std::vector<Ref> inits;
    for (size_t k : backwards.floats)
        inits.push_back(or_zeros(run, results[k].value, *backwards.states[k]));
    for (const Ref& value : backwards.outside) {
        const Ref* sum = sum_of(run, *value);
        inits.push_back(sum ? *sum : cast(b, zeros_like(run, *value), wide_float(value->dtype)));
    }
    const std::vector<Ref> found = reversed_by_parts(b, *self, backwards, nullptr, count,
                                                     kept_states, std::move(distances), inits);
    for (size_t k = 0; k < found.size(); ++k) {
        const Ref& to = k < backwards.floats.size()
                            ? self->inputs[3 + backwards.floats[k]]
                            : backwards.outside[k - backwards.floats.size()];
        Ref* sum = k < backwards.floats.size() ? nullptr : sum_of(run, *to);
        if (sum)
            *sum = found[k];
        else
            contribute(run, to, cast(b, found[k], to->dtype), chosen);
    }
}

}  // namespace firn
