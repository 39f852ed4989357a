// Rays: against all triangles of a scene, and marched towards a Mandelbox.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kRaySide = 256, kTriangles = 500;
constexpr int64_t kRays = int64_t(kRaySide) * kRaySide;

/// The distance of the nearest triangle, and which it is: -1 where there is none. T. Moeller and B.
/// Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997.
std::pair<Tensor, Tensor> nearest_of(const vec3& o, const vec3& d, const Tensor& triangles) {
    Tensor nearest = 1e9f, which = -1;
    for (Tensor k : loop(triangles.size(0))) {
        auto corner = [&](int c) {
            return vec3(triangles(k, c, 0), triangles(k, c, 1), triangles(k, c, 2));
        };
        vec3 a = corner(0), one = corner(1) - a, two = corner(2) - a;
        vec3 p = cross(d, two);
        Tensor scale = 1.0f / dot(one, p);
        vec3 s = o - a, q = cross(s, one);
        Tensor u = dot(s, p) * scale, v = dot(d, q) * scale, t = dot(two, q) * scale;
        Tensor hit = (u >= 0.0f) & (v >= 0.0f) & (u + v <= 1.0f) & (t > 1e-4f) & (t < nearest);
        nearest = select(hit, t, nearest);
        which = select(hit, k, which);
    }
    return {nearest, which};
}
std::pair<Tensor, Tensor> nearest_triangle(Tensor origins, Tensor directions, Tensor triangles) {
    return nearest_of(vec3_of(origins), vec3_of(directions), triangles);
}
std::pair<Tensor, Tensor> nearest_triangle_kernel(Tensor origins, Tensor directions,
                                                  Tensor triangles) {
    Tensor nearest = zeros({origins.size(0)}), which = zeros({origins.size(0)}, i32);
    kernel({origins.size(0)}, [&](Tensor ray) {
        auto row = [&](const Tensor& x) { return vec3(x(ray, 0), x(ray, 1), x(ray, 2)); };
        const auto [t, k] = nearest_of(row(origins), row(directions), triangles);
        nearest(ray) = t, which(ray) = k;
    });
    return {nearest, which};
}

// RAYS of an invocation share the loads of a triangle.
constexpr const char* kNearestTriangle = R"(
vec3 o_of(int k) { return vec3(o_at(3 * k), o_at(3 * k + 1), o_at(3 * k + 2)); }
vec3 d_of(int k) { return vec3(d_at(3 * k), d_at(3 * k + 1), d_at(3 * k + 2)); }
vec3 corner(int k) { return vec3(c_at(3 * k), c_at(3 * k + 1), c_at(3 * k + 2)); }
void main() {
    int first = int(gl_WorkGroupID.x) * 64 * RAYS + int(gl_LocalInvocationID.x);
    vec3 from[RAYS], way[RAYS];
    float near[RAYS], hit[RAYS];
    [[unroll]] for (int r = 0; r < RAYS; ++r) {
        from[r] = o_of(first + 64 * r), way[r] = d_of(first + 64 * r);
        near[r] = 1e9, hit[r] = -1.0;
    }
    for (int k = 0; k < TRIANGLES; ++k) {
        vec3 a = corner(3 * k), one = corner(3 * k + 1) - a, two = corner(3 * k + 2) - a;
        [[unroll]] for (int r = 0; r < RAYS; ++r) {
            vec3 p = cross(way[r], two), s = from[r] - a, q = cross(s, one);
            float scale = 1.0 / dot(one, p);
            float u = dot(s, p) * scale, v = dot(way[r], q) * scale, t = dot(two, q) * scale;
            bool inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 1e-4 && t < near[r];
            near[r] = inside ? t : near[r];
            hit[r] = inside ? float(k) : hit[r];
        }
    }
    [[unroll]] for (int r = 0; r < RAYS; ++r) {
        nearest[first + 64 * r] = near[r];
        which[first + 64 * r] = hit[r];
    }
}
)";

HandProgram triangles_by_hand(int rays) {
    return {{{"ray_triangle",
              kNearestTriangle,
              {64, 1, 1},
              {int(kRays / 64) / rays, 1, 1},
              {{"o", As::Floats, 0},
               {"d", As::Floats, 1},
               {"c", As::Floats, 2},
               {"nearest", As::Floats, 3, true},
               {"which", As::Floats, 4, true}},
              {{"TRIANGLES", kTriangles}, {"RAYS", rays}}}},
            {},
            {}};
}

/// Small triangles between 2 and 6 before the eye.
std::vector<float> scene() {
    const std::vector<float> centre = numbers(3 * kTriangles, -2, 2, 5),
                             corner = numbers(9 * kTriangles, -0.5f, 0.5f, 6);
    std::vector<float> out(9 * kTriangles);
    for (size_t k = 0; k < out.size(); ++k)
        out[k] = centre[k / 9 * 3 + k % 3] + corner[k] + (k % 3 == 2 ? 4.0f : 0.0f);
    return out;
}

Contest ray_triangle(std::pair<Tensor, Tensor> (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("n", 3), f32("n", 3), f32("t", 3, 3)});
    const std::vector<float> origins(3 * kRays), triangles = scene();
    std::vector<float> directions;
    for (int i = 0; i < kRaySide; ++i)
        for (int j = 0; j < kRaySide; ++j) {
            const float y = 1.2f * (float(i) + 0.5f) / kRaySide - 0.6f,
                        x = 1.2f * (float(j) + 0.5f) / kRaySide - 0.6f;
            const float length = std::sqrt(x * x + y * y + 1);
            directions.insert(directions.end(), {x / length, y / length, 1 / length});
        }
    Tensor o = tensor(origins, {kRays, 3}), d = tensor(directions, {kRays, 3}),
           c = tensor(triangles, {kTriangles, 3, 3});
    // Operations per pair, up to the first test that may fail: a product 9, two dots 10, a
    // difference 3, and 2 to compare.
    return {.least = {24.0 * kRays, 8.0 * kRays, 24.0 * kRays * kTriangles},
            .arguments = {origins, directions, triangles},
            .results = {kRays, kRays},
            .firn =
                [=] {
                    auto [nearest, which] = f(o, d, c);
                    return std::vector<Tensor>{nearest, which};
                },
            .best = through_texels(triangles_by_hand(4)),
            .plain = triangles_by_hand(1),
            .tolerance = 1e-3,
            .difference = share_that_differs};
}

constexpr int kRayPicture = 512, kRaySteps = 96, kFolds = 10;
constexpr int64_t kRayPixels = int64_t(kRayPicture) * kRayPicture;

/// A bound of the distance to T. Lowe's Mandelbox of scale 2.
Tensor mandelbox_distance(const vec3& p) {
    vec3 z = p;
    Tensor growth = 1.0f;
    for (int fold = 0; fold < kFolds; ++fold) {
        z = clamp(z, -1.0f, 1.0f) * 2.0f - z;
        Tensor inside = dot(z, z);
        Tensor scale = select(inside < 0.25f, 4.0f, select(inside < 1.0f, 1.0f / inside, 1.0f));
        z = z * scale * 2.0f + p;
        growth = growth * scale * 2.0f + 1.0f;
    }
    return length(z) / growth;
}

/// Returns the length of a pixel's ray, and its number of steps.
std::pair<Tensor, Tensor> march_mandelbox_of(const Tensor& i, const Tensor& j, const Tensor& eye_y,
                                             const Tensor& eye_z) {
    vec3 eye(0.0f, eye_y, eye_z);
    vec3 d = normalize(vec3((j + 0.5f) / (0.5f * kRayPicture) - 1.0f,
                            (i + 0.5f) / (0.5f * kRayPicture) - 1.0f, 1.5f));
    Tensor t = 0.0f, steps = 0;
    for (Tensor step : loop(kRaySteps)) {
        Tensor room = mandelbox_distance(eye + d * t);
        if_((room < 1e-3f * t) | (t > 30.0f), [&] { break_(); });
        t += room;
        steps += 1;
    }
    return {t, steps};
}
std::pair<Tensor, Tensor> march_mandelbox(Tensor eye_y, Tensor eye_z) {
    auto [i, j] = indices<2>({kRayPicture, kRayPicture});
    return march_mandelbox_of(i, j, eye_y, eye_z);
}
std::pair<Tensor, Tensor> march_mandelbox_kernel(Tensor eye_y, Tensor eye_z) {
    Tensor t = zeros({kRayPicture, kRayPicture}), steps = zeros({kRayPicture, kRayPicture}, i32);
    kernel(t.shape(), [&](Tensor i, Tensor j) {
        const auto [far, turns] = march_mandelbox_of(i, j, eye_y, eye_z);
        t(i, j) = far, steps(i, j) = turns;
    });
    return {t, steps};
}

constexpr const char* kMandelbox = R"(
float room_at(vec3 p) {
    vec3 z = p;
    float growth = 1.0;
    FOLDS {
        z = clamp(z, -1.0, 1.0) * 2.0 - z;
        float inside = dot(z, z);
        float scale = inside < 0.25 ? 4.0 : inside < 1.0 ? 1.0 / inside : 1.0;
        z = z * scale * 2.0 + p;
        growth = growth * scale * 2.0 + 1.0;
    }
    return length(z) / growth;
}
void main() {
    ivec2 own = ivec2(gl_GlobalInvocationID.xy);
    vec3 d = normalize(vec3((vec2(own) + 0.5) / 256.0 - 1.0, 1.5)), eye = vec3(0, 1, -13);
    float t = 0.0;
    int step = 0;
    for (; step < 96; ++step) {
        float room = room_at(eye + d * t);
        if (room < 1e-3 * t || t > 30.0) break;
        t += room;
    }
    distance_[own.y * 512 + own.x] = t;
    steps[own.y * 512 + own.x] = float(step);
}
)";

HandProgram mandelbox_by_hand(const std::string& unrolled) {
    const std::string folds =
        "#define FOLDS " + unrolled + "for (int fold = 0; fold < 10; ++fold)\n";
    return {{{"mandelbox",
              folds + kMandelbox,
              {16, 16, 1},
              {kRayPicture / 16, kRayPicture / 16, 1},
              {{"distance_", As::Floats, 0, true}, {"steps", As::Floats, 1, true}},
              {}}},
            {},
            {}};
}

/// Returns the number of distances that the picture needs, from a sixty-fourth of its pixels.
double count_distances() {
    double count = 0;
    for (int i = 4; i < kRayPicture; i += 8)
        for (int j = 4; j < kRayPicture; j += 8) {
            float d[3] = {(float(j) + 0.5f) / 256 - 1, (float(i) + 0.5f) / 256 - 1, 1.5f};
            const float size = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            float t = 0;
            for (int step = 0; step < kRaySteps; ++step) {
                const float p[3] = {d[0] / size * t, 1 + d[1] / size * t, -13 + d[2] / size * t};
                float z[3] = {p[0], p[1], p[2]}, growth = 1;
                for (int fold = 0; fold < kFolds; ++fold) {
                    for (float& x : z) x = std::clamp(x, -1.0f, 1.0f) * 2 - x;
                    const float inside = z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
                    const float scale = inside < 0.25f ? 4 : inside < 1 ? 1 / inside : 1;
                    for (int k = 0; k < 3; ++k) z[k] = z[k] * scale * 2 + p[k];
                    growth = growth * scale * 2 + 1;
                }
                const float room = std::sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]) / growth;
                ++count;
                if (room < 1e-3f * t || t > 30) break;
                t += room;
            }
        }
    return 64 * count;
}

Contest mandelbox(std::pair<Tensor, Tensor> (*program)(Tensor, Tensor)) {
    auto draw = compile(program, {f32(), f32()});
    // Operations per fold: 12 for the box, 5 for the length, 3 for the sphere, 7 for z, 3 for the
    // growth; per distance besides: the place 6, the length 6, the quotient, and 4 to go on.
    constexpr double kOfADistance = 30.0 * kFolds + 17;
    return {.least = {0, 8.0 * kRayPixels, kOfADistance * count_distances()},
            .arguments = {},
            .results = {kRayPixels, kRayPixels},
            .firn =
                [=] {
                    auto [t, steps] = draw(1.0f, -13.0f);
                    return std::vector<Tensor>{t, steps};
                },
            .best = mandelbox_by_hand("[[unroll]] "),
            .plain = mandelbox_by_hand(""),
            .tolerance = 0.03,
            .difference = share_that_differs};
}

}  // namespace

void add_rays(std::vector<Case>& cases) {
    const auto add = [&](const char* name, Section section, std::function<Contest()> make,
                         const char* far) {
        cases.push_back({name, std::move(make), section, far});
    };
    constexpr const char* kTested =
        "lanes go through the whole test where one of them may hit; few operations are an fma";
    add(
        "ray_triangle", Section::Training, [] { return ray_triangle(nearest_triangle); }, kTested);
    add(
        "ray_triangle_kernel", Section::Training,
        [] { return ray_triangle(nearest_triangle_kernel); }, kTested);
    constexpr const char* kMarched =
        "lanes go on until the last of them has arrived; few operations are an fma";
    add(
        "mandelbox", Section::Training, [] { return mandelbox(march_mandelbox); }, kMarched);
    add(
        "mandelbox_kernel", Section::Training, [] { return mandelbox(march_mandelbox_kernel); },
        kMarched);
}

}  // namespace firn::bench
