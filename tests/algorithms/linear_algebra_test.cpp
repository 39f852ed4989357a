// Factorisations: their factors multiply to the matrix, their solutions solve.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

Floats zeros_of(size_t count) { return Floats(count, 0.0f); }

Floats random_matrix(int batch, int n, int m) {
    return random_floats(static_cast<size_t>(batch * n * m), static_cast<uint32_t>(n * 31 + m));
}

/// Symmetric and positive definite.
Tensor definite(const Tensor& a) {
    return matmul(a, transpose(a, -1, -2)) + eye(a.size(-2)) * 0.5f;
}

TEST(Cholesky, FactorTimesItsTransposeIsTheMatrix) {
    Floats numbers = random_matrix(2, 6, 6);
    expect_values(
        [&] {
            Tensor a = definite(tensor(numbers, {2, 6, 6})), l = cholesky(a);
            return matmul(l, transpose(l, -1, -2)) - a;
        },
        zeros_of(72), 1e-5);
}

TEST(Cholesky, ReadsTheLowerTriangleAndGivesOne) {
    expect_values(
        [] {
            return cholesky(tensor({4.0f, NAN, 2.0f, 5.0f}, {2, 2}));
        },
        Floats{2, 0, 1, 2}, 1e-6);
}

TEST(Cholesky, OfAnIndefiniteMatrixIsNan) {
    expect_values(
        [] {
            return cholesky(tensor({-1.0f, 0.0f, 0.0f, 1.0f}, {2, 2}));
        },
        Floats{NAN, 0, NAN, NAN});
}

TEST(Lu, FactorsAreThePermutedMatrix) {
    Floats numbers = random_matrix(2, 5, 5);
    expect_values(
        [&] {
            Tensor a = tensor(numbers, {2, 5, 5});
            Lu factors = lu(a);
            Tensor l = tril(factors.lu, {.offset = -1}) + eye(5), u = triu(factors.lu);
            return matmul(l, u) - gather(a, unsqueeze(factors.permutation, -1), {.axis = 1});
        },
        zeros_of(50), 1e-5);
}

TEST(Lu, TakesTheLargestPivot) {
    expect_values(
        [] {
            return lu(tensor({1.0f, 2.0f, -4.0f, 1.0f}, {2, 2})).permutation;
        },
        Ints{1, 0});
}

TEST(Lu, OfASingularMatrixHasAZeroOnTheDiagonal) {
    expect_values(
        [] {
            return lu(tensor({1.0f, 2.0f, 2.0f, 4.0f}, {2, 2})).lu;
        },
        Floats{2, 4, 0.5f, 0});
    expect_values([] { return lu(zeros({2, 2})).lu; }, zeros_of(4));
}

TEST(Lu, OfNoRowsIsEmpty) {
    expect_values([] { return solve(zeros({0, 0}), zeros({0})); }, Floats{});
    expect_values([] { return determinant(zeros({0, 0})); }, Floats{1});
}

TEST(Solve, GivesWhatMultipliesToTheRightSide) {
    Floats numbers = random_matrix(2, 5, 5), right = random_matrix(2, 5, 3);
    expect_values(
        [&] {
            Tensor a = tensor(numbers, {2, 5, 5}), b = tensor(right, {2, 5, 3});
            return matmul(a, solve(a, b)) - b;
        },
        zeros_of(30), 1e-4);
}

TEST(Solve, AVectorGivesAVector) {
    expect_values(
        [] {
            return solve(tensor({2.0f, 0.0f, 0.0f, 4.0f}, {2, 2}), tensor({2.0f, 2.0f}));
        },
        Floats{1, 0.5f}, 1e-6);
}

TEST(Solve, OfASymbolicSize) {
    Floats numbers = random_matrix(1, 6, 6), right = random_matrix(1, 6, 2);
    expect_values(
        [&] {
            auto f = compile([](Tensor a, Tensor b) { return solve(a, b); },
                             {f32("n", "n"), f32("n", "k")});
            Tensor a = tensor(numbers, {6, 6}), b = tensor(right, {6, 2});
            return matmul(a, f(a, b)) - b;
        },
        zeros_of(12), 1e-4);
}

TEST(Triangular, SolvesBothTrianglesAndIgnoresTheOther) {
    auto residual = [](bool lower, bool unit) {
        return [=] {
            Tensor a = tensor(random_matrix(1, 5, 5), {5, 5}) + 2 * eye(5);
            Tensor b = tensor(random_matrix(1, 5, 2), {5, 2});
            Tensor used = lower ? tril(a) : triu(a);
            if (unit) used = select(index(a, 0) == index(a, 1), 1, used);
            return matmul(used, solve_triangular(a, b, {.lower = lower, .unit = unit})) - b;
        };
    };
    for (bool lower : {true, false})
        for (bool unit : {true, false}) expect_values(residual(lower, unit), zeros_of(10), 1e-5);
}

TEST(Inverse, TimesTheMatrixIsTheIdentity) {
    Floats numbers = random_matrix(2, 4, 4);
    expect_values(
        [&] {
            Tensor a = tensor(numbers, {2, 4, 4});
            return matmul(inverse(a), a) - eye(4);
        },
        zeros_of(32), 1e-4);
}

TEST(Determinant, HasTheSignOfThePermutation) {
    expect_values(
        [] {
            return determinant(tensor({0.0f, 2.0f, 3.0f, 4.0f}, {2, 2}));
        },
        Floats{-6}, 1e-6);
    expect_values(
        [] {
            return log_determinant(tensor({0.0f, 2.0f, 3.0f, 4.0f}, {2, 2}));
        },
        Floats{std::log(6.0f)}, 1e-6);
}

class Qr : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Qr, FactorsMultiplyToTheMatrix) {
    auto [n, m] = GetParam();
    Floats numbers = random_matrix(2, n, m);
    Shape shape{2, n, m};
    expect_values(
        [&] {
            Tensor a = tensor(numbers, shape);
            firn::Qr factors = qr(a);
            return matmul(factors.q, factors.r) - a;
        },
        zeros_of(numbers.size()), 1e-5);
}

TEST_P(Qr, ColumnsAreOrthonormal) {
    auto [n, m] = GetParam();
    Floats numbers = random_matrix(1, n, m);
    Shape shape{n, m};
    size_t k = static_cast<size_t>(std::min(n, m));
    expect_values(
        [&] {
            Tensor q = qr(tensor(numbers, shape)).q;
            return matmul(transpose(q), q) - eye(q.size(1));
        },
        zeros_of(k * k), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Qr,
                         ::testing::Values(std::pair(1, 1), std::pair(4, 4), std::pair(6, 3),
                                           std::pair(3, 5)));

TEST(QrOf, ZerosIsZeros) {
    expect_values([] { return qr(zeros({3, 2})).r; }, zeros_of(4));
}

TEST(LinearAlgebra, MatricesThatAreNotSquareAreErrors) {
    expect_message(error_of([] {
                       cholesky(zeros({2, 3}));
                   }),
                   {"cholesky", "2 by 3", "square", "linear_algebra_test.cpp:"});
    expect_message(error_of([] { lu(zeros({3})); }), {"lu", "[3]", "two axes"});
}

TEST(LinearAlgebra, ARightSideThatDoesNotFitIsAnError) {
    expect_message(error_of([] {
                       solve_triangular(zeros({3, 3}), zeros({2, 1}));
                   }),
                   {"[3, 3]", "[2, 1]", "linear_algebra_test.cpp:"});
    expect_message(error_of([] { solve(zeros({3, 3}), zeros({2})); }), {"[3, 3]", "[2]"});
}

}  // namespace
}  // namespace firn
