// Loops side by side that compute much the same become one.
#include "compiler/mapping/before/fuse_loops.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Loops by For node: those with the same number become one.
using Groups = std::vector<std::vector<NodeId>>;

/// Names the work of iterations so that equal work has equal names: the iteration itself and the
/// carried values are named by their place, independent of their loop.
class IterationWork {
  public:
    IterationWork(const KernelCode& code, const DeviceProfile& profile)
        : code_(code),
          needs_(region_needs(code)),
          load_(profile.seconds_per_load * profile.operations_per_second) {}

    /// The cost of each piece of work in one iteration of a placed loop, by name.
    std::map<uint64_t, double> of(NodeId loop) {
        names_.clear();
        std::map<uint64_t, double> out;
        collect(code_[loop].as<BodyAttr>().region, 1, out);
        return out;
    }

  private:
    void collect(RegionId region_id, uint64_t depth, std::map<uint64_t, double>& out) {
        const KernelRegion& region = code_[region_id];
        depth_of_[region_id] = depth;
        for (NodeId id : region.order) {
            const KernelNode& n = code_[id];
            for (RegionId body : bodies(n)) collect(body, depth + 1, out);
            if (n.op == KernelOp::Load || is_elementwise(n.op))
                out[name(id)] = n.op == KernelOp::Load ? load_ : operation_cost(n.op);
        }
    }

    uint64_t name(NodeId id) {
        if (auto it = names_.find(id); it != names_.end()) return it->second;
        const KernelNode& n = code_[id];
        uint64_t h = id.place() * 2 + 1;
        auto mix = [&](uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
        if (n.op == KernelOp::Range || n.op == KernelOp::RegionArg) {
            const RegionId region =
                n.op == KernelOp::RegionArg ? n.as<CarriedAttr>().region : body_of(n.as<RangeId>());
            if (const auto it = depth_of_.find(region); it != depth_of_.end()) h = it->second * 64;
        } else if (std::any_of(needs_[id].begin(), needs_[id].end(),
                               [&](RegionId r) { return depth_of_.contains(r); })) {
            h = static_cast<uint64_t>(n.op) * 2 * 131 + static_cast<uint64_t>(n.dtype.type);
            const auto* param = n.get_if<ParamAttr>();
            const auto* access = n.get_if<AccessAttr>();
            const auto* result = n.get_if<PositionAttr>();
            const auto* lane = n.get_if<LaneAttr>();
            for (int part : {param ? param->param : -1, access ? access->buffer : -1,
                             result ? result->position : -1, lane ? lane->lane : -1, width(n)})
                mix(static_cast<uint64_t>(part));
            std::vector<uint64_t> operands;
            for (NodeId arg : n.args) operands.push_back(name(arg));
            if (info(n.op).properties & kCommutative) std::sort(operands.begin(), operands.end());
            for (uint64_t operand : operands) mix(operand);
        }
        return names_[id] = h;
    }

    RegionId body_of(RangeId range) const {
        for (RegionId r : code_.regions.ids())
            if (code_[r].range == range) return r;
        return {};
    }

    const KernelCode& code_;
    ByNode<std::vector<RegionId>> needs_;
    double load_;
    std::unordered_map<NodeId, uint64_t> names_;
    std::unordered_map<RegionId, uint64_t> depth_of_;  // regions inside the loop that is named
};

/// Counts, for each node, how many of the region's loops must have ended before its value is known.
class Levels {
  public:
    Levels(const KernelCode& code, const std::vector<NodeId>& order) : code_(code) {
        for (NodeId id : order) home_.insert({id, true});
    }

    int of(NodeId id) {
        if (auto it = known_.find(id); it != known_.end()) return it->second;
        const KernelNode& n = code_[id];
        int level = 0;
        auto need = [&](NodeId other) { level = std::max(level, of(other)); };
        for (NodeId arg : n.args) need(arg);
        for (RegionId body : bodies(n)) {
            const KernelRegion& region = code_[body];
            for (NodeId y : region.yields) need(y);
            for (NodeId e : region.effects) need(e);
            if (region.alive) need(region.alive);
            if (region.range) need(code_[region.range].extent_node);
        }
        if (n.op == KernelOp::For && home_.contains(id)) ++level;
        return known_[id] = level;
    }

  private:
    const KernelCode& code_;
    std::unordered_map<NodeId, bool> home_;
    std::unordered_map<NodeId, int> known_;
};

bool can_fuse(const KernelCode& code, const KernelNode& n) {
    if (n.op != KernelOp::For || n.args.empty()) return false;
    const KernelRegion& body = code[n.as<BodyAttr>().region];
    return !body.alive && body.effects.empty();
}

/// Returns the groups of more than one loop. `code` is placed.
Groups find_groups(const KernelCode& code, const DeviceProfile& profile) {
    struct Candidate {
        std::vector<NodeId> loops;
        int level = 0;
        NodeId extent;
        size_t carried = 0;
        std::map<uint64_t, double> work;
    };
    auto cost = [](const std::map<uint64_t, double>& work) {
        double total = 0;
        for (const auto& [name, each] : work) total += each;
        return total;
    };
    Groups out;
    for (const KernelRegion& region : code.regions) {
        Levels levels(code, region.order);
        std::vector<Candidate> candidates;
        for (NodeId id : region.order) {
            const KernelNode& n = code[id];
            if (!can_fuse(code, n)) continue;
            IterationWork iteration(code, profile);
            Candidate own{{id},
                          levels.of(id),
                          code[code[n.as<BodyAttr>().region].range].extent_node,
                          n.args.size(),
                          iteration.of(id)};
            auto fits = [&](const Candidate& c) {
                if (c.level != own.level || c.extent != own.extent ||
                    c.carried + own.carried > costs::kMostFusedCarried)
                    return false;
                double shared = 0;
                for (const auto& [name, each] : own.work)
                    if (c.work.contains(name)) shared += each;
                return shared >= costs::kMostlyShared * std::min(cost(own.work), cost(c.work));
            };
            auto found = std::find_if(candidates.begin(), candidates.end(), fits);
            if (found == candidates.end()) {
                candidates.push_back(std::move(own));
                continue;
            }
            found->loops.push_back(id);
            found->carried += own.carried;
            found->work.merge(own.work);
        }
        for (Candidate& c : candidates)
            if (c.loops.size() > 1) out.push_back(std::move(c.loops));
    }
    return out;
}

/// Builds the kernel again, with the loops of each group as one.
class Fuser : public Rebuild {
  public:
    Fuser(const KernelCode& from, KernelBuilder& b, const Groups& groups)
        : Rebuild(from, b), groups_(groups) {
        for (size_t g = 0; g < groups.size(); ++g)
            for (NodeId loop : groups[g]) group_of_[loop] = g;
    }

  private:
    std::vector<NodeId> joined(NodeId loop) const override {
        const auto group = group_of_.find(loop);
        return group == group_of_.end() ? std::vector<NodeId>{loop} : groups_[group->second];
    }

    const Groups& groups_;
    std::unordered_map<NodeId, size_t> group_of_;
};

}  // namespace

KernelCode fuse_loops(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts) {
    const auto loops = std::count_if(code.nodes.begin(), code.nodes.end(),
                                     [&](const KernelNode& n) { return can_fuse(code, n); });
    if (loops < 2) return code;
    for (int round = 0; round < costs::kFusingRounds; ++round) {
        KernelCode placed = code;
        place(placed);
        const Groups groups = find_groups(placed, profile);
        if (groups.empty()) break;
        KernelCode fused;
        fused.name = code.name;
        KernelBuilder b(fused, facts);
        Fuser(code, b, groups).copy_kernel();
        code = std::move(fused);
    }
    return code;
}

}  // namespace firn
