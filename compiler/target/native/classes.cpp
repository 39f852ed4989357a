// The best form of kernels in native code. Most values are those of a Vulkan driver for the CPU,
// whose machine is the same; they are not measured for this target.
#include "compiler/target/native/classes.h"

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

const ClassRules kNative{.subgroups_run_serially = true,
                         .masked = true,
                         .stages_loads = false,
                         .loads_narrow = false,
                         .fuses_products = true,
                         .keeps_order = false,
                         .unrolls_on = false,
                         .dislikes_else = false,
                         .most_own = 0,
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
                         .store_operations = 0,
                         .atomic_operations = costs::kAtomicOnCpu,
                         .barrier_of_launch = costs::kBarrierOnCpu};

}  // namespace

const ClassRules& native_rules(const DeviceProfile&) { return kNative; }

}  // namespace firn
