// Builds the shared arrays of a loop whose operands a group loads together.
#include "compiler/mapping/walk/staged_tile.h"

#include <algorithm>
#include <span>

#include "compiler/target/cost_table.h"

namespace firn {
StagedLayout::StagedLayout(const StagedValue& value, DType dtype, const Mapping& mapping) {
    const bool four_bytes = dtype == f32 || dtype == i32 || dtype == u32;
    for (size_t range : value.axes)
        axes.push_back({range,
                        range == 0   ? mapping.group.x
                        : range == 1 ? mapping.group.y
                                     : 1,
                        mapping.tile_of(range)});
    const auto blocks = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) {
        return four_bytes && a.tile % kBlockWidth == 0;
    });
    if (blocks != axes.end()) {
        blocks->block = kBlockWidth;
        std::rotate(axes.begin(), blocks, blocks + 1);
    }
    int64_t size = block();
    auto odd = [&](int64_t distance) { return (distance / block() | 1) * block(); };
    for (Axis& axis : axes) {
        const int64_t each = axis.tile / axis.block;
        axis.by_invocation = size;
        axis.by_block = each > 1 ? odd(size * axis.members) : size * axis.members;
        size = axis.by_block * each;
    }
    for (const auto& [range, trips] : value.inside) {
        by_inside.push_back(odd(size));
        size = by_inside.back() * trips;
    }
    by_iteration = odd(size);
}

DType staged_type(DType value) {
    if (value.is_half()) return f32;  // as computed, so that reading converts nothing
    if (value.is_narrow()) return value.is_signed() ? i32 : u32;
    return value;
}

int64_t staged_bytes(const KernelCode& lowered, const Mapping& mapping) {
    int64_t bytes = 0;
    for (const auto& [id, loop] : staged_loops(lowered, mapping))
        for (const StagedValue& value : loop.values)
            bytes += StagedLayout(value, lowered[value.node].dtype, mapping).by_iteration *
                     mapping.staged_iterations *
                     std::max(4, staged_type(lowered[value.node].dtype).bytes());
    return bytes;
}

StagedTile::StagedTile(KernelBuilder& b, const KernelCode& lowered, const MappedGrid& grid,
                       const StagedLoop& loop, RangeId range, const Mapping& mapping)
    : b_(b),
      lowered_(lowered),
      grid_(grid),
      range_(range),
      iterations_(mapping.staged_iterations),
      members_(1),
      member_(b.integer(0)) {
    for (const GroupSpan& span : grid.spans) {
        member_ = b_.add(member_, b_.mul(span.local, b_.integer(members_)));
        members_ *= span.members;
    }
    for (const StagedValue& value : loop.values) {
        const DType dtype = lowered[value.node].dtype;
        const StagedLayout layout(value, dtype, mapping);
        const int buffer = b_.own_memory(MemorySpace::Shared, staged_type(dtype),
                                         Size(layout.by_iteration * iterations_),
                                         static_cast<int>(layout.block()));
        arrays_.push_back({value, layout, buffer, {}});
    }
}

std::vector<NodeId> StagedTile::fill(const Block& block) {
    std::vector<NodeId> effects;
    for (const Array& array : arrays_) fill(array, block, effects);
    effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
    return effects;
}

/// Neighbouring invocations load neighbours in memory, one or four elements each, and all of a
/// group's elements in so many shares.
void StagedTile::fill(const Array& array, const Block& block, std::vector<NodeId>& effects) {
    b_.set_lines(lowered_[array.value.node].lines);
    const int64_t width = width_of(array, block);
    int64_t units = iterations_;
    for (const StagedLayout::Axis& axis : array.layout.axes) units *= axis.members * axis.tile;
    for (const auto& [range, trips] : array.value.inside) units *= trips;
    units /= width;
    const int64_t shares = (units + members_ - 1) / members_;
    // The loads of two arrays may move out of both guards, so invocations beyond the last unit load
    // that unit again.
    auto load_share = [&](NodeId share, bool guarded) {
        const NodeId unit = b_.add(b_.mul(share, b_.integer(members_)), member_);
        const NodeId loaded =
            guarded ? b_.make(KernelOp::Min, i32, {unit, b_.integer(units - 1)}) : unit;
        return Share{unit, guarded, load(array, loaded, width, block)};
    };
    if (shares * width > costs::kLoadsInARow) {
        effects.push_back(fill_in_rounds(shares, [&](NodeId round) {
            std::vector<NodeId> inside;
            store(array, load_share(round, units % members_ != 0), units, inside);
            return inside;
        }));
        return;
    }
    // Loads before stores: they need not wait for one another.
    std::vector<Share> loaded;
    for (int64_t s = 0; s < shares; ++s)
        loaded.push_back(load_share(b_.integer(s), (s + 1) * members_ > units));
    for (const Share& share : loaded) store(array, share, units, effects);
}

/// The elements of a unit, which lie in one block of shared memory where they do in the tensor's.
std::vector<StagedTile::Loaded> StagedTile::load(const Array& array, NodeId unit, int64_t width,
                                                 const Block& block) {
    const bool together = width > 1 && width == array.layout.block() &&
                          static_cast<int>(array.layout.axes[0].range) == array.value.along;
    std::vector<Loaded> out;
    for (const Element& element : elements(array, unit, width)) {
        const NodeId value = value_of(array, array.value.node, element, block);
        if (together && !out.empty())
            out[0].values.push_back(value);
        else
            out.push_back({place(array, element), {value}});
    }
    return out;
}

void StagedTile::store(const Array& array, const Share& share, int64_t units,
                       std::vector<NodeId>& effects) {
    std::vector<NodeId> inside;
    for (const Loaded& part : share.loaded)
        inside.push_back(b_.store(array.buffer, part.place, part.values));
    if (!share.guarded) {
        effects.insert(effects.end(), inside.begin(), inside.end());
        return;
    }
    const RegionId region = b_.add_region();
    b_.code()[region].effects = std::move(inside);
    effects.push_back(b_.branch(b_.make(KernelOp::Less, boolean, {share.unit, b_.integer(units)}),
                                region, {}, true));
}

NodeId StagedTile::fill_in_rounds(int64_t shares,
                                  const std::function<std::vector<NodeId>(NodeId)>& share) {
    Range range;
    range.name = "k";
    range.kind = RangeKind::Serial;
    range.extent = Size(shares);
    range.extent_node = b_.integer(shares);
    range.max_trips = shares;
    const RangeId id = b_.add_range(range);
    const RegionId region = b_.add_region();
    b_.code()[region].range = id;
    std::vector<NodeId> inside = share(b_.range(id));
    b_.code()[region].effects = std::move(inside);
    return b_.close_for(region, {});
}

/// The `width` neighbours in memory that `unit` counts, those along the range that lies in memory
/// first.
std::vector<StagedTile::Element> StagedTile::elements(const Array& array, NodeId unit,
                                                      int64_t width) {
    const std::vector<StagedLayout::Axis>& axes = array.layout.axes;
    std::vector<int64_t> extents;  // of the axes, loops inside, iterations
    for (const StagedLayout::Axis& axis : axes) extents.push_back(axis.members * axis.tile);
    for (const auto& [range, trips] : array.value.inside) extents.push_back(trips);
    extents.push_back(iterations_);
    std::vector<size_t> order;
    for (size_t k = 0; k < axes.size(); ++k)
        if (static_cast<int>(axes[k].range) == array.value.along) order.push_back(k);
    for (size_t k = axes.size(); k < extents.size(); ++k) order.push_back(k);
    for (size_t k = 0; k < axes.size(); ++k)
        if (static_cast<int>(axes[k].range) != array.value.along) order.push_back(k);
    Element first{std::vector<NodeId>(axes.size()),
                  std::vector<NodeId>(array.value.inside.size()),
                  {},
                  order[0],
                  0,
                  width};
    for (size_t k = 0; k < order.size(); ++k) {
        const size_t which = order[k];
        const NodeId extent = b_.integer(k == 0 ? extents[which] / width : extents[which]);
        NodeId at = k + 1 < order.size() ? b_.make(KernelOp::Mod, i32, {unit, extent}) : unit;
        unit = b_.make(KernelOp::Div, i32, {unit, extent});
        if (k == 0) at = b_.mul(at, b_.integer(width));
        (which < axes.size()          ? first.at[which]
         : which + 1 < extents.size() ? first.inside[which - axes.size()]
                                      : first.iteration) = at;
    }
    std::vector<Element> out(static_cast<size_t>(width), first);
    for (int64_t v = 0; v < width; ++v) out[static_cast<size_t>(v)].ahead = v;
    return out;
}

/// Four elements at once where they lie in an aligned block of memory.
int64_t StagedTile::width_of(const Array& array, const Block& block) {
    const KernelNode& load = lowered_[array.value.node];
    if (load.op != KernelOp::Load ||
        lowered_.buffers[load.as<AccessAttr>().buffer].dtype.bytes() != 4)
        return 1;
    int64_t along = array.value.inside.empty() ? iterations_ : array.value.inside[0].second;
    for (const StagedLayout::Axis& axis : array.layout.axes)
        if (static_cast<int>(axis.range) == array.value.along) along = axis.members * axis.tile;
    if (along % kBlockWidth != 0) return 1;
    const std::vector<Element> run = elements(array, member_, kBlockWidth);
    auto index = [&](int64_t v) {
        return value_of(array, load.args[0], run[static_cast<size_t>(v)], block);
    };
    if (remainder(b_.node(index(0)).congruence, kBlockWidth) != 0) return 1;
    for (int64_t v = 1; v < kBlockWidth; ++v) {
        const NodeId found = index(v);  // before the sum: nodes are numbered in the order of making
        if (found != b_.add(index(0), b_.integer(v))) return 1;
    }
    return kBlockWidth;
}

NodeId StagedTile::value_of(const Array& array, NodeId node, const Element& element,
                            const Block& block) {
    std::vector<NodeId> at;
    for (const GroupSpan& span : grid_.spans) at.push_back(span.begin);
    for (size_t k = 0; k < element.at.size(); ++k) {
        const bool along = k == element.along;
        const size_t range = array.layout.axes[k].range;
        const Size& extent = lowered_[grid_.ranges[range]].extent;
        at[range] = inside(b_.add(at[range], element.at[k]), extent.divisor(),
                           grid_.spans[range].covered ? NodeId() : b_.size(extent),
                           along ? element.ahead : 0, along ? element.width : 1);
        b_.assume(at[range], Size(0), extent - Size(1));
    }
    std::map<RangeId, NodeId> loops;
    for (size_t k = 0; k < element.inside.size(); ++k) {
        const bool along = element.along == element.at.size() + k;
        loops[array.value.inside[k].first] =
            b_.add(element.inside[k], b_.integer(along ? element.ahead : 0));
    }
    const bool along = element.along == element.at.size() + element.inside.size();
    const NodeId iteration =
        inside(b_.add(block.start, element.iteration), block.divisor, block.extent,
               along ? element.ahead : 0, along ? element.width : 1);
    return block.value_at(node, at, iteration, loops);
}

/// Returns the index `ahead` of `first`, in a run of `width`. An index behind the end is replaced
/// by that of the last element, or of the last run if runs fill the extent.
NodeId StagedTile::inside(NodeId first, int64_t divisor, NodeId extent, int64_t ahead,
                          int64_t width) {
    const NodeId step = b_.integer(ahead);
    if (!extent) return b_.add(first, step);
    if (divisor % width == 0)
        return b_.add(b_.make(KernelOp::Min, i32, {first, b_.sub(extent, b_.integer(width))}),
                      step);
    return b_.make(KernelOp::Min, i32, {b_.add(first, step), b_.sub(extent, b_.integer(1))});
}

NodeId StagedTile::place(const Array& array, const Element& element) {
    auto ahead = [&](size_t k) { return b_.integer(k == element.along ? element.ahead : 0); };
    NodeId out = b_.mul(b_.add(element.iteration, ahead(element.at.size() + element.inside.size())),
                        b_.integer(array.layout.by_iteration));
    for (size_t k = 0; k < element.at.size(); ++k) {
        const StagedLayout::Axis& axis = array.layout.axes[k];
        const NodeId tile = b_.integer(axis.tile), size = b_.integer(axis.block),
                     at = b_.add(element.at[k], ahead(k));
        const NodeId copy = b_.make(KernelOp::Mod, i32, {at, tile});
        out = b_.add(
            out, b_.mul(b_.make(KernelOp::Div, i32, {at, tile}), b_.integer(axis.by_invocation)));
        out = b_.add(out,
                     b_.mul(b_.make(KernelOp::Div, i32, {copy, size}), b_.integer(axis.by_block)));
        if (axis.block > 1) out = b_.add(out, b_.make(KernelOp::Mod, i32, {at, size}));
    }
    for (size_t k = 0; k < element.inside.size(); ++k)
        out = b_.add(out, b_.mul(b_.add(element.inside[k], ahead(element.at.size() + k)),
                                 b_.integer(array.layout.by_inside[k])));
    return out;
}

std::vector<NodeId> StagedTile::values_of(RangeId range) const {
    std::vector<NodeId> out;
    for (const Array& array : arrays_)
        if ((array.value.inside.empty() ? range_ : array.value.inside[0].first) == range)
            out.push_back(array.value.node);
    return out;
}

NodeId StagedTile::read(NodeId node, size_t copy, NodeId iteration,
                        const std::function<NodeId(RangeId range)>& inside,
                        std::vector<NodeId>& effects) {
    const auto array = std::find_if(arrays_.begin(), arrays_.end(),
                                    [&](const Array& a) { return a.value.node == node; });
    if (array == arrays_.end()) return {};
    NodeId place = b_.mul(iteration, b_.integer(array->layout.by_iteration));
    int64_t lane = 0;
    for (const StagedLayout::Axis& axis : array->layout.axes) {
        size_t before = 1;  // copies of one index along the range: x is the innermost
        for (size_t d = 0; d < axis.range; ++d) before *= static_cast<size_t>(grid_.spans[d].tile);
        const auto own = static_cast<int64_t>(copy / before) % axis.tile;
        place =
            b_.add(place, b_.mul(grid_.spans[axis.range].local, b_.integer(axis.by_invocation)));
        place = b_.add(place, b_.integer(own / axis.block * axis.by_block));
        if (axis.block > 1) lane = own % axis.block;
    }
    for (size_t k = 0; k < array->value.inside.size(); ++k)
        place = b_.add(place, b_.mul(inside(array->value.inside[k].first),
                                     b_.integer(array->layout.by_inside[k])));
    const KernelNode& n = lowered_[node];
    const auto width = static_cast<int>(array->layout.block());
    b_.set_lines(n.lines);
    NodeId& found = array->read[place];
    if (!found) {
        found = b_.pinned(KernelOp::Load, n.dtype, {place}, array->buffer);
        b_.code()[found].as<AccessAttr>().width = width;
        effects.push_back(found);
    }
    const NodeId read =
        width == 1 ? found
                   : b_.lane(found, static_cast<int>(lane), b_.add(place, b_.integer(lane)));
    if (n.interval != kAnyI32) b_.assume(read, Size(n.interval.lo), Size(n.interval.hi));
    return read;
}

}  // namespace firn
