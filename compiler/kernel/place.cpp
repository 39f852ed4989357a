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
    std::vector<bool> differs;   // per node: lanes may have different values
    std::vector<bool> together;  // per node: all lanes must reach it (collective operations, and
                                 // loops around them)
};

bool done_together(KernelOp op) {
    return op == KernelOp::SubgroupReduce || op == KernelOp::SubgroupShuffle || is_matrix(op);
}

bool lanes_differ(const KernelCode& code, const KernelNode& n, const std::vector<bool>& differs,
                  const std::vector<bool>& loop_differs) {
    if (n.op == KernelOp::Range) {
        const RangeKind kind = code.ranges[n.range].kind;
        return (kind == RangeKind::Subgroup || kind == RangeKind::Invocation) &&
               code.ranges[n.range].dim == 0;
    }
    if (n.op == KernelOp::SubgroupReduce || n.op == KernelOp::SubgroupShuffle) return false;
    if (n.op == KernelOp::RegionArg) return loop_differs[n.region];
    auto any = [&](const std::vector<int>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](int id) { return differs[id]; });
    };
    if (any(n.args)) return true;
    if (n.op != KernelOp::For && n.op != KernelOp::Branch) return false;
    for (int body : {n.region, n.else_region}) {
        if (body < 0) continue;
        const KernelRegion& r = code.regions[body];
        if (any(r.yields) || (r.alive >= 0 && differs[r.alive])) return true;
        if (r.range >= 0 && differs[code.ranges[r.range].extent_node]) return true;
    }
    return false;
}

LaneFacts lane_facts(const KernelCode& code, const std::vector<std::vector<int>>& needs) {
    LaneFacts out{std::vector<bool>(code.nodes.size()), std::vector<bool>(code.nodes.size())};
    std::vector<bool> loop_differs(code.regions.size()), holds(code.regions.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t id = 0; id < code.nodes.size(); ++id) {
            const KernelNode& n = code.nodes[id];
            if (out.differs[id] || !lanes_differ(code, n, out.differs, loop_differs)) continue;
            out.differs[id] = changed = true;
            if (n.op == KernelOp::For) loop_differs[n.region] = true;
        }
    }
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        out.together[id] = done_together(n.op) || (n.op == KernelOp::For && holds[n.region]);
        if (!out.together[id]) continue;
        for (int region : needs[id]) holds[region] = true;
    }
    return out;
}

/// Marks the nodes that may only run where their guards hold, and the nodes computed from them:
/// loads, and nodes with bodies or that read other lanes.
std::vector<bool> guarded_nodes(const KernelCode& code) {
    std::vector<bool> out(code.nodes.size());
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        const bool plain = n.op == KernelOp::Constant || n.op == KernelOp::Param ||
                           n.op == KernelOp::Range || is_elementwise(n.op);
        out[id] =
            !plain || std::any_of(n.args.begin(), n.args.end(), [&](int arg) { return out[arg]; });
    }
    return out;
}

class Placer {
  public:
    explicit Placer(KernelCode& code)
        : code_(code),
          late_(code.nodes.size(), kUnused),
          parent_(code.regions.size(), -1),
          depth_(code.regions.size(), 0),
          apart_(code.regions.size(), false),
          guard_(code.regions.size(), false),
          guarded_(guarded_nodes(code)),
          needs_(region_needs(code)),
          lanes_(lane_facts(code, needs_)) {}

    void run() {
        for (KernelRegion& region : code_.regions) region.order.clear();
        use_region(0);
        std::vector<bool> effect(code_.nodes.size(), false);
        for (const KernelRegion& region : code_.regions)
            for (int e : region.effects) effect[e] = true;
        for (int id = static_cast<int>(code_.nodes.size()) - 1; id >= 0; --id) {
            if (late_[id] == kUnused) continue;
            KernelNode& node = code_.nodes[id];
            int region = late_[id];
            if (!effect[id]) {
                region = hoist(id, region);
                if (lanes_.together[id]) region = rejoin(id, region);
            }
            if (node.region >= 0 && node.op != KernelOp::RegionArg) {
                enter(node.region, region, node);
                if (node.else_region >= 0) enter(node.else_region, region, node);
                if (const int range = code_.regions[node.region].range; range >= 0)
                    use(code_.ranges[range].extent_node, region);
            }
            for (int arg : node.args) use(arg, region);
            const bool text_only = node.op == KernelOp::Constant || node.op == KernelOp::Param ||
                                   node.op == KernelOp::Range || node.op == KernelOp::RegionArg;
            if ((!effect[id] || code_.in_order) && !text_only)
                code_.regions[region].order.push_back(id);
        }
        for (KernelRegion& region : code_.regions) {
            std::reverse(region.order.begin(), region.order.end());
            if (!code_.in_order) continue;
            region.effects.clear();
            if (code_.loads_first) move_loads_forward(region.order, effect);
        }
    }

  private:
    static constexpr int kUnused = -1;

    void enter(int region, int parent, const KernelNode& owner) {
        parent_[region] = parent;
        depth_[region] = depth_[parent] + 1;
        guard_[region] = owner.op == KernelOp::Branch && owner.guard;
        const KernelRegion& body = code_.regions[region];
        apart_[region] = apart_[parent] ||
                         (owner.op == KernelOp::Branch && lanes_.differs[owner.args[0]]) ||
                         (body.alive >= 0 && lanes_.differs[body.alive]) ||
                         (body.range >= 0 && lanes_.differs[code_.ranges[body.range].extent_node]);
        use_region(region);
    }

    void use_region(int region) {
        for (int e : code_.regions[region].effects) use(e, region);
        for (int y : code_.regions[region].yields) use(y, region);
        if (code_.regions[region].alive >= 0) use(code_.regions[region].alive, region);
    }

    void use(int id, int region) {
        if (id < 0) return;
        if (late_[id] == kUnused) {
            late_[id] = region;
            return;
        }
        int a = late_[id], b = region;
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
        return range.max_trips >= 0 && range.max_trips <= 1 && range.extent_node >= 0 &&
               code_.nodes[range.extent_node].op != KernelOp::Constant;
    }

    bool loads_inside(const KernelNode& node) const {
        if (node.op != KernelOp::Load) return false;
        const Size& elements = code_.buffers[node.buffer].elements;
        const Interval& at = code_.nodes[node.args[0]].interval;
        return elements.is_constant() && at.lo >= 0 && at.hi + node.width <= elements.constant();
    }

    /// Hoists the node out of the loops that it does not need, and of the guards inside those.
    /// Loads stay in a loop over another loop's remainder, and in a loop that is a condition unless
    /// they are surely inside.
    int hoist(int id, int region) const {
        const bool early = code_.loads_first && code_.nodes[id].op == KernelOp::Load;
        int out = region;
        for (; region != 0; region = parent_[region]) {
            const int range = code_.regions[region].range;
            const bool loop = range >= 0;
            if (loop && guarded_[id] && !early &&
                (code_.ranges[range].rest ||
                 (is_condition(code_.ranges[range]) && !loads_inside(code_.nodes[id]))))
                break;
            if (loop && std::find(needs_[id].begin(), needs_[id].end(), region) != needs_[id].end())
                break;
            if (!loop && (!guard_[region] || (guarded_[id] && !early))) break;
            if (loop || early) out = parent_[region];
        }
        return out;
    }

    /// Out of every branch and loop that some lanes may pass by.
    int rejoin(int id, int region) const {
        while (apart_[region]) {
            ensure(std::find(needs_[id].begin(), needs_[id].end(), region) == needs_[id].end(),
                   "place: lanes that went apart are to compute something together");
            region = parent_[region];
        }
        return region;
    }

    /// Moves loads of buffers that the kernel does not write, with the nodes they need, before the
    /// first effect of their region: they do not wait for it.
    void move_loads_forward(std::vector<int>& order, const std::vector<bool>& effect) const {
        const auto first =
            std::find_if(order.begin(), order.end(), [&](int id) { return effect[id]; });
        std::vector<bool> held(code_.nodes.size()), moves(code_.nodes.size());
        for (auto at = first; at != order.end(); ++at) {
            const KernelNode& n = code_.nodes[*at];
            const bool free =
                is_elementwise(n.op) || (n.op == KernelOp::Load && !is_written(n.buffer));
            held[*at] =
                !free || n.pinned ||
                std::any_of(n.args.begin(), n.args.end(), [&](int arg) { return held[arg]; });
            moves[*at] = !held[*at] && n.op == KernelOp::Load;
        }
        for (auto at = order.end(); at != first;)
            if (--at; moves[*at])
                for (int arg : code_.nodes[*at].args) moves[arg] = true;
        std::stable_partition(first, order.end(), [&](int id) { return moves[id]; });
    }

    bool is_written(int buffer) const {
        return std::any_of(code_.buffers.begin(), code_.buffers.end(), [&](const KernelBuffer& b) {
            return b.written && b.buffer == code_.buffers[static_cast<size_t>(buffer)].buffer;
        });
    }

    KernelCode& code_;
    std::vector<int> late_, parent_, depth_;
    std::vector<bool> apart_;              // regions that not all lanes of a subgroup run
    std::vector<bool> guard_;              // regions behind a guard
    std::vector<bool> guarded_;            // nodes that stay behind their guards
    std::vector<std::vector<int>> needs_;  // regions of loops that a node depends on
    LaneFacts lanes_;
};

}  // namespace

namespace {

/// Pinned nodes are evaluated in every iteration of their loop, and stay there with the nodes that
/// depend on them.
void need_their_loops(const KernelCode& code, std::vector<std::vector<int>>& needs) {
    std::vector<int> parent(code.regions.size(), -1);
    for (size_t r = 0; r < code.regions.size(); ++r)
        for (int e : code.regions[r].effects)
            for (int inner : {code.nodes[e].region, code.nodes[e].else_region})
                if (inner >= 0) parent[inner] = static_cast<int>(r);
    for (size_t r = 0; r < code.regions.size(); ++r) {
        int loop = static_cast<int>(r);
        while (loop >= 0 && code.regions[loop].range < 0) loop = parent[loop];
        if (loop < 0) continue;
        for (int e : code.regions[r].effects) needs[e] = {loop};
    }
}

}  // namespace

void place_apart(KernelCode& code) {
    const bool in_order = std::exchange(code.in_order, false);
    place(code);
    code.in_order = in_order;
}

std::vector<std::vector<int>> region_needs(const KernelCode& code) {
    std::vector<int> body_of_range(code.ranges.size(), -1);
    for (size_t r = 0; r < code.regions.size(); ++r)
        if (code.regions[r].range >= 0) body_of_range[code.regions[r].range] = static_cast<int>(r);
    std::vector<std::vector<int>> needs(code.nodes.size());
    if (code.in_order) need_their_loops(code, needs);
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& node = code.nodes[id];
        std::vector<int>& out = needs[id];
        auto merge = [&](const std::vector<int>& more) {
            for (int r : more)
                if (std::find(out.begin(), out.end(), r) == out.end()) out.push_back(r);
        };
        if (node.op == KernelOp::RegionArg) out = {node.region};
        if (node.op == KernelOp::Range && body_of_range[node.range] >= 0)
            out = {body_of_range[node.range]};
        for (int arg : node.args) merge(needs[arg]);
        if (node.op != KernelOp::For && node.op != KernelOp::Branch) continue;
        for (int body : {node.region, node.else_region}) {
            if (body < 0) continue;
            const KernelRegion& region = code.regions[body];
            for (int y : region.yields) merge(needs[y]);
            for (int e : region.effects) merge(needs[e]);
            if (region.alive >= 0) merge(needs[region.alive]);
            if (region.range >= 0) merge(needs[code.ranges[region.range].extent_node]);
            std::erase(out, body);
        }
    }
    return needs;
}

void place(KernelCode& code) { Placer(code).run(); }

std::vector<int> region_parents(const KernelCode& code) {
    std::vector<int> parents(code.regions.size(), -1);
    for (size_t r = 0; r < code.regions.size(); ++r) {
        auto own = [&](int id) {
            const KernelNode& node = code.nodes[id];
            if (node.op != KernelOp::For && node.op != KernelOp::Branch) return;
            parents[node.region] = static_cast<int>(r);
            if (node.else_region >= 0) parents[node.else_region] = static_cast<int>(r);
        };
        for (int id : code.regions[r].order) own(id);
        for (int id : code.regions[r].effects) own(id);
    }
    return parents;
}

}  // namespace firn
