// Finds the values of a kernel that differ from lane to lane: the least set that is closed under
// the rules.
#include "compiler/target/native/forms.h"

#include <algorithm>

namespace firn::native {
namespace {

bool differs_in_group(const IrRun& run, const Range& range) {
    switch (range.kind) {
        case RangeKind::Grid:
        case RangeKind::Group:
        case RangeKind::Serial: return false;
        case RangeKind::Invocation: {
            // The lanes of a subgroup stand in one row if rows are made of whole subgroups.
            const bool rows = run.code.group_size[0] % static_cast<uint32_t>(run.lanes) == 0;
            return run.code.group_size[range.dim] > 1 && (range.dim == 0 || !rows);
        }
        case RangeKind::Subgroup: return range.dim == 0 || run.lanes > run.subgroup;
    }
    return true;
}

/// The node differs by the values that are known to so far.
bool differs(const IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const auto any_argument = [&] {
        return std::any_of(n.args.begin(), n.args.end(),
                           [&](NodeId arg) { return run.varying[arg]; });
    };
    switch (n.op) {
        case KernelOp::Constant: return false;
        case KernelOp::Param:
            return !run.arguments.empty() && run.arguments[n.as<ParamAttr>().param].varying;
        case KernelOp::Range: return differs_in_group(run, run.code[n.as<RangeId>()]);
        case KernelOp::RegionArg: {
            const auto& carried = n.as<CarriedAttr>();
            return run.diverges[carried.region] ||
                   run.varying[run.code[carried.region].yields[carried.position]];
        }
        case KernelOp::Result: {
            const KernelNode& owner = run.code[n.args[0]];
            const auto [region, other] = owner.as<BodyAttr>();
            const int k = n.as<PositionAttr>().position;
            if (owner.op == KernelOp::For)
                return run.varying[run.code[region].args[k]] || run.diverges[region] ||
                       run.varying[owner.args[k]];
            return run.varying[owner.args[0]] || run.varying[run.code[region].yields[k]] ||
                   (other && run.varying[run.code[other].yields[k]]);
        }
        case KernelOp::Load:
            return any_argument() ||
                   run.code.buffers[n.as<AccessAttr>().buffer].space == MemorySpace::Private;
        case KernelOp::Atomic:
        case KernelOp::SubgroupScan: return true;
        case KernelOp::SubgroupReduce:
        case KernelOp::SubgroupShuffle: return run.lanes > run.subgroup;
        case KernelOp::SubgroupRead: return run.varying[n.args[1]] || run.lanes > run.subgroup;
        default: return any_argument();
    }
}

/// A loop diverges by its trip count or its condition.
bool diverges(const IrRun& run, RegionId region) {
    const KernelRegion& body = run.code[region];
    if (!body.range) return false;
    const NodeId trips = run.code[body.range].extent_node;
    return (trips && run.varying[trips]) || (body.alive && run.varying[body.alive]);
}

}  // namespace

void find_forms(IrRun& run) {
    run.varying.assign(run.code.nodes.size(), false);
    run.diverges.assign(run.code.regions.size(), false);
    if (run.lanes == 1) return;
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId id : run.code.nodes.ids()) {
            const KernelNode& n = run.code[id];
            if (!run.varying[id] && differs(run, id)) run.varying[id] = changed = true;
            if (n.op != KernelOp::For) continue;
            // A carried value varies where its first value does.
            const RegionId region = n.as<BodyAttr>().region;
            for (size_t k = 0; k < n.args.size(); ++k) {
                const NodeId arg = run.code[region].args[k];
                if (!run.varying[arg] && run.varying[n.args[k]]) run.varying[arg] = changed = true;
            }
            if (!run.diverges[region] && diverges(run, region))
                run.diverges[region] = changed = true;
        }
    }
}

}  // namespace firn::native
