// Loops that read operands from shared memory.
#include "compiler/mapping/walk/staged_operands.h"

#include <map>
#include <numeric>
#include <utility>

#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/parts_of_loop.h"
#include "compiler/mapping/walk/staged_tile.h"

namespace firn {
namespace {

/// A node at other indices than those of this invocation's copies. `iterations`: of loops, by their
/// range; those that are not listed are as in the first copy.
NodeId value_at(MappingRun& run, NodeId node, const std::vector<NodeId>& at,
                const std::map<RangeId, NodeId>& iterations) {
    ByNode<NodeId> bound(run.from.nodes.size());
    for (NodeId id : run.from.nodes.ids()) {
        const auto* range = run.from[id].get_if<RangeId>();
        if (!range || run.from[*range].kind != RangeKind::Serial) continue;
        const auto listed = iterations.find(*range);
        bound[id] = listed == iterations.end() ? run.memo[0][id] : listed->second;
    }
    const Scoped<std::vector<ByNode<NodeId>>> memo(run.memo,
                                                   std::vector<ByNode<NodeId>>{std::move(bound)});
    const Scoped<std::vector<GridCopy>> copies(run.copies, {GridCopy{at, {}, {}}});
    return copy_value(run, node, 0);
}

/// The iterations of a staged loop, and the blocks of them.
struct StagedBlocks {
    NodeId extent;           // the loop's trip count
    Size size = Size(0);     // the same, where it is a size
    int64_t iterations = 1;  // of a block
    NodeId all;              // the same
    bool whole = false;      // no block reaches behind the loop's end
    NodeId start;            // the first iteration of this block

    int64_t divisor() const { return size.is(0) ? 1 : size.divisor(); }
};

Range range_of_blocks(KernelBuilder& b, const Range& old, const StagedBlocks& blocks) {
    const int64_t most = blocks.iterations;
    Range range = old;
    range.extent_node =
        b.make(KernelOp::Div, i32, {b.add(blocks.extent, b.integer(most - 1)), blocks.all});
    range.extent = blocks.size.is(0) ? blocks.size : ceil_div(blocks.size, Size(most));
    if (range.max_trips >= 0) range.max_trips = (range.max_trips + most - 1) / most;
    return range;
}

/// Builds the iterations of a block, which read the block's arrays.
Carried read_block(MappingRun& run, NodeId id, const std::vector<size_t>& group, Carried values,
                   const StagedBlocks& blocks) {
    KernelBuilder& b = run.b;
    const RegionId region = run.from[id].as<BodyAttr>().region;
    const int64_t most = blocks.iterations;
    Range inner = run.from[run.from[region].range];
    inner.extent = blocks.whole ? Size(most) : Size(0);
    inner.extent_node =
        blocks.whole ? blocks.all
                     : b.make(KernelOp::Min, i32, {blocks.all, b.sub(blocks.extent, blocks.start)});
    const int64_t unrolled = is_innermost(run, region) ? std::gcd(most, run.mapping.unroll) : 1;
    const Jam jam{id, {}, group};
    for (Part part : parts_of(b, inner, inner.extent_node, Deal{1, unrolled, 1}, {})) {
        if (part.max_trips < 0) part.max_trips = most / part.deal.unrolled;
        part.start = b.add(blocks.start, part.start);
        values = jam_loop(run, jam, part, std::move(values));
    }
    return values;
}

}  // namespace

Carried build_staged_loop(MappingRun& run, NodeId loop, const std::vector<size_t>& group,
                          Carried values) {
    KernelBuilder& b = run.b;
    const KernelNode& n = run.from[loop];
    const RegionId old_region = n.as<BodyAttr>().region;
    const RangeId old_range = run.from[old_region].range;
    const Range& old = run.from[old_range];
    StagedBlocks blocks;
    blocks.extent = copy_value(run, old.extent_node, group[0]);
    blocks.iterations = run.mapping.staged_iterations;
    blocks.all = b.integer(blocks.iterations);
    blocks.size =
        b.is_constant(blocks.extent) ? Size(b.node(blocks.extent).as<Scalar>().i) : old.extent;
    blocks.whole = !blocks.size.is(0) && blocks.size.divisor() % blocks.iterations == 0;
    const RangeId range = b.add_range(range_of_blocks(b, old, blocks));
    const RegionId region = b.add_region();
    b.code()[region].range = range;
    std::vector<NodeId> inits, yields;
    for (std::vector<NodeId>& copy : values)
        for (NodeId& value : copy) {
            inits.push_back(value);
            value = b.region_arg(region, b.node(value).dtype);
        }
    Scoped<std::vector<NodeId>> effects(run.effects, {});
    blocks.start = b.mul(b.range(range), blocks.all);
    StagedTile tile(b, run.from, run.grid, run.staged.at(loop), old_range, run.mapping);
    run.effects =
        tile.fill({blocks.start, blocks.whole ? NodeId() : blocks.extent, blocks.divisor(),
                   [&](NodeId node, const std::vector<NodeId>& at, NodeId iteration,
                       std::map<RangeId, NodeId> inside) {
                       inside[old_range] = iteration;
                       return value_at(run, node, at, inside);
                   }});
    {
        const Scoped<OpenTile> open(run.tile, {&tile, old_region, blocks.start, {}});
        values = read_block(run, loop, group, std::move(values), blocks);
    }
    run.effects.push_back(b.pinned(KernelOp::Barrier, i32, {}));
    for (const std::vector<NodeId>& copy : values)
        yields.insert(yields.end(), copy.begin(), copy.end());
    b.code()[region].yields = std::move(yields);
    b.code()[region].effects = effects.end();
    b.set_lines(n.lines);
    run.effects.push_back(b.close_for(region, std::move(inits)));
    int next = 0;
    for (std::vector<NodeId>& copy : values)
        for (NodeId& value : copy) value = b.result(run.effects.back(), next++);
    return values;
}

void read_staged(MappingRun& run, RangeId range, const std::vector<size_t>& group) {
    if (!run.tile.arrays) return;
    for (NodeId id : run.tile.arrays->values_of(range))
        for (size_t copy : group) copy_value(run, id, copy);
}

NodeId staged_value(MappingRun& run, NodeId node, size_t copy) {
    if (!run.tile.arrays) return {};
    auto iteration_of = [&](RangeId range) -> NodeId {
        for (NodeId id : run.from.nodes.ids())
            if (const auto* own = run.from[id].get_if<RangeId>(); own && *own == range)
                return run.memo[copy][id];
        return {};
    };
    return run.tile.arrays->read(node, copy, run.tile.iteration, iteration_of, run.effects);
}

}  // namespace firn
