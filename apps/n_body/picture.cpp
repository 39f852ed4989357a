// Splats, glow and tone mapping.
#include "apps/n_body/picture.h"

#include <algorithm>
#include <cmath>

namespace firn::n_body {
namespace {

/// A body covers so many pixels in each direction at most.
constexpr int kSplat = 11;
/// The largest channel that colours() gives for a light of 1.
constexpr float kMostColour = 1.3f;
/// Light of one frame in a pixel, as an integer: the sum of all bodies stays below 2^31.
constexpr float kMostSum = 1 << 30;
/// The height of the picture in distances.
constexpr float kField = 0.75f;
/// The glow is made at a quarter of the size.
constexpr int kCoarse = 4, kGlowReach = 8;

using Colour = std::array<float, 3>;
using Channels = std::array<Tensor, 3>;

Channels blend(const Colour& a, const Colour& b, const Tensor& t) {
    return {mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)};
}

/// Blue and amber by galaxy, halos paler; or from red through white to blue by speed.
Channels colours(const Tensor& galaxy, const Tensor& light, const Tensor& speed,
                 const Tensor& by_speed) {
    Channels disc = blend({0.20f, 0.48f, 1.0f}, {1.0f, 0.42f, 0.16f}, galaxy);
    Channels halo = blend({0.75f, 0.80f, 1.0f}, {1.0f, 0.85f, 0.65f}, galaxy);
    Tensor old = cast<float>(light < 0.5f), fast = clamp(0.55f * speed, 0.0f, 1.0f);
    Channels slow = blend({0.75f, 0.10f, 0.03f}, {1.0f, 0.62f, 0.30f}, min(2.0f * fast, 1.0f));
    Channels out;
    const Colour hot{0.55f, 0.75f, kMostColour};
    for (size_t c = 0; c < 3; ++c) {
        Tensor warm = mix(slow[c], hot[c], max(2.0f * fast - 1.0f, 0.0f));
        out[c] = mix(mix(disc[c], halo[c], old), warm, by_speed);
    }
    return out;
}

/// The place of a body on the screen, in pixels, and its distance.
struct Projected {
    Tensor i, j, depth, scale;
};
Projected project(const vec3& at, const Tensor& turn, const Tensor& tilt, const Tensor& distance,
                  const Tensor& height, const Tensor& width) {
    Tensor x = cos(turn) * at.x - sin(turn) * at.y, y = sin(turn) * at.x + cos(turn) * at.y;
    Tensor up = sin(tilt) * y + cos(tilt) * at.z,
           depth = distance + cos(tilt) * y - sin(tilt) * at.z;
    Tensor scale = height / (kField * max(depth, 0.05f));
    return {0.5f * height - scale * up, 0.5f * width + scale * x, depth, scale};
}

SplatFunction compile_splat() {
    ArgSpec each = f32("n"), pixels = f32("h", "w"), number = f32();
    return compile(
        [](Light before_it, Bodies bodies, Shot shot) {
            auto& [red, green, blue] = before_it;
            const Tensor &size = shot.size, &kept = shot.kept;
            const Tensor &light = bodies.light, &galaxy = bodies.galaxy;
            Tensor height = cast<float>(Tensor(red.size(0))),
                   width = cast<float>(Tensor(red.size(1)));
            auto [body, at_i, at_j] = indices<3>({light.size(0), kSplat, kSplat});
            auto seen = [&](const vec3& at) {
                return project(at, shot.turn, shot.tilt, shot.distance, height, width);
            };
            const vec3 &here = bodies.position, &speed = bodies.velocity;
            Projected now = seen(here), before = seen(here + -shot.shutter * speed);
            // A body is as wide as it is near, and never so small that it slips between pixels.
            Tensor radius = clamp(0.006f * size * now.scale, 0.7f, 0.25f * kSplat);
            // It is drawn along its way since the frame before, as far as that fits.
            Tensor way_i = before.i - now.i, way_j = before.j - now.j;
            Tensor length = sqrt(way_i * way_i + way_j * way_j) + 1e-3f;
            Tensor fits = min(1.0f, (0.9f * kSplat - 2.0f * radius) / length);
            way_i *= fits, way_j *= fits, length *= fits;
            Tensor corner_i = cast<int>(floor(now.i + 0.5f * way_i)) - kSplat / 2,
                   corner_j = cast<int>(floor(now.j + 0.5f * way_j)) - kSplat / 2;
            // The light stays the same, however large the place. Trails gather light: every frame
            // adds what the last ones lost.
            Tensor power = (1.0f - kept) * light / (radius * (radius + 0.56f * length));
            power = select((now.depth > 0.1f) & (before.depth > 0.1f), power, 0.0f);

            Tensor i = corner_i(body) + at_i, j = corner_j(body) + at_j;
            Tensor off_i = i + 0.5f - now.i(body), off_j = j + 0.5f - now.j(body);
            Tensor along = (off_i * way_i(body) + off_j * way_j(body)) / square(length)(body);
            along = clamp(along, 0.0f, 1.0f);
            Tensor away = square(off_i - along * way_i(body)) + square(off_j - along * way_j(body));
            Tensor value = power(body) * exp(-away / square(radius)(body));
            Channels colour = colours(galaxy, light, sqrt(dot(speed, speed)), shot.by_speed);
            // Light is added in integers, whose sum is the same in every order of the bodies. All
            // light may meet in one pixel.
            Tensor unit = max(kMostColour / kMostSum * sum(power), 1e-20f);
            const auto gathered = [&](const Tensor& before, const Tensor& channel) {
                Tensor units = zeros({red.size(0), red.size(1)}, i32);
                scatter_add(units(i, j), cast<int>(round(value * (channel / unit)(body))));
                return kept * before + unit * cast<float>(units);
            };
            return Light{gathered(red, colour[0]), gathered(green, colour[1]),
                         gathered(blue, colour[2])};
        },
        {pixels, pixels, pixels, each, each,   each,   each,   each,   each,   each,   each,
         each,   each,   each,   each, number, number, number, number, number, number, number});
}

/// Means of squares of pixels; all of these take [h, w, 3].
Tensor coarse(const Tensor& fine) {
    auto [i, j, c] = indices<3>(
        {ceil_div(fine.size(0), kCoarse), ceil_div(fine.size(1), kCoarse), fine.size(2)});
    Tensor total = 0.0f;
    for (int a = 0; a < kCoarse; ++a)
        for (int b = 0; b < kCoarse; ++b) total += fine(kCoarse * i + a, kCoarse * j + b, c);
    return total / float(kCoarse * kCoarse);
}

/// Spread along one axis: a bell with a long tail.
Tensor spread(const Tensor& x, int axis) {
    auto [i, j, c] = indices<3>(x.shape());
    Tensor total = 0.0f;
    float weights = 0;
    for (int k = -kGlowReach; k <= kGlowReach; ++k) {
        float weight = std::exp(-0.4f * float(std::abs(k)));
        total += weight * (axis == 0 ? zero(x)(i + k, j, c) : zero(x)(i, j + k, c));
        weights += weight;
    }
    return total / weights;
}

/// Interpolates linearly between the coarse pixels.
Tensor enlarged(const Tensor& x, const Shape& shape) {
    auto [i, j, c] = indices<3>(shape);
    Tensor y = (i + 0.5f) / float(kCoarse) - 0.5f, z = (j + 0.5f) / float(kCoarse) - 0.5f;
    Tensor row = cast<int>(floor(y)), column = cast<int>(floor(z));
    Tensor s = y - floor(y), t = z - floor(z);
    return mix(mix(x(row, column, c), x(row, column + 1, c), t),
               mix(x(row + 1, column, c), x(row + 1, column + 1, c), t), s);
}

/// sRGB's curve for 0 to 1 by square roots, within 0.007; a power takes five times as long.
Tensor gamma(const Tensor& x) {
    Tensor second = sqrt(x), fourth = sqrt(second), eighth = sqrt(fourth);
    return max(0.662f * second + 0.684f * fourth - 0.3236f * eighth - 0.0225f * x, 0.0f);
}

/// ACES' curve from light to colour, as fitted by K. Narkowicz, 2015.
Tensor tone(const Tensor& x) {
    Tensor mapped = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return gamma(clamp(mapped, 0.0f, 1.0f));
}

DevelopFunction compile_develop() {
    ArgSpec pixels = f32("h", "w");
    return compile(
        [](Light seen, Tensor exposure, Tensor glow) {
            Tensor light = stack(std::vector{seen.red, seen.green, seen.blue}, {.axis = 2});
            auto [i, j, c] = indices<3>(light.shape());
            Tensor y = cast<float>(i) / light.size(0) - 0.5f,
                   x = cast<float>(j) / light.size(1) - 0.5f;
            Tensor night = select(c == 2, 0.008f, 0.004f) * (1.0f - 0.9f * (x * x + y * y));
            Tensor halo = enlarged(spread(spread(coarse(light), 0), 1), light.shape());
            return tone(exposure * mix(light, halo, glow) + night);
        },
        {pixels, pixels, pixels, f32(), f32()});
}

}  // namespace

void move(Camera& camera, const Mouse& mouse) {
    if (mouse.left.down) {
        camera.turn += 0.008f * mouse.dj;
        camera.tilt = std::clamp(camera.tilt + 0.008f * mouse.di, -1.57f, 1.57f);
    }
    camera.distance = std::clamp(camera.distance * std::exp(-0.1f * mouse.wheel), 0.5f, 40.0f);
}

std::vector<std::string> colour_names() { return {"galaxy", "speed"}; }

Painter make_painter(int height, int width) {
    Tensor black = zeros({height, width});
    return {{black, black, black}, compile_splat(), compile_develop()};
}

void clear(Painter& painter, int height, int width) {
    auto& [red, green, blue] = painter.light;
    red = green = blue = zeros({height, width});
}

void draw(Painter& painter, const Bodies& bodies, const Camera& camera, const Look& look) {
    const Shot shot{camera.turn,
                    camera.tilt,
                    camera.distance,
                    look.size,
                    look.colours == Colours::Speed ? 1.0f : 0.0f,
                    look.trail,
                    look.shutter};
    painter.light = painter.splat(painter.light, bodies, shot);
}

Tensor picture(const Painter& painter, const Look& look) {
    return painter.develop(painter.light, look.exposure, look.glow);
}

}  // namespace firn::n_body
