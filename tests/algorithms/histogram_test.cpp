// Counts against loops on the host.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

TEST(Bincount, CountsWhatIsInside) {
    Ints x = random_ints(500, 1, -3, 12), expected(10);
    for (int each : x)
        if (each >= 0 && each < 10) ++expected[static_cast<size_t>(each)];
    expect_values([&] { return bincount(tensor(x, {50, 10}), 10); }, expected);
}

TEST(Bincount, SumsWeights) {
    expect_values(
        [] {
            return bincount(tensor({1, 0, 1}), 2, tensor({0.5f, 2.0f, 0.25f}));
        },
        Floats{2, 0.75f});
    expect_values(
        [] {
            return bincount(tensor({1, 0, 1}), 2, tensor({true, false, true}));
        },
        Ints{0, 2});
}

TEST(Bincount, OfFloatsIsAnError) {
    expect_message(error_of([] { bincount(zeros({2}), 3); }),
                   {"bincount", "f32", "histogram", "histogram_test.cpp:"});
}

TEST(SegmentSum, AddsInTheOrderOfTheValues) {
    Ints ids = random_ints(400, 1, -2, 11);
    Floats values = random_floats(400, 2, -100, 100), expected(10);
    for (size_t k = 0; k < ids.size(); ++k)
        if (ids[k] >= 0 && ids[k] < 10) expected[static_cast<size_t>(ids[k])] += values[k];
    expect_values([&] { return segment_sum(tensor(values), tensor(ids), 10); }, expected);
}

TEST(SegmentSum, OfNothingAndOfSmallTypes) {
    expect_values([] { return segment_sum(zeros({0}), zeros({0}, i32), 3); }, Floats{0, 0, 0});
    expect_values(
        [] {
            return segment_sum(tensor({true, true, false}), tensor({1, 1, 0}), 2);
        },
        Ints{0, 2});
}

TEST(SegmentSum, LengthsMustBeEqual) {
    expect_message(error_of([] { segment_sum(zeros({2}), zeros({3}, i32), 4); }),
                   {"segment_sum", "[2]", "[3]", "histogram_test.cpp:"});
}

TEST(Histogram, PartsAreClosedBelowAndTheLastOnBothSides) {
    Floats x{0, 0.25f, 0.5f, 1, -0.1f, 1.1f, NAN};
    expect_values([&] { return histogram(tensor(x), 4); }, Ints{1, 1, 1, 1});
}

TEST(Histogram, CountsRandomNumbers) {
    Floats x = random_floats(1000, 2, -2, 2);
    Ints expected(8);
    for (float each : x)
        if (each >= -1 && each <= 1) ++expected[static_cast<size_t>((each + 1) * 4)];
    expect_values([&] { return histogram(tensor(x), 8, {.low = -1, .high = 1}); }, expected);
}

TEST(Histogram, BoundsMayBeTensors) {
    expect_values(
        [] {
            Tensor x = tensor({1.0f, 2.0f, 5.0f});
            return histogram(x, 2, {.low = min(x), .high = max(x)});
        },
        Ints{2, 1});
}

TEST(Histogram, AValueAtAnEdgeIsInThePartThatBeginsThere) {
    for (int n : {3, 7, 22, 49, 255, 1000}) {
        SCOPED_TRACE(n);
        Ints each(static_cast<size_t>(n), 1);
        expect_values([&] { return histogram(arange(n), n, {.low = 0, .high = n}); }, each);
        expect_values([&] { return histogram(arange(n).as(f32), n, {.low = 0, .high = n}); }, each);
        expect_values(
            [&] { return histogram(arange(n) * 1.0f - 5.0f, n, {.low = -5.0f, .high = n - 5.0f}); },
            each);
    }
}

TEST(Histogram, TenthsAreCountedAsNumpyCountsThem) {
    Floats tenths;
    for (int k = -10; k <= 10; ++k) tenths.push_back(static_cast<float>(k) / 10);
    Ints each(20, 1);
    each[19] = 2;  // the last part holds its end
    expect_values([&] { return histogram(tensor(tenths), 20, {.low = -1, .high = 1}); }, each);
}

TEST(Histogram, OfEqualEndsIsAroundThem) {
    const Floats x{3, 3, 2.4f, 2.5f, 3.5f, 3.6f};
    expect_values([&] { return histogram(tensor(x), 4, {.low = 3, .high = 3}); }, Ints{1, 0, 2, 1});
    expect_values(
        [&] {
            const Tensor all = tensor(Floats{7, 7, 7});
            return histogram(all, 3, {.low = min(all), .high = max(all)});
        },
        Ints{0, 3, 0});
    expect_values(
        [] {
            return histogram(tensor({4, 5, 5, 6}), 3, {.low = 5, .high = 5});
        },
        Ints{0, 2, 0});
    expect_values([] { return histogram(tensor({5, 5}), 1, {.low = 5, .high = 5}); }, Ints{2});
}

TEST(Histogram, LargeIntegersAreNotRounded) {
    const int base = 1 << 26;
    expect_values([&] { return histogram(arange(4) + base, 4, {.low = base, .high = base + 4}); },
                  Ints{1, 1, 1, 1});
    expect_values(
        [&] {
            return histogram(tensor({INT32_MIN, -1, 0, INT32_MAX}), 2,
                             {.low = INT32_MIN, .high = INT32_MAX});
        },
        Ints{2, 2});
    expect_values(
        [] {
            return histogram(tensor({true, false, true}), 2, {.low = 0, .high = 1});
        },
        Ints{1, 2});
}

TEST(Histogram, OfTheWholeRangeOfFloats) {
    const Floats x{-3e38f, -1e-30f, 0, 1e-30f, 3e38f};
    expect_values([&] { return histogram(tensor(x), 2, {.low = -3e38f, .high = 3e38f}); },
                  Ints{2, 3});
}

TEST(Histogram, OfSizesThatAreSymbols) {
    expect_values(
        [] {
            const auto f =
                compile([](Tensor x) { return histogram(x, x.size(0), {.low = 0, .high = 22}); },
                        {i32("n")});
            return f(arange(22));
        },
        Ints(22, 1));
}

TEST(Histogram, NanAndInfinityAreNotCounted) {
    const Floats x{NAN, INFINITY, -INFINITY, 0.5f};
    expect_values([&] { return histogram(tensor(x), 2); }, Ints{0, 1});
}

TEST(Histogram, EndsThatAreNoRangeAreAnError) {
    expect_message(error_of([] { histogram(zeros({2}), 3, {.low = 2, .high = 1}); }),
                   {"histogram", "low is 2", "high is 1", "histogram_test.cpp:"});
    expect_message(error_of([] { histogram(zeros({2}), 3, {.low = 0, .high = INFINITY}); }),
                   {"histogram", "inf", "histogram_test.cpp:"});
}

TEST(Histogram, WithoutBinsIsAnError) {
    expect_message(error_of([] { histogram(zeros({2}), 0); }),
                   {"histogram", "0", "histogram_test.cpp:"});
}

}  // namespace
}  // namespace firn
