// What the values of straight code take in a core of a CPU.
#include "compiler/mapping/core_work.h"

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/program/cost_table.h"

namespace firn {

double core_work(const KernelNode& n) {
    if (n.op == KernelOp::Load) return costs::kLoadWork * n.width;
    if (n.op == KernelOp::Cast) return costs::kCastWork;
    return std::max(1.0, operation_cost(n.op));
}

double core_latency(const KernelNode& n) {
    if (n.op == KernelOp::Load) return costs::kLoadCycles;
    if (n.op == KernelOp::Cast) return costs::kCastCycles;
    const double cost = operation_cost(n.op);
    return cost > 8 ? costs::kDearCycles : cost > 1 ? costs::kMediumCycles : costs::kSimpleCycles;
}

bool may_move(const KernelNode& n) {
    return !n.pinned && (n.op == KernelOp::Load || n.op == KernelOp::Lane ||
                         n.op == KernelOp::SubgroupShuffle || is_elementwise(n.op));
}

}  // namespace firn
