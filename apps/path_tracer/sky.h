// The light from all around: a picture over all directions, and drawing directions from it.
#pragma once
#include <firn/firn.h>

#include <string>

namespace firn::path_tracer {

/// A panorama: rows from straight up to straight down, columns once around.
struct Sky {
    Tensor radiance;  // f32[h, w, 3]
    Tensor density;   // f32[h, w]: chance of each texel over that of all alike; its mean is 1
    Tensor rows;      // f32[h]: chance of the rows up to and with each
    Tensor columns;   // f32[h, w]: the same for the texels of a row
};

/// Texels are drawn by how bright they are and how much of the sphere they cover.
Sky make_sky(const Tensor& radiance);

/// Returns the light from a direction of length 1, interpolated between texels; `turn` in [0, 1)
/// turns the sky.
vec3 sky_radiance(const Sky& sky, const vec3& direction, const Tensor& turn);
/// Chance of drawing the direction, per steradian.
Tensor sky_chance(const Sky& sky, const vec3& direction, const Tensor& turn);
/// A direction from two numbers in [0, 1).
vec3 draw_direction(const Sky& sky, const Tensor& first, const Tensor& second, const Tensor& turn);

}  // namespace firn::path_tracer
