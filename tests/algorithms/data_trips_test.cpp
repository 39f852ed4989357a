// Loops whose trip count is a size that only the device knows.
#include <cmath>
#include <type_traits>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

/// Runs in a compiled function: outside of a recorded function a size would be read back.
template <class T, class F>
void expect_compiled(const F& f, const std::vector<T>& x, const std::vector<T>& expected,
                     double tolerance = 0) {
    expect_values(
        [&] {
            return Tensor(compile(f, {std::is_same_v<T, int> ? i32("n") : f32("n")})(tensor(x)));
        },
        expected, tolerance);
}

Ints counted(int count) {
    Ints out;
    for (int k = 0; k < count; ++k) out.push_back(k);
    return out;
}

TEST(DataTrips, ALoopOfKernelsTakesAsManyIterations) {
    for (int most : {0, 1, 5, 40}) {
        Ints x;
        for (int k = 0; k < 100 && k < 3 * most; k += 3) x.push_back(k);
        for (size_t iteration = 0; iteration < x.size(); ++iteration)
            for (size_t k = 0; k + 1 < x.size(); ++k) x[k] = x[k + 1] + static_cast<int>(iteration);
        expect_compiled(
            [&](Tensor all) {
                Tensor few = compact(all, (all % 3 == 0) & (all < 3 * most));
                for (Tensor iteration : loop(few.size(0))) {
                    Tensor i = index(few, 0);
                    few = select(i + 1 < few.size(0), few(i + 1) + iteration, few);
                }
                return few;
            },
            counted(100), x);
    }
}

TEST(DataTrips, DownwardsInStepsAndInALoopAround) {
    Ints expected;
    for (int outer = 0; outer < 3; ++outer) {
        const int n = 7 - 2 * outer;
        int sum = 0;
        for (int t = n - 1; t > 0; t -= 2) sum += 10 * t + n - t;
        expected.push_back(sum + n);
    }
    expect_compiled(
        [](Tensor x) {
            Tensor out = zeros({3}, i32);
            for (Tensor outer : loop(3)) {
                Tensor few = compact(x, x >= 2 * outer), moved = zeros(few.shape(), i32),
                       n = few.size(0);
                // Values that depend on the size and on the iteration are computed in the
                // iteration.
                for (Tensor t : loop(n - 1, 0, -2))
                    moved = moved(index(few, 0) - 1) + 10 * t + (n - t);
                out(outer) = max(moved, {.axis = 0}) + n;
            }
            return out;
        },
        counted(7), expected);
}

TEST(DataTrips, LeftByABreak) {
    expect_compiled(
        [](Tensor x) {
            Tensor few = compact(x, x < 20), iterations = 0;
            for (Tensor iteration : loop(few.size(0))) {
                few = few(index(few, 0) + 1);
                iterations += 1;
                if_(few(0) == 7, [&] { break_(); });
            }
            return iterations * 100 + few(0);
        },
        counted(50), Ints{707});
}

/// A loop may end early where a condition makes it stand still, but never runs past its bound.
TEST(DataTrips, ContinuedWhereAConditionHolds) {
    for (int most : {0, 1, 3, 40}) {
        Ints x{1, 2, 3};
        for (int iteration = 0; iteration < most; ++iteration)
            for (int& each : x)
                if (each != 30) each += iteration;
        expect_values(
            [&] {
                Tensor each = tensor({1, 2, 3}), iterations = tensor({most});
                for (Tensor iteration : loop(iterations(0))) {
                    if_(each == 30, [&] { continue_(); });
                    for (Tensor once : loop(iteration)) each = each + 1;
                }
                return each;
            },
            x);
    }
}

TEST(DataTrips, FactorisationsAlongIt) {
    const int n = 5;
    Floats square, one;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            square.push_back(static_cast<float>(2 * (i + 1) * 2 * (j + 1) % 7) +
                             (i == j ? 9.0f : 0.0f));
            one.push_back(i == j ? 1.0f : 0.0f);
        }
    const Floats x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // the even ones make the matrix
    auto matrix = [](const Tensor& all) {
        Tensor few = compact(all, all % 2.0f == 0.0f), i = unsqueeze(few, 1), j = unsqueeze(few, 0);
        return i * j % 7.0f + select(i == j, 9.0f, 0.0f);
    };
    auto whole = [](const Tensor& a) { return reshape(a, {-1}); };
    expect_compiled(
        [&](Tensor all) {
            Tensor lower = cholesky(matrix(all));
            return whole(matmul(lower, transpose(lower)));
        },
        x, square, 1e-5);
    expect_compiled([&](Tensor all) { return whole(matmul(matrix(all), inverse(matrix(all)))); }, x,
                    one, 1e-5);
    expect_compiled(
        [&](Tensor all) {
            auto [q, r] = qr(matrix(all));
            return whole(matmul(q, r));
        },
        x, square, 1e-5);
}

TEST(DataTrips, FourierTransformsAlongIt) {
    const Floats x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (float least : {6.5f, 3.0f}) {
        Floats expected;
        for (float each : x)
            if (each > least) expected.push_back(each);
        const size_t n = expected.size();
        for (size_t k = 0; k < n; ++k) {
            double sum = 0;
            for (size_t j = 0; j < n; ++j)
                sum += expected[j] *
                       std::cos(2 * M_PI * static_cast<double>(j * k) / static_cast<double>(n));
            expected.push_back(static_cast<float>(sum));
        }
        expect_values(
            [&] {
                auto there_and_back = compile(
                    [&](Tensor all) {
                        Complex y = fft(compact(all, all > least));
                        return concat({ifft(y).re, y.re});
                    },
                    {f32(10)});
                return Tensor(there_and_back(tensor(x)));
            },
            expected, 1e-4);
    }
}

TEST(DataTrips, TurnsAfterTheEndReadNothingOutside) {
    // The promise of an unchecked read holds for the iterations that the loop takes.
    expect_values(
        [] {
            Tensor x = arange(5), total = zeros({3}, i32), iterations = sum(x) / 2;
            for (Tensor iteration : loop(iterations))
                total = total(index(total, 0) + 1) + unchecked(x)(iteration);
            return total;
        },
        Ints(3, 10));
}

}  // namespace
}  // namespace firn
