// The parts that the iterations of a lowered kernel's loop are taken in.
#include "compiler/mapping/walk/parts_of_loop.h"

#include <algorithm>

#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Rows begin at multiples of their length: a kernel of one row begins at 0.
bool one_row(const MappingRun& run) {
    return std::all_of(run.grid.ranges.begin(), run.grid.ranges.end(),
                       [&](RangeId r) { return run.from[r].extent.is(1); });
}

}  // namespace

bool is_split(const MappingRun& run, NodeId loop) {
    const auto it = run.shared.find(loop);
    return it != run.shared.end() && it->second.split;
}

bool is_innermost(const MappingRun& run, RegionId region) {
    // A body that holds another loop depends on it through a Result.
    std::vector<NodeId> queue = run.from[region].yields;
    for (NodeId effect : run.from[region].effects) {
        const KernelNode& n = run.from[effect];
        queue.insert(queue.end(), n.args.begin(), n.args.end());
        if (n.op == KernelOp::For) return false;
        if (n.op == KernelOp::Branch)
            for (NodeId e : run.from[n.as<BodyAttr>().region].effects)
                queue.insert(queue.end(), run.from[e].args.begin(), run.from[e].args.end());
    }
    ByNode<bool> seen(run.from.nodes.size());
    while (!queue.empty()) {
        const NodeId id = queue.back();
        queue.pop_back();
        const std::vector<RegionId>& needs = run.needs[id];
        if (seen[id] || std::find(needs.begin(), needs.end(), region) == needs.end()) continue;
        seen[id] = true;
        if (run.from[id].op == KernelOp::For) return false;
        for (NodeId arg : run.from[id].args) queue.push_back(arg);
    }
    return true;
}

std::vector<Part> deal_loop(MappingRun& run, NodeId loop, NodeId extent, int64_t unrolled) {
    const Range& range = run.from[run.from[run.from[loop].as<BodyAttr>().region].range];
    const int64_t lanes = is_split(run, loop) ? run.mapping.lanes : 1;
    const Deal deal = deal_iterations(run.b, range, extent, unrolled, lanes,
                                      !rules_of(run.profile).lanes_load_together, one_row(run));
    return parts_of(run.b, range, extent, deal, run.lane);
}

std::vector<Part> parts_of_loop(MappingRun& run, NodeId loop, size_t copy) {
    const RegionId region = run.from[loop].as<BodyAttr>().region;
    const KernelRegion& body = run.from[region];
    const NodeId extent = copy_value(run, run.from[body.range].extent_node, copy);
    const bool unrolls = !body.alive && is_innermost(run, region);
    int64_t unrolled = unrolls ? run.mapping.unroll : 1;
    if (unrolls && !is_split(run, loop) && run.b.is_constant(extent)) {
        const int64_t trips = run.b.node(extent).as<Scalar>().i;
        const double written_out =
            static_cast<double>(trips * run.mapping.copies()) * run.operations[region];
        if (trips <= run.mapping.written_out || written_out <= costs::kLoopInBody)
            unrolled = std::max(unrolled, trips);
    }
    return deal_loop(run, loop, extent, unrolled);
}

}  // namespace firn
