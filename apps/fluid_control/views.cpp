// The picture of a flow that is controlled.
#include "apps/fluid_control/views.h"

#include <algorithm>
#include <string>

#include "apps/common/resample.h"

namespace firn::fluid_control {
namespace {

constexpr int kLeft = 322, kTop = 20, kLarge = 284, kSmall = 140, kGap = 8, kFiner = 4;
constexpr float kPaper = 0.07f;

/// Returns the pixels of a cell, at least one; a picture that is larger than its place is cut by
/// the next.
int scale_in(int place, const Tensor& picture) {
    const int rows = picture.size(0), columns = picture.size(1);
    return std::max(1, place / std::max(rows, columns));
}

Tensor velocity_picture(const FirstVelocity& velocity) {
    const auto [u, v] = velocity();
    const Tensor size = sqrt(u * u + v * v), share = size / (max(size) + 1e-6f);
    const auto channel = [&](float turn) {
        return share * (0.55f + 0.45f * cos(atan2(v, u) + turn));
    };
    return stack({channel(0.0f), channel(2.0944f), channel(4.1888f)}, {.axis = 2});
}

/// Dye where `ink` [finer n, finer n] is 1, in water.
Tensor dyed(const Tensor& ink, int n) {
    const auto channel = [&](float water, float dye) { return mix(water, dye, ink); };
    return resampled(
        stack({channel(0.04f, 0.95f), channel(0.06f, 0.34f), channel(0.10f, 0.36f)}, {.axis = 2}),
        n, n);
}

}  // namespace

Drawing picture(const Control& control, const std::vector<Tensor>& stills) {
    struct Placed {
        Tensor picture;
        std::string caption;
        Spot spot;
    };
    std::vector<Placed> all;
    const auto place = [&](const Tensor& each, const std::string& line, int row, int column,
                           int size) {
        all.push_back({each, line, {row, column, scale_in(size, each)}});
    };
    const int second = kLeft + kLarge + kGap, third = second + kLarge + kGap;
    place(stills.back(), "result", kTop, kLeft, kLarge);
    place(control.target, "target", kTop, second, kLarge);
    place(velocity_picture(control.velocity), "initial velocity", kTop, third, kLarge);
    for (int k = 0; k <= kStills; ++k)
        place(stills[size_t(k)], std::to_string(100 * k / kStills) + " % of the way",
              kTop + kLarge + 4 * kGap, kLeft + k * (kSmall + kGap), kSmall);
    Tensor canvas = full({kHeight, kWidth, 3}, kPaper);
    for (const Placed& each : all) canvas = pasted(canvas, each.picture, each.spot);
    Drawing out = canvas;
    for (const Placed& each : all) caption(out, each.caption, each.spot);
    return out;
}

Tensor disc_of_dye(int n) {
    auto [i, j] = indices<2>({kFiner * n, kFiner * n});
    const float middle = 0.5f * float(kFiner * n);
    const Tensor y = i.as(f32) + 0.5f - middle, x = j.as(f32) + 0.5f - middle;
    return dyed((y * y + x * x < 0.36f * middle * middle).as(f32), n);
}

Tensor heart_of_dye(int n) {
    auto [i, j] = indices<2>({kFiner * n, kFiner * n});
    const float middle = 0.5f * float(kFiner * n), scale = 1.8f / middle;
    const Tensor y = scale * (middle - i.as(f32) - 0.5f) + 0.15f,
                 x = scale * (j.as(f32) + 0.5f - middle);
    // Inside of the curve (x^2 + y^2 - 1)^3 = x^2 y^3.
    const Tensor a = x * x + y * y - 1.0f;
    return dyed((a * a * a < x * x * y * y * y).as(f32), n);
}

}  // namespace firn::fluid_control
