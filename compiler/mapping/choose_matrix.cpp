// How many matrices a subgroup sums up by the matrix unit, and how many subgroups a group has.
#include <algorithm>

#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/steps.h"
#include "compiler/program/cost_table.h"

namespace firn {
namespace {

int64_t matrices(const Size& extent, int64_t unit, const SymbolFacts& facts) {
    const int64_t most = extent.is_constant()
                             ? extent.constant()
                             : std::min(costs::kUnknownExtent, extent.upper_bound(facts.largest));
    return std::max<int64_t>(1, most / unit);
}

int64_t ceil_quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::optional<Mapping> choose_matrix(const KernelCode& lowered, const DeviceProfile& profile,
                                     const SymbolFacts& facts) {
    const auto product = matrix_product(lowered, profile);
    if (!product) return std::nullopt;
    auto extent = [&](int range) { return lowered.ranges[static_cast<size_t>(range)].extent; };
    const int64_t across = matrices(extent(product->column), profile.matrix_unit.columns, facts),
                  down = matrices(extent(product->row), profile.matrix_unit.rows, facts);
    int64_t batch = 1;
    for (int range : batch_ranges(lowered, *product))
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
    m.group_x = static_cast<uint32_t>(lanes());
    // What the lanes finish is handed to them through shared memory.
    while (!why_illegal({lowered, m, profile, facts}).empty() && t.subgroups() > 1) {
        (t.subgroups_down > 1 ? t.subgroups_down : t.subgroups_across) /= 2;
        m.group_x = static_cast<uint32_t>(lanes());
    }
    return why_illegal({lowered, m, profile, facts}).empty() ? std::optional(m) : std::nullopt;
}

}  // namespace firn
