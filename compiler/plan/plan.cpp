// Stage 7: kernels and host steps become a Program.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/plan/dispatches.h"
#include "compiler/plan/plan_buffers.h"
#include "compiler/plan/plan_results.h"
#include "compiler/plan/plan_run.h"
#include "compiler/plan/plan_sequences.h"
#include "compiler/plan/plan_steps.h"
#include "compiler/plan/reuse_arguments.h"

namespace firn {
namespace {

/// Kernels are numbered as the program has them now, in the trace too.
void number_kernels(PlanRun& run) {
    std::map<std::string, std::string> renamed;
    for (size_t k = 0; k < run.program->kernels.size(); ++k) {
        std::string& name = run.program->kernels[k].name;
        const std::string before = name;
        name = "k" + std::to_string(k) + name.substr(std::min(name.find(' '), name.size()));
        renamed[before] = name;
    }
    if (!run.options.trace) return;
    for (CompileTrace::Kernel& kernel : run.options.trace->kernels) {
        const auto now = renamed.find(kernel.name);
        kernel.name = now == renamed.end() ? "part of a sequence, " + kernel.name : now->second;
    }
}

void put_steps_in_sequence(PlanRun& run) {
    put_in_sequence(*run.program, run.profile, run.options.facts,
                    [&](KernelCode code, const std::vector<std::string>& lines, const Work& work) {
                        verify(code, KernelStage::Placed, "in_sequence");
                        run.trail.clear();
                        note_pass(run, {"in_sequence"}, code);
                        return Step{dispatch_of(run, std::move(code), work,
                                                "one group, kernels in sequence", lines)};
                    });
    number_kernels(run);
}

void make_program(PlanRun& run) {
    Program& program = *run.program;
    if (run.options.trace) run.options.trace->kernels.clear();  // of an earlier try
    program.name = run.options.name;
    program.profile = run.profile;
    program.guards = run.graph.guards;
    add_arguments(run);
    program.host_scalars = run.schedule.numbers.scalars;
    for (const auto& [node, place] : run.schedule.numbers.place)
        run.context.host_numbers[node] = static_cast<int>(program.arguments.size()) + place;
    program.steps = steps_of(run, run.schedule.items);
    add_results(run);
    reuse_arguments(program, run.options.donated);
    if (run.options.steps.in_sequence) put_steps_in_sequence(run);
    for (size_t k = 0; k < program.data_sizes.size(); ++k)
        program.data_sizes[k].buffer = program.results[k].buffer;
    if (run.options.facts.bindable) note_assumed(run);
    add_verdicts(run);
}

}  // namespace

std::shared_ptr<Program> make_plan(const Graph& graph, const Schedule& schedule,
                                   const DeviceProfile& profile, const CompileOptions& options,
                                   CompileTimes& times) {
    PlanRun run(graph, schedule, profile, options, times);
    try {
        make_program(run);
    } catch (...) {
        // What the kernel was that could not be made.
        if (options.trace && !run.trail.empty())
            options.trace->kernels.push_back({"unfinished", std::move(run.trail)});
        throw;
    }
    return run.program;
}

}  // namespace firn
