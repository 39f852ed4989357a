// Builds lowered kernels again.
#include "compiler/kernel/rebuild.h"

#include "compiler/base/error.h"

namespace firn {

Rebuild::Rebuild(const KernelCode& from, KernelBuilder& b)
    : from_(from), b_(b), memo_(from.nodes.size()) {
    for (NodeId id : from.nodes.ids())
        if (const auto* range = from[id].get_if<RangeId>()) range_node_[*range] = id;
}

void Rebuild::copy_grid() {
    for (RangeId id : from_.ranges.ids())
        if (from_[id].kind == RangeKind::Grid) bind_grid(id, b_.range(b_.add_range(from_[id])));
}

void Rebuild::copy_kernel() {
    copy_grid();
    std::vector<NodeId> made = effects(kRoot);
    b_.code()[kRoot].effects = std::move(made);
}

void Rebuild::bind_grid(RangeId range, NodeId made) {
    if (const auto it = range_node_.find(range); it != range_node_.end()) memo_[it->second] = made;
}

NodeId Rebuild::value(NodeId id) {
    if (memo_[id]) return memo_[id];
    const NodeId made = build(from_[id], id);
    const Interval& known = from_[id].interval;
    if (from_[id].dtype == i32 && known != kAnyI32) b_.assume(made, Size(known.lo), Size(known.hi));
    return memo_[id] = made;
}

NodeId Rebuild::build(const KernelNode& n, NodeId id) {
    switch (n.op) {
        case KernelOp::Constant: return b_.constant(n.as<Scalar>());
        case KernelOp::Param: {
            const ParamInfo& p = from_.params[n.as<ParamAttr>().param];
            return p.scalar >= 0 ? b_.scalar_argument(p.scalar, p.dtype) : b_.size(p.size);
        }
        case KernelOp::Load: {
            if (const NodeId other = other_load(id)) return other;
            const NodeId index = value(n.args[0]);
            b_.set_lines(n.lines);
            const auto& access = n.as<AccessAttr>();
            return b_.load(buffer(access.buffer), index, access.width);
        }
        case KernelOp::Result: {
            const KernelNode& owner = from_[n.args[0]];
            const int position = n.as<PositionAttr>().position;
            if (owner.op == KernelOp::Branch) return b_.result(value(n.args[0]), position);
            const std::vector<NodeId>* inside = written_out(n.args[0]);
            if (inside || is_rewritten(n.args[0])) {
                if (!last_values_.contains(n.args[0])) {
                    std::vector<NodeId> last =
                        inside ? iterations(n.args[0], *inside) : rewrite(n.args[0]);
                    last_values_[n.args[0]] = std::move(last);
                }
                return last_values_.at(n.args[0])[static_cast<size_t>(position)];
            }
            const NodeId loop = value(n.args[0]);
            return b_.result(loop, results_.at(n.args[0])[static_cast<size_t>(position)]);
        }
        case KernelOp::RowReduce: {
            const NodeId each = value(n.args[0]);
            b_.set_lines(n.lines);
            return b_.row_reduce(n.as<ReduceOp>(), each);
        }
        case KernelOp::For: return loop(id);
        case KernelOp::Branch: return branch(n);
        default: break;
    }
    ensure(is_elementwise(n.op), "rebuild: an operation that it does not know");
    std::vector<NodeId> args;
    for (NodeId arg : n.args) args.push_back(value(arg));
    b_.set_lines(n.lines);
    return b_.make(n.op, n.dtype, std::move(args));
}

int Rebuild::buffer(int index) {
    const KernelBuffer& b = from_.buffers[index];
    return b_.buffer(b.buffer, b.dtype, b.elements, b.form, b.width, b.written);
}

NodeId Rebuild::loop(NodeId id) {
    const std::vector<NodeId> members = joined(id);
    std::vector<NodeId> inits;
    const auto is_own = [&](NodeId member, int k) { return carried_as(member, k) == k; };
    for (NodeId member : members) {
        const std::vector<NodeId>& begin = from_[member].args;
        std::vector<int> at;
        for (int k = 0; k < static_cast<int>(begin.size()); ++k) {
            at.push_back(is_own(member, k) ? static_cast<int>(inits.size())
                                           : at[carried_as(member, k)]);
            if (is_own(member, k)) inits.push_back(value(begin[k]));
        }
        results_[member] = std::move(at);
    }
    const RegionId first_id = body_of(members[0]);
    const KernelRegion& first = from_[first_id];
    Range range = from_[first.range];
    range.extent_node = value(range.extent_node);
    const RangeId range_id = b_.add_range(range);
    const RegionId region = b_.add_region();
    b_.code()[region].range = range_id;
    for (NodeId member : members) {
        const KernelRegion& body = from_[body_of(member)];
        for (int k = 0; k < static_cast<int>(body.args.size()); ++k)
            memo_[body.args[k]] = is_own(member, k)
                                      ? b_.region_arg(region, from_[body.args[k]].dtype)
                                      : memo_[body.args[carried_as(member, k)]];
        if (auto it = range_node_.find(body.range); it != range_node_.end())
            memo_[it->second] = b_.range(range_id);
    }
    std::vector<NodeId> yields;
    for (NodeId member : members) {
        const std::vector<NodeId>& next = from_[body_of(member)].yields;
        for (int k = 0; k < static_cast<int>(next.size()); ++k)
            if (is_own(member, k)) yields.push_back(value(next[k]));
    }
    std::vector<NodeId> inside = effects(first_id);
    KernelRegion& body = b_.code()[region];
    body.effects = std::move(inside);
    body.yields = std::move(yields);
    if (first.alive) {
        const NodeId alive = value(first.alive);
        b_.code()[region].alive = alive;
    }
    b_.set_lines(from_[id].lines);
    const NodeId made = b_.close_for(region, std::move(inits));
    for (NodeId member : members) memo_[member] = made;
    return made;
}

std::vector<NodeId> Rebuild::iterations(NodeId loop, const std::vector<NodeId>& inside) {
    const KernelNode& n = from_[loop];
    const KernelRegion& body = from_[body_of(loop)];
    const int64_t trips = from_[from_[body.range].extent_node].as<Scalar>().i;
    std::vector<NodeId> carried;
    for (NodeId init : n.args) carried.push_back(value(init));
    const bool apart = sums_apart(loop);
    for (int64_t k = 0; k < trips; ++k) {
        for (NodeId id : inside) memo_[id] = {};
        for (size_t a = 0; a < carried.size(); ++a)
            memo_[body.args[a]] = apart ? b_.nothing_to_add(from_[n.args[a]].dtype) : carried[a];
        if (auto it = range_node_.find(body.range); it != range_node_.end())
            memo_[it->second] = b_.integer(k);
        std::vector<NodeId> next;
        for (NodeId y : body.yields) next.push_back(value(y));
        for (size_t a = 0; a < next.size() && apart; ++a)
            next[a] = b_.make(KernelOp::Add, b_.node(next[a]).dtype, {carried[a], next[a]});
        carried = std::move(next);
    }
    return carried;
}

NodeId Rebuild::branch(const KernelNode& n) {
    const NodeId condition = value(n.args[0]);
    RegionId regions[2];
    const RegionId sources[2] = {n.as<BodyAttr>().region, n.as<BodyAttr>().else_region};
    for (int k = 0; k < 2; ++k) {
        if (!sources[k]) continue;
        std::vector<NodeId> yields;
        for (NodeId y : from_[sources[k]].yields) yields.push_back(value(y));
        std::vector<NodeId> inside = effects(sources[k]);
        regions[k] = b_.add_region();
        b_.code()[regions[k]].yields = std::move(yields);
        b_.code()[regions[k]].effects = std::move(inside);
    }
    b_.set_lines(n.lines);
    return b_.branch(condition, regions[0], regions[1], n.guard);
}

std::vector<NodeId> Rebuild::effects(RegionId region) {
    std::vector<NodeId> out;
    for (NodeId e : from_[region].effects) out.push_back(effect(e));
    return out;
}

NodeId Rebuild::effect(NodeId id) {
    const KernelNode& n = from_[id];
    if (n.op == KernelOp::For) return loop(id);
    if (n.op == KernelOp::Branch) return branch(n);
    const NodeId index = value(n.args[0]);
    std::vector<NodeId> values;
    for (size_t k = 1; k < n.args.size(); ++k) values.push_back(value(n.args[k]));
    b_.set_lines(n.lines);
    const auto& access = n.as<AccessAttr>();
    const int to = buffer(access.buffer);
    return n.op == KernelOp::Atomic ? b_.atomic(to, access.combine, index, values[0])
                                    : b_.store(to, index, values);
}

}  // namespace firn
