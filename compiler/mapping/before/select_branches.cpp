// Turns choices with expensive sides into branches.
#include "compiler/mapping/before/select_branches.h"

#include <algorithm>
#include <utility>

#include "compiler/kernel/place.h"
#include "compiler/mapping/before/choices.h"
#include "compiler/mapping/choice/tile_model.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Renumbers the nodes in the order that roots need them, without the dead: operands, and the
/// contents of regions, come first.
class Renumber {
  public:
    explicit Renumber(const KernelCode& from)
        : from_(from), to_(from.nodes.size()), live_(from.regions.size()) {}

    KernelCode run() {
        KernelCode out = from_;
        visit_region(kRoot);
        out.nodes.clear();
        for (NodeId id : order_) {
            KernelNode n = from_[id];
            for (NodeId& arg : n.args) arg = to_[arg];
            out.nodes.push_back(std::move(n));
        }
        for (RegionId r : out.regions.ids()) {
            KernelRegion& region = out[r];
            if (!live_[r]) region = {};
            region.order.clear();
            for (std::vector<NodeId>* list : {&region.args, &region.effects, &region.yields})
                for (NodeId& id : *list) id = to_[id];
            if (region.alive) region.alive = to_[region.alive];
        }
        for (Range& range : out.ranges)
            if (range.extent_node) range.extent_node = to_[range.extent_node];
        return out;
    }

  private:
    /// Operands first, without recursion: only regions stand in one another.
    void visit(NodeId root) {
        std::vector<NodeId> open{root};
        while (!open.empty()) {
            const NodeId id = open.back();
            if (!id || to_[id]) {
                open.pop_back();
                continue;
            }
            const KernelNode& n = from_[id];
            const auto missing =
                std::find_if(n.args.begin(), n.args.end(), [&](NodeId arg) { return !to_[arg]; });
            if (missing != n.args.end()) {
                open.push_back(*missing);
                continue;
            }
            open.pop_back();
            for (RegionId body : bodies(n)) visit_region(body);
            to_[id] = NodeId(order_.size());
            order_.push_back(id);
        }
    }

    void visit_region(RegionId id) {
        const KernelRegion& region = from_[id];
        live_[id] = true;
        if (region.range) visit(from_[region.range].extent_node);
        for (NodeId arg : region.args) visit(arg);
        for (NodeId y : region.yields) visit(y);
        for (NodeId e : region.effects) visit(e);
        visit(region.alive);
    }

    const KernelCode& from_;
    ByNode<NodeId> to_;
    std::vector<NodeId> order_;
    ByRegion<bool> live_;  // regions of live nodes
};

bool has_both_sides(const KernelNode& n) {
    return n.op == KernelOp::Branch && n.as<BodyAttr>().else_region;
}

/// One placed kernel, as far as choosing branches must know it.
class Chooser {
  public:
    Chooser(const KernelCode& code, const DeviceProfile& profile)
        : code_(code), masked_(rules_of(profile).masked), choices_(code, profile) {}

    /// Selects by one condition that are worth a branch, the first that are found.
    std::vector<NodeId> find() const {
        for (const KernelRegion& region : code_.regions) {
            if (!may_hold_dear(region)) continue;
            for (const auto& [condition, group] : choices_.by_condition(region))
                if (worth(region, group)) return group;
        }
        return {};
    }

    /// Two branches by one condition, neither of which needs the other; empty: there are none.
    std::vector<NodeId> find_alike() const {
        for (const KernelRegion& region : code_.regions)
            for (size_t k = 0; k < region.order.size(); ++k) {
                const KernelNode& first = code_[region.order[k]];
                if (!has_both_sides(first)) continue;
                for (size_t j = k + 1; j < region.order.size(); ++j) {
                    const KernelNode& n = code_[region.order[j]];
                    if (has_both_sides(n) && n.args[0] == first.args[0] &&
                        !choices_.reaches_any(region.order[j], {region.order[k]}))
                        return {region.order[k], region.order[j]};
                }
            }
        return {};
    }

  private:
    /// A loop that its own condition starts is left at once where that is false.
    bool skips_itself(const KernelNode& loop) const {
        const NodeId extent = code_[code_[loop.as<BodyAttr>().region].range].extent_node;
        const KernelNode& iterations = code_[extent];
        if (iterations.op != KernelOp::Select) return false;
        const KernelNode& none = code_[iterations.args[2]];
        return none.op == KernelOp::Constant && none.as<Scalar>().i == 0;
    }

    bool may_hold_dear(const KernelRegion& region) const {
        double total = 0;
        for (NodeId id : region.order) {
            if (masked_ && code_[id].op == KernelOp::For) return true;
            total += choices_.cost(id);
        }
        return !masked_ && total >= costs::kBranchOperations;
    }

    /// Returns the cost of what is evaluated for one side of the selects alone, less what the
    /// device evaluates anyway.
    double saved(const KernelRegion& region, const std::vector<NodeId>& group, size_t side) const {
        double out = 0;
        for (NodeId id : choices_.needed_for(region, group, side)) {
            const KernelNode& n = code_[id];
            if (!masked_)
                out += choices_.cost(id);
            else if (n.op == KernelOp::For && !skips_itself(n))
                out += std::max(0.0,
                                choices_.cost(id) - choices_.region_cost(n.as<BodyAttr>().region));
        }
        return out;
    }

    bool worth(const KernelRegion& region, const std::vector<NodeId>& group) const {
        const double least = masked_ ? costs::kMaskedLoopOperations : costs::kBranchOperations;
        return saved(region, group, 1) >= least || saved(region, group, 2) >= least;
    }

    const KernelCode& code_;
    bool masked_;
    Choices choices_;
};

/// The selects of `group` as results of one Branch.
KernelCode with_branch(KernelCode code, const std::vector<NodeId>& group) {
    KernelRegion sides[2];
    for (NodeId id : group)
        for (size_t side = 0; side < 2; ++side)
            sides[side].yields.push_back(code[id].args[side + 1]);
    KernelNode branch;
    branch.op = KernelOp::Branch;
    branch.args = {code[group[0]].args[0]};
    branch.lines = code[group[0]].lines;
    const RegionId taken = code.regions.end_id();
    branch.attr = BodyAttr{.region = taken, .else_region = taken.next()};
    code.regions.insert(code.regions.end(), {sides[0], sides[1]});
    const NodeId made = code.nodes.end_id();
    code.nodes.push_back(std::move(branch));
    for (size_t k = 0; k < group.size(); ++k) {
        KernelNode& n = code[group[k]];
        n.op = KernelOp::Result;
        n.args = {made};
        n.attr = PositionAttr{static_cast<int>(k)};
    }
    return Renumber(code).run();
}

/// The results of two branches as those of the first.
KernelCode with_one_branch(KernelCode code, NodeId first, NodeId second) {
    const BodyAttr a = code[first].as<BodyAttr>(), b = code[second].as<BodyAttr>();
    const int before = static_cast<int>(code[a.region].yields.size());
    for (auto [to, from] : {std::pair{a.region, b.region}, {a.else_region, b.else_region}}) {
        const std::vector<NodeId> more = code[from].yields;
        code[to].yields.insert(code[to].yields.end(), more.begin(), more.end());
    }
    for (KernelNode& n : code.nodes) {
        if (n.op != KernelOp::Result || n.args[0] != second) continue;
        n.args[0] = first;
        n.as<PositionAttr>().position += before;
    }
    return Renumber(code).run();
}

/// Returns the sum of the loop depths of all loops and loads; a branch must not raise it.
int64_t dear_depths(const KernelCode& code) {
    const ByRegion<RegionId> parents = region_parents(code);
    int64_t out = 0;
    for (RegionId r : code.regions.ids()) {
        int64_t depth = 0;
        for (RegionId at = r; at; at = parents[at]) depth += bool(code[at].range);
        for (NodeId id : code[r].order) {
            const KernelNode& n = code[id];
            if (n.op == KernelOp::For || n.op == KernelOp::Load ||
                (is_elementwise(n.op) && operation_cost(n.op) > 1))
                out += depth;
        }
    }
    return out;
}

/// Returns whether branches can pay at all: without a loop nothing is expensive enough for a CPU
/// driver.
bool may_branch(const KernelCode& code, const DeviceProfile& profile) {
    auto count = [&](KernelOp op) {
        return std::count_if(code.nodes.begin(), code.nodes.end(),
                             [&](const KernelNode& n) { return n.op == op; });
    };
    return count(KernelOp::Branch) > 1 ||
           (count(KernelOp::Select) && (!rules_of(profile).masked || count(KernelOp::For)));
}

/// Returns whether the unchanged kernel would have a tile that reduces the work to less than half:
/// what remains if half of all indices skip the loops.
bool tiles_better(const KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts,
                  ChooseMapping choose) {
    const auto grid = std::count_if(code.ranges.begin(), code.ranges.end(),
                                    [](const Range& r) { return r.kind == RangeKind::Grid; });
    if (grid < 2) return false;
    const Mapping mapping = choose(code, profile, facts);
    if (mapping.lanes > 1 || mapping.copies() == 1) return false;
    const TileModel model(code, false);
    return model.time(mapping.tile) <
           costs::kPassedBy * model.time(std::vector<int64_t>(mapping.tile.size(), 1));
}

}  // namespace

KernelCode select_branches(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose) {
    if (!may_branch(code, profile)) return code;
    place(code);
    for (std::vector<NodeId> two = Chooser(code, profile).find_alike(); !two.empty();
         two = Chooser(code, profile).find_alike()) {
        code = with_one_branch(std::move(code), two[0], two[1]);
        place(code);
    }
    for (int made = 0; made < costs::kMostBranches; ++made) {
        const std::vector<NodeId> group = Chooser(code, profile).find();
        if (group.empty() || (made == 0 && tiles_better(code, profile, facts, choose))) break;
        KernelCode branched = with_branch(code, group);
        place(branched);
        // A value that a loop evaluated once, before its iterations, would move into the branch and
        // be evaluated in every iteration.
        if (dear_depths(branched) > dear_depths(code)) break;
        code = std::move(branched);
    }
    return code;
}

}  // namespace firn
