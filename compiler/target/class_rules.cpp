// The best form of kernels for each class of devices.
#include "compiler/target/class_rules.h"

#include <algorithm>
#include <bit>

#include "compiler/target/cost_table.h"
#include "compiler/target/target.h"

namespace firn {

const ClassRules& rules_of(const DeviceProfile& profile) {
    return target_of(profile).rules(profile);
}

std::vector<uint32_t> one_group_sizes(const DeviceProfile& profile) {
    const ClassRules& rules = rules_of(profile);
    const uint32_t wide = rules.subgroups_run_serially ? profile.subgroup_size : rules.wide_group,
                   rows = std::clamp<uint32_t>(profile.max_group_size / wide, 1,
                                               costs::kRowsOfOneGroup),
                   large = wide * std::bit_floor(rows);
    if (rules.subgroups_run_serially && large > wide) return {wide, large};
    return {large};
}

double groups_at_once(const DeviceProfile& profile) {
    return std::max(1.0, profile.parallel_invocations / double(one_group_sizes(profile)[0]));
}

}  // namespace firn
