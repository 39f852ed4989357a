// The schedule templates: what mapping a kernel gets on a CPU driver and on a GPU (limits.md, 11 and 12).
#include <algorithm>

#include "compiler/lower/map.h"
#include "compiler/lower/place.h"

namespace firn {
namespace {

constexpr int64_t kLargeExtent = 1 << 20;      // as good as any larger extent
constexpr int64_t kLeastGroups = 8;            // workgroups that share a CPU's cores evenly
constexpr int64_t kBodyBudget = 700;           // nodes of an invocation's body after expansion
constexpr int64_t kLoopBudget = 400;           // nodes of an unrolled loop body

struct Shape2 {
    Size x = Size(1), y = Size(1), z = Size(1);
    int dims = 0;
};

Shape2 grid_shape(const KernelCode& code) {
    Shape2 out;
    for (const Range& r : code.ranges) {
        if (r.kind != RangeKind::Grid) continue;
        out.z = out.y;
        out.y = out.x;
        out.x = r.extent;
        ++out.dims;
    }
    return out;
}

int64_t extent_or_large(const Size& s, const SymbolFacts& facts) {
    return std::min(kLargeExtent, s.upper_bound(facts.largest));
}

struct Traits {
    int64_t nodes = 0;
    bool loops = false, divergent = false;
    bool rows = false;         // stores stand in loops: each invocation walks a row
    bool plain_flat = true;    // every access is at the index of the one grid range, on narrow types
    bool shifted = false;      // some access is not
};

Traits inspect(KernelCode code) {
    place(code);
    Traits traits;
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        ++traits.nodes;
        traits.loops |= n.op == Op::For;
        if (n.op == Op::Atomic) traits.plain_flat = false;   // what lies behind the end must not take part
        if (n.op != Op::Load && n.op != Op::Store) return;
        const KernelNode& index = code.nodes[n.args[0]];
        const bool plain = index.op == Op::Range && code.ranges[index.index].kind == RangeKind::Grid;
        const bool fixed = index.op == Op::Constant;
        if (!plain && !fixed) traits.plain_flat = false;
        if (n.op == Op::Load && !plain && !fixed) traits.shifted = true;
        if (code.buffers[n.index].dtype.bytes() > 4) traits.plain_flat = false;
    };
    for (const KernelRegion& region : code.regions) {
        for (int id : region.order) visit(id);
        for (int id : region.effects) {
            visit(id);
            traits.rows |= code.nodes[id].op == Op::For;
        }
        traits.divergent |= region.alive >= 0;
        if (region.range >= 0 && code.ranges[region.range].extent_node >= 0 &&
            code.nodes[code.ranges[region.range].extent_node].op != Op::Constant &&
            code.nodes[code.ranges[region.range].extent_node].op != Op::Param)
            traits.divergent |= true;   // trips may differ per invocation
    }
    return traits;
}

uint32_t round_up(int64_t value, int64_t step) {
    return static_cast<uint32_t>((value + step - 1) / step * step);
}

}  // namespace

Mapping choose_mapping(const KernelCode& lowered, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const Shape2 grid = grid_shape(lowered);
    const Traits traits = inspect(lowered);
    const bool cpu = profile.device_class == DeviceClass::Cpu;
    const int64_t x = extent_or_large(grid.x, facts), y = extent_or_large(grid.y, facts), z = extent_or_large(grid.z, facts);
    const int64_t total = x * std::min<int64_t>(y * z, kLargeExtent);
    Mapping m;
    const bool by_four = grid.x.divisor(facts.divisors) % 4 == 0 && x > 0;
    const bool padded = grid.dims == 1 && traits.plain_flat;
    // Enough invocations must remain to keep the device busy.
    const int64_t busy = int64_t{profile.parallel_invocations} * (cpu ? (traits.loops ? 8 : 1) : 4);
    auto room = [&](int64_t factor) {
        return traits.nodes * m.vector * m.unroll * factor <= kBodyBudget &&
               total / (m.vector * m.unroll * factor) >= busy;
    };
    if (!traits.divergent && !traits.rows && (by_four || padded) && room(4)) m.vector = 4;
    const bool rows = grid.dims >= 2 && !traits.divergent && !traits.rows && (traits.shifted || traits.loops);
    if (rows)
        for (int64_t u : {4, 2})
            if (m.unroll == 1 && grid.y.divisor(facts.divisors) % u == 0 && y > 0 && room(u)) m.unroll = u;
    const bool strides = grid.dims == 1 && !traits.loops && !traits.divergent && cpu;
    if (strides && room(4) && total >= 65536) m.unroll = 4;

    const int64_t units_x = std::max<int64_t>(1, (x + m.vector - 1) / m.vector / (strides ? m.unroll : 1));
    const int64_t units_y = std::max<int64_t>(1, grid.dims >= 2 ? y / m.unroll : 1);
    const int64_t lanes = profile.subgroup_size;
    if (grid.dims < 2) {
        const int64_t share = cpu ? units_x / kLeastGroups : units_x;
        m.group_x = std::min<uint32_t>(cpu && traits.loops ? 64 : 256,
                                       std::max<uint32_t>(round_up(share, lanes), lanes));
    } else {
        const bool square = !cpu && traits.loops;
        m.group_x = std::min<uint32_t>(square ? 16 : cpu ? 64 : 32, std::max<uint32_t>(round_up(units_x, lanes), lanes));
        const int64_t most = 256 / m.group_x;
        int64_t rows_per_group = std::min<int64_t>(most, units_y);
        auto groups = [&] {
            return (units_x + m.group_x - 1) / m.group_x * ((units_y + rows_per_group - 1) / rows_per_group);
        };
        while (cpu && rows_per_group > 1 && groups() < kLeastGroups) rows_per_group /= 2;
        while (cpu && m.group_x > lanes && m.group_x % 2 == 0 && groups() < kLeastGroups) m.group_x /= 2;
        m.group_y = static_cast<uint32_t>(std::max<int64_t>(1, rows_per_group));
    }
    if (!traits.divergent || traits.loops)
        for (int64_t f : {16, 8, 4, 2})
            if (m.serial_unroll == 1 && traits.loops && traits.nodes * m.vector * m.unroll * f <= kLoopBudget)
                m.serial_unroll = f;
    return m;
}

int64_t count_back_edges(const KernelCode& code) {
    auto count = [&](auto&& self, int region_id) -> int64_t {
        int64_t total = 0;
        auto add = [&](int id) {
            const KernelNode& n = code.nodes[id];
            if (total < 0 || (n.op != Op::For && n.op != Op::Branch)) return;
            int64_t inside = self(self, n.region);
            if (n.else_region >= 0) {
                const int64_t other = self(self, n.else_region);
                inside = inside < 0 || other < 0 ? -1 : std::max(inside, other);
            }
            const int range = code.regions[n.region].range;
            const int64_t trips = range >= 0 ? code.ranges[range].max_trips : 0;
            if (inside < 0 || trips < 0) total = -1;
            else if (range < 0) total += inside;
            else if (trips > 0 && inside + 1 > INT64_MAX / 4 / trips) total = -1;
            else total += trips * (inside + 1);
        };
        for (int id : code.regions[region_id].order) add(id);
        for (int id : code.regions[region_id].effects) add(id);
        return total;
    };
    return count(count, 0);
}

}  // namespace firn
