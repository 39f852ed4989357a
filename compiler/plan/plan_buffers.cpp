// The buffers that the values of a program live in.
#include "compiler/plan/plan_buffers.h"

#include <utility>

namespace firn {
namespace {

int add_buffer(Program& program, const std::string& name, DType dtype, const Size& elements,
               BufferRole role) {
    BufferInfo info;
    info.name = name;
    info.dtype = dtype;
    info.elements = elements;
    info.role = role;
    program.buffers.push_back(std::move(info));
    return static_cast<int>(program.buffers.size()) - 1;
}

}  // namespace

int add_buffer(PlanRun& run, const std::string& name, DType dtype, const Size& elements) {
    return add_buffer(*run.program, name, dtype, elements, BufferRole::Temporary);
}

void add_arguments(PlanRun& run) {
    for (const Ref& arg : run.graph.args) {
        ArgumentInfo info;
        info.name = "argument " + std::to_string(run.program->arguments.size());
        info.dtype = arg->dtype;
        info.shape = largest(arg->shape);
        info.scalar = arg->as<InputAttr>().scalar;
        if (!info.scalar) {
            info.buffer = add_buffer(*run.program, info.name, arg->dtype, element_count(info.shape),
                                     BufferRole::Argument);
            run.context.buffers[arg.get()] = info.buffer;
        }
        run.program->arguments.push_back(std::move(info));
    }
}

int value_buffer(PlanRun& run, const Node& node) {
    auto [it, added] = run.context.buffers.emplace(&node, -1);
    if (added)
        it->second = add_buffer(run, std::string(info(node.op).name) + " " + first_line(node),
                                node.dtype, element_count(largest(node.shape)));
    return it->second;
}

bool made_in(PlanRun& run, const Node& value, const Node* loop) {
    const bool made =
        run.schedule.materialised.contains(&value) ||
        (value.op == Op::Result && run.schedule.host_loops.contains(value.inputs[0].get()));
    return made && home_loop(regions_of(run), value) == loop;
}

bool may_write_over(PlanRun& run, const Node& old, const Node& user) {
    if (run.uses[&old] != 1) return false;
    const RegionFacts& regions = regions_of(run);
    const Node* loop = home_loop(regions, user);
    return old.op == Op::RegionArg ? regions.arg_owner.at(&old) == loop : made_in(run, old, loop);
}

int version_buffer(PlanRun& run, const Node& version, const Node& old, int from,
                   std::vector<Step>& out) {
    if (may_write_over(run, old, version)) return run.context.buffers[&version] = from;
    const int to = value_buffer(run, version);
    out.push_back({CopyStep{from, to}});
    return to;
}

}  // namespace firn
