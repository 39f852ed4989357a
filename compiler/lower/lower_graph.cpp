// Stage 4: values in memory get buffers, and kernels that compute them.
#include "compiler/lower/lower_graph.h"

#include <set>
#include <utility>

#include "compiler/lower/lower_run.h"
#include "compiler/lower/lower_steps.h"
#include "compiler/lower/value_buffers.h"

namespace firn {
namespace {

/// The program's arguments, with their buffers.
void add_arguments(LowerRun& run) {
    Program& program = *run.program;
    for (const Ref& arg : run.graph.args) {
        ArgumentInfo info;
        info.name = "argument " + std::to_string(program.arguments.size());
        info.dtype = arg->dtype;
        info.shape = largest(arg->shape);
        info.scalar = arg->as<InputAttr>().scalar;
        if (!info.scalar) {
            info.buffer = add_buffer(run, info.name, arg->dtype, info.shape);
            program.buffers.back().role = BufferRole::Argument;
            run.context.buffers[arg.get()] = info.buffer;
        }
        program.arguments.push_back(std::move(info));
    }
}

void add_host_numbers(LowerRun& run) {
    run.program->host_scalars = run.schedule.numbers.scalars;
    for (const auto& [node, place] : run.schedule.numbers.place)
        run.context.host_numbers[node] = static_cast<int>(run.program->arguments.size()) + place;
}

/// Every result in a buffer of its own; the values of data symbols first.
void add_results(LowerRun& run, std::vector<ListedStep>& steps) {
    Program& program = *run.program;
    const std::vector<Ref>& values = run.graph.results;
    const auto role = [&](int buffer) -> BufferRole& {
        return program.buffers[static_cast<size_t>(buffer)].role;
    };
    std::set<int> taken;
    for (const Size& size : run.graph.data_sizes) {
        const int buffer = run.context.buffers.at(values[program.results.size()].get());
        // A count that was an argument is returned unchanged.
        if (role(buffer) == BufferRole::Temporary && taken.insert(buffer).second)
            role(buffer) = BufferRole::Result;
        program.results.push_back({i32, {}, buffer});
        program.data_sizes.push_back({size, buffer});
    }
    for (size_t k = program.results.size(); k < values.size(); ++k) {
        const Ref& r = values[k];
        int buffer = run.context.buffers.at(r.get());
        if (role(buffer) != BufferRole::Temporary || !taken.insert(buffer).second) {
            const int copy = add_buffer(run, "result", r->dtype, r->shape);
            steps.emplace_back().step = CopyStep{buffer, copy};
            buffer = copy;
        }
        role(buffer) = BufferRole::Result;
        program.results.push_back({r->dtype, r->shape, buffer});
    }
}

}  // namespace

KernelList lower_graph(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    LowerRun run(graph, schedule, profile, facts);
    run.program->guards = graph.guards;
    add_arguments(run);
    add_host_numbers(run);
    KernelList out{run.program, steps_of(run, schedule.items, {graph.data_sizes, graph.results})};
    add_results(run, out.steps);
    return out;
}

}  // namespace firn
