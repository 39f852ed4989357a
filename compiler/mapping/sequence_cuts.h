// Where a list of steps is cut into kernels that one group runs in order.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace firn {

/// A step by what it costs beyond what all cores take for it, in seconds.
struct CutStep {
    bool may_join = false;  // one kernel may take it with the steps beside it
    double alone = 0;       // as steps of its own: their launches
    double joined = 0;      // in such a kernel: what one group takes longer than all cores
};

struct SequenceCuts {
    std::vector<size_t> ends;  // of the runs of steps; one of several steps is one kernel
    double seconds = 0;        // of all
};

/// The cuts that cost least, where each kernel costs a launch: what one group takes long for stands
/// in a kernel all the same where its neighbours are worth more launches. Linear in the steps.
SequenceCuts cheapest_cuts(std::span<const CutStep> steps, double launch);

}  // namespace firn
