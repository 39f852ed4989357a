// Rays: a march through a field of spheres, and paths whose number of bounces is data.
#include <firn/firn.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/ported/ported.h"
#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kPicture = 1024, kMarch = 128;
constexpr int64_t kPixels = int64_t(kPicture) * kPicture;
constexpr float kStep = 0.001f;

/// Of spheres in a lattice, above a floor.
Tensor distance(const vec3& p) { return min(length(p - floor(p + 0.5f)) - 0.25f, p.y + 1.0f); }

Tensor marched(Tensor time) {
    auto [i, j] = indices<2>({kPicture, kPicture});
    constexpr float half = kPicture / 2;
    vec3 to = normalize(vec3((cast<float>(j) - half) / half, (half - cast<float>(i)) / half, 1.5f));
    vec3 eye(0.5f * sin(time), 0.5f, time);
    Tensor t = zeros({kPicture, kPicture});
    for (Tensor step : loop(kMarch)) {
        Tensor d = distance(eye + to * t);
        t = t + d;
        if_((d < kStep) | (t > 20.0f), [&] { break_(); });
    }
    vec3 p = eye + to * t, x(kStep, 0.0f, 0.0f), y(0.0f, kStep, 0.0f), z(0.0f, 0.0f, kStep);
    vec3 normal =
        normalize(vec3(distance(p + x) - distance(p - x), distance(p + y) - distance(p - y),
                       distance(p + z) - distance(p - z)));
    return exp(-0.1f * t) * max(dot(normal, normalize(vec3(1.0f, 1.0f, -1.0f))), 0.1f);
}

using Point = std::array<float, 3>;

Point plus(const Point& a, const Point& b, float scale = 1) {
    return {a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]};
}
float inner(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point unit(const Point& a) { return plus({0, 0, 0}, a, 1 / std::sqrt(inner(a, a))); }

float host_distance(const Point& p) {
    Point q;
    for (size_t k = 0; k < 3; ++k) q[k] = p[k] - std::floor(p[k] + 0.5f);
    return std::min(std::sqrt(inner(q, q)) - 0.25f, p[1] + 1);
}

float host_marched(int i, int j, float time) {
    constexpr float half = kPicture / 2;
    const Point to = unit({(float(j) - half) / half, (half - float(i)) / half, 1.5f}),
                eye{0.5f * std::sin(time), 0.5f, time};
    float t = 0;
    for (int step = 0; step < kMarch; ++step) {
        const float d = host_distance(plus(eye, to, t));
        t += d;
        if (d < kStep || t > 20) break;
    }
    const Point p = plus(eye, to, t);
    Point normal;
    for (size_t k = 0; k < 3; ++k) {
        Point x{};
        x[k] = kStep;
        normal[k] = host_distance(plus(p, x)) - host_distance(plus(p, x, -1));
    }
    return std::exp(-0.1f * t) * std::max(inner(unit(normal), unit({1, 1, -1})), 0.1f);
}

/// The share of pixels whose shade is another by a hundredth: normals come from small differences.
double share_of_other_shades(const Floats& a, const Floats& b) {
    size_t count = 0;
    for (size_t k = 0; k < a.size(); ++k) count += !(std::abs(a[k] - b[k]) <= 0.01f);
    return double(count) / double(std::max<size_t>(a.size(), 1));
}

Contest sphere_tracer() {
    auto f = compile(marched, {f32()});
    constexpr float kTime = 0.3f;
    // 14 for each distance; a dozen steps are usual.
    return {.least = {0, 4.0 * kPixels, 14.0 * 18 * kPixels},
            .arguments = {},
            .results = {kPixels},
            .firn = [f] { return std::vector<Tensor>{f(kTime)}; },
            .best = {},
            .plain = {},
            .tolerance = 0.01,
            .difference = share_of_other_shades,
            .expected =
                [] {
                    Floats out;
                    for (int i = 0; i < kPicture; ++i)
                        for (int j = 0; j < kPicture; ++j) out.push_back(host_marched(i, j, kTime));
                    return std::vector<Floats>{out};
                }};
}

constexpr int kSide = 512, kSpheres = 8, kBounces = 6;
constexpr int64_t kPaths = int64_t(kSide) * kSide;

/// The light of the sky that a path meets, dimmer by each sphere; how often it may meet one is a
/// number among others in a tensor.
Tensor traced(Tensor parameters) {
    auto [i, j] = indices<2>({kSide, kSide});
    const Shape shape{kSide, kSide};
    Tensor seed = cast<uint32_t>(i * kSide + j), none = zeros(shape);
    vec3 from(none, none + 1.0f, none - 4.0f);
    vec3 to = normalize(vec3((cast<float>(j) - kSide / 2) / float(kSide),
                             (kSide / 2 - cast<float>(i)) / float(kSide), 1.0f));
    Tensor light = none, weight = none + 1.0f;
    for (Tensor bounce : loop(cast<int>(parameters(5)))) {
        Tensor nearest = none + 1e9f, radius = none + 1.0f, which = zeros(shape, i32);
        vec3 centre(none, none, none);
        for (Tensor k : loop(kSpheres)) {
            Tensor r = select(k == 0, 100.0f, 0.6f), x = cast<float>(k);
            vec3 c(select(k == 0, 0.0f, x - 4.0f), select(k == 0, -100.0f, 0.6f),
                   select(k == 0, 0.0f, cast<float>(k % 3)));
            vec3 apart = from - c;
            Tensor half = dot(apart, to), inside = half * half - dot(apart, apart) + r * r;
            Tensor t = -half - sqrt(max(inside, 0.0f));
            Tensor hit = (inside > 0.0f) & (t > 0.001f) & (t < nearest);
            nearest = select(hit, t, nearest);
            centre = select(hit, c, centre);
            radius = select(hit, r, radius);
            which = select(hit, k + 1, which);
        }
        light = select(which == 0, light + weight * (0.5f + 0.5f * to.y), light);
        if_(which == 0, [&] { break_(); });
        vec3 p = from + to * nearest, normal = (p - centre) / radius;
        seed = pcg(seed);
        Tensor z = 2.0f * pcgf(seed) - 1.0f;
        seed = pcg(seed);
        Tensor angle = 6.2831853f * pcgf(seed), across = sqrt(max(1.0f - z * z, 0.0f));
        to = normalize(normal + vec3(across * cos(angle), across * sin(angle), z));
        from = p + normal * 0.001f;
        weight = weight * (0.4f + 0.05f * cast<float>(which));
    }
    return light;
}

Contest paths(int bounces) {
    auto f = compile(traced, {f32(6)});
    Floats parameters(6);
    parameters[5] = float(bounces);
    // 20 for each sphere, 80 for a bounce; two of them are usual.
    return {.least = {0, 4.0 * kPaths, 2.0 * (20 * kSpheres + 80) * kPaths},
            .arguments = {},
            .results = {kPaths},
            .firn = [f, p = tensor(parameters)] { return std::vector<Tensor>{f(p)}; },
            .best = {},
            .plain = {},
            .tolerance = 0.01,
            .difference = share_of_other_shades,
            .expected =
                [parameters] {
                    SessionScope scope(Session::oracle());
                    return std::vector<Floats>{
                        compile(traced, {f32(6)})(tensor(parameters)).to_vector<float>()};
                }};
}

}  // namespace

void add_ported_rays(std::vector<Case>& cases) {
    cases.push_back({"sphere_tracer", sphere_tracer, Section::Ported});
    cases.push_back({"bounces_of_data", [] { return paths(kBounces); }, Section::Ported});
}

}  // namespace firn::bench
