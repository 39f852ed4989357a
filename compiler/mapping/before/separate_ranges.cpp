// Dimensions that share a range of the grid have ranges of their own.
#include "compiler/mapping/before/separate_ranges.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/before/grid_dimensions.h"
#include "compiler/mapping/choice/tile_model.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

KernelCode with_ranges(const KernelCode& code, RangeId joined, const std::vector<int64_t>& extents,
                       const SymbolFacts& facts) {
    KernelCode out;
    out.name = code.name;
    KernelBuilder b(out, facts);
    Rebuild rebuild(code, b);
    for (RangeId r : code.ranges.ids())
        if (code[r].kind == RangeKind::Grid && r != joined)
            rebuild.bind_grid(r, b.range(b.add_range(code[r])));
    NodeId index = b.integer(0);
    int64_t stride = 1;
    for (int64_t extent : extents) stride *= extent;
    for (size_t k = extents.size(); k-- > 0;) {
        Range range = code[joined];
        range.extent = Size(extents[k]);
        stride /= extents[k];
        index = b.add(index, b.mul(b.range(b.add_range(range)), b.integer(stride)));
    }
    rebuild.bind_grid(joined, index);
    std::vector<NodeId> effects = rebuild.effects(kRoot);
    out[kRoot].effects = std::move(effects);
    return out;
}

/// Lanes share each index, in a tile along one of the first `ranges` of the grid, x first.
bool shares_along(const Mapping& mapping, size_t ranges) {
    return mapping.lanes > 1 &&
           std::any_of(mapping.tile.begin(), mapping.tile.begin() + static_cast<long>(ranges),
                       [](int64_t copies) { return copies > 1; });
}

}  // namespace

KernelCode separate_ranges(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose) {
    const RangeId range = last_grid_range(code);
    if (!lanes_share(profile) || !range || !code[range].extent.is_constant()) return code;
    const bool loops = std::any_of(code.nodes.begin(), code.nodes.end(),
                                   [](const KernelNode& n) { return n.op == KernelOp::For; });
    const std::vector<int64_t> extents = dimensions_in(code, range);
    if (!loops || extents.size() < 2) return code;
    KernelCode out = with_ranges(code, range, extents, facts);
    const Mapping apart = mapping_of_lowered(out, profile, facts, choose);
    if (!shares_along(apart, extents.size())) return code;
    const Mapping joined = mapping_of_lowered(code, profile, facts, choose);
    // Lanes would share for the tiles' sake alone.
    const bool saves =
        joined.lanes > 1 || TileModel(out, true).time(apart.tile) <
                                costs::kLeastSaving * TileModel(code, false).time(joined.tile);
    return saves ? out : code;
}

}  // namespace firn
