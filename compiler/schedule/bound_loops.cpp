// Keeps every loop inside a kernel below the number of turns that the driver allows.
#include "compiler/schedule/bound_loops.h"

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/schedule/schedule.h"

namespace firn {
namespace {

constexpr double kUnknown = 1e18;

struct Trips {
    Size count;           // symbolic
    double most = 0;      // upper bound
};

std::optional<Trips> trips_of(const Node& loop, const SymbolFacts& facts) {
    const auto begin = host_size(*loop.inputs[0], {}), end = host_size(*loop.inputs[1], {}),
               step = host_size(*loop.inputs[2], {});
    if (!begin || !end || !step || !step->is_constant() || step->is(0)) return std::nullopt;
    const Size distance = step->constant() > 0 ? *end - *begin : *begin - *end;
    const Size stride(std::abs(step->constant()));
    const Size count = max(floor_div(distance + stride - Size(1), stride), Size(0));
    return Trips{count, static_cast<double>(count.upper_bound(facts.largest))};
}

/// Back edges that one turn of a loop's body takes at the most; host loops do not count.
class TurnCost {
  public:
    TurnCost(const RegionFacts& facts, const SymbolFacts& symbols) : facts_(facts), symbols_(symbols) {}

    double of(const Node& loop) {
        double edges = 0;
        for (const Ref& node : topological(loop.as<LoopAttr>().body->results)) {
            const auto& loops = facts_.loops.at(node.get());
            if (std::find(loops.begin(), loops.end(), &loop) == loops.end()) continue;
            if (node->op == Op::Loop && !facts_.host_loops.contains(node.get())) {
                const auto trips = trips_of(*node, symbols_);
                edges += trips ? trips->most : 0;
            }
            if (node->op != Op::Reduce) continue;
            double turns = 1;
            for (int axis : node->as<ReduceAttr>().axes)
                turns *= static_cast<double>(node->inputs[0]->shape[axis].upper_bound(symbols_.largest));
            edges += turns;
        }
        return std::min(edges, kUnknown);
    }

  private:
    const RegionFacts& facts_;
    const SymbolFacts& symbols_;
};

/// The loop as a loop over chunks of at most `chunk` turns.
Ref chunked(Builder b, const Node& loop, const std::vector<Ref>& inputs, int64_t chunk) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    auto number = [&](int64_t v) { return constant_int(b, v); };
    auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
    const Ref &begin = inputs[0], &end = inputs[1], &step = inputs[2];
    const int64_t stride = host_size(*step, {})->constant();
    const Ref distance = stride > 0 ? op(Op::Sub, end, begin) : op(Op::Sub, begin, end);
    const Ref trips = op(Op::Max, op(Op::Div, op(Op::Max, op(Op::Add, distance, number(std::abs(stride) - 1)),
                                                 number(0)), number(std::abs(stride))), number(0));
    const Ref chunks = op(Op::Div, op(Op::Add, trips, number(chunk - 1)), number(chunk));
    Region outer;
    outer.args.push_back(region_arg(b, i32, {}));
    std::vector<Ref> inits(inputs.begin() + 3, inputs.end()), inner_inputs;
    for (const Ref& init : inits) outer.args.push_back(region_arg(b, init->dtype, init->shape));
    const Ref done = op(Op::Mul, outer.args[0], number(chunk));
    const Ref start = op(Op::Add, begin, op(Op::Mul, done, step));
    const Ref turns = op(Op::Max, op(Op::Min, op(Op::Sub, trips, done), number(chunk)), number(0));
    inner_inputs = {start, op(Op::Add, start, op(Op::Mul, turns, step)), step};
    inner_inputs.insert(inner_inputs.end(), outer.args.begin() + 1, outer.args.end());
    const Ref inner = b.table.intern(Op::Loop, loop.dtype, loop.shape, inner_inputs, attr, b.line);
    for (size_t k = 0; k < inits.size(); ++k) outer.results.push_back(result(b, inner, static_cast<int>(k)));
    std::vector<Ref> outer_inputs{number(0), chunks, number(1)};
    outer_inputs.insert(outer_inputs.end(), inits.begin(), inits.end());
    return b.table.intern(Op::Loop, loop.dtype, loop.shape, outer_inputs,
                          LoopAttr{std::make_shared<const Region>(std::move(outer)), -1, true}, b.line);
}

}  // namespace

Graph bound_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts) {
    if (!profile.max_back_edges) return graph;
    // One loop at a time, innermost first: a chunked loop makes the loops around it loops of kernels.
    Graph out = graph;
    for (bool changed = true; changed;) {
        changed = false;
        const RegionFacts regions = region_facts(out);
        TurnCost cost(regions, facts);
        for (const Ref& ref : regions.order) {
            if (ref->op != Op::Loop || regions.host_loops.contains(ref.get())) continue;
            const auto trips = trips_of(*ref, facts);
            const double turn = 1 + cost.of(*ref);
            if (!trips || trips->most * turn <= profile.max_back_edges) continue;
            const auto chunk = static_cast<int64_t>(std::max(1.0, profile.max_back_edges / 2 / turn));
            const Node* target = ref.get();
            out.results = rewrite(table, out.results, [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
                if (&node != target) return nullptr;
                return chunked({table, node.lines.empty() ? SourceLine{} : node.lines[0]}, node, inputs, chunk);
            });
            changed = true;
            break;
        }
    }
    return out;
}

}  // namespace firn
