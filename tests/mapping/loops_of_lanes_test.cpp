// Kernels whose lanes share reductions and rows, run lane by lane on the host, give the oracle's
// results.
#include "compiler/mapping/walk/loops_of_lanes.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/mapping/mapped_case.h"

namespace firn {
namespace {

constexpr int64_t kExtents[] = {0, 1, 7, 8, 9, 31, 32, 33, 128, 129, 4097};

/// Reductions of the rows of [3, n], where n is a number and where it is a symbol.
void expect_rows(ReduceOp op, DType dtype) {
    const bool extremum = op != ReduceOp::Sum && op != ReduceOp::Prod && !dtype.is_bool();
    for (int64_t n : kExtents)
        for (bool symbolic : {false, true}) {
            if (n == 0 && extremum && !symbolic) continue;  // refused where it is built
            Case test;
            test.env = {{"n", n}};
            Ref x = test.argument(dtype, {Size(3), symbolic ? Size::symbol("n") : Size(n)});
            test.graph.results = {reduce(test.b, op, x, {1}, false)};
            SCOPED_TRACE("rows of " + std::to_string(n));
            expect_oracle(test);
        }
}

TEST(SharedReductions, SumsOfFloats) { expect_rows(ReduceOp::Sum, f32); }
TEST(SharedReductions, SumsOfIntegers) { expect_rows(ReduceOp::Sum, i32); }
TEST(SharedReductions, ProductsWrapAround) { expect_rows(ReduceOp::Prod, i32); }
TEST(SharedReductions, MinimaOfFloats) { expect_rows(ReduceOp::Min, f32); }
TEST(SharedReductions, MaximaOfUnsigned) { expect_rows(ReduceOp::Max, u32); }
TEST(SharedReductions, PositionsOfFloats) { expect_rows(ReduceOp::Argmax, f32); }
TEST(SharedReductions, PositionsOfIntegers) { expect_rows(ReduceOp::Argmin, i32); }
TEST(SharedReductions, PositionsOfUnsigned) { expect_rows(ReduceOp::Argmax, u32); }
TEST(SharedReductions, Any) { expect_rows(ReduceOp::Any, boolean); }
TEST(SharedReductions, All) { expect_rows(ReduceOp::All, boolean); }

// Rows of infinities and nans alone, of a nan behind the extreme, and of one before.
TEST(SharedReductions, PositionsAmongNansAndInfinities) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const ReduceOp op : {ReduceOp::Argmin, ReduceOp::Argmax}) {
        Case test;
        Ref x = test.argument(f32, {Size(6), Size(41)});
        for (int64_t k = 0; k < 41; ++k) {
            const double rows[] = {kInf,
                                   -kInf,
                                   kNan,
                                   k == 30 ? kNan : 1.0 * (k == 7),
                                   k == 9 || k == 33 ? kNan : -1.0 * (k == 17),
                                   k == 40 ? -0.0 : 0};
            for (int64_t row = 0; row < 6; ++row)
                test.args[0].set(row * 41 + k, scalar_float(rows[row]));
        }
        test.graph.results = {reduce(test.b, op, x, {1}, false)};
        expect_oracle(test);
    }
}

TEST(SharedReductions, ATotalHasOneSubgroup) {
    for (int64_t n : kExtents) {
        Case test;
        Ref x = test.argument(i32, {Size(n)});
        test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {0}, false)};
        expect_oracle(test);
    }
}

TEST(SharedReductions, GroupsThatFoldLeaveNoRowOutAndAddNone) {
    Case test;
    Ref x = test.argument(i32, {Size(32770), Size(5)});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {1}, false)};
    DeviceProfile profile = cpu_profile();
    profile.max_groups[0] = 32768;
    const KernelCode code = mapped(test, {2, 1, 1}, profile);
    EXPECT_EQ(code.groups[0] * code.groups[1], Size(2 * 32768));
    const HostTensor expected = interpret(test.graph, test.args, {})[0];
    EXPECT_EQ(run(test, code, 2).data, expected.data);
}

TEST(SharedReductions, SeveralAxesAreOneNest) {
    for (int64_t n : {1, 5, 40}) {
        Case test;
        Ref x = test.argument(i32, {Size(n), Size(4), Size(41 - n)});
        test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {0, 2}, false)};
        expect_oracle(test);
    }
}

TEST(SharedReductions, OneMayUseAnother) {
    Case test;
    Ref x = test.argument(f32, {Size(5), Size(37)});
    Ref most = reduce(test.b, ReduceOp::Max, x, {1}, true);
    Ref below = elementwise(test.b, Op::Less, {x, most});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, cast(test.b, below, i32), {1}, false)};
    expect_oracle(test);
}

TEST(SharedReductions, AReductionInsideAnotherIsEveryLanesOwn) {
    Case test;
    Ref x = test.argument(i32, {Size(3), Size(20)}), y = test.argument(i32, {Size(20), Size(9)});
    Ref inner = reduce(test.b, ReduceOp::Max, y, {1}, false);
    Ref scaled = elementwise(test.b, Op::Mul, {x, inner});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, scaled, {1}, false)};
    expect_oracle(test);
}

TEST(SharedReductions, ARecordedLoopOfAllLanesMayHoldThem) {
    Case test;
    Ref x = test.argument(i32, {Size(3), Size(21)});
    Ref iteration = region_arg(test.b, i32, {}), carried = region_arg(test.b, i32, {Size(3)});
    Ref column = elementwise(test.b, Op::Mul, {x, reshape(test.b, carried, {Size(3), Size(1)})});
    Region body{{iteration, carried}, {reduce(test.b, ReduceOp::Sum, column, {1}, false)}};
    Ref start =
        elementwise(test.b, Op::Add, {index(test.b, {Size(3)}, 0), constant_int(test.b, 1)});
    Ref repeat = loop(test.b, constant_int(test.b, 0), constant_int(test.b, 3),
                      constant_int(test.b, 1), {start}, body, -1);
    test.graph.results = {result(test.b, repeat, 0)};
    expect_oracle(test);
}

/// x minus the largest of its row, times the row's sum: every element needs two reductions.
void make_rows(Case& test, const Size& rows, const Size& columns) {
    Ref x = test.argument(i32, {rows, columns});
    Ref most = reduce(test.b, ReduceOp::Max, x, {1}, true);
    Ref sum = reduce(test.b, ReduceOp::Sum, x, {1}, true);
    Ref rest = elementwise(test.b, Op::Sub, {x, most});
    test.graph.results = {elementwise(test.b, Op::Mul, {rest, sum})};
    test.inner = 1;
}

TEST(SharedRows, LanesDealTheStoresOfARow) {
    for (int64_t n : kExtents)
        for (bool symbolic : {false, true}) {
            if (n <= 8 && !symbolic) continue;  // written out: nothing is left to deal
            Case test;
            test.env = {{"n", n}};
            make_rows(test, Size(3), symbolic ? Size::symbol("n") : Size(n));
            SCOPED_TRACE("rows of " + std::to_string(n));
            expect_oracle(test);
        }
}

TEST(SharedRows, EveryElementIsStoredOnce) {
    Case test;
    make_rows(test, Size(5), Size(77));
    const KernelCode code = mapped(test, {8, 2, 4});
    std::vector<std::byte> x = test.args[0].data, y(5 * 77 * 4 + 16);
    x.resize(x.size() + 16);
    std::vector<std::span<std::byte>> buffers;
    for (const KernelBuffer& b : code.buffers)
        buffers.push_back(b.written ? std::span(y) : std::span(x));
    EXPECT_EQ(interpret_kernel(code, buffers, {}, {}, 8).bytes_written, 5 * 77 * 4);
}

TEST(SharedRows, ASumUsedOnlyOnOneSideOfABranchIsTakenByAllLanes) {
    Case test;
    Ref x = test.argument(i32, {Size(3), Size(50)});
    Ref sum = expand(test.b, reduce(test.b, ReduceOp::Sum, x, {1}, true), x->shape);
    Ref odd = elementwise(
        test.b, Op::Equal,
        {elementwise(test.b, Op::Mod, {index(test.b, x->shape, 1), constant_int(test.b, 2)}),
         constant_int(test.b, 1)});
    Region yes{{}, {sum}}, no{{}, {x}};
    test.graph.results = {result(test.b, branch(test.b, odd, yes, no), 0)};
    test.inner = 1;
    expect_oracle(test);
}

std::map<NodeId, SharedLoop> shared_of(const Case& test) {
    return loops_of_lanes(lowered(test), 8);
}

TEST(ShareLoops, TheLongerLoopOfANestIsDealt) {
    Case test;
    Ref x = test.argument(i32, {Size(100), Size(3)});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {0, 1}, false)};
    const KernelCode code = lowered(test);
    for (const auto& [loop, how] : loops_of_lanes(code, 8)) {
        const Range& range = code[code[code[loop].as<BodyAttr>().region].range];
        EXPECT_EQ(how.split, range.extent.is(100)) << range.extent.text();
    }
}

/// Iterations of the loop that is dealt of those over all axes of a tensor.
int64_t dealt_of(const Shape& shape, bool evenly) {
    Case test;
    test.graph.results = {reduce(test.b, ReduceOp::Sum, test.argument(i32, shape), {}, false)};
    const KernelCode code = lowered(test);
    for (const auto& [loop, how] : loops_of_lanes(code, 8, evenly)) {
        const RangeId range = code[code[loop].as<BodyAttr>().region].range;
        if (how.split) return code[range].extent.constant();
    }
    return 0;
}

TEST(ShareLoops, ALoopOfWholeRoundsIsDealtWhereOthersLeaveLanesIdle) {
    EXPECT_EQ(dealt_of({Size(64), Size(13), Size(14)}, true), 64);
    EXPECT_EQ(dealt_of({Size(64), Size(13), Size(14)}, false), 14);
    EXPECT_EQ(dealt_of({Size(64), Size(13), Size(16)}, true), 16);
    EXPECT_EQ(dealt_of({Size(64), Size(13), Size(999)}, true), 999);  // few are idle
    EXPECT_EQ(dealt_of({Size(9), Size(13), Size(14)}, true), 14);
    for (const int64_t row : {13, 14, 16}) {
        Case test;
        Ref x = test.argument(i32, {Size(16), Size(3), Size(row), Size(5)});
        test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {0, 1, 2}, false)};
        expect_oracle(test);
    }
}

/// The loops that lanes share of a recorded loop which carries the largest element of a row from
/// `least` on and, from `none` on, a number of the iteration that found it.
template <class F>
std::map<NodeId, SharedLoop> shared_of_search(int64_t least, int64_t none, F number) {
    Case test;
    Ref x = test.argument(i32, {Size(3), Size(9)});
    Ref i = region_arg(test.b, i32, {}), best = region_arg(test.b, i32, {Size(3)}),
        at = region_arg(test.b, i32, {Size(3)});
    Ref column = expand(test.b, reshape(test.b, i, {Size(1)}), {Size(3)});
    Ref value = gather(test.b, x, {index(test.b, {Size(3)}, 0), column},
                       {Bounds::Clamp, Bounds::Clamp}, {});
    Ref better = elementwise(test.b, Op::Less, {best, value});
    Region body{{i, best, at},
                {elementwise(test.b, Op::Max, {best, value}),
                 elementwise(test.b, Op::Select, {better, number(test.b, column), at})}};
    const auto start = [&](int64_t k) {
        return expand(test.b, constant_int(test.b, k), {Size(3)});
    };
    Ref repeat = loop(test.b, constant_int(test.b, 0), constant_int(test.b, 9),
                      constant_int(test.b, 1), {start(least), start(none)}, body, -1);
    test.graph.results = {
        elementwise(test.b, Op::Sub, {result(test.b, repeat, 0), result(test.b, repeat, 1)})};
    return shared_of(test);
}

TEST(ShareLoops, ASearchIsSharedWhereItNotesTheIteration) {
    const auto itself = [](Builder, const Ref& i) { return i; };
    const auto back = [](Builder b, const Ref& i) {
        return elementwise(b, Op::Sub, {constant_int(b, 9), i});
    };
    EXPECT_EQ(shared_of_search(INT32_MIN, INT32_MAX, itself).size(), 1u);
    EXPECT_EQ(shared_of_search(INT32_MIN, INT32_MAX, back).size(), 0u);
    EXPECT_EQ(shared_of_search(0, INT32_MAX, itself).size(), 0u);
    EXPECT_EQ(shared_of_search(INT32_MIN, -1, itself).size(), 0u);
}

TEST(ShareLoops, ADifferenceIsNoReduction) {
    Case test;
    Ref x = test.argument(i32, {Size(3), Size(9)});
    Ref iteration = region_arg(test.b, i32, {}), carried = region_arg(test.b, i32, {Size(3)});
    Region body{{iteration, carried}, {elementwise(test.b, Op::Sub, {iteration, carried})}};
    Ref repeat = loop(test.b, constant_int(test.b, 0), constant_int(test.b, 9),
                      constant_int(test.b, 1), {index(test.b, {Size(3)}, 0)}, body, -1);
    test.graph.results = {result(test.b, repeat, 0)};
    EXPECT_TRUE(shared_of(test).empty());
}

TEST(ShareLoops, TypesThatLanesDoNotExchangeAreNotShared) {
    Case test;
    Ref x = test.argument(f64, {Size(3), Size(100)});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {1}, false)};
    EXPECT_TRUE(shared_of(test).empty());
}

/// Returns the templates' mapping for a reduction of axis `axis` of [rows, columns].
Mapping chosen(const DeviceProfile& profile, const Size& rows, const Size& columns, int axis = 1) {
    Case test;
    test.env = {{"n", 1}, {"m", 1}};
    Ref x = test.argument(f32, {Size(1), Size(1)});
    test.graph.args.clear();
    x = input(test.b, 0, f32, {rows, columns}, false);
    test.graph.args = {x};
    test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {axis}, false)};
    return choose_mapping(lowered(test), profile, {});
}

TEST(ChooseLanes, FewLongRowsAreShared) {
    EXPECT_EQ(chosen(cpu_profile(), 8, 5001).lanes, 8u);
    EXPECT_EQ(chosen(gpu_profile(), 64, 5001).lanes, 32u);
}

TEST(ChooseLanes, LongRowsOfWholeBlocksAreSharedHoweverMany) {
    EXPECT_EQ(chosen(cpu_profile(), 4096, 4096).lanes, 8u);
    EXPECT_EQ(chosen(gpu_profile(), 1 << 20, 4096).lanes, 32u);
}

TEST(ChooseLanes, ManyOddRowsOnACpuAreNot) {
    EXPECT_EQ(chosen(cpu_profile(), 4096, 4097).lanes, 1u);
    EXPECT_EQ(chosen(gpu_profile(), 4096, 4097).lanes, 32u);
}

TEST(ChooseLanes, ShortRowsAreNotShared) {
    EXPECT_EQ(chosen(cpu_profile(), 8, 16).lanes, 1u);
    EXPECT_EQ(chosen(gpu_profile(), 8, 64).lanes, 1u);
}

TEST(ChooseLanes, ColumnsSideBySideAreNotShared) {
    EXPECT_EQ(chosen(cpu_profile(), 4096, 4096, 0).lanes, 1u);
    EXPECT_EQ(chosen(gpu_profile(), 4096, 4096, 0).lanes, 1u);
}

/// Maps, for a GPU, sums of [64, 64, columns] along the last two axes, of which every row is
/// padded.
Mapping of_padded_planes(int64_t columns) {
    Case test;
    Ref x = input(test.b, 0, f32, {Size(64), Size(64), Size(columns - 2)}, false);
    test.graph.args = {x};
    const Ref padded =
        pad(test.b, x, {Size(0), Size(0), Size(1)}, {Size(0), Size(0), Size(1)}, scalar_int(0));
    test.graph.results = {reduce(test.b, ReduceOp::Sum, padded, {1, 2}, false)};
    return choose_mapping(lowered(test), gpu_profile(), {});
}

TEST(ChooseLanes, ANestIsSharedWhereItsInnermostLoopHasIterationsForAllLanes) {
    EXPECT_EQ(of_padded_planes(64).lanes, 32u);
    EXPECT_EQ(of_padded_planes(16).lanes, 1u);
}

/// Maps [512, 1024] times [1024, 512], the second plain or transposed.
Mapping of_product(const DeviceProfile& profile, bool transposed) {
    Case test;
    Ref a = input(test.b, 0, f32, {Size(512), Size(1), Size(1024)}, false);
    Ref b = input(test.b, 1, f32,
                  transposed ? Shape{Size(512), Size(1024)} : Shape{Size(1024), Size(512)}, false);
    test.graph.args = {a, b};
    const Ref other = transposed ? b : permute(test.b, b, {1, 0});
    test.graph.results = {
        reduce(test.b, ReduceOp::Sum, elementwise(test.b, Op::Mul, {a, other}), {2}, false)};
    return choose_mapping(lowered(test), profile, {});
}

/// The gradient by `filters` of 5 by 5 of their results for 64 pictures of 28 by 28.
uint32_t lanes_of_filters(int64_t filters) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto products = [=](Tensor g, Tensor x) {
        auto [o, p, q, b, i, j] = indices<6>({filters, 5, 5, 64, 24, 24});
        return sum(g(b, i, j, o) * x(b, i + p, j + q), {.axis = {3, 4, 5}});
    };
    const auto f = compile(products, {f32(64, 24, 24, filters), f32(64, 28, 28)});
    return parse_mapping(f.program()->kernels.at(0).mapping)->lanes;
}

TEST(ChooseLanes, ThreeRoundsOfALoopInANestAreSharedWhereTilesWouldLeaveCoresIdle) {
    EXPECT_EQ(lanes_of_filters(16), 8u);
    EXPECT_EQ(lanes_of_filters(1024), 1u);  // tiles of these are enough
}

TEST(ChooseLanes, AProductOfMatricesIsTiledNotShared) {
    EXPECT_EQ(of_product(gpu_profile(), false).lanes, 1u);
    EXPECT_EQ(of_product(gpu_profile(), true).lanes, 1u);  // its groups stage their operands
    EXPECT_EQ(of_product(cpu_profile(), false).lanes, 1u);
    EXPECT_EQ(of_product(cpu_profile(), false).tile, (std::vector<int64_t>{8, 8}));
}

TEST(ChooseLanes, LanesWalkRowsThatNeighboursWouldReadFarApart) {
    EXPECT_EQ(of_product(cpu_profile(), true).lanes, 8u);
    EXPECT_EQ(of_product(cpu_profile(), true).tile, (std::vector<int64_t>{8, 8}));
}

TEST(ChooseLanes, AnIndexWhosePartsAreSharedIsFollowedOnce) {
    Case test;
    Ref x = input(test.b, 0, f32, {Size(8), Size(5001)}, false);
    Ref row = index(test.b, {Size(8)}, 0);
    // Without a memo the walk would follow it 2^60 times.
    for (int k = 1; k <= 60; ++k) {
        Ref k_node = constant_int(test.b, k);
        row = elementwise(test.b, Op::Xor,
                          {elementwise(test.b, Op::Mul, {row, k_node}),
                           elementwise(test.b, Op::ShiftRight, {row, k_node})});
    }
    Ref rows = gather(test.b, x, {row}, {Bounds::Clamp}, scalar_int(0));
    test.graph.args = {x};
    test.graph.results = {reduce(test.b, ReduceOp::Sum, rows, {1}, false)};
    EXPECT_EQ(choose_mapping(lowered(test), cpu_profile(), {}).lanes, 8u);
}

TEST(ChooseLanes, PairsAreNotSharedForWhatStandsBesideTheLoop) {
    // Every row walks along the same values; its own is read once, before.
    for (auto [profile, count] : {std::pair{cpu_profile(), 4096}, {gpu_profile(), 1 << 20}}) {
        Case test;
        Ref own = input(test.b, 0, f32, {Size(count), Size(1)}, false);
        Ref others = input(test.b, 1, f32, {Size(count)}, false);
        test.graph.args = {own, others};
        Ref pairs = elementwise(test.b, Op::Mul, {own, others});
        test.graph.results = {reduce(test.b, ReduceOp::Sum, pairs, {1}, false)};
        const Mapping mapping = choose_mapping(lowered(test), profile, {});
        EXPECT_EQ(mapping.lanes, 1u) << profile.name;
        EXPECT_EQ(mapping.tile_of(0), 4) << profile.name;
    }
}

TEST(ChooseLanes, ADeviceWithoutShufflesSharesNothing) {
    DeviceProfile profile = gpu_profile();
    profile.subgroup_shuffle = false;
    EXPECT_EQ(chosen(profile, 64, 5001).lanes, 1u);
}

TEST(ChooseLanes, AGroupIsNoLargerThanTheDeviceAllows) {
    DeviceProfile profile = gpu_profile();
    profile.max_group_size = 64;
    EXPECT_LE(chosen(profile, 1 << 20, 4096).group.x, 64u);
}

}  // namespace
}  // namespace firn
