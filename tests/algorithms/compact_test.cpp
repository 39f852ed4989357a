// Choosing by a condition against loops on the host.
#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

TEST(Compact, KeepsTheOrder) {
    Ints x = random_ints(200, 3, 0, 99), expected;
    for (int each : x)
        if (each % 3 == 0) expected.push_back(each);
    size_t count = expected.size();
    expected.resize(200);
    expect_values([&] { return compact(tensor(x), tensor(x) % 3 == 0).values; }, expected);
    expect_values([&] { return compact(tensor(x), tensor(x) % 3 == 0).count; },
                  Ints{static_cast<int>(count)});
}

TEST(Compact, MovesWholeSlices) {
    expect_values(
        [] {
            return compact(tensor({1, 2, 3, 4, 5, 6}, {3, 2}), tensor({0, 1, 1})).values;
        },
        Ints{3, 4, 5, 6, 0, 0});
}

TEST(Compact, OfASymbolicSize) {
    expect_values(
        [] {
            auto f = compile([](Tensor x) { return compact(x, x > 0).values; }, {i32("n")});
            return f(tensor({-1, 5, 0, 7}));
        },
        Ints{5, 7, 0, 0});
}

TEST(Compact, AConditionOfAnotherSizeIsAnError) {
    expect_message(error_of([] { compact(zeros({3}), zeros({4})); }),
                   {"compact", "[3]", "[4]", "compact_test.cpp:"});
}

TEST(Nonzero, GivesIndicesInRowMajorOrder) {
    auto x = [] { return tensor({0, 5, 0, 7, 0, 9}, {2, 3}); };
    expect_values([&] { return nonzero(x()).values; }, Ints{0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0});
    expect_values([&] { return nonzero(x()).count; }, Ints{3});
}

TEST(Nonzero, OfAScalarIsAnError) {
    expect_message(error_of([] { nonzero(sum(ones({2}))); }),
                   {"nonzero", "scalar", "compact_test.cpp:"});
}

}  // namespace
}  // namespace firn
