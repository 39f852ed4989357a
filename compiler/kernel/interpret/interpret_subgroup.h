// Nodes by which the lanes of a subgroup exchange values, for the host interpreter.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// Visits the subgroups that run, by their first lane and the one behind their last. They are whole
/// ones, because a subgroup operation needs every lane.
template <class Visit>
void for_subgroups(const InterpretRun& run, const LaneMask& mask, Visit visit) {
    for (int begin = 0; begin < run.lanes; begin += run.subgroup) {
        const int end = std::min(begin + run.subgroup, run.lanes);
        const auto running = static_cast<int>(
            std::count(mask.on.begin() + begin, mask.on.begin() + end, uint8_t{1}));
        if (running == 0) continue;
        if (running != run.subgroup)
            fail(run, "a subgroup operation runs on " + std::to_string(running) + " of " +
                          std::to_string(run.subgroup) + " lanes");
        visit(begin, end);
    }
}

void run_shuffle(InterpretRun& run, NodeId id, const LaneMask& mask);
/// A SubgroupReduce, SubgroupScan or SubgroupRead. A reduction is a tree over exchanged lanes:
/// distances from half a subgroup down to 1.
void run_exchange(InterpretRun& run, NodeId id, const LaneMask& mask);

}  // namespace firn
