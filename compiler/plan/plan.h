// Stage 7: kernels and host steps become a Program.
#pragma once
#include <memory>

#include "compiler/ir/graph.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Lowers, maps and emits every kernel of the schedule, gives values their buffers, and orders the
/// steps. Kernels of equal structure (kernel/structure.h) are emitted once. Throws UserError where
/// a kernel cannot run within the profile's limits or a loop's bounds are not known to the host.
/// Adds to `times` what lowering, mapping and emitting took.
std::shared_ptr<Program> make_plan(const Graph& graph, const Schedule& schedule,
                                   const DeviceProfile& profile, const CompileOptions& options,
                                   CompileTimes& times);

}  // namespace firn
