// Newton's fractal: to which root of z^3 = 1 a point goes, and how soon.
#include <firn/firn.h>

#include <array>
#include <cmath>
#include <utility>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kNewtonSide = 1024, kNewtonTurns = 64;
constexpr int64_t kNewtonPixels = int64_t(kNewtonSide) * kNewtonSide;
constexpr float kNewtonPixel = 4.0f / kNewtonSide, kNewtonFirst = -2.0f + 0.5f * kNewtonPixel,
                kNewtonNear = 1e-4f, kNewtonHalf = 0.8660254f;  // of |z^3 - 1|^2; sin(60 degrees)
constexpr std::array<float, 9> kNewtonColours{0.9f, 0.3f, 0.2f, 0.2f, 0.7f, 0.4f, 0.2f, 0.4f, 0.9f};

/// The brightness, from the number of iterations and the remaining |z^3 - 1|^2, which the next
/// iteration about squares.
Tensor newton_shade(const Tensor& turns, const Tensor& left) {
    Tensor smooth = turns + 1.0f - log2(log(max(left, 1e-12f)) / std::log(kNewtonNear));
    return where(left < kNewtonNear, 1.0f / (1.0f + 0.15f * smooth), 0.0f);
}

/// H.-O. Peitgen, D. Saupe and F. v. Haeseler, "Cayley's Problem and Julia Sets", 1984.
Tensor newton_picture(Tensor first, Tensor pixel) {
    auto [i, j] = indices<2>({kNewtonSide, kNewtonSide});
    Complex z{first + pixel * j, first + pixel * i};
    Tensor turns = zeros({kNewtonSide, kNewtonSide});
    for (Tensor turn : loop(kNewtonTurns)) {
        Complex f = z * z * z - 1.0f;
        Tensor going = squared_magnitude(f) >= kNewtonNear;
        z = select(going, z - f / (3.0f * z * z), z);
        turns = where(going, turns + 1.0f, turns);
    }
    Tensor shade = newton_shade(turns, squared_magnitude(z * z * z - 1.0f));
    Tensor root = argmin(
        stack({squared_magnitude(z - 1.0f), squared_magnitude(z - Complex{-0.5f, kNewtonHalf}),
               squared_magnitude(z - Complex{-0.5f, -kNewtonHalf})}),
        {.axis = 0});
    Tensor colours = tensor(kNewtonColours, {3, 3});
    return colours(root) * shade(all, all, newaxis);
}
Tensor newton_picture_kernel(Tensor first, Tensor pixel) {
    Tensor picture = zeros({kNewtonSide, kNewtonSide, 3});
    kernel({kNewtonSide, kNewtonSide}, [&](Tensor i, Tensor j) {
        vec2 z(first + pixel * j, first + pixel * i);
        Tensor turns = 0.0f, left = 0.0f;
        auto squared = [](const vec2& a) { return vec2(a.x * a.x - a.y * a.y, 2.0f * a.x * a.y); };
        auto times = [](const vec2& a, const vec2& b) {
            return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
        };
        for (Tensor turn : loop(kNewtonTurns + 1)) {
            vec2 square = squared(z), f = times(square, z) - vec2(1.0f, 0.0f);
            left = dot(f, f);
            if_((left < kNewtonNear) | (turn == kNewtonTurns), [&] { break_(); });
            z -= times(f, vec2(square.x, -square.y)) / (3.0f * dot(square, square));
            turns += 1.0f;
        }
        auto colour = [](size_t k) {
            return vec3(kNewtonColours[3 * k], kNewtonColours[3 * k + 1],
                        kNewtonColours[3 * k + 2]);
        };
        Tensor a = distance(z, vec2(1.0f, 0.0f)), b = distance(z, vec2(-0.5f, kNewtonHalf)),
               c = distance(z, vec2(-0.5f, -kNewtonHalf));
        vec3 own = select((a <= b) & (a <= c), colour(0), select(b <= c, colour(1), colour(2))) *
                   newton_shade(turns, left);
        picture(i, j, 0) = own.x, picture(i, j, 1) = own.y, picture(i, j, 2) = own.z;
    });
    return picture;
}

/// The colours, and the iterations of all pixels together.
std::pair<std::vector<float>, double> newton_on_host() {
    std::vector<float> out;
    double all_turns = 0;
    for (int i = 0; i < kNewtonSide; ++i)
        for (int j = 0; j < kNewtonSide; ++j) {
            float x = kNewtonFirst + kNewtonPixel * float(j), left = 0;
            float y = kNewtonFirst + kNewtonPixel * float(i);
            int turns = 0;
            for (;; ++turns) {
                const float a = x * x - y * y, b = 2 * x * y;
                const float re = a * x - b * y - 1, im = a * y + b * x, size = 3 * (a * a + b * b);
                left = re * re + im * im;
                if (left < kNewtonNear || turns == kNewtonTurns) break;
                x -= (re * a + im * b) / size;
                y -= (im * a - re * b) / size;
            }
            all_turns += turns + 1;
            const float smooth =
                float(turns) + 1 -
                std::log2(std::log(std::max(left, 1e-12f)) / std::log(kNewtonNear));
            const float shade = left < kNewtonNear ? 1 / (1 + 0.15f * smooth) : 0;
            const size_t root = x > 0 ? 0 : y > 0 ? 1 : 2;
            for (size_t c = 0; c < 3; ++c) out.push_back(kNewtonColours[3 * root + c] * shade);
        }
    return {out, all_turns};
}

constexpr const char* kNewtonPlain = R"(
const vec3 colours[3] = vec3[](vec3(0.9, 0.3, 0.2), vec3(0.2, 0.7, 0.4), vec3(0.2, 0.4, 0.9));
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
void main() {
    ivec2 own = ivec2(gl_GlobalInvocationID.xy);
    vec2 z = -2.0 + 4.0 / 1024.0 * (vec2(own) + 0.5);
    int turns = 0;
    float left = 0.0;
    for (;; ++turns) {
        vec2 square = times(z, z), f = times(square, z) - vec2(1.0, 0.0);
        left = dot(f, f);
        if (left < 1e-4 || turns == 64) break;
        z -= times(f, vec2(square.x, -square.y)) / (3.0 * dot(square, square));
    }
    float a = distance(z, vec2(1.0, 0.0)), b = distance(z, vec2(-0.5, 0.8660254));
    float c = distance(z, vec2(-0.5, -0.8660254));
    int root = a <= b && a <= c ? 0 : b <= c ? 1 : 2;
    float smooth_turns = float(turns) + 1.0 - log2(log(max(left, 1e-12)) / log(1e-4));
    float shade = left < 1e-4 ? 1.0 / (1.0 + 0.15 * smooth_turns) : 0.0;
    int at = (own.y * 1024 + own.x) * 3;
    picture[at] = shade * colours[root].x;
    picture[at + 1] = shade * colours[root].y;
    picture[at + 2] = shade * colours[root].z;
}
)";

// Eight pixels of a row in an invocation, three iterations between two tests whether all have
// arrived: a pixel that has continues, to the same root, and keeps the remainder of its arrival.
// Four pixels with a test after each iteration, as the first version had, take 1.1 times as long,
// and log2() instead of a polynomial 1.04 times; four pixels of two rows, and subgroups of other
// shapes than two invocations by four, are as fast.
constexpr const char* kNewtonBest = R"(
// Of positive numbers.
float log2_of(float a) {
    int bits = floatBitsToInt(a) - 0x3f3504f3;
    float t = intBitsToFloat((bits & 0x7fffff) + 0x3f3504f3) - 1.0;
    float tail = 0.48668706 + t * (-0.39458128 + t * 0.25266286);
    return float(bits >> 23) + t * (1.442578 + t * (-0.72024144 + t * tail));
}
void main() {
    int l = int(gl_LocalInvocationIndex);
    int x = 8 * (int(gl_WorkGroupID.x) * 8 + (l & 1) + 2 * (l >> 3 & 3));
    int y = int(gl_WorkGroupID.y) * 8 + (l >> 1 & 3) + 4 * (l >> 5);
    float re[8], im[8], left[8], turns[8];
    [[unroll]] for (int k = 0; k < 8; ++k) {
        re[k] = -2.0 + 4.0 / 1024.0 * (float(x + k) + 0.5);
        im[k] = -2.0 + 4.0 / 1024.0 * (float(y) + 0.5);
        left[k] = 1e9, turns[k] = 0.0;
    }
    for (int turn = 0; turn <= 64; turn += 3) {
        [[unroll]] for (int t = 0; t < 3; ++t) [[unroll]] for (int k = 0; k < 8; ++k) {
            float xx = re[k] * re[k], yy = im[k] * im[k];
            float f = re[k] * (xx - 3.0 * yy) - 1.0, g = im[k] * (3.0 * xx - yy);
            float now = f * f + g * g;
            bool arrived = left[k] < 1e-4;
            left[k] = arrived ? left[k] : now;
            turns[k] += arrived ? 0.0 : 1.0;
            float size = xx + yy, q = (1.0 / 3.0) / (size * size);
            im[k] *= 2.0 / 3.0 - 2.0 * re[k] * q;
            re[k] = 2.0 / 3.0 * re[k] + (xx - yy) * q;
        }
        bool all_there = true;
        [[unroll]] for (int k = 0; k < 8; ++k) all_there = all_there && left[k] < 1e-4;
        if (all_there) break;
    }
    vec3 own[8];
    [[unroll]] for (int k = 0; k < 8; ++k) {
        float among = log2_of(max(left[k], 1e-12)) * (-1.0 / 13.28771238);
        float shade = 1.0 / (1.0 + 0.15 * (turns[k] - log2_of(among)));
        shade = left[k] < 1e-4 && turns[k] < 65.5 ? shade : 0.0;
        own[k] = shade * (re[k] > 0.0   ? vec3(0.9, 0.3, 0.2)
                          : im[k] > 0.0 ? vec3(0.2, 0.7, 0.4)
                                        : vec3(0.2, 0.4, 0.9));
    }
    [[unroll]] for (int k = 0; k < 8; k += 4) {
        int at = (y * 1024 + x + k) / 4 * 3;
        picture[at] = vec4(own[k], own[k + 1].x);
        picture[at + 1] = vec4(own[k + 1].yz, own[k + 2].xy);
        picture[at + 2] = vec4(own[k + 2].z, own[k + 3]);
    }
}
)";

HandProgram newton_best() {
    return {{{"newton_fractal",
              kNewtonBest,
              {64, 1, 1},
              {kNewtonSide / 64, kNewtonSide / 8, 1},
              {{"picture", As::Vec4s, 0, true}},
              {}}},
            {},
            {}};
}

HandProgram newton_plain() {
    return {{{"newton_fractal",
              kNewtonPlain,
              {16, 16, 1},
              {kNewtonSide / 16, kNewtonSide / 16, 1},
              {{"picture", As::Floats, 0, true}},
              {}}},
            {},
            {}};
}

Contest newton_contest(Tensor (*program)(Tensor, Tensor)) {
    auto draw = compile(program, {f32(), f32()});
    const auto [colours, turns] = newton_on_host();
    // Operations per iteration: squares 2, z^3 - 1 by parts 7, its length 3 and the test; the step
    // 14, the count. Per pixel: its place 4, two logarithms, a quotient and 5 more, two tests for
    // the root, 3 products.
    constexpr double kNewtonOfATurn = 28, kNewtonOfAPixel = 17;
    return {.least = {0, 12.0 * kNewtonPixels,
                      kNewtonOfATurn * turns + kNewtonOfAPixel * kNewtonPixels},
            .arguments = {},
            .results = {3 * kNewtonPixels},
            .firn = [=] { return std::vector<Tensor>{draw(kNewtonFirst, kNewtonPixel)}; },
            .best = newton_best(),
            .plain = newton_plain(),
            .tolerance = 0.005,
            .difference = share_that_differs,
            .expected = [colours] { return std::vector<std::vector<float>>{colours}; }};
}

}  // namespace

void add_newton_fractal(std::vector<Case>& cases) {
    constexpr const char* kNewtonFar = "lanes go on until the last of them has arrived";
    cases.push_back({"newton_fractal", [] { return newton_contest(newton_picture); },
                     Section::Training, kNewtonFar});
    cases.push_back({"newton_fractal_kernel", [] { return newton_contest(newton_picture_kernel); },
                     Section::Training, kNewtonFar});
}

}  // namespace firn::bench
