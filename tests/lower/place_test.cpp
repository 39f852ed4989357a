// Where nodes are evaluated when the lanes of a subgroup part.
#include "compiler/lower/place.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lower/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

bool stands_in(const ByHand& k, int region, int id) {
    const std::vector<int>& order = k.code.regions[static_cast<size_t>(region)].order;
    return std::find(order.begin(), order.end(), id) != order.end();
}

/// A store of a subgroup's sum behind a condition; what it adds up is only needed there.
struct Guarded {
    ByHand k;
    int term = -1, sum = -1, region = -1;

    explicit Guarded(bool by_lane) {
        int y = k.buffer(i32, true);
        int lane = k.range(RangeKind::Subgroup, 8), group = k.range(RangeKind::Group, 4);
        term = k.add(k.make(Op::Mul, i32, {lane, group}));
        KernelNode reduce = k.make(Op::SubgroupReduce, i32, {term});
        sum = k.add(reduce);
        int condition = k.add(k.make(Op::Equal, boolean, {by_lane ? lane : group, k.integer(0)}));
        region = k.region();
        k.store(region, y, group, sum);
        k.effect(0, k.close(-1, Op::Branch, {condition}, region));
        place(k.code);
    }
};

TEST(Place, WhatLanesComputeTogetherLeavesABranchOfSome) {
    Guarded kernel(true);
    EXPECT_TRUE(stands_in(kernel.k, 0, kernel.sum));
    EXPECT_TRUE(stands_in(kernel.k, 0, kernel.term));
}

TEST(Place, ItStaysInABranchThatAllLanesTake) {
    Guarded kernel(false);
    EXPECT_TRUE(stands_in(kernel.k, kernel.region, kernel.sum));
}

TEST(Place, ItLeavesALoopThatLanesTakeUnequallyOften) {
    ByHand k;
    int y = k.buffer(i32, true);
    int lane = k.range(RangeKind::Subgroup, 8);
    int sum = k.add(k.make(Op::SubgroupReduce, i32, {lane}));
    int body = k.region(), inside = k.region();
    int turn = k.serial(body, lane);
    int odd = k.add(k.make(Op::Equal, boolean, {turn, k.integer(1)}));
    k.store(inside, y, turn, sum);
    k.effect(body, k.close(-1, Op::Branch, {odd}, inside));
    k.effect(0, k.close(-1, Op::For, {}, body));
    place(k.code);
    EXPECT_TRUE(stands_in(k, 0, sum));
}

}  // namespace
}  // namespace firn
