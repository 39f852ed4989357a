// Stage 7: a list of finished kernels becomes a Program.
#pragma once
#include <memory>
#include <vector>

#include "compiler/kernel/kernel_list.h"
#include "compiler/plan/compile_options.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Makes the list's program, which computes `graph`, with its steps, its kernels (equal ones once)
/// and their descriptions. Throws UserError if a kernel cannot run within the profile's limits.
std::shared_ptr<Program> make_plan(KernelList list, const Graph& graph,
                                   const std::vector<ValueVerdict>& verdicts,
                                   const DeviceProfile& profile, const CompileOptions& options);

}  // namespace firn
