// The best form of kernels in GLSL, by the class of the device that runs them.
#include "compiler/target/glsl/classes.h"

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

// lavapipe compiles four in 0.4 s, eight in 2.6 s and sixteen in minutes. More are written out, and
// take all their steps for every quotient: 2^20 of f64 take 9 ms as loops and 88 so.
constexpr int64_t kMostLongDivisions = 4;

// A Vulkan driver for the CPU. Its lanes run under masks, and its compiler keeps the order of
// values and unrolls loops further than they are written. limits.md measures it: 3 (stores), 5
// (shared memory), 7 (loops), 9 (groups).
/// limits.md, matmul: of 4x4 and 8x8 sums 8x8 are faster; more than 72 were not measured.
constexpr int64_t kMostCarried = 72;

const ClassRules kMaskedLanes{.subgroups_run_serially = true,
                              .groups_run_alone = false,
                              .masked = true,
                              .stages_loads = false,
                              .loads_narrow = false,
                              .shuffles_loads = true,
                              .lanes_load_together = false,
                              .fuses_products = false,
                              .most_carried = kMostCarried,
                              .keeps_order = true,
                              .unrolls_on = true,
                              .dislikes_else = true,
                              .most_long_divisions = kMostLongDivisions,
                              .most_own = costs::kMostOwn,
                              .least_share = costs::kLeastShare,
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
                              .store_in_runs = costs::kStoreOnCpu,
                              .atomic_operations = costs::kAtomicOnCpu,
                              .barrier_of_launch = costs::kBarrierOnCpu};

// The same where tensors cannot be read through views. Not measured.
const ClassRules kMaskedLanesWithoutViews = [] {
    ClassRules rules = kMaskedLanes;
    rules.shuffles_loads = false;
    return rules;
}();

// A GPU of unknown make: the rules that suit most. Not measured.
const ClassRules kGpu{.subgroups_run_serially = false,
                      .groups_run_alone = false,
                      .masked = false,
                      .stages_loads = true,
                      .loads_narrow = true,
                      .shuffles_loads = false,
                      .lanes_load_together = false,
                      .fuses_products = false,
                      .most_carried = kMostCarried,
                      .keeps_order = false,
                      .unrolls_on = false,
                      .dislikes_else = false,
                      .most_long_divisions = kMostLongDivisions,
                      .most_own = 0,
                      .least_share = costs::kLeastShare,
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
                      .store_in_runs = 0,
                      .atomic_operations = 0,
                      .barrier_of_launch = costs::kBarrierOnGpu};

}  // namespace

const ClassRules& glsl_rules(const DeviceProfile& profile) {
    if (profile.device_class != DeviceClass::CpuDriver) return kGpu;
    return profile.view_loads ? kMaskedLanes : kMaskedLanesWithoutViews;
}

}  // namespace firn
