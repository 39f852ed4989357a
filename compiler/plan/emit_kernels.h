// The kernels of a list as the target makes them, and mappings that tuning found.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/kernel/kernel_list.h"
#include "compiler/kernel/structure.h"
#include "compiler/mapping/map.h"
#include "compiler/plan/compile_options.h"

namespace firn {

/// The tuning entry of a kernel, as the heuristics map it.
struct KernelTuning {
    std::string key;
    std::optional<Mapping> found;
};

/// Kernels that were emitted, by their structure (kernel/structure.h), which equal ones share.
struct EmittedKernel {
    std::shared_ptr<const KernelInfo> info;
    std::optional<KernelTuning> tuning;  // computed on demand
};
using EmittedKernels = std::unordered_map<KernelStructure, EmittedKernel, KernelStructureHash>;

/// Emits every kernel that is not yet, in the mapping that tuning found where it found one. Kernels
/// are Placed.
void emit_kernels(KernelList& list, EmittedKernels& emitted, const DeviceProfile& profile,
                  const CompileOptions& options);

}  // namespace firn
