// Pictures put together of smaller ones, as one elementwise kernel.
#pragma once
#include <firn/firn.h>

#include <string>

namespace firn {

/// The place of a picture on another one: its upper left corner and the size of its pixels there.
struct Spot {
    int row = 0, column = 0, scale = 1;
};

/// `canvas` f32 [h, w, 3] with `picture` on it: [n, m, 3], or [n, m] as grey.
inline Tensor pasted(const Tensor& canvas, const Tensor& picture, const Spot& spot) {
    auto [i, j, c] = indices<3>(canvas.shape());
    const Tensor row = i - spot.row, column = j - spot.column;
    const Tensor inside = (row >= 0) & (row < picture.size(0) * spot.scale) & (column >= 0) &
                          (column < picture.size(1) * spot.scale);
    const Tensor y = row / spot.scale, x = column / spot.scale;
    return select(inside, picture.rank() == 3 ? picture(y, x, c) : picture(y, x), canvas);
}

/// A line of text above what lies on the picture of the drawing.
inline void caption(Drawing& drawing, const std::string& line, const Spot& spot) {
    drawing.text(
        {float(spot.column), float(spot.row)}, line,
        {.colour = {0.75f, 0.76f, 0.78f}, .align = {0, 1}, .shift = {0, -3}, .halo = false});
}

/// Tiles [rows, columns, n, m] as one picture, with `gap` pixels of `border` after each row and
/// column: [rows (n + gap), columns (m + gap)].
inline Tensor mosaic(const Tensor& tiles, int gap = 1, float border = 0.1f) {
    const Size n = tiles.size(2), m = tiles.size(3);
    auto [i, j] = indices<2>({tiles.size(0) * (n + gap), tiles.size(1) * (m + gap)});
    const Tensor y = i % (n + gap), x = j % (m + gap);
    return select((y < n) & (x < m), tiles(i / (n + gap), j / (m + gap), y, x), border);
}

}  // namespace firn
