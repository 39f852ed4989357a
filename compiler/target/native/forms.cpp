// Finds the values of a kernel that differ from lane to lane (the least set that is closed under
// the rules), those that follow from positions, and those that are wanted under a condition.
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

void find_positions(IrRun& run) {
    run.positions.assign(run.code.nodes.size(), false);
    for (NodeId id : run.code.nodes.ids()) {
        const KernelNode& n = run.code[id];
        run.positions[id] =
            !run.varying[id] ||
            (makes_positions(n) && std::all_of(n.args.begin(), n.args.end(),
                                               [&](NodeId arg) { return run.positions[arg]; }));
    }
}

/// The condition under which the users of a value that were found so far take it.
struct Wish {
    bool used = false;
    NodeId condition;  // none: it is wanted always
};
void want(Wish& wish, NodeId condition) {
    if (wish.used && wish.condition != condition) condition = NodeId();
    wish = {true, condition};
}

/// A value is wanted under a condition where a Select takes it, or values that are made of it.
void find_wanted(IrRun& run) {
    ByNode<Wish> wishes(run.code.nodes.size());
    for (const KernelRegion& region : run.code.regions) {
        for (NodeId yield : region.yields) want(wishes[yield], {});
        if (region.alive) want(wishes[region.alive], {});
    }
    for (size_t k = run.code.nodes.size(); k-- > 0;) {
        const NodeId id(k);
        const KernelNode& n = run.code[id];
        const bool chooses = n.op == KernelOp::Select && n.args[1] != n.args[0] &&
                             run.code[n.args[2]].op == KernelOp::Constant;
        for (size_t arg = 0; arg < n.args.size(); ++arg)
            want(wishes[n.args[arg]], chooses && arg == 1    ? n.args[0]
                                      : is_elementwise(n.op) ? wishes[id].condition
                                                             : NodeId());
    }
    for (NodeId id : run.code.nodes.ids()) run.wanted[id] = wishes[id].condition;
}

}  // namespace

bool makes_positions(const KernelNode& n) {
    switch (n.op) {
        case KernelOp::Constant:
        case KernelOp::Param:
        case KernelOp::Range:
        case KernelOp::Add:
        case KernelOp::Sub:
        case KernelOp::Mul:
        case KernelOp::Div:
        case KernelOp::Mod:
        case KernelOp::LowBits:
        case KernelOp::Min:
        case KernelOp::Max:
        case KernelOp::Less:
        case KernelOp::LessEqual:
        case KernelOp::Equal:
        case KernelOp::NotEqual:
        case KernelOp::InRange:
        case KernelOp::And:
        case KernelOp::Or:
        case KernelOp::Not:
        case KernelOp::Select:
        case KernelOp::Cast: return !n.dtype.is_float();
        default: return false;
    }
}

void find_forms(IrRun& run) {
    run.varying.assign(run.code.nodes.size(), false);
    run.diverges.assign(run.code.regions.size(), false);
    run.positions.assign(run.code.nodes.size(), true);
    run.wanted.assign(run.code.nodes.size(), NodeId());
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
    find_positions(run);
    find_wanted(run);
}

}  // namespace firn::native
