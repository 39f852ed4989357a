// Complex tensors against the host's std::complex<long double>.
#include "compiler/algorithms/complex.h"

#include <complex>
#include <limits>

#include "tests/algorithms/agreement.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Pairs = std::vector<std::complex<float>>;
using Precise = std::complex<long double>;

/// All quarters, the axes and the edges, small and large.
Pairs quarters() {
    Pairs out;
    for (float re : {-3.5f, -1.0f, -1e-3f, 0.0f, 1e-3f, 0.7f, 2.0f, 6.0f})
        for (float im : {-5.0f, -1.0f, -1e-4f, 0.0f, 2e-3f, 0.5f, 3.0f}) out.push_back({re, im});
    return out;
}

void expect_complex(const std::vector<std::complex<float>>& got, const std::vector<Precise>& exact,
                    double tolerance) {
    ASSERT_EQ(got.size(), exact.size());
    for (size_t k = 0; k < got.size(); ++k) {
        const Precise away = Precise(got[k]) - exact[k];
        EXPECT_LE(std::abs(away), tolerance * std::max(1e-6L, std::abs(exact[k])))
            << k << ": " << got[k] << " instead of " << exact[k];
    }
}

struct ComplexFunction {
    const char* name;
    Complex (*record)(const Complex& z, SourceLine line);
    Precise (*exact)(const Precise& z);
    bool at_zero = true;
};

class ComplexFunctions : public ::testing::TestWithParam<ComplexFunction> {};

TEST_P(ComplexFunctions, AreThoseOfTheHost) {
    Pairs z;
    for (const std::complex<float>& each : quarters())
        if (GetParam().at_zero || std::abs(each) > 0) z.push_back(each);
    std::vector<Precise> exact;
    for (const std::complex<float>& each : z) exact.push_back(GetParam().exact(Precise(each)));
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        expect_complex(GetParam().record(tensor(z), here()).to_vector<std::complex<float>>(), exact,
                       2e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, ComplexFunctions,
                         ::testing::Values(ComplexFunction{"exp", exp, std::exp},
                                           ComplexFunction{"log", log, std::log, false},
                                           ComplexFunction{"sqrt", sqrt, std::sqrt},
                                           ComplexFunction{"sin", sin, std::sin},
                                           ComplexFunction{"cos", cos, std::cos},
                                           ComplexFunction{"tan", tan, std::tan},
                                           ComplexFunction{"sinh", sinh, std::sinh},
                                           ComplexFunction{"cosh", cosh, std::cosh},
                                           ComplexFunction{"tanh", tanh, std::tanh}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ComplexTensors, HaveTheOperatorsOfNumbers) {
    const Pairs a = quarters(), b(a.rbegin(), a.rend());
    using Two = Precise (*)(const Precise&, const Precise&);
    using Recorded = Complex (*)(const Complex&, const Complex&);
    const std::pair<Recorded, Two> operators[] = {
        {[](const Complex& x, const Complex& y) { return x + y; },
         [](const Precise& x, const Precise& y) { return x + y; }},
        {[](const Complex& x, const Complex& y) { return x - y; },
         [](const Precise& x, const Precise& y) { return x - y; }},
        {[](const Complex& x, const Complex& y) { return x * y; },
         [](const Precise& x, const Precise& y) { return x * y; }},
        {[](const Complex& x, const Complex& y) { return x / (y + 0.01f); },
         [](const Precise& x, const Precise& y) {
             return x / Precise(float(y.real()) + 0.01f, y.imag());
         }},
        {[](const Complex& x, const Complex& y) { return 2.0f * x - y / 4 + 1; },
         [](const Precise& x, const Precise& y) { return 2.0L * x - y / 4.0L + 1.0L; }},
        {[](const Complex& x, const Complex& y) { return 1.0f - -x * y.re; },
         [](const Precise& x, const Precise& y) { return 1.0L + x * y.real(); }},
        {[](const Complex& x, const Complex& y) {
             Complex z = x;
             z += y, z *= 0.5f, z -= x.im, z /= Complex{y.re * 0 + 1, y.im * 0 - 2};
             return z;
         },
         [](const Precise& x, const Precise& y) {
             return ((x + y) * 0.5L - x.imag()) / Precise(1, -2);
         }},
        {[](const Complex& x, const Complex& y) { return 3.0f / (x * x + y * y + 50.0f); },
         [](const Precise& x, const Precise& y) { return 3.0L / (x * x + y * y + 50.0L); }},
        {[](const Complex& x, const Complex& y) { return conj(x) * abs(y); },
         [](const Precise& x, const Precise& y) { return std::conj(x) * std::abs(y); }},
        {[](const Complex& x, const Complex&) { return from_polar(abs(x), angle(x)); },
         [](const Precise& x, const Precise&) { return x; }},
        {[](const Complex& x, const Complex& y) { return select(x.re > y.re, x, 1.5f); },
         [](const Precise& x, const Precise& y) {
             return x.real() > y.real() ? x : Precise(1.5L);
         }}};
    for (const auto& [recorded, exact] : operators) {
        std::vector<Precise> expected;
        for (size_t k = 0; k < a.size(); ++k)
            expected.push_back(exact(Precise(a[k]), Precise(b[k])));
        for (const Way& way : ways()) {
            SCOPED_TRACE(std::string(way.name) + " of operator " +
                         std::to_string(&recorded - &operators[0].first));
            SessionScope scope(way.session);
            Pairs got = recorded(tensor(a), tensor(b)).to_vector<std::complex<float>>();
            // Sums of parts that nearly cancel have the rounding of the parts.
            for (size_t k = 0; k < a.size(); ++k)
                EXPECT_LE(std::abs(Precise(got[k]) - expected[k]), 5e-5L)
                    << a[k] << " " << b[k] << ": " << got[k] << " instead of " << expected[k];
        }
    }
}

TEST(ComplexTensors, NegativesKeepTheSignOfZero) {
    SessionScope scope(Session::oracle());
    const Complex z = -tensor(Pairs{{0.0f, -0.0f}});
    EXPECT_EQ((1.0f / z.re).item<float>(), -INFINITY);
    EXPECT_EQ((1.0f / z.im).item<float>(), INFINITY);
}

TEST(ComplexTensors, AreDividedWithoutOverflow) {
    SessionScope scope(Session::oracle());
    const Complex a = tensor(Pairs{{3e30f, 4e30f}}), b = tensor(Pairs{{1e-25f, 2e-25f}});
    expect_complex((a / a).to_vector<std::complex<float>>(), {Precise(1, 0)}, 1e-6);
    expect_complex((b / b).to_vector<std::complex<float>>(), {Precise(1, 0)}, 1e-6);
    EXPECT_NEAR(abs(a).item<float>(), 5e30f, 1e25f);
}

TEST(ComplexTensors, HavePowers) {
    SessionScope scope(Session::oracle());
    const Complex z = tensor(Pairs{{0, 0}, {0, 0}, {-1, 0}, {2, 1}, {-1.5f, -2}});
    const Pairs square = pow(z, 2).to_vector<std::complex<float>>();
    expect_complex(square, {0, 0, 1, Precise(3, 4), Precise(-1.75L, 6)}, 2e-6);
    expect_complex(pow(z, 0.0f).to_vector<std::complex<float>>(), {1, 1, 1, 1, 1}, 0);
    const Complex y{tensor({0.0f, 1.0f, 0.5f, 1.0f, -1.0f}),
                    tensor({0.0f, 3.0f, 0.0f, 1.0f, 0.5f})};
    expect_complex(pow(z, y).to_vector<std::complex<float>>(),
                   {1, 0, Precise(0, 1), std::pow(Precise(2, 1), Precise(1, 1)),
                    std::pow(Precise(-1.5L, -2), Precise(-1, 0.5L))},
                   2e-6);
}

TEST(ComplexTensors, KeepTheirTypeBesideNumbers) {
    SessionScope scope(Session::oracle());
    for (DType type : {f16, f32, f64}) {
        const Complex z{ones({2}, type), zeros({2}, type)};
        for (const Complex& each : {z * 2.0, 0.5 + z, 1 / z, exp(z), pow(z, 3), sqrt(z), tanh(z)}) {
            EXPECT_EQ(each.re.dtype(), type);
            EXPECT_EQ(each.im.dtype(), type);
        }
    }
}

TEST(ComplexTensors, AreReadByIndexAndCarriedByLoops) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        const Complex c = tensor(Pairs{{0.1f, 0.2f}, {-0.5f, 0.3f}, {0.2f, -0.4f}});
        EXPECT_EQ(c(1).to_vector<std::complex<float>>()[0], (std::complex<float>(-0.5f, 0.3f)));
        Complex z{zeros({3}), zeros({3})};
        for (Tensor k : loop(4)) z = z * z + c;  // Mandelbrot's iteration
        std::vector<Precise> exact;
        for (const Precise& each :
             {Precise(0.1f, 0.2f), Precise(-0.5f, 0.3f), Precise(0.2f, -0.4f)}) {
            Precise at = 0;
            for (int k = 0; k < 4; ++k) at = at * at + each;
            exact.push_back(at);
        }
        expect_complex(z.to_vector<std::complex<float>>(), exact, 1e-5);
    }
}

TEST(ComplexTensors, HaveGradientsByTheirParts) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({0.3f}), y = tensor({-0.7f});
    const Complex z{x, y};
    const std::vector<Tensor> g = grad(sum(squared_magnitude(z * z)), {x, y});
    // |z|^4 by its parts.
    const float square = 0.3f * 0.3f + 0.7f * 0.7f;
    EXPECT_NEAR(g[0].item<float>(), 4 * square * 0.3f, 1e-5);
    EXPECT_NEAR(g[1].item<float>(), 4 * square * -0.7f, 1e-5);
}

TEST(ComplexTensors, ErrorsNameTheLineOfTheProgram) {
    SessionScope scope(Session::oracle());
    const Complex a{zeros({3}), zeros({3})}, b{zeros({2}), zeros({2})};
    for (Complex (*f)(const Complex&, const Complex&) :
         {+[](const Complex&x, const Complex&y) { return x + y; },
          +[](const Complex&x, const Complex&y) { return x * y; },
          +[](const Complex&x, const Complex&y) { return x / y; }})
        expect_parts(user_error([&] { f(a, b); }), {"[3]", "[2]", "complex_test.cpp:"});
}

}  // namespace
}  // namespace firn
