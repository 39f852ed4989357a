// Movement, expressed by the builder's few forms.
#include "compiler/frontend/movement.h"

#include <algorithm>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/builder_checks.h"

namespace firn {
namespace {

int axis_of(const char* what, int axis, int rank, const Shape& shape, SourceLine line) {
    if (axis < -rank || axis >= rank)
        fail_at(line, std::string(what) + ": axis " + std::to_string(axis) +
                          " does not exist in shape " + text(shape) +
                          (rank ? "; give one from " + std::to_string(-rank) + " to " +
                                      std::to_string(rank - 1)
                                : "; a scalar has no axes"));
    return axis < 0 ? axis + rank : axis;
}

}  // namespace

Tensor reshape(const Operand& x, const Shape& shape) {
    return Tensor::from_node(reshape(builder_at(x), x.node(), shape));
}

Tensor permute(const Operand& x, const std::vector<int>& axes) {
    return Tensor::from_node(permute(builder_at(x), x.node(), axes));
}

Tensor expand(const Operand& x, const Shape& shape) {
    for (const Size& size : shape)
        if (size.upper_bound() < 0)
            fail_at(x.line(), "expand: the shape " + text(shape) +
                                  " has a negative size; sizes are 0 or more");
    return Tensor::from_node(expand(builder_at(x), x.node(), shape));
}

Tensor transpose(const Operand& x) {
    std::vector<int> axes;
    for (int axis = x.node()->rank() - 1; axis >= 0; --axis) axes.push_back(axis);
    return permute(x, axes);
}

Tensor Tensor::T(SourceLine line) const { return transpose(Operand(*this, line)); }

Tensor transpose(const Operand& x, int a, int b) {
    Ref node = x.node();
    std::vector<int> axes;
    for (int axis = 0; axis < node->rank(); ++axis) axes.push_back(axis);
    a = axis_of("transpose", a, node->rank(), node->shape, x.line());
    b = axis_of("transpose", b, node->rank(), node->shape, x.line());
    std::swap(axes[static_cast<size_t>(a)], axes[static_cast<size_t>(b)]);
    return permute(x, axes);
}

Tensor squeeze(const Operand& x, const SqueezeOptions& options) {
    Ref node = x.node();
    std::vector<bool> dropped(node->shape.size(), false);
    for (int axis : options.axis.values) {
        size_t k =
            static_cast<size_t>(axis_of("squeeze", axis, node->rank(), node->shape, x.line()));
        if (!node->shape[k].is(1))
            fail_at(x.line(), "squeeze: axis " + std::to_string(axis) + " of shape " +
                                  text(node->shape) + " has size " + node->shape[k].text() +
                                  "; only axes of size 1 can go");
        dropped[k] = true;
    }
    Shape shape;
    for (size_t k = 0; k < node->shape.size(); ++k) {
        if (options.axis.values.empty()) dropped[k] = node->shape[k].is(1);
        if (!dropped[k]) shape.push_back(node->shape[k]);
    }
    return reshape(x, shape);
}

Tensor unsqueeze(const Operand& x, int axis) {
    Shape shape = x.node()->shape;
    int at = axis_of("unsqueeze", axis, static_cast<int>(shape.size()) + 1, shape, x.line());
    shape.insert(shape.begin() + at, Size(1));
    return reshape(x, shape);
}

Tensor split_axis(const Operand& x, int axis, const Shape& sizes) {
    LineScope at(x.line());
    Shape shape = x.node()->shape;
    int k = checked_axis("split_axis", axis, shape);
    Size left = shape[static_cast<size_t>(k)];
    Shape parts = sizes;
    for (const Size& size : sizes)
        if (!size.is(-1) && !size.is(0)) left = floor_div(left, size);
    for (Size& size : parts)
        if (size.is(-1)) size = left;
    shape.erase(shape.begin() + k);
    shape.insert(shape.begin() + k, parts.begin(), parts.end());
    return reshape(x, shape);
}

Tensor merge_axes(const Operand& x, int first, int last) {
    LineScope at(x.line());
    Shape shape = x.node()->shape;
    int from = checked_axis("merge_axes", first, shape),
        to = checked_axis("merge_axes", last, shape);
    if (from > to)
        refuse("merge_axes: axis " + std::to_string(first) + " is behind axis " +
               std::to_string(last) + "; give the first one first");
    Size whole = element_count(Shape(shape.begin() + from, shape.begin() + to + 1));
    shape.erase(shape.begin() + from, shape.begin() + to);
    shape[static_cast<size_t>(from)] = whole;
    return reshape(x, shape);
}

Tensor roll(const Operand& x, const Arg& shift, const AlongOptions& options) {
    LineScope at(x.line());
    Ref node = x.node();
    if (!options.axis)
        return reshape(roll(reshape(x, {Size(-1)}), shift, {.axis = 0}), node->shape);
    int axis = checked_axis("roll", *options.axis, node->shape);
    if (!shift.node()->shape.empty() || !shift.node()->dtype.is_integer())
        refuse(std::string("roll: the shift is ") + shift.node()->dtype.name() +
               text(shift.node()->shape) + "; it is one integer");
    // The axis goes first, so that one index reads whole rows.
    Tensor rows = transpose(x, 0, axis);
    Tensor rolled = wrap(rows)(index(Shape{node->shape[static_cast<size_t>(axis)]}, 0) - shift);
    return transpose(rolled, 0, axis);
}

Tensor tile(const Operand& x, const Shape& counts) {
    LineScope at(x.line());
    Shape own = x.node()->shape, times = counts;
    size_t rank = std::max(own.size(), times.size());
    own.insert(own.begin(), rank - own.size(), Size(1));
    times.insert(times.begin(), rank - times.size(), Size(1));
    Shape apart, repeated, whole;
    for (size_t k = 0; k < rank; ++k) {
        if (times[k].upper_bound() < 0)
            refuse("tile: the counts " + text(counts) +
                   " have a negative one; repeat 0 times or more");
        apart.insert(apart.end(), {Size(1), own[k]});
        repeated.insert(repeated.end(), {times[k], own[k]});
        whole.push_back(times[k] * own[k]);
    }
    return reshape(expand(reshape(x, apart), repeated), whole);
}

Tensor repeat(const Operand& x, const Size& count, const AlongOptions& options) {
    LineScope at(x.line());
    if (!options.axis) return repeat(reshape(x, {Size(-1)}), count, {.axis = 0});
    Shape shape = x.node()->shape;
    int axis = checked_axis("repeat", *options.axis, shape);
    if (count.upper_bound() < 0)
        refuse("repeat: the count is " + count.text() + "; repeat 0 times or more");
    Shape apart = shape;
    apart.insert(apart.begin() + axis + 1, count);
    shape[static_cast<size_t>(axis)] *= count;
    return reshape(expand(unsqueeze(x, axis + 1), apart), shape);
}

namespace {

/// A position on an axis of size n as Python reads it: from the end where negative, cut to [0, n].
Size position(const Size& value, const Size& n) {
    Size at = value.is_constant() && value.constant() < 0 ? n + value : value;
    if (!at.is_constant() || !n.is_constant()) return at;
    return Size(std::clamp<int64_t>(at.constant(), 0, n.constant()));
}

}  // namespace

Tensor slice(const Operand& x, const SliceOptions& options) {
    Ref node = x.node();
    size_t axis =
        static_cast<size_t>(axis_of("slice", options.axis, node->rank(), node->shape, x.line()));
    if (options.step == 0)
        fail_at(x.line(), "slice: the step is 0; use 1, or a negative step to go backwards");
    const Size& n = node->shape[axis];
    Size begin = position(options.begin, n);
    Size length = (options.end ? position(*options.end, n) : n) - begin;
    if (length.is_constant() && length.constant() < 0) length = 0;
    std::vector<Size> begins(node->shape.size(), Size(0)), extents = node->shape;
    std::vector<int64_t> steps(node->shape.size(), 1);
    int64_t stride = options.step > 0 ? options.step : -options.step;
    begins[axis] = options.step > 0 ? begin : begin + length - Size(1);
    extents[axis] = ceil_div(length, Size(stride));
    steps[axis] = options.step;
    return Tensor::from_node(slice(builder_at(x), node, begins, extents, steps));
}

Tensor flip(const Operand& x, const FlipOptions& options) {
    Ref node = x.node();
    std::vector<Size> begins(node->shape.size(), Size(0));
    std::vector<int64_t> steps(node->shape.size(), 1);
    std::vector<int> axes = options.axis.values;
    if (axes.empty())
        for (int axis = 0; axis < node->rank(); ++axis) axes.push_back(axis);
    for (int axis : axes) {
        size_t k = static_cast<size_t>(axis_of("flip", axis, node->rank(), node->shape, x.line()));
        begins[k] = node->shape[k] - Size(1);
        steps[k] = -1;
    }
    return Tensor::from_node(slice(builder_at(x), node, begins, node->shape, steps));
}

Tensor pad(const Operand& x, const PadOptions& options) {
    Ref node = x.node(), value = options.value.node(x.line());
    if (value->op != Op::Constant)
        fail_at(x.line(),
                "pad: the value must be a number known while recording; pad with 0 and choose by "
                "select");
    if (options.before.size() > node->shape.size() || options.after.size() > node->shape.size())
        fail_at(x.line(),
                "pad: " + std::to_string(std::max(options.before.size(), options.after.size())) +
                    " widths are given for shape " + text(node->shape) + "; give one per axis");
    std::vector<Size> before = options.before, after = options.after;
    before.resize(node->shape.size(), Size(0));
    after.resize(node->shape.size(), Size(0));
    return Tensor::from_node(
        pad(builder_at(x), node, before, after, value->as<ConstantAttr>().value));
}

namespace {

void check_parts(const char* what, const std::vector<Tensor>& parts, SourceLine line) {
    if (parts.empty())
        fail_at(line, std::string(what) + ": there are no tensors; give at least one");
}

}  // namespace

std::vector<Tensor> split(const Operand& x, int64_t pieces, const JoinOptions& options) {
    const Ref node = x.node();
    const int axis = axis_of("split", options.axis, node->rank(), node->shape, x.line());
    const Size& n = node->shape[static_cast<size_t>(axis)];
    if (pieces < 1 || !mod(n, Size(pieces)).is(0))
        fail_at(x.line(), "split: an axis of size " + n.text() + " has no " +
                              std::to_string(pieces) +
                              " equal pieces; split_at takes where each begins");
    std::vector<Size> begins;
    for (int64_t k = 1; k < pieces; ++k) begins.push_back(floor_div(n, Size(pieces)) * Size(k));
    return split_at(x, begins, options);
}

std::vector<Tensor> split_at(const Operand& x, const std::vector<Size>& begins,
                             const JoinOptions& options) {
    std::vector<Tensor> out;
    for (size_t k = 0; k <= begins.size(); ++k) {
        SliceOptions piece{.axis = options.axis};
        if (k > 0) piece.begin = begins[k - 1];
        if (k < begins.size()) piece.end = begins[k];
        out.push_back(slice(x, piece));
    }
    return out;
}

Tensor concat(const std::vector<Tensor>& parts, const JoinOptions& options, SourceLine line) {
    check_parts("concat", parts, line);
    Builder b = builder(*current_state(), line);
    std::vector<Ref> nodes;
    for (const Tensor& part : parts) nodes.push_back(part.node(line));
    DType dtype = nodes[0]->dtype;
    for (const Ref& node : nodes) dtype = node->dtype == dtype ? dtype : join(dtype, node->dtype);
    size_t axis = static_cast<size_t>(
        axis_of("concat", options.axis, nodes[0]->rank(), nodes[0]->shape, line));
    Shape whole = nodes[0]->shape;
    whole[axis] = 0;
    for (Ref& node : nodes) {
        std::string differ = "concat: shapes " + text(nodes[0]->shape) + " and " +
                             text(node->shape) + " differ beside axis " + std::to_string(axis) +
                             "; all other sizes must be equal";
        if (node->shape.size() != whole.size()) fail_at(line, differ);
        Shape own = nodes[0]->shape;
        own[axis] = node->shape[axis];
        for (size_t k = 0; k < own.size(); ++k) require_equal(b, node->shape[k], own[k], differ);
        node = fit(b, node, own, "concat");
        whole[axis] += own[axis];
    }
    // Every part in its place with zeros around; the index chooses.
    Ref place = index(b, whole, static_cast<int>(axis)), out;
    Size end = whole[axis];
    for (size_t k = nodes.size(); k-- > 0;) {
        Size begin = end - nodes[k]->shape[axis];
        std::vector<Size> before(whole.size(), Size(0)), after(whole.size(), Size(0));
        before[axis] = begin;
        after[axis] = whole[axis] - end;
        Ref part = pad(b, cast(b, nodes[k], dtype), before, after, scalar_int(0).to(dtype));
        out = !out
                  ? part
                  : elementwise(b, Op::Select,
                                {elementwise(b, Op::Less, {place, size_value(b, end)}), part, out});
        end = begin;
    }
    return Tensor::from_node(out);
}

Tensor stack(const std::vector<Tensor>& parts, const JoinOptions& options, SourceLine line) {
    check_parts("stack", parts, line);
    Builder b = builder(*current_state(), line);
    const Shape first = parts[0].node(line)->shape;
    for (const Tensor& part : parts) {
        const Shape shape = part.node(line)->shape;
        const std::string differ = "stack: shapes " + text(first) + " and " + text(shape) +
                                   " differ; parts of a new axis are equal, and concat joins along "
                                   "one that there is";
        if (shape.size() != first.size()) fail_at(line, differ);
        for (size_t k = 0; k < shape.size(); ++k) require_equal(b, shape[k], first[k], differ);
    }
    std::vector<Tensor> rows;
    for (const Tensor& part : parts) rows.push_back(unsqueeze(Operand(part, line), options.axis));
    int axis = options.axis < 0 ? options.axis + rows[0].node(line)->rank() : options.axis;
    return concat(rows, {.axis = axis}, line);
}

}  // namespace firn
