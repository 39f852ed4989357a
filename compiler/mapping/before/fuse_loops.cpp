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
using Groups = std::vector<std::vector<int>>;

/// Names the work of iterations so that equal work has equal names: the iteration itself and the
/// carried values are named by their place, independent of their loop.
class IterationWork {
  public:
    IterationWork(const KernelCode& code, const DeviceProfile& profile)
        : code_(code),
          needs_(region_needs(code)),
          load_(profile.seconds_per_load * profile.operations_per_second) {}

    /// The cost of each piece of work in one iteration of a placed loop, by name.
    std::map<uint64_t, double> of(int loop) {
        names_.clear();
        std::map<uint64_t, double> out;
        collect(code_.nodes[loop].region, 1, out);
        return out;
    }

  private:
    void collect(int region_id, uint64_t depth, std::map<uint64_t, double>& out) {
        const KernelRegion& region = code_.regions[region_id];
        depth_of_[region_id] = depth;
        for (int id : region.order) {
            const KernelNode& n = code_.nodes[id];
            if (n.op == KernelOp::For || n.op == KernelOp::Branch) {
                collect(n.region, depth + 1, out);
                if (n.else_region >= 0) collect(n.else_region, depth + 1, out);
            } else if (n.op == KernelOp::Load || is_elementwise(n.op)) {
                out[name(id)] = n.op == KernelOp::Load ? load_ : operation_cost(n.op);
            }
        }
    }

    uint64_t name(int id) {
        if (auto it = names_.find(id); it != names_.end()) return it->second;
        const KernelNode& n = code_.nodes[id];
        uint64_t h = static_cast<uint64_t>(id) * 2 + 1;
        auto mix = [&](uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
        if (n.op == KernelOp::Range || n.op == KernelOp::RegionArg) {
            const int region = n.op == KernelOp::RegionArg ? n.region : body_of(n.range);
            if (const auto it = depth_of_.find(region); it != depth_of_.end()) h = it->second * 64;
        } else if (std::any_of(needs_[id].begin(), needs_[id].end(),
                               [&](int r) { return depth_of_.contains(r); })) {
            h = static_cast<uint64_t>(n.op) * 2 * 131 + static_cast<uint64_t>(n.dtype.type);
            for (int part : {n.param, n.buffer, n.position, n.lane, n.width})
                mix(static_cast<uint64_t>(part));
            std::vector<uint64_t> operands;
            for (int arg : n.args) operands.push_back(name(arg));
            if (info(n.op).properties & kCommutative) std::sort(operands.begin(), operands.end());
            for (uint64_t operand : operands) mix(operand);
        }
        return names_[id] = h;
    }

    int body_of(int range) const {
        for (size_t r = 0; r < code_.regions.size(); ++r)
            if (code_.regions[r].range == range) return static_cast<int>(r);
        return -1;
    }

    const KernelCode& code_;
    std::vector<std::vector<int>> needs_;
    double load_;
    std::unordered_map<int, uint64_t> names_;
    std::unordered_map<int, uint64_t> depth_of_;  // regions inside the loop that is named
};

/// Counts, for each node, how many of the region's loops must have ended before its value is known.
class Levels {
  public:
    Levels(const KernelCode& code, const std::vector<int>& order) : code_(code) {
        for (int id : order) home_.insert({id, true});
    }

    int of(int id) {
        if (auto it = known_.find(id); it != known_.end()) return it->second;
        const KernelNode& n = code_.nodes[id];
        int level = 0;
        auto need = [&](int other) { level = std::max(level, of(other)); };
        for (int arg : n.args) need(arg);
        if (n.op == KernelOp::For || n.op == KernelOp::Branch)
            for (int body : {n.region, n.else_region}) {
                if (body < 0) continue;
                const KernelRegion& region = code_.regions[body];
                for (int y : region.yields) need(y);
                for (int e : region.effects) need(e);
                if (region.alive >= 0) need(region.alive);
                if (region.range >= 0) need(code_.ranges[region.range].extent_node);
            }
        if (n.op == KernelOp::For && home_.contains(id)) ++level;
        return known_[id] = level;
    }

  private:
    const KernelCode& code_;
    std::unordered_map<int, bool> home_;
    std::unordered_map<int, int> known_;
};

bool can_fuse(const KernelCode& code, const KernelNode& n) {
    if (n.op != KernelOp::For || n.args.empty()) return false;
    const KernelRegion& body = code.regions[n.region];
    return body.alive < 0 && body.effects.empty();
}

/// Returns the groups of more than one loop. `code` is placed.
Groups find_groups(const KernelCode& code, const DeviceProfile& profile) {
    struct Candidate {
        std::vector<int> loops;
        int level = 0, extent = -1;
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
        for (int id : region.order) {
            const KernelNode& n = code.nodes[id];
            if (!can_fuse(code, n)) continue;
            IterationWork iteration(code, profile);
            Candidate own{{id},
                          levels.of(id),
                          code.ranges[code.regions[n.region].range].extent_node,
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
            for (int loop : groups[g]) group_of_[loop] = g;
    }

  private:
    std::vector<int> joined(int loop) const override {
        const auto group = group_of_.find(loop);
        return group == group_of_.end() ? std::vector<int>{loop} : groups_[group->second];
    }

    const Groups& groups_;
    std::unordered_map<int, size_t> group_of_;
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
