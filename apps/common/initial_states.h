// Tensors that simulations start from.
#pragma once
#include <firn/firn.h>

namespace firn {

/// A drop in the middle of an f32[h, w] field: exp(-r^2 / (2 s^2)) with s a fortieth of the shorter
/// side.
inline Tensor gaussian_drop(int h, int w) {
    auto [i, j] = indices<2>(Shape{h, w});
    float s = static_cast<float>(h < w ? h : w) / 40.0f;
    Tensor y = (i - 0.5f * static_cast<float>(h)) / s, x = (j - 0.5f * static_cast<float>(w)) / s;
    return exp(-0.5f * (x * x + y * y));
}

}  // namespace firn
