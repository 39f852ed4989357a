// Products of matrices by the device's matrix unit.
#include "compiler/mapping/walk/matrix_units.h"

#include "compiler/base/error.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/launch_groups.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/mapping/walk/map_grid.h"

namespace firn {
namespace {

/// Rows or columns of the result as the matrices of one subgroup have them.
struct Axis {
    RangeId range;               // of the lowered kernel
    int64_t unit = 1;            // rows or columns of a matrix
    int64_t matrices = 1;        // side by side in a subgroup
    int64_t subgroups = 1;       // of a group
    NodeId first;                // the first matrix, also behind the end
    std::vector<NodeId> begin;   // row or column where a matrix begins
    std::vector<NodeId> inside;  // that it exists; none: always
};

class MatrixMapper {
  public:
    MatrixMapper(const KernelCode& from, const MatrixProduct& product, KernelCode& to,
                 const Mapping& mapping, const DeviceProfile& profile, const SymbolFacts& facts)
        : from_(from),
          product_(product),
          b_(to, facts),
          tiles_(mapping.matrix),
          profile_(profile),
          shape_{static_cast<int>(profile.matrix_unit.rows),
                 static_cast<int>(profile.matrix_unit.columns)} {}

    void run() {
        KernelCode& to = b_.code();
        to.name = from_.name;
        to.group_size = {static_cast<uint32_t>(tiles_.subgroups()) * profile_.subgroup_size, 1, 1};
        place_matrices();
        b_.set_lines(from_[product_.loop].lines);
        const std::vector<NodeId> sums = sum_up();
        if (product_.target)
            to[kRoot].effects = store_matrices(sums);
        else
            to[kRoot].effects = hand_to_lanes(sums);
        to.in_order = !product_.target;
    }

  private:
    NodeId subgroup_range(const char* name, int64_t extent, int dim) {
        if (extent == 1) return b_.integer(0);
        Range range;
        range.name = name;
        range.kind = RangeKind::Subgroup;
        range.extent = Size(extent);
        range.dim = dim;
        return b_.range(b_.add_range(range));
    }

    // --- where the subgroup's block lies

    void place_matrices() {
        columns_ = {
            product_.column, shape_.columns, tiles_.across, tiles_.subgroups_across, {}, {}, {}};
        rows_ = {product_.row, shape_.rows, tiles_.down, tiles_.subgroups_down, {}, {}, {}};
        const std::vector<RangeId> batch = batch_ranges(from_, product_);
        std::vector<Size> groups{groups_along(columns_), groups_along(rows_)};
        for (RangeId range : batch) groups.push_back(from_[range].extent);
        const GroupIndices launched = launch_groups(b_, groups, profile_);
        subgroup_ = subgroup_range("s", tiles_.subgroups(), 1);
        const NodeId across = b_.integer(tiles_.subgroups_across);
        place_axis(columns_, launched.index[0], b_.make(KernelOp::Mod, i32, {subgroup_, across}),
                   true);
        place_axis(rows_, launched.index[1], b_.make(KernelOp::Div, i32, {subgroup_, across}),
                   launched.covered || !batch.empty());
        for (size_t k = 0; k < batch.size(); ++k) {
            NodeId at = launched.index[k + 2];
            if (k + 1 == batch.size() && !launched.covered) {
                const NodeId count = b_.size(from_[batch[k]].extent);
                in_batch_ = b_.make(KernelOp::Less, boolean, {at, count});
                at = b_.make(KernelOp::Min, i32, {at, b_.sub(count, b_.integer(1))});
            }
            b_.assume(at, Size(0), from_[batch[k]].extent - Size(1));
            batch_.emplace_back(batch[k], at);
        }
    }

    Size matrices_along(const Axis& axis) const {
        return floor_div(from_[axis.range].extent, Size(axis.unit));
    }
    Size groups_along(const Axis& axis) const {
        return ceil_div(matrices_along(axis), Size(axis.matrices * axis.subgroups));
    }

    /// `covered`: there are no groups behind the end.
    void place_axis(Axis& axis, NodeId group, NodeId subgroup, bool covered) {
        const Size all = matrices_along(axis);
        const bool whole = covered && all.divisor() % (axis.matrices * axis.subgroups) == 0;
        axis.first = b_.add(b_.mul(group, b_.integer(axis.matrices * axis.subgroups)),
                            b_.mul(subgroup, b_.integer(axis.matrices)));
        for (int64_t k = 0; k < axis.matrices; ++k) {
            NodeId at = b_.add(axis.first, b_.integer(k));
            axis.inside.push_back(whole ? NodeId()
                                        : b_.make(KernelOp::Less, boolean, {at, b_.size(all)}));
            at = last_inside(axis, at, whole);
            axis.begin.push_back(b_.mul(at, b_.integer(axis.unit)));
        }
    }

    NodeId last_inside(const Axis& axis, NodeId at, bool inside) {
        const Size last = matrices_along(axis) - Size(1);
        if (!inside) at = b_.make(KernelOp::Min, i32, {at, b_.size(last)});
        b_.assume(at, Size(0), last);
        return at;
    }

    // --- sums

    /// The matrices of the block, row by row.
    std::vector<NodeId> sum_up() {
        const NodeId zero =
            b_.matrix(KernelOp::MatrixFill, f32, shape_, {b_.constant(scalar_float(0))});
        const std::vector<NodeId> inits(static_cast<size_t>(tiles_.across * tiles_.down), zero);
        const auto depth = static_cast<int>(profile_.matrix_unit.depth);
        Range range = from_[product_.iteration];
        range.extent = floor_div(product_.iterations, Size(depth));
        range.extent_node = b_.size(range.extent);
        if (range.max_trips >= 0) range.max_trips /= depth;
        if (range.extent.is_constant()) range.max_trips = range.extent.constant();
        const RangeId range_id = b_.add_range(range);
        const RegionId region = b_.add_region();
        b_.code()[region].range = range_id;
        std::vector<NodeId> sums, left, right;
        for (size_t k = 0; k < inits.size(); ++k)
            sums.push_back(b_.region_arg(region, f32, shape_));
        const NodeId iteration = b_.mul(b_.range(range_id), b_.integer(depth));
        for (NodeId row : rows_.begin)
            left.push_back(operand(product_.left, row, {}, iteration, {shape_.rows, depth}));
        for (NodeId column : columns_.begin)
            right.push_back(
                operand(product_.right, {}, column, iteration, {depth, shape_.columns}));
        for (size_t i = 0; i < left.size(); ++i)
            for (size_t j = 0; j < right.size(); ++j) {
                NodeId& sum = sums[i * right.size() + j];
                sum = b_.matrix(KernelOp::MatrixMulAdd, f32, shape_, {left[i], right[j], sum});
            }
        b_.code()[region].yields = sums;
        const NodeId loop = b_.close_for(region, inits);
        for (size_t k = 0; k < sums.size(); ++k) sums[k] = b_.result(loop, static_cast<int>(k));
        return sums;
    }

    /// Copies of the lowered kernel's nodes at a row, a column and an iteration; none: they do
    /// not depend on it.
    Rebuild at(NodeId row, NodeId column, NodeId iteration) {
        Rebuild out(from_, b_);
        if (row) out.bind_grid(product_.row, row);
        if (column) out.bind_grid(product_.column, column);
        if (iteration) out.bind_grid(product_.iteration, iteration);
        for (const auto& [range, index] : batch_) out.bind_grid(range, index);
        return out;
    }

    NodeId operand(const MatrixPlace& place, NodeId row, NodeId column, NodeId iteration,
                   MatrixShape shape) {
        const KernelNode& load = from_[place.node];
        const NodeId index = at(row, column, iteration).value(load.args[0]);
        return b_.matrix(KernelOp::MatrixLoad, f16, shape, {index, b_.size(place.stride)},
                         bound(load.as<AccessAttr>().buffer, false), place.column_major);
    }

    int bound(int buffer, bool written) {
        const KernelBuffer& b = from_.buffers[static_cast<size_t>(buffer)];
        return b_.buffer(b.buffer, b.dtype, b.elements, BindingForm::Storage, 1, written);
    }

    // --- results

    NodeId both(NodeId a, NodeId b) {
        return !a ? b : !b ? a : b_.make(KernelOp::And, boolean, {a, b});
    }

    std::vector<NodeId> guarded(NodeId condition, std::vector<NodeId> effects) {
        if (!condition) return effects;
        const RegionId region = b_.add_region();
        b_.code()[region].effects = std::move(effects);
        return {b_.branch(condition, region, {}, true)};
    }

    std::vector<NodeId> store_matrices(const std::vector<NodeId>& sums) {
        const KernelNode& store = from_[product_.target->node];
        const int target = store.as<AccessAttr>().buffer, buffer = bound(target, true);
        const DType stored = from_.buffers[static_cast<size_t>(target)].dtype;
        b_.set_lines(store.lines);
        std::vector<NodeId> effects;
        for (size_t i = 0; i < rows_.begin.size(); ++i)
            for (size_t j = 0; j < columns_.begin.size(); ++j) {
                NodeId sum = sums[i * columns_.begin.size() + j];
                if (stored == f16) sum = b_.matrix(KernelOp::MatrixCast, f16, shape_, {sum});
                const NodeId index = at(rows_.begin[i], columns_.begin[j], {}).value(store.args[0]);
                const NodeId made = b_.matrix(KernelOp::MatrixStore, stored, shape_,
                                              {index, b_.size(product_.target->stride), sum},
                                              buffer, product_.target->column_major);
                const std::vector<NodeId> all =
                    guarded(both(in_batch_, both(rows_.inside[i], columns_.inside[j])), {made});
                effects.insert(effects.end(), all.begin(), all.end());
            }
        return effects;
    }

    /// A row of matrices at a time goes through an array of the group, in which each subgroup has
    /// its own part.
    std::vector<NodeId> hand_to_lanes(const std::vector<NodeId>& sums) {
        const int64_t width = columns_.matrices * columns_.unit, part = rows_.unit * width;
        const int buffer = b_.own_memory(MemorySpace::Shared, f32, Size(tiles_.subgroups() * part));
        const NodeId begin = b_.mul(subgroup_, b_.integer(part));
        const NodeId lane = subgroup_range("l", profile_.subgroup_size, 0);
        std::vector<NodeId> effects;
        for (size_t i = 0; i < rows_.begin.size(); ++i) {
            if (i > 0) effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
            for (int64_t j = 0; j < columns_.matrices; ++j)
                effects.push_back(
                    b_.matrix(KernelOp::MatrixStore, f32, shape_,
                              {b_.add(begin, b_.integer(j * columns_.unit)), b_.integer(width),
                               sums[i * columns_.begin.size() + static_cast<size_t>(j)]},
                              buffer));
            effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
            effects.push_back(finish_row(i, buffer, begin, lane, part, width));
        }
        return effects;
    }

    /// Deals the elements of a row of matrices to the lanes, neighbouring elements to neighbouring
    /// lanes.
    NodeId finish_row(size_t i, int buffer, NodeId begin, NodeId lane, int64_t part,
                      int64_t width) {
        Range range;
        range.name = "e";
        range.kind = RangeKind::Serial;
        range.max_trips = part / profile_.subgroup_size;
        range.extent = Size(range.max_trips);
        range.extent_node = b_.integer(range.max_trips);
        const RangeId range_id = b_.add_range(range);
        const RegionId region = b_.add_region();
        b_.code()[region].range = range_id;
        const NodeId element =
            b_.add(b_.mul(b_.range(range_id), b_.integer(profile_.subgroup_size)), lane);
        const NodeId row = b_.make(KernelOp::Div, i32, {element, b_.integer(width)});
        const NodeId along = b_.make(KernelOp::Mod, i32, {element, b_.integer(width)});
        const auto [column, inside] = column_of(along);
        const NodeId sum = b_.pinned(KernelOp::Load, f32, {b_.add(begin, element)}, buffer);
        Rebuild lanes = at(b_.add(rows_.begin[i], row), column, {});
        lanes.bind(product_.result, sum);
        std::vector<NodeId> effects{sum};
        for (NodeId e :
             guarded(both(in_batch_, both(rows_.inside[i], inside)), lanes.effects(kRoot)))
            effects.push_back(e);
        b_.code()[region].effects = std::move(effects);
        return b_.close_for(region, {});
    }

    /// Column `along` of the block, and that it exists.
    std::pair<NodeId, NodeId> column_of(NodeId along) {
        const NodeId unit = b_.integer(columns_.unit);
        if (!columns_.inside[0]) return {b_.add(b_.mul(columns_.first, unit), along), {}};
        const NodeId matrix = b_.add(columns_.first, b_.make(KernelOp::Div, i32, {along, unit}));
        const NodeId inside =
            b_.make(KernelOp::Less, boolean, {matrix, b_.size(matrices_along(columns_))});
        return {b_.add(b_.mul(last_inside(columns_, matrix, false), unit),
                       b_.make(KernelOp::Mod, i32, {along, unit})),
                inside};
    }

    const KernelCode& from_;
    const MatrixProduct& product_;
    KernelBuilder b_;
    const MatrixTiles tiles_;
    const DeviceProfile& profile_;
    const MatrixShape shape_;  // of the unit's results
    Axis columns_, rows_;
    std::vector<std::pair<RangeId, NodeId>> batch_;  // range, its index
    NodeId in_batch_;  // that the group is inside the batch; none: always
    NodeId subgroup_;
};

int64_t handed_bytes(const MatrixTiles& tiles, const DeviceProfile& profile) {
    return tiles.subgroups() * tiles.across * profile.matrix_unit.rows *
           profile.matrix_unit.columns * 4;
}

}  // namespace

std::string why_no_matrix_unit(const MappingCase& of) {
    const Mapping& m = of.mapping;
    const MatrixTiles& t = m.matrix;
    const auto product = matrix_product(of.ready, of.profile);
    if (!product) return "the device has no matrix unit that computes this kernel";
    if (m.group.x != t.subgroups() * of.profile.subgroup_size || m.group.y != 1)
        return "the group is not one row of its subgroups";
    if (!product->target && handed_bytes(t, of.profile) > of.profile.shared_bytes)
        return "the values that lanes exchange exceed the shared memory of a group";
    return "";
}

KernelCode map_to_matrix_unit(const KernelCode& lowered, const Mapping& mapping,
                              const DeviceProfile& profile, const SymbolFacts& facts) {
    const auto product = matrix_product(lowered, profile);
    ensure(product.has_value(), "map: the matrix unit does not compute this kernel");
    KernelCode code;
    MatrixMapper(lowered, *product, code, mapping, profile, facts).run();
    return code;
}

}  // namespace firn
