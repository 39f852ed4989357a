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

TEST(Histogram, WithoutBinsIsAnError) {
    expect_message(error_of([] { histogram(zeros({2}), 0); }),
                   {"histogram", "0", "histogram_test.cpp:"});
}

}  // namespace
}  // namespace firn
