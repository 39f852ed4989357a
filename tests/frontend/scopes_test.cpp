// Loops and branches that are opened and closed by calls, and what they carry.
#include "compiler/frontend/scopes.h"

#include <memory>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Scopes = OracleTest;

TEST_F(Scopes, LoopIsRecordedBetweenItsCalls) {
    Tensor x = tensor({1, 3});
    LoopScope loop(Arg(0), Arg(5), Arg(1));
    x = x * 2 + loop.index();
    loop.close();
    EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{58, 122}));
}

TEST_F(Scopes, OpenLoopThatEndsIsDiscarded) {
    Tensor x = 1;
    {
        LoopScope loop(Arg(0), Arg(5), Arg(1));
        x *= 2;
    }
    EXPECT_EQ((x + 1).item<int>(), 2);  // it is no error, as a native break of a C++ loop is
}

TEST_F(Scopes, ScopesThatEndAfterThoseAroundThemDiscardNothingElse) {
    Tensor x = 1;
    auto outer = std::make_unique<LoopScope>(Arg(0), Arg(5), Arg(1));
    auto inner = std::make_unique<BranchScope>(Arg(x > 0));
    outer.reset();
    LoopScope later(Arg(0), Arg(3), Arg(1));
    inner.reset();
    x += 1;
    later.close();
    EXPECT_EQ(x.item<int>(), 4);
}

TEST_F(Scopes, BranchHasTwoSides) {
    for (int start : {1, 5}) {
        Tensor x = start, y;
        BranchScope branch(Arg(x > 3));
        y = x * 10;
        branch.otherwise();
        y = -x;
        branch.close();
        EXPECT_EQ(y.item<int>(), start > 3 ? 10 * start : -start);
    }
}

TEST_F(Scopes, WhileIsGivenItsCondition) {
    Tensor x = 10.0f;
    WhileScope loop;
    loop.test(x > 1.0f);
    x *= 0.5f;
    loop.close();
    EXPECT_EQ(x.item<float>(), 0.625f);
}

TEST_F(Scopes, CarrierMadeInABranchBelongsToTheScopeAround) {
    for (int start : {1, 5}) {
        const Tensor x = start;
        Tensor seen = 0;
        const uint64_t around = current_scope();
        BranchScope branch(Arg(x > 3));
        Carrier carrier(Tensor(7), around);
        EXPECT_TRUE(carrier.assign(x * 10, here()));
        branch.otherwise();
        seen = carrier.read(here());
        branch.close();
        EXPECT_EQ(seen.item<int>(), start > 3 ? 0 : 7);
        EXPECT_EQ(carrier.read(here()).item<int>(), start > 3 ? 50 : 7);
    }
}

TEST_F(Scopes, CarrierWithoutAValueOnOneSideIsLost) {
    const Tensor x = 1;
    const uint64_t around = current_scope();
    BranchScope branch(Arg(x > 3));
    Carrier outside(std::nullopt, around);
    outside.assign(x, here());
    branch.otherwise();
    EXPECT_FALSE(outside.has_value());
    branch.close();
    EXPECT_NE(outside.lost().find("one branch only"), std::string::npos);
}

TEST_F(Scopes, CarrierTakesAnotherTypeOnBothSides) {
    for (int start : {1, 5}) {
        const Tensor x = start;
        const uint64_t around = current_scope();
        BranchScope branch(Arg(x > 3));
        Carrier number(Tensor(7), around);
        number.assign(x * 10, here());
        branch.otherwise();
        EXPECT_FALSE(number.takes(f32));
        Carrier real = number.as(f32, {&branch});
        EXPECT_TRUE(real.takes(f32));
        real.assign(x * 0.5f, here());
        branch.close();
        EXPECT_EQ(real.read(here()).item<float>(), start > 3 ? 50.0f : 0.5f);
    }
}

}  // namespace
}  // namespace firn
