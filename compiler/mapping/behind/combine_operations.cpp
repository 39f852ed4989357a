// Replaces several operations by one that does their work.
#include "compiler/mapping/behind/combine_operations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/kernel/float_bounds.h"

namespace firn {
namespace {

using Nodes = ByNode<KernelNode>;

/// Counts, by node, how often its value is used.
ByNode<int> count_uses(const KernelCode& code) {
    ByNode<int> out(code.nodes.size());
    for (const KernelRegion& region : code.regions) {
        for (const std::vector<NodeId>* list : {&region.order, &region.effects})
            for (NodeId id : *list)
                for (NodeId arg : code[id].args) ++out[arg];
        for (NodeId id : region.yields) ++out[id];
        if (region.alive) ++out[region.alive];
        if (region.range && code[region.range].extent_node) ++out[code[region.range].extent_node];
    }
    return out;
}

void combine_tanh(Nodes& nodes, KernelNode& n, const ByNode<int>& uses) {
    if (n.op != KernelOp::Add || n.dtype != f32) return;
    for (size_t k = 0; k < 2; ++k) {
        const KernelNode &one = nodes[n.args[1 - k]], &tanh = nodes[n.args[k]];
        if (one.op != KernelOp::Constant || one.as<Scalar>().f != 1 || tanh.op != KernelOp::Tanh ||
            uses[n.args[k]] != 1)
            continue;
        n.op = KernelOp::OnePlusTanh, n.args = {tanh.args[0]};
        return;
    }
}

void combine_range_test(Nodes& nodes, KernelNode& n) {
    if (n.op != KernelOp::And || n.dtype != boolean) return;
    for (size_t k = 0; k < 2; ++k) {
        const KernelNode &low = nodes[n.args[k]], &high = nodes[n.args[1 - k]];
        if (low.op != KernelOp::LessEqual || high.op != KernelOp::Less ||
            low.args[1] != high.args[0])
            continue;
        const KernelNode &zero = nodes[low.args[0]], &end = nodes[high.args[1]];
        if (zero.op != KernelOp::Constant || zero.dtype != i32 || zero.as<Scalar>().i != 0 ||
            end.interval.lo < 0)
            continue;
        n.op = KernelOp::InRange, n.args = {high.args[0], high.args[1]};
        return;
    }
}

/// Rewrites a quotient of a non-negative value by 1 << s as a shift, and its remainder as a mask of
/// the bits below. The divisor may be the sign bit alone, which is larger than every such number.
void combine_power_of_two(Nodes& nodes, KernelNode& n) {
    if ((n.op != KernelOp::Div && n.op != KernelOp::Mod) || (n.dtype != i32 && n.dtype != u32))
        return;
    const KernelNode &x = nodes[n.args[0]], &power = nodes[n.args[1]];
    if (power.op != KernelOp::ShiftLeft || (n.dtype == i32 && x.interval.lo < 0)) return;
    const KernelNode& one = nodes[power.args[0]];
    if (one.op != KernelOp::Constant || one.as<Scalar>().i != 1) return;
    if (n.op == KernelOp::Div)
        n.op = KernelOp::ShiftRight, n.args[1] = power.args[1];
    else
        n.op = KernelOp::LowBits;
}

/// The bound |x| <= 1e5 for sines of small angles, less a thousandth: rounding is far below that.
constexpr double kMostSmallAngle = 0.999e5;

/// Uses the functions for large arguments only where they are possible, because a CPU driver
/// computes both forms for all lanes.
void find_small_angles(FloatRanges& ranges, KernelNode& n) {
    if (n.dtype != f32) return;
    const KernelOp of_few = n.op == KernelOp::Sin   ? KernelOp::SinOfFew
                            : n.op == KernelOp::Cos ? KernelOp::CosOfFew
                            : n.op == KernelOp::Tan ? KernelOp::TanOfFew
                                                    : n.op;
    if (of_few == n.op) return;
    const FloatBounds x = ranges.of(n.args[0]);
    if (x.lo >= -kMostSmallAngle && x.hi <= kMostSmallAngle) n.op = of_few;
}

/// Removes the comparisons, tanhs and powers that have no use any more.
void drop_unused(KernelCode& code, const ByNode<int>& before) {
    const ByNode<int> now = count_uses(code);
    for (KernelRegion& region : code.regions)
        std::erase_if(region.order, [&](NodeId id) { return before[id] > 0 && now[id] == 0; });
}

}  // namespace

void combine_operations(KernelCode& code) {
    const ByNode<int> uses = count_uses(code);
    FloatRanges ranges(code);
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order) {
            find_small_angles(ranges, code[id]);
            combine_tanh(code.nodes, code[id], uses);
            combine_range_test(code.nodes, code[id]);
            combine_power_of_two(code.nodes, code[id]);
        }
    drop_unused(code, uses);
}

}  // namespace firn
