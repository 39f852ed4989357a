// Pictures: resizing and filters.
#pragma once
#include "compiler/algorithms/conv.h"

namespace firn {

// A picture is [rows, columns] or [rows, columns, channels, ..], as load_image gives it. Beyond its
// edges it goes on with the element at the edge. Integers are computed in f32, and give f32.

enum class ResizeMode : uint8_t {
    Nearest,  // the element below the pixel's centre; keeps the type
    Linear,   // between the two nearest (bilinear)
    Cubic,    // through the four nearest (bicubic): R. Keys, 1981, a = -1/2, as Pillow
    Area,     // the mean of what the pixel covers: for smaller pictures
};
struct ResizeOptions {
    ResizeMode mode = ResizeMode::Linear;
};
/// x at `rows` times `columns` pixels. Corners of pixels stay at corners (as OpenCV's resize and
/// torch's interpolate with align_corners=False); but for Area what is left out between the pixels
/// has no weight. UserError: sizes below 1, a picture without elements.
Tensor resize(const Operand& x, const Size& rows, const Size& columns,
              const ResizeOptions& options = {});

/// Weights exp(-d^2 / (2 sigma^2)) at distances d to 4 sigma, which sum to 1, along rows and
/// columns; sigma in pixels, 0 gives x. As scipy's gaussian_filter with mode "nearest".
Tensor gaussian_blur(const Operand& x, float sigma);
/// The same with a sigma that only the device knows, and distances up to `radius` pixels: 4 times
/// the largest sigma loses nothing that f32 would show.
Tensor gaussian_blur(const Operand& x, const Operand& sigma, int radius);

/// The element in the middle of each window of rows times columns in order, the upper of two (as
/// scipy's median_filter with mode "nearest"). UserError: more than 49 elements, since all of a
/// window are compared in registers.
Tensor median_filter(const Operand& x, const PerAxis<2>& window);

}  // namespace firn
