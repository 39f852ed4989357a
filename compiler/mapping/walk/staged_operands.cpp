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
int value_at(MappingRun& run, int node, const std::vector<int>& at,
             const std::map<int, int>& iterations) {
    std::vector<int> bound(run.from.nodes.size(), -1);
    for (size_t id = 0; id < run.from.nodes.size(); ++id) {
        const KernelNode& n = run.from.nodes[id];
        if (n.op != KernelOp::Range || run.from.ranges[n.range].kind != RangeKind::Serial) continue;
        const auto listed = iterations.find(n.range);
        bound[id] = listed == iterations.end() ? run.memo[0][id] : listed->second;
    }
    const Scoped<std::vector<std::vector<int>>> memo(
        run.memo, std::vector<std::vector<int>>{std::move(bound)});
    const Scoped<std::vector<GridCopy>> copies(run.copies, {GridCopy{at, -1}});
    return copy_value(run, node, 0);
}

/// The iterations of a staged loop, and the blocks of them.
struct StagedBlocks {
    int extent = -1;         // node: the loop's trip count
    Size size = Size(0);     // the same, where it is a size
    int64_t iterations = 1;  // of a block
    int all = -1;            // node: the same
    bool whole = false;      // no block reaches behind the loop's end
    int start = -1;          // node: the first iteration of this block

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
Carried read_block(MappingRun& run, int id, const std::vector<size_t>& group, Carried values,
                   const StagedBlocks& blocks) {
    KernelBuilder& b = run.b;
    const int region = run.from.nodes[id].region;
    const int64_t most = blocks.iterations;
    Range inner = run.from.ranges[run.from.regions[region].range];
    inner.extent = blocks.whole ? Size(most) : Size(0);
    inner.extent_node =
        blocks.whole ? blocks.all
                     : b.make(KernelOp::Min, i32, {blocks.all, b.sub(blocks.extent, blocks.start)});
    const int64_t unrolled = is_innermost(run, region) ? std::gcd(most, run.mapping.unroll) : 1;
    const Jam jam{id, {}, group};
    for (Part part : parts_of(b, inner, inner.extent_node, Deal{1, unrolled, 1}, -1)) {
        if (part.max_trips < 0) part.max_trips = most / part.deal.unrolled;
        part.start = b.add(blocks.start, part.start);
        values = jam_loop(run, jam, part, std::move(values));
    }
    return values;
}

}  // namespace

Carried build_staged_loop(MappingRun& run, int loop, const std::vector<size_t>& group,
                          Carried values) {
    KernelBuilder& b = run.b;
    const KernelNode& n = run.from.nodes[loop];
    const int old_range = run.from.regions[n.region].range;
    const Range& old = run.from.ranges[old_range];
    StagedBlocks blocks;
    blocks.extent = copy_value(run, old.extent_node, group[0]);
    blocks.iterations = run.mapping.staged_iterations;
    blocks.all = b.integer(blocks.iterations);
    blocks.size =
        b.is_constant(blocks.extent) ? Size(b.node(blocks.extent).constant.i) : old.extent;
    blocks.whole = !blocks.size.is(0) && blocks.size.divisor() % blocks.iterations == 0;
    const int range = b.add_range(range_of_blocks(b, old, blocks)), region = b.add_region();
    b.code().regions[region].range = range;
    std::vector<int> inits, yields;
    for (std::vector<int>& copy : values)
        for (int& value : copy) {
            inits.push_back(value);
            value = b.region_arg(region, b.node(value).dtype);
        }
    Scoped<std::vector<int>> effects(run.effects, {});
    blocks.start = b.mul(b.range(range), blocks.all);
    StagedTile tile(b, run.from, run.grid, run.staged.at(loop), old_range, run.mapping);
    run.effects = tile.fill(
        {blocks.start, blocks.whole ? -1 : blocks.extent, blocks.divisor(),
         [&](int node, const std::vector<int>& at, int iteration, std::map<int, int> inside) {
             inside[old_range] = iteration;
             return value_at(run, node, at, inside);
         }});
    {
        const Scoped<OpenTile> open(run.tile, {&tile, n.region, blocks.start, -1});
        values = read_block(run, loop, group, std::move(values), blocks);
    }
    run.effects.push_back(b.pinned(KernelOp::Barrier, i32, {}));
    for (const std::vector<int>& copy : values)
        yields.insert(yields.end(), copy.begin(), copy.end());
    b.code().regions[region].yields = std::move(yields);
    b.code().regions[region].effects = effects.end();
    b.set_lines(n.lines);
    run.effects.push_back(b.close_for(region, std::move(inits)));
    int next = 0;
    for (std::vector<int>& copy : values)
        for (int& value : copy) value = b.result(run.effects.back(), next++);
    return values;
}

void read_staged(MappingRun& run, int range, const std::vector<size_t>& group) {
    if (!run.tile.arrays) return;
    for (int id : run.tile.arrays->values_of(range))
        for (size_t copy : group) copy_value(run, id, copy);
}

int staged_value(MappingRun& run, int node, size_t copy) {
    if (!run.tile.arrays) return -1;
    auto iteration_of = [&](int range) {
        for (size_t id = 0; id < run.from.nodes.size(); ++id)
            if (run.from.nodes[id].op == KernelOp::Range && run.from.nodes[id].range == range)
                return run.memo[copy][id];
        return -1;
    };
    return run.tile.arrays->read(node, copy, run.tile.iteration, iteration_of, run.effects);
}

}  // namespace firn
