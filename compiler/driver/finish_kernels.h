// Stages 4 to 6 for all kernels of a program: the table of passes over their list.
#pragma once
#include <span>

#include "compiler/driver/excess_work.h"
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/list_passes.h"
#include "compiler/plan/compile_options.h"
#include "compiler/plan/emit_kernels.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// What the passes work for, and what has been emitted so far.
struct FinishRun {
    ListTarget target;
    const CompileOptions& options;
    const Graph& graph;
    const Schedule& schedule;
    EmittedKernels emitted;
    NodeSet excess;  // see find_excess()
    ExcessCensus census;
};

/// A row of the table: takes kernels of one stage, gives kernels of the same or the next.
struct ListPass {
    const char* name;
    KernelStage takes, gives;
    double CompileTimes::*time;  // what counts it
    void (*run)(KernelList&, FinishRun&);
    bool KernelSteps::*optional = nullptr;  // null: it is always run
};
/// In the order in which they run.
std::span<const ListPass> list_passes();

struct FinishedKernels {
    KernelList list;
    /// Values to keep in memory, see find_excess(). If there are any, the list is not finished.
    NodeSet excess;
    ExcessCensus census;
};
/// Every kernel of the schedule, Placed and emitted.
FinishedKernels finish_kernels(const Graph& graph, const Schedule& schedule,
                               const DeviceProfile& profile, const CompileOptions& options,
                               CompileTimes& times);

}  // namespace firn
