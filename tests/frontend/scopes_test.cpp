// Loops and branches that are opened and closed by calls, and what they carry.
#include "compiler/frontend/scopes.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using ScopesTest = OracleSession;

TEST_F(ScopesTest, loop_is_recorded_between_its_calls) {
    Tensor x = tensor({1, 3});
    LoopScope loop(Arg(0), Arg(5), Arg(1));
    x = x * 2 + loop.index();
    loop.close();
    EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{58, 122}));
}

TEST_F(ScopesTest, open_loop_that_ends_is_discarded) {
    Tensor x = 1;
    {
        LoopScope loop(Arg(0), Arg(5), Arg(1));
        x *= 2;
    }
    EXPECT_EQ((x + 1).item<int>(), 2);  // it is no error, as a native break of a C++ loop is
}

TEST_F(ScopesTest, scopes_that_end_after_those_around_them_discard_nothing_else) {
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

TEST_F(ScopesTest, branch_has_two_sides) {
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

TEST_F(ScopesTest, while_is_given_its_condition) {
    Tensor x = 10.0f;
    WhileScope loop;
    loop.test(x > 1.0f);
    x *= 0.5f;
    loop.close();
    EXPECT_EQ(x.item<float>(), 0.625f);
}

TEST_F(ScopesTest, carrier_made_in_a_branch_belongs_to_the_scope_around) {
    for (int start : {1, 5}) {
        const Tensor x = start;
        const uint64_t around = current_scope();
        BranchScope branch(Arg(x > 3));
        Carrier carrier(Tensor(7), around);
        EXPECT_TRUE(carrier.assign(x * 10, here()));
        branch.otherwise();
        EXPECT_EQ(carrier.read(here()).item<int>(), 7);
        branch.close();
        EXPECT_EQ(carrier.read(here()).item<int>(), start > 3 ? 50 : 7);
    }
}

TEST_F(ScopesTest, carrier_without_a_value_on_one_side_is_lost) {
    const Tensor x = 1;
    BranchScope branch(Arg(x > 3));
    Carrier carrier(std::nullopt);
    Carrier outside(std::nullopt, 0);
    outside.assign(x, here());
    branch.otherwise();
    EXPECT_FALSE(outside.has_value());
    branch.close();
    EXPECT_NE(outside.lost().find("one branch only"), std::string::npos);
}

TEST_F(ScopesTest, carrier_takes_another_type_on_both_sides) {
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
