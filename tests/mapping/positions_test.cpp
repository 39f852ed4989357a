// Positions of extremes: one loop finds the extreme and where it stands.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The text of all kernels of a function of 4096 numbers.
template <class F>
std::string text_of(F function) {
    SessionScope scope(emitting());
    std::string all;
    const auto program = compile([=](Tensor x) { return function(x); }, {f32(4096)}).program();
    for (const KernelInfo& kernel : program->kernels) all += kernel.artefact.text;
    return all;
}

/// The loops in it.
template <class F>
int loops_in(F function) {
    const std::string text = text_of(function);
    int count = 0;
    for (size_t at = text.find("for (int "); at != std::string::npos;
         at = text.find("for (int ", at + 1))
        ++count;
    return count;
}

/// Distances to 64 places: all iterations fill whole parts of an unrolled loop.
Tensor distances(const Tensor& x) {
    return abs(unsqueeze(x, 1) - reshape(arange(64).as(f32), {1, 64}) * 0.5f);
}

TEST(Positions, TheNearestIsOneLoop) {
    EXPECT_EQ(loops_in([](Tensor x) { return argmin(distances(x), {.axis = 1}); }), 1);
    EXPECT_EQ(loops_in([](Tensor x) { return argmax(distances(x), {.axis = 1}); }), 1);
}

TEST(Positions, TheNearestAndHowFarItIsAreOneLoop) {
    const auto both = [](Tensor x) {
        const Tensor away = distances(x);
        return argmin(away, {.axis = 1}).as(f32) + min(away, {.axis = 1});
    };
    EXPECT_EQ(loops_in(both), 1);
}

// What is read beside the nearest has indices that are summed in another order than the loop's.
TEST(Positions, TheLeastThatIsUsedBehindItsPlaceIsOfTheSameLoop) {
    const auto slope = [](Tensor x) {
        const Tensor volume = reshape(x, {64, 8, 8});
        auto [d, i, j] = indices<3>(volume.shape());
        const Tensor cost = volume(d, i - 1, j) + volume(d, i, j);
        const Tensor best = argmin(cost, {.axis = 0});
        auto [row, column] = indices<2>(best.shape());
        const Tensor before = cost(best - 1, row, column);
        return select(best > 0, before - min(cost, {.axis = 0}), 0.0f);
    };
    EXPECT_EQ(loops_in(slope), 1) << text_of(slope);
}

TEST(Positions, LanesShareTheOneLoop) {
    const auto rows = [](Tensor x) { return argmin(reshape(x * x, {4, 1024}), {.axis = 1}); };
    const std::string text = text_of(rows);
    EXPECT_NE(text.find("subgroup"), std::string::npos) << text;
    EXPECT_EQ(loops_in(rows), 1) << text;
}

template <class F>
void expect_places_of_the_oracle(F function) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        return function().template to_vector<int>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
}

// Rows of 20: two equal ones, nans before and behind, nothing but infinities or nans, zeros of both
// signs.
TEST(Positions, TheFirstOfEqualOnesAndNansBeforeAll) {
    const float infinity = INFINITY;
    std::vector<float> rows;
    const auto add = [&](float fill, std::vector<std::pair<int, float>> others) {
        std::vector<float> row(20, fill);
        for (const auto& [k, value] : others) row[size_t(k)] = value;
        rows.insert(rows.end(), row.begin(), row.end());
    };
    add(1, {{3, -5.0f}, {9, -5.0f}, {4, 7.0f}, {11, 7.0f}});
    add(1, {{5, NAN}, {2, -3.0f}, {8, 9.0f}});
    add(1, {{5, NAN}, {7, NAN}, {12, -infinity}});
    add(infinity, {});
    add(-infinity, {});
    add(infinity, {{6, NAN}});
    add(NAN, {});
    add(0, {{4, -0.0f}, {7, 0.0f}});
    add(infinity, {{19, 5.0f}});
    add(-infinity, {{19, 5.0f}});
    const auto count = static_cast<int64_t>(rows.size() / 20);
    for (const bool least : {true, false})
        expect_places_of_the_oracle([&] {
            // There are as many rows as keep a device busy without sharing lanes.
            const Tensor x = tensor(rows, {count, 20})(index({4096}, 0) % count) * 1.0f;
            return least ? argmin(x, {.axis = 1}) : argmax(x, {.axis = 1});
        });
}

// Parts of a long axis, of which the second equals the first, and one has a nan.
TEST(Positions, OfALongAxisInParts) {
    for (const bool nan : {false, true})
        expect_places_of_the_oracle([&] {
            const Tensor i = arange(200000), x = (i * 7919 % 100000).as(f32);
            const Tensor y = nan ? select(i == 123456, NAN, x) : x;
            return stack({argmin(y), argmax(y), argmax(-x), argmin(x.as(i32))});
        });
}

// An axis that turns out to be empty.
TEST(Positions, OfNoElementsAreZero) {
    expect_places_of_the_oracle([] {
        auto f = compile([](Tensor x) { return argmin(x, {.axis = 1}) + argmax(x, {.axis = 1}); },
                         {f32(5, "n")});
        return f(zeros({5, 0}));
    });
}

TEST(Positions, IntegersAndAxesOfAnyLength) {
    for (const int64_t n : {1, 2, 7, 33}) {
        expect_places_of_the_oracle([&] {
            const Tensor x = index({3000, n}, 0) * 7 + index({3000, n}, 1) * 5;
            return argmax(x % 11, {.axis = 1}) * 100 + argmin(x % 13 - 6, {.axis = 1});
        });
        expect_places_of_the_oracle([&] {
            auto f = compile([](Tensor x) { return argmin(x * x, {.axis = 0}); }, {f32("n", "m")});
            return f(rand({n, 3000}, {.seed = 3}) - 0.5f);
        });
    }
}

}  // namespace
}  // namespace firn
