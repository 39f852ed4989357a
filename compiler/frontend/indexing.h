// Reads by tensors of indices, and tensors whose elements depend on their positions.
#pragma once
#include <vector>

#include "compiler/frontend/movement.h"

namespace firn {

/// x's elements (whole slices, where x has more axes) at `indices` of one axis, as numpy's take:
/// the axis is replaced by the axes of the indices. An index outside is clamped to the edge, a
/// negative one too.
///
/// Examples: `take(tensor({10, 11, 12}), tensor({2, 0, 9, -1}))` is `{12, 10, 12, 10}`,
/// `take(reshape(arange(6), {2, 3}), tensor({2, 0}), {.axis = 1})` is `{{2, 0}, {5, 3}}`.
Tensor take(const Operand& x, const Operand& indices, const AlongOptions& options = {});

/// The axis that the indices of gather go along.
struct GatherOptions {
    int axis = -1;
};
/// out[.., k, ..] = x[.., indices[.., k, ..], ..] along one axis, as numpy's take_along_axis and
/// torch's gather: x and the indices have the same rank, their other axes broadcast. An index
/// outside is clamped to the edge.
///
/// Examples: after `Tensor x = reshape(arange(6), {2, 3});` `gather(x, tensor({2, 0}, {2, 1}))` is
/// `{{2}, {3}}`, `gather(x, tensor({1, 0, 1}, {1, 3}), {.axis = 0})` is `{{3, 1, 5}}`.
Tensor gather(const Operand& x, const Operand& indices, const GatherOptions& options = {});

/// The type of the zeros and ones of one_hot.
struct OneHotOptions {
    DType dtype = f32;
};
/// A new last axis of size `count` with 1 at the index and 0 elsewhere; all 0 where the index is
/// outside.
///
/// Example: `one_hot(tensor({1, 3, -1}), 3)` is `{{0, 1, 0}, {0, 0, 0}, {0, 0, 0}}`.
Tensor one_hot(const Operand& indices, const Size& count, const OneHotOptions& options = {});

/// The diagonal that bounds a triangle.
struct DiagonalOptions {
    int offset = 0;  ///< above the main diagonal; negative: below
};
/// The last two axes where column - row <= offset, else 0: the lower triangle.
///
/// Examples: `tril(ones({2, 3}))` is `{{1, 0, 0}, {1, 1, 0}}`,
/// `tril(ones({2, 3}), {.offset = -1})` is `{{0, 0, 0}, {1, 0, 0}}`.
Tensor tril(const Operand& x, const DiagonalOptions& options = {});
/// The last two axes where column - row >= offset, else 0: the upper triangle.
///
/// Examples: `triu(ones({2, 3}))` is `{{1, 1, 1}, {0, 1, 1}}`,
/// `triu(ones({2, 3}), {.offset = 1})` is `{{0, 1, 1}, {0, 0, 1}}`.
Tensor triu(const Operand& x, const DiagonalOptions& options = {});
/// The elements x(.., i, i): the last two axes become one, as long as the shorter of them.
///
/// Example: `diagonal(reshape(arange(6), {2, 3}))` is `{0, 4}`.
Tensor diagonal(const Operand& x);
/// The sum of the diagonal of the last two axes.
///
/// Example: `trace(reshape(arange(8), {2, 2, 2}))` is `{3, 11}`.
Tensor trace(const Operand& x);

/// The axes along which the vectors of meshgrid run.
enum class GridOrder : uint8_t {
    Columns,  ///< numpy's "xy": the first vector runs along the second axis
    Rows,     ///< numpy's "ij": vector k runs along axis k
};
/// The layout of meshgrid's grid.
struct MeshgridOptions {
    GridOrder order = GridOrder::Columns;
};
/// Repeats vectors over the grid of their sizes: returns one tensor for each vector, which varies
/// along the vector's own axis.
///
/// Examples: `meshgrid({tensor({1, 2}), tensor({3, 4, 5})})[1]` is `{{3, 3}, {4, 4}, {5, 5}}`,
/// `meshgrid({tensor({1, 2}), tensor({3, 4, 5})}, {.order = GridOrder::Rows})[1]` is
/// `{{3, 4, 5}, {3, 4, 5}}`.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors,
                             const MeshgridOptions& options = {}, SourceLine line = here());

}  // namespace firn
