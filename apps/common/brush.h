// What the mouse paints: the line along which it went in one frame.
#pragma once
#include <firn/firn.h>

namespace firn {

/// In rows and columns. Of a mouse: from (i - di, j - dj) to (i, j), so that strokes have no gaps.
struct Line {
    Tensor from_i, from_j, to_i, to_j;
};

/// Square of the distance between the points (i, j) and the line.
inline Tensor squared_distance(const Tensor& i, const Tensor& j, const Line& line) {
    Tensor along_i = line.to_i - line.from_i, along_j = line.to_j - line.from_j;
    Tensor di = i - line.from_i, dj = j - line.from_j;
    Tensor length = max(along_i * along_i + along_j * along_j, 1e-6f);
    Tensor share = clamp((di * along_i + dj * along_j) / length, 0.0f, 1.0f);
    Tensor off_i = di - share * along_i, off_j = dj - share * along_j;
    return off_i * off_i + off_j * off_j;
}

}  // namespace firn
