// Filters that are others at every pixel: the bilateral one, and the distortion of a lens.
#include <firn/firn.h>

#include <array>
#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kFilterSide = 512, kFilterRadius = 4;
constexpr int64_t kFilterPixels = int64_t(kFilterSide) * kFilterSide;
constexpr float kFilterSpace = 2.0f, kFilterValue = 0.1f;

/// Means of neighbours that lie near and look alike: C. Tomasi and R. Manduchi, "Bilateral
/// Filtering for Gray and Color Images", 1998.
Tensor bilateral(Tensor u) {
    auto [i, j] = indices<2>(u.shape());
    Tensor total = zeros(u.shape()), weights = zeros(u.shape());
    for (int y = -kFilterRadius; y <= kFilterRadius; ++y)
        for (int x = -kFilterRadius; x <= kFilterRadius; ++x) {
            Tensor near = u(i + y, j + x);
            const float space = std::exp(-float(x * x + y * y) / (2 * kFilterSpace * kFilterSpace));
            Tensor weight = space * exp(-square(near - u) / (2 * kFilterValue * kFilterValue));
            total += weight * near;
            weights += weight;
        }
    return total / weights;
}
Tensor bilateral_kernel(Tensor u) {
    Tensor out = zeros(u.shape());
    kernel(u.shape(), [&](Tensor i, Tensor j) {
        Tensor own = u(i, j), total = 0.0f, weights = 0.0f;
        for (Tensor y : loop(-kFilterRadius, kFilterRadius + 1))
            for (Tensor x : loop(-kFilterRadius, kFilterRadius + 1)) {
                Tensor near = u(i + y, j + x);
                Tensor space = exp(-(x * x + y * y).as(f32) / (2 * kFilterSpace * kFilterSpace));
                Tensor alike = exp(-square(near - own) / (2 * kFilterValue * kFilterValue));
                total += space * alike * near;
                weights += space * alike;
            }
        out(i, j) = total / weights;
    });
    return out;
}

std::vector<std::vector<float>> host_bilateral(const Plane& u) {
    Plane out(u.h, u.w);
    for (int i = 0; i < u.h; ++i)
        for (int j = 0; j < u.w; ++j) {
            double total = 0, weights = 0;
            for (int y = -kFilterRadius; y <= kFilterRadius; ++y)
                for (int x = -kFilterRadius; x <= kFilterRadius; ++x) {
                    const double near = u.clamped(i + y, j + x), apart = near - double(u(i, j));
                    const double weight =
                        std::exp(-double(x * x + y * y) / 8 - apart * apart / 0.02);
                    total += weight * near, weights += weight;
                }
            out(i, j) = float(total / weights);
        }
    return {out.values};
}

constexpr const char* kPlainBilateral = R"(
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float own = u_at(y * 512 + x), total = 0.0, weights = 0.0;
    for (int dy = -4; dy <= 4; ++dy)
        for (int dx = -4; dx <= 4; ++dx) {
            float near = u_at(clamp(y + dy, 0, 511) * 512 + clamp(x + dx, 0, 511));
            float apart = near - own;
            float weight = exp(-float(dx * dx + dy * dy) / 8.0) * exp(-apart * apart / 0.02);
            total += weight * near;
            weights += weight;
        }
    filtered[y * 512 + x] = total / weights;
}
)";

// A strip of eight columns, marched down with five rows in registers: a pair of pixels has one
// weight for both, so it is computed once if both are in the strip. Pairs within a window of the
// newest row are done when that row is reached. Values are scaled so that 2^-d^2 is the weight of a
// difference, and the power of two is a polynomial (7e-5 off) and a shift. Two rows of four pixels
// in an invocation, without pairs, take 1.7 times as long.
constexpr const char* kBestBilateral = R"(
const float SCALE = 8.4932181, SPACE = 0.18033688;
float weight_of(float d, float space) {
    float e = max(space - d * d, -120.0), whole = roundEven(e), t = e - whole;
    float power = 0.99992807 + t * (0.69326099 + t * (0.24261112 + t * 0.05517167));
    return intBitsToFloat(floatBitsToInt(power) + (int(whole) << 23));
}
void main() {
    int x = 2 * int(gl_GlobalInvocationID.x), top = int(gl_GlobalInvocationID.y) * ROWS;
    float v[5][16], total[5][8], weights[5][8];
    [[unroll]] for (int k = 0; k < 5; ++k) {
        [[unroll]] for (int c = 0; c < 16; ++c) v[k][c] = 0.0;
        [[unroll]] for (int c = 0; c < 8; ++c) total[k][c] = 0.0, weights[k][c] = 1.0;
    }
    for (int y = top - 4; y < top + ROWS + 4; ++y) {
        [[unroll]] for (int k = 0; k < 4; ++k) {
            [[unroll]] for (int c = 0; c < 16; ++c) v[4 - k][c] = v[3 - k][c];
            [[unroll]] for (int c = 0; c < 8; ++c)
                total[4 - k][c] = total[3 - k][c], weights[4 - k][c] = weights[3 - k][c];
        }
        [[unroll]] for (int c = 0; c < 8; ++c) total[0][c] = 0.0, weights[0][c] = 1.0;
        [[unroll]] for (int q = 0; q < 4; ++q) {
            vec4 four = SCALE * u_at(clamp(y, 0, 511) * 128 + clamp(x + q - 1, 0, 127));
            if (q == 0) four = x == 0 ? four.xxxx : four;
            if (q == 3) four = x == 126 ? four.wwww : four;
            [[unroll]] for (int c = 0; c < 4; ++c) v[0][4 * q + c] = four[c];
        }
        [[unroll]] for (int k = 0; k < 5; ++k)
            [[unroll]] for (int a = 0; a < 16; ++a)
                [[unroll]] for (int dx = -4; dx <= 4; ++dx) {
                    int b = a + dx;
                    bool own = a >= 4 && a < 12, other = b >= 4 && b < 12;
                    if ((own || other) && (k > 0 || dx > 0)) {
                        float d = v[k][b] - v[0][a];
                        float w = weight_of(d, -SPACE * float(dx * dx + k * k)), part = w * d;
                        if (own) total[0][a - 4] += part, weights[0][a - 4] += w;
                        if (other) total[k][b - 4] -= part, weights[k][b - 4] += w;
                    }
                }
        if (y - 4 >= top)
            [[unroll]] for (int q = 0; q < 2; ++q) {
                vec4 mean;
                [[unroll]] for (int c = 0; c < 4; ++c)
                    mean[c] = v[4][4 * q + 4 + c] + total[4][4 * q + c] / weights[4][4 * q + c];
                filtered[(y - 4) * 128 + x + q] = mean / SCALE;
            }
    }
}
)";

HandProgram plain_bilateral() {
    return {{{"bilateral",
              kPlainBilateral,
              {16, 16, 1},
              {kFilterSide / 16, kFilterSide / 16, 1},
              {{"u", As::Floats, 0}, {"filtered", As::Floats, 1, true}},
              {}}},
            {},
            {}};
}
HandProgram best_bilateral() {
    constexpr int kFilterRows = 128;
    return {{{"bilateral",
              kBestBilateral,
              {8, 1, 1},
              {kFilterSide / 64, kFilterSide / kFilterRows, 1},
              {{"u", As::Texels4, 0}, {"filtered", As::Vec4s, 1, true}},
              {{"ROWS", kFilterRows}}}},
            {},
            {}};
}

Contest bilateral_contest(Tensor (*program)(Tensor)) {
    auto f = compile(program, {f32("h", "w")});
    Plane u = hills(kFilterSide, kFilterSide, 7);
    const std::vector<float> noise = numbers(kFilterPixels, -0.1f, 0.1f, 7);
    for (size_t k = 0; k < noise.size(); ++k) u.values[k] = 0.5f + 0.4f * u.values[k] + noise[k];
    // 40 pairs are counted for each pixel, as a pair weighs the same for both of its pixels: the
    // difference of scaled values, the exponent 2, the exponential, a product, and 2 sums for each
    // of the two. Then the scaling, the quotient, and a sum.
    return {.least = {4.0 * kFilterPixels, 4.0 * kFilterPixels, (40.0 * 9 + 3) * kFilterPixels},
            .arguments = {u.values},
            .results = {kFilterPixels},
            .firn = [f, x = tensor(u.values, {kFilterSide,
                                              kFilterSide})] { return std::vector<Tensor>{f(x)}; },
            .best = best_bilateral(),
            .plain = plain_bilateral(),
            .expected = [u] { return host_bilateral(u); }};
}

constexpr int kLensSide = 1024;
constexpr int64_t kLensPixels = int64_t(kLensSide) * kLensSide;
constexpr float kLensK1 = 0.12f, kLensK2 = -0.03f;

/// Between b and c, t from 0 to 1: E. Catmull and R. Rom, "A Class of Local Interpolating
/// Splines", 1974.
Tensor catmull_rom(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                   const Tensor& t) {
    return b +
           0.5f * t *
               (c - a + t * (2.0f * a - 5.0f * b + 4.0f * c - d + t * (3.0f * (b - c) + d - a)));
}
Tensor bicubic(const Tensor& u, const Tensor& y, const Tensor& x) {
    Tensor i = floor(y).as(i32), j = floor(x).as(i32), t = y - floor(y), s = x - floor(x);
    std::vector<Tensor> rows;
    for (int k = -1; k <= 2; ++k)
        rows.push_back(
            catmull_rom(u(i + k, j - 1), u(i + k, j), u(i + k, j + 1), u(i + k, j + 2), s));
    return catmull_rom(rows[0], rows[1], rows[2], rows[3], t);
}
/// The value seen at (i, j) through a lens: D. Brown, "Decentering Distortion of Lenses", 1966.
Tensor through_lens(const Tensor& u, const Tensor& i, const Tensor& j, const Tensor& k1,
                    const Tensor& k2) {
    Tensor middle_y = Tensor(u.size(0) - 1) / 2.0f, middle_x = Tensor(u.size(1) - 1) / 2.0f;
    Tensor y = (i - middle_y) / middle_y, x = (j - middle_x) / middle_x;
    Tensor r2 = x * x + y * y;
    Tensor scale = 1.0f + k1 * r2 + k2 * r2 * r2;
    return bicubic(u, middle_y + middle_y * y * scale, middle_x + middle_x * x * scale);
}
Tensor warp(Tensor u, Tensor k1, Tensor k2) {
    auto [i, j] = indices<2>(u.shape());
    return through_lens(u, i, j, k1, k2);
}
Tensor warp_kernel(Tensor u, Tensor k1, Tensor k2) {
    Tensor out = zeros(u.shape());
    kernel(u.shape(), [&](Tensor i, Tensor j) { out(i, j) = through_lens(u, i, j, k1, k2); });
    return out;
}

std::vector<std::vector<float>> host_warp(const Plane& u) {
    Plane out(u.h, u.w);
    const auto weights = [](double t) {
        return std::array<double, 4>{0.5 * t * (t * (2 - t) - 1), 0.5 * (t * t * (3 * t - 5) + 2),
                                     0.5 * t * (t * (4 - 3 * t) + 1), 0.5 * t * t * (t - 1)};
    };
    const double middle = (kLensSide - 1) / 2.0;
    for (int i = 0; i < u.h; ++i)
        for (int j = 0; j < u.w; ++j) {
            const double y = (i - middle) / middle, x = (j - middle) / middle, r2 = x * x + y * y;
            const double scale = 1 + double(kLensK1) * r2 + double(kLensK2) * r2 * r2;
            const double row = middle + middle * y * scale, column = middle + middle * x * scale;
            const auto down = weights(row - std::floor(row)),
                       across = weights(column - std::floor(column));
            double sum = 0;
            for (int k = 0; k < 4; ++k)
                for (int l = 0; l < 4; ++l)
                    sum += down[size_t(k)] * across[size_t(l)] *
                           double(u.clamped(int(std::floor(row)) + k - 1,
                                            int(std::floor(column)) + l - 1));
            out(i, j) = float(sum);
        }
    return {out.values};
}

constexpr const char* kPlainWarp = R"(
float near(int i, int j) { return u_at(clamp(i, 0, 1023) * 1024 + clamp(j, 0, 1023)); }
float cubic(float a, float b, float c, float d, float t) {
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d +
                                       t * (3.0 * (b - c) + d - a)));
}
float row(int i, int j, float t) {
    return cubic(near(i, j - 1), near(i, j), near(i, j + 1), near(i, j + 2), t);
}
void main() {
    ivec2 own = ivec2(gl_GlobalInvocationID.xy);
    vec2 p = (vec2(own) - 511.5) / 511.5;
    float r2 = dot(p, p), scale = 1.0 + k1_at(0) * r2 + k2_at(0) * r2 * r2;
    vec2 at = 511.5 + 511.5 * scale * p, low = floor(at), t = at - low;
    int i = int(low.y), j = int(low.x);
    seen[own.y * 1024 + own.x] = cubic(row(i - 1, j, t.x), row(i, j, t.x), row(i + 1, j, t.x),
                                       row(i + 2, j, t.x), t.y);
}
)";

// Four pixels of a row, and where they lie in the other quarters, which the lens bends the same
// way. Each row of a pixel's neighbours is in two texels of four: the weights are shifted to where
// they are, and gathered at the edges. The quarters each for themselves take 1.3 times as long, a
// texel for each neighbour 2.3 times.
constexpr const char* kBestWarp = R"(
vec4 weights(float t) {
    float u = 1.0 - t, h = -0.5 * t * u, a = h * u, d = h * t;
    return vec4(a, u + d - 2.0 * a, t + a - 2.0 * d, d);
}
float row(vec4 a, vec3 b, vec4 p, vec3 q) {
    return a.x * p.x + a.y * p.y + a.z * p.z + a.w * p.w + b.x * q.x + b.y * q.y + b.z * q.z;
}
vec4 pixels(float x, float y, float k1, float k2) {
    float r2 = x * x + y * y, scale = 511.5 + 511.5 * r2 * (k1 + k2 * r2);
    vec2 at = clamp(511.5 + scale * vec2(x, y), vec2(-1.0), vec2(1024.0)), low = floor(at);
    int i = int(low.y), j = int(low.x) - 1, block = j >> 2;
    vec4 w = weights(at.x - low.x), down = weights(at.y - low.y);
    bool one = (j & 1) != 0, two = (j & 2) != 0, left = block < 0, right = block > 254;
    float s0 = one ? 0.0 : w.x, s1 = one ? w.x : w.y, s2 = one ? w.y : w.z;
    float s3 = one ? w.z : w.w, s4 = one ? w.w : 0.0;
    vec4 a = two ? vec4(0.0, 0.0, s0, s1) : vec4(s0, s1, s2, s3);
    vec3 b = two ? vec3(s2, s3, s4) : vec3(s4, 0.0, 0.0);
    a = left ? vec4(a.x + a.y + a.z + a.w, 0.0, 0.0, 0.0) : a;
    a.w += right ? b.x + b.y + b.z : 0.0;
    b = right ? vec3(0.0) : b;
    int first = max(block, 0), second = min(block + 1, 255);
    vec4 sum = vec4(0.0);
    [[unroll]] for (int k = 0; k < 4; ++k) {
        int near = clamp(i + k - 1, 0, 1023) * 256, far = 1023 * 256 - near;
        sum.x += down[k] * row(a, b, u_at(near + first), u_at(near + second).xyz);
        sum.y += down[k] * row(a, b, u_at(near + 255 - first).wzyx, u_at(near + 255 - second).wzy);
        sum.z += down[k] * row(a, b, u_at(far + first), u_at(far + second).xyz);
        sum.w += down[k] * row(a, b, u_at(far + 255 - first).wzyx, u_at(far + 255 - second).wzy);
    }
    return sum;
}
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float k1 = k1_at(0), k2 = k2_at(0);
    mat4 result;
    [[unroll]] for (int k = 0; k < 4; ++k)
        result[k] = pixels(float(4 * x + k) / 511.5 - 1.0, float(y) / 511.5 - 1.0, k1, k2);
    result = transpose(result);
    seen[y * 256 + x] = result[0];
    seen[y * 256 + 255 - x] = result[1].wzyx;
    seen[(1023 - y) * 256 + x] = result[2];
    seen[(1023 - y) * 256 + 255 - x] = result[3].wzyx;
}
)";

HandProgram warp_by_hand(const char* body, std::array<uint32_t, 3> group, std::array<int, 3> groups,
                         As in, As out) {
    return {{{"warp",
              body,
              group,
              groups,
              {{"u", in, 0}, {"k1", As::Floats, 1}, {"k2", As::Floats, 2}, {"seen", out, 3, true}},
              {}}},
            {},
            {}};
}

Contest warp_contest(Tensor (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32(), f32()});
    Plane u = hills(kLensSide, kLensSide, 9);
    const std::vector<float> noise = numbers(kLensPixels, -0.1f, 0.1f, 8);
    for (size_t k = 0; k < noise.size(); ++k) u.values[k] += noise[k];
    // Operations per pixel: 7 for each of four rows, and 7 down. The four quarters share 35: the
    // squared radius 1 (the squares are those of rows and columns), the scale 4, the place 4, its
    // whole part and the rest 4, and 11 for the weights of each axis.
    return {.least = {4.0 * kLensPixels + 8, 4.0 * kLensPixels, (35 + 35.0 / 4) * kLensPixels},
            .arguments = {u.values, {kLensK1}, {kLensK2}},
            .results = {kLensPixels},
            .firn =
                [f, x = tensor(u.values, {kLensSide, kLensSide})] {
                    return std::vector<Tensor>{f(x, kLensK1, kLensK2)};
                },
            .best = warp_by_hand(kBestWarp, {64, 2, 1}, {kLensSide / 512, kLensSide / 4, 1},
                                 As::Texels4, As::Vec4s),
            .plain = warp_by_hand(kPlainWarp, {16, 16, 1}, {kLensSide / 16, kLensSide / 16, 1},
                                  As::Floats, As::Floats),
            .tolerance = 1e-4,
            .expected = [u] { return host_warp(u); }};
}

}  // namespace

void add_filters(std::vector<Case>& cases) {
    const auto add = [&](const char* name, Section section, std::function<Contest()> make,
                         const char* far) {
        cases.push_back({name, std::move(make), section, far});
    };
    constexpr const char* kWeighed = "a weight is an exponential, which is many operations";
    add(
        "bilateral", Section::Training, [] { return bilateral_contest(bilateral); }, kWeighed);
    add(
        "bilateral_kernel", Section::Training, [] { return bilateral_contest(bilateral_kernel); },
        kWeighed);
    constexpr const char* kPlaced = "of a pixel sixteen numbers are read at places of its own";
    add(
        "warp", Section::Training, [] { return warp_contest(warp); }, kPlaced);
    add(
        "warp_kernel", Section::Training, [] { return warp_contest(warp_kernel); }, kPlaced);
}

}  // namespace firn::bench
