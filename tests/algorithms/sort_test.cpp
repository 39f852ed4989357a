// Sorting against std::stable_sort.
#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

template <class T>
Ints stable_order(const std::vector<T>& x) {
    Ints order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)];
    });
    return order;
}

class Sort : public ::testing::TestWithParam<int> {};

TEST_P(Sort, FloatsOfAnySize) {
    Floats x = random_floats(static_cast<size_t>(GetParam()), 11), expected(x);
    std::sort(expected.begin(), expected.end());
    expect_values([&] { return sort(tensor(x)); }, expected);
}

TEST_P(Sort, EqualKeysKeepTheirOrder) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 12, -3, 3);
    expect_values([&] { return argsort(tensor(x)); }, stable_order(x));
}

TEST_P(Sort, ByRanks) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 13, -3, 3);
    expect_values([&] { return argsort(tensor(x), {.method = SortMethod::Rank}); },
                  stable_order(x));
}

TEST_P(Sort, ByMerging) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 13, -3, 3);
    expect_values([&] { return argsort(tensor(x), {.method = SortMethod::Merge}); },
                  stable_order(x));
}

TEST_P(Sort, ByTheNetwork) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 13, -3, 3);
    expect_values([&] { return argsort(tensor(x), {.method = SortMethod::Network}); },
                  stable_order(x));
}

TEST_P(Sort, ByDigits) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 14, -300, 300);
    expect_values([&] { return argsort(tensor(x), {.method = SortMethod::Radix}); },
                  stable_order(x));
}

TEST_P(Sort, OfASymbolicSize) {
    Ints x = random_ints(static_cast<size_t>(GetParam()), 12, -3, 3);
    expect_values(
        [&] { return compile([](Tensor x) { return argsort(x); }, {i32("n")})(tensor(x)); },
        stable_order(x));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Sort, ::testing::Values(1, 2, 3, 5, 8, 31, 64, 100));

TEST(Sorts, DescendingKeepsTheOrderOfEqualKeysToo) {
    expect_values(
        [] {
            return argsort(tensor({1, 2, 1, 2}), {.descending = true});
        },
        Ints{1, 3, 0, 2});
}

TEST(Sorts, AlongAnAxis) {
    Ints x = random_ints(5 * 3, 8, 0, 99), expected(x);
    for (size_t c = 0; c < 3; ++c) {
        Ints column;
        for (size_t r = 0; r < 5; ++r) column.push_back(x[r * 3 + c]);
        std::sort(column.begin(), column.end());
        for (size_t r = 0; r < 5; ++r) expected[r * 3 + c] = column[r];
    }
    expect_values([&] { return sort(tensor(x, {5, 3}), {.axis = 0}); }, expected);
}

TEST(Sorts, WithoutAnAxisTheTensorIsFlattened) {
    expect_values(
        [] {
            return sort(tensor({4, 3, 2, 1}, {2, 2}), {.axis = std::nullopt});
        },
        Ints{1, 2, 3, 4});
}

TEST(Sorts, NanComesLastAndInfinitiesAreNumbers) {
    float inf = INFINITY;
    expect_values(
        [&] {
            return sort(tensor(Floats{NAN, inf, -1, -inf, 0}));
        },
        Floats{-inf, -1, 0, inf, NAN});
}

TEST(Sorts, MinusZeroEqualsZero) {
    expect_values([] { return argsort(tensor({0.0f, -0.0f, -1.0f})); }, Ints{2, 0, 1});
}

TEST(Sorts, ElementsComeOutAsTheyWentIn) {
    for (SortMethod method :
         {SortMethod::Rank, SortMethod::Merge, SortMethod::Radix, SortMethod::Network}) {
        expect_values(
            [&] {
                return bitcast(sort(tensor({0.0f, 5.0f, -0.0f, -1.0f, 0.0f}), {.method = method}),
                               i32);
            },
            Ints{std::bit_cast<int>(-1.0f), 0, INT32_MIN, 0, std::bit_cast<int>(5.0f)});
        expect_values(
            [&] {
                return sort(tensor({{3.0, -2.0, 0.5}, {1.0, 64.0, -7.0}}),
                            {.descending = true, .method = method});
            },
            Floats{3.0f, 0.5f, -2.0f, 64.0f, 1.0f, -7.0f});
    }
}

TEST(Sorts, GradientsGoWhereElementsCameFrom) {
    for (SortMethod method :
         {SortMethod::Rank, SortMethod::Merge, SortMethod::Radix, SortMethod::Network}) {
        const auto sorted = [method](const Tensor& x) { return sort(x, {.method = method}); };
        expect_values(
            [&] {
                Tensor x = tensor({3.0f, 1.0f, 2.0f, 1.0f});
                return grad(sum(sorted(x) * tensor({10.0f, 20.0f, 30.0f, 40.0f})), x);
            },
            Floats{40, 10, 30, 20});
        expect_values(
            [&] {
                Tensor x = tensor({3.0f, 1.0f, 2.0f});
                return jvp(sorted(x), {x}, {tensor({10.0f, 20.0f, 30.0f})});
            },
            Floats{20, 30, 10});
    }
}

TEST(Sorts, GradientsOfASymbolicSize) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        auto gradient =
            compile([](Tensor x) { return grad(sum(sort(x) * cast<float>(arange(x.size(0)))), x); },
                    {f32("n")});
        EXPECT_EQ(gradient(tensor({3.0f, 1.0f, 2.0f, 1.0f})).to_vector<float>(),
                  (Floats{3, 0, 2, 1}));
        Floats reversed(1100), places(1100);
        for (size_t k = 0; k < 1100; ++k) reversed[k] = places[k] = float(1099 - k);
        EXPECT_EQ(gradient(tensor(reversed)).to_vector<float>(), places);
    }
}

TEST(Sorts, TheLargestIntegerStandsBeforeThePadding) {
    Ints x{INT32_MAX, INT32_MIN, INT32_MAX};
    expect_values([&] { return sort(tensor(x)); }, Ints{INT32_MIN, INT32_MAX, INT32_MAX});
    for (SortMethod method :
         {SortMethod::Rank, SortMethod::Merge, SortMethod::Radix, SortMethod::Network})
        expect_values([&] { return argsort(tensor(x), {.descending = true, .method = method}); },
                      Ints{0, 2, 1});
}

TEST(Sorts, UnsignedIntegersAreNotNegative) {
    expect_values([] { return argsort(tensor({0x80000000u, 1u, 0xFFFFFFFFu})); }, Ints{1, 0, 2});
}

TEST(Sorts, PairsFollowTheirKeys) {
    expect_values(
        [] {
            SortedPairs pairs = sort_pairs(tensor({3, 1, 2}), tensor({0.3f, 0.1f, 0.2f}));
            return pairs.values;
        },
        Floats{0.1f, 0.2f, 0.3f});
}

TEST(Sorts, PairsOfTwoShapesAreAnError) {
    expect_message(error_of([] { sort_pairs(zeros({3}), zeros({4})); }),
                   {"sort_pairs", "[3]", "[4]", "sort_test.cpp:"});
}

TEST(Sorts, TopkGivesTheFirstOfTheLargest) {
    Ints x{5, 1, 5, 3, 2, 5};
    expect_values([&] { return topk(tensor(x), 3).indices; }, Ints{0, 2, 5});
    expect_values([&] { return topk(tensor(x), 3, {.smallest = true}).values; }, Ints{1, 2, 3});
}

TEST(Sorts, TopkOfMoreThanThereAreIsAnError) {
    expect_message(error_of([] { topk(zeros({3}), 4); }), {"topk", "4", "3", "sort_test.cpp:"});
}

TEST(Sorts, AnyTypeIsSortedByDigits) {
    Ints x = random_ints(50, 15, -100, 100);
    for (DType type : {f32, f64, i32, i64, f16, i8})
        expect_values([&] { return argsort(tensor(x).as(type), {.method = SortMethod::Radix}); },
                      stable_order(x));
}

TEST(Sorts, ManyElementsAreSortedByDigits) {
    SessionScope scope(Session::interpreter());
    auto dispatches = [](SortMethod method) {
        auto order =
            compile([=](Tensor x) { return argsort(x, {.method = method}); }, {i32(32768)});
        return order.stats().dispatches;
    };
    EXPECT_EQ(dispatches(SortMethod::Automatic), dispatches(SortMethod::Radix));
    EXPECT_LE(dispatches(SortMethod::Automatic), 4 * 6 + 3);
    EXPECT_NE(dispatches(SortMethod::Automatic), dispatches(SortMethod::Merge));
}

// Lengths of the digits' runs, and of the remainder of the last one; on a GPU, blocks.
TEST(Sorts, ByDigitsOfManyLengths) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        for (int n : {0, 1, 255, 256, 1023, 1024, 1025, 5000}) {
            const Ints x = random_ints(static_cast<size_t>(n), 7, -100, 100);
            auto order = compile([](Tensor x) { return argsort(x, {.method = SortMethod::Radix}); },
                                 {i32("n")});
            EXPECT_EQ(order(tensor(x)).to_vector<int>(), stable_order(x)) << n;
        }
    }
}

TEST(Sorts, ShortRowsAreOneKernel) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        auto order = compile([](Tensor x) { return argsort(x); }, {i32(40, 64)});
        EXPECT_EQ(order.stats().dispatches, 1);
        auto sorted = compile([](Tensor x) { return sort(x); }, {i32(40, 64)});
        EXPECT_EQ(sorted.stats().dispatches, 1);
        EXPECT_EQ(
            compile([](Tensor x) { return argsort(x); }, {i32(2, 1025)}).program()->kernels.size(),
            compile(
                [&](Tensor x) {
                    const auto way = profile.device_class == DeviceClass::CpuDriver
                                         ? SortMethod::Radix
                                         : SortMethod::Merge;
                    return argsort(x, {.method = way});
                },
                {i32(2, 1025)})
                .program()
                ->kernels.size());
    }
}

TEST(Sorts, TheCallSaysWhetherRowsAreShort) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        auto sorted = compile(
            [](Tensor x) {
                return std::tuple{sort(x), argsort(x), sort(cast<float>(x))};
            },
            {i32("n")});
        for (int n : {0, 1, 256, 257, 1024, 1025}) {
            Ints x = random_ints(static_cast<size_t>(n), 7, -100, 100);
            const auto [values, order, floats] = sorted(tensor(x));
            EXPECT_EQ(order.to_vector<int>(), stable_order(x)) << n;
            std::sort(x.begin(), x.end());
            EXPECT_EQ(values.to_vector<int>(), x) << n;
            EXPECT_EQ(floats.to_vector<float>(), Floats(x.begin(), x.end())) << n;
        }
    }
}

TEST(Sorts, WhatTheCallChoosesIsAllThatItLaunches) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto dispatches = [](SortMethod method, int n) {
        auto order = compile([=](Tensor x) { return argsort(x, {.method = method}); }, {i32("n")});
        order(zeros({n}, i32)).to_vector<int>();
        return order.stats().dispatches;
    };
    EXPECT_EQ(dispatches(SortMethod::Automatic, 64), dispatches(SortMethod::Rank, 64));
    EXPECT_EQ(dispatches(SortMethod::Automatic, 2000), dispatches(SortMethod::Radix, 2000));
}

TEST(Sorts, OneKernelRunsForEveryStep) {
    SessionScope scope(Session::interpreter());
    auto order =
        compile([](Tensor x) { return argsort(x, {.method = SortMethod::Merge}); }, {f32(1000)});
    order(ones({1000}));
    EXPECT_LE(order.program()->kernels.size(), 4u);
    EXPECT_LE(order.stats().dispatches, 10 + 3);
}

TEST(Sorts, TheNetworkOfASymbolicSize) {
    Ints x = random_ints(40, 12, -3, 3);
    expect_values(
        [&] {
            auto f = compile([](Tensor x) { return argsort(x, {.method = SortMethod::Network}); },
                             {i32("n")});
            return f(tensor(x));
        },
        stable_order(x));
}

TEST(Permutations, HaveEveryNumberOnce) {
    Ints sorted(50);
    std::iota(sorted.begin(), sorted.end(), 0);
    expect_values([] { return sort(permutation(50, {.seed = 3})); }, sorted);
}

TEST(Permutations, EveryOrderOfThreeIsEquallyLikely) {
    SessionScope scope(Session::oracle());
    constexpr int kDraws = 600;
    Ints counts(27);
    Tensor keys = random_bits({kDraws, 3}, {.seed = 5});
    Ints order = argsort(keys).to_vector<int>();
    for (size_t draw = 0; draw < kDraws; ++draw)
        ++counts[static_cast<size_t>(order[3 * draw] * 9 + order[3 * draw + 1] * 3 +
                                     order[3 * draw + 2])];
    double chi = 0;
    for (int code : {5, 7, 11, 15, 19, 21}) {
        double away = counts[static_cast<size_t>(code)] - kDraws / 6.0;
        chi += away * away / (kDraws / 6.0);
    }
    EXPECT_LT(chi, 20.5);  // 5 degrees of freedom, 0.1 percent
}

TEST(Permutations, ShuffleMovesWholeSlices) {
    expect_values(
        [] {
            Tensor x = reshape(arange(40), {20, 2});
            return sort(sum(shuffle(x, {.seed = 1}), {.axis = 1}));
        },
        [] {
            Ints sums;
            for (int k = 0; k < 20; ++k) sums.push_back(4 * k + 1);
            return sums;
        }());
}

TEST(Permutations, ShuffleDependsOnTheSeed) {
    SessionScope scope(Session::oracle());
    Tensor x = arange(30);
    EXPECT_NE(shuffle(x, {.seed = 1}).to_vector<int>(), shuffle(x, {.seed = 2}).to_vector<int>());
}

}  // namespace
}  // namespace firn
