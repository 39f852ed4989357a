// Gathers along one axis, and masks of indices.
#include "compiler/frontend/indexing.h"

#include "compiler/frontend/apply.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

void check_indices(const char* what, const Ref& indices) {
    if (!indices->dtype.is_integer())
        refuse(std::string(what) + ": the indices are " + indices->dtype.name() +
               "; they must be integers: cast them");
}

/// x at a tensor of indices for each axis.
Tensor read_at(const Operand& x, std::vector<Ref> indices) {
    std::vector<Bounds> modes(indices.size(), Bounds::Clamp);
    return Tensor::from_node(
        gather(builder_at(x), x.node(), std::move(indices), std::move(modes), scalar_int(0)));
}

}  // namespace

Tensor take(const Operand& x, const Operand& indices, const AlongOptions& options) {
    LineScope at(x.line());
    if (!options.axis) return take(reshape(x, {Size(-1)}), indices, {.axis = 0});
    Ref node = x.node(), where = indices.node();
    check_indices("take", where);
    int axis = checked_axis("take", *options.axis, node->shape);
    // The axis goes first, so that one tensor of indices reads whole slices.
    std::vector<int> first{axis}, back;
    for (int k = 0; k < node->rank(); ++k)
        if (k != axis) first.push_back(k);
    Tensor read = read_at(permute(x, first), {where});
    for (int k = 0; k < axis; ++k) back.push_back(where->rank() + k);
    for (int k = 0; k < where->rank(); ++k) back.push_back(k);
    for (int k = axis; k + 1 < node->rank(); ++k) back.push_back(where->rank() + k);
    return permute(read, back);
}

Tensor gather(const Operand& x, const Operand& indices, const GatherOptions& options) {
    LineScope at(x.line());
    Ref node = x.node(), where = indices.node();
    check_indices("gather", where);
    if (where->rank() != node->rank())
        refuse("gather: x is " + text(node->shape) + " and the indices are " + text(where->shape) +
               "; they must have the same rank, use unsqueeze, or take for one axis");
    int axis = checked_axis("gather", options.axis, node->shape);
    Builder b = builder_at(x);
    Shape source = node->shape;
    source[static_cast<size_t>(axis)] = where->shape[static_cast<size_t>(axis)];
    Shape shape = broadcast_shapes(b, source, where->shape, "gather");
    std::vector<Ref> places;
    for (int k = 0; k < node->rank(); ++k)
        places.push_back(k == axis ? expand(b, where, shape) : index(b, shape, k));
    return read_at(x, std::move(places));  // axes of size 1 are read at 0 by clamping
}

Tensor one_hot(const Operand& indices, const Size& count, const OneHotOptions& options) {
    LineScope at(indices.line());
    check_indices("one_hot", indices.node());
    return (unsqueeze(indices, -1) == arange(count)).as(options.dtype);
}

namespace {

/// Column minus row on the last two axes.
Tensor above_diagonal(const char* what, const Operand& x) {
    const Shape& shape = x.node()->shape;
    if (shape.size() < 2)
        refuse(std::string(what) + ": x has shape " + text(shape) +
               "; a matrix has at least two axes");
    auto [i, j] = indices<2>(Shape(shape.end() - 2, shape.end()));
    return j - i;
}

}  // namespace

Tensor tril(const Operand& x, const DiagonalOptions& options) {
    LineScope at(x.line());
    return select(above_diagonal("tril", x) <= options.offset, x.tensor(), 0);
}

Tensor triu(const Operand& x, const DiagonalOptions& options) {
    LineScope at(x.line());
    return select(above_diagonal("triu", x) >= options.offset, x.tensor(), 0);
}

Tensor diagonal(const Operand& x) {
    LineScope at(x.line());
    Shape shape = x.node()->shape;
    if (shape.size() < 2)
        refuse("diagonal: x has shape " + text(shape) + "; a matrix has at least two axes");
    Size columns = shape.back();
    shape.pop_back();
    shape.back() = min(shape.back(), columns);
    Builder b = builder_at(x);
    std::vector<Ref> places;
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) places.push_back(index(b, shape, k));
    places.push_back(places.back());
    return read_at(x, std::move(places));
}

Tensor trace(const Operand& x) {
    LineScope at(x.line());
    return sum(diagonal(x), {.axis = -1});
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, const MeshgridOptions& options,
                             SourceLine line) {
    LineScope at(line);
    Shape shape;
    for (const Tensor& vector : vectors) {
        if (vector.rank() != 1)
            refuse("meshgrid: vector " + std::to_string(shape.size()) + " has shape " +
                   text(vector.shape()) + "; each has one axis, reshape it");
        shape.push_back(vector.shape()[0]);
    }
    auto axis_of = [&](size_t k) {
        return options.order == GridOrder::Columns && k < 2 && shape.size() > 1 ? 1 - k : k;
    };
    Shape grid = shape;
    for (size_t k = 0; k < shape.size(); ++k) grid[axis_of(k)] = shape[k];
    std::vector<Tensor> out;
    for (size_t k = 0; k < shape.size(); ++k) {
        Shape own(shape.size(), Size(1));
        own[axis_of(k)] = shape[k];
        out.push_back(expand(reshape(vectors[k], own), grid));
    }
    return out;
}

}  // namespace firn
