// Counts the properties of a kernel that the choice of a mapping needs.
#include "compiler/mapping/choice/kernel_traits.h"

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/long_divisions.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/strides.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr int64_t kLargeTotal = int64_t{1} << 40;

/// A branch around loops: elements side by side would each go their own way.
bool takes_loops_by_choice(const KernelCode& code, const KernelNode& n) {
    if (n.op != KernelOp::Branch || n.guard) return false;
    for (RegionId body : bodies(n))
        for (NodeId id : code[body].order)
            if (code[id].op == KernelOp::For || takes_loops_by_choice(code, code[id])) return true;
    return false;
}

/// Returns whether the place of a load depends on a loaded value or on a value that a loop carries.
bool is_placed_by_values(const KernelCode& code, NodeId index, ByNode<bool>& seen) {
    if (seen[index]) return false;
    seen[index] = true;
    const KernelNode& n = code[index];
    return n.op == KernelOp::Load || n.op == KernelOp::RegionArg || n.op == KernelOp::Result ||
           std::any_of(n.args.begin(), n.args.end(),
                       [&](NodeId arg) { return is_placed_by_values(code, arg, seen); });
}

/// Loads in a loop and those inside, at places that values decide.
bool has_gathers(const KernelCode& code, const KernelRegion& body) {
    return std::any_of(body.order.begin(), body.order.end(), [&](NodeId id) {
        const KernelNode& n = code[id];
        for (RegionId inner : bodies(n))
            if (has_gathers(code, code[inner])) return true;
        ByNode<bool> seen(code.nodes.size());
        return n.op == KernelOp::Load && is_placed_by_values(code, n.args[0], seen);
    });
}

}  // namespace

KernelTraits kernel_traits(KernelCode code, const DeviceProfile& profile,
                           const SymbolFacts& facts) {
    place(code);
    KernelTraits traits;
    double operations = 0;
    IndexForms forms(code);
    FloatRanges floats(code);
    const int64_t most_divisions =
        profile.max_back_edges ? rules_of(profile).most_long_divisions : 0;
    const RangeId x = last_grid_range(code);
    auto visit = [&](NodeId id) {
        const KernelNode& n = code[id];
        ++traits.nodes;
        operations += most_divisions > 0 && is_long_division(n, floats, code)
                          ? profile.max_body_operations / double(most_divisions)
                          : operations_of(n);
        traits.loops |= n.op == KernelOp::For;
        traits.stores += n.op == KernelOp::Store;
        traits.scattered +=
            n.op == KernelOp::Store && stride(forms.of(n.args[0]), x) != Stride::One;
        if (n.op == KernelOp::Load) traits.shifted |= !is_at_own_index(code, n);
    };
    for (const KernelRegion& region : code.regions) {
        for (NodeId id : region.order) visit(id);
        for (NodeId id : region.effects) {
            visit(id);
            if (code[id].op != KernelOp::For) continue;
            const NodeId extent = code[code[code[id].as<BodyAttr>().region].range].extent_node;
            traits.rows = true;
            traits.unlike_rows |=
                code[extent].op != KernelOp::Constant && code[extent].op != KernelOp::Param;
        }
        traits.ends_early |= bool(region.alive);
        traits.gathers_to_its_end |= region.alive && has_gathers(code, region);
        for (NodeId id : region.order) traits.divergent |= takes_loops_by_choice(code, code[id]);
        if (region.range && code[region.range].extent_node &&
            code[code[region.range].extent_node].op != KernelOp::Constant &&
            code[code[region.range].extent_node].op != KernelOp::Param)
            traits.divergent |= true;  // trips may differ per invocation
    }
    traits.most_nodes =
        static_cast<int64_t>(profile.max_body_operations * static_cast<double>(traits.nodes) /
                             std::max(1.0, operations));
    traits.grid = grid_extents(code);
    for (size_t d = 0; d < traits.grid.size(); ++d) {
        const int64_t extent =
            std::min(costs::kLargeExtent, traits.grid[d].upper_bound(facts.largest));
        if (d == 0) traits.x = extent;
        if (d == 1) traits.y = extent;
        traits.total = std::min(traits.total * extent, kLargeTotal);
    }
    return traits;
}

}  // namespace firn
