// Cuts a list of steps into kernels that one group runs in order.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace firn {

/// The cost of a step beyond its time on all cores, in seconds.
struct CutStep {
    bool may_join = false;  // one kernel may take it with the steps beside it
    double alone = 0;       // as steps of its own: their launches
    double joined = 0;      // in such a kernel: the extra time of one group over all cores
};

struct SequenceCuts {
    std::vector<size_t> ends;  // of the runs of steps; one of several steps is one kernel
    double seconds = 0;        // of all
};

/// Returns the cuts of least cost, if each kernel costs a launch. A step that is slow on one group
/// may still stand in a kernel if that saves more launches of its neighbours. Linear in the steps.
SequenceCuts cheapest_cuts(std::span<const CutStep> steps, double launch);

}  // namespace firn
