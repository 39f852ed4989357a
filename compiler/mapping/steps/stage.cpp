// The step `stage`: operands that a group loads together into shared memory.
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/stage_loads.h"

namespace firn {
namespace {

void choose(Choice& c) {
    if (c.staged) c.m.staged_iterations = choose_staged_iterations(c.ready, c.m, c.profile);
}

void vary(Variations& v) {
    if (!v.loops || !rules_of(v.profile).stages_loads) return;
    for (int64_t iterations : {1, 8, 16, 32, 64, 256})
        v.with([&](Mapping& m) { m.staged_iterations = iterations; });
}

}  // namespace

const StepRules mapping_step::stage{.why_not = why_not_staged, .choose = choose, .vary = vary};

}  // namespace firn
