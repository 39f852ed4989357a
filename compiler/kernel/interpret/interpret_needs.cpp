// Finds the lanes that use the value of a load of a group's memory, for the host interpreter.
#include "compiler/kernel/interpret/interpret_needs.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/kernel/interpret/interpret_access.h"
#include "compiler/kernel/interpret/interpret_regions.h"
#include "compiler/kernel/interpret/interpret_run.h"
#include "compiler/kernel/place.h"

namespace firn {
namespace {

/// Iterations of a loop of which each is looked at for the lanes that use a load before it.
constexpr int64_t kTrips = 64;

}  // namespace

void LoadNeeds::note_regions(const KernelCode& code) {
    parent_ = region_parents(code);
    owner_.resize(code.regions.size());
    home_.resize(code.nodes.size());
    position_.resize(code.nodes.size());
    results_.resize(code.nodes.size());
    for (RegionId r : code.regions.ids()) {
        int position = 0;
        for (NodeId arg : code[r].args) home_[arg] = r;
        for (const std::vector<NodeId>* list : {&code[r].order, &code[r].effects})
            for (NodeId id : *list) {
                const KernelNode& n = code[id];
                home_[id] = r;
                position_[id] = ++position;
                if (n.op == KernelOp::Result) results_[n.args[0]].push_back(id);
                for (RegionId body : bodies(n)) owner_[body] = id;
            }
    }
}

void LoadNeeds::note_yields(const KernelCode& code, NodeId owner, RegionId region) {
    const KernelNode& n = code[owner];
    const KernelRegion& body = code[region];
    for (size_t k = 0; k < body.yields.size(); ++k) {
        std::vector<Use>& uses = uses_[body.yields[k]];
        for (NodeId result : results_[owner])
            if (code[result].as<PositionAttr>().position == static_cast<int>(k))
                uses.push_back({region, result});
        if (n.op == KernelOp::For) uses.push_back({region, body.args[k], {{}, true}, true});
    }
    if (body.alive) uses_[body.alive].push_back({region});
}

void LoadNeeds::note_uses(const KernelCode& code, NodeId id) {
    const KernelNode& n = code[id];
    const RegionId at = home_[id];
    if (n.op == KernelOp::Result) return;  // its owner's yields say it
    const bool passes = is_elementwise(n.op) || is_combined(n.op) || n.op == KernelOp::Lane;
    for (size_t k = 0; k < n.args.size(); ++k) {
        Use use{at, passes ? id : NodeId()};
        if (n.op == KernelOp::Select && k > 0) use.condition = {n.args[0], k == 1};
        if (n.op == KernelOp::For) {  // its loop begins with the value, or gives it at once
            for (NodeId result : results_[id])
                if (code[result].as<PositionAttr>().position == static_cast<int>(k))
                    uses_[n.args[k]].push_back({at, result});
            const RegionId body = n.as<BodyAttr>().region;
            use = {body, code[body].args[k]};
        }
        uses_[n.args[k]].push_back(use);
    }
    for (RegionId body : bodies(n)) {
        if (n.op == KernelOp::For)
            if (const NodeId trips = code[code[body].range].extent_node)
                uses_[trips].push_back({at});
        note_yields(code, id, body);
    }
}

void LoadNeeds::prepare(const KernelCode& code) {
    note_regions(code);
    loops_ = region_needs(code);
    uses_.resize(code.nodes.size());
    for (NodeId id : code.nodes.ids())
        if (home_[id] && code[id].op != KernelOp::RegionArg) note_uses(code, id);
    always_.assign(code.nodes.size(), false);
    for (size_t k = code.nodes.size(); k-- > 0;) {
        const NodeId id(k);
        always_[id] = std::any_of(uses_[id].begin(), uses_[id].end(), [&](const Use& use) {
            return !use.condition.first && use.at == home_[id] && (!use.user || always_[use.user]);
        });
    }
}

/// Follows one load to its uses.
class LoadNeeds::Finder {
  public:
    Finder(const LoadNeeds& facts, const KernelCode& code, NodeId load)
        : facts_(facts), code_(code), reached_(code.regions.size(), -1) {
        NodeId at = load;
        for (RegionId region = facts.home_[load]; region; region = facts.parent_[region]) {
            reached_[region] = facts.position_[at];
            at = facts.owner_[region];
        }
        place(load, false);
    }

    LoadUses run() {
        for (size_t k = 0; k < nodes_.size(); ++k) {
            const auto [id, next] = nodes_[k];
            for (const Use& use : facts_.uses_[id]) {
                LoadUses::Use made;
                made.conditions = conditions(use, facts_.home_[id], next);
                if (use.user && !facts_.always_[use.user])
                    made.place = place(use.user, next || use.next);
                out_.uses[k].push_back(std::move(made));
            }
        }
        if (always()) return {.always = true};
        out_.early.assign(early_.begin(), early_.end());
        for (auto& [id, condition] : in_loops_) out_.in_loops.push_back(std::move(condition));
        return std::move(out_);
    }

  private:
    /// Returns the place of a node in this iteration (or in a later one, if `next`) of the loops
    /// around the load.
    int place(NodeId id, bool next) {
        const auto [it, added] =
            places_.emplace(std::pair(id, next), static_cast<int>(nodes_.size()));
        if (added) {
            nodes_.emplace_back(id, next);
            out_.uses.emplace_back();
        }
        return it->second;
    }

    /// The load is used whatever the conditions are.
    bool always() const {
        std::vector<bool> found(nodes_.size());
        for (bool more = true; more;) {
            more = false;
            for (size_t k = found.size(); k-- > 0;) {
                if (found[k]) continue;
                const std::vector<LoadUses::Use>& uses = out_.uses[k];
                more |= found[k] = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
                    return use.conditions.empty() && (use.place < 0 || found[use.place]);
                });
            }
        }
        return found[0];
    }

    /// Returns the conditions on the way from the region of a value to the one that uses it, and
    /// the use's own. A condition that is not known when the load runs may hold.
    std::vector<LaneCondition> conditions(const Use& use, RegionId home, bool next) {
        std::vector<LaneCondition> out;
        auto add = [&](const LaneCondition& condition) {
            if (condition.first && is_known(condition.first, next)) out.push_back(condition);
        };
        add(use.condition);
        for (RegionId at = use.at; at && at != home; at = facts_.parent_[at]) {
            const NodeId owner = facts_.owner_[at];
            if (!owner) break;
            if (code_[owner].op == KernelOp::Branch)
                add({code_[owner].args[0], at == code_[owner].as<BodyAttr>().region});
            else
                add({code_[code_[at].range].extent_node, true});
        }
        return out;
    }

    /// Returns whether the condition has been computed when the load runs, or can be from computed
    /// values.
    bool is_known(NodeId condition, bool next) {
        RegionId behind;  // a loop that has not begun
        for (RegionId loop : facts_.loops_[condition]) {
            if (next || (reached_[loop] < 0 && behind)) return false;
            if (reached_[loop] < 0) behind = loop;
        }
        std::set<NodeId> early;
        if (!find_early(condition, early)) return false;
        if (!behind) return early_.merge(early), true;
        LoadUses::InLoop made{condition, code_[behind].range, trips_of(behind), {}};
        if (made.trips < 0 || !code_[behind].args.empty()) return false;
        made.early.assign(early.begin(), early.end());
        in_loops_.emplace(condition, std::move(made));
        return true;
    }

    /// Returns the trip count of a loop with few iterations, the same for every lane; -1 for any
    /// other loop.
    int trips_of(RegionId loop) const {
        const Range& range = code_[code_[loop].range];
        const KernelNode* counted = range.extent_node ? &code_[range.extent_node] : nullptr;
        if (counted ? counted->op != KernelOp::Constant : !range.extent.is_constant()) return -1;
        const int64_t trips = counted ? counted->as<Scalar>().i : range.extent.constant();
        return trips <= kTrips ? static_cast<int>(trips) : -1;
    }

    /// Adds the nodes that must be computed for the condition; returns false if it cannot be
    /// computed yet.
    bool find_early(NodeId condition, std::set<NodeId>& early) const {
        std::vector<NodeId> open{condition};
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            if (is_computed(id) || early.contains(id)) continue;
            if (!is_pure(id)) return false;
            early.insert(id);
            open.insert(open.end(), code_[id].args.begin(), code_[id].args.end());
        }
        return true;
    }

    bool is_computed(NodeId id) const {
        const KernelOp op = code_[id].op;
        if (op == KernelOp::Constant || op == KernelOp::Param || op == KernelOp::Range ||
            op == KernelOp::RegionArg)
            return true;
        const RegionId home = facts_.home_[id];
        return home && facts_.position_[id] < reached_[home];
    }

    /// Returns whether the node may be computed before its place in the order.
    bool is_pure(NodeId id) const {
        const KernelNode& n = code_[id];
        if (is_elementwise(n.op) || is_combined(n.op)) return true;
        const RegionId home = facts_.home_[id];
        if (n.op != KernelOp::Load || !home || reached_[home] < 0) return false;
        if (!n.pinned) return !code_.buffers[n.as<AccessAttr>().buffer].written;
        if (home != facts_.home_[nodes_[0].first]) return false;
        // No effect in between may store to the loaded elements.
        const std::vector<NodeId>& order = code_[home].order;
        const auto end = static_cast<size_t>(facts_.position_[id] - 1);
        for (auto at = static_cast<size_t>(reached_[home]); at < end && at < order.size(); ++at) {
            const KernelNode& between = code_[order[at]];
            const bool harmless = is_elementwise(between.op) || is_combined(between.op) ||
                                  between.op == KernelOp::Load || between.op == KernelOp::Lane;
            if (!harmless) return false;
        }
        return end < order.size();
    }

    const LoadNeeds& facts_;
    const KernelCode& code_;
    ByRegion<int> reached_;  // the place that runs in it; -1: it does not run
    std::map<std::pair<NodeId, bool>, int> places_;
    std::vector<std::pair<NodeId, bool>> nodes_;  // by place
    std::set<NodeId> early_;
    std::map<NodeId, LoadUses::InLoop> in_loops_;  // by condition
    LoadUses out_;
};

const LoadUses& LoadNeeds::uses_of(const KernelCode& code, NodeId load) {
    if (const auto it = found_.find(load); it != found_.end()) return it->second;
    if (uses_.empty()) prepare(code);
    if (always_[load]) return found_[load] = {.always = true};
    return found_[load] = Finder(*this, code, load).run();
}

namespace {

void run_early(InterpretRun& run, const std::vector<NodeId>& nodes, const LaneMask& mask) {
    for (NodeId id : nodes)
        if (run.code[id].op == KernelOp::Load)
            load_early(run, id, mask);
        else
            run_node(run, id, mask);
}

/// Lanes for which a condition holds in some iteration, by the condition.
using HeldInLoops = std::map<LaneCondition, std::vector<uint8_t>>;

HeldInLoops held_in_loops(InterpretRun& run, const LoadUses& found, const LaneMask& mask) {
    HeldInLoops out;
    for (const LoadUses::InLoop& loop : found.in_loops) {
        for (const bool sense : {false, true}) out[{loop.node, sense}].resize(mask.on.size());
        for (int iteration = 0; iteration < loop.trips; ++iteration) {
            for (const auto& [index, id] : run.range_values)
                if (index == loop.range) std::fill_n(run.values[id].words(), run.lanes, iteration);
            run_early(run, loop.early, mask);
            const int32_t* words = run.values[loop.node].words();
            for (size_t lane = 0; lane < mask.on.size(); ++lane)
                out[{loop.node, words[lane] != 0}][lane] = 1;
        }
    }
    return out;
}

/// Adds the lanes of one use to those of the value it uses; returns whether that has more now.
bool add_lanes(const InterpretRun& run, const HeldInLoops& in_loops, const LoadUses::Use& use,
               const std::vector<uint8_t>& of_user, std::vector<uint8_t>& lanes) {
    bool more = false;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
        if (lanes[lane] || !of_user[lane]) continue;
        const bool held = std::all_of(
            use.conditions.begin(), use.conditions.end(), [&](const LaneCondition& condition) {
                if (const auto it = in_loops.find(condition); it != in_loops.end())
                    return it->second[lane] != 0;
                return (run.values[condition.first].words()[lane] != 0) == condition.second;
            });
        lanes[lane] = held;
        more |= held;
    }
    return more;
}

}  // namespace

LaneMask lanes_that_use(InterpretRun& run, NodeId load, const LaneMask& mask) {
    const LoadUses& found = run.needs.uses_of(run.code, load);
    if (found.always) return mask;
    const KernelCounts counts = run.counts;
    run_early(run, found.early, mask);
    const HeldInLoops in_loops = held_in_loops(run, found, mask);
    run.counts = counts;  // they count when they run in order
    std::vector<std::vector<uint8_t>> lanes(found.uses.size(),
                                            std::vector<uint8_t>(mask.on.size()));
    for (bool more = true; more;) {
        more = false;
        for (size_t place = found.uses.size(); place-- > 0;)
            for (const LoadUses::Use& use : found.uses[place])
                more |= add_lanes(run, in_loops, use, use.place < 0 ? mask.on : lanes[use.place],
                                  lanes[place]);
    }
    LaneMask out{std::move(lanes[0])};
    out.active = static_cast<int>(std::count(out.on.begin(), out.on.end(), 1));
    return out;
}

}  // namespace firn
