// Regions of a kernel, its loops and branches as blocks of LLVM IR. A loop or branch by which lanes
// part runs under a mask, and is left where no lane takes it.
#include "compiler/target/native/regions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/target/native/atomics.h"
#include "compiler/target/native/kept.h"
#include "compiler/target/native/lanes.h"
#include "compiler/target/native/loads.h"
#include "compiler/target/native/neighbours.h"
#include "compiler/target/native/operations.h"
#include "compiler/target/native/own_memory.h"
#include "compiler/target/native/stores.h"
#include "compiler/target/native/transposes.h"

namespace firn::native {
namespace {

std::string mask_type(const IrRun& run) { return vector_of(run, "i1"); }

/// The lanes of the mask, where there is one, for which a condition holds as well.
std::string masked_by(IrRun& run, const std::string& condition) {
    if (run.mask.empty()) return condition;
    return emit(run, "and " + mask_type(run) + " " + run.mask + ", " + condition);
}

/// A value as it is carried or joined: a vector where it varies, else a scalar.
std::string joined_text(IrRun& run, NodeId id, bool varying) {
    const IrValue& value = value_of(run, id);
    return varying ? as_vector(run, value, run.code[id].dtype) : value.text;
}

void jump(IrRun& run, const std::string& label) { emit_effect(run, "br label %" + label); }
void jump(IrRun& run, const std::string& condition, const std::string& then,
          const std::string& other) {
    emit_effect(run, "br i1 " + condition + ", label %" + then + ", label %" + other);
}

/// A value that comes from two blocks; the second is known when that is written.
struct Phi {
    std::string name, type, first, from;
    size_t at = 0;  // in the text
};
Phi open_phi(IrRun& run, const std::string& type, const std::string& first,
             const std::string& from) {
    return {"%p" + std::to_string(run.next++), type, first, from, run.text.size()};
}
std::string text(const Phi& phi, const std::string& second, const std::string& from) {
    return "  " + phi.name + " = phi " + phi.type + " [" + phi.first + ", %" + phi.from + "], [" +
           second + ", %" + from + "]\n";
}

struct Loop {
    NodeId id;
    const KernelNode& node;
    const KernelRegion& body;
    RegionId region;
    bool diverges = false;
    std::vector<bool> varying;  // carried values
    std::vector<Phi> carried;
    Phi index, mask;
};

Loop loop_of(const IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const RegionId region = n.as<BodyAttr>().region;
    Loop loop{id, n, run.code[region], region, run.diverges[region], {}, {}, {}, {}};
    for (NodeId arg : loop.body.args) loop.varying.push_back(run.varying[arg]);
    return loop;
}

/// The number of iterations: of all lanes, or of each.
IrValue trips_of(IrRun& run, const KernelRegion& body) {
    const Range& range = run.code[body.range];
    ensure(static_cast<bool>(range.extent_node), "a loop of placed code has no trip count");
    return value_of(run, range.extent_node);
}

void write_for(IrRun& run, NodeId id) {
    Loop loop = loop_of(run, id);
    const std::string head = new_label(run, "loop"), inside = new_label(run, "body"),
                      end = new_label(run, "end");
    const IrValue trips = trips_of(run, loop.body);
    std::vector<std::string> inits;
    for (size_t k = 0; k < loop.node.args.size(); ++k)
        inits.push_back(joined_text(run, loop.node.args[k], loop.varying[k]));
    const std::string outer = run.mask;
    std::string begin_mask = outer, trips_by_lane;
    if (loop.diverges) {
        if (begin_mask.empty()) begin_mask = splat(run, "true", "i1");
        trips_by_lane = as_vector(run, trips, i32);
    }
    const std::string from = run.block;
    jump(run, head);
    begin_block(run, head);
    loop.index = open_phi(run, "i32", "0", from);
    for (size_t k = 0; k < inits.size(); ++k) {
        const NodeId arg = loop.body.args[k];
        loop.carried.push_back(
            open_phi(run, type_of(run, run.code[arg].dtype, loop.varying[k]), inits[k], from));
        run.values[arg] = {{loop.carried[k].name, loop.varying[k]}};
    }
    if (loop.diverges) loop.mask = open_phi(run, mask_type(run), begin_mask, from);
    const size_t phis_at = run.text.size();
    for (NodeId other : run.code.nodes.ids())
        if (const auto* range = run.code[other].get_if<RangeId>();
            range && *range == loop.body.range)
            run.values[other] = {{loop.index.name, false}};

    if (loop.diverges) {
        const std::string index = splat(run, loop.index.name, "i32"),
                          goes_on = emit(run, "icmp slt " + vector_of(run, "i32") + " " + index +
                                                  ", " + trips_by_lane),
                          active = emit(
                              run, "and " + mask_type(run) + " " + loop.mask.name + ", " + goes_on);
        jump(run, any_of(run, active), inside, end);
        begin_block(run, inside);
        run.mask = active;
    } else {
        jump(run, emit(run, "icmp slt i32 " + loop.index.name + ", " + trips.text), inside, end);
        begin_block(run, inside);
    }
    write_region(run, loop.region);
    // Lanes that have ended keep what they carried.
    std::vector<std::string> next;
    for (size_t k = 0; k < inits.size(); ++k) {
        const bool unused = value_of(run, loop.body.yields[k]).text == "poison";
        std::string value =
            unused ? loop.carried[k].name : joined_text(run, loop.body.yields[k], loop.varying[k]);
        if (loop.diverges && value != loop.carried[k].name)
            value = emit(run, "select " + mask_type(run) + " " + run.mask + ", " +
                                  loop.carried[k].type + " " + value + ", " + loop.carried[k].type +
                                  " " + loop.carried[k].name);
        next.push_back(value);
    }
    std::string mask_next = run.mask;
    std::string alive;
    if (loop.body.alive) {
        const IrValue& value = value_of(run, loop.body.alive);
        if (loop.diverges)
            mask_next = emit(run, "and " + mask_type(run) + " " + run.mask + ", " +
                                      as_vector(run, value, boolean));
        else
            alive = value.text;
    }
    const std::string index_next = emit(run, "add i32 " + loop.index.name + ", 1");
    const std::string last = run.block;
    if (alive.empty()) {
        jump(run, head);
        begin_block(run, end);
    } else {
        // The loop ends behind an iteration, too: the results are then the next values.
        jump(run, alive, head, end);
        begin_block(run, end);
    }
    std::string phis = text(loop.index, index_next, last);
    for (size_t k = 0; k < next.size(); ++k) phis += text(loop.carried[k], next[k], last);
    if (loop.diverges) phis += text(loop.mask, mask_next, last);
    std::vector<IrValue> results;
    for (size_t k = 0; k < next.size(); ++k) {
        std::string value = loop.carried[k].name;
        if (!alive.empty())
            value = emit(run, "phi " + loop.carried[k].type + " [" + value + ", %" + head + "], [" +
                                  next[k] + ", %" + last + "]");
        results.push_back({value, loop.varying[k]});
    }
    run.text.insert(phis_at, phis);
    run.values[id] = std::move(results);
    run.mask = outer;
}

/// Writes one side of a branch under its mask, or where its condition holds for all lanes; returns
/// the values that it yields.
std::vector<std::string> write_side(IrRun& run, RegionId region, const std::vector<bool>& varying) {
    std::vector<std::string> out;
    if (!region) return out;
    write_region(run, region);
    for (size_t k = 0; k < varying.size(); ++k)
        out.push_back(joined_text(run, run.code[region].yields[k], varying[k]));
    return out;
}

std::vector<std::string> types_of(const IrRun& run, RegionId region,
                                  const std::vector<bool>& varying) {
    std::vector<std::string> out;
    for (size_t k = 0; k < varying.size(); ++k)
        out.push_back(type_of(run, run.code[run.code[region].yields[k]].dtype, varying[k]));
    return out;
}

/// All lanes that run take the same side.
void write_uniform_branch(IrRun& run, NodeId id, RegionId region, RegionId other,
                          const std::vector<bool>& varying) {
    const std::string then = new_label(run, "then"), otherwise = new_label(run, "else"),
                      end = new_label(run, "join");
    jump(run, value_of(run, run.code[id].args[0]).text, then, other ? otherwise : end);
    begin_block(run, then);
    const std::vector<std::string> first = write_side(run, region, varying);
    const std::string from_first = run.block;
    jump(run, end);
    std::vector<std::string> second;
    std::string from_second;
    if (other) {
        begin_block(run, otherwise);
        second = write_side(run, other, varying);
        from_second = run.block;
        jump(run, end);
    }
    begin_block(run, end);
    const std::vector<std::string> types = types_of(run, region, varying);
    for (size_t k = 0; k < varying.size(); ++k)
        run.values[id].push_back(
            {emit(run, "phi " + types[k] + " [" + first[k] + ", %" + from_first + "], [" +
                           second[k] + ", %" + from_second + "]"),
             varying[k]});
}

/// One side where some lanes take it; the values are zero where none does.
std::vector<std::string> write_masked_side(IrRun& run, RegionId region,
                                           const std::string& condition,
                                           const std::vector<bool>& varying) {
    const std::string outer = run.mask, mine = masked_by(run, condition),
                      inside = new_label(run, "some"), end = new_label(run, "none"),
                      any = any_of(run, mine), from = run.block;
    jump(run, any, inside, end);
    begin_block(run, inside);
    run.mask = mine;
    const std::vector<std::string> values = write_side(run, region, varying);
    const std::string last = run.block;
    jump(run, end);
    begin_block(run, end);
    run.mask = outer;
    const std::vector<std::string> types = types_of(run, region, varying);
    std::vector<std::string> out;
    for (size_t k = 0; k < values.size(); ++k)
        out.push_back(emit(run, "phi " + types[k] + " [zeroinitializer, %" + from + "], [" +
                                    values[k] + ", %" + last + "]"));
    return out;
}

void write_branch(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const auto [region, other] = n.as<BodyAttr>();
    run.values[id].clear();
    const bool parts = run.varying[n.args[0]];
    std::vector<bool> varying;
    const size_t count = other ? run.code[region].yields.size() : 0;
    for (size_t k = 0; k < count; ++k)
        varying.push_back(parts || run.varying[run.code[region].yields[k]] ||
                          run.varying[run.code[other].yields[k]]);
    if (!parts) return write_uniform_branch(run, id, region, other, varying);
    const std::string condition = as_vector(run, value_of(run, n.args[0]), boolean);
    const std::vector<std::string> first = write_masked_side(run, region, condition, varying);
    if (!other) return;
    const std::string opposite =
        emit(run, "xor " + mask_type(run) + " " + condition + ", " + splat(run, "true", "i1"));
    const std::vector<std::string> second = write_masked_side(run, other, opposite, varying);
    const std::vector<std::string> types = types_of(run, region, varying);
    for (size_t k = 0; k < varying.size(); ++k)
        run.values[id].push_back(
            {emit(run, "select " + mask_type(run) + " " + condition + ", " + types[k] + " " +
                           first[k] + ", " + types[k] + " " + second[k]),
             true});
}

/// Leaves have a text only.
bool is_leaf(KernelOp op) {
    return op == KernelOp::Constant || op == KernelOp::Param || op == KernelOp::Range ||
           op == KernelOp::RegionArg;
}

/// The order of a region in which sums with what its loop carries come as soon as their operands
/// do: terms wait in registers else, since LLVM moves nothing over the branches of loads.
std::vector<NodeId> sums_early(const KernelCode& code, const KernelRegion& region) {
    ByNode<int> missing(code.nodes.size(), 0);  // operands of a sum that come later
    ByNode<bool> later(code.nodes.size(), false), sums(code.nodes.size(), false);
    std::map<NodeId, std::vector<NodeId>> waiting;
    for (NodeId arg : region.args) sums[arg] = true;
    for (NodeId id : region.order) later[id] = true;
    for (NodeId id : region.order) {
        const KernelNode& n = code[id];
        sums[id] = (n.op == KernelOp::Add || n.op == KernelOp::Sub) && n.dtype.is_float() &&
                   (sums[n.args[0]] || sums[n.args[1]]);
        if (!sums[id]) continue;
        for (NodeId arg : n.args)
            if (later[arg]) ++missing[id], waiting[arg].push_back(id);
    }
    std::vector<NodeId> out, open;
    for (NodeId id : region.order) {
        if (!later[id]) continue;
        open.push_back(id);
        while (!open.empty()) {
            const NodeId next = open.back();
            open.pop_back();
            out.push_back(next);
            later[next] = false;
            const auto found = waiting.find(next);
            if (found == waiting.end()) continue;
            for (NodeId sum : found->second)
                if (--missing[sum] == 0) open.push_back(sum);
        }
    }
    return out;
}

}  // namespace

std::vector<NodeId> nodes_of(const KernelCode& code, RegionId id) {
    const KernelRegion& region = code[id];
    std::vector<NodeId> out = region.args.empty() ? region.order : sums_early(code, region);
    out.insert(out.end(), region.effects.begin(), region.effects.end());
    return out;
}

void write_node(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (is_leaf(n.op)) return;
    switch (n.op) {
        case KernelOp::For: return write_for(run, id);
        case KernelOp::Branch: return write_branch(run, id);
        case KernelOp::Result:
        case KernelOp::Lane: return;  // see value_of()
        case KernelOp::Load: return write_load(run, id);
        case KernelOp::Store: return write_store(run, id);
        case KernelOp::Atomic: return write_atomic(run, id);
        case KernelOp::Array: return write_array(run, id);
        // All invocations of the group are lanes here, which run in step.
        case KernelOp::Barrier: return;
        case KernelOp::SubgroupReduce:
        case KernelOp::SubgroupScan:
        case KernelOp::SubgroupRead:
        case KernelOp::SubgroupShuffle: return write_exchange(run, id);
        default: break;
    }
    ensure(is_elementwise(for_any_angle(n.op)) || is_combined(n.op),
           "the native target cannot express a node");
    if (take_value(run, id)) return;
    run.values[id] = {write_operation(run, id)};
    keep_value(run, id);
}

void write_region(IrRun& run, RegionId id) {
    const std::vector<NodeId> nodes = nodes_of(run.code, id);
    const std::map<NodeId, Square> squares = find_squares(run, nodes);
    const Bunches bunches = find_bunches(run, nodes);
    // With the first of their square or bunch.
    std::set<NodeId> done = bunches.apart;
    for (NodeId part : done) run.values[part].clear();
    for (NodeId node : nodes) {
        const auto square = squares.find(node);
        if (square != squares.end() && is_square(run, square->second)) {
            write_square(run, square->second);
            done.insert(square->second.accesses.begin(), square->second.accesses.end());
        }
        if (const auto found = bunches.by_load.find(node); found != bunches.by_load.end()) {
            const Bunch& bunch = found->second;
            for (NodeId part : bunch.ahead)
                if (done.insert(part).second) write_node(run, part);
            if (is_bunch(run, bunch)) {
                write_bunch(run, bunch);
                const std::vector<NodeId> loads = bunch.loads();
                done.insert(loads.begin(), loads.end());
                for (const auto& [load, user] : bunch.chosen) done.insert(user);
            } else {
                for (NodeId part : bunch.apart)
                    if (run.values[part].empty()) write_node(run, part);
            }
        }
        if (!done.contains(node)) write_node(run, node);
    }
}

void counted_loop(IrRun& run, const std::string& type, const std::string& name,
                  const std::string& from, const std::string& to,
                  const std::function<void(const std::string& index)>& body) {
    const std::string head = new_label(run, "each"), inside = new_label(run, "one"),
                      end = new_label(run, "all"), before = run.block;
    emit_effect(run, "br label %" + head);
    begin_block(run, head);
    const size_t phi_at = run.text.size();
    const std::string more = emit(run, "icmp ult " + type + " " + name + ", " + to);
    emit_effect(run, "br i1 " + more + ", label %" + inside + ", label %" + end);
    begin_block(run, inside);
    body(name);
    const std::string next = emit(run, "add " + type + " " + name + ", 1"), last = run.block;
    emit_effect(run, "br label %" + head);
    run.text.insert(phi_at, "  " + name + " = phi " + type + " [" + from + ", %" + before + "], [" +
                                next + ", %" + last + "]\n");
    begin_block(run, end);
}

}  // namespace firn::native
