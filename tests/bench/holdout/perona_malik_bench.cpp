// Anisotropic diffusion of a picture: it is smoothed within regions, and not across their edges.
#include <firn/firn.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kPeronaSide = 1024, kPeronaSteps = 10;
constexpr int64_t kPeronaPixels = int64_t(kPeronaSide) * kPeronaSide;
constexpr float kPeronaEdge = 0.1f, kPeronaRate = 0.2f;

/// The flow for a difference: small if it is large.
Tensor perona_flow(const Tensor& difference, const Tensor& edge) {
    return difference * exp(-square(difference / edge));
}

/// P. Perona and J. Malik, "Scale-Space and Edge Detection Using Anisotropic Diffusion", 1990.
Tensor perona_malik(Tensor picture, Tensor edge, Tensor rate) {
    auto [i, j] = indices<2>(picture.shape());
    Tensor u = picture;
    for (Tensor step : loop(kPeronaSteps)) {
        Tensor north = u(i - 1, j) - u, south = u(i + 1, j) - u;
        Tensor west = u(i, j - 1) - u, east = u(i, j + 1) - u;
        u += rate * (perona_flow(north, edge) + perona_flow(south, edge) + perona_flow(west, edge) +
                     perona_flow(east, edge));
    }
    return u;
}
Tensor perona_malik_kernel(Tensor picture, Tensor edge, Tensor rate) {
    Tensor u = picture;
    for (Tensor step : loop(kPeronaSteps)) {
        Tensor next = zeros(u.shape());
        kernel(u.shape(), [&](Tensor i, Tensor j) {
            Tensor own = u(i, j);
            Tensor north = u(i - 1, j) - own, south = u(i + 1, j) - own;
            Tensor west = u(i, j - 1) - own, east = u(i, j + 1) - own;
            next(i, j) = own + rate * (perona_flow(north, edge) + perona_flow(south, edge) +
                                       perona_flow(west, edge) + perona_flow(east, edge));
        });
        u = next;
    }
    return u;
}

std::vector<std::vector<float>> host_perona_malik(const Plane& picture) {
    const int h = picture.h, w = picture.w;
    std::vector<double> u(picture.values.begin(), picture.values.end());
    for (int step = 0; step < kPeronaSteps; ++step) {
        const std::vector<double> old = u;
        const auto flows = [&](int i, int j, int y, int x) {
            y = std::clamp(y, 0, h - 1), x = std::clamp(x, 0, w - 1);
            const double apart = old[picture.place(y, x)] - old[picture.place(i, j)];
            const double steep = apart / double(kPeronaEdge);
            return apart * std::exp(-steep * steep);
        };
        for (int i = 0; i < h; ++i)
            for (int j = 0; j < w; ++j)
                u[picture.place(i, j)] +=
                    double(kPeronaRate) * (flows(i, j, i - 1, j) + flows(i, j, i + 1, j) +
                                           flows(i, j, i, j - 1) + flows(i, j, i, j + 1));
    }
    return {std::vector<float>(u.begin(), u.end())};
}

constexpr const char* kPlainPerona = R"(
float flow(float d) { return d * exp(-(d / 0.1) * (d / 0.1)); }
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float own = u_at(y * SIDE + x);
    float north = u_at(max(y - 1, 0) * SIDE + x), south = u_at(min(y + 1, SIDE - 1) * SIDE + x);
    float west = u_at(y * SIDE + max(x - 1, 0)), east = u_at(y * SIDE + min(x + 1, SIDE - 1));
    next[y * SIDE + x] =
        own + 0.2 * (flow(north - own) + flow(south - own) + flow(west - own) + flow(east - own));
}
)";

HandProgram plain_perona() {
    constexpr int kIn = 0, kOut = 1, kOther = 2;
    HandProgram out;
    out.kernels.push_back({"perona_malik",
                           kPlainPerona,
                           {16, 16, 1},
                           {kPeronaSide / 16, kPeronaSide / 16, 1},
                           {{"u", As::Floats, kIn}, {"next", As::Floats, kOut, true}},
                           {{"SIDE", kPeronaSide}}});
    out.temporaries = {kPeronaPixels};
    // An even number of them: the last one writes to the result.
    static_assert(kPeronaSteps % 2 == 0);
    for (int step = 0; step < kPeronaSteps; ++step)
        out.steps.push_back({0,
                             {step == 0  ? kIn
                              : step % 2 ? kOther
                                         : kOut,
                              step % 2 ? kOut : kOther}});
    return out;
}

// Values are scaled so that 2^-d^2 of a difference d flows. The power of two is the 16th power of a
// cubic, which is 0 where that falls below 0 (a flow is 1e-5 off at most); the rate is within.
constexpr const char* kBestPeronaFlow = R"(
float flow(float d) {
    float q = d * d;
    float p = max(C0 + q * (C1 + q * (C2 + q * C3)), 0.0);
    p *= p, p *= p, p *= p, p *= p;
    return d * p;
}
)";
// A strip of WIDE columns, marched down: the flow between two pixels is computed once for both.
// STEPS steps are made at once: when row y of a level is met, row y - 1 of the next is done.
// Columns beside the strip, whose flows its neighbours compute too, get fewer from level to level.
// Beside 16 columns and 3 or 4 steps at once, 2 steps take 1.08 times as long, 2 of 8 columns 1.2,
// one of 8 columns 1.6, and 4 by 4 pixels of an invocation, a step at a time, 1.5, or 1.7 by exp2.
constexpr const char* kBestPerona = R"(
void main() {
    int x = WIDE / 4 * int(gl_GlobalInvocationID.x), top = int(gl_GlobalInvocationID.y) * ROWS;
    float last[STEPS][WIDE + 8], part[STEPS][WIDE + 8];
    [[unroll]] for (int l = 0; l < STEPS; ++l)
        [[unroll]] for (int c = 0; c < WIDE + 8; ++c) last[l][c] = part[l][c] = 0.0;
    for (int y = top - STEPS; y < top + ROWS + STEPS; ++y) {
        float row[WIDE + 8];
        [[unroll]] for (int q = 0; q < WIDE / 4 + 2; ++q) {
            int place = clamp(x + q - 1, 0, SIDE / 4 - 1);
            vec4 four = u_at(clamp(y, 0, SIDE - 1) * (SIDE / 4) + place);
            if (FIRST != 0) four *= SCALE;
            [[unroll]] for (int c = 0; c < 4; ++c) row[4 * q + c] = four[c];
        }
        [[unroll]] for (int l = 0; l < STEPS; ++l) {
            bool inside = y - l > 0 && y - l < SIDE;
            int from = 5 + l - STEPS, to = WIDE + 3 - l + STEPS;
            float side[WIDE + 9], down[WIDE + 8], done[WIDE + 8];
            [[unroll]] for (int c = 0; c < WIDE + 9; ++c)
                if (c >= from && c <= to) side[c] = flow(row[c] - row[c - 1]);
            side[4] = x == 0 ? 0.0 : side[4];
            side[WIDE + 4] = x == (SIDE - WIDE) / 4 ? 0.0 : side[WIDE + 4];
            [[unroll]] for (int c = 0; c < WIDE + 8; ++c)
                if (c >= from && c < to) {
                    down[c] = inside ? flow(row[c] - last[l][c]) : 0.0;
                    done[c] = part[l][c] + down[c];
                    part[l][c] = row[c] - down[c] + (side[c + 1] - side[c]);
                    last[l][c] = row[c];
                }
            [[unroll]] for (int c = 0; c < WIDE + 8; ++c)
                if (c >= from && c < to) row[c] = done[c];
        }
        if (y - STEPS >= top)
            [[unroll]] for (int q = 0; q < WIDE / 4; ++q) {
                vec4 four = vec4(row[4 * q + 4], row[4 * q + 5], row[4 * q + 6], row[4 * q + 7]);
                if (LAST != 0) four *= 1.0 / SCALE;
                next[(y - STEPS) * (SIDE / 4) + x + q] = four;
            }
    }
}
)";

std::string perona_constants() {
    const double scale = std::sqrt(1.4426950408889634) / double(kPeronaEdge);
    const double rate = std::pow(double(kPeronaRate), 1.0 / 16);
    constexpr std::array<double, 4> kCubic{0.9999969896583716, -0.6929837816413298 / 16,
                                           0.2382235319338275 / 256, -0.0476086800980031 / 4096};
    std::string out = "const float SCALE = " + std::to_string(scale) + ";\n";
    for (size_t k = 0; k < kCubic.size(); ++k) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "const float C%zu = %.9e;\n", k, kCubic[k] * rate);
        out += text.data();
    }
    return out;
}

HandProgram best_perona() {
    constexpr int kWide = 16, kRows = 128, kGroup = 32;
    constexpr std::array<int, 3> kAtOnce{4, 3, 3};
    static_assert(kAtOnce[0] + kAtOnce[1] + kAtOnce[2] == kPeronaSteps);
    constexpr int kIn = 0, kOut = 1, kOther = 2;
    constexpr std::array<int, 4> kWay{kIn, kOther, kOther + 1, kOut};
    HandProgram out;
    out.temporaries = {kPeronaPixels, kPeronaPixels};
    for (size_t k = 0; k < 3; ++k)
        out.kernels.push_back(
            {"perona_malik",
             perona_constants() + kBestPeronaFlow + kBestPerona,
             {kGroup, 1, 1},
             {kPeronaSide / kWide / kGroup, kPeronaSide / kRows, 1},
             {{"u", As::Texels4, kWay[k]}, {"next", As::Vec4s, kWay[k + 1], true}},
             {{"SIDE", kPeronaSide},
              {"FIRST", k == 0},
              {"LAST", k == 2},
              {"STEPS", kAtOnce[k]},
              {"ROWS", kRows},
              {"WIDE", kWide}}});
    return out;
}

Contest perona(Tensor (*program)(Tensor, Tensor, Tensor)) {
    auto f = compile(program, {f32("h", "w"), f32(), f32()});
    Plane picture = hills(kPeronaSide, kPeronaSide, 7);
    const std::vector<float> noise = numbers(kPeronaPixels, -0.1f, 0.1f);
    for (size_t k = 0; k < noise.size(); ++k)
        picture.values[k] = 0.25f * std::round(2 * picture.values[k]) + noise[k];
    // Operations per pixel and step: the flow to the right and the flow down, 4 each (a difference,
    // its square, an exponential, a product), and four sums; edge and rate may be part of other
    // operations.
    return {
        .least = {4.0 * kPeronaPixels, 4.0 * kPeronaPixels, 12.0 * kPeronaSteps * kPeronaPixels},
        .arguments = {picture.values},
        .results = {kPeronaPixels},
        .firn =
            [f, u = tensor(picture.values, {kPeronaSide, kPeronaSide})] {
                return std::vector<Tensor>{f(u, kPeronaEdge, kPeronaRate)};
            },
        .best = best_perona(),
        .plain = plain_perona(),
        .tolerance = 1e-4,
        .expected = [picture] { return host_perona_malik(picture); }};
}

}  // namespace

void add_perona_malik(std::vector<Case>& cases) {
    constexpr const char* kFar = "an exponential is one operation of the bound, and takes eight";
    cases.push_back({"perona_malik", [] { return perona(perona_malik); }, Section::Training, kFar});
    cases.push_back({"perona_malik_kernel", [] { return perona(perona_malik_kernel); },
                     Section::Training, kFar});
}

}  // namespace firn::bench
