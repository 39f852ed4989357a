// Bounds of loops that float arguments of a call decide are computed by the host before the call.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// Counts the loop's iterations, for every element.
auto counted() {
    return compile(
        [](Tensor x, Tensor sigma) {
            const Tensor r = cast<int>(ceil(2.5f * sigma));
            for (Tensor k : loop(-r, r + 1)) x = x + 1.0f;
            return x + cast<float>(r) * 1000.0f;
        },
        {f32("n"), f32()});
}

float expected(float sigma) {
    const float r = std::ceil(2.5f * sigma);
    return std::max(2 * r + 1, 0.0f) + 1000 * r;
}

class HostBounds : public testing::TestWithParam<bool> {
  protected:
    SessionScope scope{GetParam() ? Session::interpreter() : Session::oracle()};
};
INSTANTIATE_TEST_SUITE_P(Executors, HostBounds, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "compiled" : "oracle");
});

TEST_P(HostBounds, FollowTheNumbersOfEveryCall) {
    auto f = counted();
    for (float sigma : {1.0f, 3.2f, 3.2f, 0.0f, 40.0f, 3.2f, -2.0f, 1.0f, 41.0f})
        EXPECT_EQ(f(zeros({70}), sigma).to_vector<float>(), Floats(70, expected(sigma))) << sigma;
}

TEST_P(HostBounds, WithTensorsAndNumbersInTurn) {
    auto f = counted();
    for (float sigma : {1.0f, 2.0f}) {
        EXPECT_EQ(f(zeros({3}), sigma).to_vector<float>(), Floats(3, expected(sigma)));
        EXPECT_EQ(f(zeros({3}), sum(full({2}, sigma / 2))).to_vector<float>(),
                  Floats(3, expected(sigma)));
    }
}

TEST_P(HostBounds, OfNaNAreNone) {
    auto f = counted();
    EXPECT_EQ(f(zeros({2}), std::numeric_limits<float>::quiet_NaN()).to_vector<float>(),
              Floats(2, 1.0f));
}

TEST_P(HostBounds, AreNestedInLoops) {
    auto f = compile(
        [](Tensor x, Tensor a, Tensor b) {
            for (Tensor i : loop(cast<int>(floor(a * 2.0f))))
                for (Tensor j : loop(i, i + cast<int>(round(b)))) x = x + cast<float>(j);
            return x;
        },
        {f32("n"), f32(), f32()});
    float sum = 0;
    for (int i = 0; i < 5; ++i)
        for (int j = i; j < i + 3; ++j) sum += static_cast<float>(j);
    EXPECT_EQ(f(zeros({2}), 2.6f, 2.9f).to_vector<float>(), Floats(2, sum));
}

// Without it the iterations are resumed in pieces: nothing says how many there are.
TEST(HostBoundsPlans, TakeOneDispatch) {
    SessionScope scope(Session::interpreter());
    auto f = counted();
    f(zeros({70}), 3.2f), f(zeros({70}), 10.0f);
    EXPECT_EQ(f.stats().kernels, 1);
    EXPECT_EQ(f.stats().dispatches, 1);
}

TEST(HostBoundsPlans, WhatNoCallChangesIsFolded) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor x) {
            const Tensor count = select(Tensor(1) < 1, 9, Tensor(Size(3)));
            for (Tensor k : loop(count - 1)) x = x + 1.0f;
            return x;
        },
        {f32("n")});
    EXPECT_EQ(f(zeros({5})).to_vector<float>(), Floats(5, 2.0f));
    EXPECT_EQ(f.program()->arguments.size(), 1u);
}

}  // namespace
}  // namespace firn
