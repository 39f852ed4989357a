// Placement: late as uses allow, then out of loops, with the guards in them, never out of other
// branches.
#include "compiler/kernel/place.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The lanes of a subgroup, as far as placing must know them.
struct LaneFacts {
    ByNode<bool> differs;   // lanes may have different values
    ByNode<bool> together;  // all lanes must reach it (collective operations, and loops
                            // around them)
};

bool done_together(KernelOp op) {
    return op == KernelOp::SubgroupReduce || op == KernelOp::SubgroupShuffle || is_matrix(op);
}

bool lanes_differ(const KernelCode& code, const KernelNode& n, const ByNode<bool>& differs,
                  const ByRegion<bool>& loop_differs) {
    if (const auto* id = n.get_if<RangeId>()) {
        const Range& range = code[*id];
        return (range.kind == RangeKind::Subgroup || range.kind == RangeKind::Invocation) &&
               range.dim == 0;
    }
    if (n.op == KernelOp::SubgroupReduce || n.op == KernelOp::SubgroupShuffle) return false;
    if (const auto* carried = n.get_if<CarriedAttr>()) return loop_differs[carried->region];
    auto any = [&](const std::vector<NodeId>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return differs[id]; });
    };
    if (any(n.args)) return true;
    for (RegionId body : bodies(n)) {
        const KernelRegion& r = code[body];
        if (any(r.yields) || (r.alive && differs[r.alive])) return true;
        if (r.range && differs[code[r.range].extent_node]) return true;
    }
    return false;
}

LaneFacts lane_facts(const KernelCode& code, const ByNode<std::vector<RegionId>>& needs) {
    LaneFacts out{ByNode<bool>(code.nodes.size()), ByNode<bool>(code.nodes.size())};
    ByRegion<bool> loop_differs(code.regions.size()), holds(code.regions.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId id : code.nodes.ids()) {
            const KernelNode& n = code[id];
            if (out.differs[id] || !lanes_differ(code, n, out.differs, loop_differs)) continue;
            out.differs[id] = changed = true;
            if (n.op == KernelOp::For) loop_differs[n.as<BodyAttr>().region] = true;
        }
    }
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        out.together[id] =
            done_together(n.op) || (n.op == KernelOp::For && holds[n.as<BodyAttr>().region]);
        if (!out.together[id]) continue;
        for (RegionId region : needs[id]) holds[region] = true;
    }
    return out;
}

/// Marks the nodes that may only run where their guards hold, and the nodes computed from them:
/// loads, and nodes with bodies or that read other lanes.
ByNode<bool> guarded_nodes(const KernelCode& code) {
    ByNode<bool> out(code.nodes.size());
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        const bool plain = n.op == KernelOp::Constant || n.op == KernelOp::Param ||
                           n.op == KernelOp::Range || is_elementwise(n.op);
        out[id] = !plain ||
                  std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return out[arg]; });
    }
    return out;
}

class Placer {
  public:
    explicit Placer(KernelCode& code)
        : code_(code),
          late_(code.nodes.size()),
          parent_(code.regions.size()),
          depth_(code.regions.size(), 0),
          apart_(code.regions.size(), false),
          guard_(code.regions.size(), false),
          guarded_(guarded_nodes(code)),
          needs_(region_needs(code)),
          lanes_(lane_facts(code, needs_)) {}

    void run() {
        for (KernelRegion& region : code_.regions) region.order.clear();
        use_region(kRoot);
        ByNode<bool> effect(code_.nodes.size());
        for (const KernelRegion& region : code_.regions)
            for (NodeId e : region.effects) effect[e] = true;
        for (size_t k = code_.nodes.size(); k-- > 0;) {
            const NodeId id(k);
            if (!late_[id]) continue;
            KernelNode& node = code_[id];
            RegionId region = late_[id];
            if (!effect[id]) {
                region = hoist(id, region);
                if (lanes_.together[id]) region = rejoin(id, region);
            }
            for (RegionId body : bodies(node)) {
                enter(body, region, node);
                if (const RangeId range = code_[body].range) use(code_[range].extent_node, region);
            }
            for (NodeId arg : node.args) use(arg, region);
            const bool text_only = node.op == KernelOp::Constant || node.op == KernelOp::Param ||
                                   node.op == KernelOp::Range || node.op == KernelOp::RegionArg;
            if ((!effect[id] || code_.in_order) && !text_only) code_[region].order.push_back(id);
        }
        for (KernelRegion& region : code_.regions) {
            std::reverse(region.order.begin(), region.order.end());
            if (!code_.in_order) continue;
            region.effects.clear();
            if (code_.loads_first) move_loads_forward(region.order, effect);
        }
    }

  private:
    void enter(RegionId region, RegionId parent, const KernelNode& owner) {
        parent_[region] = parent;
        depth_[region] = depth_[parent] + 1;
        guard_[region] = owner.op == KernelOp::Branch && owner.guard;
        const KernelRegion& body = code_[region];
        apart_[region] = apart_[parent] ||
                         (owner.op == KernelOp::Branch && lanes_.differs[owner.args[0]]) ||
                         (body.alive && lanes_.differs[body.alive]) ||
                         (body.range && lanes_.differs[code_[body.range].extent_node]);
        use_region(region);
    }

    void use_region(RegionId region) {
        for (NodeId e : code_[region].effects) use(e, region);
        for (NodeId y : code_[region].yields) use(y, region);
        if (code_[region].alive) use(code_[region].alive, region);
    }

    void use(NodeId id, RegionId region) {
        if (!id) return;
        if (!late_[id]) {
            late_[id] = region;
            return;
        }
        RegionId a = late_[id], b = region;
        while (a != b) {
            if (depth_[a] >= depth_[b])
                a = parent_[a];
            else
                b = parent_[b];
        }
        late_[id] = a;
    }

    /// Returns whether the loop has at most one iteration, and none for some invocations: its loads
    /// may be inside their memory only when it runs, although the index of its one iteration is a
    /// number.
    bool is_condition(const Range& range) const {
        return range.max_trips >= 0 && range.max_trips <= 1 && range.extent_node &&
               code_[range.extent_node].op != KernelOp::Constant;
    }

    bool loads_inside(const KernelNode& node) const {
        if (node.op != KernelOp::Load) return false;
        const auto& access = node.as<AccessAttr>();
        const Size& elements = code_.buffers[access.buffer].elements;
        const Interval& at = code_[node.args[0]].interval;
        return elements.is_constant() && at.lo >= 0 && at.hi + access.width <= elements.constant();
    }

    /// Hoists the node out of the loops that it does not need, and of the guards inside those.
    /// Loads stay in a loop over another loop's remainder, and in a loop that is a condition unless
    /// they are surely inside.
    RegionId hoist(NodeId id, RegionId region) const {
        const bool early = code_.loads_first && code_[id].op == KernelOp::Load;
        RegionId out = region;
        for (; region != kRoot; region = parent_[region]) {
            const RangeId range = code_[region].range;
            if (range && guarded_[id] && !early &&
                (code_[range].rest || (is_condition(code_[range]) && !loads_inside(code_[id]))))
                break;
            if (range &&
                std::find(needs_[id].begin(), needs_[id].end(), region) != needs_[id].end())
                break;
            if (!range && (!guard_[region] || (guarded_[id] && !early))) break;
            if (range || early) out = parent_[region];
        }
        return out;
    }

    /// Out of every branch and loop that some lanes may pass by.
    RegionId rejoin(NodeId id, RegionId region) const {
        while (apart_[region]) {
            ensure(std::find(needs_[id].begin(), needs_[id].end(), region) == needs_[id].end(),
                   "place: lanes that went apart are to compute something together");
            region = parent_[region];
        }
        return region;
    }

    /// Moves loads of buffers that the kernel does not write, with the nodes they need, before the
    /// first effect of their region: they do not wait for it.
    void move_loads_forward(std::vector<NodeId>& order, const ByNode<bool>& effect) const {
        const auto first =
            std::find_if(order.begin(), order.end(), [&](NodeId id) { return effect[id]; });
        ByNode<bool> held(code_.nodes.size()), moves(code_.nodes.size());
        for (auto at = first; at != order.end(); ++at) {
            const KernelNode& n = code_[*at];
            const bool free = is_elementwise(n.op) ||
                              (n.op == KernelOp::Load && !is_written(n.as<AccessAttr>().buffer));
            held[*at] =
                !free || n.pinned ||
                std::any_of(n.args.begin(), n.args.end(), [&](NodeId arg) { return held[arg]; });
            moves[*at] = !held[*at] && n.op == KernelOp::Load;
        }
        for (auto at = order.end(); at != first;)
            if (--at; moves[*at])
                for (NodeId arg : code_[*at].args) moves[arg] = true;
        std::stable_partition(first, order.end(), [&](NodeId id) { return moves[id]; });
    }

    bool is_written(int buffer) const {
        return std::any_of(code_.buffers.begin(), code_.buffers.end(), [&](const KernelBuffer& b) {
            return b.written && b.buffer == code_.buffers[static_cast<size_t>(buffer)].buffer;
        });
    }

    KernelCode& code_;
    ByNode<RegionId> late_;  // the innermost region that holds all uses so far
    ByRegion<RegionId> parent_;
    ByRegion<int> depth_;
    ByRegion<bool> apart_;                 // not all lanes of a subgroup run it
    ByRegion<bool> guard_;                 // it is behind a guard
    ByNode<bool> guarded_;                 // it stays behind its guards
    ByNode<std::vector<RegionId>> needs_;  // of loops that it depends on
    LaneFacts lanes_;
};

}  // namespace

namespace {

/// Pinned nodes are evaluated in every iteration of their loop, and stay there with the nodes that
/// depend on them.
void need_their_loops(const KernelCode& code, ByNode<std::vector<RegionId>>& needs) {
    ByRegion<RegionId> parent(code.regions.size());
    for (RegionId r : code.regions.ids())
        for (NodeId e : code[r].effects)
            for (RegionId inner : bodies(code[e])) parent[inner] = r;
    for (RegionId r : code.regions.ids()) {
        RegionId loop = r;
        while (loop && !code[loop].range) loop = parent[loop];
        if (!loop) continue;
        for (NodeId e : code[r].effects) needs[e] = {loop};
    }
}

}  // namespace

void place_apart(KernelCode& code) {
    const bool in_order = std::exchange(code.in_order, false);
    place(code);
    code.in_order = in_order;
}

ByNode<std::vector<RegionId>> region_needs(const KernelCode& code) {
    ByRange<RegionId> body_of_range(code.ranges.size());
    for (RegionId r : code.regions.ids())
        if (code[r].range) body_of_range[code[r].range] = r;
    ByNode<std::vector<RegionId>> needs(code.nodes.size());
    if (code.in_order) need_their_loops(code, needs);
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& node = code[id];
        std::vector<RegionId>& out = needs[id];
        auto merge = [&](const std::vector<RegionId>& more) {
            for (RegionId r : more)
                if (std::find(out.begin(), out.end(), r) == out.end()) out.push_back(r);
        };
        if (const auto* carried = node.get_if<CarriedAttr>()) out = {carried->region};
        if (const auto* range = node.get_if<RangeId>(); range && body_of_range[*range])
            out = {body_of_range[*range]};
        for (NodeId arg : node.args) merge(needs[arg]);
        for (RegionId body : bodies(node)) {
            const KernelRegion& region = code[body];
            for (NodeId y : region.yields) merge(needs[y]);
            for (NodeId e : region.effects) merge(needs[e]);
            if (region.alive) merge(needs[region.alive]);
            if (region.range) merge(needs[code[region.range].extent_node]);
            std::erase(out, body);
        }
    }
    return needs;
}

void place(KernelCode& code) { Placer(code).run(); }

ByRegion<RegionId> region_parents(const KernelCode& code) {
    ByRegion<RegionId> parents(code.regions.size());
    for (RegionId r : code.regions.ids()) {
        auto own = [&](NodeId id) {
            for (RegionId body : bodies(code[id])) parents[body] = r;
        };
        for (NodeId id : code[r].order) own(id);
        for (NodeId id : code[r].effects) own(id);
    }
    return parents;
}

}  // namespace firn
