// The state of one run of make_plan(), over which the functions that build its program work.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/kernel/structure.h"
#include "compiler/lower/walk.h"
#include "compiler/mapping/map.h"
#include "compiler/plan/compile_options.h"
#include "compiler/plan/plan_sizes.h"
#include "compiler/program/program.h"
#include "compiler/schedule/regions.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// What passes made of a kernel, where somebody asks for it.
using KernelTrail = std::vector<CompileTrace::Pass>;

/// What is kept for a kernel, as the heuristics map it.
struct KernelTuning {
    std::string key;
    std::optional<Mapping> found;
};

/// A kernel that was emitted, and where it stands in the program.
struct KnownKernel {
    KernelInfo info;                     // without what the program says of it
    int place = -1;                      // -1: the program has it in another mapping
    std::optional<KernelTuning> tuning;  // once somebody asks
};

/// Small kernels that wait for others to stand beside: Ready, independent of each other.
struct WaitingKernels {
    std::vector<KernelCode> codes;
    std::vector<Ref> outputs;
    KernelTrail trail;
};

struct PlanRun {
    PlanRun(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
            const CompileOptions& options, CompileTimes& times);
    PlanRun(const PlanRun&) = delete;
    PlanRun& operator=(const PlanRun&) = delete;

    // What is planned, and how.
    const Graph& graph;
    const Schedule& schedule;
    const DeviceProfile& profile;
    const CompileOptions& options;
    CompileTimes& times;

    // What is known of the graph.
    std::unordered_map<const Node*, int> uses;
    std::unordered_map<const Node*, std::vector<Ref>> results_of;  // by loop
    std::optional<RegionFacts> regions;                            // once somebody asks: regions_of

    // The program that is built.
    std::shared_ptr<Program> program;
    PlannedSizes sizes;
    LowerContext context;  // with the buffer of every value that has one
    std::unordered_map<KernelStructure, KnownKernel, KernelStructureHash> kernels;
    int loops = 0;

    // Where building stands.
    WaitingKernels waiting;
    KernelTrail trail;  // of the kernel that is made now
};

const RegionFacts& regions_of(PlanRun& run);

/// The user's line of a value, empty where there is none.
std::string first_line(const Node& node);
/// The same as the end of a message.
std::string at_line(const Node& node);

}  // namespace firn
