// Loops of kernels whose trip count depends on data.
#include "compiler/passes/open_loops.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "compiler/ir/builder.h"
#include "compiler/schedule/regions.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The bounds of loops of kernels, as far as the host knows them.
class KnownBounds {
  public:
    explicit KnownBounds(const RegionFacts& facts) : inductions_(host_inductions(facts)) {}

    bool known(const Node& loop) const {
        for (int k = 0; k < 3; ++k)
            if (const auto size = host_size(*loop.inputs[k], inductions_);
                !size || !data_symbols(*size).empty())
                return false;
        return loop.inputs[2]->op == Op::Constant;  // never 0
    }

    /// Returns the most iterations that the loop can take, if this depends neither on a loop around
    /// it nor on an argument's value.
    std::optional<Size> most_trips(const Node& loop) const {
        const auto begin = host_size(*loop.inputs[0], inductions_),
                   end = host_size(*loop.inputs[1], inductions_);
        if (!begin || !end || loop.inputs[2]->op != Op::Constant) return std::nullopt;
        const int64_t step = loop.inputs[2]->as<ConstantAttr>().value.i;
        const Size most = max(
            ceil_div(largest(step > 0 ? *end - *begin : *begin - *end), std::abs(step)), Size(0));
        for (const std::string& symbol : most.symbols())
            if (symbol[0] == '$') return std::nullopt;
        return most;
    }

    bool short_enough(const Node& loop, const SymbolFacts& facts) const {
        if (!known(loop)) return false;
        const Size begin = *host_size(*loop.inputs[0], inductions_),
                   end = *host_size(*loop.inputs[1], inductions_);
        const int64_t step = loop.inputs[2]->as<ConstantAttr>().value.i;
        const Size distance = step > 0 ? end - begin : begin - end;
        return distance.upper_bound(facts.largest) <= costs::kFewTrips * std::abs(step);
    }

  private:
    std::unordered_map<const Node*, Size> inductions_;
};

bool depends_on(const Node& node, const Node& arg) {
    return &node == &arg ||
           (node.free_args && std::binary_search(node.free_args->begin(), node.free_args->end(),
                                                 arg.as<RegionArgAttr>().id));
}

/// Returns the Loop with its bounds counted by the device and one bool that ends it. `most`: the
/// most iterations that it can take; null: unknown. `flag_asked`: the active value is asked for
/// after the loop; a copy of it, as the loop's own iterations left it, is carried after all other
/// values.
Ref opened(const Builder& b, const Node& loop, const std::vector<Ref>& inputs, const Ref& most,
           bool flag_asked) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region old = with_fresh_args(b.table, *attr.body);
    const Ref zero = constant_int(b, 0), one = constant_int(b, 1);
    auto op = [&](Op o, std::vector<Ref> in) { return elementwise(b, o, std::move(in)); };
    const Ref trips = loop_trip_count(b, inputs[0], inputs[1], inputs[2]);
    const Ref iteration = region_arg(b, i32, {}), go = region_arg(b, boolean, {});

    std::unordered_map<const Node*, Ref> replace;
    replace[old.args[0].get()] = op(Op::Add, {inputs[0], op(Op::Mul, {iteration, inputs[2]})});
    std::vector<Ref> next = substitute(b.table, old.results, replace);
    const std::vector<Ref> sizes(next.begin(),
                                 next.begin() + static_cast<std::ptrdiff_t>(attr.sizes.size()));
    const Ref more = op(Op::Less, {op(Op::Add, {iteration, one}), trips});
    std::vector<Ref> inits(inputs.begin() + 3, inputs.end());
    Ref goes_on = more;
    Region body{{iteration}, {}};
    body.args.insert(body.args.end(), old.args.begin() + 1, old.args.end());
    if (attr.active >= 0) {
        const size_t k = static_cast<size_t>(attr.active);
        if (flag_asked) {
            const Ref flag = region_arg(b, boolean, inits[k]->shape);
            body.args.push_back(flag);
            next.push_back(op(Op::Select, {go, next[k], flag}));
            inits.push_back(inits[k]);
        }
        // At the loop's own end every element becomes inactive, so that further iterations change
        // nothing; a loop that must have ended by then may take some more. A body that changes
        // nothing by a condition of its own, rather than by the active value, would go on.
        if (attr.must_end == MustEnd::No) {
            for (size_t each = 0; each < old.results.size(); ++each)
                if (each != k && next[each] != old.args[each + 1] &&
                    !depends_on(*next[each], *old.args[k + 1]))
                    next[each] = op(Op::Select, {go, next[each], old.args[each + 1]});
            next[k] = op(Op::And, {next[k], more});
        }
        goes_on = reduce(b, ReduceOp::Any, next[k], {}, false);
        inits[k] = op(Op::And, {inits[k], op(Op::Less, {zero, trips})});
    } else {
        for (size_t k = 0; k < next.size(); ++k)
            next[k] = op(Op::Select, {go, next[k], body.args[k + 1]});
    }
    // A size that begins in an iteration is 0 after the end, so that nothing is dispatched for it.
    for (size_t k = 0; k < attr.sizes.size(); ++k) next[k] = op(Op::Select, {go, sizes[k], zero});
    body.args.push_back(go);
    body.results = next;
    body.results.push_back(goes_on);
    inits.push_back(op(Op::Less, {zero, trips}));
    std::vector<Ref> made{zero, most ? most : constant_int(b, std::numeric_limits<int32_t>::max()),
                          one};
    made.insert(made.end(), inits.begin(), inits.end());
    return b.table.intern(
        Op::Loop, loop.dtype, loop.shape, std::move(made),
        LoopAttr{std::make_shared<const Region>(std::move(body)),
                 static_cast<int>(inits.size()) - 1, true, true, attr.must_end, attr.sizes},
        b.line);
}

/// Facts about a loop that is opened: its bounds, and whether its active value is asked for after
/// it.
struct Target {
    bool known = false;
    std::optional<Size> most;
    bool flag_asked = false;
};

/// True if the node is a Loop's result that is its active value.
bool is_flag(const Node& node) {
    return node.op == Op::Result && node.inputs[0]->op == Op::Loop &&
           node.as<ResultAttr>().index == node.inputs[0]->as<LoopAttr>().active;
}

bool is_inside_any(const RegionFacts& facts, const Node& node,
                   const std::unordered_map<const Node*, Target>& targets) {
    const auto& loops = facts.loops.at(&node);
    return std::any_of(loops.begin(), loops.end(),
                       [&](const Node* loop) { return targets.contains(loop); });
}

bool is_open(const Node& loop, const KnownBounds& bounds, const SymbolFacts& facts) {
    if (loop.as<LoopAttr>().open) return false;
    if (!bounds.known(loop) || loop.as<LoopAttr>().must_end != MustEnd::No) return true;
    return loop.as<LoopAttr>().active >= 0 && !bounds.short_enough(loop, facts);
}

}  // namespace

Ref count_steps(const Builder& b, const Ref& distance, const Ref& pace) {
    auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
    const Ref zero = constant_int(b, 0), one = constant_int(b, 1);
    if (pace->op == Op::Constant && pace->as<ConstantAttr>().value.i == 1)
        return op(Op::Max, distance, zero);
    const Ref further = op(Op::Div, op(Op::Sub, op(Op::Max, distance, one), one), pace);
    return op(Op::Add, further, op(Op::Min, op(Op::Max, distance, zero), one));
}

Ref loop_trip_count(const Builder& b, const Ref& begin, const Ref& end, const Ref& step) {
    auto op = [&](Op o, std::vector<Ref> in) { return elementwise(b, o, std::move(in)); };
    if (step->op == Op::Constant) {
        const int64_t stride = step->as<ConstantAttr>().value.i;
        const Ref distance = stride > 0 ? op(Op::Sub, {end, begin}) : op(Op::Sub, {begin, end});
        return count_steps(b, distance, constant_int(b, std::abs(stride)));
    }
    const Ref zero = constant_int(b, 0), up = op(Op::Less, {zero, step});
    const Ref distance = op(Op::Select, {up, op(Op::Sub, {end, begin}), op(Op::Sub, {begin, end})});
    const Ref trips = count_steps(b, distance, op(Op::Abs, {step}));
    return op(Op::Select, {op(Op::Equal, {step, zero}), zero, trips});
}

Graph open_loops(NodeTable& table, const Graph& graph, const SymbolFacts& facts) {
    // The outermost loops come first: afterwards the bounds of a loop inside may be known.
    Graph out = graph;
    for (;;) {
        const RegionFacts regions = region_facts(out);
        const KnownBounds bounds(regions);
        std::unordered_map<const Node*, Target> targets;
        for (size_t k = regions.order.size(); k-- > 0;) {
            const Node* loop = regions.order[k].get();
            if (!regions.host_loops.contains(loop)) continue;
            const bool inside = is_inside_any(regions, *loop, targets);
            if (!inside && is_open(*loop, bounds, facts))
                targets[loop] = {bounds.known(*loop), bounds.most_trips(*loop)};
        }
        if (targets.empty()) return out;
        for (const Ref& node : regions.order)
            if (is_flag(*node))
                if (const auto target = targets.find(node->inputs[0].get());
                    target != targets.end() &&
                    target->first->as<LoopAttr>().must_end == MustEnd::No)
                    target->second.flag_asked = true;
        // Iterations after the end are outside the range that unchecked reads promise.
        auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (is_flag(node))
                if (const auto target = targets.find(node.inputs[0].get());
                    target != targets.end() && target->second.flag_asked)
                    return result({table, first_line(node.lines)}, inputs[0],
                                  static_cast<int>(node.inputs[0]->inputs.size()) - 3);
            const bool read = node.op == Op::Gather && is_inside_any(regions, node, targets);
            return read ? checked_read({table}, node, inputs) : nullptr;
        };
        auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
            const auto target = targets.find(&node);
            if (target == targets.end()) return nullptr;
            std::vector<Guard> met;
            const Builder b{table, first_line(node.lines), &met};
            const std::vector<Ref>& inputs = made->inputs;
            const auto& [known, most, flag_asked] = target->second;
            const Ref trips = known  ? loop_trip_count(b, inputs[0], inputs[1], inputs[2])
                              : most ? size_value(b, *most)
                                     : nullptr;
            return opened(b, *made, inputs, trips, flag_asked);
        };
        out.results = rewrite(table, out.results, visit, {}, visit_region);
    }
}

}  // namespace firn
