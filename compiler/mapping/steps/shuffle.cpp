// The step `shuffle`: elements that all lanes of a subgroup read are loaded by one lane each, and
// shuffled to the others.
#include "compiler/kernel/strides.h"
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/shuffle_loads.h"

namespace firn {
namespace {

std::string why_not(const MappingCase& of) {
    const Mapping& m = of.mapping;
    if (m.shuffled_loads != of.profile.subgroup_size || m.group.x % m.shuffled_loads != 0)
        return "the group's rows are no whole subgroups of " +
               std::to_string(of.profile.subgroup_size);
    return m.group.x * m.group.y <= of.profile.max_group_extent[0]
               ? ""
               : "the device launches no row of so many invocations";
}

void choose(Choice& c) {
    const int64_t lanes = c.profile.subgroup_size;
    if (!c.rules().shuffles_loads || !lanes_share(c.profile) || c.m.group.x % lanes != 0) return;
    const bool all_lanes =
        c.nodes * lanes <= c.traits.body_budget(costs::kDealtBudget) && c.may_hand_round();
    if (all_lanes) c.m.unroll = lanes;
    if (all_lanes || c.dealt_copies) c.m.shuffled_loads = c.profile.subgroup_size;
}

void vary(Variations& v) {
    if (!v.loops || !lanes_share(v.profile)) return;
    const uint32_t lanes = v.profile.subgroup_size;
    v.with([&](Mapping& m) {
        m.shuffled_loads = m.shuffled_loads > 1 ? 1 : lanes;
        drop(m, {"stage"});
    });
    v.with([&](Mapping& m) {
        m.shuffled_loads = m.unroll = lanes;
        drop(m, {"stage"});
    });
}

void finish(KernelCode& code, const KernelTarget& target) {
    undo_underused_shuffles(code, target.mapping->shuffled_loads);
}

}  // namespace

const StepRules mapping_step::shuffle{
    .excludes = "stage", .why_not = why_not, .choose = choose, .vary = vary, .finish = finish};

}  // namespace firn
