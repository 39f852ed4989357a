// Nests of loops that run as one give the oracle's results.
#include <functional>

#include "tests/mapping/mapped_case.h"

namespace firn {
namespace {

int loops(const KernelCode& code) {
    return static_cast<int>(std::count_if(code.regions.begin(), code.regions.end(),
                                          [](const KernelRegion& r) { return bool(r.range); }));
}

TEST(JoinedLoops, RowsOfAnyLengthAgreeWithTheOracle) {
    for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Max})
        for (int64_t n : {1, 4, 31, 32, 33, 70}) {
            Case test;
            test.env = {{"n", n}, {"m", 3}};
            test.facts.largest = {{"n", 100}, {"m", 9}};
            Ref x = test.argument(i32, {Size(2), Size(5), Size::symbol("m"), Size::symbol("n")});
            test.graph.results = {reduce(test.b, op, x, {1, 2, 3}, false)};
            SCOPED_TRACE("rows of " + std::to_string(n));
            expect_oracle(test);
        }
}

TEST(JoinedLoops, AreOneLoopWhereRowsDivide) {
    Case test;
    Ref x = test.argument(i32, {Size(2), Size(5), Size(64)});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {1, 2}, false)};
    EXPECT_EQ(loops(mapped(test, {8, 1, 4})), 2);
    const KernelCode joined = mapped(test, {8, 1, 4, true});
    EXPECT_EQ(loops(joined), 1);
    EXPECT_EQ(joined.back_edges, 5 * 2);
}

TEST(JoinedLoops, MoreIterationsThanAreCountedStayANest) {
    for (const auto& [largest, expected] : {std::pair{int64_t{40000}, 1}, {int64_t{1} << 30, 2}}) {
        Case test;
        test.env = {{"n", 3}, {"m", 4}};
        test.facts.largest = {{"n", largest}, {"m", largest}};
        Ref x = test.argument(i32, {Size(2), Size::symbol("m"), Size::symbol("n")});
        test.graph.results = {reduce(test.b, ReduceOp::Sum, x, {1, 2}, false)};
        EXPECT_EQ(loops(mapped(test, {1, 8, 1, true})), expected) << largest;
    }
}

/// carried * 3 + iteration, in nested loops: the second has `length` iterations.
void expect_order(const std::function<Ref(Case&, const Ref&)>& length) {
    Case test;
    Ref x = test.argument(i32, {Size(3)});
    Ref out = region_arg(test.b, i32, {}), around = region_arg(test.b, i32, {Size(3)});
    Ref iteration = region_arg(test.b, i32, {}), carried = region_arg(test.b, i32, {Size(3)});
    Ref times = elementwise(test.b, Op::Mul, {carried, constant_int(test.b, 3)});
    Ref next =
        elementwise(test.b, Op::Add, {elementwise(test.b, Op::Add, {times, iteration}), out});
    const Ref zero = constant_int(test.b, 0), one = constant_int(test.b, 1);
    Ref inner =
        loop(test.b, zero, length(test, out), one, {around}, {{iteration, carried}, {next}}, -1);
    Region body{{out, around}, {result(test.b, inner, 0)}};
    Ref outer = loop(test.b, zero, constant_int(test.b, 5), one, {x}, body, -1);
    test.graph.results = {result(test.b, outer, 0)};
    for (int64_t unroll : {1, 2, 3}) expect_oracle(test, {1, 8, unroll, true});
}

TEST(JoinedLoops, TurnsKeepTheirOrder) {
    expect_order([](Case& test, const Ref&) { return constant_int(test.b, 4); });
    expect_order([](Case& test, const Ref&) { return constant_int(test.b, 7); });
}

TEST(JoinedLoops, LengthsThatDifferStayLoopsOfTheirOwn) {
    expect_order([](Case&, const Ref& iteration) { return iteration; });
}

/// [64, 64, columns] with [64, columns]: sums over rows of `rows` by `columns`.
bool joined(const DeviceProfile& profile, const Size& rows, const Size& columns) {
    Case test;
    Ref a = input(test.b, 0, f32, {Size(64), Size(1), rows, columns}, false);
    Ref b = input(test.b, 1, f32, {Size(64), rows, columns}, false);
    test.graph.args = {a, b};
    test.graph.results = {
        reduce(test.b, ReduceOp::Sum, elementwise(test.b, Op::Mul, {a, b}), {2, 3}, false)};
    return choose_mapping(lowered(test), profile, {}).collapsed_nests;
}

TEST(ChooseJoined, ShortRowsOfMuchThatIsCarriedOnACpu) {
    EXPECT_TRUE(joined(cpu_profile(), 1024, 64));
    EXPECT_FALSE(joined(cpu_profile(), 64, 65536));
    EXPECT_FALSE(joined(gpu_profile(), 1024, 64));
}

}  // namespace
}  // namespace firn
