// Intersections of rays with spheres and boxes.
#pragma once
#include "compiler/frontend/vec_math.h"

namespace firn {

/// The ray enters at origin + enter direction and leaves at origin + leave direction: enter <=
/// leave, and enter is negative if it starts inside. Both are nan if it misses.
struct RayHit {
    Tensor hit;  ///< a bool: the ray hits it in front, leave >= 0
    Tensor enter, leave;
};
/// Intersects a ray with the ball around `centre`; the direction has any length but 0. E. Haines et
/// al., "Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019: accurate at
/// large distances.
///
/// Examples: after `RayHit r = ray_sphere(vec3(0, 0, -5), vec3(0, 0, 2), vec3(0, 0, 0), 1.0f);`
/// `r.hit` is `true`, `r.enter` is `2`, `r.leave` is `3`, and after `RayHit miss =
/// ray_sphere(vec3(0, 3, -5), vec3(0, 0, 2), vec3(0, 0, 0), 1.0f);` `miss.hit` is `false`,
/// `miss.enter` is `nan`.
RayHit ray_sphere(const vec3& origin, const vec3& direction, const vec3& centre, const Arg& radius,
                  SourceLine line = here());
/// Intersects a ray with the box from `low` to `high`; components of the direction may be 0. T. Kay
/// and J. Kajiya, "Ray Tracing Complex Scenes", 1986.
///
/// Example: after `RayHit r = ray_box(vec3(0.25f, 0, 0), vec3(1, 0, 0), vec3(-1.0f), vec3(1.0f));`
/// `r.hit` is `true`, `r.enter` is `-1.25` and `r.leave` is `0.75`.
RayHit ray_box(const vec3& origin, const vec3& direction, const vec3& low, const vec3& high,
               SourceLine line = here());

}  // namespace firn
