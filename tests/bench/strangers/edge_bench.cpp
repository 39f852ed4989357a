// Edges of a picture by Canny's method.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

constexpr int kSide = 1024, kSweeps = 16;
constexpr int64_t kPixels = int64_t(kSide) * kSide;
constexpr float kLow = 0.25f, kHigh = 0.6f, kNarrow = 0.41421356f;  // of the angle of 22.5 degrees
constexpr std::array<float, 5> kBlur{0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

Tensor blurred(const Tensor& x, int axis) {
    auto [i, j] = indices<2>(x.shape());
    Tensor out = 0.0f;
    for (int k = -2; k <= 2; ++k)
        out += kBlur[size_t(k + 2)] * (axis == 0 ? x(i + k, j) : x(i, j + k));
    return out;
}

/// 1 on edges. J. Canny, "A Computational Approach to Edge Detection", 1986; weak edges are kept
/// where a strong one is within as many pixels as there are sweeps, along weak ones.
Tensor canny_of(Tensor picture) {
    auto [i, j] = indices<2>(picture.shape());
    Tensor x = blurred(blurred(picture, 0), 1);
    Tensor across = x(i - 1, j + 1) + 2.0f * x(i, j + 1) + x(i + 1, j + 1) - x(i - 1, j - 1) -
                    2.0f * x(i, j - 1) - x(i + 1, j - 1);
    Tensor down = x(i + 1, j - 1) + 2.0f * x(i + 1, j) + x(i + 1, j + 1) - x(i - 1, j - 1) -
                  2.0f * x(i - 1, j) - x(i - 1, j + 1);
    Tensor strength = sqrt(across * across + down * down);
    Tensor flat = abs(down) < kNarrow * abs(across), steep = abs(across) < kNarrow * abs(down);
    Tensor dy = select(flat, 0, 1);
    Tensor dx = select(steep, 0, select(flat | (across * down > 0.0f), 1, -1));
    Tensor top = (strength >= strength(i + dy, j + dx)) & (strength > strength(i - dy, j - dx));
    Tensor weak = top & (strength > kLow), edge = top & (strength > kHigh);
    for (Tensor sweep : loop(kSweeps)) {
        Tensor near = edge;
        for (int v = -1; v <= 1; ++v)
            for (int u = -1; u <= 1; ++u) near = near | edge(i + v, j + u);
        edge = weak & near;
    }
    return select(edge, 1.0f, 0.0f);
}

Plane host_blurred(const Plane& x, int dy, int dx) {
    Plane out(x.h, x.w);
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j)
            for (int k = -2; k <= 2; ++k)
                out(i, j) += kBlur[size_t(k + 2)] * x.clamped(i + k * dy, j + k * dx);
    return out;
}

/// 0 where there is no edge, 1 on weak and 2 on strong ones.
Plane host_tops(const Plane& picture) {
    const Plane x = host_blurred(host_blurred(picture, 1, 0), 0, 1);
    Plane across(x.h, x.w), down = across, strength = across, tops = across;
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j) {
            auto at = [&](int v, int u) { return x.clamped(i + v, j + u); };
            across(i, j) =
                at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
            down(i, j) =
                at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
            strength(i, j) = std::sqrt(across(i, j) * across(i, j) + down(i, j) * down(i, j));
        }
    for (int i = 0; i < x.h; ++i)
        for (int j = 0; j < x.w; ++j) {
            const float h = across(i, j), v = down(i, j), s = strength(i, j);
            const bool flat = std::abs(v) < kNarrow * std::abs(h),
                       steep = std::abs(h) < kNarrow * std::abs(v);
            const int dy = flat ? 0 : 1, dx = steep ? 0 : flat || h * v > 0 ? 1 : -1;
            const bool top =
                s >= strength.clamped(i + dy, j + dx) && s > strength.clamped(i - dy, j - dx);
            tops(i, j) = !top || s <= kLow ? 0.0f : s > kHigh ? 2.0f : 1.0f;
        }
    return tops;
}

std::vector<std::vector<float>> host_canny(const Plane& picture) {
    const Plane tops = host_tops(picture);
    Plane edge(tops.h, tops.w);
    for (size_t k = 0; k < tops.values.size(); ++k) edge.values[k] = tops.values[k] == 2 ? 1 : 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        const Plane old = edge;
        for (int i = 0; i < old.h; ++i)
            for (int j = 0; j < old.w; ++j)
                for (int k = 0; k < 9 && tops(i, j) > 0; ++k)
                    edge(i, j) = std::max(edge(i, j), old.clamped(i + k / 3 - 1, j + k % 3 - 1));
    }
    return {edge.values};
}

Contest canny() {
    auto f = compile(canny_of, {f32("h", "w")});
    Plane picture = hills(kSide, kSide, 7);
    const std::vector<float> noise = numbers(kPixels, -0.1f, 0.1f);
    for (size_t k = 0; k < noise.size(); ++k)
        picture.values[k] = std::floor(3 * picture.values[k]) / 3 + noise[k];
    // Of a pixel: the blur 18, differences 10, the strength 4, directions 6, the thinning 2, the
    // thresholds 2; of a sweep four maxima, by rows and by columns.
    return {.least = {4.0 * kPixels, 4.0 * kPixels, (42.0 + 4 * kSweeps) * kPixels},
            .arguments = {},
            .results = {kPixels},
            .firn = [f, x = tensor(picture.values,
                                   {kSide, kSide})] { return std::vector<Tensor>{f(x)}; },
            .best = {},
            .plain = {},
            .tolerance = 1e-3,
            .difference = share_that_differs,
            .expected = [picture] { return host_canny(picture); }};
}

}  // namespace

void add_edges(std::vector<Case>& cases) { cases.push_back({"canny", canny, Section::HeldOut}); }

}  // namespace firn::bench
