// The oracle itself, against tables worked out by hand.
#include "compiler/ir/interpret.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

using Numbers = std::vector<double>;

HostTensor host(DType dtype, std::vector<int64_t> shape, const Numbers& values) {
    HostTensor out = HostTensor::make(dtype, std::move(shape));
    for (size_t k = 0; k < values.size(); ++k)
        out.set(static_cast<int64_t>(k), Scalar{f64, values[k], 0}.to(dtype));
    return out;
}

Numbers numbers(const HostTensor& tensor) {
    Numbers out;
    for (int64_t k = 0; k < tensor.elements(); ++k) out.push_back(tensor.at(k).as_double());
    return out;
}

/// The first result of the graph in `text`.
Numbers run(const std::string& text, const std::vector<HostTensor>& args = {},
            const SizeEnv& env = {}) {
    NodeTable table;
    return numbers(interpret(parse(table, text), args, env)[0]);
}

/// Result of one node made over `x` by `make`.
HostTensor apply(const HostTensor& x, const std::function<Ref(Builder, const Ref&)>& make) {
    NodeTable table;
    Builder b{table};
    Ref arg = input(b, 0, x.dtype, Shape(x.shape.begin(), x.shape.end()), false);
    return interpret({{arg}, {make(b, arg)}, {}}, {x}, {})[0];
}

const HostTensor kGrid = host(f32, {2, 3}, {0, 1, 2, 3, 4, 5});

TEST(InterpretMovement, Reshape) {
    HostTensor out = apply(kGrid, [](Builder b, const Ref& x) { return reshape(b, x, {3, -1}); });
    EXPECT_EQ(out.shape, (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(numbers(out), (Numbers{0, 1, 2, 3, 4, 5}));
}
TEST(InterpretMovement, Permute) {
    EXPECT_EQ(numbers(apply(kGrid,
                            [](Builder b, const Ref& x) {
                                return permute(b, x, {1, 0});
                            })),
              (Numbers{0, 3, 1, 4, 2, 5}));
}
TEST(InterpretMovement, PermuteOfThreeAxes) {
    HostTensor x = host(i32, {2, 1, 3}, {0, 1, 2, 3, 4, 5});
    HostTensor out = apply(x, [](Builder b, const Ref& y) { return permute(b, y, {2, 0, 1}); });
    EXPECT_EQ(out.shape, (std::vector<int64_t>{3, 2, 1}));
    EXPECT_EQ(numbers(out), (Numbers{0, 3, 1, 4, 2, 5}));
}
TEST(InterpretMovement, Expand) {
    HostTensor x = host(f32, {2, 1}, {7, 8});
    EXPECT_EQ(numbers(apply(x,
                            [](Builder b, const Ref& y) {
                                return expand(b, y, {2, 2, 3});
                            })),
              (Numbers{7, 7, 7, 8, 8, 8, 7, 7, 7, 8, 8, 8}));
}
TEST(InterpretMovement, SliceBackwardsAndStrided) {
    EXPECT_EQ(numbers(apply(kGrid,
                            [](Builder b, const Ref& x) {
                                return slice(b, x, {1, 0}, {2, 2}, {-1, 2});
                            })),
              (Numbers{3, 5, 0, 2}));
}
TEST(InterpretMovement, PadInsideAndOut) {
    HostTensor x = host(u8, {1, 2}, {1, 2});
    EXPECT_EQ(numbers(apply(x,
                            [](Builder b, const Ref& y) {
                                return pad(b, y, {1, 0}, {0, 1}, scalar_int(9));
                            })),
              (Numbers{9, 9, 9, 1, 2, 9}));
}
TEST(InterpretMovement, EmptyTensorsStayEmpty) {
    HostTensor x = host(f64, {0, 3}, {});
    EXPECT_EQ(apply(x,
                    [](Builder b, const Ref& y) {
                        return permute(b, y, {1, 0});
                    })
                  .shape,
              (std::vector<int64_t>{3, 0}));
}
TEST(InterpretMovement, Index) {
    NodeTable table;
    Builder b{table};
    EXPECT_EQ(numbers(interpret({{}, {index(b, {2, 3}, 1)}, {}}, {}, {})[0]),
              (Numbers{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(numbers(interpret({{}, {index(b, {2, 3}, 0)}, {}}, {}, {})[0]),
              (Numbers{0, 0, 0, 1, 1, 1}));
}

Numbers read_line(const Numbers& source, const Numbers& at, Bounds mode) {
    HostTensor x = host(f32, {static_cast<int64_t>(source.size())}, source);
    HostTensor out = apply(x, [&](Builder b, const Ref& y) {
        Ref k = index(b, {Size(at.size())}, 0), positions = constant_int(b, 0);
        for (size_t j = 0; j < at.size(); ++j)
            positions = elementwise(
                b, Op::Select,
                {elementwise(b, Op::Equal, {k, constant_int(b, static_cast<int64_t>(j))}),
                 constant_int(b, static_cast<int64_t>(at[j])), positions});
        return gather(b, y, {positions}, {mode}, scalar_float(-1));
    });
    return numbers(out);
}

TEST(InterpretGather, EveryBoundsMode) {
    Numbers source = {10, 20, 30}, at = {-4, -1, 0, 2, 3, 6};
    EXPECT_EQ(read_line(source, at, Bounds::Clamp), (Numbers{10, 10, 10, 30, 30, 30}));
    EXPECT_EQ(read_line(source, at, Bounds::Wrap), (Numbers{30, 30, 10, 30, 10, 10}));
    EXPECT_EQ(read_line(source, at, Bounds::Mirror), (Numbers{30, 10, 10, 30, 30, 10}));
    EXPECT_EQ(read_line(source, at, Bounds::Reflect), (Numbers{10, 20, 10, 30, 20, 30}));
    EXPECT_EQ(read_line({7}, {-9, 0, 3}, Bounds::Reflect), (Numbers{7, 7, 7}));
    EXPECT_EQ(read_line(source, at, Bounds::Constant), (Numbers{-1, -1, 10, 30, -1, -1}));
}
TEST(InterpretGather, AnEmptyTensorReadsAsZero) {
    EXPECT_EQ(read_line({}, {0, 1}, Bounds::Clamp), (Numbers{0, 0}));
    EXPECT_EQ(read_line({}, {0, 1}, Bounds::Wrap), (Numbers{0, 0}));
    EXPECT_EQ(read_line({}, {0, 1}, Bounds::Constant), (Numbers{-1, -1}));
}
TEST(InterpretGather, UncheckedOutsideIsReported) {
    EXPECT_THROW(read_line({1, 2}, {2}, Bounds::Unchecked), UserError);
}
TEST(InterpretGather, FewerIndicesReadWholeRows) {
    HostTensor out = apply(kGrid, [](Builder b, const Ref& x) {
        return gather(b, x, {elementwise(b, Op::Sub, {constant_int(b, 1), index(b, {2}, 0)})},
                      {Bounds::Clamp}, {});
    });
    EXPECT_EQ(out.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(numbers(out), (Numbers{3, 4, 5, 0, 1, 2}));
}

/// Stores 1, 2, 3, ... at indices of a line of four tens.
Numbers store_line(const Numbers& at, ScatterOp op) {
    return run(R"(graph(%0: f32[4], %1: i32[)" + std::to_string(at.size()) + R"(], %2: f32[)" +
                   std::to_string(at.size()) + R"(]) {
    %3: f32[4] = Scatter %0, %2, %1 op=)" +
                   name(op) + R"(
    return %3
}
)",
               {host(f32, {4}, {10, 10, 10, 10}), host(i32, {static_cast<int64_t>(at.size())}, at),
                host(f32, {static_cast<int64_t>(at.size())}, {1, 2, 30})});
}
TEST(InterpretScatter, TheLastInRowMajorOrderWins) {
    EXPECT_EQ(store_line({2, 2, 0}, ScatterOp::Last), (Numbers{30, 10, 2, 10}));
}
TEST(InterpretScatter, OutsideIsDropped) {
    EXPECT_EQ(store_line({-1, 4, 3}, ScatterOp::Last), (Numbers{10, 10, 10, 30}));
}
TEST(InterpretScatter, AddMinAndMaxCombineWithWhatIsThere) {
    EXPECT_EQ(store_line({1, 1, 1}, ScatterOp::Add), (Numbers{10, 43, 10, 10}));
    EXPECT_EQ(store_line({1, 1, 1}, ScatterOp::Min), (Numbers{10, 1, 10, 10}));
    EXPECT_EQ(store_line({1, 1, 1}, ScatterOp::Max), (Numbers{10, 30, 10, 10}));
}

Numbers reduce_grid(const HostTensor& x, ReduceOp op, std::vector<int> axes) {
    return numbers(
        apply(x, [&](Builder b, const Ref& y) { return reduce(b, op, y, axes, false); }));
}
TEST(InterpretReduce, OverEitherAxisAndBoth) {
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Sum, {0}), (Numbers{3, 5, 7}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Sum, {-1}), (Numbers{3, 12}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Sum, {}), (Numbers{15}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Max, {0}), (Numbers{3, 4, 5}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Min, {1}), (Numbers{0, 3}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Prod, {1}), (Numbers{0, 60}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Any, {1}), (Numbers{1, 1}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::All, {1}), (Numbers{0, 1}));
}
TEST(InterpretReduce, OfNothingIsTheIdentity) {
    HostTensor empty = host(f32, {2, 0}, {});
    EXPECT_EQ(reduce_grid(empty, ReduceOp::Sum, {1}), (Numbers{0, 0}));
    EXPECT_EQ(reduce_grid(empty, ReduceOp::Prod, {1}), (Numbers{1, 1}));
    EXPECT_EQ(reduce_grid(empty, ReduceOp::All, {1}), (Numbers{1, 1}));
}
TEST(InterpretReduce, HalvesAccumulateInSinglePrecision) {
    // A sum in f16 would stop at 2048.
    HostTensor ones = host(f16, {4096}, Numbers(4096, 1.0));
    EXPECT_EQ(reduce_grid(ones, ReduceOp::Sum, {0}), (Numbers{4096}));
}
TEST(InterpretReduce, SinglesAccumulateInRowMajorOrder) {
    EXPECT_EQ(reduce_grid(host(f32, {3}, {1, 16777216, -16777216}), ReduceOp::Sum, {0}),
              (Numbers{0}));
    EXPECT_EQ(reduce_grid(host(f32, {3}, {16777216, -16777216, 1}), ReduceOp::Sum, {0}),
              (Numbers{1}));
}
TEST(InterpretReduce, BytesAndBoolsSumInIntegers) {
    HostTensor bytes = host(u8, {3}, {200, 200, 200});
    EXPECT_EQ(reduce_grid(bytes, ReduceOp::Sum, {0}), (Numbers{600}));
    EXPECT_EQ(reduce_grid(host(boolean, {3}, {1, 0, 1}), ReduceOp::Sum, {0}), (Numbers{2}));
}
TEST(InterpretReduce, ExtremaSkipNan) {
    EXPECT_EQ(reduce_grid(host(f32, {3}, {std::nan(""), 2, 5}), ReduceOp::Min, {0}), (Numbers{2}));
}

TEST(InterpretReduce, PositionsAreTheFirstOnes) {
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Argmax, {0}), (Numbers{1, 1, 1}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Argmax, {1}), (Numbers{2, 2}));
    EXPECT_EQ(reduce_grid(kGrid, ReduceOp::Argmin, {1}), (Numbers{0, 0}));
    EXPECT_EQ(reduce_grid(host(i32, {5}, {2, 7, 1, 7, 1}), ReduceOp::Argmax, {0}), (Numbers{1}));
    EXPECT_EQ(reduce_grid(host(u8, {5}, {2, 7, 1, 7, 1}), ReduceOp::Argmin, {0}), (Numbers{2}));
    EXPECT_EQ(reduce_grid(host(boolean, {3}, {0, 1, 1}), ReduceOp::Argmax, {0}), (Numbers{1}));
}
TEST(InterpretReduce, ThePositionOfTheFirstNanWins) {
    const double nan = std::nan("");
    for (const ReduceOp op : {ReduceOp::Argmin, ReduceOp::Argmax}) {
        EXPECT_EQ(reduce_grid(host(f32, {4}, {1, nan, 9, nan}), op, {0}), (Numbers{1}));
        EXPECT_EQ(reduce_grid(host(f16, {4}, {nan, 1, 9, nan}), op, {0}), (Numbers{0}));
    }
}

/// Sums the induction value from `begin` to `end` by `step`.
Numbers sum_of_turns(int begin, int end, int step) {
    return run(R"(graph(%0: i32 scalar, %1: i32 scalar, %2: i32 scalar) {
    %3: i32 = Constant 100
    %4 = Loop %0, %1, %2, %3 (%5: i32, %6: i32) {
        %7: i32 = Add %6, %5
        yield %7
    }
    %8: i32 = Result %4 index=0
    return %8
}
)",
               {host(i32, {}, {double(begin)}), host(i32, {}, {double(end)}),
                host(i32, {}, {double(step)})});
}
TEST(InterpretLoop, CountsUp) { EXPECT_EQ(sum_of_turns(0, 4, 1), (Numbers{106})); }
TEST(InterpretLoop, StopsBeforeTheEndWithAStepThatDoesNotDivide) {
    EXPECT_EQ(sum_of_turns(1, 8, 3), (Numbers{100 + 1 + 4 + 7}));
}
TEST(InterpretLoop, CountsDown) { EXPECT_EQ(sum_of_turns(5, 0, -2), (Numbers{100 + 5 + 3 + 1})); }
TEST(InterpretLoop, NoTurnsGiveTheInitialValue) {
    EXPECT_EQ(sum_of_turns(4, 4, 1), (Numbers{100}));
    EXPECT_EQ(sum_of_turns(4, 0, 1), (Numbers{100}));
    EXPECT_EQ(sum_of_turns(0, 4, -1), (Numbers{100}));
}
TEST(InterpretLoop, AStepOfZeroIsAnError) { EXPECT_THROW(sum_of_turns(0, 4, 0), UserError); }

TEST(InterpretLoop, CarriedValuesMoveTogether) {
    EXPECT_EQ(run(R"(graph(%0: f32, %1: f32) {
    %2: i32 = Constant 0
    %3: i32 = Constant 5
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %0, %1 (%6: i32, %7: f32, %8: f32) {
        yield %8, %7
    }
    %9: f32 = Result %5 index=0
    return %9
}
)",
                  {host(f32, {}, {1}), host(f32, {}, {2})}),
              (Numbers{2}));
}

TEST(InterpretLoop, EndsWhenNoElementIsActive) {
    // Doubles each element until it exceeds 10: the active value is the third carried one.
    EXPECT_EQ(run(R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 100
    %3: i32 = Constant 1
    %4: bool = Constant true
    %5: bool[4] = Expand %4
    %6: i32[4] = Expand %1
    %7: f32 = Constant 10.0
    %8: f32[4] = Expand %7
    %9: i32[4] = Expand %3
    %10 = Loop %1, %2, %3, %0, %6, %5 active=2 (%11: i32, %12: f32[4], %13: i32[4], %14: bool[4]) {
        %15: f32[4] = Add %12, %12
        %16: i32[4] = Add %13, %9
        %17: f32[4] = Select %14, %15, %12
        %18: i32[4] = Select %14, %16, %13
        %19: bool[4] = LessEqual %15, %8
        %20: bool[4] = And %14, %19
        yield %17, %18, %20
    }
    %21: f32[4] = Result %10 index=0
    %22: i32[4] = Result %10 index=1
    %23: f32[4] = Cast %22
    %24: f32[4] = Mul %23, %21
    return %24
}
)",
                  {host(f32, {4}, {1, 3, 6, 20})}),
              (Numbers{16 * 4, 12 * 2, 12 * 1, 40 * 1}));
}

const char* const kBranches = R"(graph(%0: CONDITION, %1: f32[2]) {
    %2 = If %0 {
        %3: f32[2] = Neg %1
        yield %3
    } else {
        %4: f32 = Constant 7.0
        yield %4
    }
    %5: f32[2] = Result %2 index=0
    return %5
}
)";
Numbers run_branches(const char* type, const HostTensor& condition) {
    std::string text = kBranches;
    text.replace(text.find("CONDITION"), 9, type);
    return run(text, {condition, host(f32, {2}, {1, 2})});
}

TEST(InterpretIf, TakesOneSideAndExpandsIt) {
    EXPECT_EQ(run_branches("bool", host(boolean, {}, {1})), (Numbers{-1, -2}));
    EXPECT_EQ(run_branches("bool", host(boolean, {}, {0})), (Numbers{7, 7}));
}
TEST(InterpretIf, AShapedConditionSelectsByElement) {
    EXPECT_EQ(run_branches("bool[2]", host(boolean, {2}, {1, 0})), (Numbers{-1, 7}));
}
TEST(InterpretIf, TheOtherSideIsNotEvaluated) {
    // It would read unchecked outside its tensor.
    EXPECT_EQ(run(R"(graph(%0: bool, %1: f32[2]) {
    %2 = If %0 {
        %3: i32 = Constant 5
        %4: f32 = Gather %1, %3 modes=[unchecked] fill=0.0
        yield %4
    } else {
        %5: f32 = Constant 7.0
        yield %5
    }
    %6: f32 = Result %2 index=0
    return %6
}
)",
                  {host(boolean, {}, {0}), host(f32, {2}, {1, 2})}),
              (Numbers{7}));
}

TEST(InterpretSizes, SymbolsComeFromTheEnvironment) {
    EXPECT_EQ(run(R"(graph(%0: f32[n, m]) {
    %1: f32[m] = Reduce %0 op=sum axes=[0]
    %2: i32 = SizeValue n*m + 1
    %3: f32 = Cast %2
    %4: f32[m] = Expand %3
    %5: f32[m] = Add %1, %4
    return %5
}
)",
                  {kGrid}, {{"n", 2}, {"m", 3}}),
              (Numbers{10, 12, 14}));
}
TEST(InterpretSizes, AGuardThatFailsNamesTheValues) {
    NodeTable table;
    Graph g = parse(
        table, "graph(%0: f32[n], %1: f32[m]) {\n    guard n == m \"add: no\"\n    return %0\n}\n");
    try {
        interpret(g, {host(f32, {2}, {1, 2}), host(f32, {1}, {1})}, {{"n", 2}, {"m", 1}});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_STREQ(error.what(), "add: no; at this call n is 2 and m is 1");
    }
}
TEST(InterpretSizes, AnArgumentOfAnotherShapeIsAnError) {
    NodeTable table;
    Graph g = parse(table, "graph(%0: f32[2]) {\n    return %0\n}\n");
    EXPECT_THROW(interpret(g, {host(f32, {3}, {1, 2, 3})}, {}), UserError);
    EXPECT_THROW(interpret(g, {host(i32, {2}, {1, 2})}, {}), UserError);
    EXPECT_THROW(interpret(g, {}, {}), UserError);
}

}  // namespace
}  // namespace firn
