// Movement, gathers, stores and reductions.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/builder_checks.h"
#include "compiler/ir/text.h"

namespace firn {

Ref reshape(Builder b, const Ref& x, Shape shape) {
    std::string asked = "reshape: " + text(x->shape) + " to " + text(shape);
    Size count = element_count(x->shape), known = 1;
    int open = -1;
    for (size_t k = 0; k < shape.size(); ++k) {
        if (!shape[k].is(-1)) {
            if (shape[k].upper_bound() < 0)
                fail(b, asked + ": a size is negative; only one -1 may be left open");
            known *= shape[k];
        } else if (open >= 0) {
            fail(b, asked + ": two sizes are -1; give all but one");
        } else {
            open = static_cast<int>(k);
        }
    }
    if (open >= 0) {
        if (known.is(0))
            fail(b, asked + ": the open size can be anything beside a size of 0; give it");
        shape[static_cast<size_t>(open)] = floor_div(count, known);
        known *= shape[static_cast<size_t>(open)];
    }
    if (x->shape == shape) return x;
    require_equal(b, count, known,
                  asked + ": " + count.text() + " elements do not fill " + known.text() +
                      "; the number of elements must stay the same");
    return b.table.intern(Op::Reshape, x->dtype, std::move(shape), {x}, {}, b.line);
}

Ref permute(Builder b, const Ref& x, std::vector<int> axes) {
    std::string asked = "permute of " + text(x->shape);
    if (static_cast<int>(axes.size()) != x->rank())
        fail(b, asked + ": " + std::to_string(axes.size()) + " axes are given; name each of the " +
                    std::to_string(x->rank()) + " once");
    std::vector<bool> used(axes.size(), false);
    Shape shape;
    for (int& axis : axes) {
        axis = checked_axis(b, axis, x->rank(), asked);
        if (used[static_cast<size_t>(axis)])
            fail(b,
                 asked + ": axis " + std::to_string(axis) + " is given twice; name each axis once");
        used[static_cast<size_t>(axis)] = true;
        shape.push_back(x->shape[static_cast<size_t>(axis)]);
    }
    if (std::is_sorted(axes.begin(), axes.end())) return x;
    return b.table.intern(Op::Permute, x->dtype, std::move(shape), {x},
                          PermuteAttr{std::move(axes)}, b.line);
}

namespace {

void check_slice_axis(const Builder& b, const std::string& asked, size_t axis, const Size& n,
                      const Size& begin, const Size& extent, int64_t step) {
    std::string where = asked + ", axis " + std::to_string(axis) + " of size " + n.text() + ": ";
    if (step == 0) fail(b, where + "the step is 0; use 1, or a negative step to go backwards");
    if (extent.upper_bound() < 0) fail(b, where + "the extent " + extent.text() + " is negative");
    if (extent.is(0)) return;
    Size last = begin + Size(step) * (extent - 1);
    const Size& lowest = step > 0 ? begin : last;
    const Size& highest = step > 0 ? last : begin;
    std::string outside = where + "elements " + begin.text() + " to " + last.text() +
                          " are not all inside; a slice does not clamp, so cut its range";
    if (extent == n && step == 1 && begin.is(0)) return;
    require_less_equal(b, 0, extent, where + "the extent " + extent.text() + " is negative");
    require_less_equal(b, 0, lowest, outside);
    require_less_equal(b, highest + 1, n, outside);
}

}  // namespace

Ref slice(Builder b, const Ref& x, std::vector<Size> begin, std::vector<Size> extent,
          std::vector<int64_t> step) {
    std::string asked = "slice of " + text(x->shape);
    size_t rank = x->shape.size();
    if (begin.size() > rank || extent.size() != begin.size() || step.size() != begin.size())
        fail(b, asked + ": " + std::to_string(begin.size()) + " begins, " +
                    std::to_string(extent.size()) + " extents and " + std::to_string(step.size()) +
                    " steps are given; give one each per axis");
    for (size_t k = 0; k < begin.size(); ++k)
        check_slice_axis(b, asked, k, x->shape[k], begin[k], extent[k], step[k]);
    for (size_t k = begin.size(); k < rank; ++k) {
        begin.push_back(0);
        extent.push_back(x->shape[k]);
        step.push_back(1);
    }
    bool moves = extent != x->shape;
    for (size_t k = 0; k < rank; ++k) moves |= !begin[k].is(0) || step[k] != 1;
    if (!moves) return x;
    return b.table.intern(Op::Slice, x->dtype, std::move(extent), {x},
                          SliceAttr{std::move(begin), std::move(step)}, b.line);
}

Ref pad(Builder b, const Ref& x, std::vector<Size> before, std::vector<Size> after, Scalar value) {
    std::string asked = "pad of " + text(x->shape);
    size_t rank = x->shape.size();
    if (before.size() != rank || after.size() != rank)
        fail(b, asked + ": " + std::to_string(before.size()) + " and " +
                    std::to_string(after.size()) +
                    " widths are given; give one before and one after per axis");
    Shape shape;
    bool moves = false;
    for (size_t k = 0; k < rank; ++k) {
        if (before[k].upper_bound() < 0 || after[k].upper_bound() < 0)
            fail(b, asked + ", axis " + std::to_string(k) + ": widths " + before[k].text() +
                        " and " + after[k].text() + " must not be negative; use slice to cut");
        shape.push_back(before[k] + x->shape[k] + after[k]);
        moves |= !before[k].is(0) || !after[k].is(0);
    }
    if (!moves) return x;
    return b.table.intern(Op::Pad, x->dtype, std::move(shape), {x},
                          PadAttr{std::move(before), std::move(after), value.to(x->dtype)}, b.line);
}

Ref as_index(const Builder& b, const Ref& index) {
    const DType own = index->dtype;
    if (own.bytes() < 8) return cast(b, index, i32);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    Ref near = elementwise(b, Op::Min, {index, constant_int(b, kMost, own)});
    if (own.is_signed()) near = elementwise(b, Op::Max, {near, constant_int(b, -kMost - 1, own)});
    return cast(b, near, i32);
}

namespace {

/// Casts the indices to i32, broadcasts them together with `shape`, and adds an Index for every
/// trailing axis of `x` that none was given for. `shape` becomes the shape of the access.
void complete_indices(const Builder& b, const std::string& asked, const Ref& x,
                      std::vector<Ref>& indices, Shape& shape) {
    size_t given = indices.size(), rank = x->shape.size();
    if (given > 0 && rank == 0)
        fail(b, asked +
                    ": the tensor is one number and has no axes; say x without an index, or start "
                    "it with one, as zeros({1})");
    if (given > rank)
        fail(b, asked + ": " + std::to_string(given) + " indices are given, the tensor has " +
                    std::to_string(rank) + " axes; give at most one per axis");
    Shape leading;
    for (size_t k = 0; k < given; ++k) {
        DType dtype = indices[k]->dtype;
        if (!dtype.is_integer())
            fail(b, asked + ": index " + std::to_string(k) + " is " + dtype.name() +
                        "; indices are integers, so cast it (floor or round it first where it is a "
                        "float)");
        indices[k] = as_index(b, indices[k]);
        leading = broadcast_shapes(b, leading, indices[k]->shape, asked + " by indices");
    }
    size_t trailing = rank - given;
    Shape full = leading;
    full.insert(full.end(), x->shape.begin() + static_cast<long>(given), x->shape.end());
    shape = broadcast_shapes(b, full, shape, asked);
    // Broadcasting may have added leading dimensions: trailing axes keep their place from the
    // right.
    leading.assign(shape.begin(), shape.end() - static_cast<long>(trailing));
    for (Ref& each : indices) {
        Shape with_ones = each->shape;
        with_ones.insert(with_ones.end(), trailing, Size(1));
        each = fit(b, reshape(b, each, with_ones), shape, asked);
    }
    for (size_t k = 0; k < trailing; ++k)
        indices.push_back(index(b, shape, static_cast<int>(leading.size() + k)));
}

/// An index of 64 bits within the period of a mode that goes around a size: before it is an i32.
Ref within_period(const Builder& b, const Ref& index, Bounds mode, const Size& size) {
    const DType own = index->dtype;
    if (!own.is_integer() || own.bytes() < 8) return index;
    if (mode != Bounds::Wrap && mode != Bounds::Mirror && mode != Bounds::Reflect) return index;
    Ref period = cast(b, size_value(b, size), own);
    if (mode != Bounds::Wrap) period = elementwise(b, Op::Add, {period, period});
    if (mode == Bounds::Reflect)  // 0 for one element, and a remainder by 0 is 0
        period = elementwise(b, Op::Sub, {period, cast(b, constant_int(b, 2), own)});
    return elementwise(b, Op::Mod, {index, period});
}

}  // namespace

Ref gather(Builder b, const Ref& x, std::vector<Ref> indices, std::vector<Bounds> modes,
           Scalar fill, bool own) {
    std::string asked = "read of " + text(x->shape);
    if (modes.empty()) modes.assign(indices.size(), Bounds::Clamp);
    if (modes.size() == 1) modes.assign(indices.size(), modes[0]);
    if (modes.size() != indices.size())
        fail(b, asked + ": " + std::to_string(modes.size()) + " bounds modes for " +
                    std::to_string(indices.size()) + " indices; give one, or one per index");
    // The indices of whole trailing rows are inside by construction.
    modes.resize(std::max(modes.size(), x->shape.size()), Bounds::Unchecked);
    for (size_t k = 0; k < std::min(indices.size(), x->shape.size()); ++k)
        indices[k] = within_period(b, indices[k], modes[k], x->shape[k]);
    Shape shape;
    complete_indices(b, asked, x, indices, shape);
    indices.insert(indices.begin(), x);
    return b.table.intern(Op::Gather, x->dtype, std::move(shape), std::move(indices),
                          GatherAttr{std::move(modes), fill.to(x->dtype), own}, b.line);
}

Ref checked_read(Builder b, const Node& node, const std::vector<Ref>& inputs) {
    GatherAttr attr = node.as<GatherAttr>();
    for (size_t axis = 0; axis < attr.modes.size(); ++axis)
        if (attr.modes[axis] == Bounds::Unchecked && inputs[axis + 1]->op != Op::Index)
            attr.modes[axis] = Bounds::Clamp;
    Ref made = b.table.intern(node.op, node.dtype, node.shape, inputs, attr);
    note_lines(*made, node.lines);
    return made;
}

Ref scatter(Builder b, const Ref& x, const Ref& values, std::vector<Ref> indices,
            ScatterAttr attr) {
    std::string asked = "store into " + text(x->shape);
    const bool bits =
        attr.op == ScatterOp::And || attr.op == ScatterOp::Or || attr.op == ScatterOp::Xor;
    if (bits && x->dtype.is_float())
        fail(b,
             asked + ": bits of " + x->dtype.name() + " are not combined; cast the tensor to i32");
    Shape shape = values->shape, index_shape;
    complete_indices(b, asked, x, indices, index_shape);
    Shape joined = broadcast_shapes(b, index_shape, shape, asked + " of values");
    if (joined != index_shape)
        fail(b, asked + ": values " + text(shape) + " do not fit the indices' shape " +
                    text(index_shape) +
                    "; values may only be repeated to the indices, so reduce or index them");
    Ref fitted = fit(b, cast(b, values, x->dtype), index_shape, asked);
    if (attr.op != ScatterOp::Last && (x->dtype.is_narrow() || (x->dtype.is_bool() && !bits))) {
        if (attr.by_hand)
            fail(b,
                 asked +
                     ": inside kernel(...) stores that combine are made where the tensor is, and " +
                     x->dtype.name() + " has none; use an i32 tensor");
        return cast(b, scatter(b, cast(b, x, i32), cast(b, fitted, i32), std::move(indices), attr),
                    x->dtype);
    }
    indices.insert(indices.begin(), {x, fitted});
    return b.table.intern(Op::Scatter, x->dtype, x->shape, std::move(indices), attr, b.line);
}

namespace {

DType reduced_type(ReduceOp op, DType dtype) {
    if (monoid(op).logical) return boolean;
    return arithmetic_type(dtype);
}

}  // namespace

Ref reduce(Builder b, ReduceOp op, const Ref& x, std::vector<int> axes, bool keep_dims) {
    std::string asked = std::string(name(op)) + " of " + text(x->shape);
    if (axes.empty())
        for (int axis = 0; axis < x->rank(); ++axis) axes.push_back(axis);
    for (int& axis : axes) axis = checked_axis(b, axis, x->rank(), asked);
    std::sort(axes.begin(), axes.end());
    for (size_t k = 1; k < axes.size(); ++k)
        if (axes[k] == axes[k - 1])
            fail(b, asked + ": axis " + std::to_string(axes[k]) +
                        " is given twice; name each axis once");
    const bool position = monoid(op).position_of.has_value();
    if (position && axes.size() != 1)
        fail(b, asked + ": a position is along one axis; reshape the axes to one");
    Ref value = cast(b, x, reduced_type(op, x->dtype));
    if (axes.empty()) return value;
    Shape shape, kept;
    bool extremum = monoid(op).step == Op::Min || monoid(op).step == Op::Max;
    for (int axis = 0; axis < x->rank(); ++axis) {
        const Size& size = x->shape[static_cast<size_t>(axis)];
        bool reduced = std::binary_search(axes.begin(), axes.end(), axis);
        if (reduced && extremum && size.is(0))
            fail(b, asked + ": axis " + std::to_string(axis) +
                        " has no elements, and no elements have no extremum; check the size first");
        if (!reduced) shape.push_back(size);
        kept.push_back(reduced ? Size(1) : size);
    }
    DType dtype = position ? i32 : value->dtype;
    Ref out = b.table.intern(Op::Reduce, dtype, std::move(shape), {value},
                             ReduceAttr{op, std::move(axes)}, b.line);
    return keep_dims ? reshape(b, out, kept) : out;
}

Ref host_call(Builder b, std::shared_ptr<const HostOperation> operation, const Ref& x) {
    Shape shape = operation->output_shape(x->shape);
    return b.table.intern(Op::HostCall, x->dtype, std::move(shape), {x},
                          HostCallAttr{std::move(operation)}, b.line);
}

Ref ruled(Builder b, const Ref& value, std::vector<Ref> inputs, ReverseRule rule,
          ForwardRule forward) {
    inputs.insert(inputs.begin(), value);
    RuledAttr attr{std::make_shared<const ReverseRule>(std::move(rule)), nullptr};
    if (forward) attr.forward = std::make_shared<const ForwardRule>(std::move(forward));
    return b.table.intern(Op::Ruled, value->dtype, value->shape, std::move(inputs), attr, b.line);
}

}  // namespace firn
