// Parameters that a program depends on: the last good program runs until the next one is ready.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "compiler/base/error.h"
#include "engine/parameters/parameters.h"
#include "tests/deadline.h"

namespace firn {
namespace {

/// x to the power of a parameter, by as many products; none below 1.
class Structural : public testing::Test {
  protected:
    Structural() { session.compile_in_background(true); }
    static auto power(int n) {
        return compile(
            [=](Tensor x) {
                if (n < 1) fail_here();
                Tensor y = x;
                for (int k = 1; k < n; ++k) y = y * x;
                return y;
            },
            {f32("n")});
    }
    [[noreturn]] static void fail_here() { throw UserError("a power below 1; take 1 or more"); }
    template <class F>
    static float at_two(F& f) {
        return f(full({4}, 2.0f))(0).template item<float>();
    }
    /// Calls until the new program has taken over; true where it has.
    template <class F>
    static bool settles(F& f) {
        for (Deadline deadline; f.compiling() && !deadline.is_over();) {
            at_two(f);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return !f.compiling();
    }
    const Parameter& shown() { return *app.gui().parameters().find("n"); }

    App app{{.name = "structural", .help = "A program."}};
    Session session = Session::interpreter();
    SessionScope scope{session};
    Param<int> n{app, "n", 2, {.min = -5, .max = 9}};
};

TEST_F(Structural, TheFirstProgramIsThatOfTheFirstValues) {
    auto f = structural(power, n);
    n = 3;  // as a command line sets it
    EXPECT_EQ(at_two(f), 8);
    EXPECT_TRUE(shown().structural);
}
TEST_F(Structural, TheLastGoodProgramRunsWhileTheNextIsCompiled) {
    auto f = structural(power, n);
    EXPECT_EQ(at_two(f), 4);
    n = 5;
    EXPECT_EQ(at_two(f), 4);
    EXPECT_TRUE(f.compiling());
    EXPECT_EQ(shown().state, "compiling ...");
    ASSERT_TRUE(settles(f));
    EXPECT_EQ(at_two(f), 32);
    EXPECT_EQ(shown().state, "");
}
TEST_F(Structural, ValuesThatArePassedByAreNotCompiled) {
    int made = 0;
    auto f = structural(
        [&](int n) {
            ++made;
            return power(n);
        },
        n);
    at_two(f);
    n = 3;
    at_two(f);
    for (int value : {4, 5, 6, 7}) n = value;
    ASSERT_TRUE(settles(f));  // of 3
    EXPECT_EQ(at_two(f), 8);  // and begins that of 7
    ASSERT_TRUE(settles(f));
    EXPECT_EQ(at_two(f), 128);
    EXPECT_EQ(made, 3);
}
TEST_F(Structural, WhatCannotBeMadeIsSaidAndTheLastGoodOneRuns) {
    auto f = structural(power, n);
    at_two(f);
    n = 0;
    EXPECT_EQ(at_two(f), 4);
    EXPECT_EQ(at_two(f), 4);
    EXPECT_EQ(f.refused(), "a power below 1; take 1 or more");
    EXPECT_EQ(shown().state, f.refused());
    n = 1;
    at_two(f);
    ASSERT_TRUE(settles(f));
    EXPECT_EQ(at_two(f), 2);
    EXPECT_EQ(f.refused(), "");
}
TEST_F(Structural, OtherArgumentsAreServedByTheProgramThatFitsThem) {
    auto f = structural(power, n);
    at_two(f);
    n = 3;
    at_two(f);
    ASSERT_TRUE(settles(f));
    EXPECT_EQ(f(full({7}, 2.0f)).size(0).constant(), 7);
}
TEST_F(Structural, GivesArgumentsAwayAsCompiledFunctionsDo) {
    auto f = structural(power, n);
    Tensor x = full({4}, 2.0f);
    x.to_vector<float>();
    x = f(std::move(x));
    n = 3;
    x = f(std::move(x));
    ASSERT_TRUE(f.compiling());
    Tensor y;
    for (Deadline deadline; f.compiling() && !deadline.is_over();) {
        y = full({4}, 2.0f);
        y.to_vector<float>();
        y = f(std::move(y));
    }
    EXPECT_EQ(y(0).item<float>(), 8);
}
TEST_F(Structural, OfSeveralParametersEachCounts) {
    Param<bool> negative{app, "negative", false};
    auto f = structural(
        [](int n, bool negative) {
            return compile([=](Tensor x) { return negative ? -x * float(n) : x * float(n); },
                           {f32("n")});
        },
        n, negative);
    EXPECT_EQ(at_two(f), 4);
    negative = true;
    at_two(f);
    ASSERT_TRUE(settles(f));
    EXPECT_EQ(at_two(f), -4);
}
TEST_F(Structural, WithoutBackgroundTheCallCompilesIt) {
    session.compile_in_background(false);
    auto f = structural(power, n);
    at_two(f);
    n = 3;
    EXPECT_EQ(at_two(f), 8);
}

}  // namespace
}  // namespace firn
