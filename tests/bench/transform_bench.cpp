// A Fourier transform of 2^20 complex numbers.
#include <firn/firn.h>

#include <bit>
#include <complex>
#include <numbers>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int64_t kTransformed = 1 << 20;

/// The transform by the host in f64, of radix 2: real parts, then imaginary ones.
std::vector<std::vector<float>> expected_transform(const std::vector<float>& re,
                                                   const std::vector<float>& im) {
    const size_t count = re.size();
    const int digits = std::countr_zero(count);
    std::vector<std::complex<double>> values(count), roots;
    for (size_t k = 0; k < count; ++k) {
        size_t reversed = 0;
        for (int digit = 0; digit < digits; ++digit)
            reversed |= (k >> digit & 1) << (digits - 1 - digit);
        values[reversed] = {double(re[k]), double(im[k])};
    }
    for (size_t k = 0; k < count / 2; ++k)
        roots.push_back(std::polar(1.0, -2 * std::numbers::pi * double(k) / double(count)));
    for (size_t half = 1; half < count; half *= 2)
        for (size_t begin = 0; begin < count; begin += 2 * half)
            for (size_t k = 0; k < half; ++k) {
                const auto even = values[begin + k],
                           odd = values[begin + k + half] * roots[k * (count / 2 / half)];
                values[begin + k] = even + odd;
                values[begin + k + half] = even - odd;
            }
    std::vector<std::vector<float>> out(2);
    for (const auto& value : values) {
        out[0].push_back(float(value.real()));
        out[1].push_back(float(value.imag()));
    }
    return out;
}

Contest transform() {
    const std::vector<float> re = numbers(kTransformed, -1.0f, 1.0f, 1),
                             im = numbers(kTransformed, -1.0f, 1.0f, 2);
    auto f = compile(
        [](Tensor re, Tensor im) {
            const Complex out = fft({re, im});
            return std::tuple{out.re, out.im};
        },
        {f32(kTransformed), f32(kTransformed)});
    constexpr double kElements = double(kTransformed);
    return {.least = {8.0 * kElements, 8.0 * kElements,
                      5.0 * kElements * std::countr_zero(uint64_t{kTransformed})},
            .arguments = {re, im},
            .results = {kTransformed, kTransformed},
            .firn =
                [f, x = tensor(re), y = tensor(im)] {
                    auto [out_re, out_im] = f(x, y);
                    return std::vector<Tensor>{out_re, out_im};
                },
            .best = {},
            .plain = {},
            .libraries = [] { return transform_libraries(kTransformed); },
            .tolerance = 1e-5,
            .expected = [=] { return expected_transform(re, im); }};
}

}  // namespace

void add_transforms(std::vector<Case>& cases) {
    cases.push_back({"fft_1M", transform, Section::Own,
                     "every pass reads and writes all numbers, which no cache holds"});
}

}  // namespace firn::bench
