// The values that the model of register tiles counts as shared.
#include "compiler/mapping/choice/tile_model.h"

#include <gtest/gtest.h>

#include "tests/kernel/kernel_by_hand.h"

namespace firn {
namespace {

using namespace test;

/// y[i] = the sum of x[step * i + j] over three iterations j, and of `weighted` times each j's own
/// load.
TileModel sums(int64_t step, bool weighted = false) {
    ByHand k;
    const int x = k.buffer(f32, false), w = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId i = k.range(RangeKind::Grid, 64), zero = k.constant(scalar_float(0)),
                 three = k.integer(3);
    const RegionId body = k.region();
    const NodeId j = k.serial(body, three);
    k.code.ranges.back().max_trips = 3;
    const NodeId sum = k.region_arg(body, f32);
    const NodeId first = step == 1 ? i : k.op(KernelOp::Mul, i32, {i, k.integer(step)}, kRoot);
    NodeId term = k.load(body, x, k.op(KernelOp::Add, i32, {first, j}, body));
    if (weighted) term = k.op(KernelOp::Mul, f32, {term, k.load(body, w, j)}, body);
    k.code[body].yields = {k.op(KernelOp::Add, f32, {sum, term}, body)};
    const NodeId loop = k.close(kRoot, KernelOp::For, {zero}, body);
    k.store(kRoot, y, i, k.result(kRoot, loop, 0, f32));
    return TileModel(k.code, true);
}

TEST(TileModel, NeighboursThatReadOverlappingWindowsShareLoads) {
    // Four neighbours of three iterations read six elements, not twelve.
    EXPECT_LT(sums(1).time({4}), 0.65 * sums(1).time({1}));
    EXPECT_GT(sums(8).time({4}), 0.95 * sums(8).time({1}));
}

TEST(TileModel, WhatATurnAddsToAWindowIsNotShared) {
    // The products: the window's loads are shared, and so are loads of all copies in an iteration.
    const auto grown = [](bool weighted) {
        return sums(1, weighted).nodes({4}) - sums(1, weighted).nodes({1});
    };
    EXPECT_EQ(grown(true) - grown(false), 3);
}

/// y[i] = x[i] + x[i + step] + x[i + 2 * step]
TileModel sums_apart(int64_t step) {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId i = k.range(RangeKind::Grid, 64);
    NodeId sum = k.load(kRoot, x, i);
    for (int64_t far : {step, 2 * step})
        sum = k.op(KernelOp::Add, f32,
                   {sum, k.load(kRoot, x, k.op(KernelOp::Add, i32, {i, k.integer(far)}, kRoot))},
                   kRoot);
    k.store(kRoot, y, i, sum);
    return TileModel(k.code, true);
}

TEST(TileModel, LoadsThatStandConstantsApartMeet) {
    // Four neighbours read six elements, not twelve, and eight where every other one is theirs.
    EXPECT_NEAR(sums_apart(1).time({4}) / sums_apart(1).time({1}), 0.54, 0.02);
    EXPECT_NEAR(sums_apart(2).time({4}) / sums_apart(2).time({1}), 0.69, 0.02);
    EXPECT_GT(sums_apart(100).time({4}), 0.99 * sums_apart(100).time({1}));
}

/// y[i] = the squares of x[min(i, 50)], x[min(i + 1, 50)] and x[min(i + 2, last)] together.
TileModel squares_kept_inside(int64_t last) {
    ByHand k;
    const int x = k.buffer(f32, false), y = k.buffer(f32, true);
    const NodeId i = k.range(RangeKind::Grid, 64);
    NodeId sum;
    for (int64_t far : {0, 1, 2}) {
        const NodeId index = far == 0 ? i : k.op(KernelOp::Add, i32, {i, k.integer(far)}, kRoot);
        const NodeId inside =
            k.op(KernelOp::Min, i32, {index, k.integer(far == 2 ? last : int64_t{50})}, kRoot);
        const NodeId loaded = k.load(kRoot, x, inside);
        const NodeId square = k.op(KernelOp::Mul, f32, {loaded, loaded}, kRoot);
        sum = sum ? k.op(KernelOp::Add, f32, {sum, square}, kRoot) : square;
    }
    k.store(kRoot, y, i, sum);
    return TileModel(k.code, true);
}

TEST(TileModel, WhatIsComputedFromIndicesThatAreKeptInsideMeets) {
    // Three indices, bounds, loads and squares become one and a half; two sums and a store stay.
    const TileModel all = squares_kept_inside(50);
    EXPECT_EQ(all.nodes({1}), 14);
    EXPECT_EQ(all.nodes({4}), 4 * 3 + 5 + 6 * 3);
    // The last one has a bound of its own.
    const TileModel two = squares_kept_inside(49);
    EXPECT_EQ(two.nodes({4}), 4 * 3 + 5 + 5 * 3 + 4 * 3);
}

TEST(TileModel, ALoopBehindAGuardCarriesItsValuesInEachCopy) {
    const std::string loop = R"(
        %3 = For k1 0.0 {
          arg %1 f32
          %2 = Load f32 b0 x0
          %4 = Mul f32 %2 2.0
          %5 = Add f32 %1 %4
          yield %5
        }
        %6 = Result f32 %3
        ! %7 = Store f32 b1 x0 %6
)";
    const auto carried = [](const std::string& body, const std::string& guards) {
        return TileModel(
                   parse_kernel("kernel\n" + guards +
                                "  b0 f32[64] storage of 0\n  b1 f32[64] storage written of 1\n"
                                "  x0 grid < 64\n  k1 serial < 30 count 30 most 30\n{\n" +
                                body + "}\n"),
                   false)
            .carried({4});
    };
    const std::string guarded =
        "  %8 = Less bool x0 60\n  ! %9 = Branch guard %8 {" + loop + "  }\n";
    EXPECT_EQ(carried(loop, ""), carried(guarded, "  guards 1\n"));
    EXPECT_EQ(carried(guarded, "  guards 1\n"), 4);
}

}  // namespace
}  // namespace firn
