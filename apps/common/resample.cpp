// Means over what the pixels of another size cover.
#include "apps/common/resample.h"

#include <utility>

namespace firn {

Tensor resampled(const Tensor& picture, int height, int width) {
    const auto [rows, columns] = std::pair<int, int>{picture.size(0), picture.size(1)};
    const int down = (rows + height - 1) / height, across = (columns + width - 1) / width;
    // Samples of a pixel: as many as it covers, at the middles of equal parts.
    auto [i, j, k, a, b] = indices<5>({height, width, 3, down, across});
    const Tensor row =
                     (i.as(f32) + (a.as(f32) + 0.5f) / float(down)) * (float(rows) / float(height)),
                 column = (j.as(f32) + (b.as(f32) + 0.5f) / float(across)) *
                          (float(columns) / float(width));
    return mean(picture(row.as(i32), column.as(i32), k), {3, 4});
}

}  // namespace firn
