// Eigenvalues without symmetry: they and their vectors satisfy what defines them.
#include <algorithm>
#include <complex>

#include "compiler/algorithms/linear_algebra.h"
#include "tests/algorithms/agreement.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Spectrum = std::vector<std::complex<double>>;

Spectrum sorted(Spectrum x) {
    std::sort(x.begin(), x.end(), [](const auto& a, const auto& b) {
        return std::abs(a.real() - b.real()) > 1e-3 ? a.real() < b.real() : a.imag() < b.imag();
    });
    return x;
}

/// Checks in each way of evaluation.
void expect_eigenvalues(const std::function<Tensor()>& matrix, const Spectrum& expected,
                        double tolerance) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        const Spectrum got = sorted(eig(matrix()).values.to_vector<std::complex<double>>()),
                       wanted = sorted(expected);
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t k = 0; k < got.size(); ++k)
            EXPECT_LE(std::abs(got[k] - wanted[k]), tolerance)
                << got[k] << " instead of " << wanted[k];
    }
}

/// Returns the largest of |a v - v diag(values)|, |v| - 1 and the imaginary part of the largest
/// element.
double fault(const Tensor& a, const Eig& of) {
    const Tensor re = matmul(a, of.vectors.re), im = matmul(a, of.vectors.im);
    const Complex scaled =
        of.vectors * Complex{unsqueeze(of.values.re, -2), unsqueeze(of.values.im, -2)};
    const Tensor length = sum(squared_magnitude(of.vectors), {.axis = -2});
    const Tensor size = squared_magnitude(of.vectors),
                 most = max(size, {.axis = -2, .keep_dims = true});
    const Tensor turned = select(size == most, abs(of.vectors.im), 0);
    const Tensor all_wrong = stack(
        {max(turned), max(abs(re - scaled.re)), max(abs(im - scaled.im)), max(abs(length - 1.0f))});
    return max(all_wrong).item<double>();
}

TEST(EigOf, ARotationIsAPairOnTheUnitCircle) {
    expect_eigenvalues(
        [] {
            return tensor({0.6f, -0.8f, 0.8f, 0.6f}, {2, 2});
        },
        {{0.6, 0.8}, {0.6, -0.8}}, 1e-6);
}

TEST(EigOf, ACompanionMatrixAreTheRootsOfItsPolynomial) {
    // (x - 1)(x - 2)(x - 3)(x^2 + 1)
    expect_eigenvalues(
        [] {
            return tensor(
                {6, -12, 12, -11, 6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0},
                {5, 5});
        },
        {1, 2, 3, {0, 1}, {0, -1}}, 2e-4);
}

TEST(EigOf, TrianglesAndTheSmallest) {
    expect_eigenvalues(
        [] {
            return tensor({2.0f, 5.0f, 7.0f, 0.0f, -3.0f, 1.0f, 0.0f, 0.0f, 0.5f}, {3, 3});
        },
        {2, -3, 0.5}, 1e-6);
    expect_eigenvalues([] { return full({1, 1}, -4.0f); }, {-4}, 0);
    expect_eigenvalues([] { return zeros({3, 3}); }, {0, 0, 0}, 0);
    expect_eigenvalues([] { return zeros({0, 0}); }, {}, 0);
    expect_eigenvalues([] { return tensor({0, 1, 1, 0}, {2, 2}); }, {1, -1}, 1e-6);
}

TEST(EigOf, ACycleHasTheRootsOfOne) {
    // Its own shift of the last block is 0 and would go nowhere.
    Spectrum roots;
    for (int k = 0; k < 6; ++k) roots.push_back(std::polar(1.0, 2 * M_PI * k / 6));
    expect_eigenvalues([] { return roll(eye(6), 1, {.axis = 1}); }, roots, 1e-5);
}

TEST(EigOf, VectorsAreThoseOfTheirValues) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        for (int n : {2, 3, 5, 8}) {
            const Tensor a = rand({3, n, n}, {.seed = 5}) - 0.5f;
            EXPECT_LT(fault(a, eig(a)), 2e-5 * n) << n;
        }
    }
}

TEST(EigOf, TheLargestSizeIsFound) {
    SessionScope scope(Session::interpreter());
    const Tensor a = rand({2, 16, 16}, {.seed = 5}) - 0.5f;
    EXPECT_LT(fault(a, eig(a)), 3e-4);
}

TEST(EigOf, GradientsAreThoseOfDifferences) {
    SessionScope scope(Session::interpreter());
    const auto value = [](const Tensor& a) {
        const Eig of = eig(a);
        const Tensor weight = reshape(arange(9).as(f64), {3, 3}) * 0.1;
        return sum(squared_magnitude(of.values)) + sum(of.values.re * of.values.re) +
               sum(weight * of.vectors.re * of.vectors.re) + sum((weight - 0.3) * of.vectors.im);
    };
    const Tensor a = rand({3, 3}, {.seed = 9}).as(f64) - 0.5;
    const std::vector<double> by_rule = grad(value(a), a).to_vector<double>();
    for (int k = 0; k < 9; ++k) {
        const Tensor step = reshape((arange(9) == k).as(f64) * 1e-6, {3, 3});
        const double ahead = value(a + step).item<double>(),
                     behind = value(a - step).item<double>();
        EXPECT_NEAR(by_rule[size_t(k)], (ahead - behind) / 2e-6, 1e-6) << k;
    }
}

TEST(EigOf, F64HasItsDigits) {
    SessionScope scope(Session::interpreter());
    const Tensor a = rand({2, 9, 9}, {.seed = 6}).as(f64) - 0.5;
    EXPECT_LT(fault(a, eig(a)), 1e-12);
}

TEST(EigOf, LargeAndSmallNumbersStayInRange) {
    SessionScope scope(Session::oracle());
    for (float scale : {1e-18f, 1e18f}) {
        const Tensor a = (rand({4, 4}, {.seed = 7}) - 0.5f) * scale;
        EXPECT_LT(fault(a / scale, {eig(a).values / scale, eig(a).vectors}), 1e-4) << scale;
    }
}

TEST(EigOf, NanSpreadsAndEnds) {
    SessionScope scope(Session::oracle());
    const Spectrum got =
        eig(tensor({1.0f, NAN, 2.0f, 3.0f}, {2, 2})).values.to_vector<std::complex<double>>();
    for (const auto& each : got) EXPECT_TRUE(std::isnan(each.real()));
}

TEST(EigOf, WhatIsTooLargeOrNotSquareIsRefused) {
    SessionScope scope(Session::oracle());
    expect_parts(user_error([] {
                     eig(zeros({17, 17}));
                 }),
                 {"eig", "17 by 17", "up to 16", "eigh", "eig_test.cpp:"});
    expect_parts(user_error([] { eig(zeros({2, 3})); }), {"eig", "square", "eig_test.cpp:"});
    expect_parts(
        user_error([] { compile([](Tensor a) { return eig(a).values.re; }, {f32("n", "n")}); }),
        {"eig", "n by n", "known size"});
}

}  // namespace
}  // namespace firn
