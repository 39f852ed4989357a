// The step `matrix`: how many matrices a subgroup sums up by the matrix unit, and how many
// subgroups a group has.
#include <algorithm>

#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/matrix_units.h"

namespace firn {
namespace {

int64_t matrices(const Size& extent, int64_t unit, const SymbolFacts& facts) {
    const int64_t most = extent.is_constant()
                             ? extent.constant()
                             : std::min(costs::kUnknownExtent, extent.upper_bound(facts.largest));
    return std::max<int64_t>(1, most / unit);
}

int64_t ceil_quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::optional<Mapping> choose_matrix(const KernelCode& lowered, const DeviceProfile& profile,
                                     const SymbolFacts& facts) {
    const auto product = matrix_product(lowered, profile);
    if (!product) return std::nullopt;
    auto extent = [&](RangeId range) { return lowered[range].extent; };
    const int64_t across = matrices(extent(product->column), profile.matrix_unit.columns, facts),
                  down = matrices(extent(product->row), profile.matrix_unit.rows, facts);
    int64_t batch = 1;
    for (RangeId range : batch_ranges(lowered, *product))
        batch = std::min<int64_t>(batch * matrices(extent(range), 1, facts), 1 << 20);
    Mapping m;
    MatrixTiles& t = m.matrix;
    t = {1, 1, 1, 1};
    // Large blocks load less for each product; small ones keep every core busy.
    const int64_t busy =
        int64_t{profile.parallel_invocations} / profile.subgroup_size / costs::kResident;
    auto subgroups = [&](int64_t wide, int64_t high) {
        return batch * ceil_quotient(across, wide) * ceil_quotient(down, high);
    };
    for (bool grown = true; grown;) {
        grown = false;
        for (const bool wider : {t.across <= t.down, t.across > t.down}) {
            const int64_t wide = t.across * (wider ? 2 : 1), high = t.down * (wider ? 1 : 2);
            if (wide > std::min(costs::kMostMatrices, across) ||
                high > std::min(costs::kMostMatrices, down) || subgroups(wide, high) < busy)
                continue;
            t.across = wide, t.down = high;
            grown = true;
            break;
        }
    }
    auto lanes = [&] { return t.subgroups() * profile.subgroup_size; };
    const int64_t most = std::min(profile.max_group_size, profile.max_group_extent[0]);
    for (int64_t* count : {&t.subgroups_across, &t.subgroups_down}) {
        const int64_t needed = count == &t.subgroups_across ? ceil_quotient(across, t.across)
                                                            : ceil_quotient(down, t.down);
        while (*count * 2 <= std::min(costs::kMostSubgroups, needed) && lanes() * 2 <= most)
            *count *= 2;
    }
    m.group.x = static_cast<uint32_t>(lanes());
    // Shared memory passes the values to the lanes that finish them.
    while (!why_illegal({lowered, m, profile, facts}).empty() && t.subgroups() > 1) {
        (t.subgroups_down > 1 ? t.subgroups_down : t.subgroups_across) /= 2;
        m.group.x = static_cast<uint32_t>(lanes());
    }
    return why_illegal({lowered, m, profile, facts}).empty() ? std::optional(m) : std::nullopt;
}

std::optional<Mapping> choose_whole_mapping(const Choice& c) {
    return choose_matrix(c.ready, c.profile, c.facts);
}

/// Products with and without the matrix unit; with it, by other blocks or in other groups.
void vary(Variations& v) {
    const auto chosen = choose_matrix(v.ready, v.profile, v.facts);
    if (!chosen) return;
    if (!v.from.matrix) return v.add(*chosen);
    DeviceProfile without = v.profile;
    without.matrix_unit = {};
    v.add(choose_mapping(v.ready, without, v.facts));
    auto with_matrix = [&](const MatrixTiles& tiles) {
        Mapping m;
        m.matrix = tiles;
        m.group.x = static_cast<uint32_t>(tiles.subgroups()) * v.profile.subgroup_size;
        if (v.is_legal(m)) v.add(std::move(m));
    };
    const MatrixTiles& own = v.from.matrix;
    for (int64_t across : {1, 2, 4, 8})
        for (int64_t down : {1, 2, 4, 8})
            if (across * down <= costs::kMostTunedMatrices)
                with_matrix({across, down, own.subgroups_across, own.subgroups_down});
    for (const auto& [wide, high] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 2}, {4, 4}})
        with_matrix({own.across, own.down, wide, high});
}

KernelCode map(const MappingCase& of) {
    return map_to_matrix_unit(of.ready, of.mapping, of.profile, of.facts);
}

}  // namespace

const StepRules mapping_step::matrix{
    .excludes = "lanes tile strides walk shuffle whole unroll collapse stage",
    .why_not = why_no_matrix_unit,
    .choose_whole_mapping = choose_whole_mapping,
    .vary = vary,
    .map = map};

}  // namespace firn
