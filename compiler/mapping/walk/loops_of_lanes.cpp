// Finds the loops of a kernel that the lanes of a subgroup can share.
#include "compiler/mapping/walk/loops_of_lanes.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/monoid.h"
#include "compiler/kernel/place.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

bool uses_any(const KernelCode& code, NodeId id, const std::vector<NodeId>& wanted) {
    std::vector<NodeId> queue{id};
    ByNode<bool> seen(code.nodes.size());
    while (!queue.empty()) {
        const NodeId at = queue.back();
        queue.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        if (std::find(wanted.begin(), wanted.end(), at) != wanted.end()) return true;
        const KernelNode& n = code[at];
        for (NodeId arg : n.args) queue.push_back(arg);
        for (RegionId body : bodies(n)) {
            const KernelRegion& region = code[body];
            queue.insert(queue.end(), region.yields.begin(), region.yields.end());
            if (region.alive) queue.push_back(region.alive);
            if (region.range) queue.push_back(code[region.range].extent_node);
        }
    }
    return false;
}

/// The node is the constant that changes nothing in a reduction.
bool is_neutral(const KernelCode& code, NodeId id, ReduceOp op) {
    const KernelNode& n = code[id];
    return n.op == KernelOp::Constant && n.as<Scalar>() == reduce_identity(op, n.dtype);
}

std::optional<ReduceOp> reduce_op(KernelOp op, DType dtype) {
    if (!lanes_exchange(dtype)) return std::nullopt;
    switch (op) {
        case KernelOp::Add: return ReduceOp::Sum;
        case KernelOp::Mul: return ReduceOp::Prod;
        case KernelOp::Min: return ReduceOp::Min;
        case KernelOp::Max: return ReduceOp::Max;
        case KernelOp::Or: return dtype.is_bool() ? std::optional(ReduceOp::Any) : std::nullopt;
        case KernelOp::And: return dtype.is_bool() ? std::optional(ReduceOp::All) : std::nullopt;
        default: return std::nullopt;
    }
}

/// Loops around one another, outermost first, that gather terms in the same carried values.
struct Nest {
    std::vector<NodeId> loops;
    std::vector<LaneCombine> combine;
};

class Sharer {
  public:
    Sharer(const KernelCode& code, uint32_t lanes, bool evenly)
        : code_(code),
          lanes_(lanes),
          evenly_(evenly),
          needs_(region_needs(code)),
          owner_(code.regions.size()),
          differs_(code.regions.size()) {
        for (NodeId id : code.nodes.ids())
            if (code[id].op == KernelOp::For) owner_[code[id].as<BodyAttr>().region] = id;
    }

    std::map<NodeId, SharedLoop> run() {
        for (NodeId effect : code_[kRoot].effects)
            if (!share_stores(effect)) return {};
        // A loop around another has the larger number: it is met first.
        for (size_t k = code_.nodes.size(); k-- > 0;) {
            const NodeId id(k);
            if (code_[id].op != KernelOp::For || out_.contains(id) || in_shared_loop(id)) continue;
            if (const std::optional<Nest> nest = nest_of(id)) share(nest->loops, nest->combine);
        }
        return std::move(out_);
    }

  private:
    const KernelRegion& body(NodeId loop) const { return code_[code_[loop].as<BodyAttr>().region]; }

    /// Returns whether the node, or a loop that it depends on, is in a shared loop: an inner loop
    /// need not use the outer index itself.
    bool in_shared_loop(NodeId id) const {
        return std::any_of(needs_[id].begin(), needs_[id].end(), [&](RegionId region) {
            return differs_[region] || (owner_[region] && in_shared_loop(owner_[region]));
        });
    }

    /// Returns false if an effect is in anything but plain loops: it cannot be dealt.
    bool share_stores(NodeId effect) {
        std::vector<NodeId> loops;
        while (code_[effect].op == KernelOp::For) {
            const KernelRegion& region = body(effect);
            if (!region.yields.empty() || region.alive || region.effects.size() != 1) return false;
            loops.push_back(effect);
            effect = region.effects[0];
        }
        if (loops.empty()) return true;
        // Lanes deal only stores: a combining effect runs once in each iteration.
        if (code_[effect].op != KernelOp::Store) return false;
        share(loops, {});
        return true;
    }

    void share(const std::vector<NodeId>& loops, const std::vector<LaneCombine>& combine) {
        for (NodeId loop : loops) {
            out_[loop];
            differs_[code_[loop].as<BodyAttr>().region] = true;
        }
        out_[loops[0]].combine = combine;
        out_[split_loop(loops)].split = true;
    }

    int64_t most_trips(NodeId loop) const {
        const int64_t trips = code_[body(loop).range].max_trips;
        return trips < 0 ? INT64_MAX : trips;
    }

    /// Iterations of the loop; 0: they are not known.
    int64_t trips(NodeId loop) const {
        const Size& extent = code_[body(loop).range].extent;
        return extent.is_constant() ? extent.constant() : 0;
    }
    /// Many lanes have nothing to do in the last round of the loop.
    bool ends_idle(NodeId loop) const {
        const int64_t all = trips(loop), rounds = (all + lanes_ - 1) / lanes_;
        return static_cast<double>(all) <
               costs::kLeastSaving * static_cast<double>(rounds * lanes_);
    }

    /// The innermost walks neighbours in memory; but not where it leaves lanes idle.
    NodeId split_loop(const std::vector<NodeId>& loops) const {
        if (evenly_ && ends_idle(loops.back()))
            for (size_t k = loops.size(); k-- > 0;)
                if (trips(loops[k]) > 0 && trips(loops[k]) % lanes_ == 0) return loops[k];
        if (most_trips(loops.back()) >= lanes_) return loops.back();
        return *std::max_element(loops.begin(), loops.end(),
                                 [&](NodeId a, NodeId b) { return most_trips(a) < most_trips(b); });
    }

    std::optional<Nest> nest_of(NodeId loop) const {
        const KernelRegion& region = body(loop);
        if (region.alive || !region.effects.empty() || region.yields.empty()) return std::nullopt;
        if (std::optional<Nest> around = nest_around(loop)) return around;
        Nest nest{{loop}, {}};
        std::vector<bool> is_noted(region.yields.size());
        for (size_t k = 0; k < region.yields.size(); ++k)
            if (const int of = noted_extreme(code_, loop, k); of >= 0) is_noted[of] = true;
        for (size_t k = 0; k < region.yields.size(); ++k) {
            if (const int of = noted_extreme(code_, loop, k); of >= 0) {
                nest.combine.push_back({KernelOp::Min, ReduceOp::Min, of});
                continue;
            }
            if (!is_noted[k] && !gathered_term(code_, region, k)) return std::nullopt;
            const KernelNode& step = code_[region.yields[k]];
            const auto op = reduce_op(step.op, step.dtype);
            if (!op) return std::nullopt;
            nest.combine.push_back({step.op, *op});
        }
        return nest;
    }

    /// Returns the nest of a loop that only passes its carried values through another one.
    std::optional<Nest> nest_around(NodeId loop) const {
        const NodeId inner = handed_through(code_, loop);
        if (!inner) return std::nullopt;
        std::optional<Nest> nest = nest_of(inner);
        if (nest) nest->loops.insert(nest->loops.begin(), loop);
        return nest;
    }

    const KernelCode& code_;
    uint32_t lanes_;
    bool evenly_;
    ByNode<std::vector<RegionId>> needs_;  // bodies that a node depends on
    ByRegion<NodeId> owner_;               // the For of a body
    ByRegion<bool> differs_;               // bodies that lanes run with values of their own
    std::map<NodeId, SharedLoop> out_;
};

}  // namespace

std::map<NodeId, SharedLoop> loops_of_lanes(const KernelCode& code, uint32_t lanes, bool evenly) {
    return Sharer(code, lanes, evenly).run();
}

std::string why_lanes_do_not_share(const MappingCase& of) {
    const Mapping& m = of.mapping;
    if (m.lanes != of.profile.subgroup_size || m.group.x % m.lanes != 0 || m.group.y != 1)
        return "the group is no row of whole subgroups of " +
               std::to_string(of.profile.subgroup_size);
    return loops_of_lanes(of.ready, m.lanes).empty() ? "the kernel has no loop that lanes can share"
                                                     : "";
}

NodeId handed_through(const KernelCode& code, NodeId loop) {
    const KernelRegion& region = code[code[loop].as<BodyAttr>().region];
    if (region.alive || !region.effects.empty() || region.yields.empty()) return {};
    const KernelNode& first = code[region.yields[0]];
    if (first.op != KernelOp::Result || code[first.args[0]].op != KernelOp::For) return {};
    const NodeId inner = first.args[0];
    if (code[inner].args != region.args) return {};
    for (size_t k = 0; k < region.yields.size(); ++k) {
        const KernelNode& y = code[region.yields[k]];
        if (y.op != KernelOp::Result || y.args[0] != inner ||
            y.as<PositionAttr>().position != static_cast<int>(k))
            return {};
    }
    const KernelRegion& body = code[code[inner].as<BodyAttr>().region];
    for (NodeId y : body.yields)
        if (uses_any(code, y, region.args)) return {};
    return uses_any(code, code[body.range].extent_node, region.args) ? NodeId() : inner;
}

int noted_extreme(const KernelCode& code, NodeId loop, size_t k) {
    const KernelNode& n = code[loop];
    const KernelRegion& body = code[n.as<BodyAttr>().region];
    const KernelNode& next = code[body.yields[k]];
    if (next.op != KernelOp::Select || next.dtype != i32 || next.args[2] != body.args[k] ||
        !is_neutral(code, n.args[k], ReduceOp::Min))
        return -1;
    const KernelNode &index = code[next.args[1]], &better = code[next.args[0]];
    if (index.op != KernelOp::Range || index.as<RangeId>() != body.range ||
        better.op != KernelOp::Less)
        return -1;
    for (size_t of = 0; of < body.yields.size(); ++of) {
        const KernelNode& extreme = code[body.yields[of]];
        const bool least = extreme.op == KernelOp::Min;
        const std::vector<NodeId> both{body.args[of], better.args[least ? 0 : 1]};
        if ((!least && extreme.op != KernelOp::Max) || better.args[least ? 1 : 0] != both[0] ||
            !std::is_permutation(both.begin(), both.end(), extreme.args.begin()) ||
            !is_neutral(code, n.args[of], least ? ReduceOp::Min : ReduceOp::Max) ||
            uses_any(code, both[1], body.args))
            continue;
        for (size_t j = 0; j < body.yields.size(); ++j)
            if (j != k && j != of && uses_any(code, body.yields[j], {body.args[k], both[0]}))
                return -1;
        return static_cast<int>(of);
    }
    return -1;
}

std::optional<GatheredTerm> gathered_term(const KernelCode& code, const KernelRegion& body,
                                          size_t k) {
    const KernelNode& y = code[body.yields[k]];
    if (!(info(y.op).properties & kAssociative)) return std::nullopt;
    for (int side = 0; side < 2; ++side) {
        if (y.args[side] != body.args[k]) continue;
        const NodeId term = y.args[1 - side];
        if (uses_any(code, term, body.args)) return std::nullopt;
        for (size_t j = 0; j < body.yields.size(); ++j)
            if (j != k && uses_any(code, body.yields[j], {body.args[k]})) return std::nullopt;
        return GatheredTerm{y.op, term};
    }
    return std::nullopt;
}

}  // namespace firn
