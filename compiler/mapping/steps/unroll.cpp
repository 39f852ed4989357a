// The step `unroll`: copies of an innermost loop's body.
#include "compiler/kernel/strides.h"
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"

namespace firn {
namespace {

void choose(Choice& c) {
    if (!c.traits.loops) return;
    // Iterations that read far apart: more at once only spill.
    // An iteration that one lane takes, all do.
    const bool few =
        c.rules().subgroups_run_serially && (c.traits.unlike_rows || strides_far(c.ready));
    const int64_t most = c.columns ? costs::kFarIterations / 2
                         : few     ? costs::kFarIterations
                                   : costs::kMostUnrolled;
    for (int64_t f = costs::kMostUnrolled; f > 1; f /= 2)
        if (c.m.unroll == 1 && f <= most && c.nodes * f <= c.traits.body_budget(costs::kLoopBudget))
            c.m.unroll = f;
}

void vary(Variations& v) {
    if (!v.loops) return;
    for (int64_t unroll : {1, 2, 4, 8, 16, 32}) v.with([&](Mapping& m) { m.unroll = unroll; });
}

}  // namespace

const StepRules mapping_step::unroll{.choose = choose, .vary = vary};

}  // namespace firn
