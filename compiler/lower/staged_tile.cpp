// The shared arrays of a loop whose operands a group loads together.
#include "compiler/lower/staged_tile.h"

#include <algorithm>
#include <span>

namespace firn {
namespace {

constexpr int64_t kWrittenOut = 16;  // loads of an invocation in a row
constexpr int64_t kWidth = 4;        // elements of a wide load

int64_t odd(int64_t distance) { return distance | 1; }

}  // namespace

StagedLayout::StagedLayout(const StagedValue& value, const Mapping& mapping) {
    int64_t size = 1;
    for (size_t range : value.axes) {
        Axis axis{range,
                  range == 0   ? mapping.group_x
                  : range == 1 ? mapping.group_y
                               : 1,
                  mapping.tile_of(range), size, 1};
        axis.by_copy = axis.tile > 1 ? odd(size * axis.members) : size * axis.members;
        size = axis.by_copy * axis.tile;
        axes.push_back(axis);
    }
    by_turn = odd(size);
}

DType staged_type(DType value) {
    if (value == f16) return f32;  // kept as it is computed, so that reading it costs nothing
    if (value == i8) return i32;
    return value == u8 ? u32 : value;
}

int64_t staged_bytes(const KernelCode& lowered, const Mapping& mapping) {
    int64_t bytes = 0;
    for (const auto& [id, loop] : staged_loops(lowered, mapping))
        for (const StagedValue& value : loop.values)
            bytes += StagedLayout(value, mapping).by_turn * mapping.staged_turns *
                     std::max(4, staged_type(lowered.nodes[value.node].dtype).bytes());
    return bytes;
}

StagedTile::StagedTile(KernelBuilder& b, const KernelCode& lowered, const MappedGrid& grid,
                       const StagedLoop& loop, const Mapping& mapping)
    : b_(b),
      lowered_(lowered),
      grid_(grid),
      turns_(mapping.staged_turns),
      members_(1),
      member_(b.integer(0)) {
    for (const GroupSpan& span : grid.spans) {
        member_ = b_.add(member_, b_.mul(span.local, b_.integer(members_)));
        members_ *= span.members;
    }
    for (const StagedValue& value : loop.values) {
        const StagedLayout layout(value, mapping);
        const DType type = staged_type(lowered.nodes[value.node].dtype);
        const int buffer = b_.own_memory(MemorySpace::Shared, type, Size(layout.by_turn * turns_));
        arrays_.push_back({value, layout, buffer, {}});
    }
}

std::vector<int> StagedTile::fill(int start, int last, const ValueAt& value_at) {
    std::vector<int> effects;
    for (const Array& array : arrays_) fill(array, start, last, value_at, effects);
    effects.push_back(b_.pinned(Op::Barrier, i32, {}));
    return effects;
}

/// Neighbouring invocations load neighbours in memory, one or four elements each, and all of a
/// group's elements in so many shares.
void StagedTile::fill(const Array& array, int start, int last, const ValueAt& value_at,
                      std::vector<int>& effects) {
    int64_t units = turns_;
    for (const StagedLayout::Axis& axis : array.layout.axes) units *= axis.members * axis.tile;
    const int64_t width = width_of(array, start, last, value_at);
    units /= width;
    const int64_t shares = (units + members_ - 1) / members_;
    auto load = [&](int unit) {
        std::vector<std::pair<int, int>> out;  // place, value
        for (const Element& element : elements(array, unit, width))
            out.emplace_back(place(array, element),
                             value_of(array, array.value.node, element, start, last, value_at));
        return out;
    };
    b_.set_lines(lowered_.nodes[array.value.node].lines);
    auto store = [&](const std::vector<std::pair<int, int>>& loaded, std::vector<int>& to) {
        for (const auto& [at, value] : loaded)
            to.push_back(b_.store(array.buffer, at, std::span(&value, 1)));
    };
    auto guarded = [&](int unit, const std::vector<std::pair<int, int>>& loaded) {
        const int region = b_.add_region();
        std::vector<int> inside;
        store(loaded, inside);
        b_.code().regions[region].effects = std::move(inside);
        return b_.branch(b_.make(Op::Less, boolean, {unit, b_.integer(units)}), region, -1, true);
    };
    if (shares * width > kWrittenOut) {
        effects.push_back(fill_in_turns(shares, [&](int turn) {
            const int unit = b_.add(b_.mul(turn, b_.integer(members_)), member_);
            const auto loaded = load(unit);
            std::vector<int> inside;
            if (units % members_ == 0)
                store(loaded, inside);
            else
                inside.push_back(guarded(unit, loaded));
            return inside;
        }));
        return;
    }
    // Loads before stores: they need not wait for one another.
    std::vector<std::vector<std::pair<int, int>>> loaded;
    for (int64_t s = 0; s < shares; ++s)
        loaded.push_back(load(b_.add(member_, b_.integer(s * members_))));
    for (int64_t s = 0; s < shares; ++s) {
        if ((s + 1) * members_ <= units)
            store(loaded[static_cast<size_t>(s)], effects);
        else
            effects.push_back(
                guarded(b_.add(member_, b_.integer(s * members_)), loaded[static_cast<size_t>(s)]));
    }
}

int StagedTile::fill_in_turns(int64_t shares, const std::function<std::vector<int>(int)>& share) {
    Range range;
    range.name = "k";
    range.kind = RangeKind::Serial;
    range.extent = Size(shares);
    range.extent_node = b_.integer(shares);
    range.max_trips = shares;
    const int id = b_.add_range(range), region = b_.add_region();
    b_.code().regions[region].range = id;
    std::vector<int> inside = share(b_.range(id));
    b_.code().regions[region].effects = std::move(inside);
    return b_.close_for(region, {});
}

/// The `width` neighbours in memory that `unit` counts, those along the range that lies in memory
/// first.
std::vector<StagedTile::Element> StagedTile::elements(const Array& array, int unit, int64_t width) {
    const std::vector<StagedLayout::Axis>& axes = array.layout.axes;
    std::vector<size_t> order;  // places in `axes`; behind the end: the turns
    for (size_t k = 0; k < axes.size(); ++k)
        if (static_cast<int>(axes[k].range) == array.value.along) order.push_back(k);
    if (order.empty()) order.push_back(axes.size());
    for (size_t k = 0; k <= axes.size(); ++k)
        if (k != order[0]) order.push_back(k);
    Element first{std::vector<int>(axes.size(), -1), -1};
    for (size_t k = 0; k < order.size(); ++k) {
        const bool turn = order[k] == axes.size();
        const int64_t all = turn ? turns_ : axes[order[k]].members * axes[order[k]].tile;
        const int extent = b_.integer(k == 0 ? all / width : all);
        int at = k + 1 < order.size() ? b_.make(Op::Mod, i32, {unit, extent}) : unit;
        unit = b_.make(Op::Div, i32, {unit, extent});
        if (k == 0) at = b_.mul(at, b_.integer(width));
        (turn ? first.turn : first.at[order[k]]) = at;
    }
    std::vector<Element> out(static_cast<size_t>(width), first);
    for (int64_t v = 1; v < width; ++v) {
        Element& element = out[static_cast<size_t>(v)];
        int& along = order[0] == axes.size() ? element.turn : element.at[order[0]];
        along = b_.add(along, b_.integer(v));
    }
    return out;
}

/// Four elements at once where they lie in an aligned block of memory.
int64_t StagedTile::width_of(const Array& array, int start, int last, const ValueAt& value_at) {
    const KernelNode& load = lowered_.nodes[array.value.node];
    if (load.op != Op::Load || lowered_.buffers[load.index].dtype.bytes() != 4) return 1;
    int64_t along = turns_;
    for (const StagedLayout::Axis& axis : array.layout.axes)
        if (static_cast<int>(axis.range) == array.value.along) along = axis.members * axis.tile;
    if (along % kWidth != 0) return 1;
    const std::vector<Element> block = elements(array, member_, kWidth);
    auto index = [&](int64_t v) {
        return value_of(array, load.args[0], block[static_cast<size_t>(v)], start, last, value_at);
    };
    const Interval at = b_.node(index(0)).interval;
    if (at.mod % kWidth != 0 || at.rem % kWidth != 0) return 1;
    for (int64_t v = 1; v < kWidth; ++v)
        if (index(v) != b_.add(index(0), b_.integer(v))) return 1;
    return kWidth;
}

/// What lies behind the end is not read: the last element stands there.
int StagedTile::value_of(const Array& array, int node, const Element& element, int start, int last,
                         const ValueAt& value_at) {
    std::vector<int> at;
    for (const GroupSpan& span : grid_.spans) at.push_back(span.begin);
    for (size_t k = 0; k < element.at.size(); ++k) {
        const size_t range = array.layout.axes[k].range;
        const Size& extent = lowered_.ranges[grid_.ranges[range]].extent;
        int index = b_.add(at[range], element.at[k]);
        if (!grid_.spans[range].covered)
            index = b_.make(Op::Min, i32, {index, b_.sub(b_.size(extent), b_.integer(1))});
        b_.assume(index, Size(0), extent - Size(1));
        at[range] = index;
    }
    int turn = b_.add(start, element.turn);
    if (last >= 0) turn = b_.make(Op::Min, i32, {turn, last});
    return value_at(node, at, turn);
}

int StagedTile::place(const Array& array, const Element& element) {
    int out = b_.mul(element.turn, b_.integer(array.layout.by_turn));
    for (size_t k = 0; k < element.at.size(); ++k) {
        const StagedLayout::Axis& axis = array.layout.axes[k];
        const int tile = b_.integer(axis.tile);
        const int invocation = b_.make(Op::Div, i32, {element.at[k], tile}),
                  copy = b_.make(Op::Mod, i32, {element.at[k], tile});
        out = b_.add(out, b_.add(b_.mul(invocation, b_.integer(axis.by_invocation)),
                                 b_.mul(copy, b_.integer(axis.by_copy))));
    }
    return out;
}

int StagedTile::read(int node, size_t copy, int turn, std::vector<int>& effects) {
    const auto array = std::find_if(arrays_.begin(), arrays_.end(),
                                    [&](const Array& a) { return a.value.node == node; });
    if (array == arrays_.end()) return -1;
    int place = b_.mul(turn, b_.integer(array->layout.by_turn));
    for (const StagedLayout::Axis& axis : array->layout.axes) {
        size_t before = 1;  // copies of one index along the range: x is the innermost
        for (size_t d = 0; d < axis.range; ++d) before *= static_cast<size_t>(grid_.spans[d].tile);
        const auto own = static_cast<int64_t>(copy / before) % axis.tile;
        place = b_.add(place,
                       b_.add(b_.mul(grid_.spans[axis.range].local, b_.integer(axis.by_invocation)),
                              b_.integer(own * axis.by_copy)));
    }
    int& read = array->read.try_emplace(place, -1).first->second;
    if (read < 0) {
        const KernelNode& n = lowered_.nodes[node];
        b_.set_lines(n.lines);
        read = b_.pinned(Op::Load, n.dtype, {place}, array->buffer);
        effects.push_back(read);
        if (n.interval.lo > INT32_MIN || n.interval.hi < INT32_MAX)
            b_.assume(read, Size(n.interval.lo), Size(n.interval.hi));
    }
    return read;
}

}  // namespace firn
