// Grid indices from groups, invocations and subgroups, with a guard per tail.
#include "compiler/mapping/walk/map_grid.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/kernel/launch_groups.h"
#include "compiler/mapping/walk/row_groups.h"

namespace firn {
namespace {

NodeId new_range(KernelBuilder& b, const std::string& name, RangeKind kind, const Size& extent,
                 int dim) {
    Range range;
    range.name = name;
    range.kind = kind;
    range.extent = extent;
    range.dim = dim;
    return b.range(b.add_range(range));
}

class GridMapper {
  public:
    GridMapper(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
               const DeviceProfile& profile)
        : from_(from),
          b_(b),
          mapping_(mapping),
          profile_(profile),
          rows_(reduces_rows(from)),
          pads_(pads_tiles(from, mapping)),
          passes_(mapping.tile_of(0) == kBlockWidth && stores_pass_the_end(from)) {}

    MappedGrid run() {
        for (RangeId r : from_.ranges.ids())
            if (from_[r].kind == RangeKind::Grid) out_.ranges.push_back(r);
        std::reverse(out_.ranges.begin(), out_.ranges.end());
        b_.code().group_size = {mapping_.group.x, mapping_.group.y, 1};
        if (mapping_.lanes > 1) share_rows();
        if (rows_) hold_row();
        if (out_.ranges.empty()) {
            out_.copies.push_back({});
            return std::move(out_);
        }
        find_axes();
        find_groups();
        for (size_t d = 0; d < axes_.size(); ++d) find_units(d);
        if (rows_) out_.in_row = axes_[0].guards[0];
        make_copies();
        out_.padded = pads_;
        return std::move(out_);
    }

  private:
    /// The division of a Grid range. A unit is the work of one invocation along it: `tile`
    /// neighbours, or `strides` such blocks that stand the width of a group apart.
    struct Axis {
        Size extent, blocks, units;  // indices; tiles of neighbours; units
        int64_t tile = 1, strides = 1;
        int64_t walk = 1;    // blocks that a group walks
        uint32_t group = 1;  // units side by side in a workgroup
        Size groups;
        NodeId group_index;
        bool covered = true;         // the groups have no units behind the end
        std::vector<NodeId> first;   // of each stride: the first index
        std::vector<NodeId> guards;  // of each stride: that it is inside; none: always
    };

    bool divides(const Size& extent, int64_t factor) const {
        return extent.divisor() % factor == 0;
    }

    NodeId new_range(const std::string& name, RangeKind kind, const Size& extent, int dim) {
        return firn::new_range(b_, name, kind, extent, dim);
    }

    /// Makes every index along x the work of a subgroup, whose lanes have numbers of their own.
    void share_rows() { out_.lane = new_range("l", RangeKind::Subgroup, Size(mapping_.lanes), 0); }

    /// A group is one row of subgroups.
    void hold_row() {
        out_.lane = new_range("l", RangeKind::Subgroup, Size(profile_.subgroup_size), 0);
        out_.subgroup =
            new_range("s", RangeKind::Subgroup, Size(mapping_.group.x / profile_.subgroup_size), 1);
    }

    void find_axes() {
        for (size_t d = 0; d < out_.ranges.size(); ++d) {
            Axis axis;
            axis.extent = from_[out_.ranges[d]].extent;
            axis.tile = mapping_.tile_of(d);
            axis.strides = d == 0 ? mapping_.strides : 1;
            axis.walk = mapping_.walk_of(d);
            axis.group = d == 0 ? mapping_.group.x / mapping_.lanes : d == 1 ? mapping_.group.y : 1;
            axis.blocks = axis.tile > 1
                              ? floor_div(axis.extent + Size(axis.tile - 1), Size(axis.tile))
                              : axis.extent;
            axis.units = axis.strides > 1 ? ceil_div(axis.blocks, Size(axis.strides)) : axis.blocks;
            const int64_t walked = axis.group * axis.walk;
            axis.groups = walked > 1 ? ceil_div(axis.units, Size(walked)) : axis.units;
            const int64_t width = walked * axis.strides;
            axis.covered = width == 1 || (divides(axis.blocks, width) && axis.blocks.is_constant());
            axes_.push_back(std::move(axis));
        }
    }

    void find_groups() {
        std::vector<Size> groups;
        for (const Axis& axis : axes_) groups.push_back(axis.groups);
        const GroupIndices launched = launch_groups(b_, groups, profile_);
        for (size_t d = 0; d < axes_.size(); ++d) axes_[d].group_index = launched.index[d];
        axes_.back().covered = axes_.back().covered && launched.covered;
    }

    NodeId local_index(size_t d) {
        const Axis& axis = axes_[d];
        if (d == 0 && mapping_.lanes > 1)
            return new_range("s", RangeKind::Subgroup, Size(axis.group), 1);
        if (d == 0 && rows_) {
            return b_.add(b_.mul(out_.subgroup, b_.integer(profile_.subgroup_size)), out_.lane);
        }
        return new_range("t", RangeKind::Invocation, Size(axis.group), static_cast<int>(d));
    }

    /// The block of the group's walk along an axis, counted over all groups.
    NodeId block_of(const Axis& axis) {
        const NodeId before = b_.mul(axis.group_index, b_.integer(axis.walk));
        const NodeId all = b_.size(ceil_div(axis.units, Size(axis.group)));
        Range range;
        range.name = "w";
        range.kind = RangeKind::Serial;
        range.extent_node =
            b_.make(KernelOp::Min, i32, {b_.sub(all, before), b_.integer(axis.walk)});
        range.max_trips = axis.walk;
        out_.walked.push_back(b_.add_range(range));
        return b_.add(before, b_.range(out_.walked.back()));
    }

    /// `base`: the group's first block.
    void span(const Axis& axis, NodeId base, NodeId local) {
        const NodeId begin = b_.mul(base, b_.integer(axis.tile));
        out_.spans.push_back(
            {begin, local ? local : b_.integer(0), axis.group, axis.tile, axis.covered});
    }

    /// The blocks of an invocation along an axis, and which of them are inside.
    void find_units(size_t d) {
        Axis& axis = axes_[d];
        NodeId base = axis.walk > 1 ? block_of(axis) : axis.group_index;
        if (axis.group * axis.strides > 1)
            base = b_.mul(base, b_.integer(axis.group * axis.strides));
        const NodeId first = base;
        NodeId local;
        if (axis.group > 1 || (d == 0 && mapping_.lanes > 1))
            base = b_.add(base, local = local_index(d));
        if (mapping_.staged_iterations > 1) span(axis, first, local);
        for (int64_t s = 0; s < axis.strides; ++s) {
            NodeId unit = b_.add(base, b_.integer(s * axis.group));
            axis.guards.push_back(
                axis.covered ? NodeId()
                             : b_.make(KernelOp::Less, boolean, {unit, b_.size(axis.blocks)}));
            // Invocations behind the end that must take part do the last block's work but store
            // nothing: lanes that shuffle loads or hold a row, groups that load together, and loads
            // that do not wait for the stores of the stride or the copy before, along any axis.
            const bool early = mapping_.strides > 1 || pads_;
            b_.code().loads_first |= early;
            const bool all =
                mapping_.shuffled_loads > 1 || mapping_.staged_iterations > 1 || early || rows_;
            if (!axis.covered && all)
                unit = b_.make(KernelOp::Min, i32,
                               {unit, b_.sub(b_.size(axis.blocks), b_.integer(1))});
            if (axis.tile > 1) unit = b_.mul(unit, b_.integer(axis.tile));
            const bool whole = divides(axis.extent, axis.tile);
            b_.assume(unit, Size(0), axis.extent - Size(whole ? axis.tile : 1));
            axis.first.push_back(unit);
        }
    }

    void make_copies() {
        const Axis& x = axes_[0];
        NodeId guard;
        for (int64_t s = 0; s < x.strides; ++s) {
            guard = both(guard, x.guards[static_cast<size_t>(s)]);
            for (size_t d = 1; s == 0 && d < axes_.size(); ++d)
                guard = both(guard, axes_[d].guards[0]);
            std::vector<int64_t> at(axes_.size(), 0);
            do {
                GridCopy copy;
                for (size_t d = 0; d < axes_.size(); ++d) {
                    const NodeId unit = axes_[d].first[d == 0 ? static_cast<size_t>(s) : 0];
                    copy.index.push_back(at[d] ? b_.add(unit, b_.integer(at[d])) : unit);
                    if (pads_ && at[d] && !passes_)
                        copy.inside = both(copy.inside, within(d, copy.index[d]));
                }
                copy.guard = std::exchange(guard, {});
                out_.copies.push_back(std::move(copy));
            } while (next(at));
        }
    }

    /// Returns the condition that an index is inside; none: it always is.
    NodeId within(size_t d, NodeId index) {
        const NodeId condition =
            b_.make(KernelOp::Less, boolean, {index, b_.size(axes_[d].extent)});
        const bool always = b_.is_constant(condition) && b_.node(condition).as<Scalar>().i;
        return always ? NodeId() : condition;
    }

    /// Both of two conditions, of which each may be none.
    NodeId both(NodeId a, NodeId b) {
        return !a ? b : !b ? a : b_.make(KernelOp::And, boolean, {a, b});
    }

    /// The next place of a tile, x fastest.
    bool next(std::vector<int64_t>& at) const {
        for (size_t d = 0; d < at.size(); ++d) {
            if (++at[d] < axes_[d].tile) return true;
            at[d] = 0;
        }
        return false;
    }

    const KernelCode& from_;
    KernelBuilder& b_;
    const Mapping& mapping_;
    const DeviceProfile& profile_;
    const bool rows_;    // groups hold whole rows
    const bool pads_;    // copies may lie behind the end
    const bool passes_;  // and store there
    MappedGrid out_;
    std::vector<Axis> axes_;  // per Grid range, x first
};

}  // namespace

std::vector<Size> grid_extents(const KernelCode& code) {
    std::vector<Size> out;
    for (const Range& range : code.ranges)
        if (range.kind == RangeKind::Grid) out.push_back(range.extent);
    std::reverse(out.begin(), out.end());
    return out;
}

std::string why_not_of_grid(const MappingCase& of, const std::vector<int64_t>& numbers) {
    const size_t ranges = grid_extents(of.ready).size();
    for (size_t k = ranges; k < numbers.size(); ++k)
        if (numbers[k] > 1) return "the grid has " + std::to_string(ranges) + " ranges";
    return "";
}

bool stores_apart(const KernelCode& ready) {
    const auto buffer_of = [&](const KernelNode& n) {
        return ready.buffers[n.as<AccessAttr>().buffer].buffer;
    };
    std::set<int> loaded, stored;
    for (const KernelNode& n : ready.nodes) {
        if (n.op == KernelOp::Load) loaded.insert(buffer_of(n));
        if (n.op == KernelOp::Store) stored.insert(buffer_of(n));
        if (n.op == KernelOp::Atomic) return false;
    }
    const std::vector<NodeId>& effects = ready[kRoot].effects;
    const auto is_loop = [&](NodeId e) { return ready[e].op == KernelOp::For; };
    return std::none_of(effects.begin(), effects.end(), is_loop) &&
           std::none_of(stored.begin(), stored.end(), [&](int b) { return loaded.contains(b); });
}

bool is_at_own_index(const KernelCode& code, const KernelNode& access) {
    const KernelNode& index = code[access.args[0]];
    const auto* range = index.get_if<RangeId>();
    return index.op == KernelOp::Constant || (range && code[*range].kind == RangeKind::Grid);
}

namespace {

/// A store at the grid's index may pass the end only if the buffer ends where the grid does: its
/// memory is padded to a whole block. A tensor with more elements than the grid has its own
/// elements there.
bool store_may_pass_the_end(const KernelCode& ready, const KernelNode& store) {
    const auto* range = ready[store.args[0]].get_if<RangeId>();
    const KernelBuffer& buffer = ready.buffers[store.as<AccessAttr>().buffer];
    if (!is_at_own_index(ready, store) || buffer.dtype.bytes() > 4) return false;
    return !range || buffer.elements == ready[*range].extent;
}

}  // namespace

bool may_pass_the_end(const KernelCode& ready) {
    const auto may = [&](NodeId id) {
        const KernelNode& n = ready[id];
        if (n.op == KernelOp::Atomic) return false;  // elements behind the end must not take part
        if (n.op == KernelOp::Store) return store_may_pass_the_end(ready, n);
        return n.op != KernelOp::Load ||
               (is_at_own_index(ready, n) &&
                ready.buffers[n.as<AccessAttr>().buffer].dtype.bytes() <= 4);
    };
    return std::all_of(ready.regions.begin(), ready.regions.end(), [&](const KernelRegion& region) {
        return std::all_of(region.order.begin(), region.order.end(), may) &&
               std::all_of(region.effects.begin(), region.effects.end(), may);
    });
}

bool stores_pass_the_end(const KernelCode& ready) {
    const std::vector<NodeId>& effects = ready[kRoot].effects;
    return grid_extents(ready).size() == 1 &&
           std::all_of(effects.begin(), effects.end(), [&](NodeId id) {
               const KernelNode& n = ready[id];
               return n.op == KernelOp::Store && ready[n.args[0]].op == KernelOp::Range &&
                      store_may_pass_the_end(ready, n);
           });
}

bool pads_tiles(const KernelCode& ready, const Mapping& mapping) {
    const std::vector<Size> extents = grid_extents(ready);
    for (size_t d = 0; d < extents.size(); ++d) {
        const int64_t tile = mapping.tile_of(d);
        if (extents[d].divisor() % tile != 0)
            return tile != kBlockWidth || extents.size() > 1 || !may_pass_the_end(ready);
    }
    return false;
}

MappedGrid map_grid(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
                    const DeviceProfile& profile) {
    return GridMapper(from, b, mapping, profile).run();
}

NodeId subgroup_lane(KernelBuilder& b, const DeviceProfile& profile) {
    return new_range(b, "l", RangeKind::Subgroup, Size(profile.subgroup_size), 0);
}

NodeId invocation_of_group(KernelBuilder& b, const Mapping& mapping) {
    return new_range(b, "i", RangeKind::Invocation, Size(mapping.group.x), 0);
}

}  // namespace firn
