// Maps kernels whose workgroups hold whole rows.
#include "compiler/mapping/walk/row_groups.h"

#include <algorithm>
#include <bit>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/kernel/place.h"
#include "compiler/kernel/rows.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/combine_tree.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/mapping/walk/mapping_run.h"

namespace firn {
namespace {

const Size& row_extent(const KernelCode& lowered) {
    const Size* extent = nullptr;
    for (const Range& range : lowered.ranges)
        if (range.kind == RangeKind::Grid) extent = &range.extent;
    ensure(extent, "a kernel without a grid has no rows");
    return *extent;
}

/// Values of the subgroups of a group, one at a time for each lane, on their way through shared
/// memory.
class Exchange {
  public:
    Exchange(KernelBuilder& b, const RowGroup& group, ReduceOp op, std::vector<NodeId>& effects)
        : b_(b), group_(group), op_(op), effects_(effects) {}

    /// Reduces at most as many values as there are lanes.
    std::vector<NodeId> run(const std::vector<NodeId>& values) {
        const NodeId all =
            group_.subgroups > group_.lanes ? in_two_steps(values) : in_one_step(values);
        const auto rows = static_cast<int64_t>(std::bit_ceil(values.size()));
        std::vector<NodeId> out;
        for (size_t k = 0; k < values.size(); ++k) {
            NodeId total;
            for (int64_t part = 0; part < parts_; ++part) {
                const auto lane = static_cast<int>(static_cast<int64_t>(k) + part * rows);
                total = combined(total, b_.shuffle(all, lane, b_.integer(lane)));
            }
            out.push_back(total);
        }
        return out;
    }

  private:
    NodeId integer(int64_t value) { return b_.integer(value); }
    NodeId sum(NodeId a, NodeId b) { return b_.add(a, b); }
    NodeId scaled(NodeId a, int64_t by) { return b_.mul(a, integer(by)); }
    NodeId pin(NodeId node) { return effects_.push_back(node), node; }
    void barrier() { pin(b_.pinned(KernelOp::Barrier, i32, {})); }
    NodeId combined(NodeId a, NodeId b) {
        return !a ? b : b_.make(kernel_op(reduce_step(op_)), b_.node(b).dtype, {a, b});
    }

    /// Lane k has values[k modulo `rows`], the last one where there are fewer.
    NodeId of_lane(const std::vector<NodeId>& values, int64_t rows) {
        const NodeId row = rows < group_.lanes
                               ? b_.make(KernelOp::Mod, i32, {group_.lane, integer(rows)})
                               : group_.lane;
        NodeId mine = values.back();
        for (size_t k = values.size() - 1; k-- > 0;)
            mine = b_.select(
                b_.make(KernelOp::Equal, boolean, {row, integer(static_cast<int64_t>(k))}),
                values[k], mine);
        return mine;
    }

    int shared_array(DType dtype) {
        return b_.own_memory(MemorySpace::Shared, dtype, Size(group_.subgroups * group_.lanes));
    }
    void store(int buffer, NodeId at, NodeId value) {
        pin(b_.store(buffer, at, std::span(&value, 1)));
    }
    /// The identity where subgroup `of` does not exist.
    NodeId load(int buffer, NodeId at, NodeId of, DType dtype) {
        const NodeId last = integer(group_.subgroups - 1);
        const NodeId inside = b_.make(KernelOp::LessEqual, boolean, {of, last});
        const NodeId value =
            pin(b_.pinned(KernelOp::Load, dtype, {b_.select(inside, at, integer(0))}, buffer));
        return b_.select(inside, value, b_.constant(reduce_identity(op_, dtype)));
    }

    /// Makes every subgroup read the partial results of all: each lane those of one row, and of
    /// every parts_-th subgroup.
    NodeId in_one_step(const std::vector<NodeId>& values) {
        const DType dtype = b_.node(values[0]).dtype;
        const auto rows = static_cast<int64_t>(std::bit_ceil(values.size()));
        parts_ = group_.lanes / rows;
        const int buffer = shared_array(dtype);
        store(buffer, sum(scaled(group_.subgroup, group_.lanes), group_.lane),
              of_lane(values, rows));
        barrier();
        const NodeId row = b_.make(KernelOp::Mod, i32, {group_.lane, integer(rows)});
        const NodeId part = b_.make(KernelOp::Div, i32, {group_.lane, integer(rows)});
        NodeId all;
        for (int64_t s = 0; s < group_.subgroups; s += parts_) {
            const NodeId of = sum(part, integer(s));
            all = combined(all, load(buffer, sum(scaled(of, group_.lanes), row), of, dtype));
        }
        return all;
    }

    /// A subgroup combines one row for all of them, which then read the results: less to read where
    /// there are many.
    NodeId in_two_steps(const std::vector<NodeId>& values) {
        const DType dtype = b_.node(values[0]).dtype;
        const auto rows = static_cast<int64_t>(values.size());
        const int parts = shared_array(dtype), results = shared_array(dtype);
        store(parts, sum(scaled(group_.lane, group_.subgroups), group_.subgroup),
              of_lane(values, group_.lanes));
        barrier();
        const NodeId own =
            scaled(b_.make(KernelOp::Mod, i32, {group_.subgroup, integer(rows)}), group_.subgroups);
        NodeId all;
        for (int64_t s = 0; s < group_.subgroups; s += group_.lanes) {
            const NodeId of = sum(group_.lane, integer(s));
            all = combined(all, load(parts, sum(own, of), of, dtype));
        }
        const NodeId total = b_.subgroup_reduce(op_, all);
        store(results, sum(scaled(group_.subgroup, group_.lanes), group_.lane), total);
        barrier();
        const NodeId row = b_.make(KernelOp::Min, i32, {group_.lane, integer(rows - 1)});
        return pin(b_.pinned(KernelOp::Load, dtype, {scaled(row, group_.lanes)}, results));
    }

    KernelBuilder& b_;
    const RowGroup& group_;
    ReduceOp op_;
    std::vector<NodeId>& effects_;
    int64_t parts_ = 1;  // lanes that have parts of one value in the end
};

/// Returns the live row reductions, each behind those that it needs.
std::vector<NodeId> live_row_reductions(const KernelCode& lowered) {
    KernelCode placed = lowered;
    place(placed);
    std::vector<NodeId> out;
    for (const KernelRegion& region : placed.regions)
        for (NodeId id : region.order)
            if (placed[id].op == KernelOp::RowReduce) out.push_back(id);
    std::sort(out.begin(), out.end());
    return out;
}

/// Reduces the part of a row that an invocation holds: `width` copies from `first` on.
NodeId own_part(MappingRun& run, const KernelNode& n, size_t first, size_t width) {
    std::vector<NodeId> each;
    for (size_t v = 0; v < width; ++v) each.push_back(copy_value(run, n.args[0], first + v));
    run.b.set_lines(n.lines);
    const NodeId part =
        combine_tree(run.b, kernel_op(reduce_step(n.as<ReduceOp>())), n.dtype, std::move(each));
    if (!run.grid.in_row) return part;
    return run.b.select(run.grid.in_row, part,
                        run.b.constant(reduce_identity(n.as<ReduceOp>(), n.dtype)));
}

}  // namespace

bool reduces_rows(const KernelCode& lowered) {
    return std::any_of(lowered.nodes.begin(), lowered.nodes.end(),
                       [](const KernelNode& n) { return n.op == KernelOp::RowReduce; });
}

std::string why_no_rows(const MappingCase& of) {
    if (!reduces_rows(of.ready)) return "";
    const Mapping& m = of.mapping;
    const auto stands_alone = [](int64_t number) { return number == 1; };
    if (!std::all_of(m.walk.begin(), m.walk.end(), stands_alone) || m.lanes > 1 || m.strides > 1 ||
        m.accumulators != MemorySpace::Bound)
        return "a group that holds a row excludes walk, strides, lanes and copies of targets";
    if (m.group.y != 1 || m.group.x % of.profile.subgroup_size != 0)
        return "it holds a row, and is no row of whole subgroups";
    if (!group_holds(row_extent(of.ready), m.tile_of(0), m.group.x, of.facts))
        return "its tiles do not hold a row of " + row_extent(of.ready).text();
    return "";
}

void hold_rows(Mapping& m, const KernelCode& lowered, const DeviceProfile& profile,
               const SymbolFacts& facts) {
    if (!reduces_rows(lowered)) return;
    const Size& extent = row_extent(lowered);
    m.tile.resize(std::max<size_t>(1, m.tile.size()), 1);
    m.tile[0] = row_tile(extent, m.tile[0], profile, facts);
    ensure(m.tile[0] > 0, "no group holds a row of this kernel");
    m.group.x =
        static_cast<uint32_t>(lanes_for_row(extent.upper_bound(facts.largest), m.tile[0], profile));
    m.group.y = 1;
    drop(m, {"accumulate", "lanes", "strides", "walk"});
}

std::vector<NodeId> combine_over_group(KernelBuilder& b, const RowGroup& group, ReduceOp op,
                                       std::vector<NodeId> values, std::vector<NodeId>& effects) {
    for (NodeId& value : values) value = b.subgroup_reduce(op, value);
    if (group.subgroups == 1) return values;
    const auto lanes = static_cast<size_t>(group.lanes);
    std::vector<NodeId> out;
    for (size_t first = 0; first < values.size(); first += lanes) {
        const auto begin = values.begin() + static_cast<long>(first);
        const auto end = values.begin() + static_cast<long>(std::min(first + lanes, values.size()));
        const std::vector<NodeId> part = Exchange(b, group, op, effects).run({begin, end});
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

std::vector<NodeId> reduce_rows(MappingRun& run) {
    const RowGroup group{run.grid.lane, run.grid.subgroup, run.profile.subgroup_size,
                         run.mapping.group.x / run.profile.subgroup_size};
    const auto width = static_cast<size_t>(run.mapping.tile_of(0));
    std::vector<NodeId> effects;
    for (NodeId id : live_row_reductions(run.from)) {
        const KernelNode& n = run.from[id];
        std::vector<NodeId> rows;
        for (size_t first = 0; first < run.copies.size(); first += width)
            rows.push_back(own_part(run, n, first, width));
        run.b.set_lines(n.lines);
        rows = combine_over_group(run.b, group, n.as<ReduceOp>(), std::move(rows), effects);
        for (size_t copy = 0; copy < run.copies.size(); ++copy)
            run.memo[copy][id] = rows[copy / width];
    }
    return effects;
}

}  // namespace firn
