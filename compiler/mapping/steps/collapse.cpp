// The step `collapse`: runs nests of loops as one if they only pass on their carried values.
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/collapse_nests.h"

namespace firn {
namespace {

void choose(Choice& c) {
    c.m.collapsed_nests = collapses_nests(c.ready, c.profile, c.carried, c.m.unroll);
}

void vary(Variations& v) {
    if (v.loops) v.with([](Mapping& m) { m.collapsed_nests = !m.collapsed_nests; });
}

}  // namespace

const StepRules mapping_step::collapse{.choose = choose, .vary = vary};

}  // namespace firn
