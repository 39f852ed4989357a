// Quadratic equations, and slabs.
#include "compiler/algorithms/rays.h"

#include <cmath>

namespace firn {
namespace {

RayHit hit_between(const Tensor& enter, const Tensor& leave, const Tensor& met) {
    return {met & (leave >= 0.0f), select(met, enter, std::nanf("")),
            select(met, leave, std::nanf(""))};
}

}  // namespace

RayHit ray_sphere(const vec3& origin, const vec3& direction, const vec3& centre, const Arg& radius,
                  SourceLine line) {
    LineScope at(line);
    const vec3 to = centre - origin;
    const Tensor length = dot(direction, direction), middle = dot(to, direction) / length;
    // The point of the ray next to the centre is as far from it as the discriminant says.
    const vec3 away = to - direction * middle;
    const Tensor r = to_kind(radius, VecKind::Float), rest = r * r - dot(away, away);
    const Tensor half = sqrt(max(rest, 0.0f) / length);
    return hit_between(middle - half, middle + half, rest >= 0.0f);
}

RayHit ray_box(const vec3& origin, const vec3& direction, const vec3& low, const vec3& high,
               SourceLine line) {
    LineScope at(line);
    Tensor enter = -INFINITY, leave = INFINITY;
    for (size_t k = 0; k < 3; ++k) {
        const Tensor a = (low[k] - origin[k]) / direction[k],
                     b = (high[k] - origin[k]) / direction[k];
        // A ray along the slab is inside of it, on its border too, or misses the box.
        const Tensor inside = (origin[k] >= low[k]) & (origin[k] <= high[k]);
        const Tensor along = direction[k] == 0.0f, far = select(inside, INFINITY, -INFINITY);
        enter = max(enter, select(along, -far, min(a, b)));
        leave = min(leave, select(along, far, max(a, b)));
    }
    return hit_between(enter, leave, enter <= leave);
}

}  // namespace firn
