// Elementwise functions against numpy, and against long doubles near 0 and far away.
#include <algorithm>
#include <cmath>

#include "compiler/algorithms/colour.h"
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using NumpyElementwise = ::testing::TestWithParam<NumpyRow>;
TEST_P(NumpyElementwise, Agrees) { expect_numpy(GetParam()); }

using In = const Tensors&;
Tensors asinh_of(In in) { return {asinh(in[0])}; }
Tensors acosh_of(In in) { return {acosh(in[0])}; }
Tensors atanh_of(In in) { return {atanh(in[0])}; }
Tensors cbrt_of(In in) { return {cbrt(in[0])}; }
Tensors radians_of(In in) { return {deg2rad(in[0])}; }
Tensors degrees_of(In in) { return {rad2deg(in[0])}; }
Tensors numbers_of(In in) { return {nan_to_num(in[0])}; }

const NumpyRow kFunctions[] = {
    {"arcsinh", asinh_of, 1e-6},
    {"arcsinh_f16", asinh_of, 1e-3},
    {"arcsinh_ints", asinh_of, 1e-6},
    {"arccosh", acosh_of, 1e-6},
    {"arccosh_f16", acosh_of, 1e-3},
    {"arccosh_ints", acosh_of, 1e-6},
    {"arctanh", atanh_of, 1e-6},
    {"arctanh_f16", atanh_of, 1e-3},
    {"arctanh_ints", atanh_of, 1e-6},
    {"cbrt", cbrt_of, 1e-6},
    {"cbrt_f16", cbrt_of, 1e-3},
    {"cbrt_ints", cbrt_of, 1e-6},
    {"deg2rad", radians_of, 1e-6},
    {"deg2rad_f16", radians_of, 1e-3},
    {"deg2rad_ints", radians_of, 1e-6},
    {"deg2rad_f64", radians_of, 1e-14},
    {"rad2deg", degrees_of, 1e-6},
    {"rad2deg_f16", degrees_of, 1e-3},
    {"rad2deg_ints", degrees_of, 1e-6},
    {"sinc", [](In in) { return Tensors{sinc(in[0])}; }, 1e-6},
    {"nan_to_num", numbers_of},
    {"nan_to_num_given",
     [](In in) { return Tensors{nan_to_num(in[0], {.nan = 7, .posinf = 8, .neginf = -9})}; }},
    {"nan_to_num_f16", numbers_of},
    {"nan_to_num_f64", numbers_of},
    {"nan_to_num_ints", numbers_of},
    {"heaviside", [](In in) { return Tensors{heaviside(in[0], in[1])}; }},
    {"heaviside_ints", [](In in) { return Tensors{heaviside(in[0], 3)}; }},
    {"copysign", [](In in) { return Tensors{copysign(in[0], in[1])}; }},
    {"copysign_of_zero", [](In in) { return Tensors{1.0f / copysign(0.0f, in[1])}; }},
    {"fmod", [](In in) { return Tensors{fmod(in[0], in[1])}; }, 1e-6},
    {"fmod_ints", [](In in) { return Tensors{fmod(in[0], in[1])}; }},
};
INSTANTIATE_TEST_SUITE_P(Functions, NumpyElementwise, ::testing::ValuesIn(kFunctions), name_of_row);

/// Relative to the result, f is within `tolerance` of the long double's for numbers of all
/// magnitudes from `least` to `most`, and their negatives where `negative`.
template <class F>
void expect_digits(const F& f, long double (*exact)(long double), float least, float most,
                   bool negative, double tolerance) {
    Floats x;
    for (float each = least; each < most; each *= 1.37f) {
        x.push_back(each);
        if (negative) x.push_back(-each);
    }
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        const Floats got = f(tensor(x)).template to_vector<float>();
        for (size_t k = 0; k < x.size(); ++k) {
            const auto expected = static_cast<double>(exact(static_cast<long double>(x[k])));
            ASSERT_NEAR(got[k], expected, tolerance * std::abs(expected)) << "of " << x[k];
        }
    }
}

TEST(Elementwise, KeepTheirDigitsAtAllMagnitudes) {
    expect_digits([](Tensor x) { return asinh(x); }, std::asinh, 1e-30f, 1e38f, true, 5e-7);
    expect_digits([](Tensor x) { return acosh(x + 1.0f); },
                  [](long double x) { return std::acosh((long double)((float)x + 1.0f)); }, 1e-6f,
                  1e38f, false, 5e-7);
    expect_digits([](Tensor x) { return atanh(x); }, std::atanh, 1e-30f, 0.99f, true, 5e-7);
    expect_digits([](Tensor x) { return cbrt(x); }, std::cbrt, 1e-36f, 3e38f, true, 3e-7);
    expect_digits([](Tensor x) { return deg2rad(x); },
                  [](long double x) { return x * 3.14159265358979323846L / 180; }, 1e-30f, 1e38f,
                  true, 2e-7);
    expect_digits([](Tensor x) { return sinc(x * 0.9f + 0.01f); },
                  [](long double x) {
                      const long double t = 3.14159265358979323846L * ((float)x * 0.9f + 0.01f);
                      return std::sin(t) / t;
                  },
                  1e-6f, 0.9f, false, 5e-7);
    // Functions that the language had before.
    expect_digits([](Tensor x) { return log1p(x); }, std::log1p, 1e-30f, 1e38f, false, 5e-7);
    expect_digits([](Tensor x) { return expm1(x); }, std::expm1, 1e-30f, 80.0f, true, 5e-7);
}

/// Elements of f64 within 1e-14 of the long double's, relative to it.
template <class F>
void expect_wide_digits(const F& f, long double (*exact)(long double), double least, double most) {
    std::vector<double> x;
    for (double each = least; each < most; each *= 1.37) x.push_back(each);
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        const std::vector<double> got = f(tensor(x)).template to_vector<double>();
        for (size_t k = 0; k < x.size(); ++k) {
            const long double expected = exact(x[k]);
            ASSERT_LE(std::abs(got[k] - expected), 1e-14L * std::abs(expected)) << "of " << x[k];
        }
    }
}

TEST(Elementwise, KeepTheDigitsOfF64) {
    expect_wide_digits([](Tensor x) { return asinh(x); }, std::asinh, 1e-300, 1e300);
    expect_wide_digits([](Tensor x) { return acosh(x); }, std::acosh, 1.1, 1e300);
    expect_wide_digits([](Tensor x) { return atanh(x); }, std::atanh, 1e-300, 0.99);
    expect_wide_digits([](Tensor x) { return cbrt(x); }, std::cbrt, 1e-300, 1e300);
    expect_wide_digits([](Tensor x) { return log10(x); }, std::log10, 1.1, 1e300);
    expect_wide_digits([](Tensor x) { return sigmoid(x); },
                       [](long double x) { return 1 / (1 + std::exp(-x)); }, 1e-3, 700);
    expect_wide_digits([](Tensor x) { return hypot(x, 3.0); },
                       [](long double x) { return std::hypot(x, 3.0L); }, 1e-300, 1e300);
    expect_wide_digits([](Tensor x) { return logaddexp(x, 1.0); },
                       [](long double x) { return std::log(std::exp(x) + std::exp(1.0L)); }, 1e-3,
                       1e3);
    expect_wide_digits([](Tensor x) { return srgb_to_linear(x); },
                       [](long double x) { return std::pow((x + 0.055L) / 1.055L, 2.4L); }, 0.05,
                       1);
    expect_wide_digits([](Tensor x) { return pow(x, 2.5); },
                       [](long double x) { return std::pow(x, 2.5L); }, 1e-100, 1e100);
}

TEST(Elementwise, SincKeepsItsDigitsFarAway) {
    const Floats x{1001.25f, -3333.75f, 100000.5f, 65535.75f};
    Floats scaled;
    for (float each : x) {
        const long double t = 3.14159265358979323846L * static_cast<long double>(each);
        scaled.push_back(static_cast<float>(std::sin(t) / t * each));
    }
    expect_values([&] { return sinc(tensor(x)) * tensor(x); }, scaled, 5e-7);
}

/// Checks multiples, and numbers next to them.
TEST(Elementwise, FmodIsExactBesideMultiples) {
    Floats a = random_floats(3000, 5, -50, 50), b = random_floats(3000, 6, 0.1f, 3), expected;
    for (size_t k = 0; k < a.size(); ++k) {
        if (k < 2000) a[k] = std::round(a[k]) * b[k];
        if (k < 2000 && k % 2 == 0) a[k] = std::nextafter(a[k], 0.0f);
        expected.push_back(std::fmod(a[k], b[k]));
    }
    expect_values([&] { return fmod(tensor(a), tensor(b)); }, expected);
}

TEST(Elementwise, KeepTheSignOfZero) {
    for (Tensor (*f)(const Operand&) : {asinh, atanh, cbrt})
        expect_values([&] { return 1.0f / f(tensor({-0.0f, 0.0f})); }, Floats{-INFINITY, INFINITY});
    expect_values(
        [] {
            return 1.0f / fmod(tensor({-3.0f, 3.0f, -0.0f, 0.0f}), 1.5f);
        },
        Floats{-INFINITY, INFINITY, -INFINITY, INFINITY});
}

TEST(Elementwise, HaveGradients) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(std::vector<double>{0.3, -0.6, 0.05}),
                 h = tensor(std::vector<double>{1e-5});
    auto check = [&](Tensor (*f)(const Operand&), const Tensor& at) {
        const Floats by_rule = grad(sum(f(at)), at).to_vector<float>();
        const Tensor ahead = f(at + h), behind = f(at - h);
        expect_near(by_rule, ((ahead - behind) / (2.0f * h)).to_vector<float>(), 1e-6);
    };
    check(asinh, x), check(atanh, x), check(cbrt, x + 2.0f), check(acosh, x + 2.0f);
    check(sinc, x), check(deg2rad, x);
    expect_near(grad(sum(copysign(x, -x)), x).to_vector<float>(), Floats{-1, -1, -1}, 0);
    expect_near(grad(sum(fmod(x, 0.25f)), x).to_vector<float>(), Floats{1, 1, 1}, 0);
}

}  // namespace
}  // namespace firn
