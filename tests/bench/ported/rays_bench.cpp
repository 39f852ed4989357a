// Rays: a march through a field of spheres, and paths whose number of bounces depends on data.
#include <firn/firn.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"
#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kPicture = 1024, kMarch = 128;
constexpr int64_t kRaysPixels = int64_t(kPicture) * kPicture;
constexpr float kStep = 0.001f;

/// The distance of spheres in a lattice, above a floor.
Tensor distance(const vec3& p) { return min(length(p - floor(p + 0.5f)) - 0.25f, p.y + 1.0f); }

/// The shade of the pixel, from t = 0 on.
Tensor shade_of(const Tensor& i, const Tensor& j, Tensor t, const Tensor& time) {
    constexpr float half = kPicture / 2;
    vec3 to = normalize(vec3((cast<float>(j) - half) / half, (half - cast<float>(i)) / half, 1.5f));
    vec3 eye(0.5f * sin(time), 0.5f, time);
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
Tensor marched(Tensor time) {
    auto [i, j] = indices<2>({kPicture, kPicture});
    return shade_of(i, j, zeros({kPicture, kPicture}), time);
}
Tensor marched_kernel(Tensor time) {
    Tensor out = zeros({kPicture, kPicture});
    kernel(out.shape(), [&](Tensor i, Tensor j) { out(i, j) = shade_of(i, j, 0.0f, time); });
    return out;
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

/// Returns the share of pixels whose shade differs by more than a hundredth: normals come from
/// small differences.
double share_of_other_shades(const Floats& a, const Floats& b) {
    size_t count = 0;
    for (size_t k = 0; k < a.size(); ++k) count += !(std::abs(a[k] - b[k]) <= 0.01f);
    return double(count) / double(std::max<size_t>(a.size(), 1));
}

constexpr const char* kPlainMarch = R"(
float from_spheres(vec3 p) { return min(length(p - floor(p + 0.5)) - 0.25, p.y + 1.0); }
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    vec3 to = normalize(vec3((float(j) - 512.0) / 512.0, (512.0 - float(i)) / 512.0, 1.5));
    vec3 eye = vec3(0.5 * sin(time_at(0)), 0.5, time_at(0));
    float t = 0.0;
    for (int k = 0; k < 128; ++k) {
        float d = from_spheres(eye + to * t);
        t += d;
        if (d < 0.001 || t > 20.0) break;
    }
    vec3 p = eye + to * t;
    vec2 e = vec2(0.001, 0.0);
    vec3 normal = normalize(vec3(from_spheres(p + e.xyy) - from_spheres(p - e.xyy),
                                 from_spheres(p + e.yxy) - from_spheres(p - e.yxy),
                                 from_spheres(p + e.yyx) - from_spheres(p - e.yyx)));
    shade[i * 1024 + j] =
        exp(-0.1 * t) * max(dot(normal, normalize(vec3(1.0, 1.0, -1.0))), 0.1);
}
)";
// Four rays of an invocation march together, so that none waits for its own square roots; eight
// lanes lie in a square, whose rays are about as long.
constexpr const char* kBestMarch = R"(
vec4 from_spheres(vec4 x, vec4 y, vec4 z) {
    vec4 a = x - floor(x + 0.5), b = y - floor(y + 0.5), c = z - floor(z + 0.5);
    return min(sqrt(a * a + b * b + c * c) - 0.25, y + 1.0);
}
void main() {
    int lane = int(gl_LocalInvocationID.x);
    int j = int(gl_WorkGroupID.x) * 32 + (lane & 1) * 4 + ((lane >> 3) & 3) * 8;
    int i = int(gl_WorkGroupID.y) * 8 + ((lane >> 1) & 3) + (lane >> 5) * 4;
    vec4 across = (vec4(j, j + 1, j + 2, j + 3) - 512.0) / 512.0;
    float up = (512.0 - float(i)) / 512.0;
    vec4 scale = inversesqrt(across * across + up * up + 2.25);
    vec4 to_x = across * scale, to_y = up * scale, to_z = 1.5 * scale;
    float eye_x = 0.5 * sin(time_at(0)), eye_z = time_at(0);
    vec4 t = vec4(0.0), step = vec4(1.0);
    for (int k = 0; k < 128; ++k) {
        vec4 d = from_spheres(eye_x + to_x * t, 0.5 + to_y * t, eye_z + to_z * t);
        t += step * d;
        step = vec4(greaterThanEqual(d, vec4(0.001))) * vec4(lessThanEqual(t, vec4(20.0))) * step;
        if (step == vec4(0.0)) break;
    }
    vec4 x = eye_x + to_x * t, y = 0.5 + to_y * t, z = eye_z + to_z * t;
    float e = 0.001;
    vec4 a = from_spheres(x + e, y, z) - from_spheres(x - e, y, z);
    vec4 b = from_spheres(x, y + e, z) - from_spheres(x, y - e, z);
    vec4 c = from_spheres(x, y, z + e) - from_spheres(x, y, z - e);
    vec4 light = (a + b - c) * inversesqrt(3.0 * (a * a + b * b + c * c));
    shade[(i * 1024 + j) >> 2] = exp(-0.1 * t) * max(light, 0.1);
}
)";

HandProgram march_by_hand(bool best) {
    return {{{"sphere_tracer",
              best ? kBestMarch : kPlainMarch,
              {64, best ? 1u : 4u, 1},
              {best ? 32 : 16, best ? 128 : 256, 1},
              {{"time", best ? As::Texels : As::Floats, 0},
               {"shade", best ? As::Vec4s : As::Floats, 1, true}},
              {}}},
            {},
            {}};
}

Contest sphere_tracer(Tensor (*program)(Tensor)) {
    auto f = compile(program, {f32()});
    constexpr float kTime = 0.3f;
    // 14 for each distance; a dozen steps are usual.
    return {.least = {0, 4.0 * kRaysPixels, 14.0 * 18 * kRaysPixels},
            .arguments = {{kTime}},
            .results = {kRaysPixels},
            .firn = [f] { return std::vector<Tensor>{f(kTime)}; },
            .best = march_by_hand(true),
            .plain = march_by_hand(false),
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

constexpr int kRaysSide = 512, kSpheres = 8, kBounces = 6;
constexpr int64_t kPaths = int64_t(kRaysSide) * kRaysSide;

/// The light of the sky that a path meets, dimmer by each sphere; how often it may meet one is a
/// number among others in a tensor.
Tensor traced(Tensor parameters) {
    auto [i, j] = indices<2>({kRaysSide, kRaysSide});
    const Shape shape{kRaysSide, kRaysSide};
    Tensor seed = cast<uint32_t>(i * kRaysSide + j), none = zeros(shape);
    vec3 from(none, none + 1.0f, none - 4.0f);
    vec3 to = normalize(vec3((cast<float>(j) - kRaysSide / 2) / float(kRaysSide),
                             (kRaysSide / 2 - cast<float>(i)) / float(kRaysSide), 1.0f));
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

constexpr const char* kPathsStart = R"(
uint pcg(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
float pcgf(uint x) { return float(pcg(x) >> 8u) / 16777216.0; }
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    uint seed = uint(i * 512 + j);
    vec3 from = vec3(0.0, 1.0, -4.0);
    vec3 to = normalize(vec3(float(j - 256) / 512.0, float(256 - i) / 512.0, 1.0));
    float light = 0.0, weight = 1.0;
    int bounces = int(parameters_at(5));
    for (int bounce = 0; bounce < bounces; ++bounce) {
        float nearest = 1e9, radius = 1.0;
        int which = 0;
        vec3 centre = vec3(0.0);
)";
constexpr const char* kPlainNearest = R"(
        for (int k = 0; k < 8; ++k) {
            float r = k == 0 ? 100.0 : 0.6;
            vec3 c = k == 0 ? vec3(0.0, -100.0, 0.0) : vec3(float(k) - 4.0, 0.6, float(k % 3));
            vec3 apart = from - c;
            float along = dot(apart, to), inside = along * along - dot(apart, apart) + r * r;
            float t = -along - sqrt(max(inside, 0.0));
            if (inside > 0.0 && t > 0.001 && t < nearest) {
                nearest = t;
                centre = c;
                radius = r;
                which = k + 1;
            }
        }
)";
// The kernel has no branches; values that the small spheres share are computed once, and the sphere
// that is hit follows from its number.
constexpr const char* kBestNearest = R"(
        float up = from.y - 0.6, along_part[3], apart_part[3];
        [[unroll]] for (int k = 0; k < 3; ++k) {
            float z = from.z - float(k);
            along_part[k] = up * to.y + z * to.z;
            apart_part[k] = up * up + z * z - 0.36;
        }
        [[unroll]] for (int k = 0; k < 8; ++k) {
            float x = from.x - (k == 0 ? 0.0 : float(k) - 4.0);
            vec3 apart = from - vec3(0.0, -100.0, 0.0);
            float along = k == 0 ? dot(apart, to) : x * to.x + along_part[k % 3];
            float beyond = k == 0 ? dot(apart, apart) - 1e4 : x * x + apart_part[k % 3];
            float inside = along * along - beyond;
            float t = -along - sqrt(max(inside, 0.0));
            t = inside > 0.0 && t > 0.001 ? t : 1e9;
            which = t < nearest ? k + 1 : which;
            nearest = min(nearest, t);
        }
        float number = float(which - 1);
        radius = which == 1 ? 100.0 : 0.6;
        centre = which == 1 ? vec3(0.0, -100.0, 0.0)
                            : vec3(number - 4.0, 0.6, number - 3.0 * floor((number + 0.5) / 3.0));
)";
constexpr const char* kPathsEnd = R"(
        if (which == 0) {
            light += weight * (0.5 + 0.5 * to.y);
            break;
        }
        vec3 p = from + to * nearest, normal = (p - centre) / radius;
        seed = pcg(seed);
        float z = 2.0 * pcgf(seed) - 1.0;
        seed = pcg(seed);
        float angle = 6.2831853 * pcgf(seed), across = sqrt(max(1.0 - z * z, 0.0));
        to = normalize(normal + vec3(across * cos(angle), across * sin(angle), z));
        from = p + normal * 0.001;
        weight *= 0.4 + 0.05 * float(which);
    }
    seen[i * 512 + j] = light;
}
)";

HandProgram bounces_by_hand(bool best) {
    return {{{"bounces_of_data",
              std::string(kPathsStart) + (best ? kBestNearest : kPlainNearest) + kPathsEnd,
              {64, 4, 1},
              {8, 128, 1},
              {{"parameters", best ? As::Texels : As::Floats, 0}, {"seen", As::Floats, 1, true}},
              {}}},
            {},
            {}};
}

Contest paths(int bounces) {
    auto f = compile(traced, {f32(6)});
    Floats parameters(6);
    parameters[5] = float(bounces);
    // 20 for each sphere, 80 for a bounce; two of them are usual.
    return {.least = {0, 4.0 * kPaths, 2.0 * (20 * kSpheres + 80) * kPaths},
            .arguments = {parameters},
            .results = {kPaths},
            .firn = [f, p = tensor(parameters)] { return std::vector<Tensor>{f(p)}; },
            .best = bounces_by_hand(true),
            .plain = bounces_by_hand(false),
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
    cases.push_back(
        {"sphere_tracer", [] { return sphere_tracer(marched); }, Section::Ported,
         "lanes go on until the last of them has arrived, and a root counts as one operation"});
    cases.push_back(
        {"sphere_tracer_kernel", [] { return sphere_tracer(marched_kernel); }, Section::Ported,
         "lanes go on until the last of them has arrived, and a root counts as one operation"});
    cases.push_back({"bounces_of_data", [] { return paths(kBounces); }, Section::Ported,
                     "roots, quotients and random numbers are many operations each"});
}

}  // namespace firn::bench
