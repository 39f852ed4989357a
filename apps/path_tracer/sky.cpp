// Panoramas: drawing directions by two cumulative sums.
#include "apps/path_tracer/sky.h"

#include <cmath>
#include <functional>

namespace firn::path_tracer {
namespace {

constexpr float kHalfTurn = 3.14159265f;  // radians

/// The first place whose cumulative chance is above u: chance(k) is that of 0 to k.
struct Drawn {
    Tensor index, fraction;
};
Drawn draw(const std::function<Tensor(const Tensor&)>& chance, int count, const Tensor& u) {
    int width = 1;
    while (width < count) width *= 2;
    Tensor low = 0;
    for (int half = width / 2; half > 0; half /= 2)
        low = select(chance(low + (half - 1)) <= u, low + half, low);
    low = min(low, count - 1);
    Tensor before = select(low > 0, chance(low - 1), 0.0f), here = chance(low);
    return {low, clamp((u - before) / max(here - before, 1e-20f), 0.0f, 0.99999f)};
}

/// Returns the place of a direction on the panorama, in texels.
vec2 place(const Sky& sky, const vec3& direction, const Tensor& turn) {
    float h = static_cast<float>(int(sky.density.size(0))),
          w = static_cast<float>(int(sky.density.size(1)));
    Tensor around = atan2(direction.z, direction.x) / (2.0f * kHalfTurn) + turn;
    return vec2(frac(around) * w, acos(clamp(direction.y, -1.0f, 1.0f)) / kHalfTurn * h);
}

}  // namespace

Sky make_sky(const Tensor& radiance) {
    int h = radiance.size(0), w = radiance.size(1);
    vec3 light = vec3_of(radiance);
    Tensor share = sin((index({h, w}, 0) + 0.5f) * (kHalfTurn / float(h)));
    Tensor bright = dot(light, vec3(0.2126f, 0.7152f, 0.0722f)) + 1e-4f;
    // The mean of what sky_radiance gives over a texel, with a part from its neighbours.
    auto [i, j] = indices<2>(Shape{h, w});
    Tensor along = 0.75f * bright + 0.125f * (wrap(bright)(i, j - 1) + wrap(bright)(i, j + 1));
    Tensor weight = (0.75f * along + 0.125f * (along(i - 1, j) + along(i + 1, j))) * share;
    Tensor columns = cumsum(weight, {.axis = 1}), of_row = columns(arange(h), w - 1);
    Tensor rows = cumsum(of_row, {.axis = 0});
    Sky sky{radiance, weight * (float(h) * float(w) / rows(h - 1)), rows / rows(h - 1),
            columns / unsqueeze(of_row, 1)};
    realize(sky.density, sky.rows, sky.columns);
    return sky;
}

vec3 sky_radiance(const Sky& sky, const vec3& direction, const Tensor& turn) {
    int w = sky.density.size(1);
    vec2 at = place(sky, direction, turn) - 0.5f;
    vec2 corner = floor(at), t = at - corner;
    Tensor row = corner.y.as(i32), left = (corner.x.as(i32) + w) % w, right = (left + 1) % w;
    auto texel = [&](const Tensor& i, const Tensor& j) {
        const Tensor& all = sky.radiance;
        return vec3(all(i, j, 0), all(i, j, 1), all(i, j, 2));
    };
    return mix(mix(texel(row, left), texel(row, right), t.x),
               mix(texel(row + 1, left), texel(row + 1, right), t.x), t.y);
}

Tensor sky_chance(const Sky& sky, const vec3& direction, const Tensor& turn) {
    const Tensor& density = sky.density;
    vec2 at = place(sky, direction, turn);
    Tensor sine = sqrt(max(1.0f - direction.y * direction.y, 1e-8f));
    return density(at.y.as(i32), at.x.as(i32)) / (2.0f * kHalfTurn * kHalfTurn * sine);
}

vec3 draw_direction(const Sky& sky, const Tensor& first, const Tensor& second, const Tensor& turn) {
    int h = sky.density.size(0), w = sky.density.size(1);
    const Tensor &rows = sky.rows, &columns = sky.columns;
    Drawn row = draw([&](const Tensor& k) { return rows(k); }, h, first);
    Drawn column = draw([&](const Tensor& k) { return columns(row.index, k); }, w, second);
    Tensor down = (row.index + row.fraction) * (kHalfTurn / float(h));
    Tensor around = ((column.index + column.fraction) / float(w) - turn) * (2.0f * kHalfTurn);
    return vec3(sin(down) * cos(around), cos(down), sin(down) * sin(around));
}

}  // namespace firn::path_tracer
