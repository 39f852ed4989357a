// Rows: the elements that one invocation computes side by side, and those that one workgroup holds.
#include "compiler/kernel/rows.h"

#include <algorithm>

#include "compiler/target/cost_table.h"

namespace firn {
namespace {

int64_t most_members(const DeviceProfile& profile) {
    return std::min(profile.max_group_size, profile.max_group_extent[0]) / profile.subgroup_size *
           profile.subgroup_size;
}

}  // namespace

bool is_short_row(const Shape& shape, int inner) {
    const Shape row(shape.end() - inner, shape.end());
    const bool constant =
        std::all_of(row.begin(), row.end(), [](const Size& size) { return size.is_constant(); });
    return constant && element_count(row).constant() <= costs::kShortRow;
}

int64_t lanes_for_row(int64_t row, int64_t tile, const DeviceProfile& profile) {
    const int64_t units = std::max<int64_t>(1, (row + tile - 1) / tile),
                  lanes = profile.subgroup_size;
    return (units + lanes - 1) / lanes * lanes;
}

bool group_holds(const Size& extent, int64_t tile, int64_t members, const SymbolFacts& facts) {
    return extent.upper_bound(facts.largest) <= tile * members && extent.divisor() % tile == 0;
}

int64_t row_tile(const Size& extent, int64_t most, const DeviceProfile& profile,
                 const SymbolFacts& facts) {
    if (!lanes_share(profile)) return 0;
    const int64_t row = extent.upper_bound(facts.largest);
    int64_t found = 0;
    for (int64_t tile = 1; tile <= costs::kLargestTile; tile *= 2) {
        if (!group_holds(extent, tile, most_members(profile), facts)) continue;
        const bool fills =
            lanes_for_row(row, tile, profile) * tile * costs::kMinLaneFillNumerator <=
            row * costs::kMinLaneFillDenominator;
        if (found == 0 || (tile <= most && fills)) found = tile;
    }
    return found;
}

}  // namespace firn
