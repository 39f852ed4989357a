// The strides of indices along ranges.
#include "compiler/kernel/index_form.h"

#include <gtest/gtest.h>

#include "compiler/kernel/kernel_builder.h"

namespace firn {
namespace {

struct Indices {
    KernelCode code;
    KernelBuilder b{code, {}};
    Size n = Size::symbol("n");
    NodeId i = range(RangeKind::Grid), j = range(RangeKind::Serial);

    NodeId range(RangeKind kind) {
        Range range;
        range.name = "r", range.kind = kind, range.extent = n;
        return b.range(b.add_range(range));
    }
    Stride along(NodeId node, NodeId range) {
        return stride(IndexForms(code).of(node), b.node(range).as<RangeId>());
    }
    NodeId least(NodeId x, NodeId y) { return b.make(KernelOp::Min, i32, {x, y}); }
};

TEST(IndexForm, SumsOfSizesAndRanges) {
    Indices k;
    const NodeId index = k.b.add(k.b.mul(k.b.add(k.i, k.b.integer(2)), k.b.size(k.n)), k.j);
    IndexForms forms(k.code);
    const IndexForm& form = forms.of(index);
    EXPECT_TRUE(form.is_sum());
    EXPECT_EQ(coefficient_of(form.sum, k.b.node(k.i).as<RangeId>()), k.n);
    EXPECT_EQ(form.sum.offset, 2 * k.n);
    EXPECT_EQ(stride(form, k.b.node(k.j).as<RangeId>()), Stride::One);
    EXPECT_EQ(stride(form, k.b.node(k.i).as<RangeId>()), Stride::Other);
}
TEST(IndexForm, ABoundDoesNotChangeTheStride) {
    Indices k;
    const NodeId kept = k.least(k.b.add(k.i, k.b.integer(1)), k.b.size(k.n - 1));
    const NodeId row = k.b.add(k.b.mul(k.j, k.b.size(k.n)), kept);
    EXPECT_EQ(k.along(row, k.i), Stride::One);
    EXPECT_EQ(k.along(row, k.j), Stride::Other);
    EXPECT_EQ(k.along(k.b.mul(kept, k.b.integer(2)), k.i), Stride::Other);
    EXPECT_EQ(k.along(k.least(k.b.mul(k.i, k.b.integer(3)), k.j), k.i), Stride::Other);
    EXPECT_EQ(k.along(k.least(k.b.add(k.i, k.j), k.b.mul(k.i, k.b.integer(2))), k.i),
              Stride::Other);
}
TEST(IndexForm, WhatIsLoadedMovesAnyhow) {
    Indices k;
    const int buffer = k.b.buffer(0, i32, k.n, BindingForm::Storage, 1, false);
    const NodeId index = k.b.add(k.b.load(buffer, k.i), k.j);
    EXPECT_EQ(k.along(index, k.i), Stride::Other);
    EXPECT_EQ(k.along(index, k.j), Stride::One);
    EXPECT_FALSE(IndexForms(k.code).of(index).carried);
}
TEST(IndexForm, WhatALoopGivesMovesWithEveryRange) {
    Indices k;
    const RegionId body = k.b.add_region();
    k.code[body].range = k.b.node(k.j).as<RangeId>();
    const NodeId carried = k.b.region_arg(body, i32);
    k.code[body].yields = {carried};
    const NodeId result = k.b.result(k.b.close_for(body, {k.b.integer(0)}), 0);
    EXPECT_EQ(k.along(k.b.add(k.i, carried), k.i), Stride::One);
    EXPECT_EQ(k.along(k.b.add(k.i, result), k.i), Stride::Other);
    EXPECT_TRUE(IndexForms(k.code).of(k.b.add(k.i, carried)).carried);
}
TEST(IndexForm, AFactorBeyond64BitsIsNoSum) {
    Indices k;
    NodeId index = k.i;
    const NodeId large = k.b.size(k.n * (int64_t{1} << 30));
    for (int iteration = 0; iteration < 3; ++iteration) index = k.b.mul(index, large);
    EXPECT_EQ(k.along(index, k.i), Stride::Other);
}

}  // namespace
}  // namespace firn
