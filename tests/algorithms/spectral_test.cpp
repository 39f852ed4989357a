// Eigenvalues, singular values and exponentials: by their definitions, and by known values.
#include <cmath>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Tensor turned(const Tensor& x) { return transpose(x, -1, -2); }
Tensor symmetric(const Shape& shape, uint32_t seed) {
    const Tensor a = random_tensor(shape, seed);
    return a + turned(a);
}
/// The largest magnitude, a number.
Tensor largest(const Tensor& x) { return max(abs(x)); }
/// Expects `make()` to be 0 to within the tolerance in every way of evaluation.
template <class Make>
void expect_none(const Make& make, double tolerance) {
    expect_values([&] { return largest(make()); }, Floats{0}, tolerance);
}
void expect_gradients(const Callback<Tensor(const std::vector<Tensor>&)>& f,
                      const std::vector<Tensor>& at) {
    const GradientCheck found = check_gradients(f, at);
    EXPECT_TRUE(found) << found.where;
}

class OfASize : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, OfASize, ::testing::Values(1, 2, 3, 6, 9));

TEST_P(OfASize, EigenvectorsDiagonalise) {
    const int n = GetParam();
    expect_none(
        [&] {
            const Tensor a = symmetric({2, n, n}, 3);
            const Eigh of = eigh(a);
            return matmul(a, of.vectors) - of.vectors * unsqueeze(of.values, 1);
        },
        2e-5);
}

TEST_P(OfASize, EigenvectorsAreOrthonormal) {
    const int n = GetParam();
    expect_none(
        [&] {
            const Tensor v = eigh(symmetric({n, n}, 4)).vectors;
            return matmul(turned(v), v) - eye(n);
        },
        1e-5);
}

TEST(Eigh, OfTheSecondDifferenceIsKnown) {
    const int n = 7;
    Floats expected;
    for (int k = 1; k <= n; ++k)
        expected.push_back(float(2 - 2 * std::cos(k * 3.14159265358979 / (n + 1))));
    expect_values(
        [&] {
            const Tensor i = index({n, n}, 0), j = index({n, n}, 1);
            return eigh(select(i == j, 2.0f, select(abs(i - j) == 1, -1.0f, 0.0f))).values;
        },
        expected, 2e-6);
}

TEST(Eigh, ReadsTheLowerTriangleAlone) {
    expect_values(
        [] {
            return eigh(tensor({2.0f, NAN, 1.0f, 2.0f}, {2, 2})).values;
        },
        Floats{1, 3}, 1e-6);
}

TEST(Eigh, OfEqualValuesAndOfNothing) {
    expect_values([] { return eigh(eye(4) * 3).values; }, Floats{3, 3, 3, 3}, 1e-6);
    expect_values([] { return eigh(zeros({0, 0})).values; }, Floats{});
    expect_values([] { return eigh(zeros({3, 3})).values; }, Floats{0, 0, 0});
}

TEST(Eigh, NanSpreads) {
    expect_values(
        [] {
            return eigh(tensor({1.0f, 0.0f, 0.0f, NAN, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f}, {3, 3}))
                .values;
        },
        Floats{NAN, NAN, NAN});
}

TEST(Eigh, InF64HasItsDigits) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const Tensor a = symmetric({40, 40}, 8).as(f64);
    const Eigh of = eigh(a);
    const Tensor wrong = matmul(a, of.vectors) - of.vectors * unsqueeze(of.values, 0);
    EXPECT_LT(largest(wrong).item<double>(), 1e-12);
}

TEST(Eigh, OfASymbolicSize) {
    expect_none(
        [] {
            auto f = compile([](Tensor a) { return eigh(a).values; }, {f32("n", "n")});
            const Tensor a = symmetric({5, 5}, 9);
            return f(a) - eigh(a).values;
        },
        1e-5);
}

TEST(Eigh, HasTheGradientsOfDifferences) {
    const Tensor a = symmetric({2, 4, 4}, 5);
    expect_gradients([](const auto& xs) { return sum(exp(eigh(xs[0]).values)); }, {a});
    // The square does not depend on the vectors' signs.
    expect_gradients(
        [](const auto& xs) {
            const Tensor v = eigh(xs[0]).vectors;
            return sum(v * v * random_tensor({2, 4, 4}, 6));
        },
        {a});
}

using Sizes = std::pair<int, int>;
class Spectrum : public ::testing::TestWithParam<Sizes> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Spectrum,
                         ::testing::Values(Sizes{1, 1}, Sizes{5, 5}, Sizes{7, 4}, Sizes{3, 6},
                                           Sizes{4, 1}));

TEST_P(Spectrum, FactorsMultiplyToTheMatrix) {
    const auto [m, n] = GetParam();
    expect_none(
        [m = m, n = n] {
            const Tensor a = random_tensor({2, m, n}, 11);
            const Svd of = svd(a);
            return matmul(of.u * unsqueeze(of.s, 1), of.vt) - a;
        },
        5e-6);
}

TEST_P(Spectrum, PseudoInverseSolvesPenrosesEquations) {
    const auto [m, n] = GetParam();
    expect_none(
        [m = m, n = n] {
            const Tensor a = random_tensor({m, n}, 12), p = pinv(a);
            const Tensor ap = matmul(a, p), pa = matmul(p, a);
            return largest(matmul(ap, a) - a) + largest(matmul(pa, p) - p) +
                   largest(ap - turned(ap)) + largest(pa - turned(pa));
        },
        1e-4);
}

TEST(Svd, ColumnsAreOrthonormalEvenOfAMatrixOfZeros) {
    expect_none(
        [] {
            const Svd of = svd(concat({zeros({1, 4, 3}), ones({1, 4, 3})}, {.axis = 0}));
            return largest(matmul(turned(of.u), of.u) - eye(3)) +
                   largest(matmul(of.vt, turned(of.vt)) - eye(3));
        },
        1e-5);
}

TEST(Svd, ValuesDescendAndAreKnown) {
    expect_values([] { return svd(diag(tensor({-1.0f, 3.0f, 2.0f}))).s; }, Floats{3, 2, 1}, 1e-6);
}

TEST(Svd, OfNothing) {
    expect_values([] { return svd(zeros({2, 0})).u; }, Floats{});
    expect_values([] { return pinv(zeros({0, 3})); }, Floats{});
    expect_values([] { return matrix_rank(zeros({2, 0, 3})); }, Ints{0, 0});
}

TEST(Svd, OfLargeAndSmallElements) {
    expect_values([] { return svd(diag(tensor({3e30f, 2e30f}))).s / 1e30f; }, Floats{3, 2}, 1e-6);
    expect_values([] { return svd(diag(tensor({3e-30f, 2e-30f}))).s * 1e30f; }, Floats{3, 2}, 1e-6);
}

TEST(Svd, OfASymbolicSize) {
    expect_none(
        [] {
            auto f = compile([](Tensor a) { return svd(a).s; }, {f32("m", "n")});
            const Tensor a = random_tensor({3, 5}, 13);
            return f(a) - svd(a).s;
        },
        1e-5);
}

TEST(Svd, HasTheGradientsOfDifferences) {
    const auto f = [](const auto& xs) {
        const Tensor w = random_tensor({4, 3}, 14), z = random_tensor({3, 3}, 15);
        const Svd of = svd(xs[0]);
        return sum(of.u * of.u * w) + sum(of.s * of.s * of.s) + sum(of.vt * of.vt * z);
    };
    expect_gradients(f, {random_tensor({4, 3}, 16)});
}

TEST(Pinv, HasTheGradientsOfDifferences) {
    const auto f = [](const auto& xs) { return sum(pinv(xs[0]) * xs[1]); };
    expect_gradients(f, {random_tensor({4, 3}, 16), random_tensor({3, 4}, 17)});
    expect_gradients(f, {random_tensor({2, 3}, 18), random_tensor({3, 2}, 19)});
    // The singular values are equal.
    expect_gradients(f, {eye(3) * 2, random_tensor({3, 3}, 20)});
}

TEST(Lstsq, FitsALine) {
    expect_values(
        [] {
            const Tensor x = tensor({0.0f, 1.0f, 2.0f, 3.0f, 4.0f});
            const Tensor a = stack({x, ones({5})}, {.axis = 1});
            return lstsq(a, tensor({1.0f, 3.0f, 5.0f, 7.0f, 9.0f}));
        },
        Floats{2, 1}, 1e-5);
}

TEST(Lstsq, TakesTheShortestOfMany) {
    expect_values(
        [] {
            return lstsq(tensor({1.0f, 1.0f}, {1, 2}), tensor({4.0f}, {1, 1}));
        },
        Floats{2, 2}, 1e-6);
}

TEST(MatrixRank, CountsWhatIsNotZero) {
    expect_values(
        [] {
            const Tensor low = matmul(random_tensor({5, 2}, 21), random_tensor({2, 4}, 22));
            const Tensor full = random_tensor({5, 4}, 23);
            return matrix_rank(stack({low, full, zeros({5, 4})}));
        },
        Ints{2, 4, 0});
    expect_values(
        [] {
            return matrix_rank(diag(tensor({1.0f, 0.01f})), {.tolerance = 0.1});
        },
        Ints{1});
}

TEST(Expm, OfDiagonalsAndOfTurnsIsKnown) {
    expect_values(
        [] {
            return diagonal(expm(diag(tensor({-2.0f, 0.0f, 3.0f}))));
        },
        Floats{std::exp(-2.0f), 1, std::exp(3.0f)}, 1e-5);
    const float angle = 10;
    expect_values(
        [&] {
            return expm(tensor({0.0f, -angle, angle, 0.0f}, {2, 2}));
        },
        Floats{std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)}, 1e-4);
}

TEST(Expm, MatricesOfABatchAreScaledOnTheirOwn) {
    expect_values(
        [] {
            return expm(tensor({0.0f, 1.0f, -40.0f}, {3, 1, 1}));
        },
        Floats{1, std::exp(1.0f), 0}, 1e-6);
}

TEST(Expm, OfNothingAndOfWhatIsNotFinite) {
    expect_values([] { return expm(zeros({0, 0})); }, Floats{});
    expect_values([] { return expm(tensor({NAN}, {1, 1})); }, Floats{NAN});
    SessionScope scope(Session::oracle());
    EXPECT_EQ(expm(zeros({0, 0}, i32)).dtype(), f32);
}

TEST(Expm, HasTheGradientsOfDifferences) {
    expect_gradients(
        [](const auto& xs) {
            return sum(expm(xs[0]) * random_tensor({3, 3}, 24));
        },
        {random_tensor({3, 3}, 25)});
}

TEST(Spectral, ShapesThatDoNotFitAreErrors) {
    expect_message(error_of([] { eigh(zeros({2, 3})); }), {"eigh", "2 by 3", "square"});
    expect_message(error_of([] { svd(zeros({3})); }), {"svd", "[3]", "two axes"});
    expect_message(error_of([] { lstsq(zeros({3, 2}), zeros({4})); }), {"lstsq", "[3, 2]", "[4]"});
    expect_message(error_of([] { expm(zeros({2, 3})); }), {"expm", "2 by 3"});
}

}  // namespace
}  // namespace firn
