// Choices between the same values by one condition after the other are one choice.
#include <gtest/gtest.h>

#include "tests/kernel/built.h"

namespace firn {
namespace {

struct NestedChoice : testing::Test, test::Built {
    NodeId x = value("x"), y = value("y"), w = value("w");
    NodeId p = b.make(KernelOp::Less, boolean, {x, y}), q = b.make(KernelOp::Less, boolean, {y, w});

    NodeId select(NodeId condition, NodeId yes, NodeId no) {
        return b.make(KernelOp::Select, f32, {condition, yes, no});
    }
    NodeId both(KernelOp op) { return b.make(op, boolean, {p, q}); }
};

TEST_F(NestedChoice, OneThatNeedsBothConditions) {
    EXPECT_EQ(select(p, select(q, x, y), y), select(both(KernelOp::And), x, y));
}

TEST_F(NestedChoice, OneThatNeedsEitherCondition) {
    EXPECT_EQ(select(p, x, select(q, x, y)), select(both(KernelOp::Or), x, y));
}

TEST_F(NestedChoice, OthersStay) {
    for (const NodeId made : {select(p, select(q, x, y), w), select(p, x, select(q, y, w)),
                              select(p, select(q, y, x), y), select(p, x, select(q, y, x))})
        EXPECT_EQ(b.node(made).args[0], p);
}

}  // namespace
}  // namespace firn
