// Cuts a list of steps into kernels that one group runs in order.
#include "compiler/mapping/list/sequence_cuts.h"

#include <algorithm>
#include <limits>

namespace firn {
namespace {

/// The best of all ways up to a step that is alone, or in a kernel that the next may join.
struct Best {
    double alone = std::numeric_limits<double>::infinity(),
           joined = std::numeric_limits<double>::infinity();
    bool joins = false;  // of `joined`: the kernel has the step before, too
    double least() const { return std::min(alone, joined); }
};

}  // namespace

SequenceCuts cheapest_cuts(std::span<const CutStep> steps, double launch) {
    std::vector<Best> best(steps.size());
    Best before;
    before.alone = 0;
    for (size_t k = 0; k < steps.size(); before = best[k++]) {
        best[k].alone = before.least() + steps[k].alone;
        if (!steps[k].may_join) continue;
        best[k].joins = before.joined <= before.least() + launch;
        best[k].joined =
            (best[k].joins ? before.joined : before.least() + launch) + steps[k].joined;
    }
    SequenceCuts out;
    out.seconds = before.least();
    for (size_t end = steps.size(); end > 0;) {
        out.ends.push_back(end--);
        if (best[end].joined <= best[end].alone)
            while (best[end].joins) --end;
    }
    std::reverse(out.ends.begin(), out.ends.end());
    return out;
}

}  // namespace firn
