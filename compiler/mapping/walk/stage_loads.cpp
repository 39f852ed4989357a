// Finds the operands of a kernel's loops that the invocations of a group share.
#include "compiler/mapping/walk/stage_loads.h"

#include <algorithm>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/walk/row_groups.h"
#include "compiler/mapping/walk/staged_tile.h"
#include "compiler/program/device_profile.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

int64_t members_along(const Mapping& m, size_t range) {
    return range == 0 ? m.group.x : range == 1 ? m.group.y : 1;
}

template <class Key>
bool contains(const std::vector<Key>& list, Key item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

class StagedLoops {
  public:
    StagedLoops(const KernelCode& lowered, const Mapping& mapping) : code_(lowered), m_(mapping) {
        place(code_);
        needs_ = region_needs(code_);
        parents_ = region_parents(code_);
        for (RangeId r : code_.ranges.ids())
            if (code_[r].kind == RangeKind::Grid) grid_.push_back(r);
        std::reverse(grid_.begin(), grid_.end());
        owner_.resize(code_.regions.size());
        for (const KernelRegion& region : code_.regions)
            for (NodeId id : region.order)
                if (code_[id].op == KernelOp::For) owner_[code_[id].as<BodyAttr>().region] = id;
        find_facts();
    }

    std::map<NodeId, StagedLoop> run() {
        std::map<NodeId, StagedLoop> out;
        std::vector<RegionId> bodies;
        for (RegionId region : code_.regions.ids()) {
            if (!only_stores(region)) return {};
            if (owner_[region]) bodies.push_back(region);
        }
        std::stable_sort(bodies.begin(), bodies.end(), [&](RegionId a, RegionId b) {
            return around(a).size() < around(b).size();
        });
        for (RegionId body : bodies) {
            if (is_inside(body, out) || !find_nest(body)) continue;
            StagedLoop loop{outermost(body), {}};
            if (!loop.outermost) continue;
            if (iterations(body) >= 0 && iterations(body) < m_.staged_iterations) continue;
            loop.values = values();
            if (!loop.values.empty()) out.emplace(owner_[body], std::move(loop));
        }
        return out;
    }

  private:
    bool only_stores(RegionId region) const {
        const std::vector<NodeId>& effects = code_[region].effects;
        return region == kRoot
                   ? std::all_of(effects.begin(), effects.end(),
                                 [&](NodeId e) { return code_[e].op == KernelOp::Store; })
                   : effects.empty();
    }

    /// Returns whether a loop around a body is staged.
    bool is_inside(RegionId body, const std::map<NodeId, StagedLoop>& staged) const {
        for (RegionId at = parents_[body]; at; at = parents_[at])
            if (owner_[at] && staged.contains(owner_[at])) return true;
        return false;
    }

    int64_t iterations(RegionId region) const { return code_[code_[region].range].max_trips; }

    /// A body and those of the loops inside, outer ones first, where these are few iterations in
    /// all that every invocation takes.
    bool find_nest(RegionId body) {
        nest_ = {body};
        for (size_t k = 0; k < nest_.size(); ++k)
            for (NodeId id : code_[nest_[k]].order)
                if (code_[id].op == KernelOp::For) nest_.push_back(code_[id].as<BodyAttr>().region);
        for (RegionId r : code_.regions.ids()) {
            if (!owner_[r] || r == body || !contains(around(r), body)) continue;
            const KernelRegion& region = code_[r];
            const bool known =
                code_[code_[region.range].extent_node].op == KernelOp::Constant && !region.alive;
            if (!known || !contains(nest_, r) || iterations_inside(r) > costs::kMostInside)
                return false;
        }
        return true;
    }

    std::vector<RegionId> around(RegionId region) const {
        std::vector<RegionId> out;
        for (RegionId at = parents_[region]; at; at = parents_[at]) out.push_back(at);
        return out;
    }

    /// Returns the iterations of a loop of the nest and the loops around it, without the outermost.
    int64_t iterations_inside(RegionId region) const {
        int64_t out = 1;
        for (RegionId at = region; at != nest_[0]; at = parents_[at])
            out = std::min(out * std::max<int64_t>(1, iterations(at)), 2 * costs::kMostInside);
        return out;
    }

    bool in_nest(NodeId id) const {
        return std::any_of(nest_.begin(), nest_.end(),
                           [&](RegionId region) { return contains(needs_[id], region); });
    }

    /// The outermost loop around a body where all invocations take the same iterations of each;
    /// none if they do not.
    NodeId outermost(RegionId body) const {
        NodeId out;
        for (RegionId at = body; at != kRoot; at = parents_[at]) {
            if (!at || !owner_[at] || code_[at].alive) return {};
            if (!is_uniform(code_[code_[at].range].extent_node)) return {};
            out = owner_[at];
        }
        return out;
    }

    /// Returns whether a value is the same for all invocations: it depends on sizes, arguments and
    /// iterations only.
    bool is_uniform(NodeId id) const { return facts_[id].uniform; }

    /// Finds the nodes that are the same for all invocations, those that any invocation can compute
    /// at other indices than its own, and the Grid ranges that they depend on.
    void find_facts() {
        facts_.resize(code_.nodes.size());
        for (NodeId id : facts_.ids()) {
            const KernelNode& n = code_[id];
            Facts& f = facts_[id];
            f.anywhere = n.op == KernelOp::Constant || n.op == KernelOp::Param ||
                         n.op == KernelOp::Range || n.op == KernelOp::Load || is_elementwise(n.op);
            if (n.op == KernelOp::Range)
                for (size_t d = 0; d < grid_.size(); ++d)
                    if (grid_[d] == n.as<RangeId>()) f.axes |= uint64_t{1} << d;
            f.uniform =
                n.op == KernelOp::Range
                    ? code_[n.as<RangeId>()].kind == RangeKind::Serial
                    : n.op == KernelOp::Constant || n.op == KernelOp::Param || is_elementwise(n.op);
            for (NodeId arg : n.args) {
                f.anywhere = f.anywhere && facts_[arg].anywhere;
                f.uniform = f.uniform && facts_[arg].uniform;
                f.axes |= facts_[arg].axes;
            }
        }
    }

    int64_t reuse(uint64_t axes) const {
        int64_t out = 1;
        for (size_t d = 0; d < grid_.size(); ++d)
            if (!(axes & (uint64_t{1} << d))) out *= members_along(m_, d);
        return out;
    }

    double copies(uint64_t axes) const {
        double out = 1;
        for (size_t d = 0; d < grid_.size(); ++d)
            if (axes & (uint64_t{1} << d)) out *= static_cast<double>(m_.tile_of(d));
        return out;
    }

    /// Returns whether the node is a load in a nest's iterations.
    bool is_load(NodeId id) const { return code_[id].op == KernelOp::Load && in_nest(id); }

    /// Returns the values worth staging in a nest: loads, or values computed from them if these
    /// take no more memory.
    std::vector<StagedValue> values() const {
        ByNode<bool> shared(code_.nodes.size());
        std::vector<NodeId> loads, results;
        double before = 0, after = 0;
        for (RegionId region : nest_)
            for (NodeId id : code_[region].order) {
                const KernelNode& n = code_[id];
                const bool loaded = is_load(id);
                const bool follows = loaded || std::any_of(n.args.begin(), n.args.end(),
                                                           [&](NodeId arg) { return shared[arg]; });
                shared[id] = follows && facts_[id].anywhere && in_nest(id) &&
                             reuse(facts_[id].axes) >= costs::kLeastReuse;
                if (!loaded) continue;
                if (shared[id]) loads.push_back(id);
                const double times =
                    copies(facts_[id].axes) * static_cast<double>(iterations_inside(region));
                before += times;
                after += times / static_cast<double>(shared[id] ? reuse(facts_[id].axes) : 1);
            }
        if (loads.empty() || before < costs::kLeastStagedSaving * after) return {};
        for (RegionId region : nest_)
            for (NodeId id : code_[region].order)
                if (shared[id] && is_used_otherwise(id, shared)) results.push_back(id);
        const bool fewer = results.size() <= loads.size();
        std::vector<StagedValue> out;
        for (NodeId id : fewer ? results : loads) out.push_back(staged(id));
        return out;
    }

    bool is_used_otherwise(NodeId id, const ByNode<bool>& shared) const {
        for (const KernelRegion& region : code_.regions) {
            if (contains(region.yields, id)) return true;
            for (NodeId user : region.order)
                if (!shared[user] && contains(code_[user].args, id)) return true;
        }
        return false;
    }

    StagedValue staged(NodeId id) const {
        StagedValue out;
        out.node = id;
        for (size_t d = 0; d < grid_.size(); ++d)
            if (facts_[id].axes & (uint64_t{1} << d)) out.axes.push_back(d);
        for (size_t k = nest_.size(); k-- > 1;)
            if (contains(needs_[id], nest_[k]))
                out.inside.emplace_back(code_[nest_[k]].range, iterations(nest_[k]));
        const ByNode<bool> loaded = follows_from_load();
        NodeId load = id;
        while (code_[load].op != KernelOp::Load) {
            const std::vector<NodeId>& args = code_[load].args;
            load = *std::find_if(args.begin(), args.end(), [&](NodeId arg) { return loaded[arg]; });
        }
        IndexForms forms(code_);
        const IndexForm& index = forms.of(code_[load].args[0]);
        const RangeId first = out.inside.empty() ? code_[nest_[0]].range : out.inside[0].first;
        if (stride(index, first) == Stride::One) return out;
        for (size_t d : out.axes)
            if (out.along < 0 && stride(index, grid_[d]) == Stride::One)
                out.along = static_cast<int>(d);
        return out;
    }

    /// Marks, by node, the loads of the nest and the values computed from one.
    ByNode<bool> follows_from_load() const {
        ByNode<bool> out(code_.nodes.size());
        for (NodeId id : out.ids()) {
            const std::vector<NodeId>& args = code_[id].args;
            out[id] = is_load(id) ||
                      std::any_of(args.begin(), args.end(), [&](NodeId arg) { return out[arg]; });
        }
        return out;
    }

    struct Facts {
        bool anywhere = false, uniform = false;
        uint64_t axes = 0;
    };
    KernelCode code_;
    const Mapping& m_;
    ByNode<std::vector<RegionId>> needs_;
    ByRegion<RegionId> parents_;
    std::vector<RangeId> grid_;  // Grid ranges, x first
    ByRegion<NodeId> owner_;     // the loop that owns a region
    ByNode<Facts> facts_;
    std::vector<RegionId> nest_;  // bodies of the loop that is looked at and of those inside
};

}  // namespace

std::map<NodeId, StagedLoop> staged_loops(const KernelCode& lowered, const Mapping& m) {
    const bool apart = m.lanes == 1 && m.shuffled_loads == 1 && m.strides == 1 &&
                       m.accumulators == MemorySpace::Bound;
    if (m.staged_iterations <= 1 || !apart || reduces_rows(lowered)) return {};
    return StagedLoops(lowered, m).run();
}

std::string why_not_staged(const MappingCase& of) {
    const int64_t bytes = staged_bytes(of.ready, of.mapping), most = of.profile.shared_bytes;
    if (bytes == 0) return "its groups read nothing repeatedly in a uniform loop";
    return bytes <= most ? ""
                         : "the operands take " + std::to_string(bytes) +
                               " bytes of shared memory, and there are " + std::to_string(most);
}

int64_t choose_staged_iterations(const KernelCode& lowered, Mapping m,
                                 const DeviceProfile& profile) {
    if (!rules_of(profile).stages_loads) return 1;
    int64_t best = 1;
    for (int64_t iterations : {8, 16, 32, 64, 128, 256}) {
        m.staged_iterations = iterations;
        const int64_t bytes = staged_bytes(lowered, m);
        if (bytes == 0 || bytes * costs::kGroupsAtOnce > profile.shared_bytes) break;
        best = iterations;
        // Fewer barriers, until all invocations have something to load.
        if (iterations >= costs::kEnoughIterations && bytes >= int64_t{4} * m.group.x * m.group.y)
            break;
    }
    return best;
}

}  // namespace firn
