// The step `whole`: short innermost loops are unrolled as a whole.
#include "compiler/mapping/choice.h"
#include "compiler/mapping/steps.h"

namespace firn {
namespace {

void choose(Choice& c) {
    if (!c.traits.plain() || !c.traits.loops) return;
    while (c.m.written_out < costs::kShortLoop &&
           c.nodes * (c.m.written_out + 1) <= c.traits.bearable(costs::kWholeBudget))
        ++c.m.written_out;
}

}  // namespace

const StepRules mapping_step::whole{.choose = choose};

}  // namespace firn
