// Compositions of reductions, with their ugly values.
#include <limits>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(Argmax, GivesTheFirstOfTheLargest) {
    expect_values([] { return argmax(tensor({1, 3, 3, 2})); }, Ints{1});
    expect_values([] { return argmin(tensor({4, 1, 3, 1})); }, Ints{1});
}

TEST(Argmax, AlongAnAxis) {
    auto x = [] { return tensor({1, 5, 2, 7, 0, 7}, {2, 3}); };
    expect_values([&] { return argmax(x(), {.axis = 1}); }, Ints{1, 0});
    expect_values([&] { return argmax(x(), {.axis = 0}); }, Ints{1, 0, 1});
    expect_values([&] { return argmin(x(), {.axis = -1, .keep_dims = true}); }, Ints{0, 1});
}

TEST(Argmax, KeepsDimensionsOfTheWholeToo) {
    SessionScope scope(Session::oracle());
    EXPECT_EQ(Shape(argmax(zeros({2, 3}), {.keep_dims = true}).shape()), (Shape{1, 1}));
    EXPECT_EQ(Shape(argmax(zeros({2, 3}), {.axis = 1, .keep_dims = true}).shape()), (Shape{2, 1}));
}

TEST(Argmax, TheFirstNanWins) {
    expect_values([] { return argmax(tensor(Floats{1, NAN, 9, NAN})); }, Ints{1});
    expect_values([] { return argmin(tensor(Floats{1, -kInfinite, NAN})); }, Ints{2});
}

TEST(Argmax, OfInfinitiesAlone) {
    expect_values([] { return argmax(tensor(Floats{-kInfinite, -kInfinite})); }, Ints{0});
}

TEST(Argmax, OfNoElementsIsAnError) {
    expect_message(error_of([] {
                       argmax(zeros({2, 0}), {.axis = 1});
                   }),
                   {"argmax", "axis 1", "[2, 0]", "statistics_test.cpp:"});
}

TEST(Variance, IsTheMeanSquaredDistance) {
    expect_values([] { return var(tensor({1.0f, 2.0f, 3.0f, 6.0f})); }, Floats{3.5f}, 1e-6);
    expect_values(
        [] {
            return var(tensor({1.0f, 3.0f, 2.0f, 6.0f}, {2, 2}), {.axis = 1});
        },
        Floats{1, 4}, 1e-6);
}

TEST(Variance, CorrectionLessensTheCount) {
    expect_values(
        [] {
            return var(tensor({1, 2, 3, 6}), {.correction = 1});
        },
        Floats{14 / 3.0f}, 1e-6);
}

TEST(Variance, OfALargeOffsetIsExact) {
    expect_values(
        [] {
            return var(tensor({10000.0f, 10001.0f, 10002.0f}));
        },
        Floats{2 / 3.0f}, 1e-6);
}

TEST(Variance, WithoutEnoughElementsIsNan) {
    expect_values([] { return var(tensor({1.0f}), {.correction = 1}); }, Floats{NAN});
}

TEST(Variance, StddevIsItsRoot) {
    expect_values(
        [] {
            return stddev(tensor({2.0f, 4.0f}), {.keep_dims = true});
        },
        Floats{1}, 1e-6);
}

TEST(Norm, Orders) {
    auto x = [] { return tensor({3.0f, 0.0f, -4.0f}); };
    expect_values([&] { return norm(x()); }, Floats{5}, 1e-6);
    expect_values([&] { return norm(x(), {.order = 1}); }, Floats{7});
    expect_values([&] { return norm(x(), {.order = 0}); }, Floats{2});
    expect_values([&] { return norm(x(), {.order = kInfinite}); }, Floats{4});
    expect_values([&] { return norm(x(), {.order = 3}); }, Floats{std::cbrt(91.0f)}, 1e-5);
}

TEST(Norm, OfIntegersIsReal) {
    expect_values(
        [] {
            return norm(tensor({1, 1, 1, 0}, {2, 2}), {.axis = 1});
        },
        Floats{std::sqrt(2.0f), 1}, 1e-6);
}

TEST(Norm, NanIsPassedOn) {
    expect_values([] { return norm(tensor(Floats{1, NAN}), {.order = kInfinite}); }, Floats{NAN});
}

TEST(Norm, ANegativeOrderIsAnError) {
    expect_message(error_of([] { norm(zeros({2}), {.order = -1}); }),
                   {"norm", "-1", "statistics_test.cpp:"});
}

TEST(Logsumexp, DoesNotOverflow) {
    expect_values(
        [] {
            return logsumexp(tensor({1000.0f, 1000.0f}));
        },
        Floats{1000 + std::log(2.0f)}, 1e-6);
    expect_values(
        [] {
            return logsumexp(tensor({-1000.0f, -1000.0f}, {1, 2}), {.axis = 1});
        },
        Floats{-1000 + std::log(2.0f)}, 1e-6);
}

TEST(Logsumexp, OfInfinities) {
    expect_values([] { return logsumexp(tensor({-kInfinite, -kInfinite})); }, Floats{-kInfinite});
    expect_values([] { return logsumexp(tensor({kInfinite, 1.0f})); }, Floats{kInfinite});
}

TEST(Softmax, SumsToOneAlongItsAxis) {
    expect_values(
        [] {
            return sum(softmax(tensor({1000.0f, 1.0f, 2.0f, 3.0f}, {2, 2}), {.axis = 0}),
                       {.axis = 0});
        },
        Floats{1, 1}, 1e-6);
    float e = std::exp(1.0f);
    expect_values(
        [] {
            return softmax(tensor({1.0f, 2.0f}));
        },
        Floats{1 / (1 + e), e / (1 + e)}, 1e-6);
}

TEST(Softmax, IsOneKernel) {
    SessionScope scope(Session::interpreter());
    auto f = compile([](Tensor x) { return softmax(x); }, {f32(64, 256)});
    f(ones({64, 256}));
    EXPECT_EQ(f.stats().kernels, 1);
}

TEST(Softmax, ItsLogarithmDoesNotUnderflow) {
    expect_values([] { return log_softmax(tensor({0.0f, 200.0f})); }, Floats{-200, 0}, 1e-6);
}

TEST(Softmax, OfAMissingAxisIsAnError) {
    expect_message(error_of([] { softmax(zeros({2}), {.axis = 1}); }),
                   {"softmax", "axis 1", "statistics_test.cpp:"});
}

}  // namespace
}  // namespace firn
