// Recorded loops: carried values, others, nesting, bounds and misuse.
#include <stdexcept>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Loops = OracleTest;

TEST_F(Loops, AssignmentToAnOuterTensorIsCarried) {
    Tensor total = 0;
    for (Tensor i : loop(5)) total += i;
    EXPECT_EQ(total.item<int>(), 10);
}

TEST_F(Loops, LocalTensorIsNotCarried) {
    Tensor total = 0.0f;
    for (Tensor i : loop(3)) {
        Tensor local = 1.0f;
        local += 1.0f;
        total += local;
    }
    const Node& result = *total.node();
    ASSERT_EQ(result.op, Op::Result);
    EXPECT_EQ(result.inputs[0]->inputs.size(), 3u + 1u);
    EXPECT_EQ(total.item<float>(), 6);
}

TEST_F(Loops, TensorThatIsOnlyReadIsNotCarried) {
    Tensor by = tensor({2.0f, 3.0f}), x = ones({2});
    for (Tensor i : loop(3)) x *= by;
    EXPECT_EQ(x.node()->inputs[0]->inputs.size(), 3u + 1u);
    EXPECT_EQ(x.to_vector<float>(), (Floats{8, 27}));
}

TEST_F(Loops, TwoStatesSwapEveryTurn) {
    Tensor a = 0, b = 1;
    for (Tensor i : loop(10)) {
        Tensor next = a + b;
        a = b;
        b = next;
    }
    EXPECT_EQ(a.item<int>(), 55);
}

TEST_F(Loops, NestedLoopsCarryThroughBoth) {
    Tensor total = 0;
    for (Tensor i : loop(3))
        for (Tensor j : loop(4)) total += i * j;
    EXPECT_EQ(total.item<int>(), (0 + 1 + 2) * (0 + 1 + 2 + 3));
}

TEST_F(Loops, InnerLoopMayRunToTheOuterIndex) {
    Tensor total = 0;
    for (Tensor i : loop(5))
        for (Tensor j : loop(i)) total += 1;
    EXPECT_EQ(total.item<int>(), 10);
}

TEST_F(Loops, InnerStateStartsAnewEveryTurn) {
    Tensor total = 0;
    for (Tensor i : loop(3)) {
        Tensor inner = 0;
        for (Tensor j : loop(2)) inner += 1;
        total += inner;
    }
    EXPECT_EQ(total.item<int>(), 6);
}

TEST_F(Loops, ZeroTripsLeaveEverythingAsItWas) {
    Tensor x = tensor({1.0f, 2.0f});
    for (Tensor i : loop(0)) x += 1.0f;
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2}));
}

TEST_F(Loops, ZeroTripsGiveTheJoinedShape) {
    Tensor s = 0.0f, by = ones({3});
    for (Tensor i : loop(0)) s += by;
    EXPECT_EQ(s.to_vector<float>(), (Floats{0, 0, 0}));
}

TEST_F(Loops, BeginEndAndStepAreKept) {
    Tensor digits = 0;
    for (Tensor i : loop(1, 8, 3)) digits = digits * 10 + i;
    EXPECT_EQ(digits.item<int>(), 147);
}

TEST_F(Loops, NegativeStepCountsDown) {
    Tensor digits = 0;
    for (Tensor i : loop(3, 0, -1)) digits = digits * 10 + i;
    EXPECT_EQ(digits.item<int>(), 321);
}

TEST_F(Loops, StoreInALoopIsCarried) {
    Tensor x = zeros({4}, i32);
    for (Tensor i : loop(4)) x(i) = i * i;
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 1, 4, 9}));
}

TEST_F(Loops, ScalarGrowsToTheShapeThatIsAssigned) {
    Tensor s = 0.0f, row = tensor({1.0f, 2.0f, 3.0f});
    for (Tensor i : loop(2)) s += row;
    EXPECT_EQ(s.to_vector<float>(), (Floats{2, 4, 6}));
}

TEST_F(Loops, ShapeGrowsThroughANestedLoop) {
    Tensor s = 0.0f, row = tensor({1.0f, 2.0f});
    for (Tensor i : loop(2))
        for (Tensor j : loop(3)) s += row;
    EXPECT_EQ(s.to_vector<float>(), (Floats{6, 12}));
}

TEST_F(Loops, OneValueThatGrowsMakesAnotherGrow) {
    Tensor a = 0.0f, b = 0.0f, row = tensor({1.0f, 2.0f});
    for (Tensor i : loop(3)) {
        b = b + a;
        a = a + row;
    }
    EXPECT_EQ(b.to_vector<float>(), (Floats{3, 6}));
}

TEST_F(Loops, ShapeAskedForBeforeItGrowsIsAnError) {
    Tensor row = tensor({1.0f, 2.0f});
    expect_parts(user_error([&] {
                     Tensor s = 0.0f;
                     for (Tensor i : loop(2)) {
                         Tensor same = zeros(s.shape());
                         s += row + same;
                     }
                 }),
                 {"shape", "zeros({2})", "loop_test.cpp:"});
}

TEST_F(Loops, ShapeUsedBeforeItGrowsIsAnError) {
    Tensor row = tensor({1.0f, 2.0f});
    expect_parts(user_error([&] {
                     Tensor s = zeros({1});
                     for (Tensor i : loop(2)) s += row + sum(s, {.axis = 0});
                 }),
                 {"loop", "[1]", "[2]", "start it as zeros({2})", "loop_test.cpp:"});
}

TEST_F(Loops, TypeNeverGrows) {
    expect_parts(user_error([&] {
                     Tensor s = 0;
                     for (Tensor i : loop(2)) s += 0.5f;
                 }),
                 {"i32", "f32", "start it", "loop_test.cpp:"});
}

TEST_F(Loops, IntegersAreAcceptedByAFloat) {
    Tensor s = 0.0f;
    for (Tensor i : loop(4)) s = i;
    EXPECT_EQ(s.dtype(), f32);
    EXPECT_EQ(s.item<float>(), 3);
}

TEST_F(Loops, LoopOverTensorsOfCppIsUnrolled) {
    Tensor x = 1;
    for (int k = 0; k < 3; ++k) x *= 2;
    EXPECT_EQ(x.item<int>(), 8);
}

TEST_F(Loops, ContinueEndsTheBody) {
    Tensor x = 0;
    for (Tensor i : loop(3)) {
        x += 1;
        if (session.node_count() > 0) continue;
        x += 100;
    }
    EXPECT_EQ(x.item<int>(), 3);
}

TEST_F(Loops, NativeBreakIsReportedWithTheLoopsLine) {
    Tensor x = 0;
    int line = 0;
    for (Tensor i : loop(3)) {
        line = __LINE__ - 1;
        x += 1;
        break;
    }
    expect_parts(user_error([&] { x += 1; }),
                 {"native break", "break_()", "loop_test.cpp:" + std::to_string(line)});
}

TEST_F(Loops, NativeBreakLeavesTheSessionUsable) {
    Tensor x = 5;
    for (Tensor i : loop(3)) {
        x += 1;
        break;
    }
    user_error([&] { x += 1; });
    EXPECT_EQ((x + 1).item<int>(), 6);
}

TEST_F(Loops, ExceptionInABodyDiscardsIt) {
    Tensor x = 5;
    EXPECT_THROW(
        {
            for (Tensor i : loop(3)) {
                x += 1;
                throw std::runtime_error("mine");
            }
        },
        std::runtime_error);
    EXPECT_EQ(x.item<int>(), 5);
}

TEST_F(Loops, ExceptionInANestedBodyClosesBothScopes) {
    Tensor x = 5;
    try {
        for (Tensor i : loop(3))
            for (Tensor j : loop(3)) {
                if_(j > 1, [&] { throw std::runtime_error("mine"); });
            }
    } catch (const std::runtime_error&) {
    }
    x += 1;
    EXPECT_EQ(x.item<int>(), 6);
}

TEST_F(Loops, DataInsideAnOpenLoopIsAnError) {
    Tensor x = 5;
    expect_parts(user_error([&] {
                     for (Tensor i : loop(3)) (x + i).to_vector<int>();
                 }),
                 {"data is asked for inside", "loop_test.cpp:"});
}

TEST_F(Loops, TensorOfAClosedLoopIsAnError) {
    std::vector<Tensor> kept;
    for (Tensor i : loop(3)) kept.push_back(i);
    expect_parts(user_error([&] { kept[0].to_vector<int>(); }),
                 {"inside a loop", "declare it before"});
}

TEST_F(Loops, TensorWithoutAStartIsAnErrorAfterTheLoop) {
    Tensor last;
    for (Tensor i : loop(3)) last = i;
    expect_parts(user_error([&] { last.item<int>(); }),
                 {"only inside the loop", "start it with a value"});
}

TEST_F(Loops, FloatBoundIsAnError) {
    expect_parts(user_error([] {
                     for (Tensor i : loop(2.5f)) {
                     }
                 }),
                 {"loop", "f32", ".as(i32)", "loop_test.cpp:"});
}

TEST_F(Loops, StepOfZeroIsAnError) {
    expect_parts(user_error([] {
                     Tensor x = 0;
                     for (Tensor i : loop(0, 3, 0)) x += 1;
                 }),
                 {"step is 0"});
}

TEST_F(Loops, AValueGoesThroughOtherShapesInATurn) {
    Tensor x = arange(6), stays = arange(6);
    for (Tensor k : loop(4)) {
        x = reshape(x, {2, 3});
        x = reshape(x + k, {6});
        stays = reshape(stays, {3, 2});
        stays = reshape(stays + 1, {6});
        if_(stays > 4 + k, [&] { break_(); });
    }
    EXPECT_EQ(x.to_vector<int>(), (Ints{6, 7, 8, 9, 4, 5}));
    EXPECT_EQ(stays.to_vector<int>(), (Ints{4, 5, 6, 7, 5, 6}));
}

TEST_F(Loops, ABoundForEachElementIsAWhile) {
    const Tensor bound = tensor({1, 3, 2});
    expect_parts(user_error([&] {
                     for (Tensor k : loop(bound)) Tensor(k + 1);
                 }),
                 {"loop: a bound is i32[3]; a bound is one integer", "max(bound)",
                  "while_([&] { return k < bound; }, [&] { ..; k += 1; })", "loop_test.cpp:"});
    Tensor k = zeros({3}, i32), sum_of = k;
    while_([&] { return k < bound; }, [&] { sum_of += k, k += 1; });
    EXPECT_EQ(sum_of.to_vector<int>(), (Ints{0, 3, 1}));
}

}  // namespace
}  // namespace firn
