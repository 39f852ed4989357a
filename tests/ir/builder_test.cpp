// Inference, promotion and broadcasting, and the message of every mistake.
#include "compiler/ir/builder.h"

#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

const Size n = Size::symbol("n"), m = Size::symbol("m");

struct BuilderTest : testing::Test {
    NodeTable table;
    std::vector<Guard> guards;
    Builder b{table, {"src/scene.cpp", 41}, &guards};
    int next = 0;

    Ref arg(DType dtype, Shape shape) { return input(b, next++, dtype, std::move(shape), false); }

    template <class F>
    std::string error(const F& f) {
        try {
            f();
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }
};

#define EXPECT_ERROR(call, message) \
    EXPECT_EQ(error([&] { call; }), std::string(message) + " (scene.cpp:41)")

TEST_F(BuilderTest, JoinIsSymmetricAndStated) {
    for (DType x : kAllTypes)
        for (DType y : kAllTypes) EXPECT_EQ(join(x, y), join(y, x)) << x.name() << " " << y.name();
    EXPECT_EQ(join(i32, u32), i32);
    EXPECT_EQ(join(f16, f32), f32);
    EXPECT_EQ(join(f16, i32), f16);
    EXPECT_EQ(join(i64, f32), f32);
    EXPECT_EQ(join(f32, f64), f64);
    EXPECT_EQ(join(boolean, u32), u32);
    EXPECT_EQ(join(i8, u8), i32);
    EXPECT_EQ(join(i8, i16), i16);
    EXPECT_EQ(join(u8, i16), i16);
    EXPECT_EQ(join(u8, u16), u16);
    EXPECT_EQ(join(i8, u16), i32);
    EXPECT_EQ(join(i16, u16), i32);
    EXPECT_EQ(join(i16, u32), u32);
    EXPECT_EQ(join(u16, boolean), u16);
    EXPECT_EQ(join(f16, bf16), f32);
    EXPECT_EQ(join(bf16, f32), f32);
    EXPECT_EQ(join(i64, bf16), bf16);
    EXPECT_EQ(join(u32, i64), i64);
    EXPECT_EQ(join(u64, i64), i64);
    EXPECT_EQ(join(boolean, boolean), boolean);
}

TEST_F(BuilderTest, ArithmeticOfSmallTypesIsI32) {
    for (DType small : {i8, u8, i16, u16, boolean}) {
        Ref x = arg(small, {4});
        EXPECT_EQ(elementwise(b, Op::Add, {x, x})->dtype, i32) << small.name();
        EXPECT_EQ(elementwise(b, Op::Neg, {x})->dtype, i32) << small.name();
    }
}

TEST_F(BuilderTest, LogicOfBoolsStaysBool) {
    Ref x = arg(boolean, {4});
    EXPECT_EQ(elementwise(b, Op::And, {x, x})->dtype, boolean);
    EXPECT_EQ(elementwise(b, Op::BitNot, {x})->op, Op::Not);
}

TEST_F(BuilderTest, MathOfIntegersIsF32) {
    EXPECT_EQ(elementwise(b, Op::Sqrt, {arg(i64, {4})})->dtype, f32);
    EXPECT_EQ(elementwise(b, Op::Sqrt, {arg(f16, {4})})->dtype, f16);
}

TEST_F(BuilderTest, WeakScalarsTakeTheTensorsType) {
    Ref two = constant_float(b, 2.0), three = constant_int(b, 3);
    auto sum = [&](DType dtype, const Ref& weak) {
        return elementwise(b, Op::Add, {arg(dtype, {4}), weak}, {false, true})->dtype;
    };
    EXPECT_EQ(sum(f16, two), f16);
    EXPECT_EQ(sum(f64, two), f64);
    EXPECT_EQ(sum(i32, two), f32);
    EXPECT_EQ(sum(u32, three), u32);
    EXPECT_EQ(sum(i64, three), i64);
    EXPECT_EQ(sum(f16, three), f16);
    EXPECT_EQ(sum(u8, three), i32);
    EXPECT_EQ(sum(boolean, three), i32);
    EXPECT_EQ(sum(boolean, two), f32);
}

TEST_F(BuilderTest, SelectKeepsSmallTypesAndMakesABoolOfItsCondition) {
    Ref x = arg(u8, {4});
    Ref y = elementwise(b, Op::Select, {arg(f32, {4}), x, x});
    EXPECT_EQ(y->dtype, u8);
    EXPECT_EQ(y->inputs[0]->dtype, boolean);
}

TEST_F(BuilderTest, BroadcastingIsNumpys) {
    EXPECT_EQ(broadcast_shapes(b, {4, 1, 3}, {5, 1}, "add"), (Shape{4, 5, 3}));
    EXPECT_EQ(broadcast_shapes(b, {}, {5, 1}, "add"), (Shape{5, 1}));
    EXPECT_EQ(broadcast_shapes(b, {1}, {0}, "add"), (Shape{0}));
    EXPECT_EQ(broadcast_shapes(b, {n, 1}, {n, m}, "add"), (Shape{n, m}));
    EXPECT_TRUE(guards.empty());
}

TEST_F(BuilderTest, ElementwiseInputsAreExpanded) {
    Ref y = elementwise(b, Op::Add, {arg(f32, {4, 1}), arg(f32, {3})});
    EXPECT_EQ(y->shape, (Shape{4, 3}));
    for (const Ref& in : y->inputs) EXPECT_EQ(in->shape, (Shape{4, 3}));
}

TEST_F(BuilderTest, DifferentSymbolsAddOneGuard) {
    Ref x = arg(f32, {n}), y = arg(f32, {m});
    elementwise(b, Op::Add, {x, y});
    Ref z = elementwise(b, Op::Mul, {x, y});
    ASSERT_EQ(guards.size(), 1u);
    EXPECT_EQ(guards[0].left, n);
    EXPECT_EQ(guards[0].right, m);
    EXPECT_NE(guards[0].message.find("add: shapes [n] and [m] do not broadcast"),
              std::string::npos);
    EXPECT_NE(guards[0].message.find("(scene.cpp:41)"), std::string::npos);
    verify(Graph{{x, y}, {z}, guards}, "test");
}

TEST_F(BuilderTest, ASymbolAndANumberMeetInTheNumber) {
    EXPECT_EQ(elementwise(b, Op::Add, {arg(f32, {n}), arg(f32, {7})})->shape, Shape{7});
    EXPECT_EQ(guards.size(), 1u);
}

TEST_F(BuilderTest, WithoutGuardsUnprovedSizesAreAnError) {
    Builder strict{table, b.line};
    std::string message = error([&] { broadcast_shapes(strict, {n}, {m}, "add"); });
    EXPECT_NE(message.find("n = m is not known here (scene.cpp:41)"), std::string::npos) << message;
}

TEST_F(BuilderTest, SizesThatNeverMeetAreAnError) {
    EXPECT_ERROR(elementwise(b, Op::Add, {arg(f32, {64, 32}), arg(f32, {16})}),
                 "add: shapes [64, 32] and [16] do not broadcast, 32 and 16 meet in one dimension; "
                 "sizes must be "
                 "equal, or one of them 1 (use unsqueeze or reshape to line the axes up)");
    EXPECT_NE(error([&] { broadcast_shapes(b, {n}, {n + 1}, "add"); }), "no error");
}

TEST_F(BuilderTest, BitOperationsRefuseFloats) {
    EXPECT_ERROR(elementwise(b, Op::ShiftLeft, {arg(f32, {4}), arg(i32, {4})}),
                 "shift_left works on integers and bools, and this is f32; cast it, or use bitcast "
                 "for its bits");
}

TEST_F(BuilderTest, CastToItsOwnTypeIsNothing) {
    Ref x = arg(f32, {4});
    EXPECT_EQ(cast(b, x, f32), x);
}

TEST_F(BuilderTest, CastOfAConstantIsAConstant) {
    EXPECT_EQ(cast(b, constant_float(b, 2.5), i32), constant_int(b, 2));
}

TEST_F(BuilderTest, BitcastNeedsEqualWidths) {
    EXPECT_ERROR(
        bitcast(b, arg(f32, {4}), i64),
        "bitcast: f32 to i64: 4 bytes are not 8; choose a type of the same width, or cast");
    EXPECT_ERROR(bitcast(b, arg(boolean, {4}), i32),
                 "bitcast: bool to i32: a bool has no bits; cast it");
}

TEST_F(BuilderTest, ReshapeInfersOneSize) {
    EXPECT_EQ(reshape(b, arg(f32, {4, 6}), {8, -1})->shape, (Shape{8, 3}));
    EXPECT_EQ(reshape(b, arg(f32, {n, 6}), {-1, 3})->shape, (Shape{2 * n, 3}));
    EXPECT_TRUE(guards.empty());
}

TEST_F(BuilderTest, ReshapeMistakes) {
    EXPECT_ERROR(reshape(b, arg(f32, {4, 6}), {5, 5}),
                 "reshape: [4, 6] to [5, 5]: 24 elements do not fill 25; the number of elements "
                 "must stay the same");
    EXPECT_ERROR(reshape(b, arg(f32, {4}), {-1, -1}),
                 "reshape: [4] to [-1, -1]: two sizes are -1; give all but one");
    EXPECT_ERROR(
        reshape(b, arg(f32, {0}), {0, -1}),
        "reshape: [0] to [0, -1]: the open size can be anything beside a size of 0; give it");
    EXPECT_ERROR(reshape(b, arg(f32, {4}), {-2, -2}),
                 "reshape: [4] to [-2, -2]: a size is negative; only one -1 may be left open");
}

TEST_F(BuilderTest, PermuteMistakes) {
    EXPECT_ERROR(permute(b, arg(f32, {4, 5}), {0}),
                 "permute of [4, 5]: 1 axes are given; name each of the 2 once");
    EXPECT_ERROR(permute(b, arg(f32, {4, 5}), {0, 0}),
                 "permute of [4, 5]: axis 0 is given twice; name each axis once");
    EXPECT_ERROR(permute(b, arg(f32, {4, 5}), {0, 2}),
                 "permute of [4, 5]: axis 2 does not exist, the tensor has rank 2; give an axis "
                 "from -2 to 1");
}

TEST_F(BuilderTest, ExpandMistakes) {
    EXPECT_ERROR(expand(b, arg(f32, {3}), {4}),
                 "expand: shape [3] cannot become [4], 3 is neither 1 nor 4");
    EXPECT_ERROR(
        expand(b, arg(f32, {1, 3}), {3}),
        "expand: [1, 3] has more dimensions than [3]; reduce or squeeze the extra ones first");
}

TEST_F(BuilderTest, SliceMistakes) {
    EXPECT_ERROR(slice(b, arg(f32, {4}), {1}, {4}, {1}),
                 "slice of [4], axis 0 of size 4: elements 1 to 4 are not all inside; a slice does "
                 "not clamp, so "
                 "cut its range");
    EXPECT_ERROR(
        slice(b, arg(f32, {4}), {1}, {2}, {0}),
        "slice of [4], axis 0 of size 4: the step is 0; use 1, or a negative step to go backwards");
    EXPECT_ERROR(slice(b, arg(f32, {4}), {1, 2}, {2, 1}, {1, 1}),
                 "slice of [4]: 2 begins, 2 extents and 2 steps are given; give one each per axis");
}

TEST_F(BuilderTest, ASymbolicSliceAddsAGuardOnlyWhereItMust) {
    slice(b, arg(f32, {n}), {0}, {n}, {-1 + 2});
    EXPECT_TRUE(guards.empty());
    slice(b, arg(f32, {n}), {1}, {n - 1}, {1});
    ASSERT_EQ(guards.size(), 1u);  // n - 1 >= 0
    EXPECT_EQ(guards[0].left.evaluate({{"n", 5}}), guards[0].right.evaluate({{"n", 5}}));
    EXPECT_NE(guards[0].left.evaluate({{"n", 0}}), guards[0].right.evaluate({{"n", 0}}));
}

TEST_F(BuilderTest, MovementThatMovesNothingIsNothing) {
    Ref x = arg(f32, {4, 5});
    EXPECT_EQ(permute(b, x, {0, 1}), x);
    EXPECT_EQ(reshape(b, x, {4, 5}), x);
    EXPECT_EQ(slice(b, x, {0}, {4}, {1}), x);
    EXPECT_EQ(pad(b, x, {0, 0}, {0, 0}, {}), x);
    EXPECT_EQ(expand(b, x, {4, 5}), x);
}

TEST_F(BuilderTest, PadMistakes) {
    EXPECT_ERROR(pad(b, arg(f32, {4}), {-1}, {0}, {}),
                 "pad of [4], axis 0: widths -1 and 0 must not be negative; use slice to cut");
    EXPECT_ERROR(pad(b, arg(f32, {4}), {}, {0}, {}),
                 "pad of [4]: 0 and 1 widths are given; give one before and one after per axis");
}

TEST_F(BuilderTest, AFloatIndexIsAnError) {
    EXPECT_ERROR(gather(b, arg(f32, {4}), {arg(f32, {2})}, {}, {}),
                 "read of [4]: index 0 is f32; indices are integers, so cast it (floor or round it "
                 "first where it is "
                 "a float)");
}

TEST_F(BuilderTest, IndicesOfAnyIntegerTypeBecomeI32) {
    EXPECT_EQ(gather(b, arg(f32, {4}), {arg(u32, {2})}, {}, {})->inputs[1]->dtype, i32);
}

TEST_F(BuilderTest, TooManyIndices) {
    Ref i = arg(i32, {2});
    EXPECT_ERROR(
        gather(b, arg(f32, {4}), {i, i}, {}, {}),
        "read of [4]: 2 indices are given, the tensor has 1 axes; give at most one per axis");
}

TEST_F(BuilderTest, IndicesBroadcastTogether) {
    Ref y = gather(b, arg(f32, {4, 5, 6}), {arg(i32, {2, 1}), arg(i32, {3})}, {}, {});
    EXPECT_EQ(y->shape, (Shape{2, 3, 6}));
    EXPECT_EQ(y->inputs.size(), 4u);
}

TEST_F(BuilderTest, StoredValuesAreCastAndBroadcastToTheIndices) {
    Ref y = scatter(b, arg(i32, {4, 3}), arg(f32, {3}), {arg(i32, {2})}, {});
    EXPECT_EQ(y->dtype, i32);
    EXPECT_EQ(y->inputs[1]->shape, (Shape{2, 3}));
}

TEST_F(BuilderTest, ValuesLargerThanTheirIndicesAreAnError) {
    EXPECT_ERROR(scatter(b, arg(f32, {4}), arg(f32, {5, 2}), {arg(i32, {2})}, {}),
                 "store into [4]: values [5, 2] do not fit the indices' shape [2]; values may only "
                 "be repeated to the "
                 "indices, so reduce or index them");
}

TEST_F(BuilderTest, ReducedTypes) {
    EXPECT_EQ(reduce(b, ReduceOp::Sum, arg(u8, {4}), {}, false)->dtype, i32);
    EXPECT_EQ(reduce(b, ReduceOp::Sum, arg(f16, {4}), {}, false)->dtype, f16);
    EXPECT_EQ(reduce(b, ReduceOp::Any, arg(f32, {4}), {}, false)->dtype, boolean);
    EXPECT_EQ(reduce(b, ReduceOp::Max, arg(u32, {4}), {}, false)->dtype, u32);
    EXPECT_EQ(reduce(b, ReduceOp::Argmax, arg(f64, {4}), {0}, false)->dtype, i32);
    EXPECT_EQ(reduce(b, ReduceOp::Argmin, arg(u8, {4}), {0}, false)->inputs[0]->dtype, i32);
}

TEST_F(BuilderTest, ReduceShapes) {
    EXPECT_EQ(reduce(b, ReduceOp::Sum, arg(f32, {4, n, 6}), {-1, 0}, false)->shape, Shape{n});
    EXPECT_EQ(reduce(b, ReduceOp::Sum, arg(f32, {4, n, 6}), {-1, 0}, true)->shape,
              (Shape{1, n, 1}));
    Ref scalar = arg(f32, {});
    EXPECT_EQ(reduce(b, ReduceOp::Sum, scalar, {}, false), scalar);
}

TEST_F(BuilderTest, ReduceMistakes) {
    EXPECT_ERROR(reduce(b, ReduceOp::Sum, arg(f32, {4, 5}), {1, -1}, false),
                 "sum of [4, 5]: axis 1 is given twice; name each axis once");
    EXPECT_ERROR(reduce(b, ReduceOp::Min, arg(f32, {4, 0}), {1}, false),
                 "min of [4, 0]: axis 1 has no elements, and no elements have no extremum; check "
                 "the size first");
    EXPECT_ERROR(reduce(b, ReduceOp::Argmax, arg(f32, {4, 0}), {1}, false),
                 "argmax of [4, 0]: axis 1 has no elements, and no elements have no extremum; "
                 "check the size first");
    EXPECT_ERROR(reduce(b, ReduceOp::Argmax, arg(f32, {4, 5}), {}, false),
                 "argmax of [4, 5]: a position is along one axis; reshape the axes to one");
    EXPECT_ERROR(reduce(b, ReduceOp::Min, arg(f32, {}), {0}, false),
                 "min of []: axis 0 does not exist, the tensor has rank 0; a scalar has no axes");
}

TEST_F(BuilderTest, IdentitiesOfEveryType) {
    for (DType dtype : kAllTypes) {
        EXPECT_EQ(reduce_identity(ReduceOp::Sum, dtype).as_double(), 0) << dtype.name();
        EXPECT_EQ(reduce_identity(ReduceOp::Prod, dtype).as_double(), 1) << dtype.name();
    }
    EXPECT_EQ(reduce_identity(ReduceOp::Max, i32).i, INT32_MIN);
    EXPECT_EQ(reduce_identity(ReduceOp::Min, u32).i, 0xffffffff);
    EXPECT_EQ(reduce_identity(ReduceOp::Min, u64).i, -1);
    EXPECT_EQ(reduce_identity(ReduceOp::Min, i64).i, INT64_MAX);
    EXPECT_EQ(text(reduce_identity(ReduceOp::Max, f16)), "-inf");
}

struct LoopTest : BuilderTest {
    Ref zero = constant_int(b, 0), four = constant_int(b, 4), one = constant_int(b, 1);
    Ref iteration = region_arg(b, i32, {});
};

TEST_F(LoopTest, ACarriedValueKeepsItsType) {
    Ref init = arg(i32, {}), carried = region_arg(b, i32, {});
    EXPECT_ERROR(loop(b, zero, four, one, {init}, {{iteration, carried}, {arg(f32, {})}}, -1),
                 "loop: carried value 0 starts as i32[] and is assigned f32[]; a carried value "
                 "keeps its type, so cast "
                 "one of them");
}

TEST_F(LoopTest, ACarriedValueKeepsItsShape) {
    Ref init = arg(f32, {}), carried = region_arg(b, f32, {});
    EXPECT_ERROR(loop(b, zero, four, one, {init}, {{iteration, carried}, {arg(f32, {4})}}, -1),
                 "loop: carried value 0 starts with shape [] and is assigned shape [4]; a carried "
                 "value keeps its "
                 "shape, so start it as zeros(...) of the final one");
}

TEST_F(LoopTest, BoundsAreIntegerScalars) {
    EXPECT_ERROR(loop(b, zero, arg(f32, {}), one, {}, {{iteration}, {}}, -1),
                 "loop: the end is f32; bounds are integers, so cast it");
    EXPECT_ERROR(loop(b, zero, arg(i32, {3}), one, {}, {{iteration}, {}}, -1),
                 "loop: the end has shape [3]; bounds are scalars, so reduce it, or run to the "
                 "largest and stop "
                 "elements with break_");
    EXPECT_ERROR(loop(b, zero, four, zero, {}, {{iteration}, {}}, -1),
                 "loop: the step is 0 and the loop would never end; use 1, or a negative step to "
                 "count down");
}

TEST_F(LoopTest, BranchesAgreeInType) {
    EXPECT_ERROR(branch(b, arg(boolean, {}), {{}, {arg(f32, {})}}, {{}, {arg(i32, {})}}),
                 "if_: value 0 is f32[] in one branch and i32[] in the other; a value keeps its "
                 "type, so cast one of "
                 "them");
}

TEST_F(LoopTest, AResultHasTheJoinedShapeOfItsBranchesAndCondition) {
    Ref node = branch(b, arg(boolean, {5, 1}), {{}, {arg(f32, {})}}, {{}, {arg(f32, {4})}});
    EXPECT_EQ(result(b, node, 0)->shape, (Shape{5, 4}));
}

TEST_F(BuilderTest, ErrorsWithoutALineHaveNone) {
    EXPECT_EQ(error([&] { index(Builder{table}, {4}, 1); }),
              "index of shape [4]: axis 1 does not exist, the tensor has rank 1; give an axis from "
              "-1 to 0");
}

}  // namespace
}  // namespace firn
