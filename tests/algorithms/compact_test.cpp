// Choosing by a condition against loops on the host.
#include <algorithm>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

TEST(Compact, KeepsTheOrder) {
    Ints x = random_ints(200, 3, 0, 99), expected;
    for (int each : x)
        if (each % 3 == 0) expected.push_back(each);
    size_t count = expected.size();
    expected.resize(200);
    expect_values([&] { return compact_padded(tensor(x), tensor(x) % 3 == 0).values; }, expected);
    expect_values([&] { return compact_padded(tensor(x), tensor(x) % 3 == 0).count; },
                  Ints{static_cast<int>(count)});
}

TEST(Compact, MovesWholeSlices) {
    expect_values(
        [] {
            return compact_padded(tensor({1, 2, 3, 4, 5, 6}, {3, 2}), tensor({0, 1, 1})).values;
        },
        Ints{3, 4, 5, 6, 0, 0});
}

TEST(Compact, OfASymbolicSize) {
    expect_values(
        [] {
            auto f = compile([](Tensor x) { return compact_padded(x, x > 0).values; }, {i32("n")});
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
    expect_values([&] { return nonzero_padded(x()).values; },
                  Ints{0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0});
    expect_values([&] { return nonzero_padded(x()).count; }, Ints{3});
}

TEST(Nonzero, GivesAsManyRowsAsThereAre) {
    expect_values(
        [] {
            return nonzero(tensor({0, 5, 0, 7, 0, 9}, {2, 3}));
        },
        Ints{0, 1, 1, 0, 1, 2});
}

TEST(Nonzero, OfAScalarIsAnError) {
    expect_message(error_of([] { nonzero(sum(ones({2}))); }),
                   {"nonzero", "scalar", "compact_test.cpp:"});
}

TEST(Compact, GivesAsManyAsThereAre) {
    for (int modulus : {1, 3, 1000}) {  // all, some, one
        Ints x = random_ints(999, 3, 1, 900), expected;
        x[5] = 1000;
        for (int each : x)
            if (each % modulus == 0) expected.push_back(2 * each + 1);
        expect_values(
            [&] {
                Tensor chosen = compact(tensor(x), tensor(x) % modulus == 0);
                chosen *= 2;
                return chosen + 1;
            },
            expected);
    }
}

TEST(Compact, OfNothingIsEmptyAndItsSumIsZero) {
    expect_values([] { return compact(arange(70), arange(70) > 100); }, Ints{});
    expect_values([] { return sum(compact(arange(70), arange(70) > 100) + 1); }, Ints{0});
    expect_values([] { return zeros({3}, i32) + compact(arange(70), arange(70) > 100)(0); },
                  Ints{0, 0, 0});
}

TEST(Compact, MovesWholeSlicesAndTheirShapeIsReadBack) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor rows = compact(tensor({1, 2, 3, 4, 5, 6}, {3, 2}), tensor({0, 1, 1}));
        Tensor turned = transpose(rows) * 10;
        EXPECT_EQ(rows.shape(), (Shape{2, 2}));
        EXPECT_EQ(turned.to_vector<int>(), (Ints{30, 50, 40, 60}));
        EXPECT_EQ((rows + transpose(turned)).to_vector<int>(), (Ints{33, 44, 55, 66}));
    }
}

TEST(Compact, ByOneConditionGivesOneSize) {
    expect_values(
        [] {
            Tensor x = arange(100), odd = x % 2 == 1;
            return sum(compact(x, odd) * compact(x + 1, odd));
        },
        Ints{169150});
    EXPECT_NE(error_of([] {
                  Tensor x = arange(100);
                  return compact(x, x > 3) + compact(x, x > 4);
              }).find("only the device knows"),
              std::string::npos);
}

TEST(Compact, InACompiledFunctionAndOutOfIt) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        auto choose = compile([](Tensor x, Tensor least) { return compact(x, x >= least) * 2; },
                              {i32("n"), i32()});
        auto next = compile(
            [](Tensor x) {
                return std::tuple{sum(x), x + Tensor(x.size(0))};
            },
            {i32("m")});
        for (int least : {0, 90, 100, 37}) {
            Tensor chosen = choose(arange(100), least);
            auto [total, sums] = next(chosen);
            const int count = 100 - least;
            EXPECT_EQ(total.item<int>(), count * (least + 99));
            Tensor back = sums - chosen;  // the same size still
            EXPECT_EQ(back.to_vector<int>(), Ints(static_cast<size_t>(count), count));
        }
        EXPECT_LE(next.variant_count(), 1u);
    }
}

TEST(Compact, BirthsAndDeathsInAFrameLoop) {
    auto frame = [](Tensor x) {
        Tensor born = arange(5) + 1, older = x + 10;
        return compact(concat({older, born}), concat({older, born}) % 4 != 0, {.at_most = 40});
    };
    std::vector<int> expected;
    for (int iteration = 0; iteration < 30; ++iteration) {
        std::vector<int> next;
        for (int& each : expected) each += 10;
        for (int k = 1; k <= 5; ++k) expected.push_back(k);
        for (int each : expected)
            if (each % 4 != 0 && next.size() < 40) next.push_back(each);
        expected = next;
    }
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor lazy = zeros({0}, i32), state = zeros({0}, i32);
        auto step = compile(frame, {i32("n")});
        size_t plans = 0;
        for (int iteration = 0; iteration < 30; ++iteration) {
            if (iteration == 15) plans = way.session.plan_count();
            lazy = frame(lazy);
            realize(lazy);
            state = step(state);
        }
        EXPECT_EQ(way.session.plan_count(), plans);
        EXPECT_EQ(lazy.to_vector<int>(), expected);
        EXPECT_EQ(state.to_vector<int>(), expected);
        EXPECT_LE(step.variant_count(), 4u);  // 0, by eight, by four, any
    }
}

TEST(Compact, WhatWasChosenGoesThroughOtherAlgorithms) {
    auto chosen = [] {
        return compact(arange(500) * 37 % 500, arange(500) % 3 == 0);
    };  // 167 of them
    Ints x, sorted, sums;
    for (int k = 0; k < 500; k += 3) x.push_back(k * 37 % 500);
    sorted = x;
    std::sort(sorted.begin(), sorted.end());
    for (int each : x) sums.push_back((sums.empty() ? 0 : sums.back()) + each);
    expect_values([&] { return sort(chosen()); }, sorted);
    expect_values([&] { return cumsum(chosen()); }, sums);
    expect_values([&] { return chosen()(argsort(chosen())); }, sorted);
    expect_values([&] { return flip(sort(chosen())); }, Ints(sorted.rbegin(), sorted.rend()));
    expect_values(
        [&] {
            return sum(unsqueeze(chosen(), 0) * unsqueeze(chosen(), 1), {.axis = 1}) /
                   sum(chosen());
        },
        x);
}

TEST(Compact, ALoopRunsOverWhatWasChosen) {
    expect_values(
        [] {
            Tensor x = compact(arange(200), arange(200) % 2 == 0);  // 100
            for (Tensor step : loop(5))
                x = x(index(x, 0) + 1) + step * 0;  // neighbours: a loop of kernels
            Tensor total = 0;
            for (Tensor i : loop(x.size(0))) total += x(i);
            return total;
        },
        Ints{9900 - (0 + 2 + 4 + 6 + 8) + 5 * 198});
}

TEST(Compact, InABranchAndJitted) {
    expect_values(
        [] {
            Tensor x = arange(40), y = 1;
            if_(sum(x) > 10, [&] { y = sum(compact(x, x > 37)); });
            if_(sum(x) < 10, [&] { y = sum(compact(x, x > 5)); });
            return y;
        },
        Ints{38 + 39});
    for (const Way& way : ways()) {
        SessionScope scope(way.session);
        auto twice = jit([](Tensor x, Tensor y) { return x * 2 + y; });
        for (int least : {7, 3}) {
            Tensor x = compact(arange(10), arange(10) > least);
            EXPECT_EQ(sum(twice(x, x)).item<int>(), least == 7 ? 3 * 17 : 3 * 39);
        }
        EXPECT_EQ(twice.shape_count(), 1u);
    }
}

TEST(Compact, WhatIsCompactedAgainAndCaptured) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor some = compact(arange(100), arange(100) % 2 == 0),
               few = compact(some, some % 5 == 0);  // 0, 10, .. 90
        auto added = compile([&](Tensor x) { return sum(few) + x + few(1) + Tensor(few.size(0)); },
                             {i32("n")});
        EXPECT_EQ(Tensor(added(arange(2))).to_vector<int>(), (Ints{470, 471}));
        auto inlined = compile([&](Tensor x) { return added(compact(x, x > 3)); }, {i32("n")});
        EXPECT_EQ(Tensor(inlined(arange(6))).to_vector<int>(), (Ints{474, 475}));
        EXPECT_EQ(few.size(0), 10);
        EXPECT_EQ((few + 1)(9).to_vector<int>(), Ints{91});
    }
}

TEST(Compact, FunctionsWithOtherRoomsKeepTheirOwn) {
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        auto sevens = [](Tensor x) { return full({compact(x, x >= 0).size(0)}, 7); };
        auto few = compile(sevens, {i32(4)}), many = compile(sevens, {i32(300)});
        EXPECT_EQ(Tensor(few(arange(4))).to_vector<int>(), Ints(4, 7));
        EXPECT_EQ(Tensor(many(arange(300))).to_vector<int>(), Ints(300, 7));
    }
}

TEST(Compact, ItsPromiseIsCheckedOnDemand) {
    setenv("FIRN_CHECK", "1", 1);
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        Session session = way.session;
        SessionScope scope(session);
        auto choose = compile([](Tensor x, Tensor least) { return compact(x, x >= least) * 2; },
                              {i32("n"), i32()});
        EXPECT_EQ(Tensor(choose(arange(100), 97)).to_vector<int>(), (Ints{194, 196, 198}));
        auto again = compile([](Tensor x) { return compact(x, x % 2 == 0); }, {i32("n")});
        EXPECT_EQ(Tensor(again(choose(arange(9), 5))).to_vector<int>(), (Ints{10, 12, 14, 16}));
    }
    unsetenv("FIRN_CHECK");
}

TEST(Compact, ASizeThatAnotherArgumentGivesCannotBeChecked) {
    expect_message(
        error_of([] {
            auto add = compile([](Tensor a, Tensor b) { return a + b; }, {i32("n"), i32("n")});
            add(compact(arange(9), arange(9) > 3), arange(5));
        }),
        {"axis 0 of argument 1", "'n'", "only the device knows", "compact_test.cpp:"});
}

TEST(Compact, GivesWhatWasMovedItsGradientBack) {
    expect_values(
        [] {
            Tensor x = ones({70}), odd = arange(70) % 2 == 1;
            return grad(sum(compact(x, odd) * compact(2.0f + arange(70), odd)), x);
        },
        [] {
            std::vector<float> expected(70);
            for (size_t k = 0; k < 35; ++k) expected[2 * k + 1] = float(2 * k + 3);
            return expected;
        }());
    // Slices of few numbers go another way than slices of many.
    for (int numbers : {3, 20})
        expect_values(
            [=] {
                Tensor x = ones({40, numbers}), chosen = arange(40) > 36;
                return sum(grad(sum(square(compact(x, chosen, {.at_most = 2}))), x), {.axis = 1});
            },
            [=] {
                std::vector<float> expected(40);
                expected[37] = expected[38] = 2 * float(numbers);
                return expected;
            }());
}

TEST(Compact, MovesEveryType) {
    for (DType type : {boolean, u8, i16, f16, bf16, i32, u32, f32, i64, f64}) {
        SCOPED_TRACE(type.name());
        expect_values(
            [=] {
                Tensor x = (arange(100) * 7 % 113).as(type);
                return compact(x, arange(100) % 3 == 1).as(f64).as(i32);
            },
            [=] {
                Ints expected;
                for (int k = 1; k < 100; k += 3)
                    expected.push_back(type.is_bool() ? k * 7 % 113 != 0 : k * 7 % 113);
                return expected;
            }());
    }
}

TEST(Compact, MovesAcrossTheEdgesOfWords) {
    for (int n : {1, 31, 32, 33, 64, 95, 1025}) {
        Ints x = random_ints(static_cast<size_t>(n), 7, 0, 9), expected;
        for (int each : x)
            if (each > 2) expected.push_back(each);
        expect_values([&] { return compact(tensor(x), tensor(x) > 2); }, expected);
    }
}

}  // namespace
}  // namespace firn
