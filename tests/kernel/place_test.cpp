// Places nodes when the lanes of a subgroup diverge, and orders them.
#include "compiler/kernel/place.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/mapping/behind/order_values.h"
#include "compiler/target/glsl/glsl.h"
#include "tests/kernel/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

bool stands_in(const ByHand& k, RegionId region, NodeId id) {
    const std::vector<NodeId>& order = k.code[region].order;
    return std::find(order.begin(), order.end(), id) != order.end();
}

/// A store of a subgroup's sum behind a condition; its terms are only needed there.
struct Guarded {
    ByHand k;
    NodeId term, sum;
    RegionId region;

    explicit Guarded(bool by_lane) {
        int y = k.buffer(i32, true);
        NodeId lane = k.range(RangeKind::Subgroup, 8), group = k.range(RangeKind::Group, 4);
        term = k.add(k.make(KernelOp::Mul, i32, {lane, group}));
        sum = k.subgroup_reduce({}, ReduceOp::Sum, term);
        NodeId condition =
            k.add(k.make(KernelOp::Equal, boolean, {by_lane ? lane : group, k.integer(0)}));
        region = k.region();
        k.store(region, y, group, sum);
        k.effect(kRoot, k.close({}, KernelOp::Branch, {condition}, region));
        place(k.code);
    }
};

TEST(Place, WhatLanesComputeTogetherLeavesABranchOfSome) {
    Guarded kernel(true);
    EXPECT_TRUE(stands_in(kernel.k, kRoot, kernel.sum));
    EXPECT_TRUE(stands_in(kernel.k, kRoot, kernel.term));
}

TEST(Place, ItStaysInABranchThatAllLanesTake) {
    Guarded kernel(false);
    EXPECT_TRUE(stands_in(kernel.k, kernel.region, kernel.sum));
}

TEST(Place, ItLeavesALoopThatLanesTakeUnequallyOften) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId lane = k.range(RangeKind::Subgroup, 8);
    NodeId sum = k.subgroup_reduce({}, ReduceOp::Sum, lane);
    RegionId body = k.region(), inside = k.region();
    NodeId iteration = k.serial(body, lane);
    NodeId odd = k.add(k.make(KernelOp::Equal, boolean, {iteration, k.integer(1)}));
    k.store(inside, y, iteration, sum);
    k.effect(body, k.close({}, KernelOp::Branch, {odd}, inside));
    k.effect(kRoot, k.close({}, KernelOp::For, {}, body));
    place(k.code);
    EXPECT_TRUE(stands_in(k, kRoot, sum));
}

/// Returns whether a load leaves a loop of at most `most` iterations; its index is the same in all
/// of them, and lies from `low` on in a buffer of 20.
bool load_leaves_loop(int64_t most, int64_t low, bool counted) {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    k.code.buffers[size_t(x)].elements = Size(20);
    const NodeId count = k.load(kRoot, k.buffer(i32, false), k.integer(0));
    const NodeId index = k.add(k.make(KernelOp::Sub, i32, {count, k.integer(1)}));
    k.code[index].interval = {low, most - 1};
    const NodeId loaded = k.load({}, x, index);
    const RegionId body = k.region();
    const NodeId iteration = k.serial(body, counted ? count : k.integer(most));
    k.code.ranges.back().max_trips = most;
    k.store(body, y, iteration, loaded);
    k.effect(kRoot, k.close({}, KernelOp::For, {}, body));
    place(k.code);
    return !stands_in(k, body, loaded);
}

TEST(Place, LoadsThatMayBeOutsideStayInALoopOfOneIterationOrNone) {
    EXPECT_FALSE(load_leaves_loop(1, -1, true));
    EXPECT_TRUE(load_leaves_loop(1, 0, true));
    EXPECT_TRUE(load_leaves_loop(1, -1, false));
    EXPECT_TRUE(load_leaves_loop(5, -1, true));
}

/// Returns the region that evaluates the value of a store in every iteration of a loop, behind a
/// condition of the iteration, if the value is the same in every iteration.
RegionId region_of_same_in_every_turn(bool guard, bool loaded) {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId index = k.range(RangeKind::Invocation, 64);
    const NodeId from = loaded ? k.load({}, x, index) : k.add(k.make(KernelOp::Cast, f32, {index}));
    const NodeId value = k.add(k.make(KernelOp::Cos, f32, {from}));
    const RegionId body = k.region(), inside = k.region();
    const NodeId iteration = k.serial(body, k.integer(9));
    const NodeId short_of = k.add(k.make(KernelOp::Less, boolean, {iteration, k.integer(8)}));
    k.store(inside, y, iteration, value);
    const NodeId branch = k.close({}, KernelOp::Branch, {short_of}, inside);
    k.code[branch].guard = guard;
    k.effect(body, branch);
    k.effect(kRoot, k.close({}, KernelOp::For, {}, body));
    place(k.code);
    return stands_in(k, kRoot, value) ? kRoot : stands_in(k, inside, value) ? inside : body;
}

TEST(Place, WhatEveryIterationRepeatsLeavesTheLoopWithItsGuard) {
    EXPECT_EQ(region_of_same_in_every_turn(true, false), kRoot);
}

TEST(Place, ItStaysBehindAConditionOfTheUser) {
    EXPECT_NE(region_of_same_in_every_turn(false, false), kRoot);
}

TEST(Place, WhatIsLoadedStaysBehindTheGuard) {
    EXPECT_NE(region_of_same_in_every_turn(true, true), kRoot);
}

/// A load that only a store behind a condition needs: the region that evaluates it.
RegionId region_of_load(bool loads_first, bool guard) {
    ByHand k;
    k.code.loads_first = loads_first;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId index = k.range(RangeKind::Invocation, 64);
    const NodeId inside = k.add(k.make(KernelOp::Less, boolean, {index, k.integer(60)}));
    const NodeId value = k.load({}, x, index);
    const RegionId region = k.region();
    k.store(region, y, index, value);
    const NodeId branch = k.close({}, KernelOp::Branch, {inside}, region);
    k.code[branch].guard = guard;
    k.effect(kRoot, branch);
    place(k.code);
    return stands_in(k, kRoot, value) ? kRoot : region;
}

TEST(Place, LoadsLeaveTheGuardsOfAKernelThatLoadsFirst) {
    EXPECT_EQ(region_of_load(true, true), kRoot);
    EXPECT_NE(region_of_load(false, true), kRoot);
    EXPECT_NE(region_of_load(true, false), kRoot);  // a condition of the user's
}

/// A load and a store, three times. The last load reads the stored buffer.
struct PlaceStrides {
    ByHand k;
    std::vector<NodeId> loads, stores;

    PlaceStrides() {
        k.code.loads_first = k.code.in_order = true;
        const int x = k.buffer(f32, false), y = k.buffer(f32, true);
        const NodeId index = k.range(RangeKind::Invocation, 64);
        for (int stride = 0; stride < 3; ++stride) {
            const NodeId at = k.add(k.make(KernelOp::Add, i32, {index, k.integer(64 * stride)}));
            loads.push_back(k.load({}, stride < 2 ? x : y, at));
            k.store(kRoot, y, at, loads.back());
            stores.push_back(k.code[kRoot].effects.back());
        }
        place(k.code);
    }
    auto position(NodeId id) const {
        const std::vector<NodeId>& order = k.code[kRoot].order;
        return std::find(order.begin(), order.end(), id) - order.begin();
    }
};

TEST(Place, LoadsDoNotWaitForStoresToOtherBuffers) {
    const PlaceStrides kernel;
    EXPECT_LT(kernel.position(kernel.loads[1]), kernel.position(kernel.stores[0]));
    EXPECT_GT(kernel.position(kernel.loads[2]), kernel.position(kernel.stores[1]));
}

TEST(Place, LoadsThatComeFirstAreNotInlinedIntoLaterStores) {
    const std::string text = emit_glsl(PlaceStrides().k.code, cpu_profile());
    const size_t store = text.find("b1[", text.find("void main"));
    ASSERT_NE(store, std::string::npos) << text;
    EXPECT_EQ(text.find("b0[", text.find(';', store)), std::string::npos) << text;
}

/// Chains of loads, each at an index that the one before gives, one chain after the other; each is
/// stored at its end.
struct Chains {
    ByHand k;
    std::vector<NodeId> first, last;

    /// `stored`: chains that end in one store.
    Chains(int count, int length, int stored = 1) {
        int x = k.buffer(i32, false), y = k.buffer(i32, true);
        NodeId i = k.range(RangeKind::Group, 4);
        for (int chain = 0; chain < count; ++chain) {
            NodeId at = k.add(k.make(KernelOp::Add, i32, {i, k.integer(chain)}));
            first.push_back(at);
            for (int link = 0; link < length; ++link) at = k.load({}, x, at);
            last.push_back(at);
            if (last.size() % static_cast<size_t>(stored) == 0)
                k.store(kRoot, y, i, {last.end() - stored, last.end()});
        }
        place(k.code);
    }
    const std::vector<NodeId>& order() const { return k.code[kRoot].order; }
    auto position(NodeId id) const {
        return std::find(order().begin(), order().end(), id) - order().begin();
    }
};

TEST(OrderValues, LongChainsComeToStandSideBySide) {
    Chains chains(2, 200);
    const std::vector<NodeId> before = chains.order();
    EXPECT_GT(chains.position(chains.first[1]), chains.position(chains.last[0]));
    order_values(chains.k.code);
    EXPECT_LT(chains.position(chains.first[1]), chains.position(chains.last[0]) / 2);
    EXPECT_TRUE(std::is_permutation(before.begin(), before.end(), chains.order().begin(),
                                    chains.order().end()));
    for (NodeId id : chains.order())
        for (NodeId arg : chains.k.code[id].args)
            EXPECT_TRUE(!stands_in(chains.k, kRoot, arg) ||
                        chains.position(arg) < chains.position(id));
}

TEST(OrderValues, ShortChainsThatACoreSeesTogetherStay) {
    Chains chains(200, 2);
    const std::vector<NodeId> before = chains.order();
    order_values(chains.k.code);
    EXPECT_EQ(chains.order(), before);
}

TEST(OrderValues, LanesThatKeepACoreBusyAloneComeOneAfterTheOther) {
    Chains chains(8, 200, 4);  // two stores of four: chains k and k + 4 are lane k
    order_values(chains.k.code);
    for (size_t lane = 0; lane < 4; ++lane) {
        EXPECT_LT(chains.position(chains.first[lane + 4]),
                  chains.position(chains.last[lane]) - 100);
        if (lane == 0) continue;
        EXPECT_GT(chains.position(chains.first[lane]), chains.position(chains.last[lane - 1]));
        EXPECT_GT(chains.position(chains.first[lane]), chains.position(chains.last[lane + 3]));
    }
}

}  // namespace
}  // namespace firn
