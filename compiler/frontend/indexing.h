// Reading by tensors of indices, and tensors made from where their elements are.
#pragma once
#include <vector>

#include "compiler/frontend/movement.h"

namespace firn {

/// x's elements (whole slices, where x has more axes) at `indices` of one axis, as numpy's take:
/// the axis is replaced by the axes of the indices. An index outside is clamped to the edge, a
/// negative one too.
Tensor take(const Operand& x, const Operand& indices, const AlongOptions& options = {});

struct GatherOptions {
    int axis = -1;
};
/// out[.., k, ..] = x[.., indices[.., k, ..], ..] along one axis, as numpy's take_along_axis and
/// torch's gather: x and the indices have the same rank, their other axes broadcast. An index
/// outside is clamped to the edge.
Tensor gather(const Operand& x, const Operand& indices, const GatherOptions& options = {});

struct OneHotOptions {
    DType dtype = f32;
};
/// A new last axis of size `count` with 1 at the index and 0 elsewhere; all 0 where the index is
/// outside.
Tensor one_hot(const Operand& indices, const Size& count, const OneHotOptions& options = {});

struct DiagonalOptions {
    int offset = 0;  // above the main diagonal; negative: below
};
/// The last two axes where column - row <= offset, else 0: the lower triangle.
Tensor tril(const Operand& x, const DiagonalOptions& options = {});
/// The last two axes where column - row >= offset, else 0: the upper triangle.
Tensor triu(const Operand& x, const DiagonalOptions& options = {});
/// The elements x(.., i, i): the last two axes become one.
Tensor diagonal(const Operand& x);
/// The sum of the diagonal.
Tensor trace(const Operand& x);

enum class GridOrder : uint8_t {
    Columns,  // numpy's "xy": the first vector runs along the second axis
    Rows,     // numpy's "ij": vector k runs along axis k
};
struct MeshgridOptions {
    GridOrder order = GridOrder::Columns;
};
/// For vectors of sizes n, m, ..: as many tensors over their grid, each repeating its vector along
/// the axes of the others.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors,
                             const MeshgridOptions& options = {}, SourceLine line = here());

}  // namespace firn
