// Shuffles loads that all lanes of a subgroup read.
#include "compiler/mapping/walk/shuffle_loads.h"

#include <algorithm>

#include "compiler/kernel/place.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"

namespace firn {
namespace {

/// Element `k` of those at equal distances from the one at `begin`.
NodeId element(KernelBuilder& b, NodeId begin, NodeId distance, NodeId k) {
    return b.add(begin, b.mul(distance, k));
}

/// The element at `mine`, as lane `from` has it.
NodeId hand_round(MappingRun& run, const KernelNode& n, NodeId mine, int64_t from, NodeId index) {
    KernelBuilder& b = run.b;
    const KernelBuffer& buffer = run.from.buffers[n.as<AccessAttr>().buffer];
    b.set_lines(n.lines);
    const NodeId last = b.sub(b.size(buffer.elements), b.integer(1));
    const NodeId near = inside(run, buffer, b.make(KernelOp::Min, i32, {mine, last}));
    const NodeId value = b.load(bound_buffer(run, buffer, false, 1), near);
    return b.shuffle(value, static_cast<int>(from), inside(run, buffer, index));
}

/// Neighbours in memory that the unrolled iterations of a loop read.
NodeId deal_iterations(MappingRun& run, const KernelNode& n, NodeId index) {
    KernelBuilder& b = run.b;
    const auto lanes = static_cast<int64_t>(run.mapping.shuffled_loads);
    const int64_t rest = remainder(b.node(index).congruence, lanes);
    if (run.around.unrolled % lanes != 0 || rest < 0 || b.is_constant(index)) return {};
    return hand_round(run, n, b.add(b.sub(index, b.integer(rest)), run.lane), rest, index);
}

/// Elements at equal distances that the copies along one range read.
NodeId deal_copies(MappingRun& run, const KernelNode& n, NodeId index, size_t copy) {
    if (!run.around.all_copies || !run.varies[n.args[0]]) return {};
    KernelBuilder& b = run.b;
    const size_t lanes = run.mapping.shuffled_loads;
    auto tile_of = [&](size_t d) { return static_cast<size_t>(run.mapping.tile_of(d)); };
    size_t step = tile_of(0);  // from a copy to its neighbour along the range
    for (size_t d = 1; d < run.grid.ranges.size(); step *= tile_of(d++)) {
        if (tile_of(d) % lanes != 0) continue;
        const size_t rest = copy / step % lanes, first = copy - rest * step;
        const NodeId begin = copy_value(run, n.args[0], first);
        const NodeId distance = b.sub(copy_value(run, n.args[0], first + step), begin);
        if (b.is_constant(distance) && b.node(distance).as<Scalar>().i == 0) continue;
        bool even = true;
        for (size_t k = 0; k < lanes && even; ++k)
            even = copy_value(run, n.args[0], first + k * step) ==
                   element(b, begin, distance, b.integer(static_cast<int64_t>(k)));
        if (even)
            return hand_round(run, n, element(b, begin, distance, run.lane),
                              static_cast<int64_t>(rest), index);
    }
    return {};
}

/// Returns whether the shuffle's source is a load of bound memory.
bool is_plain_load(const KernelCode& code, NodeId shuffle) {
    const KernelNode& source = code[code[shuffle].args[0]];
    return source.op == KernelOp::Load && !source.pinned;
}

}  // namespace

bool SameInSubgroup::operator()(NodeId id) {
    if (known_.end_id() <= id) known_.resize(b_.code().nodes.size());
    if (known_[id]) return *known_[id];
    const KernelNode& n = b_.node(id);
    bool same = true;
    switch (n.op) {
        case KernelOp::Range: {
            const Range& range = b_.code()[n.as<RangeId>()];
            same =
                range.kind == RangeKind::Group || range.kind == RangeKind::Serial || range.dim > 0;
            break;
        }
        case KernelOp::RegionArg:
        case KernelOp::Result:
        case KernelOp::For:
        case KernelOp::Branch: same = false; break;
        default:
            for (NodeId arg : n.args) same = same && (*this)(arg);
    }
    known_[id] = same;
    return same;
}

void SameInSubgroup::mark(NodeId id, bool same) {
    if (known_.end_id() <= id) known_.resize(b_.code().nodes.size());
    known_[id] = same;
}

NodeId deal_load(MappingRun& run, const KernelNode& load, NodeId index, size_t copy) {
    const DType dtype = run.from.buffers[load.as<AccessAttr>().buffer].dtype;
    if (run.mapping.shuffled_loads == 1 || !run.around.together || dtype.bytes() != 4 ||
        dtype.is_bool() || run.b.is_constant(index) || !run.same_in_subgroup(index))
        return {};
    const NodeId dealt = deal_iterations(run, load, index);
    return dealt ? dealt : deal_copies(run, load, index, copy);
}

void undo_underused_shuffles(KernelCode& code, uint32_t lanes) {
    place_apart(code);
    ByNode<std::vector<NodeId>> taken(code.nodes.size());
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order)
            if (code[id].op == KernelOp::SubgroupShuffle && is_plain_load(code, id))
                taken[code[id].args[0]].push_back(id);
    for (NodeId load : taken.ids()) {
        if (taken[load].size() * 2 >= lanes) continue;
        for (NodeId id : taken[load]) {
            KernelNode& n = code[id];
            n.op = KernelOp::Load;
            n.attr = AccessAttr{.buffer = code[load].as<AccessAttr>().buffer};
            n.args = {n.args[1]};
        }
    }
}

}  // namespace firn
