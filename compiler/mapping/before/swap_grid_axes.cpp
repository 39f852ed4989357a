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
    int last = -1;
    int64_t width = 1, beside = 1;  // beside: of the last range without the last dimension
    std::vector<int> joined;
    Size length;  // of the axis that lanes then lie along
};

/// Returns the candidates that join more and more of the ranges before the last one, up to more
/// elements than that has.
std::vector<Swap> swaps_of(const KernelCode& code) {
    Swap swap;
    swap.last = last_grid_range(code);
    if (swap.last < 0 || !code.ranges[static_cast<size_t>(swap.last)].extent.is_constant())
        return {};
    const std::vector<int64_t> dimensions = dimensions_in(code, swap.last);
    if (dimensions.empty() || dimensions[0] < 2) return {};
    swap.width = dimensions[0];
    swap.beside = code.ranges[static_cast<size_t>(swap.last)].extent.constant() / swap.width;
    swap.length = Size(swap.beside);
    std::vector<Swap> out;
    const auto add = [&] {
        const bool longer = !swap.length.is_constant() || swap.length.constant() > swap.width;
        if (longer) out.push_back(swap);
    };
    add();
    for (int r = swap.last; r-- > 0;) {
        const Range& range = code.ranges[static_cast<size_t>(r)];
        if (range.kind != RangeKind::Grid) continue;
        swap.joined.push_back(r);
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
    const auto is_joined = [&](size_t r) {
        return static_cast<int>(r) == swap.last ||
               std::find(swap.joined.begin(), swap.joined.end(), static_cast<int>(r)) !=
                   swap.joined.end();
    };
    for (size_t r = 0; r < code.ranges.size(); ++r)
        if (code.ranges[r].kind == RangeKind::Grid && !is_joined(r))
            rebuild.bind_grid(static_cast<int>(r), b.range(b.add_range(code.ranges[r])));
    const auto add = [&](const std::string& name, const Size& extent) {
        Range range = code.ranges[static_cast<size_t>(swap.last)];
        range.name = name;
        range.extent = extent;
        return b.range(b.add_range(range));
    };
    const int across = add("n", Size(swap.width));  // the narrow one
    int rest = add("x", swap.length);
    const auto split = [&](int by) {
        const int low = b.make(KernelOp::Mod, i32, {rest, by});
        rest = b.make(KernelOp::Div, i32, {rest, by});
        return low;
    };
    const int beside = swap.joined.empty() ? rest : split(b.integer(swap.beside));
    rebuild.bind_grid(swap.last, b.add(b.mul(beside, b.integer(swap.width)), across));
    for (size_t k = 0; k < swap.joined.size(); ++k) {
        const int r = swap.joined[k];
        const Size& extent = code.ranges[static_cast<size_t>(r)].extent;
        rebuild.bind_grid(r, k + 1 < swap.joined.size() ? split(b.size(extent)) : rest);
    }
    std::vector<int> effects = rebuild.effects(0);
    out.regions[0].effects = std::move(effects);
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
    const int last = last_grid_range(code);
    const std::vector<std::vector<int>> needs = region_needs(code);
    IndexForms forms(code);
    double loads = 0, apart = 0;
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const KernelNode& n = code.nodes[id];
        if (n.op != KernelOp::Load || needs[id].empty()) continue;  // in no loop
        ++loads;
        apart += stride(forms.of(n.args[0]), last) == Stride::Other;
    }
    if (loads == 0) return std::nullopt;
    const Size& extent = code.ranges[static_cast<size_t>(last)].extent;
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
