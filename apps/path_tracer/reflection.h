// The reflection of surfaces: a diffuse base under a rough coat, or a rough metal.
#pragma once
#include "apps/path_tracer/scene.h"

namespace firn::path_tracer {

/// A point that a ray met; `eye` points back along the ray, with length 1.
struct Shading {
    Surface surface;
    vec3 eye;
    vec3 tangent, other;  // with the normal at right angles
    Tensor alpha;         // roughness squared, at least a little
    vec3 head_on;         // what is reflected head-on
    vec3 diffuse;         // what the base gives back, less what the coat keeps from it
    Tensor coat_share;    // chance of following the coat rather than the base
};
Shading shading(const Surface& surface, const vec3& eye);

/// The share of light from `direction` (length 1) that is reflected to the eye, times the cosine of
/// its angle; and the chance per steradian that `follow` draws the direction.
struct Reflected {
    vec3 light;
    Tensor chance;
};
Reflected reflected(const Shading& at, const vec3& direction);

/// A direction to go on in, by three numbers in [0, 1). It may point into the surface: then nothing
/// is reflected.
vec3 follow(const Shading& at, const Tensor& which, const Tensor& first, const Tensor& second);

}  // namespace firn::path_tracer
