// Session::find_nan: names the operation that makes a nan, and leaves variables as they were.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "compiler/language.h"

namespace firn {
namespace {

std::string message(const Callback<void()>& run) {
    try {
        run();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Runs by the oracle and by compiled kernels.
class FindNan : public testing::TestWithParam<bool> {
  protected:
    FindNan()
        : session_(GetParam() ? Session::interpreter(gpu_profile()) : Session::oracle()),
          in_(session_) {
        session_.find_nan(true);
    }
    Session session_;
    SessionScope in_;
};
INSTANTIATE_TEST_SUITE_P(Executors, FindNan, testing::Bool(), [](const auto& row) {
    return std::string(row.param ? "interpreter" : "oracle");
});

TEST_P(FindNan, SaysTheOperationTheElementAndItsOperands) {
    const Tensor x = tensor({4.0f, 1.0f, -0.25f, 9.0f, -1.0f, 2.0f}, {2, 3});
    const int line = __LINE__ + 1;
    const std::string said = message([&] { (sqrt(x) * 2.0f + 1.0f).to_vector<float>(); });
    EXPECT_TRUE(has(said, "result 1 is not a number at (0, 2)")) << said;
    EXPECT_TRUE(has(said, "Sqrt of (-0.25) gives nan")) << said;
    EXPECT_TRUE(has(said, "find_nan_test.cpp:" + std::to_string(line))) << said;
    EXPECT_TRUE(has(said, "at (0, 2) of [2, 3]")) << said;
}

TEST_P(FindNan, SaysWhichCallOfAFunction) {
    const auto f = compile([](Tensor x) { return sum(log(x)); }, {f32("n")});
    f(tensor({1.0f, 2.0f}));
    f(tensor({3.0f}));
    const std::string said = message([&] { f(tensor({1.0f, 5.0f, -7.0f})); });
    EXPECT_TRUE(has(said, "call 3 of the function")) << said;
    EXPECT_TRUE(has(said, "Log of (-7) gives nan")) << said;
    EXPECT_TRUE(has(said, "at (2) of [3]")) << said;
}

TEST_P(FindNan, SaysTheIterationOfLoops) {
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(6)) y = sqrt(y - 1.0f) + 1.0f * (1.0f - cast<float>(k > 2));
            return y;
        },
        {f32(2)});
    const std::string said = message([&] { f(tensor({5.0f, 2.0f})); });
    EXPECT_TRUE(has(said, "Sqrt of (-0.69")) << said;
    EXPECT_TRUE(has(said, "in iteration 5")) << said;
}

/// The memory in which a gradient keeps the iterations of a loop holds nan before it is written.
TEST_P(FindNan, MemoryThatIsNotWrittenYetIsNotInTheWay) {
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(4)) y = sin(y) * sqrt(y);
            return grad(sum(y), x);
        },
        {f32(2)});
    const std::string said = message([&] { f(tensor({4.0f, 1.0f})); });
    EXPECT_TRUE(has(said, "Sqrt of (-")) << said;
}

TEST_P(FindNan, WhatAChoiceLeavesOutIsNotInTheWay) {
    const Tensor x = tensor({-1.0f, 4.0f});
    EXPECT_EQ(select(x > 0.0f, sqrt(x), 0.0f).to_vector<float>(), (std::vector<float>{0, 2}));
    std::string said =
        message([&] { (select(x > 0.0f, sqrt(x), x) + log(x - 5.0f)).to_vector<float>(); });
    EXPECT_TRUE(has(said, "Log of (-6) gives nan")) << said;
    said = message([&] { select(x > 0.0f, sqrt(x), log(x)).to_vector<float>(); });
    EXPECT_TRUE(has(said, "Log of (-1) gives nan")) << said;
}

TEST_P(FindNan, OfReductionsAndArguments) {
    const float inf = std::numeric_limits<float>::infinity();
    const auto total = compile([](Tensor x) { return sum(x); }, {f32("n")});
    std::string said = message([&] { total(tensor({inf, 1.0f, -inf})); });
    EXPECT_TRUE(has(said, "Reduce gives nan")) << said;
    said = message([&] { total(tensor({1.0f, std::nanf("")})); });
    EXPECT_TRUE(has(said, "argument 1 holds nan at the call, at (1) of [2]")) << said;
}

TEST_P(FindNan, WhatWasMovedInIsStillThere) {
    const auto f = compile([](Tensor x) { return sqrt(x - 2.0f); }, {f32(2)});
    Tensor x = tensor({11.0f, 3.0f});
    x = f(std::move(x));
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{3, 1}));
    EXPECT_NE(message([&] { x = f(std::move(x)); }), "");
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{3, 1}));
}

TEST_P(FindNan, NobodyLooksUnlessAsked) {
    session_.find_nan(false);
    EXPECT_TRUE(std::isnan(sqrt(tensor({-1.0f})).to_vector<float>()[0]));
}

}  // namespace
}  // namespace firn
