// Makes a program whose loops take one iteration, to find facts for any number of iterations.
#include <algorithm>
#include <numeric>

#include "compiler/program/hazards.h"
#include "compiler/program/walk_steps.h"

namespace firn {
namespace {

void add_outline(const Program& program, const std::vector<Step>& steps, Hazards& hazards,
                 FlatProgram& out) {
    for (const Step& step : steps) {
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
            const size_t loop = out.loops.size();
            out.loops.push_back({out.steps.size(), 0});
            add_outline(program, repeat->body, hazards, out);
            out.loops[loop].last = out.steps.size();
            continue;
        }
        FlatStep flat;
        std::vector<int> reads, writes;
        if ((flat.copy = std::get_if<CopyStep>(&step.step))) {
            reads = {flat.copy->source}, writes = {flat.copy->target};
            flat.slots = {flat.copy->source, flat.copy->target};
        } else if ((flat.call = std::get_if<CallStep>(&step.step))) {
            reads = {flat.call->input}, writes = {flat.call->output};
            flat.slots = {flat.call->input, flat.call->output};
        } else {
            flat.dispatch = &std::get<DispatchStep>(step.step);
            flat.slots = flat.dispatch->buffers;
            const KernelInfo& kernel = program.kernels[static_cast<size_t>(flat.dispatch->kernel)];
            for (size_t k = 0; k < flat.slots.size(); ++k)
                (kernel.bindings[k].written ? writes : reads).push_back(flat.slots[k]);
        }
        flat.barrier_before = hazards.step(reads, writes);
        out.steps.push_back(std::move(flat));
    }
}

void join_rotations(const std::vector<Step>& steps, std::vector<int>& classes) {
    const auto root = [&](int buffer) {
        while (classes[static_cast<size_t>(buffer)] != buffer)
            buffer = classes[static_cast<size_t>(buffer)];
        return buffer;
    };
    for (const Step& step : steps) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        if (!repeat) continue;
        for (const auto& [first, second] : repeat->rotation) {
            const auto [a, b] = std::minmax({root(first), root(second)});
            classes[static_cast<size_t>(b)] = a;
        }
        join_rotations(repeat->body, classes);
    }
}

}  // namespace

FlatProgram outline(const Program& program) {
    FlatProgram out;
    const SlotSets apart;
    Hazards hazards(program.buffers.size(), apart);
    add_outline(program, program.steps, hazards, out);
    for (const ResultInfo& result : program.results) out.result_slots.push_back(result.buffer);
    return out;
}

std::vector<int> rotation_classes(const Program& program) {
    std::vector<int> classes(program.buffers.size());
    std::iota(classes.begin(), classes.end(), 0);
    join_rotations(program.steps, classes);
    // The root of each is its smallest member, and comes first.
    for (int& at : classes) at = classes[static_cast<size_t>(at)];
    return classes;
}

}  // namespace firn
