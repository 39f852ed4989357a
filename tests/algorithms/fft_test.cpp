// Transforms against the sum that defines them.
#include <complex>
#include <numbers>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

using Numbers = std::vector<std::complex<double>>;

Numbers random_numbers(size_t count, uint32_t seed) {
    Floats re = random_floats(count, seed), im = random_floats(count, seed + 100);
    Numbers out;
    for (size_t k = 0; k < count; ++k) out.emplace_back(re[k], im[k]);
    return out;
}

Floats real(const Numbers& x) {
    Floats out;
    for (const auto& each : x) out.push_back(static_cast<float>(each.real()));
    return out;
}
Floats imaginary(const Numbers& x) {
    Floats out;
    for (const auto& each : x) out.push_back(static_cast<float>(each.imag()));
    return out;
}

/// Along the middle one of three axes.
Numbers transformed(const Numbers& x, size_t outer, size_t n, size_t inner) {
    Numbers out(x.size());
    for (size_t a = 0; a < outer; ++a)
        for (size_t b = 0; b < inner; ++b)
            for (size_t k = 0; k < n; ++k)
                for (size_t j = 0; j < n; ++j)
                    out[(a * n + k) * inner + b] +=
                        x[(a * n + j) * inner + b] *
                        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                            static_cast<double>(n));
    return out;
}

Complex tensors(const Numbers& x, const Shape& shape) {
    return {tensor(real(x), shape), tensor(imaginary(x), shape)};
}

class Fft : public ::testing::TestWithParam<int> {};

TEST_P(Fft, IsTheSum) {
    size_t n = static_cast<size_t>(GetParam());
    Numbers x = random_numbers(2 * n, 1), expected = transformed(x, 2, n, 1);
    Shape shape{2, GetParam()};
    expect_values([&] { return fft(tensors(x, shape)).re; }, real(expected), 2e-5);
    expect_values([&] { return fft(tensors(x, shape)).im; }, imaginary(expected), 2e-5);
}

TEST_P(Fft, GoesBack) {
    Numbers x = random_numbers(static_cast<size_t>(GetParam()), 2);
    expect_values([&] { return ifft(fft(tensors(x, {GetParam()}))).im; }, imaginary(x), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Fft, ::testing::Values(1, 2, 5, 16, 17, 32, 64, 100, 128));

TEST(Ffts, OfASymbolicSize) {
    Numbers x = random_numbers(24, 3);
    expect_values(
        [&] {
            auto f = compile(
                [](Tensor re, Tensor im) {
                    return fft(Complex{re, im}).im;
                },
                {f32("n"), f32("n")});
            Complex both = tensors(x, {24});
            return f(both.re, both.im);
        },
        imaginary(transformed(x, 1, 24, 1)), 2e-5);
}

TEST(Ffts, TheSizeOfACallChoosesTheWay) {
    for (bool exact : {false, true}) {
        SessionScope scope(Session::interpreter());
        current_session().specialise(exact);
        auto f = compile([](Tensor x) { return fft(x).re; }, {f32("n")});
        const auto operations = [&](int n) {
            const Numbers x = random_numbers(static_cast<size_t>(n), 5);
            std::vector<float> real;
            Numbers alone;
            for (const auto& each : x)
                real.push_back(static_cast<float>(each.real())), alone.push_back(real.back());
            const Numbers expected = transformed(alone, 1, static_cast<size_t>(n), 1);
            for (int call = 0; call < 2; ++call) {
                const auto got = f(tensor(real)).to_vector<float>();
                for (size_t k = 0; k < got.size(); ++k)
                    EXPECT_NEAR(got[k], expected[k].real(), 1e-3) << n << " " << k;
            }
            return f.stats().operations;
        };
        const int64_t of_a_power = operations(512), of_another = operations(511);
        // 610,048 and 836,326 where the program knows no size.
        EXPECT_LT(5 * of_a_power, 4 * of_another) << exact;
        for (int n : {1, 2, 3}) operations(n);
    }
}

TEST(Ffts, OfDoublesIsExactToDoubles) {
    for (size_t n : {size_t{16}, size_t{64}, size_t{50}}) {
        Numbers x = random_numbers(n, 8), expected = transformed(x, 1, n, 1);
        std::vector<double> re;
        for (const auto& each : expected) re.push_back(each.real());
        expect_values(
            [&] {
                Complex numbers = tensors(x, {n});
                return fft(Complex{numbers.re.as(f64), numbers.im.as(f64)}).re;
            },
            re, 1e-13);
    }
}

TEST(Ffts, AlongAnyAxis) {
    Numbers x = random_numbers(32 * 3, 4);
    expect_values(
        [&] {
            return fft(tensors(x, {32, 3}), {.axis = 0}).re;
        },
        real(transformed(x, 1, 32, 3)), 2e-5);
}

TEST(Ffts, InTwoDimensions) {
    Numbers x = random_numbers(32 * 20, 5),
            expected = transformed(transformed(x, 32, 20, 1), 1, 32, 20);
    expect_values([&] { return fftn(tensors(x, {32, 20})).im; }, imaginary(expected), 1e-4);
}

TEST(Ffts, InThreeDimensions) {
    Numbers x = random_numbers(4 * 32 * 3, 6);
    Numbers expected = transformed(transformed(transformed(x, 128, 3, 1), 4, 32, 3), 1, 4, 96);
    expect_values([&] { return fftn(tensors(x, {4, 32, 3})).re; }, real(expected), 1e-4);
    expect_values([&] { return ifftn(fftn(tensors(x, {4, 32, 3}))).re; }, real(x), 1e-5);
}

TEST(Ffts, OfARealTensorIsSymmetric) {
    Floats x = random_floats(32, 7);
    Numbers numbers(x.begin(), x.end());
    expect_values([&] { return fft(tensor(x)).im; }, imaginary(transformed(numbers, 1, 32, 1)),
                  2e-5);
}

TEST(Ffts, OneKernelRunsForEveryPass) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor re, Tensor im) {
            Complex out = fft(Complex{re, im});
            return std::pair{out.re, out.im};
        },
        {f32(1024), f32(1024)});
    f(ones({1024}), zeros({1024}));
    // A pass of radix 4 and two of 16, between those that pack the parts and give them back.
    EXPECT_LE(f.program()->kernels.size(), 4u);
    EXPECT_LE(f.stats().dispatches, 3 + 2);
}

TEST(Ffts, PartsOfTwoShapesAreAnError) {
    expect_message(error_of([] {
                       fft(Complex{zeros({3}), zeros({4})});
                   }),
                   {"fft", "[3]", "[4]", "fft_test.cpp:"});
}

TEST(Ffts, ALongSizeThatIsNoPowerOfTwoIsAnError) {
    expect_message(error_of([] { fft(zeros({5000000})); }), {"5000000", "pad", "fft_test.cpp:"});
}

}  // namespace
}  // namespace firn
