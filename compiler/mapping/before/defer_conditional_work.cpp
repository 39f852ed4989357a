// Defers expensive conditional work of a loop until every lane needs it.
#include "compiler/mapping/before/defer_conditional_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/before/choices.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

/// Selects of a loop that share a condition and have an expensive side.
struct Awaited {
    NodeId condition;
    size_t side = 1;  // the expensive operand
    std::vector<NodeId> selects, expensive;
};
using AwaitedLoops = std::map<NodeId, Awaited>;  // by For node

bool only_sums_up(const KernelCode& code, const KernelRegion& body) {
    if (body.alive) return false;
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(code, body, k)) return false;
    return true;
}

/// Returns whether the loop goes on only if the condition is `value`, because `alive` is a
/// conjunction that contains it.
bool goes_on_by(const KernelCode& code, NodeId alive, NodeId condition, bool value) {
    if (!alive) return false;
    if (alive == condition) return value;
    const KernelNode& n = code[alive];
    if (n.op == KernelOp::Not) return !value && n.args[0] == condition;
    if (n.op != KernelOp::And) return false;
    return goes_on_by(code, n.args[0], condition, value) ||
           goes_on_by(code, n.args[1], condition, value);
}

/// Returns the most expensive choice of a loop; nothing if none is worth waiting for.
std::optional<Awaited> awaited_in(const KernelCode& code, const Choices& choices, NodeId loop) {
    const RegionId region = code[loop].as<BodyAttr>().region;
    const KernelRegion& body = code[region];
    const Range& range = code[body.range];
    if (!body.effects.empty() || range.rest || only_sums_up(code, body) ||
        (range.max_trips >= 0 && range.max_trips <= costs::kLongestWait))
        return std::nullopt;
    std::optional<Awaited> out;
    double most = 0;
    const double all = choices.region_cost(region);
    for (const auto& [condition, selects] : choices.by_condition(body)) {
        if (!std::count(body.order.begin(), body.order.end(), condition)) continue;
        const ByNode<bool> changes = choices.that_need(selects);
        if (std::any_of(body.order.begin(), body.order.end(),
                        [&](NodeId id) { return changes[id] && !is_elementwise(code[id].op); }))
            continue;  // nodes that depend on them would be computed twice
        for (size_t side : {size_t{1}, size_t{2}}) {
            if (goes_on_by(code, body.alive, condition, side == 1)) continue;
            const std::vector<NodeId> expensive = choices.needed_for(body, selects, side);
            double cost = 0;
            for (NodeId id : expensive) cost += choices.cost(id);
            if (cost <= most || cost < costs::kLeastAwaited * (all - cost)) continue;
            most = cost;
            out = Awaited{condition, side, selects, expensive};
        }
    }
    return out;
}

AwaitedLoops awaited_loops(const KernelCode& code, const DeviceProfile& profile) {
    const Choices choices(code, profile);
    AwaitedLoops out;
    for (NodeId id : code.nodes.ids())
        if (code[id].op == KernelOp::For)
            if (auto awaited = awaited_in(code, choices, id)) out.emplace(id, std::move(*awaited));
    return out;
}

class Waiter : public Rebuild {
  public:
    Waiter(const KernelCode& placed, KernelBuilder& b, const DeviceProfile& profile,
           const AwaitedLoops& loops)
        : Rebuild(placed, b),
          code_(placed),
          b_(b),
          choices_(placed, profile),
          loops_(loops),
          needs_(region_needs(placed)) {}

  protected:
    bool is_rewritten(NodeId loop) const override { return loops_.contains(loop); }

    std::vector<NodeId> rewrite(NodeId loop) override {
        const KernelNode& n = code_[loop];
        const RegionId region = n.as<BodyAttr>().region;
        const KernelRegion& body = code_[region];
        const Awaited& awaited = loops_.at(loop);
        std::vector<NodeId> inits;
        for (NodeId init : n.args) inits.push_back(value(init));
        inits.push_back(b_.integer(0));
        Range range = code_[body.range];
        const NodeId end = range.extent_node = value(range.extent_node);
        const RegionId around = b_.add_region();
        b_.code()[around].range = b_.add_range(range);
        std::vector<NodeId> begin;
        for (NodeId arg : body.args) begin.push_back(b_.region_arg(around, code_[arg].dtype));
        begin.push_back(b_.region_arg(around, i32));  // iterations that are done

        const std::vector<NodeId> found = without(n, awaited, begin, end);
        const NodeId done = found.back();
        for (NodeId id : code_.nodes.ids())
            if (std::count(needs_[id].begin(), needs_[id].end(), region)) forget(id);
        const std::vector<NodeId> held = held_values(n, awaited);
        for (size_t k = 0; k < held.size(); ++k) bind(held[k], found[body.args.size() + k]);
        const ByNode<bool> changes = choices_.that_need(awaited.selects);
        for (size_t k = 0; k < body.args.size(); ++k) {
            if (is_kept(body, awaited, k))
                bind(body.args[k], begin[k]);
            else if (!changes[body.yields[k]] &&
                     std::count(body.order.begin(), body.order.end(), body.yields[k]))
                bind(body.yields[k], found[k]);
        }
        bind_index(body.range, b_.sub(done, b_.integer(1)), end);
        std::vector<NodeId> yields;
        for (size_t k = 0; k < body.args.size(); ++k)
            yields.push_back(changes[body.yields[k]] ? value(body.yields[k]) : found[k]);
        yields.push_back(done);
        NodeId open = b_.make(KernelOp::Less, boolean, {done, end});
        if (body.alive) open = b_.make(KernelOp::And, boolean, {value(body.alive), open});
        b_.code()[around].yields = std::move(yields);
        b_.code()[around].alive = open;
        b_.set_lines(n.lines);
        const NodeId made = b_.close_for(around, std::move(inits));
        std::vector<NodeId> out;
        for (size_t k = 0; k < body.args.size(); ++k)
            out.push_back(b_.result(made, static_cast<int>(k)));
        return out;
    }

  private:
    /// Builds the inner loop, whose iterations skip the expensive side. Gives the carried values,
    /// the held_values() and the number of iterations that are done when it ends.
    std::vector<NodeId> without(const KernelNode& loop, const Awaited& awaited,
                                const std::vector<NodeId>& begin, NodeId end) {
        const KernelRegion& body = code_[loop.as<BodyAttr>().region];
        Range range = code_[body.range];
        range.extent = Size(costs::kLongestWait);
        range.max_trips = costs::kLongestWait;
        range.extent_node = b_.integer(costs::kLongestWait);
        const RegionId region = b_.add_region();
        b_.code()[region].range = b_.add_range(range);
        std::vector<NodeId> inits;
        for (size_t k = 0; k < body.args.size(); ++k) {
            const bool kept = is_kept(body, awaited, k);
            bind(body.args[k], kept ? begin[k] : b_.region_arg(region, code_[body.args[k]].dtype));
            if (!kept) inits.push_back(begin[k]);
        }
        const NodeId iteration = b_.region_arg(region, i32);
        inits.push_back(begin.back());
        const std::vector<NodeId> held = held_values(loop, awaited);
        for (NodeId id : held) {
            const DType dtype = code_[id].dtype;
            b_.region_arg(region, dtype);
            inits.push_back(b_.constant(scalar_int(0).to(dtype)));
        }

        bind_index(body.range, iteration, end);
        for (NodeId id : awaited.selects) bind(id, value(code_[id].args[3 - awaited.side]));
        std::vector<NodeId> yields;
        for (size_t k = 0; k < body.args.size(); ++k)
            if (!is_kept(body, awaited, k)) yields.push_back(value(body.yields[k]));
        const NodeId next = b_.add(iteration, b_.integer(1));
        yields.push_back(next);
        for (NodeId id : held) yields.push_back(value(id));
        NodeId stays = value(awaited.condition);
        if (awaited.side == 1) stays = b_.make(KernelOp::Not, boolean, {stays});
        if (body.alive) stays = b_.make(KernelOp::And, boolean, {value(body.alive), stays});
        const NodeId left = b_.make(KernelOp::Less, boolean, {next, end});
        b_.code()[region].alive = b_.make(KernelOp::And, boolean, {stays, left});
        b_.code()[region].yields = std::move(yields);
        b_.set_lines(loop.lines);
        const NodeId made = b_.close_for(region, std::move(inits));

        std::vector<NodeId> out;
        int position = 0;
        for (size_t k = 0; k < body.args.size(); ++k)
            out.push_back(is_kept(body, awaited, k) ? begin[k] : b_.result(made, position++));
        const NodeId done = b_.result(made, position++);
        for (size_t k = 0; k < held.size(); ++k) out.push_back(b_.result(made, position++));
        out.push_back(done);
        return out;
    }

    /// Iterations without the work do not change the carried value.
    bool is_kept(const KernelRegion& body, const Awaited& awaited, size_t k) const {
        NodeId id = body.yields[k];
        while (std::count(awaited.selects.begin(), awaited.selects.end(), id))
            id = code_[id].args[3 - awaited.side];
        return id == body.args[k];
    }

    /// Returns the values of the inner loop's last iteration that the remainder of the iteration
    /// still needs, except for carried values.
    std::vector<NodeId> held_values(const KernelNode& loop, const Awaited& awaited) const {
        const KernelRegion& body = code_[loop.as<BodyAttr>().region];
        ByNode<bool> late = choices_.that_need(awaited.selects);
        for (NodeId id : awaited.expensive) late[id] = true;
        std::set<NodeId> asked{awaited.condition};
        if (body.alive) asked.insert(body.alive);
        for (NodeId id : body.order)
            if (late[id]) ask(id, asked);
        std::vector<NodeId> out;
        for (NodeId id : asked) {
            const auto position = std::find(body.args.begin(), body.args.end(), id);
            const bool is_held =
                position == body.args.end()
                    ? !late[id] && !std::count(body.yields.begin(), body.yields.end(), id) &&
                          std::count(body.order.begin(), body.order.end(), id)
                    : !is_kept(body, awaited, static_cast<size_t>(position - body.args.begin()));
            if (is_held) out.push_back(id);
        }
        return out;
    }
    void ask(NodeId id, std::set<NodeId>& asked) const {
        const KernelNode& n = code_[id];
        asked.insert(n.args.begin(), n.args.end());
        for (RegionId r : bodies(n)) {
            const KernelRegion& region = code_[r];
            if (region.range) asked.insert(code_[region.range].extent_node);
            asked.insert(region.yields.begin(), region.yields.end());
            if (region.alive) asked.insert(region.alive);
            for (NodeId inside : region.order) ask(inside, asked);
        }
    }

    /// Some lanes and copies of the body go on behind the end of theirs, for nothing.
    void bind_index(RangeId range, NodeId iteration, NodeId end) {
        const NodeId id = index_of(range);
        if (!id) return;
        const NodeId made = b_.make(KernelOp::Min, i32, {iteration, b_.sub(end, b_.integer(1))});
        const Interval& known = code_[id].interval;
        b_.assume(made, Size(known.lo), Size(known.hi));
        bind(id, made);
    }

    const KernelCode& code_;
    KernelBuilder& b_;
    const Choices choices_;
    const AwaitedLoops& loops_;
    const ByNode<std::vector<RegionId>> needs_;
};

}  // namespace

KernelCode defer_conditional_work(KernelCode code, const DeviceProfile& profile,
                                  const SymbolFacts& facts, ChooseMapping choose) {
    if (!rules_of(profile).masked) return code;
    const auto has = [&](KernelOp op) {
        return std::any_of(code.nodes.begin(), code.nodes.end(),
                           [&](const KernelNode& n) { return n.op == op; });
    };
    if (!has(KernelOp::For) || !has(KernelOp::Select)) return code;
    KernelCode placed = code;
    place(placed);
    const AwaitedLoops loops = awaited_loops(placed, profile);
    if (loops.empty() || choose(placed, profile, facts).copies() > 1) return code;
    KernelCode made;
    made.name = code.name;
    KernelBuilder b(made, facts);
    Waiter(placed, b, profile, loops).copy_kernel();
    KernelCode counted = made;
    place(counted);
    const int64_t edges = target_of(profile).count_back_edges(counted, profile);
    return profile.max_back_edges && (edges < 0 || edges > profile.max_back_edges) ? code : made;
}

}  // namespace firn
