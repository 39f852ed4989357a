// Values of the lowered kernel in the copies of its body that an invocation has.
#include "compiler/mapping/walk/copy_values.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/serial_loops.h"
#include "compiler/mapping/walk/shuffle_loads.h"
#include "compiler/mapping/walk/staged_operands.h"

namespace firn {
namespace {

constexpr int kDeep = 200;  // operands inside one another, from which on they are mapped first

/// Maps the elementwise operands of a node, innermost first, without recursion, so that long chains
/// need no stack.
void map_operands(MappingRun& run, NodeId id, size_t copy) {
    auto is_open = [&](NodeId arg) {
        return !run.memo[copy][arg] && is_elementwise(run.from[arg].op);
    };
    std::vector<NodeId> chain{id};
    while (!chain.empty()) {
        const std::vector<NodeId>& args = run.from[chain.back()].args;
        const auto open = std::find_if(args.begin(), args.end(), is_open);
        if (open != args.end()) {
            chain.push_back(*open);
            continue;
        }
        const NodeId last = chain.back();
        chain.pop_back();
        if (!chain.empty()) copy_value(run, last, copy);
    }
}

NodeId map_elementwise(MappingRun& run, NodeId id, size_t copy) {
    const KernelNode& n = run.from[id];
    ensure(is_elementwise(n.op), "map: an operation that it does not know");
    std::vector<NodeId> args;
    if (run.recursion.depth() > kDeep) map_operands(run, id, copy);
    for (NodeId arg : n.args) args.push_back(copy_value(run, arg, copy));
    run.b.set_lines(n.lines);
    return run.b.make(n.op, n.dtype, std::move(args));
}

NodeId grid_index(const MappingRun& run, RangeId range, size_t copy) {
    const std::vector<RangeId>& grid = run.grid.ranges;
    const auto it = std::find(grid.begin(), grid.end(), range);
    ensure(it != grid.end(), "map: the index of a loop is asked outside it");
    return run.copies[copy].index[static_cast<size_t>(it - grid.begin())];
}

NodeId map_param(MappingRun& run, const ParamInfo& p) {
    return p.scalar >= 0 ? run.b.scalar_argument(p.scalar, p.dtype) : run.b.size(p.size);
}

/// Loads an element of 4 bytes through its block if its place in the block is
/// known; scalarise_underused_vectors() undoes this where few of its elements are used. The element
/// keeps the plain index.
NodeId load_element(MappingRun& run, const KernelNode& n, NodeId index) {
    const KernelBuffer& buffer = run.from.buffers[n.as<AccessAttr>().buffer];
    run.b.set_lines(n.lines);
    const int64_t rest = run.b.place_in_block(buffer.dtype, index);
    // A block that is not whole would give elements behind the end.
    const bool whole = !run.grid.padded || buffer.elements.divisor() % kBlockWidth == 0;
    if (!whole || rest < 0)
        return run.b.load(bound_buffer(run, buffer, false, 1), inside(run, buffer, index));
    const NodeId first = inside(run, buffer, run.b.sub(index, run.b.integer(rest)), kBlockWidth);
    const NodeId block =
        run.b.load(bound_buffer(run, buffer, false, kBlockWidth), first, kBlockWidth);
    return run.b.lane(block, static_cast<int>(rest), inside(run, buffer, index));
}

NodeId map_load(MappingRun& run, const KernelNode& n, size_t copy) {
    const NodeId index = copy_value(run, n.args[0], copy);
    NodeId made = deal_load(run, n, index, copy);
    if (!made) made = load_element(run, n, index);
    if (n.interval != kAnyI32) run.b.assume(made, Size(n.interval.lo), Size(n.interval.hi));
    return made;
}

NodeId map_branch(MappingRun& run, const KernelNode& n, size_t copy) {
    const NodeId condition = copy_value(run, n.args[0], copy);
    Surroundings side = run.around.apart();
    side.in_branch = true;
    const Scoped<Surroundings> inside(run.around, side);
    RegionId regions[2];
    const auto& own = n.as<BodyAttr>();
    const RegionId sources[2] = {own.region, own.else_region};
    for (int k = 0; k < 2; ++k) {
        if (!sources[k]) continue;
        std::vector<NodeId> yields;
        for (NodeId y : run.from[sources[k]].yields) yields.push_back(copy_value(run, y, copy));
        regions[k] = run.b.add_region();
        run.b.code()[regions[k]].yields = std::move(yields);
    }
    run.b.set_lines(n.lines);
    return run.b.branch(condition, regions[0], regions[1], n.guard);
}

NodeId map_value(MappingRun& run, NodeId id, size_t copy) {
    const KernelNode& n = run.from[id];
    switch (n.op) {
        case KernelOp::Range: return grid_index(run, n.as<RangeId>(), copy);
        case KernelOp::Constant: return run.b.constant(n.as<Scalar>());
        case KernelOp::Param: return map_param(run, run.from.params[n.as<ParamAttr>().param]);
        case KernelOp::Load: return map_load(run, n, copy);
        case KernelOp::Result:
            return run.b.result(copy_value(run, n.args[0], copy), n.as<PositionAttr>().position);
        case KernelOp::Branch: return map_branch(run, n, copy);
        default: return map_elementwise(run, id, copy);
    }
}

/// Returns one result of a loop; a loop's results are kept together and not by node.
NodeId loop_result(MappingRun& run, const KernelNode& n, size_t copy) {
    return loop_results(run, n.args[0], copy)[static_cast<size_t>(n.as<PositionAttr>().position)];
}

NodeId new_value(MappingRun& run, NodeId id, size_t copy) {
    if (const NodeId staged = staged_value(run, id, copy)) return run.memo[copy][id] = staged;
    const KernelNode& n = run.from[id];
    if (n.op == KernelOp::Result && run.from[n.args[0]].op == KernelOp::For)
        return loop_result(run, n, copy);
    const NodeId made = map_value(run, id, copy);
    return run.memo[copy][id] = made;
}

}  // namespace

NodeId copy_value(MappingRun& run, NodeId node, size_t copy) {
    if (const NodeId known = run.memo[copy][node]) return known;
    return run.recursion([&] { return new_value(run, node, copy); });
}

NodeId inside(MappingRun& run, const KernelBuffer& buffer, NodeId index, int64_t width) {
    if (!run.grid.padded) return index;
    KernelBuilder& b = run.b;
    const Size last = floor_div(buffer.elements - Size(1), Size(width)) * Size(width);
    return b.make(KernelOp::Max, i32,
                  {b.make(KernelOp::Min, i32, {index, b.size(last)}), b.integer(0)});
}

int bound_buffer(MappingRun& run, const KernelBuffer& buffer, bool written, int width) {
    KernelBuffer bound = buffer;
    bound.width = width, bound.written = written;
    const BindingForm form = binding_form(bound, run.profile, run.facts);
    return run.b.buffer(buffer.buffer, buffer.dtype, buffer.elements, form, width, written);
}

}  // namespace firn
