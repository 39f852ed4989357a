// Elementwise functions with numpy's rules, and their ugly values.
#include <limits>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Where, TakesAnyCondition) {
    expect_values([] { return where(tensor({0, 2}), tensor({1, 2}), tensor({3, 4})); }, Ints{3, 2});
    expect_values([] { return where(tensor({0.0f, NAN}), 1, 2); }, Ints{2, 1});
}

TEST(Clip, KeepsInsideAndKeepsNan) {
    expect_values(
        [] {
            return clip(tensor(Floats{-1, 0.5f, 2, NAN}), 0, 1);
        },
        Floats{0, 0.5f, 1, NAN});
    expect_values([] { return clip(tensor({-1, 5}), 0, 3); }, Ints{0, 3});
    expect_values([] { return clip(tensor({5}), 3, 1); }, Ints{1});
}

TEST(Hypot, DoesNotOverflow) {
    expect_values(
        [] {
            return hypot(tensor({3.0f, 3e30f, 0.0f}), tensor({4.0f, 4e30f, 0.0f}));
        },
        Floats{5, 5e30f, 0}, 1e-6);
    expect_values([] { return hypot(tensor({3}), 4); }, Floats{5}, 1e-6);
}

TEST(Hypot, OfInfinityAndNan) {
    expect_values(
        [] {
            return hypot(tensor(Floats{-kInfinity, NAN, kInfinity}),
                         tensor(Floats{NAN, 1, kInfinity}));
        },
        Floats{kInfinity, NAN, kInfinity});
}

TEST(FloorDiv, RoundsDown) {
    expect_values(
        [] {
            return floor_div(tensor({7, -7, 7, -7, 6, 5}), tensor({2, 2, -2, -2, 3, 0}));
        },
        Ints{3, -4, -4, 3, 2, 0});
    expect_values([] { return floor_div(tensor({-7.0f, 7.5f}), 2); }, Floats{-4, 3});
    expect_values(
        [] {
            return floor_div(tensor({7u, 0xFFFFFFFFu}), 2u);
        },
        std::vector<uint32_t>{3, 0x7FFFFFFF});
}

TEST(Remainder, HasTheSignOfTheDivisor) {
    expect_values(
        [] {
            return remainder(tensor({7, -7, 7, -7, 6, 5}), tensor({2, 2, -2, -2, 3, 0}));
        },
        Ints{1, 1, -1, -1, 0, 0});
    expect_values(
        [] {
            return remainder(tensor({-7.0f, 7.0f}), tensor({3.0f, -3.0f}));
        },
        Floats{2, -2});
}

TEST(FloorDiv, WithItsRemainderGivesTheDividend) {
    Ints a = random_ints(200, 1, -50, 50), b = random_ints(200, 2, 1, 9);
    expect_values(
        [&] {
            Tensor x = tensor(a), y = tensor(b);
            return floor_div(x, y) * y + remainder(x, y);
        },
        a);
}

TEST(Modf, SplitsTowardsZero) {
    Floats x{1.5f, -1.5f, 3, kInfinity};
    expect_values([&] { return modf(tensor(x)).whole; }, Floats{1, -1, 3, kInfinity});
    expect_values([&] { return modf(tensor(x)).fraction; }, Floats{0.5f, -0.5f, 0, 0});
}

TEST(Logaddexp, DoesNotOverflow) {
    expect_values(
        [] {
            return logaddexp(tensor({500.0f, 1.0f}), tensor({500.0f, 2.0f}));
        },
        Floats{500 + std::log(2.0f), std::log(std::exp(1.0f) + std::exp(2.0f))}, 1e-6);
    expect_values(
        [] {
            return logaddexp(tensor(Floats{-kInfinity, kInfinity, NAN}),
                             tensor({-kInfinity, 0.0f, 0.0f}));
        },
        Floats{-kInfinity, kInfinity, NAN});
}

TEST(Log10, OfPowersOfTen) {
    expect_values([] { return log10(tensor({1000.0f, 0.1f})); }, Floats{3, -1}, 1e-6);
}

TEST(LineOfTheCaller, IsInMessagesFromInside) {
    int line = __LINE__ + 1;
    expect_message(error_of([] { hypot(zeros({2}), zeros({3})); }),
                   {"[2]", "[3]", "numpy_math_test.cpp:" + std::to_string(line)});
}

}  // namespace
}  // namespace firn
