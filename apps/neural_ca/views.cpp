// The picture of a cellular automaton that learns.
#include "apps/neural_ca/views.h"

#include <algorithm>

#include "apps/common/resample.h"

namespace firn::neural_ca {
namespace {

constexpr int kLeft = 326, kTop = 24, kLarge = 580, kSide = 930, kPool = 180, kThumbColumns = 3,
              kFiner = 4, kGap = 6;
constexpr float kPaper = 0.07f;

/// Premultiplied colours of what is in front over what is behind.
Tensor over(const Tensor& behind, const Tensor& inside, float red, float green, float blue) {
    auto [i, j, c] = indices<3>(behind.shape());
    const Tensor colour =
        select(c == 0, red, select(c == 1, green, select(c == 2, Tensor(blue), 1.0f)));
    return select(inside(i, j), colour, behind);
}

}  // namespace

Spot cells_spot(int64_t n) { return {kTop, kLeft, std::max(1, kLarge / int(n))}; }

Drawing picture(const Training& training, const Tensor& cells) {
    Tensor canvas = full({kHeight, kWidth, 3}, kPaper);
    const int64_t n = training.target.size(0).constant();
    canvas = pasted(canvas, on_white(cells), cells_spot(n));
    canvas = pasted(canvas, on_white(training.target), {kTop, kSide, std::max(1, 128 / int(n))});
    const int scale = std::max(1, 72 / int(n)),
              rows = std::min((kHeight - kPool) / (int(n) * scale + kGap),
                              training.options.pool / kThumbColumns);
    const Tensor pool = training.pool.cells.value();
    for (int k = 0; k < rows * kThumbColumns; ++k) {
        auto [i, j, c] = indices<3>({n, n, kChannels});
        canvas = pasted(canvas, on_white(pool(k, i, j, c)),
                        {kPool + k / kThumbColumns * (int(n) * scale + kGap),
                         kSide + k % kThumbColumns * (int(n) * scale + kGap), scale});
    }
    Drawing out = canvas;
    caption(out, "grown from one cell; left button: erase, right: plant", {kTop, kLeft});
    caption(out, "target", {kTop, kSide});
    caption(out, "patterns of the pool", {kPool, kSide});
    return out;
}

Tensor toadstool(int n) {
    const int fine = kFiner * n;
    auto [i, j] = indices<2>({fine, fine});
    const Tensor y = (i.as(f32) + 0.5f) / float(fine) * 2.0f - 1.0f,
                 x = (j.as(f32) + 0.5f) / float(fine) * 2.0f - 1.0f;
    const auto disc = [&](float row, float column, float high, float wide) {
        return square((y - row) / high) + square((x - column) / wide) < 1.0f;
    };
    Tensor out = zeros({fine, fine, 4});
    out = over(out, (abs(x) < 0.17f + 0.12f * square(y)) & (y > -0.1f) & (y < 0.72f), 0.93f, 0.87f,
               0.74f);
    out = over(out, disc(0.12f, 0.0f, 0.14f, 0.42f), 0.80f, 0.70f, 0.58f);
    const Tensor cap = disc(0.1f, 0.0f, 0.82f, 0.74f) & (y < 0.1f);
    out = over(out, cap, 0.84f, 0.13f, 0.12f);
    out = over(out,
               cap & (disc(-0.42f, 0.02f, 0.15f, 0.17f) | disc(-0.15f, -0.42f, 0.14f, 0.14f) |
                      disc(-0.12f, 0.4f, 0.15f, 0.15f) | disc(-0.06f, -0.02f, 0.1f, 0.12f)),
               0.98f, 0.96f, 0.92f);
    // Every pixel is the mean of what it covers.
    auto [row, column, c, a, b] = indices<5>({n, n, 4, kFiner, kFiner});
    return mean(out(row * kFiner + a, column * kFiner + b, c), {3, 4});
}

Tensor target_of(const Tensor& picture, int n) {
    const int margin = n / 8, inner = n - 2 * margin;
    const Tensor small = resampled(picture, inner, inner);
    auto [i, j, c] = indices<3>({n, n, 4});
    const Tensor row = i - margin, column = j - margin;
    const Tensor inside = (row >= 0) & (row < inner) & (column >= 0) & (column < inner);
    const Tensor darkest = min(small, {2});
    const Tensor opacity =
        select(inside, 1.0f - smoothstep(0.85f, 1.0f, darkest(row, column)), 0.0f);
    return opacity * select(c < 3, small(row, column, min(c, 2)), 1.0f);
}

}  // namespace firn::neural_ca
