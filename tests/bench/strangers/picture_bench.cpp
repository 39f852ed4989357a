// Pictures: equalised histograms, and the wavelets of Haar.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 2048;
constexpr int64_t kPixels = int64_t(kSide) * kSide;

/// Grey values 0 to 255, spread so that each part of the range is met equally often.
Tensor equalised(Tensor picture) {
    Tensor sums = cumsum(bincount(picture, 256));
    Tensor first = min(select(sums > 0, sums, sums(255)));
    Tensor level = cast<float>(sums - first) / cast<float>(sums(255) - first);
    return cast<int>(round(255.0f * level))(picture);
}

std::vector<std::vector<float>> host_equalised(const std::vector<int>& picture) {
    std::vector<int> sums(256);
    for (int value : picture) ++sums[static_cast<size_t>(value)];
    for (size_t k = 1; k < 256; ++k) sums[k] += sums[k - 1];
    const int first = *std::find_if(sums.begin(), sums.end(), [](int sum) { return sum > 0; });
    std::vector<float> out;
    for (int value : picture) {
        const float level =
            float(sums[static_cast<size_t>(value)] - first) / float(sums[255] - first);
        out.push_back(std::nearbyint(255.0f * level));
    }
    return {out};
}

Contest equalise() {
    auto f = compile(equalised, {i32("h", "w")});
    std::vector<int> picture;
    for (float value : hills(kSide, kSide, 5).values)
        picture.push_back(std::clamp(int(128 + 70 * value), 0, 255));
    // A count and a look-up of each pixel.
    return {.least = {4.0 * kPixels, 4.0 * kPixels, 1.0 * kPixels},
            .arguments = {},
            .results = {kPixels},
            .firn = [f, x = tensor(picture, {kSide, kSide})] { return std::vector<Tensor>{f(x)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [picture] { return host_equalised(picture); }};
}

constexpr int kImage = 1024, kLevels = 5;
constexpr int64_t kElements = int64_t(kImage) * kImage;

/// The coefficients as one picture: each level's means in the upper left, which the next divides.
Tensor haar_of(Tensor x, int levels) {
    if (levels == 0) return x;
    Tensor even = slice(x, {.axis = 0, .begin = 0, .step = 2}),
           odd = slice(x, {.axis = 0, .begin = 1, .step = 2});
    Tensor low = even + odd, high = even - odd;
    auto across = [](const Tensor& rows, float sign) {
        return 0.5f * (slice(rows, {.axis = 1, .begin = 0, .step = 2}) +
                       sign * slice(rows, {.axis = 1, .begin = 1, .step = 2}));
    };
    Tensor means = haar_of(across(low, 1), levels - 1);
    return concat({concat({means, across(low, -1)}, {.axis = 1}),
                   concat({across(high, 1), across(high, -1)}, {.axis = 1})},
                  {.axis = 0});
}

std::vector<std::vector<float>> host_haar(Plane x) {
    for (int side = kImage; side > kImage >> kLevels; side /= 2) {
        const Plane old = x;
        const int half = side / 2;
        for (int i = 0; i < half; ++i)
            for (int j = 0; j < half; ++j) {
                const float a = old(2 * i, 2 * j), b = old(2 * i, 2 * j + 1),
                            c = old(2 * i + 1, 2 * j), d = old(2 * i + 1, 2 * j + 1);
                x(i, j) = 0.5f * (a + b + c + d);
                x(i, j + half) = 0.5f * (a - b + c - d);
                x(i + half, j) = 0.5f * (a + b - c - d);
                x(i + half, j + half) = 0.5f * (a - b - c + d);
            }
    }
    return {x.values};
}

Contest haar() {
    auto f = compile([](Tensor x) { return haar_of(x, kLevels); }, {f32("h", "w")});
    Plane x = hills(kImage, kImage, 11);
    // Of four elements of a level 8 sums and 4 products; the levels are 4 / 3 of the first.
    return {
        .least = {4.0 * kElements, 4.0 * kElements, 4.0 * kElements},
        .arguments = {},
        .results = {kElements},
        .firn = [f, x0 = tensor(x.values, {kImage, kImage})] { return std::vector<Tensor>{f(x0)}; },
        .best = {},
        .plain = {},
        .expected = [x] { return host_haar(x); }};
}

}  // namespace

void add_pictures(std::vector<Case>& cases) {
    cases.push_back({"equalise", equalise, Section::Strangers});
    cases.push_back({"haar", haar, Section::HeldOut});
}

}  // namespace firn::bench
