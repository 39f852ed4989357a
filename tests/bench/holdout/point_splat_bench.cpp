// A cloud of points drawn by atomics: the nearest point wins its pixel, then depths shade the
// picture.
#include <firn/firn.h>
#include <firn/shading.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kSplatPoints = 1 << 20, kSplatRows = 512, kSplatColumns = 512;
constexpr int64_t kSplatPixels = int64_t(kSplatRows) * kSplatColumns;
constexpr float kSplatNear = 1.0f, kSplatFar = 9.0f, kSplatStrength = 12.0f;
constexpr std::array<float, 3> kSplatSky{0.1f, 0.12f, 0.2f};
// A pixel holds 15 bits of depth above 16 of colour (5 of red, 6 of green, 5 of blue); this is the
// sky.
constexpr int kSplatEmpty = 0x7fffffff;
// Counted by the host's code: points inside the picture, and pixels with a point.
constexpr double kSplatShown = 831082, kSplatCovered = 120120;
// Steps of a depth per unit of length; the last one is the sky's.
constexpr float kSplatSteps = 32766.0f / (kSplatFar - kSplatNear);

Tensor splat_key(const Tensor& depth, const Tensor& colour) {
    return ((depth - kSplatNear) * kSplatSteps).as(i32) << 16 | colour;
}
Tensor splat_log_depth(const Tensor& key) {
    return log2(kSplatNear + (key >> 16).as(f32) * (1.0f / kSplatSteps));
}
vec3 splat_colour(const Tensor& key) {
    return {(key >> 11 & 31).as(f32) / 31.0f, (key >> 5 & 63).as(f32) / 63.0f,
            (key & 31).as(f32) / 31.0f};
}
/// Darker where neighbours are nearer. C. Boucheny, "Visualisation scientifique de grands volumes
/// de donnees: pour une approche perceptive", 2009.
vec3 splat_resolve(const Tensor& nearest, const Tensor& i, const Tensor& j) {
    Tensor key = nearest(i, j), depth = splat_log_depth(key), nearer = 0.0f;
    for (auto [di, dj] : {std::pair{0, 1}, {1, 0}, {0, -1}, {-1, 0}})
        nearer += max(depth - splat_log_depth(nearest(i + di, j + dj)), 0.0f);
    vec3 lit = splat_colour(key) * exp(-kSplatStrength * nearer);
    return select(key == kSplatEmpty, vec3(kSplatSky[0], kSplatSky[1], kSplatSky[2]), lit);
}

/// M. Schuetz et al., "Rendering Point Clouds with Compute Shaders and Vertex Order Optimization",
/// 2021. The camera is a rotation beside where it takes the origin, in pixels at depth 1.
Tensor point_splat(Tensor points, Tensor colours, Tensor camera) {
    Tensor seen = matmul(points, camera(all, range(3)).T()) + camera(all, 3);
    Tensor depth = seen(all, 2);
    Tensor x = floor(seen(all, 0) / depth + 0.5f * kSplatColumns).as(i32);
    Tensor y = floor(seen(all, 1) / depth + 0.5f * kSplatRows).as(i32);
    Tensor shown = (depth > kSplatNear) & (depth < kSplatFar) & (x >= 0) & (x < kSplatColumns) &
                   (y >= 0) & (y < kSplatRows);
    Tensor nearest = full({kSplatRows, kSplatColumns}, kSplatEmpty);
    scatter_min(nearest(where(shown, y, -1), where(shown, x, -1)), splat_key(depth, colours));
    auto [i, j] = indices<2>(nearest.shape());
    vec3 picture = splat_resolve(nearest, i, j);
    return stack({picture.x, picture.y, picture.z}, {.axis = 2});
}
Tensor point_splat_kernel(Tensor points, Tensor colours, Tensor camera) {
    Tensor nearest = full({kSplatRows, kSplatColumns}, kSplatEmpty);
    Tensor picture = zeros({kSplatRows, kSplatColumns, 3});
    kernel({points.size(0)}, [&](Tensor k) {
        vec3 p(points(k, 0), points(k, 1), points(k, 2));
        auto row = [&](int r) {
            return dot(vec3(camera(r, 0), camera(r, 1), camera(r, 2)), p) + camera(r, 3);
        };
        Tensor depth = row(2);
        if_((depth > kSplatNear) & (depth < kSplatFar), [&] {
            Tensor x = floor(row(0) / depth + 0.5f * kSplatColumns).as(i32);
            Tensor y = floor(row(1) / depth + 0.5f * kSplatRows).as(i32);
            if_((x >= 0) & (x < kSplatColumns) & (y >= 0) & (y < kSplatRows),
                [&] { atomic_min(nearest(y, x), splat_key(depth, colours(k))); });
        });
    });
    kernel({kSplatRows, kSplatColumns}, [&](Tensor i, Tensor j) {
        vec3 out = splat_resolve(nearest, i, j);
        picture(i, j, 0) = out.x, picture(i, j, 1) = out.y, picture(i, j, 2) = out.z;
    });
    return picture;
}

/// The inputs of the program; colours by their bits.
struct SplatCloud {
    std::vector<float> points;
    std::vector<int32_t> colours;
    std::vector<float> camera;
};

/// Computes in f32, because roundings decide between pixels.
std::vector<float> host_point_splat(const SplatCloud& cloud) {
    Plane depths(kSplatRows, kSplatColumns);
    std::vector<int32_t> nearest(size_t(kSplatPixels), kSplatEmpty);
    for (size_t k = 0; k < size_t(kSplatPoints); ++k) {
        std::array<float, 3> seen;
        for (size_t r = 0; r < 3; ++r) {
            const float* row = &cloud.camera[4 * r];
            const float* p = &cloud.points[3 * k];
            seen[r] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
        }
        if (seen[2] <= kSplatNear || seen[2] >= kSplatFar) continue;
        const float x = std::floor(seen[0] / seen[2] + 0.5f * kSplatColumns),
                    y = std::floor(seen[1] / seen[2] + 0.5f * kSplatRows);
        if (x < 0 || x >= kSplatColumns || y < 0 || y >= kSplatRows) continue;
        const int32_t key = int32_t((seen[2] - kSplatNear) * kSplatSteps) << 16 | cloud.colours[k];
        int32_t& pixel = nearest[depths.place(int(y), int(x))];
        pixel = std::min(pixel, key);
    }
    for (size_t k = 0; k < nearest.size(); ++k)
        depths.values[k] = std::log2(kSplatNear + float(nearest[k] >> 16) / kSplatSteps);
    std::vector<float> out;
    out.reserve(3 * nearest.size());
    for (int i = 0; i < kSplatRows; ++i)
        for (int j = 0; j < kSplatColumns; ++j) {
            const int32_t key = nearest[depths.place(i, j)];
            if (key == kSplatEmpty) {
                out.insert(out.end(), kSplatSky.begin(), kSplatSky.end());
                continue;
            }
            float nearer = 0;
            for (auto [k, l] : {std::pair{i, j + 1}, {i + 1, j}, {i, j - 1}, {i - 1, j}})
                nearer += std::max(depths(i, j) - depths.clamped(k, l), 0.0f);
            const float light = std::exp(-kSplatStrength * nearer);
            for (float c :
                 {float(key >> 11 & 31) / 31, float(key >> 5 & 63) / 63, float(key & 31) / 31})
                out.push_back(light * c);
        }
    return out;
}

constexpr const char* kPlainSplatClear = R"(
void main() { nearest[gl_GlobalInvocationID.x] = 0x7fffffff; }
)";
constexpr const char* kPlainSplat = R"(
float row(int r, vec3 p) {
    return dot(vec3(camera_at(4 * r), camera_at(4 * r + 1), camera_at(4 * r + 2)), p) +
           camera_at(4 * r + 3);
}
void main() {
    int k = int(gl_GlobalInvocationID.x);
    vec3 p = vec3(points_at(3 * k), points_at(3 * k + 1), points_at(3 * k + 2));
    float depth = row(2, p);
    if (depth <= 1.0 || depth >= 9.0) return;
    int x = int(floor(row(0, p) / depth + 256.0)), y = int(floor(row(1, p) / depth + 256.0));
    if (x < 0 || x >= 512 || y < 0 || y >= 512) return;
    int key = int((depth - 1.0) * (32766.0 / 8.0)) << 16 | colours_at(k);
    atomicMin(nearest[y * 512 + x], key);
}
)";
constexpr const char* kPlainSplatResolve = R"(
int key_of(int i, int j) { return nearest_at(clamp(i, 0, 511) * 512 + clamp(j, 0, 511)); }
float log_depth(int key) { return log2(1.0 + float(key >> 16) * (8.0 / 32766.0)); }
void main() {
    int j = int(gl_GlobalInvocationID.x), i = int(gl_GlobalInvocationID.y);
    int key = key_of(i, j);
    vec3 colour = vec3(0.1, 0.12, 0.2);
    if (key != 0x7fffffff) {
        float depth = log_depth(key);
        float nearer = max(depth - log_depth(key_of(i, j + 1)), 0.0) +
                       max(depth - log_depth(key_of(i + 1, j)), 0.0) +
                       max(depth - log_depth(key_of(i, j - 1)), 0.0) +
                       max(depth - log_depth(key_of(i - 1, j)), 0.0);
        colour = vec3(float(key >> 11 & 31) / 31.0, float(key >> 5 & 63) / 63.0,
                      float(key & 31) / 31.0) * exp(-12.0 * nearer);
    }
    int at = (i * 512 + j) * 3;
    picture[at] = colour.r;
    picture[at + 1] = colour.g;
    picture[at + 2] = colour.b;
}
)";

HandProgram plain_point_splat() {
    HandProgram out;
    out.kernels = {{"splat_clear",
                    kPlainSplatClear,
                    {256, 1, 1},
                    {int(kSplatPixels / 256), 1, 1},
                    {{"nearest", As::Ints, 4, true}},
                    {}},
                   {"splat",
                    kPlainSplat,
                    {256, 1, 1},
                    {kSplatPoints / 256, 1, 1},
                    {{"points", As::Floats, 0},
                     {"colours", As::Ints, 1},
                     {"camera", As::Floats, 2},
                     {"nearest", As::Ints, 4, true}},
                    {}},
                   {"splat_resolve",
                    kPlainSplatResolve,
                    {16, 16, 1},
                    {kSplatColumns / 16, kSplatRows / 16, 1},
                    {{"nearest", As::Ints, 4}, {"picture", As::Floats, 3, true}},
                    {}}};
    out.temporaries = {kSplatPixels};
    return out;
}

constexpr const char* kBestSplatClear = R"(
void main() {
    int group = int(gl_WorkGroupID.x) * 1024, lane = int(gl_LocalInvocationID.x);
    vec4 sky = vec4(intBitsToFloat(0x7fffffff));
    [[unroll]] for (int k = 0; k < 4; ++k) nearest[group + 256 * k + lane] = sky;
}
)";

// An invocation has four points beside one another, and loads the camera once. A pixel only ever
// gets nearer: an invocation that reads an old key smaller than its own need not try. Points four
// by four across the lanes take 1.6 times as long, without the read of the old key 1.1 times.
constexpr const char* kBestSplat = R"(
void main() {
    float m[12];
    [[unroll]] for (int k = 0; k < 12; ++k) m[k] = camera_at(k);
    int first = int(gl_GlobalInvocationID.x);
    vec4 a = points_at(3 * first), b = points_at(3 * first + 1), c = points_at(3 * first + 2);
    vec3 four[4] = {a.xyz, vec3(a.w, b.xy), vec3(b.zw, c.x), c.yzw};
    [[unroll]] for (int n = 0; n < 4; ++n) {
        float px = four[n].x, py = four[n].y, pz = four[n].z;
        float depth = m[8] * px + m[9] * py + m[10] * pz + m[11];
        float x = (m[0] * px + m[1] * py + m[2] * pz + m[3]) / depth + 256.0;
        float y = (m[4] * px + m[5] * py + m[6] * pz + m[7]) / depth + 256.0;
        bool shown = depth > 1.0 && depth < 9.0 && x >= 0.0 && x < 512.0 && y >= 0.0 && y < 512.0;
        int key = int((depth - 1.0) * (32766.0 / 8.0)) << 16 | colours_at(4 * first + n);
        int at = shown ? int(y) * 512 + int(x) : 0;
        if (shown && key < before_at(at)) atomicMin(nearest[at], key);
    }
}
)";

// An invocation has R rows of four pixels; each depth is made once for all of them.
constexpr const char* kBestSplatResolve = R"(
void main() {
    int j = int(gl_GlobalInvocationID.x) * 4, top = int(gl_WorkGroupID.y) * R;
    int key[(R + 2) * 6];
    float depth[(R + 2) * 6];
    [[unroll]] for (int k = 0; k < R + 2; ++k) {
        int row = clamp(top + k - 1, 0, 511) * 512;
        bool inner = k > 0 && k < R + 1;
        [[unroll]] for (int n = 0; n < 6; ++n)
            if (inner || (n > 0 && n < 5)) {
                int at = k * 6 + n;
                key[at] = nearest_at(row + clamp(j + n - 1, 0, 511));
                depth[at] = log2(1.0 + float(key[at] >> 16) * (8.0 / 32766.0));
            }
    }
    [[unroll]] for (int k = 0; k < R; ++k) {
        vec3 c[4];
        [[unroll]] for (int n = 0; n < 4; ++n) {
            int at = (k + 1) * 6 + n + 1;
            float own = depth[at];
            float nearer = max(own - depth[at + 1], 0.0) + max(own - depth[at + 6], 0.0) +
                           max(own - depth[at - 1], 0.0) + max(own - depth[at - 6], 0.0);
            float light = exp2(-12.0 * 1.44269504 * nearer);
            vec3 lit = vec3(float(key[at] >> 11 & 31) * (light / 31.0),
                            float(key[at] >> 5 & 63) * (light / 63.0),
                            float(key[at] & 31) * (light / 31.0));
            c[n] = key[at] == 0x7fffffff ? vec3(0.1, 0.12, 0.2) : lit;
        }
        int to = ((top + k) * 512 + j) / 4 * 3;
        picture[to] = vec4(c[0], c[1].x);
        picture[to + 1] = vec4(c[1].yz, c[2].xy);
        picture[to + 2] = vec4(c[2].z, c[3]);
    }
}
)";

HandProgram best_point_splat() {
    constexpr int kRows = 2;
    HandProgram out;
    out.kernels = {{"splat_clear",
                    kBestSplatClear,
                    {256, 1, 1},
                    {int(kSplatPixels / 4096), 1, 1},
                    {{"nearest", As::Vec4s, 4, true}},
                    {}},
                   {"splat",
                    kBestSplat,
                    {64, 1, 1},
                    {kSplatPoints / 256, 1, 1},
                    {{"points", As::Texels4, 0},
                     {"colours", As::IntTexels, 1},
                     {"camera", As::Texels, 2},
                     {"before", As::IntTexels, 4},
                     {"nearest", As::Ints, 4, true}},
                    {}},
                   {"splat_resolve",
                    kBestSplatResolve,
                    {32, 1, 1},
                    {kSplatColumns / 128, kSplatRows / kRows, 1},
                    {{"nearest", As::IntTexels, 4}, {"picture", As::Vec4s, 3, true}},
                    {{"R", kRows}}}};
    out.temporaries = {kSplatPixels};
    return out;
}

/// Points on a torus and on waves below it, in no order, seen from above; some lie outside.
SplatCloud splat_cloud() {
    const std::vector<float> chance = numbers(4 * kSplatPoints, 0.0f, 1.0f, 3);
    SplatCloud out;
    for (size_t k = 0; k < size_t(kSplatPoints); ++k) {
        const float* c = &chance[4 * k];
        const float turn = 2 * std::numbers::pi_v<float>, u = turn * c[0], v = turn * c[1];
        int red = int(24 * c[0]) + 7, green = int(40 * c[1]) + 20, blue = 12 + int(8 * c[3]);
        if (c[2] < 0.5f) {
            const float r = 1.2f + 0.45f * std::cos(v) + 0.02f * c[3];
            out.points.insert(out.points.end(),
                              {r * std::cos(u), 0.2f + 0.45f * std::sin(v), r * std::sin(u)});
        } else {
            const float x = 8 * (c[0] - 0.5f), z = 8 * (c[1] - 0.5f);
            out.points.insert(out.points.end(),
                              {x, -0.7f + 0.25f * std::sin(3 * x) * std::cos(2 * z), z});
            std::swap(red, blue);
        }
        out.colours.push_back(red << 11 | green << 5 | blue);
    }
    // The camera is at (0, 2.2, -4.2) and looks down by 0.45; rows of x and y are in pixels.
    const float focal = 480, c = std::cos(0.45f), s = std::sin(0.45f), up = 2.2f, back = -4.2f;
    out.camera = {focal, 0,          0,          0,
                  0,     -focal * c, -focal * s, focal * (c * up + s * back),
                  0,     -s,         c,          s * up - c * back};
    return out;
}

std::vector<float> splat_bits(const std::vector<int32_t>& x) {
    std::vector<float> out;
    for (int32_t v : x) out.push_back(std::bit_cast<float>(v));
    return out;
}

Contest splat_contest(Tensor (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("n", 3), i32("n"), f32(3, 4)});
    const SplatCloud cloud = splat_cloud();
    // Points, the colours of those that are shown, the picture. A point's three coordinates (18
    // operations), two divisions and roundings (6) and its key (3); of a pixel that shows one a
    // logarithm, four comparisons of depths, of which its neighbours have half, an exponential and
    // the colour (24). Each point that is shown looks at one pixel.
    return {.least = {12.0 * kSplatPoints + 4.0 * kSplatShown, 12.0 * kSplatPixels,
                      27.0 * kSplatPoints + 24.0 * kSplatCovered, kSplatShown},
            .arguments = {cloud.points, splat_bits(cloud.colours), cloud.camera},
            .results = {3 * kSplatPixels},
            .firn =
                [f, points = tensor(cloud.points, {kSplatPoints, 3}),
                 colours = tensor(cloud.colours), camera = tensor(cloud.camera, {3, 4})] {
                    return std::vector<Tensor>{f(points, colours, camera)};
                },
            .best = best_point_splat(),
            .plain = plain_point_splat(),
            .tolerance = 2e-3,
            .difference = share_that_differs,
            .expected = [=] { return std::vector<std::vector<float>>{host_point_splat(cloud)}; }};
}

constexpr const char* kSplatFarFrom =
    "each point goes to a place of its own by an atomic, and many to places that a nearer one has";

}  // namespace

void add_point_splat(std::vector<Case>& cases) {
    cases.push_back({"point_splat", [] { return splat_contest(point_splat); }, Section::Holdout,
                     kSplatFarFrom});
    cases.push_back({"point_splat_kernel", [] { return splat_contest(point_splat_kernel); },
                     Section::Holdout, kSplatFarFrom});
}

}  // namespace firn::bench
