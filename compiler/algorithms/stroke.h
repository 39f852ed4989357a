// A brush: the distance of points from the line along which the mouse moved in one frame.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// A straight line between two places, in rows and columns.
struct BrushStroke {
    Tensor from_i, from_j, to_i, to_j;
};

/// The square of the distance between the points (i, j) and the nearest point of the stroke, whose
/// ends may be the same: a point is under a brush if this is less than the square of its radius. i
/// and j broadcast against one another.
///
/// Examples: after `BrushStroke s{0.0f, 0.0f, 0.0f, 10.0f};`
/// `squared_distance(Tensor(3.0f), Tensor(4.0f), s)` is `9`,
/// `squared_distance(Tensor(0.0f), Tensor(12.0f), s)` is `4`.
Tensor squared_distance(const Tensor& i, const Tensor& j, const BrushStroke& stroke,
                        SourceLine line = here());

}  // namespace firn
