// Runs the kernel code that defines a function on the lanes of its arguments.
#include "compiler/kernel/interpret/interpret_functions.h"

#include <memory>
#include <utility>
#include <vector>

#include "compiler/kernel/functions/functions.h"
#include "compiler/kernel/interpret/interpret_regions.h"
#include "compiler/kernel/interpret/interpret_values.h"

namespace firn {

/// A function with memory for its values, used again by each node that calls it.
struct FunctionRun {
    explicit FunctionRun(const KernelFunction& function, int lanes)
        : code(function_code(function)),
          params(code.params.size()),
          run{code, none, params, env, 1} {
        run.lanes = lanes;
        place_values(run);
        arguments.resize(params.size());
        for (NodeId id : code.nodes.ids())
            if (code[id].op == KernelOp::Param)
                arguments[static_cast<size_t>(code[id].as<ParamAttr>().param)] = {
                    id, run.values[id].data};
        value = code[code[kRoot].effects[0]].args[1];
    }

    const KernelCode& code;
    std::vector<std::span<std::byte>> none;
    std::vector<Scalar> params;
    SizeEnv env;
    InterpretRun run;
    std::vector<std::pair<NodeId, std::byte*>> arguments;  // nodes, and memory of their own
    NodeId value;
};

namespace {

FunctionRun& function_run(InterpretRun& run, const KernelFunction& function) {
    std::shared_ptr<FunctionRun>& made = run.functions[&function];
    if (!made) made = std::make_shared<FunctionRun>(function, run.lanes);
    return *made;
}

void widen(const Lanes& to, const Lanes& half, int lanes) {
    for (int lane = 0; lane < lanes; ++lane)
        to.floats()[lane] = static_cast<float>(half.scalars()[lane].f);
}

void round_to(const Lanes& half, const Lanes& from, const LaneMask& mask) {
    for (int lane = 0; lane < static_cast<int>(mask.on.size()); ++lane)
        if (mask.on[static_cast<size_t>(lane)])
            set_lane(half, lane, scalar_float(double{from.floats()[lane]}, half.dtype));
}

}  // namespace

bool run_function(InterpretRun& run, NodeId id, const LaneMask& mask) {
    if (run.function_values == FunctionValues::OfHost) return false;
    const KernelNode& n = run.code[id];
    const bool half = n.dtype.is_half();
    const KernelFunction* function = find_kernel_function(n.op, half ? f32 : n.dtype);
    if (!function) return false;
    FunctionRun& called = function_run(run, *function);
    for (size_t k = 0; k < n.args.size(); ++k) {
        const auto& [argument, own] = called.arguments[k];
        const Lanes& given = run.values[n.args[k]];
        Lanes& taken = called.run.values[argument];
        taken.data = half ? own : given.data;
        if (half) widen(taken, given, run.lanes);
    }
    for (NodeId inner : called.code[kRoot].order) run_node(called.run, inner, mask);
    const Lanes& value = called.run.values[called.value];
    const Lanes& target = run.values[id];
    if (half)
        round_to(target, value, mask);
    else
        copy_lanes(target, value, mask);
    run.counts.operations += mask.active;
    return true;
}

}  // namespace firn
