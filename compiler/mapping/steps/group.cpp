// The step `group`: invocations of a group along x and y. Every kernel takes it.
#include <algorithm>
#include <numeric>

#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/row_groups.h"

namespace firn {
namespace {

/// Groups have three dimensions; outer dimensions share the last. If the device launches too few
/// along one, all are one row, which is folded.
std::string why_not(const MappingCase& of) {
    const GroupShape& group = of.mapping.group;
    const DeviceProfile& p = of.profile;
    if (uint64_t{group.x} * group.y > p.max_group_size || group.x > p.max_group_extent[0] ||
        group.y > p.max_group_extent[1])
        return "the device has groups of " + std::to_string(p.max_group_size) +
               " invocations at the most, " + std::to_string(p.max_group_extent[0]) + " by " +
               std::to_string(p.max_group_extent[1]);
    if (of.mapping.matrix) return "";
    return why_no_rows(of);
}

uint32_t round_up(int64_t value, int64_t step) {
    return static_cast<uint32_t>((value + step - 1) / step * step);
}

/// Groups of one row: on a CPU driver there are enough for every core.
void choose_row(Choice& c, int64_t units) {
    const int64_t lanes = c.profile.subgroup_size;
    const uint32_t largest = std::min<uint32_t>(costs::kLargeGroup, c.profile.max_group_size);
    const int64_t share = units / c.rules().groups_per_core;
    c.m.group.x = std::min<uint32_t>(c.rules().subgroups_run_serially && c.traits.loops
                                         ? std::min(c.rules().wide_group, largest)
                                         : largest,
                                     std::max<uint32_t>(round_up(share, lanes), lanes));
}

/// Rows of groups, at most `most`: under masks those behind the end take as long as the others.
int64_t rows_that_fill(int64_t units, int64_t most) {
    const auto taken = [&](int64_t rows) { return (units + rows - 1) / rows * rows; };
    int64_t best = most;
    for (int64_t rows = most; 2 * rows >= most; --rows)
        if (static_cast<double>(taken(rows)) <
            costs::kLeastSaving * static_cast<double>(taken(best)))
            best = rows;
    return best;
}

/// If rows leave lanes idle, makes groups of whole rows, and launches so many of them as one that
/// they fill whole subgroups (launched_group()).
void fill_lanes(Choice& c, int64_t units_x, int64_t units_y) {
    const int64_t lanes = c.profile.subgroup_size, taken = round_up(units_x, lanes),
                  rows = lanes / std::gcd(units_x, lanes),
                  most = std::min<int64_t>(costs::kLargeGroup, c.profile.max_group_size);
    if (!c.traits.grid[0].is_constant() ||
        static_cast<double>(units_x) >= costs::kLeastSaving * static_cast<double>(taken) ||
        units_x * rows > most || units_y % rows != 0)
        return;
    int64_t all = rows;
    while (all * 2 <= c.m.group.y && units_x * all * 2 <= most && units_y % (all * 2) == 0)
        all *= 2;
    c.m.group = {static_cast<uint32_t>(units_x), static_cast<uint32_t>(all)};
}

void choose_rectangle(Choice& c, int64_t units_x) {
    GroupShape& group = c.m.group;
    const int64_t tile_y = c.m.tile[1],
                  units_y = std::max<int64_t>(1, (c.traits.y + tile_y - 1) / tile_y);
    const int64_t lanes = c.profile.subgroup_size;
    const uint32_t largest = std::min<uint32_t>(costs::kLargeGroup, c.profile.max_group_size);
    const bool square = !c.rules().subgroups_run_serially && c.traits.loops;
    const uint32_t width = square ? costs::kSquareGroup : c.rules().wide_group;
    group.x = std::min<uint32_t>(std::min(width, largest),
                                 std::max<uint32_t>(round_up(units_x, lanes), lanes));
    int64_t rows = std::min<int64_t>(largest / group.x, units_y);
    auto groups = [&] { return (units_x + group.x - 1) / group.x * ((units_y + rows - 1) / rows); };
    while (rows > 1 && groups() < c.rules().groups_per_core) rows /= 2;
    while (group.x > lanes && group.x % 2 == 0 && groups() < c.rules().groups_per_core)
        group.x /= 2;
    if (c.rules().masked && c.traits.grid[1].is_constant()) rows = rows_that_fill(units_y, rows);
    group.y = static_cast<uint32_t>(std::max<int64_t>(1, rows));
    if (c.rules().subgroups_run_serially && !c.traits.loops) fill_lanes(c, units_x, units_y);
}

void choose(Choice& c) {
    const int64_t tile = c.m.tile[0];
    const int64_t units_x = std::max<int64_t>(1, (c.traits.x + tile - 1) / tile / c.m.strides);
    if (c.dims() < 2)
        choose_row(c, units_x);
    else
        choose_rectangle(c, units_x);
    if (c.columns) c.m.group = {c.profile.subgroup_size, 1};
    hold_rows(c.m, c.ready, c.profile, c.facts);
}

void vary(Variations& v) {
    for (uint32_t x : {8u, 16u, 32u, 64u, 128u, 256u})
        for (uint32_t y : {1u, 2u, 4u, 8u, 16u})
            if (y == 1 || v.extents.size() > 1) v.with([&](Mapping& m) { m.group = {x, y}; });
}

}  // namespace

const StepRules mapping_step::group{.why_not = why_not, .choose = choose, .vary = vary};

}  // namespace firn
