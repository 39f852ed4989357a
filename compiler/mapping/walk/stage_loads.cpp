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

bool contains(const std::vector<int>& list, int item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

class StagedLoops {
  public:
    StagedLoops(const KernelCode& lowered, const Mapping& mapping) : code_(lowered), m_(mapping) {
        place(code_);
        needs_ = region_needs(code_);
        parents_ = region_parents(code_);
        for (size_t r = code_.ranges.size(); r-- > 0;)
            if (code_.ranges[r].kind == RangeKind::Grid) grid_.push_back(static_cast<int>(r));
        owner_.assign(code_.regions.size(), -1);
        for (const KernelRegion& region : code_.regions)
            for (int id : region.order)
                if (code_.nodes[id].op == KernelOp::For) owner_[code_.nodes[id].region] = id;
        find_facts();
    }

    std::map<int, StagedLoop> run() {
        std::map<int, StagedLoop> out;
        std::vector<int> bodies;
        for (size_t k = 0; k < code_.regions.size(); ++k) {
            if (!only_stores(k)) return {};
            if (owner_[k] >= 0) bodies.push_back(static_cast<int>(k));
        }
        std::stable_sort(bodies.begin(), bodies.end(),
                         [&](int a, int b) { return around(a).size() < around(b).size(); });
        for (int body : bodies) {
            if (is_inside(body, out) || !find_nest(body)) continue;
            StagedLoop loop{outermost(body), {}};
            if (loop.outermost < 0) continue;
            if (iterations(body) >= 0 && iterations(body) < m_.staged_iterations) continue;
            loop.values = values();
            if (!loop.values.empty()) out.emplace(owner_[body], std::move(loop));
        }
        return out;
    }

  private:
    bool only_stores(size_t region) const {
        const std::vector<int>& effects = code_.regions[region].effects;
        return region == 0
                   ? std::all_of(effects.begin(), effects.end(),
                                 [&](int e) { return code_.nodes[e].op == KernelOp::Store; })
                   : effects.empty();
    }

    /// Returns whether a loop around a body is staged.
    bool is_inside(int body, const std::map<int, StagedLoop>& staged) const {
        for (int at = parents_[body]; at >= 0; at = parents_[at])
            if (owner_[at] >= 0 && staged.contains(owner_[at])) return true;
        return false;
    }

    int64_t iterations(int region) const {
        return code_.ranges[code_.regions[region].range].max_trips;
    }

    /// A body and those of the loops inside, outer ones first, where these are few iterations in
    /// all that every invocation takes.
    bool find_nest(int body) {
        nest_ = {body};
        for (size_t k = 0; k < nest_.size(); ++k)
            for (int id : code_.regions[nest_[k]].order)
                if (code_.nodes[id].op == KernelOp::For) nest_.push_back(code_.nodes[id].region);
        for (size_t r = 0; r < code_.regions.size(); ++r) {
            if (owner_[r] < 0 || static_cast<int>(r) == body ||
                !contains(around(static_cast<int>(r)), body))
                continue;
            const KernelRegion& region = code_.regions[r];
            const bool known =
                code_.nodes[code_.ranges[region.range].extent_node].op == KernelOp::Constant &&
                region.alive < 0;
            if (!known || !contains(nest_, static_cast<int>(r)) ||
                iterations_inside(static_cast<int>(r)) > costs::kMostInside)
                return false;
        }
        return true;
    }

    std::vector<int> around(int region) const {
        std::vector<int> out;
        for (int at = parents_[region]; at >= 0; at = parents_[at]) out.push_back(at);
        return out;
    }

    /// Returns the iterations of a loop of the nest and the loops around it, without the outermost.
    int64_t iterations_inside(int region) const {
        int64_t out = 1;
        for (int at = region; at != nest_[0]; at = parents_[at])
            out = std::min(out * std::max<int64_t>(1, iterations(at)), 2 * costs::kMostInside);
        return out;
    }

    bool in_nest(int id) const {
        return std::any_of(nest_.begin(), nest_.end(),
                           [&](int region) { return contains(needs_[id], region); });
    }

    /// The outermost loop around a body where all invocations take the same iterations of each; -1
    /// if they do not.
    int outermost(int body) const {
        int out = -1;
        for (int at = body; at != 0; at = parents_[at]) {
            if (at < 0 || owner_[at] < 0 || code_.regions[at].alive >= 0) return -1;
            if (!is_uniform(code_.ranges[code_.regions[at].range].extent_node)) return -1;
            out = owner_[at];
        }
        return out;
    }

    /// Returns whether a value is the same for all invocations: it depends on sizes, arguments and
    /// iterations only.
    bool is_uniform(int id) const { return facts_[id].uniform; }

    /// Finds the nodes that are the same for all invocations, those that any invocation can compute
    /// at other indices than its own, and the Grid ranges that they depend on.
    void find_facts() {
        facts_.resize(code_.nodes.size());
        for (size_t id = 0; id < facts_.size(); ++id) {
            const KernelNode& n = code_.nodes[id];
            Facts& f = facts_[id];
            f.anywhere = n.op == KernelOp::Constant || n.op == KernelOp::Param ||
                         n.op == KernelOp::Range || n.op == KernelOp::Load || is_elementwise(n.op);
            if (n.op == KernelOp::Range)
                for (size_t d = 0; d < grid_.size(); ++d)
                    if (grid_[d] == n.range) f.axes |= uint64_t{1} << d;
            f.uniform =
                n.op == KernelOp::Range
                    ? code_.ranges[n.range].kind == RangeKind::Serial
                    : n.op == KernelOp::Constant || n.op == KernelOp::Param || is_elementwise(n.op);
            for (int arg : n.args) {
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
    bool is_load(int id) const { return code_.nodes[id].op == KernelOp::Load && in_nest(id); }

    /// Returns the values worth staging in a nest: loads, or values computed from them if these
    /// take no more memory.
    std::vector<StagedValue> values() const {
        std::vector<bool> shared(code_.nodes.size());
        std::vector<int> loads, results;
        double before = 0, after = 0;
        for (int region : nest_)
            for (int id : code_.regions[region].order) {
                const KernelNode& n = code_.nodes[id];
                const bool loaded = is_load(id);
                const bool follows = loaded || std::any_of(n.args.begin(), n.args.end(),
                                                           [&](int arg) { return shared[arg]; });
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
        for (int region : nest_)
            for (int id : code_.regions[region].order)
                if (shared[id] && is_used_otherwise(id, shared)) results.push_back(id);
        const bool fewer = results.size() <= loads.size();
        std::vector<StagedValue> out;
        for (int id : fewer ? results : loads) out.push_back(staged(id));
        return out;
    }

    bool is_used_otherwise(int id, const std::vector<bool>& shared) const {
        for (const KernelRegion& region : code_.regions) {
            if (contains(region.yields, id)) return true;
            for (int user : region.order)
                if (!shared[user] && contains(code_.nodes[user].args, id)) return true;
        }
        return false;
    }

    StagedValue staged(int id) const {
        StagedValue out;
        out.node = id;
        for (size_t d = 0; d < grid_.size(); ++d)
            if (facts_[id].axes & (uint64_t{1} << d)) out.axes.push_back(d);
        for (size_t k = nest_.size(); k-- > 1;)
            if (contains(needs_[id], nest_[k]))
                out.inside.emplace_back(code_.regions[nest_[k]].range, iterations(nest_[k]));
        const std::vector<bool> loaded = follows_from_load();
        int load = id;
        while (code_.nodes[load].op != KernelOp::Load) {
            const std::vector<int>& args = code_.nodes[load].args;
            load = *std::find_if(args.begin(), args.end(), [&](int arg) { return loaded[arg]; });
        }
        IndexForms forms(code_);
        const IndexForm& index = forms.of(code_.nodes[load].args[0]);
        const int first = out.inside.empty() ? code_.regions[nest_[0]].range : out.inside[0].first;
        if (stride(index, first) == Stride::One) return out;
        for (size_t d : out.axes)
            if (out.along < 0 && stride(index, grid_[d]) == Stride::One)
                out.along = static_cast<int>(d);
        return out;
    }

    /// Marks, by node, the loads of the nest and the values computed from one.
    std::vector<bool> follows_from_load() const {
        std::vector<bool> out(code_.nodes.size());
        for (size_t id = 0; id < out.size(); ++id) {
            const std::vector<int>& args = code_.nodes[id].args;
            out[id] = is_load(static_cast<int>(id)) ||
                      std::any_of(args.begin(), args.end(), [&](int arg) { return out[arg]; });
        }
        return out;
    }

    struct Facts {
        bool anywhere = false, uniform = false;
        uint64_t axes = 0;
    };
    KernelCode code_;
    const Mapping& m_;
    std::vector<std::vector<int>> needs_;
    std::vector<int> parents_, grid_,
        owner_;  // Grid ranges, x first; by region, the loop that owns it
    std::vector<Facts> facts_;
    std::vector<int> nest_;  // bodies of the loop that is looked at and of those inside
};

}  // namespace

std::map<int, StagedLoop> staged_loops(const KernelCode& lowered, const Mapping& m) {
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
