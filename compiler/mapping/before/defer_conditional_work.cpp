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

namespace firn {
namespace {

/// Selects of a loop that share a condition and have an expensive side.
struct Awaited {
    int condition = -1;
    size_t side = 1;  // the expensive operand
    std::vector<int> selects, expensive;
};
using AwaitedLoops = std::map<int, Awaited>;  // by For node

bool only_sums_up(const KernelCode& code, const KernelRegion& body) {
    if (body.alive >= 0) return false;
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(code, body, k)) return false;
    return true;
}

/// Returns whether the loop goes on only if the condition is `value`, because `alive` is a
/// conjunction that contains it.
bool goes_on_by(const KernelCode& code, int alive, int condition, bool value) {
    if (alive < 0) return false;
    if (alive == condition) return value;
    const KernelNode& n = code.nodes[alive];
    if (n.op == KernelOp::Not) return !value && n.args[0] == condition;
    if (n.op != KernelOp::And) return false;
    return goes_on_by(code, n.args[0], condition, value) ||
           goes_on_by(code, n.args[1], condition, value);
}

/// Returns the most expensive choice of a loop; nothing if none is worth waiting for.
std::optional<Awaited> awaited_in(const KernelCode& code, const Choices& choices, int loop) {
    const KernelRegion& body = code.regions[code.nodes[loop].region];
    const Range& range = code.ranges[body.range];
    if (!body.effects.empty() || range.rest || only_sums_up(code, body) ||
        (range.max_trips >= 0 && range.max_trips <= costs::kLongestWait))
        return std::nullopt;
    std::optional<Awaited> out;
    double most = 0;
    const double all = choices.region_cost(code.nodes[loop].region);
    for (const auto& [condition, selects] : choices.by_condition(body)) {
        if (!std::count(body.order.begin(), body.order.end(), condition)) continue;
        const std::vector<bool> changes = choices.that_need(selects);
        if (std::any_of(body.order.begin(), body.order.end(),
                        [&](int id) { return changes[id] && !is_elementwise(code.nodes[id].op); }))
            continue;  // nodes that depend on them would be computed twice
        for (size_t side : {size_t{1}, size_t{2}}) {
            if (goes_on_by(code, body.alive, condition, side == 1)) continue;
            const std::vector<int> expensive = choices.needed_for(body, selects, side);
            double cost = 0;
            for (int id : expensive) cost += choices.cost(id);
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
    for (size_t id = 0; id < code.nodes.size(); ++id)
        if (code.nodes[id].op == KernelOp::For)
            if (auto awaited = awaited_in(code, choices, static_cast<int>(id)))
                out.emplace(static_cast<int>(id), std::move(*awaited));
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
    bool is_rewritten(int loop) const override { return loops_.contains(loop); }

    std::vector<int> rewrite(int loop) override {
        const KernelNode& n = code_.nodes[loop];
        const KernelRegion& body = code_.regions[n.region];
        const Awaited& awaited = loops_.at(loop);
        std::vector<int> inits;
        for (int init : n.args) inits.push_back(value(init));
        inits.push_back(b_.integer(0));
        Range range = code_.ranges[body.range];
        const int end = range.extent_node = value(range.extent_node);
        const int around = b_.add_region();
        b_.code().regions[around].range = b_.add_range(range);
        std::vector<int> begin;
        for (int arg : body.args) begin.push_back(b_.region_arg(around, code_.nodes[arg].dtype));
        begin.push_back(b_.region_arg(around, i32));  // iterations that are done

        const std::vector<int> found = without(n, awaited, begin, end);
        const int done = found.back();
        for (size_t id = 0; id < code_.nodes.size(); ++id)
            if (std::count(needs_[id].begin(), needs_[id].end(), n.region))
                forget(static_cast<int>(id));
        const std::vector<int> held = held_values(n, awaited);
        for (size_t k = 0; k < held.size(); ++k) bind(held[k], found[body.args.size() + k]);
        const std::vector<bool> changes = choices_.that_need(awaited.selects);
        for (size_t k = 0; k < body.args.size(); ++k) {
            if (is_kept(body, awaited, k))
                bind(body.args[k], begin[k]);
            else if (!changes[body.yields[k]] &&
                     std::count(body.order.begin(), body.order.end(), body.yields[k]))
                bind(body.yields[k], found[k]);
        }
        bind_index(body.range, b_.sub(done, b_.integer(1)), end);
        std::vector<int> yields;
        for (size_t k = 0; k < body.args.size(); ++k)
            yields.push_back(changes[body.yields[k]] ? value(body.yields[k]) : found[k]);
        yields.push_back(done);
        int open = b_.make(KernelOp::Less, boolean, {done, end});
        if (body.alive >= 0) open = b_.make(KernelOp::And, boolean, {value(body.alive), open});
        b_.code().regions[around].yields = std::move(yields);
        b_.code().regions[around].alive = open;
        b_.set_lines(n.lines);
        const int made = b_.close_for(around, std::move(inits));
        std::vector<int> out;
        for (size_t k = 0; k < body.args.size(); ++k)
            out.push_back(b_.result(made, static_cast<int>(k)));
        return out;
    }

  private:
    /// Builds the inner loop, whose iterations skip the expensive side. Gives the carried values,
    /// the held_values() and the number of iterations that are done when it ends.
    std::vector<int> without(const KernelNode& loop, const Awaited& awaited,
                             const std::vector<int>& begin, int end) {
        const KernelRegion& body = code_.regions[loop.region];
        Range range = code_.ranges[body.range];
        range.extent = Size(costs::kLongestWait);
        range.max_trips = costs::kLongestWait;
        range.extent_node = b_.integer(costs::kLongestWait);
        const int region = b_.add_region();
        b_.code().regions[region].range = b_.add_range(range);
        std::vector<int> inits;
        for (size_t k = 0; k < body.args.size(); ++k) {
            const bool kept = is_kept(body, awaited, k);
            bind(body.args[k],
                 kept ? begin[k] : b_.region_arg(region, code_.nodes[body.args[k]].dtype));
            if (!kept) inits.push_back(begin[k]);
        }
        const int iteration = b_.region_arg(region, i32);
        inits.push_back(begin.back());
        const std::vector<int> held = held_values(loop, awaited);
        for (int id : held) {
            const DType dtype = code_.nodes[id].dtype;
            b_.region_arg(region, dtype);
            inits.push_back(b_.constant(scalar_int(0).to(dtype)));
        }

        bind_index(body.range, iteration, end);
        for (int id : awaited.selects) bind(id, value(code_.nodes[id].args[3 - awaited.side]));
        std::vector<int> yields;
        for (size_t k = 0; k < body.args.size(); ++k)
            if (!is_kept(body, awaited, k)) yields.push_back(value(body.yields[k]));
        const int next = b_.add(iteration, b_.integer(1));
        yields.push_back(next);
        for (int id : held) yields.push_back(value(id));
        int stays = value(awaited.condition);
        if (awaited.side == 1) stays = b_.make(KernelOp::Not, boolean, {stays});
        if (body.alive >= 0) stays = b_.make(KernelOp::And, boolean, {value(body.alive), stays});
        const int left = b_.make(KernelOp::Less, boolean, {next, end});
        b_.code().regions[region].alive = b_.make(KernelOp::And, boolean, {stays, left});
        b_.code().regions[region].yields = std::move(yields);
        b_.set_lines(loop.lines);
        const int made = b_.close_for(region, std::move(inits));

        std::vector<int> out;
        int position = 0;
        for (size_t k = 0; k < body.args.size(); ++k)
            out.push_back(is_kept(body, awaited, k) ? begin[k] : b_.result(made, position++));
        const int done = b_.result(made, position++);
        for (size_t k = 0; k < held.size(); ++k) out.push_back(b_.result(made, position++));
        out.push_back(done);
        return out;
    }

    /// Iterations without the work do not change the carried value.
    bool is_kept(const KernelRegion& body, const Awaited& awaited, size_t k) const {
        int id = body.yields[k];
        while (std::count(awaited.selects.begin(), awaited.selects.end(), id))
            id = code_.nodes[id].args[3 - awaited.side];
        return id == body.args[k];
    }

    /// Returns the values of the inner loop's last iteration that the remainder of the iteration
    /// still needs, except for carried values.
    std::vector<int> held_values(const KernelNode& loop, const Awaited& awaited) const {
        const KernelRegion& body = code_.regions[loop.region];
        std::vector<bool> late = choices_.that_need(awaited.selects);
        for (int id : awaited.expensive) late[id] = true;
        std::set<int> asked{awaited.condition};
        if (body.alive >= 0) asked.insert(body.alive);
        for (int id : body.order)
            if (late[id]) ask(id, asked);
        std::vector<int> out;
        for (int id : asked) {
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
    void ask(int id, std::set<int>& asked) const {
        const KernelNode& n = code_.nodes[id];
        asked.insert(n.args.begin(), n.args.end());
        if (n.op != KernelOp::For && n.op != KernelOp::Branch) return;
        for (int r : {n.region, n.else_region}) {
            if (r < 0) continue;
            const KernelRegion& region = code_.regions[r];
            if (region.range >= 0) asked.insert(code_.ranges[region.range].extent_node);
            asked.insert(region.yields.begin(), region.yields.end());
            if (region.alive >= 0) asked.insert(region.alive);
            for (int inside : region.order) ask(inside, asked);
        }
    }

    /// Some lanes and copies of the body go on behind the end of theirs, for nothing.
    void bind_index(int range, int iteration, int end) {
        const int id = index_of(range);
        if (id < 0) return;
        const int made = b_.make(KernelOp::Min, i32, {iteration, b_.sub(end, b_.integer(1))});
        const Interval& known = code_.nodes[id].interval;
        b_.assume(made, Size(known.lo), Size(known.hi));
        bind(id, made);
    }

    const KernelCode& code_;
    KernelBuilder& b_;
    const Choices choices_;
    const AwaitedLoops& loops_;
    const std::vector<std::vector<int>> needs_;
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
    const int64_t edges = count_back_edges(counted, profile);
    return profile.max_back_edges && (edges < 0 || edges > profile.max_back_edges) ? code : made;
}

}  // namespace firn
