// Loops of stores: the rows that one invocation walks.
#include "compiler/mapping/walk/store_rows.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "compiler/mapping/walk/bound_iteration.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/parts_of_loop.h"

namespace firn {
namespace {

/// The stores of the unrolled iterations of a part, by effect of the row's body.
struct RowStores {
    std::vector<std::vector<NodeId>> index, value;
};

void walk_part(MappingRun& run, const KernelNode& n, size_t copy, const Part& part,
               std::vector<NodeId>& effects) {
    KernelBuilder& b = run.b;
    const int64_t trips = b.is_constant(part.trips) ? b.node(part.trips).as<Scalar>().i : -1;
    if (trips == 0) return;
    const RegionId old_region = n.as<BodyAttr>().region;
    const KernelRegion& body = run.from[old_region];
    const Range& old = run.from[body.range];
    // A single iteration needs no loop, except for the part of a lane.
    const bool whole = trips == 1 && run.mapping.lanes == 1;
    const RangeId range_id = whole ? RangeId() : b.add_range(range_of_part(b, old, part));
    const RegionId region = whole ? RegionId() : b.add_region();
    if (!whole) b.code()[region].range = range_id;
    const NodeId index = whole ? b.integer(0) : b.range(range_id);
    const NodeId base = first_index(b, index, part.start, part.deal, old.extent, run.lane);
    std::vector<NodeId> inside;
    const size_t count = body.effects.size();
    RowStores stores{std::vector<std::vector<NodeId>>(count),
                     std::vector<std::vector<NodeId>>(count)};
    for (int64_t c = 0; c < part.deal.unrolled; ++c) {
        const std::vector<NodeId> carried;
        const BoundIteration bound(run, old_region, {&copy, 1},
                                   b.add(base, b.integer(part.deal.at(c))), {&carried, 1});
        for (size_t k = 0; k < count; ++k) {
            const KernelNode& effect = run.from[body.effects[k]];
            if (effect.op == KernelOp::For) {
                walk_row(run, body.effects[k], copy, inside);
            } else {
                stores.index[k].push_back(copy_value(run, effect.args[0], copy));
                stores.value[k].push_back(copy_value(run, effect.args[1], copy));
            }
        }
    }
    for (size_t k = 0; k < count; ++k)
        if (!stores.index[k].empty())
            store_run(run, run.from[body.effects[k]], stores.index[k], stores.value[k], inside);
    if (whole) {
        effects.insert(effects.end(), inside.begin(), inside.end());
        return;
    }
    b.code()[region].effects = std::move(inside);
    b.set_lines(n.lines);
    effects.push_back(b.close_for(region, {}));
}

}  // namespace

bool is_row(const MappingRun& run, NodeId effect) {
    const KernelNode& n = run.from[effect];
    if (n.op != KernelOp::For || !n.args.empty()) return false;
    const KernelRegion& body = run.from[n.as<BodyAttr>().region];
    std::set<int> stored;
    const bool stores = std::all_of(body.effects.begin(), body.effects.end(), [&](NodeId e) {
        return run.from[e].op == KernelOp::Store &&
               stored.insert(run.from[e].as<AccessAttr>().buffer).second;
    });
    return !body.alive && (stores || (body.effects.size() == 1 && is_row(run, body.effects[0])));
}

void walk_row(MappingRun& run, NodeId loop, size_t copy, std::vector<NodeId>& effects) {
    const KernelNode& n = run.from[loop];
    const KernelRegion& body = run.from[n.as<BodyAttr>().region];
    const NodeId extent = copy_value(run, run.from[body.range].extent_node, copy);
    const bool nested = run.from[body.effects[0]].op == KernelOp::For;
    const int64_t unrolled = nested ? 1 : std::max<int64_t>(1, run.mapping.unroll);
    for (const Part& part : deal_loop(run, loop, extent, unrolled))
        walk_part(run, n, copy, part, effects);
}

void store_run(MappingRun& run, const KernelNode& store, const std::vector<NodeId>& index,
               const std::vector<NodeId>& value, std::vector<NodeId>& effects) {
    KernelBuilder& b = run.b;
    const KernelBuffer& buffer = run.from.buffers[store.as<AccessAttr>().buffer];
    b.set_lines(store.lines);
    for (size_t first = 0; first < index.size();) {
        bool block = first + kBlockWidth <= index.size() && buffer.dtype.bytes() == 4 &&
                     remainder(b.node(index[first]).congruence, kBlockWidth) == 0;
        for (size_t v = 1; v < kBlockWidth && block; ++v)
            block = index[first + v] == b.add(index[first], b.integer(static_cast<int64_t>(v)));
        const size_t width = block ? kBlockWidth : 1;
        effects.push_back(b.store(bound_buffer(run, buffer, true, static_cast<int>(width)),
                                  index[first], std::span(value).subspan(first, width)));
        first += width;
    }
}

}  // namespace firn
