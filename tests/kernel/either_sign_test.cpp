// Squares and absolute values of values that differ only in their sign are one.
#include <gtest/gtest.h>

#include "tests/kernel/built.h"

namespace firn {
namespace {

struct EitherSign : testing::Test, test::Built {
    NodeId a = value("a"), c = value("c"), k = value("k");

    NodeId op(KernelOp o, NodeId x, NodeId y) { return b.make(o, f32, {x, y}); }
    NodeId square(NodeId x) { return op(KernelOp::Mul, x, x); }
};

TEST_F(EitherSign, DifferencesEitherWay) {
    const NodeId one = op(KernelOp::Sub, c, a), other = op(KernelOp::Sub, a, c);
    EXPECT_NE(one, other);
    EXPECT_EQ(square(one), square(other));
    EXPECT_EQ(b.make(KernelOp::Abs, f32, {one}), b.make(KernelOp::Abs, f32, {other}));
    EXPECT_EQ(square(b.make(KernelOp::Neg, f32, {one})), square(other));
}

TEST_F(EitherSign, ThroughProductsAndQuotients) {
    const auto scaled = [&](NodeId x) { return op(KernelOp::Div, op(KernelOp::Mul, x, k), k); };
    const NodeId one = scaled(op(KernelOp::Sub, a, c)), other = scaled(op(KernelOp::Sub, c, a));
    EXPECT_NE(one, other);
    EXPECT_EQ(square(one), square(other));
}

TEST_F(EitherSign, NoDifferenceIsMadeForIt) {
    const NodeId one = op(KernelOp::Sub, c, a);
    const size_t before = code.nodes.size();
    square(one);
    EXPECT_EQ(code.nodes.size(), before + 1);
}

TEST_F(EitherSign, SumsAndProductsOfTwoKeepTheirSigns) {
    const NodeId one = op(KernelOp::Sub, c, a), other = op(KernelOp::Sub, a, c);
    EXPECT_NE(op(KernelOp::Mul, one, k), op(KernelOp::Mul, other, k));
    EXPECT_NE(square(op(KernelOp::Add, one, k)), square(op(KernelOp::Add, other, k)));
}

}  // namespace
}  // namespace firn
