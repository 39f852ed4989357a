// Scales pictures: each pixel is the mean of what it covers.
#include "engine/window/picture_scale.h"

#include <algorithm>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The source pixels [from, to) that each of `count` pixels covers, in the middle of `size` of
/// them.
struct Covered {
    int from, to;
};
std::vector<Covered> covered(int count, double scale, int size) {
    std::vector<Covered> out;
    const double begin = (size - scale * count) / 2;
    for (int k = 0; k < count; ++k) {
        const int from = std::clamp(int(begin + scale * k), 0, size - 1);
        out.push_back({from, std::clamp(int(begin + scale * (k + 1)), from + 1, size)});
    }
    return out;
}

}  // namespace

Picture covering(const Picture& picture, int width, int height) {
    check_picture_size("covering", width, height);
    const double scale = std::min(double(picture.width) / width, double(picture.height) / height);
    const std::vector<Covered> columns = covered(width, scale, picture.width),
                               rows = covered(height, scale, picture.height);
    Picture out{width, height, {}};
    for (const Covered& row : rows)
        for (const Covered& column : columns) {
            const int count = (row.to - row.from) * (column.to - column.from);
            for (size_t c = 0; c < 4; ++c) {
                int sum = count / 2;
                for (int y = row.from; y < row.to; ++y)
                    for (int x = column.from; x < column.to; ++x)
                        sum +=
                            picture.rgba[4 * (size_t(y) * size_t(picture.width) + size_t(x)) + c];
                out.rgba.push_back(static_cast<uint8_t>(sum / count));
            }
        }
    return out;
}

}  // namespace firn
