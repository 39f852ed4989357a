// Pictures and volumes read at positions between their elements.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The interpolation of grid_sample between elements.
enum class GridSampleMode : uint8_t {
    Nearest,   ///< the nearest element, of two the even one; its gradient by the grid is 0
    Bilinear,  ///< between the nearest two along each axis
    Bicubic,   ///< through the nearest four along both axes, with a = -3/4; pictures alone
};
/// The continuation of a picture beyond its edges in grid_sample.
enum class GridSamplePadding : uint8_t {
    Zeros,       ///< elements outside are 0
    Border,      ///< the element at the edge
    Reflection,  ///< mirrored at the edge: at the element there with align_corners, else beside it
};
/// The options of grid_sample, with PyTorch's names and defaults.
struct GridSampleOptions {
    GridSampleMode mode = GridSampleMode::Bilinear;
    GridSamplePadding padding = GridSamplePadding::Zeros;
    /// -1 and 1 are the centres of the elements at the edges; else the edges themselves.
    bool align_corners = false;
};
/// x [n, channels, h, w] at the positions of `grid` [n, rows, columns, 2], as PyTorch's
/// grid_sample: [n, channels, rows, columns]. A position is (x, y): x along the columns of x, from
/// -1 on the left to 1, y along its rows. For volumes [n, channels, d, h, w] the grid is [n, .., 3]
/// with (x, y, z).
///
/// It has x's type, integers give f32; f16 and bf16 are computed in f32. A position that is nan
/// counts as -1. Gradients by x and by the grid are those of PyTorch: 0 for a position on an edge
/// that it is clamped to. UserError: shapes that do not fit, Bicubic of a volume, a grid that is no
/// float.
///
/// Example: after `Tensor x = tensor({1, 2, 3, 4}, {1, 1, 2, 2}).as(f32);`
/// `Tensor grid = tensor({0.0f, 0.0f, -0.5f, -0.5f}, {1, 1, 2, 2});`
/// `grid_sample(x, grid)(0, 0, 0)` is `{2.5, 1}`.
Tensor grid_sample(const Operand& x, const Operand& grid, const GridSampleOptions& options = {});

}  // namespace firn
