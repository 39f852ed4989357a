// Distances from a segment.
#include "compiler/algorithms/stroke.h"

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {

Tensor squared_distance(const Tensor& i, const Tensor& j, const BrushStroke& stroke,
                        SourceLine line) {
    LineScope at(line);
    const Tensor along_i = stroke.to_i - stroke.from_i, along_j = stroke.to_j - stroke.from_j;
    const Tensor di = i - stroke.from_i, dj = j - stroke.from_j;
    // A stroke without a length has a direction of zero, and any share of it is its place.
    const Tensor length = max(along_i * along_i + along_j * along_j, 1e-6f);
    const Tensor share = clamp((di * along_i + dj * along_j) / length, 0.0f, 1.0f);
    const Tensor off_i = di - share * along_i, off_j = dj - share * along_j;
    return off_i * off_i + off_j * off_j;
}

}  // namespace firn
