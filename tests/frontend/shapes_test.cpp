// Factories, movement, reductions and matmul.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Shapes = OracleTest;

TEST_F(Shapes, TensorFillsItsShapeRowMajor) {
    Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_EQ(x.shape(), (Shape{2, 3}));
    EXPECT_EQ(Tensor(x(1, 0)).item<int>(), 4);
}

TEST_F(Shapes, WrongNumberOfValuesIsAnError) {
    expect_parts(user_error([] {
                     tensor({1, 2, 3}, {2, 2});
                 }),
                 {"3 values", "[2, 2]", "4", "shapes_test.cpp:"});
}

TEST_F(Shapes, Factories) {
    EXPECT_EQ(zeros({2}).to_vector<float>(), (Floats{0, 0}));
    EXPECT_EQ(ones({2}, i32).to_vector<int>(), (Ints{1, 1}));
    EXPECT_EQ(full({2}, 0.5).to_vector<float>(), (Floats{0.5f, 0.5f}));
    EXPECT_EQ(arange(4).to_vector<int>(), (Ints{0, 1, 2, 3}));
    EXPECT_EQ(arange(2, 9, 3).to_vector<int>(), (Ints{2, 5, 8}));
    EXPECT_EQ(arange(3, 0, -1).to_vector<int>(), (Ints{3, 2, 1}));
    EXPECT_EQ(arange(0.0f, 1.0f, 0.25f).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f}));
    EXPECT_EQ(linspace(0, 1, 5).to_vector<float>(), (Floats{0, 0.25f, 0.5f, 0.75f, 1}));
    EXPECT_EQ(eye(2).to_vector<float>(), (Floats{1, 0, 0, 1}));
    EXPECT_EQ(eye(1, 2, i32).to_vector<int>(), (Ints{1, 0}));
}

TEST_F(Shapes, LinspaceEndsExactly) {
    EXPECT_EQ(linspace(0.1f, 0.7f, 7).to_vector<float>().back(), 0.7f);
}

TEST_F(Shapes, IndicesCountEveryAxis) {
    auto [i, j] = indices<2>({2, 2});
    EXPECT_EQ((i * 10 + j).to_vector<int>(), (Ints{0, 1, 10, 11}));
}

TEST_F(Shapes, IndicesOfAnotherRankAreAnError) {
    Tensor x = zeros({2});
    expect_parts(user_error([&] { indices<2>(x.shape()); }),
                 {"indices<2>", "rank 1", "shapes_test.cpp:"});
}

TEST_F(Shapes, SizeIsANumberWhereItIsKnown) {
    Tensor x = zeros({2, 3});
    int n = x.size(-1);
    int count = 0;
    for (int k = 0; k < x.size(0); ++k) ++count;
    EXPECT_EQ(n, 3);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(x.shape()[1] * 2, Size(6));
}

TEST_F(Shapes, SizeWithAFloatIsATensor) {
    Tensor x = zeros({4});
    EXPECT_EQ((1.0f / x.size(0)).item<float>(), 0.25f);
    EXPECT_EQ((x + x.size(0)).to_vector<float>()[0], 4);
}

TEST_F(Shapes, SizeOfAMissingAxisIsAnError) {
    Tensor x = zeros({4});
    expect_parts(user_error([&] { x.size(1); }), {"axis 1", "[4]", "shapes_test.cpp:"});
}

TEST_F(Shapes, ReshapeTransposePermute) {
    Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 2}));
    EXPECT_EQ(transpose(x).to_vector<int>(), (Ints{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(transpose(x, 0, -1).to_vector<int>(), (Ints{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(permute(x, {1, 0}).to_vector<int>(), (Ints{1, 4, 2, 5, 3, 6}));
}

TEST_F(Shapes, ExpandSqueezeUnsqueeze) {
    Tensor x = tensor({1, 2});
    EXPECT_EQ(expand(x, {2, 2}).to_vector<int>(), (Ints{1, 2, 1, 2}));
    EXPECT_EQ(unsqueeze(x, -1).shape(), (Shape{2, 1}));
    EXPECT_EQ(squeeze(zeros({1, 2, 1})).shape(), (Shape{2}));
    EXPECT_EQ(squeeze(zeros({1, 2, 1}), {.axis = 0}).shape(), (Shape{2, 1}));
}

TEST_F(Shapes, SqueezeOfALargerAxisIsAnError) {
    expect_parts(user_error([] { squeeze(zeros({2}), {.axis = 0}); }),
                 {"squeeze", "size 2", "shapes_test.cpp:"});
}

TEST_F(Shapes, SliceCutsAsPythonDoes) {
    Tensor x = arange(6);
    EXPECT_EQ(slice(x, {.begin = 1, .end = 4}).to_vector<int>(), (Ints{1, 2, 3}));
    EXPECT_EQ(slice(x, {.begin = -2}).to_vector<int>(), (Ints{4, 5}));
    EXPECT_EQ(slice(x, {.begin = 1, .end = 100, .step = 2}).to_vector<int>(), (Ints{1, 3, 5}));
    EXPECT_EQ(slice(x, {.begin = 1, .end = 4, .step = -1}).to_vector<int>(), (Ints{3, 2, 1}));
    EXPECT_EQ(slice(x, {.begin = 4, .end = 2}).shape(), (Shape{0}));
}

TEST_F(Shapes, FlipPadConcatStack) {
    Tensor x = tensor({1, 2}), y = tensor({3});
    EXPECT_EQ(flip(x).to_vector<int>(), (Ints{2, 1}));
    EXPECT_EQ(pad(x, {.before = {1}, .after = {2}, .value = 9}).to_vector<int>(),
              (Ints{9, 1, 2, 9, 9}));
    EXPECT_EQ(concat({x, y, x}).to_vector<int>(), (Ints{1, 2, 3, 1, 2}));
    EXPECT_EQ(stack({x, x}, {.axis = 1}).to_vector<int>(), (Ints{1, 1, 2, 2}));
    EXPECT_EQ(stack({x, x}, {.axis = -1}).to_vector<int>(), (Ints{1, 1, 2, 2}));
}

TEST_F(Shapes, SplitIsTheWayBackFromConcat) {
    const Tensor x = reshape(arange(12), {2, 6});
    const std::vector<Tensor> thirds = split(x, 3, {.axis = 1});
    ASSERT_EQ(thirds.size(), 3u);
    EXPECT_EQ(thirds[1].to_vector<int>(), (Ints{2, 3, 8, 9}));
    EXPECT_EQ(concat(thirds, {.axis = -1}).to_vector<int>(), x.to_vector<int>());
    const std::vector<Tensor> uneven = split_at(x, {1, 1, 5}, {.axis = 1});
    ASSERT_EQ(uneven.size(), 4u);
    EXPECT_EQ(uneven[1].size(1), 0);
    EXPECT_EQ(uneven[3].to_vector<int>(), (Ints{5, 11}));
}
TEST_F(Shapes, SplitIntoUnequalPiecesIsAnError) {
    expect_parts(user_error([] { split(arange(7), 3); }), {"size 7", "3 equal pieces", "split_at"});
    expect_parts(user_error([] { split(arange(7), 0); }), {"0 equal pieces"});
}
TEST_F(Shapes, ConcatAlongTheSecondAxis) {
    Tensor a = tensor({1, 2}, {2, 1}), b = tensor({3, 4, 5, 6}, {2, 2});
    EXPECT_EQ(concat({a, b}, {.axis = 1}).to_vector<int>(), (Ints{1, 3, 4, 2, 5, 6}));
}

TEST_F(Shapes, ConcatMeetsInOneType) {
    EXPECT_EQ(concat({tensor({1}), tensor({0.5f})}).to_vector<float>(), (Floats{1, 0.5f}));
}

TEST_F(Shapes, ConcatOfOtherSizesIsAnError) {
    expect_parts(user_error([] {
                     concat({zeros({2, 1}), zeros({3, 1})}, {.axis = 1});
                 }),
                 {"concat", "[2, 1]", "[3, 1]", "shapes_test.cpp:"});
}

TEST_F(Shapes, StackOfOtherShapesIsAnErrorOfStack) {
    expect_parts(user_error([] {
                     stack({zeros({6}), zeros({5})});
                 }),
                 {"stack: shapes [6] and [5] differ", "concat joins", "shapes_test.cpp:"});
}

TEST_F(Shapes, Reductions) {
    Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
    EXPECT_EQ(sum(x).item<float>(), 10);
    EXPECT_EQ(sum(x, {.axis = 1}).to_vector<float>(), (Floats{3, 7}));
    EXPECT_EQ(sum(x, {.axis = {0, 1}, .keep_dims = true}).shape(), (Shape{1, 1}));
    EXPECT_EQ(mean(x, {.axis = -1}).to_vector<float>(), (Floats{1.5f, 3.5f}));
    EXPECT_EQ(max(x, {.axis = 0}).to_vector<float>(), (Floats{3, 4}));
    EXPECT_EQ(min(x).item<float>(), 1);
    EXPECT_EQ(prod(x).item<float>(), 24);
    EXPECT_EQ(any(x > 3.0f).item<bool>(), true);
    EXPECT_EQ(all(x > 3.0f, {.axis = 1}).to_vector<int>(), (Ints{0, 0}));
}

TEST_F(Shapes, MeanOfIntegersIsFloat) { EXPECT_EQ(mean(tensor({1, 2})).item<float>(), 1.5f); }

TEST_F(Shapes, MeanOfHalvesDoesNotOverflow) {
    Tensor x = full({4}, 40000.0f).as(f16);
    EXPECT_EQ(mean(x).dtype(), f16);
    EXPECT_EQ(mean(x).item<float>(), 40000.0f);
}

TEST_F(Shapes, ReductionOverAMissingAxisIsAnError) {
    expect_parts(user_error([] { sum(zeros({2}), {.axis = 3}); }), {"axis 3", "shapes_test.cpp:"});
}

TEST_F(Shapes, MatmulOfMatrices) {
    Tensor a = tensor({1, 2, 3, 4}, {2, 2}), b = tensor({5, 6, 7, 8}, {2, 2});
    EXPECT_EQ(matmul(a, b).to_vector<int>(), (Ints{19, 22, 43, 50}));
}

TEST_F(Shapes, MatmulOfVectors) {
    Tensor a = tensor({1, 2}), m = tensor({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(matmul(a, a).item<int>(), 5);
    EXPECT_EQ(matmul(m, a).to_vector<int>(), (Ints{5, 11}));
    EXPECT_EQ(matmul(a, m).to_vector<int>(), (Ints{7, 10}));
}

TEST_F(Shapes, MatmulOfBatches) {
    Tensor a = ones({3, 2, 4}), b = ones({4, 5});
    EXPECT_EQ(matmul(a, b).shape(), (Shape{3, 2, 5}));
    EXPECT_EQ(matmul(a, b).to_vector<float>()[29], 4);
}

TEST_F(Shapes, MatmulOfOtherInnerSizesIsAnError) {
    expect_parts(
        user_error([] {
            matmul(zeros({64, 32}), zeros({16, 8}));
        }),
        {"matmul: inner sizes differ, a is [64, 32] and b is [16, 8]; transpose one operand",
         "shapes_test.cpp:"});
}

TEST_F(Shapes, ItemOfSeveralIsAnError) {
    expect_parts(user_error([] { zeros({2}).item<float>(); }), {"item", "[2]", "shapes_test.cpp:"});
}

// --- symbolic sizes

/// Recorded for symbols, a function gives the results for numbers, and leaves no check for the
/// call.
template <class Fn>
void expect_for_every_size(const char* name, const Fn& fn) {
    SCOPED_TRACE(name);
    auto compiled = compile(fn, {f32("n", "m"), f32("k")});
    EXPECT_TRUE(compiled.graph().guards.empty()) << compiled.graph().guards[0].message;
    for (auto [n, m, k] : {std::array{4, 6, 5}, std::array{1, 2, 1}, std::array{3, 8, 12}}) {
        Tensor x = reshape(arange(n * m).as(f32), {n, m}), y = arange(k).as(f32) + 0.5f;
        Tensor expected = fn(x, y), got = compiled(x, y);
        EXPECT_EQ(got.shape(), expected.shape());
        EXPECT_EQ(got.to_vector<float>(), expected.to_vector<float>());
    }
}

TEST_F(Shapes, SymbolsGoThroughMovement) {
    using T = const Tensor&;
    expect_for_every_size("merge",
                          [](T x, T) { return merge_axes(x, 0, 1) + reshape(transpose(x), {-1}); });
    expect_for_every_size("merge and split", [](T x, T) {
        return split_axis(reshape(x, {-1}), 0, {x.size(0), Size(-1)}) + x;
    });
    expect_for_every_size("split by a number", [](T x, T) {
        return sum(split_axis(concat({x, x}, {.axis = 1}), 1, {Size(2), Size(-1)}), {.axis = 1});
    });
    expect_for_every_size("concat", [](T x, T y) {
        return concat({reshape(x, {-1}), y}) + concat({y, reshape(x, {-1})});
    });
    expect_for_every_size("pad and flip", [](T x, T y) {
        return flip(pad(x, {.before = {y.size(0), 1}, .after = {0, y.size(0)}}));
    });
    expect_for_every_size("tile and repeat",
                          [](T x, T y) { return tile(y, {x.size(0)}) * repeat(y, x.size(0)); });
    expect_for_every_size("slices", [](T x, T y) {
        Size half = y.size(0) / 2;
        return concat({slice(y, {.begin = half}), slice(y, {.end = half})}) +
               sum(slice(x, {.axis = 1, .step = -2}));
    });
    expect_for_every_size("outer product", [](T x, T y) {
        return matmul(transpose(x), x) + sum(unsqueeze(y, 1) * unsqueeze(y, 0));
    });
}

TEST_F(Shapes, ConvolutionsWithSymbolsKeepTheirArithmetic) {
    for (auto [stride, padding, dilation] :
         {std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{3, 2, 2}}) {
        const Conv2dOptions options{.stride = stride, .padding = padding, .dilation = dilation};
        auto f = compile([&](Tensor x, Tensor w) { return conv2d(x, w, options); },
                         {f32("b", "c", "h", "w"), f32("o", "c", "p", "q")});
        for (int size : {5, 8}) {
            Tensor x = reshape(arange(2 * size * size).as(f32), {1, 2, size, size}),
                   w = ones({3, 2, 3, 3});
            Tensor got = f(x, w);
            const int extent = (size + 2 * padding - dilation * 2 - 1) / stride + 1;
            EXPECT_EQ(got.shape(), (Shape{1, 3, extent, extent}));
            EXPECT_EQ(got.to_vector<float>(), conv2d(x, w, options).to_vector<float>());
        }
    }
    auto same = compile([](Tensor x, Tensor w) { return x + conv2d(x, w, {.padding = 1}); },
                        {f32("b", 1, "h", "w"), f32(1, 1, 3, 3)});
    EXPECT_TRUE(same.graph().guards.empty());
}

TEST_F(Shapes, WhatIsNotProvedIsCheckedAtTheCallAndNamesBothPlaces) {
    auto f =
        compile([](Tensor x, Tensor y) { return reshape(x, {-1}) + y; }, {f32("n", "m"), f32("k")});
    Tensor fits = f(ones({2, 3}), ones({6}));
    EXPECT_EQ(fits.to_vector<float>(), Floats(6, 2));
    expect_parts(user_error([&] {
                     f(ones({2, 3}), ones({5}));
                 }),
                 {"[m*n] and [k]", "argument 0 [2, 3]", "argument 1 [5]", "shapes_test.cpp:"});
}

TEST_F(Shapes, ASymbolOutsideOfACompiledFunctionIsAnError) {
    const Size q = Size::symbol("q");
    expect_parts(user_error([&] { zeros({q}).to_vector<float>(); }),
                 {"'q'", "no value", "shapes_test.cpp:"});
    expect_parts(user_error([&] { sum(zeros({q})).item<float>(); }),
                 {"'q'", "no value", "shapes_test.cpp:"});
}

}  // namespace
}  // namespace firn
