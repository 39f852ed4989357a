// Rotations, cameras, rays and colours against their contracts and plain C++.
#include "compiler/shading.h"

#include <array>
#include <cmath>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Tensor column(uint32_t seed) { return tensor(random_floats(40, seed)); }
vec3 vectors(uint32_t seed) { return vec3(column(seed), column(seed + 1), column(seed + 2)); }
Quaternion rotations(uint32_t seed) { return axis_angle(vectors(seed), column(seed + 3) * 3.0f); }
Tensor far_apart(const vec3& a, const vec3& b) { return max(distance(a, b)); }

/// Expects `make()` to be a number below `bound` in every way of evaluation.
template <class Make>
void expect_below(const Make& make, float bound) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        EXPECT_LT(Tensor(make()).template item<float>(), bound);
    }
}

TEST(Quaternion, TurnsAnticlockwiseAboutItsAxis) {
    const float quarter = 1.57079633f;
    // x to y about z, and y to z about x.
    expect_values([=] { return stack(rotate(axis_angle(vec3(0, 0, 2), quarter), vec3(1, 0, 0))); },
                  Floats{0, 1, 0}, 1e-6);
    expect_values([=] { return stack(rotate(axis_angle(vec3(3, 0, 0), quarter), vec3(0, 1, 0))); },
                  Floats{0, 0, 1}, 1e-6);
}

TEST(Quaternion, IsRodriguesRotation) {
    // p cos a + (k x p) sin a + k (k . p)(1 - cos a).
    expect_below(
        [] {
            const vec3 k = normalize(vectors(1)), p = vectors(9);
            const Tensor angle = column(5) * 3.0f;
            const vec3 expected =
                p * cos(angle) + cross(k, p) * sin(angle) + k * (dot(k, p) * (1.0f - cos(angle)));
            return far_apart(rotate(axis_angle(k, angle), p), expected);
        },
        1e-5f);
}

TEST(Quaternion, ProductsMatricesAndInversesTurnAlike) {
    expect_below(
        [] {
            const Quaternion a = rotations(1), b = rotations(11);
            const vec3 p = vectors(21), turned = rotate(a, rotate(b, p));
            return max(far_apart(rotate(a * b, p), turned),
                       far_apart(rotation_matrix(a) * (rotation_matrix(b) * p), turned),
                       far_apart(rotate(conj(a * b), turned), p));
        },
        1e-5f);
}

TEST(Quaternion, SlerpTurnsAtAnEvenPaceTheShorterWay) {
    expect_below(
        [] {
            const vec3 axis = normalize(vectors(1)), p = vectors(5);
            const Tensor from = column(8), to = from + column(9) * 3.0f, t = 0.3f;
            const Quaternion a = axis_angle(axis, from), b = axis_angle(axis, to);
            const Quaternion negative{-b.v, -b.w};  // the same rotation
            const vec3 expected = rotate(axis_angle(axis, from + (to - from) * t), p);
            return max(far_apart(rotate(slerp(a, b, t), p), expected),
                       far_apart(rotate(slerp(a, negative, t), p), expected));
        },
        2e-5f);
    expect_below(
        [] {
            const Quaternion q = rotations(3);
            return max(abs(1.0f - dot(slerp(q, q, 0.5f), q)));
        },
        1e-6f);
}

TEST(Quaternion, IsAResultOfCompiledFunctions) {
    SessionScope scope(Session::interpreter());
    auto turn = compile([](Tensor angle) { return axis_angle(vec3(0, 1, 0), angle); }, {f32("n")});
    const Quaternion q = turn(tensor({0.0f, 3.14159265f}));
    expect_near(q.w.to_vector<float>(), Floats{1, 0}, 1e-6);
    expect_near(Tensor(q.v.y + q.w * 0.0f).to_vector<float>(), Floats{0, 1}, 1e-6);
}

TEST(Camera, LooksDownItsNegativeZ) {
    auto seen = [](vec4 p) {
        const mat4 view = look_at(vec3(1, 2, 3), vec3(1, 2, -5), vec3(0, 1, 0));
        return stack(view * p);
    };
    expect_values([&] { return seen(vec4(1, 2, 3, 1)); }, Floats{0, 0, 0, 1});
    expect_values([&] { return seen(vec4(2, 4, 0, 1)); }, Floats{1, 2, -3, 1}, 1e-6);
    expect_values(
        [] {
            const mat4 view = look_at(vec3(0, 0, 0), vec3(5, 0, 0), vec3(0, 0, 1));
            return stack(view * vec4(2, 3, 4, 1));  // x is ahead, -y right, z up
        },
        Floats{-3, 4, -2, 1}, 1e-6);
}

TEST(Camera, SeesItsTargetStraightAhead) {
    auto seen = [](const vec3& p) {
        const vec3 up(0.2f, 1, 0), eye(1, 2, 3), target(-2, 6, 15);
        return stack(look_at(eye, target, up) * vec4(p, 1));
    };
    expect_values([&] { return seen(vec3(1, 2, 3)); }, Floats{0, 0, 0, 1}, 2e-6);
    expect_values([&] { return seen(vec3(-2, 6, 15)); }, Floats{0, 0, -13, 1}, 2e-6);
    // Up is to be seen above the middle.
    expect_values(
        [&] {
            return seen(vec3(1.2f, 3, 3)).as(f32)(tensor({0, 3}));
        },
        Floats{0, 1}, 2e-6);
}

TEST(Camera, ProjectsNearTo0AndFarTo1) {
    auto seen = [](const mat4& projection, vec4 p) {
        const vec4 q = projection * p;
        return stack(vec3(q.x / q.w, q.y / q.w, q.z / q.w));
    };
    // 90 degrees from bottom to top: at a distance of 2 the border is 2 away, times the aspect.
    auto perspective_of = [&](vec4 p) {
        return seen(perspective(1.57079633f, 1.5f, 0.5f, 20.0f), p);
    };
    expect_values([&] { return perspective_of(vec4(3, 2, -2, 1)); },
                  Floats{1, 1, 20.0f / 19.5f * (1 - 0.5f / 2)}, 1e-5);
    expect_values([&] { return perspective_of(vec4(0, -0.25f, -0.5f, 1)); }, Floats{0, -0.5f, 0},
                  1e-5);
    expect_values([&] { return perspective_of(vec4(0, 0, -20, 1)); }, Floats{0, 0, 1}, 1e-5);
    auto box = [&](vec4 p) { return seen(orthographic(-1, 3, 2, 6, 0.5f, 20.5f), p); };
    expect_values([&] { return box(vec4(-1, 2, -0.5f, 1)); }, Floats{-1, -1, 0}, 1e-6);
    expect_values([&] { return box(vec4(3, 6, -20.5f, 1)); }, Floats{1, 1, 1}, 1e-6);
    expect_values([&] { return box(vec4(1, 4, -10.5f, 1)); }, Floats{0, 0, 0.5f}, 1e-6);
}

/// hit, enter and leave, one row each.
Tensor rows_of(const RayHit& ray) { return stack({ray.hit.as(f32), ray.enter, ray.leave}); }

TEST(Rays, MeetSpheres) {
    // Ahead, from inside, behind, beside, touching, and far away with a long direction.
    expect_values(
        [] {
            const vec3 origin(tensor({-5.0f, 0.5f, 5.0f, -5.0f, -5.0f, -1e4f}),
                              tensor({0.0f, 0.0f, 0.0f, 2.5f, 2.0f, 0.0f}), 0.0f);
            const vec3 direction(tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 2.0f}), 0.0f, 0.0f);
            return rows_of(ray_sphere(origin, direction, vec3(0, 0, 0), 2));
        },
        Floats{1, 1, 0, 0, 1, 1,            //
               3, -2.5f, -7, NAN, 5, 4999,  //
               7, 1.5f, -3, NAN, 5, 5001},
        1e-6);
}

TEST(Rays, FarAwaySpheresKeepTheirDigits) {
    // In floats b b - 4 a c would have no correct digits.
    expect_values(
        [] { return ray_sphere(vec3(0, 0, 0), vec3(0, 0, 1), vec3(0.5f, 0, 1e5f), 1).enter; },
        Floats{1e5f - std::sqrt(0.75f)}, 1e-7);
}

TEST(Rays, MeetBoxes) {
    // Ahead, from inside, behind, beside, along both borders of a slab, past it, diagonal.
    expect_values(
        [] {
            const vec3 origin(tensor({-3.0f, 0.0f, 3.0f, -3.0f, -3.0f, -3.0f, -2.0f, -3.0f}),
                              tensor({0.0f, 0.5f, 0.0f, 0.0f, 1.0f, 1.5f, -2.0f, -1.0f}), 0.0f);
            const vec3 direction(tensor({1.0f, 2.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}),
                                 tensor({0.1f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f, 0.0f}), 0.0f);
            return rows_of(ray_box(origin, direction, vec3(-1), vec3(1)));
        },
        Floats{1, 1,     0,  0,   1, 0,   1, 1,  //
               2, -0.5f, -4, NAN, 2, NAN, 1, 2,  //
               4, 0.5f,  -2, NAN, 4, NAN, 3, 4},
        1e-6);
}

TEST(Colour, FollowsTheStandardOfSrgb) {
    Floats coded, light;
    for (int k = 0; k <= 255; ++k) {
        const double c = k / 255.0;
        coded.push_back(static_cast<float>(c));
        light.push_back(
            static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4)));
    }
    expect_values([&] { return srgb_to_linear(tensor(coded)); }, light, 1e-6);
    expect_values([&] { return linear_to_srgb(tensor(light)); }, coded, 1e-6);
    expect_values([&] { return stack(linear_to_srgb(vec3(0.0f, tensor({0.5f}), 1.0f))); },
                  Floats{0, 0.73535698f, 1}, 1e-6);
    expect_values(
        [] {
            return srgb_to_linear(tensor({NAN, -1.0f, 1.5f}));
        },
        Floats{NAN, -1 / 12.92f, 2.537155f}, 1e-5);
}

TEST(Colour, MapsAreThoseOfMatplotlib) {
    // The tables of matplotlib at 0, 1/4, 1/2, 3/4 and 1 (of 256 entries 0,
    // 64, 128, 191, 255).
    struct Map {
        const char* name;
        vec3 (*map)(const Operand&);
        std::array<std::array<double, 3>, 5> table;
        double inside = 0.025, at_ends = 0.025;
    };
    const Map maps[] = {
        {"viridis",
         viridis,
         {{{0.267, 0.005, 0.329},
           {0.229, 0.322, 0.546},
           {0.128, 0.567, 0.551},
           {0.370, 0.789, 0.383},
           {0.993, 0.906, 0.144}}}},
        {"magma",
         magma,
         {{{0.001, 0.000, 0.014},
           {0.317, 0.072, 0.485},
           {0.716, 0.215, 0.475},
           {0.987, 0.536, 0.382},
           {0.987, 0.991, 0.750}}}},
        {"inferno",
         inferno,
         {{{0.001, 0.000, 0.014},
           {0.342, 0.062, 0.429},
           {0.736, 0.216, 0.330},
           {0.978, 0.558, 0.035},
           {0.988, 0.998, 0.645}}}},
        {"plasma",
         plasma,
         {{{0.050, 0.030, 0.528},
           {0.494, 0.012, 0.658},
           {0.798, 0.280, 0.470},
           {0.973, 0.586, 0.252},
           {0.940, 0.975, 0.131}}}},
        {"turbo",
         turbo,
         {{{0.190, 0.072, 0.232},
           {0.158, 0.736, 0.923},
           {0.644, 0.990, 0.234},
           {0.984, 0.493, 0.128},
           {0.480, 0.016, 0.011}}},
         0.08,
         0.13},
    };
    for (const Map& each : maps) {
        SCOPED_TRACE(each.name);
        auto check = [&](const std::vector<size_t>& entries, double tolerance) {
            Floats expected, t;
            for (size_t k : entries) {
                t.push_back(std::floor(static_cast<float>(k) * 63.75f + 0.5f) / 255.0f);
                for (double channel : each.table[k])
                    expected.push_back(static_cast<float>(channel));
            }
            expect_values([&] { return stack(each.map(tensor(t))); }, expected, tolerance);
        };
        check({1, 2, 3}, each.inside), check({0, 4}, each.at_ends);
        // A value outside has the colour of the end, and nan that of 0.
        expect_values(
            [&] {
                return stack(each.map(tensor({-3.0f, NAN, 9.0f}))) -
                       stack(each.map(tensor({0.0f, 0.0f, 1.0f})));
            },
            Floats(9));
    }
}

TEST(Shading, HasGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(random_floats(6, 4)), y = tensor(random_floats(6, 5));
    auto check = [](const Callback<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& xs) {
        const GradientCheck found = check_gradients(f, xs);
        EXPECT_TRUE(found) << found.where;
    };
    using In = const std::vector<Tensor>&;
    check(
        [](In p) {
            return stack(
                rotation_matrix(normalize(Quaternion{vec3(p[0], p[1], 0.5f), p[0] + 2.0f})));
        },
        {x, y});
    check(
        [](In p) {
            return ray_sphere(vec3(p[0], p[1], -5.0f), vec3(0, 0, 1), vec3(0, 0, 0), 2).enter;
        },
        {x, y});
    check([](In p) { return stack(look_at(vec3(p[0], p[1], 4.0f), vec3(0, 0, 0), vec3(0, 1, 0))); },
          {x, y});
    check([](In p) { return stack(viridis(p[0] * 0.4f + 0.5f)); }, {x});
}

}  // namespace
}  // namespace firn
