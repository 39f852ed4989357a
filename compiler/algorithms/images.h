// Pictures: resizing and filters.
#pragma once
#include "compiler/algorithms/conv.h"

namespace firn {

/// The way a pixel of a resized picture is computed.
enum class ResizeMode : uint8_t {
    /// The element below the pixel's centre; keeps the type. Equals PyTorch's "nearest-exact" (its
    /// "nearest", and OpenCV's, are half a pixel off).
    Nearest,
    /// Interpolates between the two nearest elements. Equals PyTorch's "bilinear" with
    /// align_corners=False, and OpenCV's INTER_LINEAR.
    Linear,
    /// Through the four nearest: R. Keys, 1981, with a = -1/2, as TensorFlow's "bicubic".
    /// (PyTorch's
    /// and OpenCV's have a = -3/4.)
    Cubic,
    /// The mean of the area that the pixel covers, with parts of elements: for smaller pictures.
    /// Equals OpenCV's INTER_AREA, and PyTorch's "area" if sizes divide.
    Area,
};
/// The options of resize.
struct ResizeOptions {
    ResizeMode mode = ResizeMode::Linear;
};
/// Resizes x to `rows` times `columns` pixels. Corners of pixels stay at corners (as OpenCV's
/// resize and torch's interpolate with align_corners=False); in modes other than Area elements
/// between the sampled ones have no weight. UserError: sizes below 1, a picture without elements.
///
/// A picture is [rows, columns] or [rows, columns, channels, ..], as load_image returns it. Reads
/// beyond its edges give the element at the edge. Integers are computed in f32, and give f32,
/// except for Nearest.
///
/// Examples: `resize(tensor({1.0f, 3.0f}, {1, 2}), 1, 4)` is `{{1, 1.5, 2.5, 3}}`,
/// `resize(tensor({1, 3, 5, 7}, {1, 4}), 1, 2, {.mode = ResizeMode::Area})` is `{{2, 6}}`.
Tensor resize(const Operand& x, const Size& rows, const Size& columns,
              const ResizeOptions& options = {});

/// Blurs x by weights exp(-d^2 / (2 sigma^2)) at distances d up to 4 sigma, which sum to 1, along
/// rows and columns; sigma in pixels, 0 gives x. It equals scipy's gaussian_filter with mode
/// "nearest". Pictures and their edges are as for resize; integers give f32. UserError if sigma is
/// negative, or 2^28 or more.
///
/// Example: `gaussian_blur(tensor({0, 0, 1, 0, 0}, {1, 5}), 0.5f)` is
/// `{{0.00026, 0.10645, 0.78657, 0.10645, 0.00026}}`.
Tensor gaussian_blur(const Operand& x, float sigma);
/// The same with a sigma that only the device knows, and distances up to `radius` pixels: 4 times
/// the largest sigma loses nothing that f32 would show.
///
/// Example: `gaussian_blur(tensor({0, 0, 1, 0, 0}, {1, 5}), Tensor(0.5f), 1)` is
/// `{{0, 0.10651, 0.78699, 0.10651, 0}}`.
Tensor gaussian_blur(const Operand& x, const Operand& sigma, int radius);

/// The element in the middle of each window of rows times columns in order, the upper of two (as
/// scipy's median_filter with mode "nearest"), in x's type. Pictures and their edges are as for
/// resize. UserError: more than 49 elements, since all of a window are compared in registers.
///
/// Example: `median_filter(tensor({1, 9, 2, 3}, {1, 4}), {1, 3})` is `{{1, 2, 3, 3}}`.
Tensor median_filter(const Operand& x, const PerAxis<2>& window);

}  // namespace firn
