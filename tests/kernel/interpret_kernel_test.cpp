// Kernel code run on the host: arithmetic, masks, loops, branches, memory, subgroups, counts.
#include "compiler/kernel/interpret/interpret_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/base/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/kernel/functions/functions.h"
#include "tests/kernel/function_points.h"
#include "tests/kernel/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

/// Memory of `count` elements, and a view of it as bytes.
template <class T>
std::span<std::byte> bytes(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

std::string error_of(const ByHand& k, std::vector<std::span<std::byte>> buffers) {
    try {
        interpret_kernel(k.code, buffers, {}, {}, 8);
    } catch (const InternalError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(InterpretKernel, AddsOverAGridWithATail) {
    ByHand k;
    int x = k.buffer(f32, false), y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, 300);
    k.store(kRoot, y, i,
            k.op(KernelOp::Add, f32, {k.load(kRoot, x, i), k.constant(scalar_float(0.5))}, kRoot));
    std::vector<float> in(300), out(300);
    for (int n = 0; n < 300; ++n) in[size_t(n)] = float(n);
    KernelCounts counts = interpret_kernel(k.code, {bytes(in), bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out[0], 0.5f);
    EXPECT_EQ(out[299], 299.5f);
    EXPECT_EQ(counts.invocations, 300);
    EXPECT_EQ(counts.operations, 300);
    EXPECT_EQ(counts.loads, 300);
    EXPECT_EQ(counts.bytes_read, 1200);
    EXPECT_EQ(counts.bytes_written, 1200);
}

TEST(InterpretKernel, GridIsRowMajor) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, Size::symbol("n")), j = k.range(RangeKind::Grid, 7);
    NodeId row = k.op(KernelOp::Mul, i32, {i, k.integer(7)}, kRoot);
    k.store(kRoot, y, k.op(KernelOp::Add, i32, {row, j}, kRoot), row);
    std::vector<int32_t> out(35, -1);
    interpret_kernel(k.code, {bytes(out)}, {}, {{"n", 5}}, 8);
    for (int n = 0; n < 35; ++n) EXPECT_EQ(out[size_t(n)], n / 7 * 7);
}

TEST(InterpretKernel, EmptyGridDoesNothing) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, Size::symbol("n"));
    k.store(kRoot, y, i, i);
    std::vector<int32_t> none;
    EXPECT_EQ(interpret_kernel(k.code, {bytes(none)}, {}, {{"n", 0}}, 8).invocations, 0);
}

TEST(InterpretKernel, GroupsAndInvocationsCoverTwoDimensions) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId gx = k.range(RangeKind::Group, 2, 0), gy = k.range(RangeKind::Group, 3, 1);
    NodeId lx = k.range(RangeKind::Invocation, 4, 0), ly = k.range(RangeKind::Invocation, 2, 1);
    k.code.group_size = {4, 2, 1};
    k.code.groups = {2, 3, 1};
    NodeId x =
        k.op(KernelOp::Add, i32, {k.op(KernelOp::Mul, i32, {gx, k.integer(4)}, kRoot), lx}, kRoot);
    NodeId row =
        k.op(KernelOp::Add, i32, {k.op(KernelOp::Mul, i32, {gy, k.integer(2)}, kRoot), ly}, kRoot);
    k.store(
        kRoot, y,
        k.op(KernelOp::Add, i32, {k.op(KernelOp::Mul, i32, {row, k.integer(8)}, kRoot), x}, kRoot),
        k.op(KernelOp::Sub, i32, {row, x}, kRoot));
    std::vector<int32_t> out(48, 99);
    EXPECT_EQ(interpret_kernel(k.code, {bytes(out)}, {}, {}, 8).invocations, 48);
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 8; ++c) EXPECT_EQ(out[size_t(8 * r + c)], r - c);
}

TEST(InterpretKernel, GroupsOfTheCallReplaceThoseOfTheCode) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId g = k.range(RangeKind::Group, 2, 0);
    k.code.groups = {2, 1, 1};
    k.store(kRoot, y, g, k.integer(1));
    std::vector<int32_t> out(5);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8, std::array<int64_t, 3>{5, 1, 1});
    EXPECT_EQ(out, (std::vector<int32_t>{1, 1, 1, 1, 1}));
}

TEST(InterpretKernel, ParametersAreUniform) {
    ByHand k;
    int y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, 3);
    k.store(kRoot, y, i, k.param(f32));
    std::vector<float> out(3);
    interpret_kernel(k.code, {bytes(out)}, {scalar_float(2.5)}, {}, 8);
    EXPECT_EQ(out, (std::vector<float>{2.5f, 2.5f, 2.5f}));
}

TEST(InterpretKernel, LoopTripCountsDifferPerLane) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 20);
    RegionId body = k.region();
    NodeId t = k.serial(body, i);
    NodeId sum = k.region_arg(body, i32);
    k.code[body].yields = {k.op(KernelOp::Add, i32, {sum, t}, body)};
    NodeId loop = k.close(kRoot, KernelOp::For, {k.integer(100)}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, i32));
    std::vector<int32_t> out(20);
    KernelCounts counts = interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    for (int n = 0; n < 20; ++n) EXPECT_EQ(out[size_t(n)], 100 + n * (n - 1) / 2);
    EXPECT_EQ(counts.back_edges, 19);
    EXPECT_EQ(counts.operations, 190);
}

TEST(InterpretKernel, AliveDropsLanes) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 20);
    RegionId body = k.region();
    k.serial(body, k.integer(50));
    NodeId value = k.region_arg(body, i32);
    NodeId next = k.op(KernelOp::Add, i32, {value, k.integer(3)}, body);
    k.code[body].yields = {next};
    k.code[body].alive = k.op(KernelOp::Less, boolean, {next, k.integer(30)}, body);
    NodeId loop = k.close(kRoot, KernelOp::For, {i}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, i32));
    std::vector<int32_t> out(20);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    for (int n = 0; n < 20; ++n) {
        int expected = n;
        do expected += 3;
        while (expected < 30);
        EXPECT_EQ(out[size_t(n)], expected);
    }
}

TEST(InterpretKernel, AliveMayBeARegionArgumentBeforeItIsCarried) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 2);
    RegionId body = k.region();
    k.serial(body, k.integer(5));
    NodeId count = k.region_arg(body, i32), flag = k.region_arg(body, boolean);
    NodeId next = k.op(KernelOp::Add, i32, {count, k.integer(1)}, body);
    k.code[body].yields = {next, k.constant(scalar_bool(true))};
    k.code[body].alive = flag;
    NodeId first = k.op(KernelOp::Equal, boolean, {i, k.integer(1)}, kRoot);
    NodeId loop = k.close(kRoot, KernelOp::For, {k.integer(0), first}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, i32));
    std::vector<int32_t> out(2);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{1, 5}));
}

TEST(InterpretKernel, RegionsOfDeadLoopsDoNotRun) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 2);
    RegionId inner = k.region(), outer = k.region();
    k.serial(inner, i);
    NodeId value = k.region_arg(inner, i32);
    k.code[inner].yields = {value};
    NodeId loop = k.close({}, KernelOp::For, {i}, inner);
    k.code[outer].yields = {k.result({}, loop, 0, i32)};
    k.store(kRoot, y, i, i);
    std::vector<int32_t> out(2);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{0, 1}));
}

TEST(InterpretKernel, CarriedValuesSwapAtOnce) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 4);
    RegionId body = k.region();
    k.serial(body, i);
    NodeId a = k.region_arg(body, i32), b = k.region_arg(body, i32);
    k.code[body].yields = {b, a};
    NodeId loop = k.close(kRoot, KernelOp::For, {k.integer(1), k.integer(2)}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, i32));
    std::vector<int32_t> out(4);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{1, 2, 1, 2}));
}

TEST(InterpretKernel, NestedLoopsStartAfreshEachIteration) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 4);
    RegionId outer = k.region(), inner = k.region();
    k.serial(outer, k.integer(3));
    k.serial(inner, i);
    NodeId total = k.region_arg(outer, i32), part = k.region_arg(inner, i32);
    k.code[inner].yields = {k.op(KernelOp::Add, i32, {part, k.integer(1)}, inner)};
    NodeId inside = k.close(outer, KernelOp::For, {k.integer(0)}, inner);
    NodeId counted = k.result(outer, inside, 0, i32);
    k.code[outer].yields = {k.op(KernelOp::Add, i32, {total, counted}, outer)};
    NodeId loop = k.close(kRoot, KernelOp::For, {k.integer(0)}, outer);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, i32));
    std::vector<int32_t> out(4);
    KernelCounts counts = interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{0, 3, 6, 9}));
    EXPECT_EQ(counts.back_edges, 3 + 9);
}

TEST(InterpretKernel, BranchTakesEachLaneItsSide) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 20);
    RegionId yes = k.region(), no = k.region();
    NodeId even = k.op(KernelOp::Equal, boolean,
                       {k.op(KernelOp::Mod, i32, {i, k.integer(2)}, kRoot), k.integer(0)}, kRoot);
    k.code[yes].yields = {k.op(KernelOp::Mul, i32, {i, i}, yes)};
    k.code[no].yields = {k.op(KernelOp::Neg, i32, {i}, no)};
    NodeId branch = k.close(kRoot, KernelOp::Branch, {even}, yes, no);
    k.store(kRoot, y, i, k.result(kRoot, branch, 0, i32));
    std::vector<int32_t> out(20);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    for (int n = 0; n < 20; ++n) EXPECT_EQ(out[size_t(n)], n % 2 ? -n : n * n);
}

TEST(InterpretKernel, GuardKeepsAccessesInside) {
    ByHand k;
    int x = k.buffer(f32, false), y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Invocation, 16, 0);
    k.code.group_size = {16, 1, 1};
    RegionId body = k.region();
    NodeId inside = k.op(KernelOp::Less, boolean, {i, k.integer(5)}, kRoot);
    k.store(body, y, i, k.load(body, x, i));
    k.effect(kRoot, k.close({}, KernelOp::Branch, {inside}, body));
    std::vector<float> in{1, 2, 3, 4, 5}, out(5);
    EXPECT_EQ(interpret_kernel(k.code, {bytes(in), bytes(out)}, {}, {}, 8).stores, 5);
    EXPECT_EQ(out, in);
}

TEST(InterpretKernel, LoopWithStores) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 3);
    RegionId body = k.region();
    NodeId t = k.serial(body, k.integer(4));
    NodeId place =
        k.op(KernelOp::Add, i32, {k.op(KernelOp::Mul, i32, {i, k.integer(4)}, body), t}, body);
    k.store(body, y, place, t);
    k.effect(kRoot, k.close({}, KernelOp::For, {}, body));
    std::vector<int32_t> out(12, -1);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(InterpretKernel, VectorsLoadAndStoreNeighbours) {
    ByHand k;
    int x = k.buffer(f32, false), y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, 2);
    NodeId at = k.op(KernelOp::Mul, i32, {i, k.integer(4)}, kRoot);
    NodeId vector = k.load(kRoot, x, at, 4);
    std::vector<NodeId> reversed;
    for (int lane : {3, 2, 1, 0}) reversed.push_back(k.lane(kRoot, vector, lane));
    k.store(kRoot, y, at, reversed);
    std::vector<float> in{0, 1, 2, 3, 4, 5, 6, 7}, out(8);
    interpret_kernel(k.code, {bytes(in), bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<float>{3, 2, 1, 0, 7, 6, 5, 4}));
}

TEST(InterpretKernel, SubgroupReducesConsecutiveLanes) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Invocation, 16, 0);
    k.code.group_size = {16, 1, 1};
    k.store(kRoot, y, i, k.subgroup_reduce(kRoot, ReduceOp::Sum, i));
    std::vector<int32_t> out(16);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out[0], 28);
    EXPECT_EQ(out[7], 28);
    EXPECT_EQ(out[8], 92);
}

TEST(InterpretKernel, SubgroupRangeIsTheLane) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Invocation, 16, 0), lane = k.range(RangeKind::Subgroup, 8);
    k.code.group_size = {16, 1, 1};
    k.store(kRoot, y, i, lane);
    std::vector<int32_t> out(16);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out[13], 5);
}

TEST(InterpretKernel, AtomicsCombineInLaneOrder) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Grid, 300);
    NodeId bin = k.op(KernelOp::Mod, i32, {i, k.integer(3)}, kRoot);
    k.effect(kRoot, k.atomic(ScatterOp::Add, y, bin, i));
    k.effect(kRoot, k.atomic(ScatterOp::Max, y, k.integer(3), i));
    std::vector<int32_t> out(4);
    interpret_kernel(k.code, {bytes(out)}, {}, {}, 8);
    EXPECT_EQ(out, (std::vector<int32_t>{14850, 14950, 15050, 299}));
}

TEST(InterpretKernel, NarrowStorageConverts) {
    ByHand k;
    int x = k.buffer(u8, false), y = k.buffer(f16, true);
    NodeId i = k.range(RangeKind::Grid, 3);
    NodeId wide = k.load(kRoot, x, i, 1, i32);
    k.store(kRoot, y, i, k.op(KernelOp::Cast, f32, {wide}, kRoot));
    std::vector<uint8_t> in{1, 200, 255};
    std::vector<uint16_t> out(3);
    interpret_kernel(k.code, {bytes(in), bytes(out)}, {}, {}, 8);
    EXPECT_EQ(f16_bits_to_f32(out[1]), 200.0f);
    EXPECT_EQ(f16_bits_to_f32(out[2]), 255.0f);
}

TEST(InterpretKernel, ReadOutsideIsNamed) {
    ByHand k;
    int x = k.buffer(f32, false), y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, 3);
    k.store(kRoot, y, i, k.load(kRoot, x, k.op(KernelOp::Add, i32, {i, k.integer(2)}, kRoot)));
    std::vector<float> in(4), out(4);
    EXPECT_EQ(
        error_of(k, {bytes(in), bytes(out)}),
        "internal error: kernel by_hand: Load of buffer 0 (program buffer 7) at index 4, 1 wide: "
        "it has 4 elements");
}
TEST(InterpretKernel, NegativeStoreIsRefused) {
    ByHand k;
    int y = k.buffer(f32, true);
    NodeId i = k.range(RangeKind::Grid, 3);
    k.store(kRoot, y, k.op(KernelOp::Neg, i32, {i}, kRoot), k.constant(scalar_float(1)));
    std::vector<float> out(4);
    EXPECT_NE(error_of(k, {bytes(out)}).find("at index -1, 1 wide"), std::string::npos);
}
TEST(InterpretKernel, StoreIntoAReadOnlyBufferIsRefused) {
    ByHand k;
    int y = k.buffer(f32, false);
    NodeId i = k.range(RangeKind::Grid, 3);
    k.store(kRoot, y, i, k.constant(scalar_float(1)));
    std::vector<float> out(4);
    EXPECT_NE(error_of(k, {bytes(out)}).find("read-only"), std::string::npos);
}
TEST(InterpretKernel, LoopBeyondItsBoundIsRefused) {
    ByHand k;
    NodeId i = k.range(RangeKind::Grid, 3);
    int y = k.buffer(i32, true);
    RegionId body = k.region();
    NodeId t = k.serial(body, k.integer(9));
    k.code.ranges.back().max_trips = 8;
    k.store(body, y, i, t);
    k.effect(kRoot, k.close({}, KernelOp::For, {}, body));
    std::vector<int32_t> out(4);
    EXPECT_NE(error_of(k, {bytes(out)}).find("more iterations than its bound of 8"),
              std::string::npos);
}
/// All four lanes load the element of a group's memory in front of two loops, in which lane 0
/// stores it; `counted` says for how many lanes the inner loop goes round.
std::string run_loops_behind_a_load(int counted) {
    ByHand k;
    int s = k.buffer(i32, true), out = k.buffer(i32, true);
    std::swap(k.code.buffers[0], k.code.buffers[1]), std::swap(s, out);
    k.code.buffers[size_t(s)].space = MemorySpace::Shared;
    k.code.buffers[size_t(s)].elements = Size(1);
    NodeId lane = k.range(RangeKind::Invocation, 4, 0);
    k.code.group_size = {4, 1, 1};
    k.code.groups = {1, 1, 1};
    NodeId array = k.add(k.make(KernelOp::Array, i32, {}, AccessAttr{.buffer = s}));
    NodeId barrier = k.add(k.make(KernelOp::Barrier, i32));
    k.effect(kRoot, array), k.effect(kRoot, barrier);
    NodeId loaded = k.load(kRoot, s, k.integer(0));
    k.effect(kRoot, loaded), k.code[kRoot].order.pop_back();
    for (NodeId id : {array, barrier, loaded}) k.code[id].pinned = true;
    RegionId outer = k.region(), inner = k.region(), first = k.region();
    NodeId iteration = k.serial(outer, k.integer(2));
    NodeId place = k.op(KernelOp::Add, i32,
                        {k.op(KernelOp::Mul, i32, {iteration, k.integer(4)}, outer), lane}, outer);
    NodeId below = k.op(KernelOp::Less, boolean, {place, k.integer(counted)}, outer);
    k.serial(inner, k.op(KernelOp::Select, i32, {below, k.integer(1), k.integer(0)}, outer));
    NodeId next = k.op(KernelOp::Add, i32, {loaded, k.integer(5)}, inner);
    NodeId is_first = k.op(KernelOp::Less, boolean, {lane, k.integer(1)}, inner);
    k.store(first, s, k.integer(0), next);
    k.store(inner, out, lane, next);
    k.effect(inner, k.close({}, KernelOp::Branch, {is_first}, first));
    k.effect(outer, k.close({}, KernelOp::For, {}, inner));
    k.effect(kRoot, k.close({}, KernelOp::For, {}, outer));
    std::vector<int32_t> memory(4, 1);
    try {
        interpret_kernel(k.code, {bytes(memory)}, {}, {}, 4);
    } catch (const UserError& error) {
        return error.what();
    }
    return memory == std::vector<int32_t>{5, 1, 1, 1} ? "right" : "wrong";
}

TEST(InterpretKernel, LanesThatALoopLeavesOutUseNoLoadBeforeIt) {
    EXPECT_EQ(run_loops_behind_a_load(1), "right");
    EXPECT_NE(run_loops_behind_a_load(2).find("another stores it"), std::string::npos);
    EXPECT_NE(run_loops_behind_a_load(8).find("another stores it"), std::string::npos);
}

TEST(InterpretKernel, PartialSubgroupIsRefused) {
    ByHand k;
    int y = k.buffer(i32, true);
    NodeId i = k.range(RangeKind::Invocation, 12, 0);
    k.code.group_size = {12, 1, 1};
    k.store(kRoot, y, i, k.subgroup_reduce(kRoot, ReduceOp::Sum, i));
    std::vector<int32_t> out(12);
    EXPECT_NE(error_of(k, {bytes(out)}).find("runs on 4 of 8 lanes"), std::string::npos);
}

/// Every elementwise operation on ugly values, lane by lane against `evaluate`.
struct OpCase {
    KernelOp op;
    DType dtype;
};
std::vector<Scalar> ugly_values(DType dtype) {
    std::vector<Scalar> values;
    if (dtype.is_bool()) return {scalar_bool(false), scalar_bool(true)};
    if (dtype.is_float()) {
        double inf = std::numeric_limits<double>::infinity();
        for (double v :
             {0.0, -0.0, 1.0, -1.5, 0.3, 7.5, 1e-40, 3e9, -3e9, 1e38, inf, -inf, double(NAN)})
            values.push_back(scalar_float(v, dtype));
    } else {
        for (int64_t v :
             {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-7}, int64_t{31},
              int64_t{33}, int64_t{INT32_MAX}, int64_t{INT32_MIN}, INT64_MAX, INT64_MIN})
            values.push_back(scalar_int(v, dtype));
    }
    return values;
}
bool accepts(KernelOp op, DType dtype) {
    ResultRule rule = info(op).result;
    if (op == KernelOp::Not) return dtype.is_bool();
    if (rule == ResultRule::Float) return dtype.is_float();
    if (rule == ResultRule::Int) return !dtype.is_float();
    return !dtype.is_bool() || rule == ResultRule::Bool || op == KernelOp::Select ||
           op == KernelOp::Cast;
}

/// The largest difference from the host's libm: the error of a function's definition, and a unit of
/// libm's own. 0: every other operation is exact.
double most_units(KernelOp op, DType dtype) {
    const KernelFunction* function = find_kernel_function(op, dtype);
    return function ? function->ulps + 1 : 0;
}

double units_between(const Scalar& got, const Scalar& expected) {
    return got.dtype == f64 ? error_in_wide_ulps(got.f, expected.f)
                            : error_in_ulps(static_cast<float>(got.f), expected.f);
}

void expect_same_as_evaluate(KernelOp op, DType dtype, DType target) {
    std::vector<Scalar> values = ugly_values(dtype);
    int arity = info(op).arity;
    size_t count = values.size(), cases = arity == 1 ? count : count * count;
    ByHand k;
    NodeId i = k.range(RangeKind::Grid, int64_t(cases));
    std::vector<NodeId> args;
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::vector<Scalar>> inputs(cases);
    for (int arg = 0; arg < arity; ++arg) {
        DType type = op == KernelOp::Select && arg == 0 ? boolean : dtype;
        args.push_back(k.load(kRoot, k.buffer(type, false), i));
        memory.emplace_back(cases * size_t(type.bytes()));
        for (size_t n = 0; n < cases; ++n) {
            Scalar value = arg == 0 ? values[n % count] : values[n / count];
            if (type != dtype) value = scalar_bool(n % 3 == 0);
            inputs[n].push_back(value);
            store_scalar(value, memory.back().data() + n * size_t(type.bytes()));
        }
    }
    k.store(kRoot, k.buffer(target, true), i, k.op(op, target, args, kRoot));
    memory.emplace_back(cases * size_t(target.bytes()));
    std::vector<std::span<std::byte>> buffers;
    for (auto& bytes : memory) buffers.push_back(bytes);
    for (const FunctionValues functions : {FunctionValues::OfHost, FunctionValues::Defined}) {
        interpret_kernel(k.code, buffers, {}, {}, 8, std::nullopt, functions);
        const double most = functions == FunctionValues::Defined ? most_units(op, target) : 0;
        for (size_t n = 0; n < cases; ++n) {
            Scalar got = load_scalar(target, memory.back().data() + n * size_t(target.bytes()));
            Scalar expected = evaluate(graph_op(op), target, inputs[n]);
            bool nans = target.is_float() && std::isnan(got.f) && std::isnan(expected.f);
            EXPECT_TRUE(nans || got == expected ||
                        (most > 0 && units_between(got, expected) <= most))
                << info(op).name << ' ' << dtype.name() << " of " << text(inputs[n][0])
                << (arity > 1 ? " and " + text(inputs[n][1]) : "") << ": " << text(got)
                << " instead of " << text(expected);
        }
    }
}

class EveryOperation : public testing::TestWithParam<DType> {};
TEST_P(EveryOperation, IsWhatEvaluateSays) {
    for (int index = 0; index < kElementwiseCount; ++index) {
        const auto op = static_cast<KernelOp>(index);
        if (!accepts(op, GetParam())) continue;
        if (op == KernelOp::Cast) {
            for (DType target : kAllTypes) expect_same_as_evaluate(op, GetParam(), target);
        } else if (op == KernelOp::Bitcast) {
            for (DType target : kAllTypes)
                if (target.bytes() == GetParam().bytes() && !target.is_bool())
                    expect_same_as_evaluate(op, GetParam(), target);
        } else {
            bool to_bool = info(op).result == ResultRule::Bool;
            expect_same_as_evaluate(op, GetParam(), to_bool ? boolean : GetParam());
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Types, EveryOperation, testing::ValuesIn(kAllTypes),
                         [](const auto& info) { return std::string(info.param.name()); });

}  // namespace
}  // namespace firn
