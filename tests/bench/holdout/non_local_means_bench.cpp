// Non-local means: pixels become means of pixels around them with similar neighbourhoods.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kNlmSide = 512, kNlmSearch = 3, kNlmPatch = 2;  // windows of 7 by 7 and 5 by 5
constexpr int64_t kNlmPixels = int64_t(kNlmSide) * kNlmSide;
constexpr float kNlmStrength = 0.6f;

/// A. Buades, B. Coll and J. Morel, "A Non-Local Algorithm for Image Denoising", 2005.
Tensor nlm_denoised(Tensor u) {
    constexpr int kNlmBorder = kNlmSearch + kNlmPatch, kNlmWidth = 2 * kNlmPatch + 1;
    Size h = u.size(0), w = u.size(1);
    Tensor padded = pad(u, PadMode::Edge,
                        {.before = {kNlmBorder, kNlmBorder}, .after = {kNlmBorder, kNlmBorder}});
    // The picture with as much around it as its patches reach, moved by y and x.
    auto moved = [&](int y, int x) {
        return padded(range(kNlmSearch + y, kNlmSearch + y + h + 2 * kNlmPatch),
                      range(kNlmSearch + x, kNlmSearch + x + w + 2 * kNlmPatch));
    };
    Tensor own = moved(0, 0), total = zeros({h, w}), weights = zeros({h, w});
    for (int y = -kNlmSearch; y <= kNlmSearch; ++y)
        for (int x = -kNlmSearch; x <= kNlmSearch; ++x) {
            Tensor other = moved(y, x), apart = square(other - own), distance = zeros({h, w});
            for (int p = 0; p < kNlmWidth; ++p)
                for (int q = 0; q < kNlmWidth; ++q)
                    distance += apart(range(p, p + h), range(q, q + w));
            Tensor weight = exp(-distance / (kNlmStrength * kNlmStrength));
            total +=
                weight * other(range(kNlmPatch, kNlmPatch + h), range(kNlmPatch, kNlmPatch + w));
            weights += weight;
        }
    return total / weights;
}
Tensor nlm_denoised_kernel(Tensor u) {
    Tensor out = zeros(u.shape());
    kernel(u.shape(), [&](Tensor i, Tensor j) {
        Tensor total = 0.0f, weights = 0.0f;
        for (Tensor y : loop(-kNlmSearch, kNlmSearch + 1))
            for (Tensor x : loop(-kNlmSearch, kNlmSearch + 1)) {
                Tensor distance = 0.0f;
                for (Tensor p : loop(-kNlmPatch, kNlmPatch + 1))
                    for (Tensor q : loop(-kNlmPatch, kNlmPatch + 1))
                        distance += square(u(i + y + p, j + x + q) - u(i + p, j + q));
                Tensor weight = exp(-distance / (kNlmStrength * kNlmStrength));
                total += weight * u(i + y, j + x);
                weights += weight;
            }
        out(i, j) = total / weights;
    });
    return out;
}

std::vector<std::vector<float>> nlm_on_host(const Plane& u) {
    constexpr int kNlmBorder = kNlmSearch + kNlmPatch;
    Plane around(u.h + 2 * kNlmBorder, u.w + 2 * kNlmBorder), out(u.h, u.w);
    for (int i = 0; i < around.h; ++i)
        for (int j = 0; j < around.w; ++j) around(i, j) = u.clamped(i - kNlmBorder, j - kNlmBorder);
    for (int i = 0; i < u.h; ++i)
        for (int j = 0; j < u.w; ++j) {
            double total = 0, weights = 0;
            for (int y = 0; y <= 2 * kNlmSearch; ++y)
                for (int x = 0; x <= 2 * kNlmSearch; ++x) {
                    double distance = 0;
                    for (int p = 0; p <= 2 * kNlmPatch; ++p)
                        for (int q = 0; q <= 2 * kNlmPatch; ++q) {
                            const double apart =
                                double(around(i + y + p, j + x + q)) -
                                double(around(i + kNlmSearch + p, j + kNlmSearch + q));
                            distance += apart * apart;
                        }
                    const double weight =
                        std::exp(-distance / (double(kNlmStrength) * double(kNlmStrength)));
                    total += weight * double(around(i + y + kNlmPatch, j + x + kNlmPatch));
                    weights += weight;
                }
            out(i, j) = float(total / weights);
        }
    return {out.values};
}

constexpr const char* kNlmPlain = R"(
float u_near(int y, int x) { return u_at(clamp(y, 0, 511) * 512 + clamp(x, 0, 511)); }
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float total = 0.0, weights = 0.0;
    for (int dy = -3; dy <= 3; ++dy)
        for (int dx = -3; dx <= 3; ++dx) {
            float distance = 0.0;
            for (int p = -2; p <= 2; ++p)
                for (int q = -2; q <= 2; ++q) {
                    float apart = u_near(y + dy + p, x + dx + q) - u_near(y + p, x + q);
                    distance += apart * apart;
                }
            float weight = exp(-distance / 0.36);
            total += weight * u_near(y + dy, x + dx);
            weights += weight;
        }
    denoised[y * 512 + x] = total / weights;
}
)";

// A strip of 16 columns, marched down with nine rows in registers: a pair of pixels has one weight
// for both, so it is computed once if both are in the strip. Sums of squared differences down five
// rows are kept for each of the 24 ways to a partner and each column, gain the newest row's and
// lose that of five rows ago; across, they move as well. Pixels of rows that have not come yet are
// 0, until their sums have left. Values are scaled so that a distance is the exponential's
// argument, which is the eighth power of a polynomial (5e-5 off). On llvmpipe strips of 8 columns
// take 1.1 times as long, strips of 4 columns 1.5 times. Without pairs, 4 columns of 16, 8 or 4
// rows in an invocation take 1.25, 1.35 and 1.5 times as long. With a polynomial for a power of two
// and a shift, the strips of 8 take 1.14 times as long as with this one, and with exp() 1.2 times.
constexpr const char* kNlmBest = R"(
const float SCALE = 1.0 / 0.6;
float weight_of(float d) {
    float z = min(d, 12.0);
    float p = 0.999993858 + z * (-0.12491449 + z * (0.0076626909 - z * 0.000253790587));
    p *= p, p *= p;
    return p * p;
}
void main() {
    int x = 4 * int(gl_GlobalInvocationID.x), top = int(gl_GlobalInvocationID.y) * ROWS;
    float v[9][26], sums[28][23], total[4][16], weights[4][16];
    [[unroll]] for (int k = 0; k < 9; ++k) [[unroll]] for (int c = 0; c < 26; ++c) v[k][c] = 0.0;
    [[unroll]] for (int k = 0; k < 28; ++k)
        [[unroll]] for (int c = 0; c < 23; ++c) sums[k][c] = 0.0;
    [[unroll]] for (int k = 0; k < 4; ++k)
        [[unroll]] for (int c = 0; c < 16; ++c) total[k][c] = 0.0, weights[k][c] = 1.0;
    for (int y = top - 5; y < top + ROWS + 5; ++y) {
        [[unroll]] for (int k = 8; k > 0; --k)
            [[unroll]] for (int c = 0; c < 26; ++c) v[k][c] = v[k - 1][c];
        [[unroll]] for (int k = 3; k > 0; --k)
            [[unroll]] for (int c = 0; c < 16; ++c)
                total[k][c] = total[k - 1][c], weights[k][c] = weights[k - 1][c];
        // The columns of v begin at -5. The newest row whose patches are whole is v[2].
        [[unroll]] for (int q = 0; q < 8; ++q) {
            vec4 four = SCALE * u_at(clamp(y, 0, 511) * 128 + clamp(x + q - 2, 0, 127));
            if (q < 2) four = x + q < 2 ? four.xxxx : four;
            if (q > 5) four = x + q > 129 ? four.wwww : four;
            [[unroll]] for (int c = 0; c < 4; ++c)
                if (4 * q + c >= 3 && 4 * q + c < 29) v[0][4 * q + c - 3] = four[c];
        }
        [[unroll]] for (int c = 0; c < 16; ++c) total[0][c] = v[2][c + 5], weights[0][c] = 1.0;
        [[unroll]] for (int dy = 0; dy < 4; ++dy)
            [[unroll]] for (int dx = -3; dx <= 3; ++dx)
                if (dy > 0 || dx > 0) {
                    int k = dy * 7 + dx + 3, first = min(0, -dx), last = max(15, 15 - dx);
                    [[unroll]] for (int c = 0; c < 23; ++c)
                        if (c <= last - first + 4) {
                            int at = c + first + 3;
                            float come = v[dy][at] - v[0][at + dx];
                            float go = v[dy + 5][at] - v[5][at + dx];
                            sums[k][c] = sums[k][c] + come * come - go * go;
                        }
                    float box = sums[k][0] + sums[k][1] + sums[k][2] + sums[k][3];
                    [[unroll]] for (int p = 0; p < 19; ++p)
                        if (p <= last - first) {
                            int a = p + first, b = a + dx;
                            box += sums[k][p + 4];
                            float w = weight_of(box);
                            if (a >= 0 && a < 16)
                                total[dy][a] += w * v[2][b + 5], weights[dy][a] += w;
                            if (b >= 0 && b < 16)
                                total[0][b] += w * v[2 + dy][a + 5], weights[0][b] += w;
                            box -= sums[k][p];
                        }
                }
        if (y - 5 >= top)
            [[unroll]] for (int q = 0; q < 4; ++q) {
                vec4 mean;
                [[unroll]] for (int c = 0; c < 4; ++c)
                    mean[c] = total[3][4 * q + c] / weights[3][4 * q + c];
                denoised[(y - 5) * 128 + x + q] = mean / SCALE;
            }
    }
}
)";

HandProgram nlm_plain() {
    return {{{"non_local_means",
              kNlmPlain,
              {16, 16, 1},
              {kNlmSide / 16, kNlmSide / 16, 1},
              {{"u", As::Floats, 0}, {"denoised", As::Floats, 1, true}},
              {}}},
            {},
            {}};
}

HandProgram nlm_best() {
    constexpr int kNlmRows = 64;
    return {{{"non_local_means",
              kNlmBest,
              {8, 1, 1},
              {kNlmSide / 128, kNlmSide / kNlmRows, 1},
              {{"u", As::Texels4, 0}, {"denoised", As::Vec4s, 1, true}},
              {{"ROWS", kNlmRows}}}},
            {},
            {}};
}

Contest nlm_contest(Tensor (*program)(Tensor)) {
    auto f = compile(program, {f32("h", "w")});
    Plane u = hills(kNlmSide, kNlmSide, 8);
    const std::vector<float> noise = numbers(kNlmPixels, -0.15f, 0.15f, 11);
    for (size_t k = 0; k < noise.size(); ++k) u.values[k] = 0.5f + 0.4f * u.values[k] + noise[k];
    // 24 pairs are counted for each pixel, as a pair weighs the same for both of its pixels: the
    // difference of scaled values, its square, 4 for a sum over 5 by 5 that moves along both axes,
    // the exponential, and for each of the two a product and 2 sums. Then the scaling, a sum for
    // the pixel itself, and the quotient.
    return {.least = {4.0 * kNlmPixels, 4.0 * kNlmPixels, (24.0 * 13 + 3) * kNlmPixels},
            .arguments = {u.values},
            .results = {kNlmPixels},
            .firn = [f, x = tensor(u.values,
                                   {kNlmSide, kNlmSide})] { return std::vector<Tensor>{f(x)}; },
            .best = nlm_best(),
            .plain = nlm_plain(),
            .tolerance = 1e-4,
            .expected = [u] { return nlm_on_host(u); }};
}

constexpr const char* kNonLocalMeansFar =
    "sums over patches are shared between pixels at best, and a weight is an exponential";

}  // namespace

void add_non_local_means(std::vector<Case>& cases) {
    cases.push_back({"non_local_means", [] { return nlm_contest(nlm_denoised); }, Section::Training,
                     kNonLocalMeansFar});
    cases.push_back({"non_local_means_kernel", [] { return nlm_contest(nlm_denoised_kernel); },
                     Section::Training, kNonLocalMeansFar});
}

}  // namespace firn::bench
