// A filter of pictures in the frequency domain, by the library's transforms and by one's own.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/ported/ported.h"

namespace firn::bench {
namespace {

constexpr int kLevels = 10, kSide = 1 << kLevels, kChannels = 3;
constexpr int64_t kCount = int64_t(kSide) * kSide * kChannels;

Tensor filtered(Tensor x, Tensor filter) {
    Complex spectrum = fftn({x, zeros(x.shape())}, {0, 1});
    return ifftn({spectrum.re * filter, spectrum.im * filter}, {0, 1}).re;
}

/// Element p along axis 0 or 1, the other indices as they are.
Access along(Tensor& x, int axis, const Tensor& p, const Tensor& i, const Tensor& j,
             const Tensor& k) {
    return axis == 0 ? x(p, j, k) : x(i, p, k);
}

/// After Cooley and Tukey, in place: the bits of indices reversed, then a stage for each of them.
Complex transformed(Complex x, int axis, float sign) {
    Shape halves = x.re.shape();
    halves[size_t(axis)] = floor_div(halves[size_t(axis)], 2);
    {
        auto [i, j, k] = indices<3>(x.re.shape());
        Tensor place = axis == 0 ? i : j, reversed = zeros(x.re.shape(), i32);
        for (int bit = 0; bit < kLevels; ++bit)
            reversed = reversed | (((place >> bit) & 1) << (kLevels - 1 - bit));
        x = {along(x.re, axis, reversed, i, j, k), along(x.im, axis, reversed, i, j, k)};
    }
    auto [i, j, k] = indices<3>(halves);
    Tensor pair = axis == 0 ? i : j;
    for (Tensor level : loop(kLevels)) {
        Tensor half = 1 << level, offset = pair % half;
        Tensor low = pair / half * (2 * half) + offset, high = low + half;
        Tensor angle = sign * float(M_PI) * cast<float>(offset) / cast<float>(half);
        Tensor c = cos(angle), s = sin(angle);
        Tensor low_re = along(x.re, axis, low, i, j, k), low_im = along(x.im, axis, low, i, j, k),
               high_re = along(x.re, axis, high, i, j, k),
               high_im = along(x.im, axis, high, i, j, k);
        Tensor re = high_re * c - high_im * s, im = high_re * s + high_im * c;
        along(x.re, axis, low, i, j, k) = low_re + re;
        along(x.im, axis, low, i, j, k) = low_im + im;
        along(x.re, axis, high, i, j, k) = low_re - re;
        along(x.im, axis, high, i, j, k) = low_im - im;
    }
    return x;
}

Tensor filtered_by_hand(Tensor x, Tensor filter) {
    Complex spectrum = transformed(transformed({x, zeros(x.shape())}, 0, -1), 1, -1);
    spectrum = {spectrum.re * filter, spectrum.im * filter};
    return transformed(transformed(spectrum, 0, 1), 1, 1).re / (float(kSide) * float(kSide));
}

/// The filter that gives the mean of an element's diagonal neighbours, around the edges.
Contest filter(Tensor (*f)(Tensor, Tensor)) {
    const std::vector<float> x = numbers(kCount, 0, 1);
    std::vector<float> waves;
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j)
            for (int k = 0; k < kChannels; ++k)
                waves.push_back(
                    float(std::cos(2 * M_PI * i / kSide) * std::cos(2 * M_PI * j / kSide)));
    auto run = compile(f, {f32("h", "w", "c"), f32("h", "w", "c")});
    const auto means = [x] {
        std::vector<float> out;
        const auto at = [&](int i, int j, int k) {
            return x[size_t(((i + kSide) % kSide * kSide + (j + kSide) % kSide) * kChannels + k)];
        };
        for (int i = 0; i < kSide; ++i)
            for (int j = 0; j < kSide; ++j)
                for (int k = 0; k < kChannels; ++k)
                    out.push_back(0.25f * (at(i - 1, j - 1, k) + at(i - 1, j + 1, k) +
                                           at(i + 1, j - 1, k) + at(i + 1, j + 1, k)));
        return std::vector<std::vector<float>>{out};
    };
    // Two transforms of real pictures, each half of 5 n log2 n.
    return {.least = {8.0 * kCount, 4.0 * kCount, 2 * 2.5 * 2 * kLevels * kCount},
            .arguments = {},
            .results = {kCount},
            .firn =
                [run, picture = tensor(x, {kSide, kSide, kChannels}),
                 of = tensor(waves, {kSide, kSide, kChannels})] {
                    return std::vector<Tensor>{run(picture, of)};
                },
            .best = {},
            .plain = {},
            .expected = means};
}

}  // namespace

void add_ported_spectra(std::vector<Case>& cases) {
    cases.push_back({"fft_filter", [] { return filter(filtered); }, Section::Ported});
    cases.push_back({"fft_by_hand", [] { return filter(filtered_by_hand); }, Section::Ported});
}

}  // namespace firn::bench
