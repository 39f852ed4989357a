// One iteration of a loop, while its body is built.
#include "compiler/mapping/walk/bound_iteration.h"

#include <algorithm>

#include "compiler/mapping/walk/mapping_run.h"

namespace firn {

BoundIteration::BoundIteration(MappingRun& run, int region, std::span<const size_t> group,
                               int index, std::span<const std::vector<int>> carried)
    : run_(run), region_(region), group_(group.begin(), group.end()) {
    for (size_t g = 0; g < group_.size(); ++g) bind(group_[g], index, carried[g]);
}

BoundIteration::~BoundIteration() {
    for (size_t copy : group_) forget(copy);
}

void BoundIteration::bind(size_t copy, int index, const std::vector<int>& carried) {
    const KernelRegion& body = run_.from.regions[region_];
    for (size_t id = 0; id < run_.from.nodes.size(); ++id)
        if (run_.from.nodes[id].op == KernelOp::Range && run_.from.nodes[id].range == body.range)
            run_.memo[copy][id] = index;
    if (run_.tile.arrays && region_ == run_.tile.region)
        run_.tile.iteration = run_.b.sub(index, run_.tile.start);
    for (size_t k = 0; k < body.args.size(); ++k) run_.memo[copy][body.args[k]] = carried[k];
}

void BoundIteration::forget(size_t copy) {
    for (size_t id = 0; id < run_.from.nodes.size(); ++id) {
        const std::vector<int>& needs = run_.needs[id];
        if (std::find(needs.begin(), needs.end(), region_) == needs.end()) continue;
        run_.memo[copy][id] = -1;
        if (run_.from.nodes[id].op == KernelOp::For)
            run_.results.erase({static_cast<int>(id), copy});
    }
}

}  // namespace firn
