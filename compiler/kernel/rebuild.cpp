// Builds lowered kernels again.
#include "compiler/kernel/rebuild.h"

#include "compiler/base/error.h"

namespace firn {

Rebuild::Rebuild(const KernelCode& from, KernelBuilder& b)
    : from_(from), b_(b), memo_(from.nodes.size(), -1) {
    for (size_t id = 0; id < from.nodes.size(); ++id)
        if (from.nodes[id].op == KernelOp::Range)
            range_node_[from.nodes[id].range] = static_cast<int>(id);
}

void Rebuild::copy_grid() {
    for (size_t r = 0; r < from_.ranges.size(); ++r)
        if (from_.ranges[r].kind == RangeKind::Grid)
            bind_grid(static_cast<int>(r), b_.range(b_.add_range(from_.ranges[r])));
}

void Rebuild::copy_kernel() {
    copy_grid();
    std::vector<int> made = effects(0);
    b_.code().regions[0].effects = std::move(made);
}

void Rebuild::bind_grid(int range, int made) {
    if (const auto it = range_node_.find(range); it != range_node_.end()) memo_[it->second] = made;
}

int Rebuild::value(int id) {
    if (memo_[id] >= 0) return memo_[id];
    const int made = build(from_.nodes[id], id);
    const Interval& known = from_.nodes[id].interval;
    if (from_.nodes[id].dtype == i32 && known != kAnyI32)
        b_.assume(made, Size(known.lo), Size(known.hi));
    return memo_[id] = made;
}

int Rebuild::build(const KernelNode& n, int id) {
    switch (n.op) {
        case KernelOp::Constant: return b_.constant(n.constant);
        case KernelOp::Param: {
            const ParamInfo& p = from_.params[n.param];
            return p.scalar >= 0 ? b_.scalar_argument(p.scalar, p.dtype) : b_.size(p.size);
        }
        case KernelOp::Load: {
            const int index = value(n.args[0]);
            b_.set_lines(n.lines);
            return b_.load(buffer(n.buffer), index, n.width);
        }
        case KernelOp::Result: {
            const KernelNode& owner = from_.nodes[n.args[0]];
            if (owner.op == KernelOp::Branch) return b_.result(value(n.args[0]), n.position);
            const std::vector<int>* inside = written_out(n.args[0]);
            if (inside || is_rewritten(n.args[0])) {
                if (!last_values_.contains(n.args[0])) {
                    std::vector<int> last =
                        inside ? iterations(n.args[0], *inside) : rewrite(n.args[0]);
                    last_values_[n.args[0]] = std::move(last);
                }
                return last_values_.at(n.args[0])[static_cast<size_t>(n.position)];
            }
            const int loop = value(n.args[0]);
            return b_.result(loop, results_.at(n.args[0])[static_cast<size_t>(n.position)]);
        }
        case KernelOp::RowReduce: {
            const int each = value(n.args[0]);
            b_.set_lines(n.lines);
            return b_.row_reduce(n.reduce, each);
        }
        case KernelOp::For: return loop(id);
        case KernelOp::Branch: return branch(n);
        default: break;
    }
    ensure(is_elementwise(n.op), "rebuild: an operation that it does not know");
    std::vector<int> args;
    for (int arg : n.args) args.push_back(value(arg));
    b_.set_lines(n.lines);
    return b_.make(n.op, n.dtype, std::move(args));
}

int Rebuild::buffer(int index) {
    const KernelBuffer& b = from_.buffers[index];
    return b_.buffer(b.buffer, b.dtype, b.elements, b.form, b.width, b.written);
}

int Rebuild::loop(int id) {
    const std::vector<int> members = joined(id);
    std::vector<int> inits;
    const auto is_own = [&](int member, int k) { return carried_as(member, k) == k; };
    for (int member : members) {
        const std::vector<int>& begin = from_.nodes[member].args;
        std::vector<int> at;
        for (int k = 0; k < static_cast<int>(begin.size()); ++k) {
            at.push_back(is_own(member, k) ? static_cast<int>(inits.size())
                                           : at[carried_as(member, k)]);
            if (is_own(member, k)) inits.push_back(value(begin[k]));
        }
        results_[member] = std::move(at);
    }
    const KernelRegion& first = from_.regions[from_.nodes[members[0]].region];
    Range range = from_.ranges[first.range];
    range.extent_node = value(range.extent_node);
    const int range_id = b_.add_range(range), region = b_.add_region();
    b_.code().regions[region].range = range_id;
    for (int member : members) {
        const KernelRegion& body = from_.regions[from_.nodes[member].region];
        for (int k = 0; k < static_cast<int>(body.args.size()); ++k)
            memo_[body.args[k]] = is_own(member, k)
                                      ? b_.region_arg(region, from_.nodes[body.args[k]].dtype)
                                      : memo_[body.args[carried_as(member, k)]];
        if (auto it = range_node_.find(body.range); it != range_node_.end())
            memo_[it->second] = b_.range(range_id);
    }
    std::vector<int> yields;
    for (int member : members) {
        const std::vector<int>& next = from_.regions[from_.nodes[member].region].yields;
        for (int k = 0; k < static_cast<int>(next.size()); ++k)
            if (is_own(member, k)) yields.push_back(value(next[k]));
    }
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

std::vector<int> Rebuild::iterations(int loop, const std::vector<int>& inside) {
    const KernelNode& n = from_.nodes[loop];
    const KernelRegion& body = from_.regions[n.region];
    const int64_t trips = from_.nodes[from_.ranges[body.range].extent_node].constant.i;
    std::vector<int> carried;
    for (int init : n.args) carried.push_back(value(init));
    const bool apart = sums_apart(loop);
    for (int64_t k = 0; k < trips; ++k) {
        for (int id : inside) memo_[id] = -1;
        for (size_t a = 0; a < carried.size(); ++a)
            memo_[body.args[a]] =
                apart ? b_.nothing_to_add(from_.nodes[n.args[a]].dtype) : carried[a];
        if (auto it = range_node_.find(body.range); it != range_node_.end())
            memo_[it->second] = b_.integer(k);
        std::vector<int> next;
        for (int y : body.yields) next.push_back(value(y));
        for (size_t a = 0; a < next.size() && apart; ++a)
            next[a] = b_.make(KernelOp::Add, b_.node(next[a]).dtype, {carried[a], next[a]});
        carried = std::move(next);
    }
    return carried;
}

int Rebuild::branch(const KernelNode& n) {
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

std::vector<int> Rebuild::effects(int region) {
    std::vector<int> out;
    for (int e : from_.regions[region].effects) out.push_back(effect(e));
    return out;
}

int Rebuild::effect(int id) {
    const KernelNode& n = from_.nodes[id];
    if (n.op == KernelOp::For) return loop(id);
    if (n.op == KernelOp::Branch) return branch(n);
    const int index = value(n.args[0]);
    std::vector<int> values;
    for (size_t k = 1; k < n.args.size(); ++k) values.push_back(value(n.args[k]));
    b_.set_lines(n.lines);
    if (n.op == KernelOp::Atomic) return b_.atomic(buffer(n.buffer), n.combine, index, values[0]);
    return b_.store(buffer(n.buffer), index, values);
}

}  // namespace firn
