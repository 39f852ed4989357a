// The best form of kernels in native code. Most values are those of a Vulkan driver for the CPU,
// whose machine is the same; they are not measured for this target.
#include "compiler/target/native/classes.h"

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The rules of a processor with so many registers of vectors, of which one in eight holds
/// operands. `fuses`: it multiplies and adds in one operation.
ClassRules native(int64_t registers, bool fuses) {
    return {.subgroups_run_serially = true,
            .groups_run_alone = true,
            .masked = true,
            .stages_loads = false,
            .loads_narrow = false,
            .shuffles_loads = false,
            .lanes_load_together = true,
            .packs_operands = true,
            .fuses_products = fuses,
            .most_carried = registers - registers / 8,
            .keeps_order = false,
            .unrolls_on = false,
            .dislikes_else = false,
            .most_long_divisions = 0,
            .most_own = 0,
            .least_share = 2,
            .small_share = 4096,
            .results = 16,
            .small_kernel = 16384,
            .waves = 1,
            .waves_of_loops = 8,
            .waves_of_shared = 16,
            .groups_per_core = 8,
            .sharing_subgroups = 8,
            .most_unrolled_shared = 8,
            .wide_group = 64,
            .store_operations = 0,
            .atomic_operations = costs::kAtomicOnCpu,
            .barrier_of_launch = costs::kBarrierOnCpu};
}

const ClassRules kOf128 = native(16, false), kOf256 = native(16, true), kOf512 = native(32, true);

}  // namespace

// Processors have 32 registers of 512 bits, and 16 of fewer; x86 fuses products from AVX2 on.
const ClassRules& native_rules(const DeviceProfile& profile) {
    return profile.subgroup_size >= 16 ? kOf512 : profile.subgroup_size >= 8 ? kOf256 : kOf128;
}

}  // namespace firn
