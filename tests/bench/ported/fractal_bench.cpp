// The Buddhabrot: where orbits go that leave, counted in three layers by how long they are.
#include <firn/firn.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/ported/ported.h"
#include "tests/bench/strangers/strangers.h"

namespace firn::bench {
namespace {

using Floats = std::vector<float>;

constexpr int kSide = 512, kLongest = 1000, kSamples = 2;
constexpr int kShort = kLongest / 50, kMiddle = kLongest / 10;
constexpr int64_t kPixels = int64_t(kSide) * kSide;

/// A turn of the orbit, which ends where it leaves.
void turn_of(Tensor& x, Tensor& y, const Tensor& cx, const Tensor& cy) {
    Tensor next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    if_(x * x + y * y > 4.0f, [&] { break_(); });
}

/// The next frame [h, w, 3], which keeps something of the one before. Orbits begin at random places
/// with random constants, one for each pixel and sample.
Tensor next_frame(Tensor before, Tensor frame, Tensor time) {
    Tensor hits = zeros({kSide, kSide, 3}, i32);
    auto [i, j] = indices<2>({kSide, kSide});
    Tensor seed = cast<uint32_t>(i + j * kSide + frame * kSide * kSide);
    Tensor x = cast<float>(i), y = cast<float>(j);
    for (Tensor sample : loop(kSamples)) {
        seed = pcg(seed);
        auto place = [&](const Tensor& pixel, uint32_t number) {
            return 3.0f * (pixel + 2.0f * pcgf(seed + number)) / float(kSide) - 1.5f;
        };
        Tensor cx = place(x, 0), cy = place(y, 5), from_x = place(x, 25), from_y = place(y, 388);
        Tensor at_x = from_x, at_y = from_y, length = zeros({kSide, kSide}, i32);
        for (Tensor turn : loop(kLongest)) {
            turn_of(at_x, at_y, cx, cy);
            length += 1;
        }
        if_(length >= kLongest, [&] { continue_(); });
        at_x = from_x, at_y = from_y;
        for (Tensor turn : loop(kLongest)) {
            turn_of(at_x, at_y, cx, cy);
            Tensor c = cos(0.3f * time), s = sin(0.3f * time);
            Tensor across = (c * at_x + s * cx) / 3.0f + 0.6f,
                   down = (c * at_y + s * cy) / 3.0f + 0.5f;
            if_((across < 0.0f) | (across > 1.0f) | (down < 0.0f) | (down > 1.0f),
                [&] { continue_(); });
            Tensor column = cast<int>(across * float(kSide)), row = cast<int>(down * float(kSide));
            Tensor layer = select(length < kShort, 2, select(length < kMiddle, 1, 0));
            scatter_add(hits(kSide - 1 - row, column, layer), 1);
            scatter_add(hits(row, column, layer), 1);
        }
    }
    std::vector<Tensor> channels;
    constexpr float bend[] = {0.9f, 0.65f, 0.5f};
    Tensor sum = 0.0f;
    for (int k = 2; k >= 0; --k) {
        sum += cast<float>(hits(i, j, k));
        Tensor light = 2.5f * pow(sum * 12.0f / float(kLongest * kSamples), bend[k]);
        channels.insert(channels.begin(),
                        0.4f * smoothstep(0.0f, 1.0f, light) + 0.6f * before(i, j, k));
    }
    return stack(channels, {.axis = 2});
}

struct HostFrame {
    Floats picture;
    double turns = 0, marks = 0;
};

HostFrame host_frame(const Floats& before, int frame, float time) {
    HostFrame out;
    std::vector<int> hits(size_t(kPixels * 3));
    const float c = std::cos(0.3f * time), s = std::sin(0.3f * time);
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j) {
            uint32_t seed = uint32_t(i + j * kSide + frame * kSide * kSide);
            for (int sample = 0; sample < kSamples; ++sample) {
                seed = host_pcg(seed);
                auto place = [&](int pixel, uint32_t number) {
                    return 3 * (float(pixel) + 2 * host_pcgf(seed + number)) / kSide - 1.5f;
                };
                const float cx = place(i, 0), cy = place(j, 5), from_x = place(i, 25),
                            from_y = place(j, 388);
                float x = from_x, y = from_y;
                auto leaves = [&] {
                    const float next = x * x - y * y + cx;
                    y = 2 * x * y + cy;
                    x = next;
                    ++out.turns;
                    return x * x + y * y > 4;
                };
                int length = 0;
                while (length < kLongest && !leaves()) ++length;
                if (length >= kLongest) continue;
                const int layer = length < kShort ? 2 : length < kMiddle ? 1 : 0;
                x = from_x, y = from_y;
                while (!leaves()) {
                    const float across = (c * x + s * cx) / 3 + 0.6f,
                                down = (c * y + s * cy) / 3 + 0.5f;
                    if (across < 0 || across > 1 || down < 0 || down > 1) continue;
                    const int column = int(across * kSide), row = int(down * kSide);
                    for (int at : {kSide - 1 - row, row})
                        if (at >= 0 && at < kSide && column < kSide)
                            ++hits[size_t((at * kSide + column) * 3 + layer)], ++out.marks;
                }
            }
        }
    constexpr float bend[] = {0.9f, 0.65f, 0.5f};
    for (size_t k = 0; k < size_t(kPixels); ++k)
        for (size_t channel = 0; channel < 3; ++channel) {
            float sum = 0;
            for (size_t l = channel; l < 3; ++l) sum += float(hits[3 * k + l]);
            const float light = 2.5f * std::pow(sum * 12 / (kLongest * kSamples), bend[channel]);
            const float t = std::clamp(light, 0.0f, 1.0f);
            out.picture.push_back(0.4f * t * t * (3 - 2 * t) + 0.6f * before[3 * k + channel]);
        }
    return out;
}

/// The mean distance over the mean: long orbits are chaotic, so that a rounding moves their marks.
double mean_difference(const Floats& a, const Floats& b) {
    double apart = 0, all = 1e-30;
    for (size_t k = 0; k < a.size(); ++k) apart += std::abs(a[k] - b[k]), all += std::abs(b[k]);
    return apart / all;
}

Contest buddhabrot() {
    auto f = compile(next_frame, {f32(kSide, kSide, 3), i32(), f32()});
    constexpr int kFrame = 3;
    constexpr float kTime = 0.7f;
    const Floats before = numbers(3 * kPixels, 0, 0.1f);
    const HostFrame expected = host_frame(before, kFrame, kTime);
    // A turn is 10 with its comparison, a place in the picture 8 and two marks; of a pixel 60.
    return {.least = {12.0 * kPixels, 12.0 * kPixels,
                      10 * expected.turns + 5 * expected.marks + 60.0 * kPixels},
            .arguments = {},
            .results = {3 * kPixels},
            .firn =
                [f, x = tensor(before, {kSide, kSide, 3})] {
                    return std::vector<Tensor>{f(x, kFrame, kTime)};
                },
            .best = {},
            .plain = {},
            .tolerance = 0.02,
            .difference = mean_difference,
            .expected = [picture = expected.picture] { return std::vector<Floats>{picture}; }};
}

}  // namespace

void add_ported_fractals(std::vector<Case>& cases) {
    cases.push_back({"buddhabrot", buddhabrot, Section::Ported});
}

}  // namespace firn::bench
