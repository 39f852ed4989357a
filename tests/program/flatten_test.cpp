// Host steps unrolled: order, rotations, barriers.
#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;
using Slots = std::vector<int>;

std::vector<bool> barriers(const Program& program, const SizeEnv& env = {}) {
    std::vector<bool> result;
    for (const FlatStep& step : flatten(program, env).steps) result.push_back(step.barrier_before);
    return result;
}

TEST(Barriers, ReadAfterWriteNeedsOne) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {a}), dispatch(p, {a}, {b})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true}));
}
TEST(Barriers, WriteAfterReadNeedsOne) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {dispatch(p, {a}, {b}), dispatch(p, {}, {a})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true}));
}
TEST(Barriers, WriteAfterWriteNeedsOne) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {a}), dispatch(p, {}, {a})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true}));
}
TEST(Barriers, CommonReadsNeedNone) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4), c = add_buffer(p, 4);
    p.steps = {dispatch(p, {a}, {b}), dispatch(p, {a}, {c})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, false}));
}
TEST(Barriers, DiamondNeedsTwo) {
    Program p;
    int top = add_buffer(p, 4), left = add_buffer(p, 4), right = add_buffer(p, 4),
        bottom = add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {top}), dispatch(p, {top}, {left}), dispatch(p, {top}, {right}),
               dispatch(p, {left, right}, {bottom})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true, false, true}));
}
TEST(Barriers, OneBarrierServesWhatFollows) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4), c = add_buffer(p, 4), d = add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {a, b}), dispatch(p, {a}, {c}), dispatch(p, {b}, {d})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true, false}));
}
TEST(Barriers, CopiesCountAsReadAndWrite) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4), c = add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {a}), copy(a, b), dispatch(p, {b}, {c})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false, true, true}));
}
TEST(Barriers, InPlaceKernelNeedsNoneForItself) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {dispatch(p, {a}, {a})};
    EXPECT_EQ(barriers(p), (std::vector<bool>{false}));
}

TEST(Flatten, EmptyDispatchIsLeftOut) {
    Program p;
    int a = add_buffer(p, 4);
    Step step = dispatch(p, {}, {a});
    std::get<DispatchStep>(step.step).groups[1] = Size::symbol("n");
    p.steps = {step};
    EXPECT_TRUE(flatten(p, {{"n", 0}}).steps.empty());
}
TEST(Flatten, EmptyCopyIsLeftOut) {
    Program p;
    int a = add_buffer(p, Size::symbol("n")), b = add_buffer(p, Size::symbol("n"));
    p.steps = {copy(a, b)};
    EXPECT_TRUE(flatten(p, {{"n", 0}}).steps.empty());
    EXPECT_EQ(flatten(p, {{"n", 1}}).steps.size(), 1u);
}
TEST(Flatten, InductionsAreSymbols) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {repeat(2, {repeat(3, {dispatch(p, {}, {a})}, {}, "inner")}, {}, "outer")};
    std::vector<std::pair<int64_t, int64_t>> seen;
    for (const FlatStep& step : flatten(p, {}).steps)
        seen.emplace_back(step.env.at("outer"), step.env.at("inner"));
    EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{
                        {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
}
TEST(Flatten, InductionEndsWithItsLoop) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {repeat(1, {dispatch(p, {}, {a})}), dispatch(p, {}, {a})};
    EXPECT_FALSE(flatten(p, {}).steps[1].env.contains("t"));
}
TEST(Flatten, InnerTripsMayDependOnTheOuterTurn) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {repeat(4, {repeat(Size::symbol("outer"), {dispatch(p, {}, {a})})}, {}, "outer")};
    EXPECT_EQ(flatten(p, {}).steps.size(), 6u);
}
TEST(Flatten, NegativeTripsAreNone) {
    Program p;
    int a = add_buffer(p, 4);
    p.steps = {repeat(Size::symbol("$0"), {dispatch(p, {}, {a})})};
    EXPECT_TRUE(flatten(p, {{"$0", -3}}).steps.empty());
}

TEST(Rotation, SwapAlternates) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {repeat(3, {dispatch(p, {a}, {b})}, {{a, b}, {b, a}})};
    FlatProgram flat = flatten(p, {});
    EXPECT_EQ(flat.steps[0].slots, (Slots{a, b}));
    EXPECT_EQ(flat.steps[1].slots, (Slots{b, a}));
    EXPECT_EQ(flat.steps[2].slots, (Slots{a, b}));
}
TEST(Rotation, OfThreeIsACycle) {
    Program p;
    int old = add_buffer(p, 4), now = add_buffer(p, 4), next = add_buffer(p, 4);
    p.steps = {
        repeat(3, {dispatch(p, {old, now}, {next})}, {{old, now}, {now, next}, {next, old}})};
    FlatProgram flat = flatten(p, {});
    EXPECT_EQ(flat.steps[0].slots, (Slots{0, 1, 2}));
    EXPECT_EQ(flat.steps[1].slots, (Slots{1, 2, 0}));
    EXPECT_EQ(flat.steps[2].slots, (Slots{2, 0, 1}));
}
TEST(Rotation, StaysInForceAfterTheLoop) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4), c = add_buffer(p, 4);
    p.steps = {repeat(1, {dispatch(p, {a}, {b})}, {{a, b}, {b, a}}), dispatch(p, {a}, {c})};
    EXPECT_EQ(flatten(p, {}).steps[1].slots, (Slots{b, c}));
}
TEST(Rotation, InnerAccumulatesOverOuterTurns) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {repeat(2, {repeat(3, {dispatch(p, {a}, {b})}, {{a, b}, {b, a}}, "inner")})};
    FlatProgram flat = flatten(p, {});
    EXPECT_EQ(flat.steps[2].slots, (Slots{a, b}));
    EXPECT_EQ(flat.steps[3].slots, (Slots{b, a}));
}
TEST(Rotation, ResultSlotFollowsTheTrips) {
    Program p;
    int a = add_result(p, {4}), b = add_buffer(p, 4);
    p.steps = {repeat(Size::symbol("n"), {dispatch(p, {a}, {b})}, {{a, b}, {b, a}})};
    EXPECT_EQ(flatten(p, {{"n", 4}}).result_slots, Slots{a});
    EXPECT_EQ(flatten(p, {{"n", 5}}).result_slots, Slots{b});
}
TEST(Rotation, OfSomethingElseThanAPermutationIsABug) {
    Program p;
    int a = add_buffer(p, 4), b = add_buffer(p, 4);
    p.steps = {repeat(1, {dispatch(p, {a}, {b})}, {{a, b}})};
    EXPECT_THROW(flatten(p, {}), InternalError);
}
TEST(Flatten, UnknownBufferIsABug) {
    Program p;
    add_buffer(p, 4);
    p.steps = {dispatch(p, {}, {7})};
    EXPECT_THROW(flatten(p, {}), InternalError);
}

}  // namespace
}  // namespace firn
