// Intervals and congruences of integer nodes, from those of their operands.
#include "compiler/kernel/interval.h"

#include "compiler/ir/value_bounds.h"

namespace firn {
namespace {

Congruence congruence_of(const KernelCode& code, const KernelNode& n) {
    auto of = [&](size_t k) -> const Congruence& { return code.nodes[n.args[k]].congruence; };
    switch (n.op) {
        case KernelOp::Add: return of(0) + of(1);
        case KernelOp::Mul: return of(0) * of(1);
        case KernelOp::Min:
        case KernelOp::Max: return join(of(0), of(1));
        case KernelOp::Select: return join(of(1), of(2));
        default: return {};
    }
}

}  // namespace

void bound(const KernelCode& code, KernelNode& n) {
    std::vector<Interval> inputs;
    for (int arg : n.args) {
        const KernelNode& input = code.nodes[arg];
        inputs.push_back(input.dtype.is_bool() ? Interval{0, 1} : input.interval);
    }
    n.interval = interval_of(graph_op(n.op), inputs);
    n.congruence = congruence_of(code, n);
    if (contains(kAnyI32, n.interval)) return;
    n.interval = kAnyI32;
    n.congruence = wrapped(n.congruence);
}

}  // namespace firn
