// Stages 4 to 6 for all kernels of a program: the table of passes over their list.
#pragma once
#include <span>

#include "compiler/driver/excess_work.h"
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/plan/compile_options.h"
#include "compiler/plan/emit_kernels.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// The target of the passes, and what has been emitted so far.
struct FinishRun {
    ListTarget target;
    const CompileOptions& options;
    const Graph& graph;
    const Schedule& schedule;
    EmittedKernels emitted;
    Excess excess;  // see find_excess()
    ExcessCensus census;
};

/// One row of the table: a pass that takes kernels of one stage and leaves them in the same stage
/// or the next.
struct ListPass {
    PassInfo info;
    KernelStage takes, gives;
    double CompileTimes::*time;  // where its time is counted
    void (*run)(KernelList&, FinishRun&);
};
/// Returns the passes in the order in which they run.
std::span<const ListPass> list_passes();

struct FinishedKernels {
    KernelList list;
    /// The values and loops to cut, see find_excess(). If there are any, the list is unfinished.
    Excess excess;
    ExcessCensus census;
};
/// Lowers every kernel of the schedule and runs the passes, until each is Placed and emitted.
FinishedKernels finish_kernels(const Graph& graph, const Schedule& schedule,
                               const DeviceProfile& profile, const CompileOptions& options,
                               CompileTimes& times);

}  // namespace firn
