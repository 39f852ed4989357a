// Shows a cellular automaton that learns, and makes the picture that it learns by default.
#pragma once
#include "apps/common/canvas.h"
#include "apps/neural_ca/training.h"

namespace firn::neural_ca {

constexpr int kHeight = 640, kWidth = 1200;
/// The place of cells that one watches, with a pixel size that makes n of them fill it.
Spot cells_spot(int64_t n);

/// The cells that one watches, large; the target; patterns of the pool. On [kHeight, kWidth].
Drawing picture(const Training& training, const Tensor& cells);

/// A toadstool, f32 [n, n, 4], with a margin around it.
Tensor toadstool(int n);
/// A picture f32 [h, w, 3] on n x n cells with a margin around it; what is white is empty.
Tensor target_of(const Tensor& picture, int n);

}  // namespace firn::neural_ca
