// Loops side by side that compute much the same become one.
#include "compiler/lower/fuse_loops.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/place.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr size_t kMostCarried = 8;    // values that one fused loop carries
constexpr double kLeastShared = 0.5;  // of the smaller loop's work
constexpr int kRounds = 4;            // loops inside fused loops meet in the next round

/// Loops by For node: those with the same number become one.
using Groups = std::vector<std::vector<int>>;

/// What the turns of loops do, so that equal work has equal names: the turn itself and what it carries are named by
/// their place, whatever loop they belong to.
class TurnWork {
  public:
    TurnWork(const KernelCode& code, const DeviceProfile& profile)
        : code_(code), needs_(region_needs(code)),
          load_(profile.seconds_per_load * profile.operations_per_second) {}

    /// The cost of each piece of work in one turn of a placed loop, by name.
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
            if (n.op == Op::For || n.op == Op::Branch) {
                collect(n.region, depth + 1, out);
                if (n.else_region >= 0) collect(n.else_region, depth + 1, out);
            } else if (n.op == Op::Load || is_elementwise(n.op)) {
                out[name(id)] = n.op == Op::Load ? load_ : operation_cost(n.op);
            }
        }
    }

    uint64_t name(int id) {
        if (auto it = names_.find(id); it != names_.end()) return it->second;
        const KernelNode& n = code_.nodes[id];
        uint64_t h = static_cast<uint64_t>(id) * 2 + 1;
        auto mix = [&](uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
        if (n.op == Op::Range || n.op == Op::RegionArg) {
            const int region = n.op == Op::RegionArg ? n.region : body_of(n.index);
            if (const auto it = depth_of_.find(region); it != depth_of_.end()) h = it->second * 64;
        } else if (std::any_of(needs_[id].begin(), needs_[id].end(), [&](int r) { return depth_of_.contains(r); })) {
            h = static_cast<uint64_t>(n.op) * 2 * 131 + static_cast<uint64_t>(n.dtype.type);
            mix(static_cast<uint64_t>(n.index) * 64 + static_cast<uint64_t>(n.width));
            for (int arg : n.args) mix(name(arg));
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
    std::unordered_map<int, uint64_t> depth_of_;   // regions inside the loop that is named
};

/// How many of the region's loops must have ended before a node is known.
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
        if (n.op == Op::For || n.op == Op::Branch)
            for (int body : {n.region, n.else_region}) {
                if (body < 0) continue;
                const KernelRegion& region = code_.regions[body];
                for (int y : region.yields) need(y);
                for (int e : region.effects) need(e);
                if (region.alive >= 0) need(region.alive);
                if (region.range >= 0) need(code_.ranges[region.range].extent_node);
            }
        if (n.op == Op::For && home_.contains(id)) ++level;
        return known_[id] = level;
    }

  private:
    const KernelCode& code_;
    std::unordered_map<int, bool> home_;
    std::unordered_map<int, int> known_;
};

bool can_fuse(const KernelCode& code, const KernelNode& n) {
    if (n.op != Op::For || n.args.empty()) return false;
    const KernelRegion& body = code.regions[n.region];
    return body.alive < 0 && body.effects.empty();
}

/// The groups of more than one loop. `code` is placed.
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
            TurnWork turn(code, profile);
            Candidate own{{id}, levels.of(id), code.ranges[code.regions[n.region].range].extent_node, n.args.size(),
                          turn.of(id)};
            auto fits = [&](const Candidate& c) {
                if (c.level != own.level || c.extent != own.extent || c.carried + own.carried > kMostCarried)
                    return false;
                double shared = 0;
                for (const auto& [name, each] : own.work)
                    if (c.work.contains(name)) shared += each;
                return shared >= kLeastShared * std::min(cost(own.work), cost(c.work));
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
class Fuser {
  public:
    Fuser(const KernelCode& from, KernelCode& to, const Groups& groups, const SymbolFacts& facts)
        : from_(from), b_(to, facts), groups_(groups), memo_(from.nodes.size(), -1) {
        for (size_t g = 0; g < groups.size(); ++g)
            for (int loop : groups[g]) group_of_[loop] = g;
        for (size_t id = 0; id < from.nodes.size(); ++id)
            if (from.nodes[id].op == Op::Range) range_node_[from.nodes[id].index] = static_cast<int>(id);
    }

    void run() {
        b_.code().name = from_.name;
        for (size_t r = 0; r < from_.ranges.size(); ++r)
            if (from_.ranges[r].kind == RangeKind::Grid) {
                const int made = b_.range(b_.add_range(from_.ranges[r]));
                if (auto it = range_node_.find(static_cast<int>(r)); it != range_node_.end()) memo_[it->second] = made;
            }
        std::vector<int> made = effects(0);
        b_.code().regions[0].effects = std::move(made);
    }

  private:
    int value(int id) {
        if (memo_[id] >= 0) return memo_[id];
        const int made = build(from_.nodes[id], id);
        const Interval& known = from_.nodes[id].interval;
        if (from_.nodes[id].dtype == i32 && (known.lo > INT32_MIN || known.hi < INT32_MAX))
            b_.assume(made, Size(known.lo), Size(known.hi));
        return memo_[id] = made;
    }

    int build(const KernelNode& n, int id) {
        switch (n.op) {
            case Op::Constant: return b_.constant(n.constant);
            case Op::Param: {
                const ParamInfo& p = from_.params[n.index];
                return p.scalar >= 0 ? b_.scalar_argument(p.scalar, p.dtype) : b_.size(p.size);
            }
            case Op::Load: {
                const int index = value(n.args[0]);
                b_.set_lines(n.lines);
                return b_.load(buffer(n.index), index, n.width);
            }
            case Op::Result: {
                const KernelNode& owner = from_.nodes[n.args[0]];
                if (owner.op == Op::Branch) return b_.result(value(n.args[0]), n.index);
                const int loop = value(n.args[0]);
                return b_.result(loop, first_result_.at(n.args[0]) + n.index);
            }
            case Op::For: return loop(id);
            case Op::Branch: return branch(n);
            default: break;
        }
        ensure(is_elementwise(n.op), "fuse: an operation that it does not know");
        std::vector<int> args;
        for (int arg : n.args) args.push_back(value(arg));
        b_.set_lines(n.lines);
        return b_.make(n.op, n.dtype, std::move(args));
    }

    int buffer(int index) {
        const KernelBuffer& b = from_.buffers[index];
        return b_.buffer(b.buffer, b.dtype, b.elements, b.form, b.width, b.written);
    }

    int loop(int id) {
        const auto group = group_of_.find(id);
        const std::vector<int> members = group == group_of_.end() ? std::vector<int>{id} : groups_[group->second];
        std::vector<int> inits;
        for (int member : members) {
            first_result_[member] = static_cast<int>(inits.size());
            for (int init : from_.nodes[member].args) inits.push_back(value(init));
        }
        const KernelRegion& first = from_.regions[from_.nodes[members[0]].region];
        Range range = from_.ranges[first.range];
        range.extent_node = value(range.extent_node);
        const int range_id = b_.add_range(range), region = b_.add_region();
        b_.code().regions[region].range = range_id;
        for (int member : members) {
            const KernelRegion& body = from_.regions[from_.nodes[member].region];
            for (int arg : body.args) memo_[arg] = b_.region_arg(region, from_.nodes[arg].dtype);
            if (auto it = range_node_.find(body.range); it != range_node_.end()) memo_[it->second] = b_.range(range_id);
        }
        std::vector<int> yields;
        for (int member : members)
            for (int y : from_.regions[from_.nodes[member].region].yields) yields.push_back(value(y));
        std::vector<int> inside = effects(from_.nodes[members[0]].region);
        KernelRegion& body = b_.code().regions[region];
        body.effects = std::move(inside);
        body.yields = std::move(yields);
        if (first.alive >= 0) {
            const int alive = value(first.alive);
            b_.code().regions[region].alive = alive;
        }
        b_.set_lines(from_.nodes[id].lines);
        const int made = b_.close_for(region, std::move(inits));
        for (int member : members) memo_[member] = made;
        return made;
    }

    int branch(const KernelNode& n) {
        const int condition = value(n.args[0]);
        int regions[2] = {-1, -1};
        const int sources[2] = {n.region, n.else_region};
        for (int k = 0; k < 2; ++k) {
            if (sources[k] < 0) continue;
            std::vector<int> yields;
            for (int y : from_.regions[sources[k]].yields) yields.push_back(value(y));
            std::vector<int> inside = effects(sources[k]);
            regions[k] = b_.add_region();
            b_.code().regions[regions[k]].yields = std::move(yields);
            b_.code().regions[regions[k]].effects = std::move(inside);
        }
        b_.set_lines(n.lines);
        return b_.branch(condition, regions[0], regions[1], n.guard);
    }

    std::vector<int> effects(int region) {
        std::vector<int> out;
        for (int e : from_.regions[region].effects) out.push_back(effect(e));
        return out;
    }

    int effect(int id) {
        const KernelNode& n = from_.nodes[id];
        if (n.op == Op::For) return loop(id);
        if (n.op == Op::Branch) return branch(n);
        const int index = value(n.args[0]);
        std::vector<int> values;
        for (size_t k = 1; k < n.args.size(); ++k) values.push_back(value(n.args[k]));
        b_.set_lines(n.lines);
        if (n.op == Op::Atomic) return b_.atomic(buffer(n.index), n.combine, index, values[0]);
        return b_.store(buffer(n.index), index, values);
    }

    const KernelCode& from_;
    KernelBuilder b_;
    const Groups& groups_;
    std::vector<int> memo_;
    std::unordered_map<int, size_t> group_of_;
    std::unordered_map<int, int> first_result_;   // by For node: where its results begin
    std::unordered_map<int, int> range_node_;
};

}  // namespace

KernelCode fuse_loops(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts) {
    for (int round = 0; round < kRounds; ++round) {
        KernelCode placed = code;
        place(placed);
        const Groups groups = find_groups(placed, profile);
        if (groups.empty()) break;
        KernelCode fused;
        Fuser(code, fused, groups, facts).run();
        code = std::move(fused);
    }
    return code;
}

}  // namespace firn
