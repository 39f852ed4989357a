// Keeps the trip count of every loop inside a kernel within what the driver allows.
#include "compiler/passes/profiled/bound_loops.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/value_bounds.h"
#include "compiler/passes/open_loops.h"
#include "compiler/schedule/regions.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr double kUnknown = 1e18;

using Inductions = std::unordered_map<const Node*, Size>;

/// Returns the largest value that a rank-0 i32 can take, if it is known. `steps`: the number of
/// nodes that are still followed.
std::optional<double> most(const Node& node, const Inductions& known, const SymbolFacts& facts,
                           int& steps) {
    if (--steps < 0) return std::nullopt;
    if (const auto size = host_size(node, known))
        return static_cast<double>(size->upper_bound(facts.largest));
    if (node.op != Op::Min && node.op != Op::Max) {
        const Interval bounds = value_bounds(node, facts);
        return bounds.hi < INT32_MAX ? std::optional(static_cast<double>(bounds.hi)) : std::nullopt;
    }
    const auto a = most(*node.inputs[0], known, facts, steps),
               b = most(*node.inputs[1], known, facts, steps);
    if (a && b) return node.op == Op::Min ? std::min(*a, *b) : std::max(*a, *b);
    return node.op == Op::Min ? (a ? a : b) : std::nullopt;
}

/// An assumed trip count for the loops in a kernel written by hand that must end; unused if `most`
/// is 0.
struct Budget {
    double most = 0;
    bool holds(const Node& loop) const {
        return most > 0 && loop.as<LoopAttr>().must_end != MustEnd::No;
    }
};

/// Returns the most iterations that a loop can take.
std::optional<double> trips_of(const Node& loop, const Inductions& known, const SymbolFacts& facts,
                               Budget budget = {}) {
    if (budget.holds(loop)) {
        const auto own = trips_of(loop, known, facts);
        return own ? std::min(*own, budget.most) : budget.most;
    }
    if (is_number(*loop.inputs[0], 0) && is_number(*loop.inputs[2], 1)) {
        int steps = costs::kMostBoundSteps;
        return most(*loop.inputs[1], known, facts, steps);
    }
    const auto begin = host_size(*loop.inputs[0], known), end = host_size(*loop.inputs[1], known),
               step = host_size(*loop.inputs[2], known);
    if (!begin || !end || !step || !step->is_constant() || step->is(0)) return std::nullopt;
    const Size distance = step->constant() > 0 ? *end - *begin : *begin - *end;
    const Size stride(std::abs(step->constant()));
    const Size count = max(floor_div(distance + stride - Size(1), stride), Size(0));
    return static_cast<double>(count.upper_bound(facts.largest));
}

bool is_inside(const RegionFacts& regions, const Node& node, const Node* loop) {
    const auto& around = regions.loops.at(&node);
    return std::find(around.begin(), around.end(), loop) != around.end();
}

/// Returns the most back edges that one iteration of each loop's body takes; host loops do not
/// count.
std::unordered_map<const Node*, double> iteration_costs(const RegionFacts& regions,
                                                        const Inductions& known,
                                                        const SymbolFacts& facts,
                                                        Budget budget = {}) {
    std::unordered_map<const Node*, double> out;
    for (const Ref& node : regions.order) {
        double edges = 0;
        if (node->op == Op::Loop && !regions.host_loops.contains(node.get()))
            edges = trips_of(*node, known, facts, budget).value_or(kUnknown);
        if (node->op == Op::Reduce) {
            edges = 1;
            for (int axis : node->as<ReduceAttr>().axes)
                edges *=
                    static_cast<double>(node->inputs[0]->shape[axis].upper_bound(facts.largest));
        }
        if (edges == 0) continue;
        edges += 1;  // the end of a loop is a back edge too
        const auto& around = regions.loops.at(node.get());
        // Returns how often one iteration of `loop` reaches `inner`, given the loops between the
        // two.
        const auto times = [&](const Node& inner, const Node* loop) {
            double out = 1;
            for (const Node* between : around)
                if (between != loop && is_inside(regions, inner, between) &&
                    is_inside(regions, *between, loop) && !regions.host_loops.contains(between))
                    out *=
                        std::max(1.0, trips_of(*between, known, facts, budget).value_or(kUnknown));
            return std::min(out, kUnknown);
        };
        for (const Node* loop : around) {
            double all = edges * times(*node, loop);
            // The pass in which a loop finds that it has ended passes through the loops inside,
            // too.
            for (const Node* between : around)
                if (between != loop && is_inside(regions, *between, loop))
                    all += times(*between, loop);
            out[loop] = std::min(out[loop] + all, kUnknown);
        }
    }
    return out;
}

/// Returns the loop as a loop over chunks of at most `chunk` iterations.
Ref chunked(Builder b, const Node& loop, const std::vector<Ref>& inputs, int64_t chunk) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    auto number = [&](int64_t v) { return constant_int(b, v); };
    auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
    const Ref &begin = inputs[0], &end = inputs[1], &step = inputs[2];
    const Ref trips = loop_trip_count(b, begin, end, step);
    const Ref chunks = count_steps(b, trips, number(chunk));
    Region outer;
    outer.args.push_back(region_arg(b, i32, {}));
    std::vector<Ref> inits(inputs.begin() + 3, inputs.end());
    for (const Ref& init : inits) outer.args.push_back(region_arg(b, init->dtype, init->shape));
    const Ref done = op(Op::Mul, outer.args[0], number(chunk));
    const Ref left = op(Op::Max, op(Op::Min, op(Op::Sub, trips, done), number(chunk)), number(0));
    // The inner loop counts from 0, so that its length is known although its begin is not.
    Region body = with_fresh_args(b.table, *attr.body);
    const Ref iteration = region_arg(b, i32, {});
    const Ref at = op(Op::Add, begin, op(Op::Mul, op(Op::Add, done, iteration), step));
    body.results = substitute(b.table, body.results, {{body.args[0].get(), at}});
    body.args[0] = iteration;
    LoopAttr inner_attr = attr;
    inner_attr.must_end = MustEnd::No;
    inner_attr.body = std::make_shared<const Region>(std::move(body));
    std::vector<Ref> inner_inputs{number(0), left, number(1)};
    inner_inputs.insert(inner_inputs.end(), outer.args.begin() + 1, outer.args.end());
    const Ref inner =
        b.table.intern(Op::Loop, loop.dtype, loop.shape, inner_inputs, inner_attr, b.line);
    for (size_t k = 0; k < inits.size(); ++k)
        outer.results.push_back(result(b, inner, static_cast<int>(k)));
    std::vector<Ref> outer_inputs{number(0), chunks, number(1)};
    outer_inputs.insert(outer_inputs.end(), inits.begin(), inits.end());
    return b.table.intern(Op::Loop, loop.dtype, loop.shape, outer_inputs,
                          LoopAttr{std::make_shared<const Region>(std::move(outer)), attr.active,
                                   true, false, attr.must_end},
                          b.line);
}

/// Returns the loops in a kernel written by hand that must end, with the trip count that the driver
/// allows each of them. Such a kernel is one dispatch, and the runtime sees whether a loop would
/// have gone on after its last iteration. A share is reserved for the rest of the kernel, such as
/// clearing its arrays.
std::unordered_map<const Node*, int64_t> trips_by_hand(const RegionFacts& regions,
                                                       const Node& kernel, const Inductions& known,
                                                       const SymbolFacts& facts, int64_t most) {
    std::vector<const Node*> loops;
    for (const Ref& ref : regions.order)
        if (ref->op == Op::Loop && ref->as<LoopAttr>().must_end != MustEnd::No &&
            is_inside(regions, *ref, &kernel))
            loops.push_back(ref.get());
    if (loops.empty()) return {};
    const auto allowed = static_cast<double>(most - most / costs::kOtherLoopsDivisor);
    const auto edges = [&](int64_t trips) {
        return iteration_costs(regions, known, facts, {static_cast<double>(trips)})[&kernel];
    };
    int64_t low = 1, high = most;  // the most iterations that are allowed lie in [low, high)
    while (low + 1 < high) {
        const int64_t middle = (low + high) / 2;
        (edges(middle) <= allowed ? low : high) = middle;
    }
    std::unordered_map<const Node*, int64_t> out;
    for (const Node* loop : loops)
        if (const auto trips = trips_of(*loop, known, facts);
            !trips || *trips > static_cast<double>(low))
            out[loop] = low;
    return out;
}

/// Limits the loops in kernels written by hand that must end to what the driver allows.
Graph bound_by_hand(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                    const SymbolFacts& facts) {
    if (!profile.max_back_edges) return graph;
    const RegionFacts regions = region_facts(graph);
    const Inductions known = host_inductions(regions);
    std::unordered_map<const Node*, int64_t> trips;
    for (const Ref& ref : regions.order)
        if (ref->op == Op::Loop && ref->as<LoopAttr>().by_hand())
            trips.merge(trips_by_hand(regions, *ref, known, facts, profile.max_back_edges));
    if (trips.empty()) return graph;
    Graph out = graph;
    out.results = rewrite(
        table, graph.results, [](const Node&, const std::vector<Ref>&) { return Ref(); }, {},
        [&](const Node& node, const Ref& made) -> Ref {
            const auto at = trips.find(&node);
            if (at == trips.end()) return nullptr;
            std::vector<Ref> inputs = made->inputs;
            inputs[1] = constant_int({table}, at->second);
            Ref out =
                table.intern(Op::Loop, made->dtype, made->shape, std::move(inputs), made->attr);
            note_lines(*out, made->lines);
            return out;
        });
    return out;
}

}  // namespace

Graph bound_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                  const SymbolFacts& facts) {
    const int64_t most = profile.max_back_edges ? profile.max_back_edges : costs::kMostInOneGo;
    // The innermost loops come first: a chunked loop makes the loops around it loops of kernels.
    Graph out = bound_by_hand(table, graph, profile, facts);
    for (;;) {
        const RegionFacts regions = region_facts(out);
        const Inductions known = host_inductions(regions);
        auto cost = iteration_costs(regions, known, facts);
        std::unordered_map<const Node*, int64_t> chunks;
        std::unordered_set<const Node*> around;  // loops that hold one of those: another round
        for (const Ref& ref : regions.order) {
            if (ref->op != Op::Loop || regions.host_loops.contains(ref.get()) ||
                kernel_by_hand(regions, *ref))
                continue;
            if (around.contains(ref.get())) continue;
            const auto trips = trips_of(*ref, known, facts);
            const double iteration = 1 + cost[ref.get()];
            const bool must_end = ref->as<LoopAttr>().must_end == MustEnd::Throws;
            if (must_end && ref->as<LoopAttr>().active < 0) throw UserError(never_ended(*ref));
            if (!must_end && (!profile.max_back_edges || (trips && *trips * iteration <= most)))
                continue;
            chunks[ref.get()] = static_cast<int64_t>(
                std::max(1.0, static_cast<double>(most / costs::kChunkDivisor) / iteration));
            const auto& outer = regions.loops.at(ref.get());
            around.insert(outer.begin(), outer.end());
        }
        if (chunks.empty()) return out;
        auto visit = [](const Node&, const std::vector<Ref>&) { return Ref(); };
        auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
            const auto chunk = chunks.find(&node);
            if (chunk == chunks.end()) return nullptr;
            return chunked({table, first_line(node.lines)}, *made, made->inputs, chunk->second);
        };
        out.results = rewrite(table, out.results, visit, {}, visit_region);
    }
}

}  // namespace firn
