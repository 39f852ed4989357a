// if_ and break_: scalar and shaped conditions, merges, masks.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Branches = OracleTest;

TEST_F(Branches, TakenSideAssigns) {
    Tensor x = 1, yes = tensor({1}), no = tensor({0});
    if_(yes(0) == 1, [&] { x = 2; });
    EXPECT_EQ(x.item<int>(), 2);
    if_(no(0) == 1, [&] { x = 3; });
    EXPECT_EQ(x.item<int>(), 2);
}

TEST_F(Branches, EitherSideAssigns) {
    Tensor c = tensor({0, 1}), out = zeros({2}, i32), i = index({2}, 0);
    if_(
        c == 1, [&] { out = i + 10; }, [&] { out = i + 20; });
    EXPECT_EQ(out.to_vector<int>(), (Ints{20, 11}));
}

TEST_F(Branches, TensorAssignedInBothNeedsNoStart) {
    Tensor c = tensor({1}), out;
    if_(
        c(0) == 1, [&] { out = 10; }, [&] { out = 20; });
    EXPECT_EQ(out.item<int>(), 10);
}

TEST_F(Branches, TensorAssignedInOneNeedsAStart) {
    Tensor c = tensor({1}), out;
    if_(c(0) == 1, [&] { out = 10; });
    expect_parts(user_error([&] { out.item<int>(); }), {"one branch only", "branch_test.cpp:"});
}

TEST_F(Branches, OneSideDoesNotSeeTheOther) {
    Tensor c = tensor({0}), x = 1, seen = 0;
    if_(
        c(0) == 1, [&] { x = 5; }, [&] { seen = x; });
    EXPECT_EQ(seen.item<int>(), 1);
    EXPECT_EQ(x.item<int>(), 1);
}

TEST_F(Branches, ShapedConditionChoosesByElement) {
    Tensor x = tensor({1.0f, -2.0f, 3.0f});
    if_(x < 0.0f, [&] { x = -x; });
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 3}));
}

TEST_F(Branches, ShapedConditionGivesAScalarItsShape) {
    Tensor x = 1, c = tensor({0, 1, 0});
    if_(c == 1, [&] { x = 7; });
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 7, 1}));
}

TEST_F(Branches, StoreInABranchIsMerged) {
    Tensor x = zeros({3}, i32), c = tensor({1});
    if_(c(0) == 1, [&] { x(1) = 4; });
    EXPECT_EQ(x.to_vector<int>(), (Ints{0, 4, 0}));
}

TEST_F(Branches, StoresOfBothSidesToATensorThatEqualsAnother) {
    Tensor x = arange(6), y = arange(6);
    if_(
        x > 3, [&] { y(x) = 1; }, [&] { y(x) = x(5 - x); });
    EXPECT_EQ(y.to_vector<int>(), (Ints{5, 4, 3, 2, 1, 1}));
    Tensor z = arange(6);
    if_(
        x > 3, [&] { z(x) = 1; },
        [&] {
            for (Tensor i : loop(3)) z(x) = z(x) + sum(x);
        });
    EXPECT_EQ(z.to_vector<int>(), (Ints{45, 46, 47, 48, 1, 1}));
}

TEST_F(Branches, NestedBranches) {
    Tensor x = tensor({0, 1, 2, 3}), out = zeros({4}, i32);
    if_(x > 0, [&] {
        if_(
            x > 1, [&] { out = x * 10; }, [&] { out = x * 100; });
    });
    EXPECT_EQ(out.to_vector<int>(), (Ints{0, 100, 20, 30}));
}

TEST_F(Branches, BranchInALoop) {
    Tensor even = 0, odd = 0;
    for (Tensor i : loop(6))
        if_(
            i % 2 == 0, [&] { even += i; }, [&] { odd += i; });
    EXPECT_EQ(even.item<int>(), 6);
    EXPECT_EQ(odd.item<int>(), 9);
}

TEST_F(Branches, LoopInABranch) {
    Tensor x = 0, c = tensor({1});
    if_(c(0) == 1, [&] {
        for (Tensor i : loop(4)) x += i;
    });
    EXPECT_EQ(x.item<int>(), 6);
}

TEST_F(Branches, ConditionMustBeABool) {
    Tensor x = 1;
    expect_parts(user_error([&] { if_(x, [&] { x = 2; }); }),
                 {"if_", "i32", "compare", "branch_test.cpp:"});
}

TEST_F(Branches, BreakEndsTheLoop) {
    Tensor iterations = 0;
    for (Tensor i : loop(100)) {
        if_(i == 5, [&] { break_(); });
        iterations += 1;
    }
    EXPECT_EQ(iterations.item<int>(), 5);
}

TEST_F(Branches, WhatComesBeforeTheBreakStillHappens) {
    Tensor iterations = 0;
    for (Tensor i : loop(100)) {
        iterations += 1;
        if_(i == 5, [&] { break_(); });
    }
    EXPECT_EQ(iterations.item<int>(), 6);
}

TEST_F(Branches, AssignmentsAfterTheBreakInItsBranchAreDropped) {
    Tensor x = 0;
    for (Tensor i : loop(10))
        if_(i == 3, [&] {
            x += 1;
            break_();
            x += 100;
        });
    EXPECT_EQ(x.item<int>(), 1);
}

TEST_F(Branches, BreakInTheOtherSide) {
    Tensor x = 0;
    for (Tensor i : loop(10))
        if_(
            i < 4, [&] { x += 1; }, [&] { break_(); });
    EXPECT_EQ(x.item<int>(), 4);
}

TEST_F(Branches, BreakLeavesTheInnermostLoopOnly) {
    Tensor iterations = 0;
    for (Tensor i : loop(3)) {
        for (Tensor j : loop(10)) {
            if_(j == 2, [&] { break_(); });
            iterations += 1;
        }
        iterations += 100;
    }
    EXPECT_EQ(iterations.item<int>(), 3 * 102);
}

TEST_F(Branches, InnerLoopAfterABreakOfTheOuterDoesNothing) {
    Tensor x = 0;
    for (Tensor i : loop(5)) {
        if_(i == 2, [&] { break_(); });
        for (Tensor j : loop(3)) x += 1;
    }
    EXPECT_EQ(x.item<int>(), 6);
}

TEST_F(Branches, ElementsBreakOnTheirOwn) {
    Tensor limit = tensor({0, 3, 5}), iterations = 0;
    for (Tensor i : loop(4)) {
        if_(i >= limit, [&] { break_(); });
        iterations += 1;
    }
    EXPECT_EQ(iterations.to_vector<int>(), (Ints{0, 3, 4}));
}

TEST_F(Branches, FrozenElementsStayReadableByNeighbours) {
    Tensor x = tensor({1, 0, 0, 0}), i = index(x, 0);
    for (Tensor iteration : loop(4)) {
        if_(i == 0, [&] { break_(); });
        x = x(i - 1);
    }
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 1, 1, 1}));
}

TEST_F(Branches, BreakNamesTheActiveValue) {
    Tensor x = 0;
    for (Tensor i : loop(3)) {
        x += 1;
        if_(x > 1, [&] { break_(); });
    }
    EXPECT_GE(x.node()->inputs[0]->as<LoopAttr>().active, 0);
}

TEST_F(Branches, BreakOutsideALoopIsAnError) {
    expect_parts(user_error([] { break_(); }), {"break_", "no recorded loop", "branch_test.cpp:"});
}

TEST_F(Branches, SphereTracingOfTheReadme) {
    Tensor origin = tensor({-4.0f, -2.0f}), direction = 1.0f, eps = 1e-3f;
    auto scene = [](const Tensor& p) { return abs(p) - 1.0f; };
    Tensor travelled = 0.0f;
    for (Tensor step : loop(1024)) {
        Tensor distance = scene(origin + direction * travelled);
        travelled += distance;
        if_(distance < eps * travelled, [&] { break_(); });
    }
    EXPECT_EQ(travelled.to_vector<float>(), (Floats{3, 1}));
}

/// Written as for numbers.
Tensor factorial(const Tensor& n) {
    Tensor product = 1;
    if_(n > 1, [&] { product = n * factorial(n - 1); });
    return product;
}

TEST_F(Branches, AFunctionThatCallsItselfIsRefused) {
    expect_parts(user_error([] { factorial(5); }), {"calls itself", "while_", "branch_test.cpp"});
    EXPECT_EQ((Tensor(2) + 1).item<int>(), 3);  // and the session goes on
}

}  // namespace
}  // namespace firn
