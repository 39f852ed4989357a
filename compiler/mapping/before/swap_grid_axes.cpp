// Swaps axes of the grid, so that lanes follow contiguous reads.
#include "compiler/mapping/before/swap_grid_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/before/grid_dimensions.h"
#include "compiler/mapping/choice/tile_model.h"
#include "compiler/mapping/walk/row_groups.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The new ranges: `last` and the `joined` before it (the nearest first) become one for the last
/// dimension, `width` long, and one for the others.
struct Swap {
    RangeId last;
    int64_t width = 1, beside = 1;  // beside: of the last range without the last dimension
    std::vector<RangeId> joined;
    Size length;  // of the axis that lanes then lie along
};

/// Returns the candidates that join more and more of the ranges before the last one, up to more
/// elements than that has.
std::vector<Swap> swaps_of(const KernelCode& code) {
    Swap swap;
    swap.last = last_grid_range(code);
    if (!swap.last || !code[swap.last].extent.is_constant()) return {};
    const std::vector<int64_t> dimensions = dimensions_in(code, swap.last);
    if (dimensions.empty() || dimensions[0] < 2) return {};
    swap.width = dimensions[0];
    swap.beside = code[swap.last].extent.constant() / swap.width;
    swap.length = Size(swap.beside);
    std::vector<Swap> out;
    const auto add = [&] {
        const bool longer = !swap.length.is_constant() || swap.length.constant() > swap.width;
        if (longer) out.push_back(swap);
    };
    add();
    for (size_t r = swap.last.place(); r-- > 0;) {
        const RangeId before(r);
        const Range& range = code[before];
        if (range.kind != RangeKind::Grid) continue;
        swap.joined.push_back(before);
        swap.length = swap.length * range.extent;
        if (swap.length.upper_bound() > INT32_MAX) break;
        add();
    }
    return out;
}

KernelCode swapped(const KernelCode& code, const Swap& swap, const SymbolFacts& facts) {
    KernelCode out;
    out.name = code.name;
    KernelBuilder b(out, facts);
    Rebuild rebuild(code, b);
    const auto is_joined = [&](RangeId r) {
        return r == swap.last ||
               std::find(swap.joined.begin(), swap.joined.end(), r) != swap.joined.end();
    };
    for (RangeId r : code.ranges.ids())
        if (code[r].kind == RangeKind::Grid && !is_joined(r))
            rebuild.bind_grid(r, b.range(b.add_range(code[r])));
    const auto add = [&](const std::string& name, const Size& extent) {
        Range range = code[swap.last];
        range.name = name;
        range.extent = extent;
        return b.range(b.add_range(range));
    };
    const NodeId across = add("n", Size(swap.width));  // the narrow one
    NodeId rest = add("x", swap.length);
    const auto split = [&](NodeId by) {
        const NodeId low = b.make(KernelOp::Mod, i32, {rest, by});
        rest = b.make(KernelOp::Div, i32, {rest, by});
        return low;
    };
    const NodeId beside = swap.joined.empty() ? rest : split(b.integer(swap.beside));
    rebuild.bind_grid(swap.last, b.add(b.mul(beside, b.integer(swap.width)), across));
    for (size_t k = 0; k < swap.joined.size(); ++k) {
        const RangeId r = swap.joined[k];
        const Size& extent = code[r].extent;
        rebuild.bind_grid(r, k + 1 < swap.joined.size() ? split(b.size(extent)) : rest);
    }
    std::vector<NodeId> effects = rebuild.effects(kRoot);
    out[kRoot].effects = std::move(effects);
    return out;
}

struct Cost {
    double time = 0;   // of an index, in a unit that only compares forms of one kernel
    double apart = 0;  // share of the loads in loops for which lanes read from places apart
};

/// Returns the time of the kernel's tile, more if lanes are idle and if they read from places
/// apart. Nothing if lanes do not lie along the last range, or if no loop reads.
std::optional<Cost> cost_of(const KernelCode& code, const DeviceProfile& profile,
                            const SymbolFacts& facts, ChooseMapping choose) {
    const Mapping mapping = mapping_of_lowered(code, profile, facts, choose);
    if (mapping.lanes > 1 || mapping.matrix) return std::nullopt;
    const RangeId last = last_grid_range(code);
    const ByNode<std::vector<RegionId>> needs = region_needs(code);
    IndexForms forms(code);
    double loads = 0, apart = 0;
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& n = code[id];
        if (n.op != KernelOp::Load || needs[id].empty()) continue;  // in no loop
        ++loads;
        apart += stride(forms.of(n.args[0]), last) == Stride::Other;
    }
    if (loads == 0) return std::nullopt;
    const Size& extent = code[last].extent;
    const auto indices = static_cast<double>(extent.upper_bound(facts.largest)),
               tile = static_cast<double>(mapping.tile_of(0)),
               width = static_cast<double>(mapping.group.x);
    const double places = std::ceil(std::ceil(indices / tile) / width) * width;
    Cost out;
    out.apart = apart / loads;
    out.time = TileModel(code, false).time(mapping.tile) * (places * tile / indices) *
               (1 + (profile.subgroup_size - 1) * out.apart);
    return out;
}

/// Returns whether it saves enough time without reads from places apart.
bool is_better(const Cost& after, const Cost& before) {
    return after.time < costs::kLeastSaving * before.time &&
           (after.apart == 0 || after.apart < before.apart);
}

}  // namespace

KernelCode swap_grid_axes(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                          ChooseMapping choose) {
    const bool loops = std::any_of(code.nodes.begin(), code.nodes.end(),
                                   [](const KernelNode& n) { return n.op == KernelOp::For; });
    if (!loops || reduces_rows(code)) return code;
    const std::vector<Swap> swaps = swaps_of(code);
    // If every lane of a subgroup has a tile along the last axis there is nothing to gain.
    if (swaps.empty() || swaps[0].width >= profile.subgroup_size * costs::kLongestTile) return code;
    std::optional<Cost> least = cost_of(code, profile, facts, choose);
    if (!least) return code;
    KernelCode best = code;
    for (const Swap& swap : swaps) {
        KernelCode other = swapped(code, swap, facts);
        const std::optional<Cost> cost = cost_of(other, profile, facts, choose);
        if (!cost || !is_better(*cost, *least)) continue;
        least = cost;
        best = std::move(other);
    }
    return best;
}

}  // namespace firn
