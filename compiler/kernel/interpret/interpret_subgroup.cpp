// Nodes by which the lanes of a subgroup exchange values, for the host interpreter.
#include "compiler/kernel/interpret/interpret_subgroup.h"

#include "compiler/ir/evaluate.h"

namespace firn {
namespace {

/// Returns the value of `n` in each lane of a subgroup. `own` are the lanes' operands, and `from`
/// the lanes that a SubgroupRead names.
std::vector<Scalar> exchanged(const KernelNode& n, const std::vector<Scalar>& own,
                              const int32_t* from, int subgroup) {
    std::vector<Scalar> values = own;
    const size_t count = own.size();
    if (n.op == KernelOp::SubgroupRead)
        for (size_t lane = 0; lane < count; ++lane)
            values[lane] = own[static_cast<uint32_t>(from[lane]) % count];
    if (n.op == KernelOp::SubgroupScan)
        for (size_t lane = 1; lane < count; ++lane)
            values[lane] = evaluate_reduce(n.as<ReduceOp>(), values[lane - 1], own[lane]);
    if (n.op != KernelOp::SubgroupReduce) return values;
    for (int distance = subgroup / 2; distance > 0; distance /= 2) {
        const std::vector<Scalar> before = values;
        for (size_t lane = 0; lane < count; ++lane)
            values[lane] = evaluate_reduce(n.as<ReduceOp>(), before[lane],
                                           before[lane ^ static_cast<size_t>(distance)]);
    }
    return values;
}

}  // namespace

void run_shuffle(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const Lanes& source = run.values[n.args[0]];
    for_subgroups(run, mask, [&](int begin, int end) {
        const Scalar value = get_lane(source, begin + n.as<LaneAttr>().lane);
        for (int lane = begin; lane < end; ++lane) set_lane(run.values[id], lane, value);
    });
}

void run_exchange(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const Lanes& source = run.values[n.args[0]];
    run.counts.operations += mask.active;
    for_subgroups(run, mask, [&](int begin, int end) {
        std::vector<Scalar> own;
        for (int lane = begin; lane < end; ++lane) own.push_back(get_lane(source, lane));
        const int32_t* from =
            n.op == KernelOp::SubgroupRead ? run.values[n.args[1]].words() + begin : nullptr;
        const std::vector<Scalar> values = exchanged(n, own, from, run.subgroup);
        for (int lane = begin; lane < end; ++lane)
            set_lane(run.values[id], lane, values[lane - begin]);
    });
}

}  // namespace firn
