// The best form of kernels in native code. Most values are those of a Vulkan driver for the CPU,
// whose machine is the same; they are not measured for this target.
#include "compiler/target/native/classes.h"

#include <vector>

#include "compiler/host/processor.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The rules of a processor. One register of vectors in eight holds operands.
ClassRules native(const VectorFacts& vectors) {
    const int64_t registers = vectors.registers;
    return {.subgroups_run_serially = true,
            .groups_run_alone = true,
            .masked = true,
            .stages_loads = false,
            .loads_narrow = false,
            .shuffles_loads = false,
            .lanes_load_together = true,
            .packs_operands = true,
            .fuses_products = vectors.fuses_products,
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
            .store_in_runs = costs::kStoreOnCpu,
            .atomic_operations = costs::kAtomicOnCpu,
            .barrier_of_launch = costs::kBarrierOnCpu};
}

/// Those of the table, in its order.
std::vector<ClassRules> all_rules() {
    std::vector<ClassRules> all;
    for (const NativeProcessor& processor : native_processors())
        all.push_back(native(processor.vectors));
    return all;
}

}  // namespace

const ClassRules& native_rules(const DeviceProfile& profile) {
    static const std::vector<ClassRules> rules = all_rules();
    return rules[static_cast<size_t>(&processor_of(profile) - native_processors().data())];
}

}  // namespace firn
