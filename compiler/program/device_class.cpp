// The best form of kernels for each class of devices.
#include "compiler/program/device_class.h"

#include <algorithm>
#include <bit>

#include "compiler/program/cost_table.h"

namespace firn {
namespace {

// limits.md measures it: 3 (stores), 5 (shared memory), 7 (loops), 9 (groups).
constexpr ClassRules kCpu{.subgroups_run_serially = true,
                          .masked = true,
                          .stages_loads = false,
                          .loads_narrow = false,
                          .keeps_order = true,
                          .unrolls_on = true,
                          .dislikes_else = true,
                          .most_own = costs::kMostOwn,
                          .small_share = 4096,
                          .results = 16,
                          .small_kernel = 16384,
                          .waves = 1,
                          .waves_of_loops = 8,
                          .waves_of_shared = 16,
                          .groups_per_core = 8,
                          .sharing_subgroups = 8,
                          .most_unrolled_shared = 32,
                          .wide_group = 64,
                          .store_operations = costs::kStoreOnCpu,
                          .barrier_of_launch = costs::kBarrierOnCpu};

// A GPU of unknown make: the rules that suit most. Not measured.
constexpr ClassRules kGpu{.subgroups_run_serially = false,
                          .masked = false,
                          .stages_loads = true,
                          .loads_narrow = true,
                          .keeps_order = false,
                          .unrolls_on = false,
                          .dislikes_else = false,
                          .most_own = 0,
                          .small_share = 256,
                          .results = 4,
                          .small_kernel = 131072,
                          .waves = 4,
                          .waves_of_loops = 4,
                          .waves_of_shared = 1,
                          .groups_per_core = 1,
                          .sharing_subgroups = 4,
                          .most_unrolled_shared = costs::kMostUnrolled,
                          .wide_group = 32,
                          .store_operations = 0,
                          .barrier_of_launch = costs::kBarrierOnGpu};

}  // namespace

const ClassRules& rules_of(const DeviceProfile& profile) {
    switch (profile.device_class) {
        case DeviceClass::Cpu: return kCpu;
        case DeviceClass::Gpu: return kGpu;
    }
    return kGpu;
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
