// One iteration of a loop, while its body is built.
#include "compiler/mapping/walk/bound_iteration.h"

#include <algorithm>

#include "compiler/mapping/walk/mapping_run.h"

namespace firn {

BoundIteration::BoundIteration(MappingRun& run, RegionId region, std::span<const size_t> group,
                               NodeId index, std::span<const std::vector<NodeId>> carried)
    : run_(run), region_(region), group_(group.begin(), group.end()) {
    for (size_t g = 0; g < group_.size(); ++g) bind(group_[g], index, carried[g]);
}

BoundIteration::~BoundIteration() {
    for (size_t copy : group_) forget(copy);
}

void BoundIteration::bind(size_t copy, NodeId index, const std::vector<NodeId>& carried) {
    const KernelRegion& body = run_.from[region_];
    for (NodeId id : run_.from.nodes.ids())
        if (const auto* range = run_.from[id].get_if<RangeId>(); range && *range == body.range)
            run_.memo[copy][id] = index;
    if (run_.tile.arrays && region_ == run_.tile.region)
        run_.tile.iteration = run_.b.sub(index, run_.tile.start);
    for (size_t k = 0; k < body.args.size(); ++k) run_.memo[copy][body.args[k]] = carried[k];
}

void BoundIteration::forget(size_t copy) {
    for (NodeId id : run_.from.nodes.ids()) {
        const std::vector<RegionId>& needs = run_.needs[id];
        if (std::find(needs.begin(), needs.end(), region_) == needs.end()) continue;
        run_.memo[copy][id] = {};
        if (run_.from[id].op == KernelOp::For) run_.results.erase({id, copy});
    }
}

}  // namespace firn
