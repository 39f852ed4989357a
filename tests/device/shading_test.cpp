// Noise, rotations, rays and colours on the device give what the oracle gives.
#include "compiler/shading.h"

#include "tests/device/on_device.h"

namespace firn {
namespace {

Tensor column(uint32_t seed) { return tensor(random_floats(3000, seed, -30, 30)); }
vec2 plane() { return vec2(column(1), column(2)); }
vec3 space() { return vec3(plane(), column(3)); }
Tensor both(const Worley& found) { return stack({found.first, found.second}); }
Tensor all_of(const RayHit& ray) { return stack({ray.hit.as(f32), ray.enter, ray.leave}); }

const DeviceCase kShadingCases[] = {
    {"pcg2d", [] { return stack(pcg2d(uvec2(arange(3000), 7))); }},
    {"pcg3d", [] { return stack(pcg3d(uvec3(arange(3000), 7, 9))); }},
    {"pcg4d", [] { return stack(pcg4d(uvec4(arange(3000), 7, 9, 1))); }},
    {"value_noise", [] { return value_noise(space()); }, 1e-5},
    {"perlin_noise", [] { return perlin_noise(plane()); }, 1e-5},
    {"perlin_noise_in_space", [] { return perlin_noise(space(), {.seed = 5}); }, 1e-5},
    {"simplex_noise", [] { return simplex_noise(space()); }, 1e-4},
    {"worley_noise", [] { return both(worley_noise(plane())); }, 1e-5},
    {"worley_noise_in_space", [] { return both(worley_noise(space())); }, 1e-5},
    {"slerp",
     [] {
         const Quaternion a = axis_angle(space(), column(4)), b = axis_angle(space(), column(5));
         return stack(rotate(slerp(a, b, 0.25f), vec3(1, 2, 3)));
     },
     1e-4},
    {"look_at", [] { return stack(look_at(space(), vec3(0, 0, 0), vec3(0, 1, 0))); }, 1e-4},
    {"ray_sphere", [] { return all_of(ray_sphere(space(), vec3(1, 0.5f, 0), vec3(0), 9)); }, 1e-3},
    {"ray_box", [] { return all_of(ray_box(space(), vec3(1, 0.5f, 0), vec3(-9), vec3(9))); }, 1e-5},
    {"srgb", [] { return linear_to_srgb(srgb_to_linear(column(1))); }, 1e-4},
    {"plasma", [] { return stack(plasma(column(1) * 0.02f + 0.5f)); }, 1e-4},
};
INSTANTIATE_TEST_SUITE_P(Shading, OnDevice, ::testing::ValuesIn(kShadingCases), name_of);

}  // namespace
}  // namespace firn
