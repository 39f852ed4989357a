// The meaning of braces where users write them, and braces that must not compile.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class Braces : public ::testing::Test {
  protected:
    SessionScope scope_{Session::oracle()};
};

// --- shapes --------------------------------------------------------------------------------------

TEST_F(Braces, AnEmptyShapeIsOneNumber) {
    EXPECT_EQ(tensor(Ints{7}, {}).rank(), 0);
    EXPECT_EQ(tensor({7}, {}).rank(), 0);
    EXPECT_EQ(tensor(std::span<const int>(Ints{7}), {}).rank(), 0);
    EXPECT_EQ(zeros({}).rank(), 0);
    EXPECT_EQ(full({}, 2.0f).rank(), 0);
    EXPECT_EQ(rand({}).rank(), 0);
    EXPECT_EQ(reshape(tensor({7}), {}).rank(), 0);
}

TEST_F(Braces, ShapesOfZeros) {
    EXPECT_EQ(tensor(Ints{}, {0}).shape(), (Shape{0}));
    EXPECT_EQ(tensor(Ints{}, {0, 4}).shape(), (Shape{0, 4}));
    EXPECT_EQ(zeros({0}).shape(), (Shape{0}));
    EXPECT_EQ(zeros({0, 0}).shape(), (Shape{0, 0}));
}

TEST_F(Braces, WithoutAShapeDataIsAVectorWithTheCallersLine) {
    EXPECT_EQ(tensor({1, 2, 3}).shape(), (Shape{3}));
    EXPECT_EQ(tensor(Floats{1, 2}, here()).shape(), (Shape{2}));
}

TEST_F(Braces, ListsOfListsAreRows) {
    const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(x.shape(), (Shape{2, 3}));
    EXPECT_EQ(x.dtype(), i32);
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(tensor({{1}, {2}}).shape(), (Shape{2, 1}));
    EXPECT_EQ(tensor({{7}}).shape(), (Shape{1, 1}));
    EXPECT_EQ(tensor({{true, false}}).dtype(), boolean);
    EXPECT_EQ(tensor({{4000000000u, 1u}}).to_vector<uint32_t>()[0], 4000000000u);
    EXPECT_EQ(tensor({{0.5, 1.0}, {2.0, 3.0}}).dtype(), f32);
    EXPECT_EQ(tensor({{0.5, 1}, {2, 3}}).to_vector<float>(), (Floats{0.5f, 1, 2, 3}));
    expect_parts(user_error([] {
                     tensor({{1, 2, 3}, {4, 5}});
                 }),
                 {"row 0 has 3", "row 1 has 2", "braces_test.cpp"});
}

TEST_F(Braces, LiteralsOfSeveralTypes) {
    EXPECT_EQ(tensor({1.5, 2, 3}).to_vector<float>(), (Floats{1.5f, 2, 3}));
    EXPECT_EQ(tensor({1.5f, 2.0, 3}).dtype(), f32);
    EXPECT_EQ(tensor({1, 2u, true}).dtype(), i32);
}

TEST_F(Braces, ArraysOfC) {
    const float values[3] = {1, 2, 3};
    EXPECT_EQ(tensor(values).to_vector<float>(), (Floats{1, 2, 3}));
    const int rows[2][2] = {{1, 2}, {3, 4}};
    EXPECT_EQ(tensor(rows).shape(), (Shape{2, 2}));
    EXPECT_EQ(tensor(rows).to_vector<int>(), (Ints{1, 2, 3, 4}));
}

TEST_F(Braces, ANumberWithAPointMakesARangeOfFloats) {
    EXPECT_EQ(arange(0, 2, 0.5).to_vector<float>(), (Floats{0, 0.5f, 1, 1.5f}));
    EXPECT_EQ(arange(0, 10, 2.5f).to_vector<float>(), (Floats{0, 2.5f, 5, 7.5f}));
    EXPECT_EQ(arange(1, 3.5f).to_vector<float>(), (Floats{1, 2, 3}));
    EXPECT_EQ(arange(2, 9, 3).dtype(), i32);
}

TEST_F(Braces, WhatIsLikeAnother) {
    const Tensor x = tensor({{1, 2}, {3, 4}}), y = tensor({0.5f});
    EXPECT_EQ(zeros_like(x).shape(), (Shape{2, 2}));
    EXPECT_EQ(zeros_like(x).dtype(), i32);
    EXPECT_EQ(ones_like(y).dtype(), f32);
    EXPECT_EQ(full_like(x, 2.5f).to_vector<int>(), (Ints(4, 2)));
    EXPECT_EQ(full_like(y, 3).to_vector<float>(), (Floats{3}));
}

// --- axes ----------------------------------------------------------------------------------------

/// 0 to 23 in [2, 3, 4].
Tensor box() { return reshape(arange(24), {2, 3, 4}); }

TEST_F(Braces, SeveralAxesOfAReduction) {
    EXPECT_EQ(sum(box(), {0, 1}).to_vector<int>(), sum(box(), {.axis = {0, 1}}).to_vector<int>());
    EXPECT_EQ(sum(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(prod(box(), {1, 2}).shape(), (Shape{2}));
    EXPECT_EQ(mean(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(max(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(min(box(), {-1, 0}).shape(), (Shape{3}));
    EXPECT_EQ(any(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(all(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(var(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(stddev(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(norm(box(), {0, 1}).shape(), (Shape{4}));
    EXPECT_EQ(logsumexp(box(), {0, 1}).shape(), (Shape{4}));
}

TEST_F(Braces, OneAxisAndAllAxesOfAReduction) {
    EXPECT_EQ(sum(box(), {1}).shape(), (Shape{2, 4}));
    EXPECT_EQ(sum(box(), {-1}).shape(), (Shape{2, 3}));
    EXPECT_EQ(sum(box(), {}).rank(), 0);
    EXPECT_EQ(sum(box()).rank(), 0);
    int64_t axis = 2;
    EXPECT_EQ(max(box(), {axis}).shape(), (Shape{2, 3}));
}

TEST_F(Braces, OptionsByNameMeanWhatTheySay) {
    EXPECT_EQ(sum(box(), {.axis = 0, .keep_dims = true}).shape(), (Shape{1, 3, 4}));
    EXPECT_EQ(sum(box(), {.axis = {0, 1}, .keep_dims = true}).shape(), (Shape{1, 1, 4}));
    EXPECT_EQ(argmax(box(), {.axis = 0, .keep_dims = true}).shape(), (Shape{1, 3, 4}));
    EXPECT_EQ(slice(box(), {.axis = 2, .begin = 1, .end = 3}).shape(), (Shape{2, 3, 2}));
    EXPECT_EQ(pad(tensor({1}), {.before = {1}, .after = {2}, .value = 5}).to_vector<int>(),
              (Ints{5, 1, 5, 5}));
    EXPECT_EQ(cumsum(tensor({1, 2}), {.axis = 0, .exclusive = true}).to_vector<int>(),
              (Ints{0, 1}));
    EXPECT_EQ(sort(tensor({1, 2}), {.descending = true}).to_vector<int>(), (Ints{2, 1}));
}

TEST_F(Braces, SeveralAxesOfMovement) {
    EXPECT_EQ(flip(box(), {0, 1, 2}).to_vector<int>(), flip(box()).to_vector<int>());
    EXPECT_EQ(flip(box(), {1}).to_vector<int>(), flip(box(), {.axis = 1}).to_vector<int>());
    EXPECT_EQ(squeeze(zeros({1, 3, 1}), {0, 2}).shape(), (Shape{3}));
    EXPECT_EQ(squeeze(zeros({1, 3, 1}), {0}).shape(), (Shape{3, 1}));
    EXPECT_EQ(squeeze(zeros({1, 3, 1}), {}).shape(), (Shape{3}));
    EXPECT_EQ(fftn(box(), {1, 2}).re.to_vector<float>(),
              fftn(box(), {.axis = {1, 2}}).re.to_vector<float>());
}

TEST_F(Braces, PairsThatSayALowAndAHighEnd) {
    EXPECT_EQ(histogram(tensor({0.1f, 1.5f}), 2, {0, 2}).to_vector<int>(), (Ints{1, 1}));
    EXPECT_EQ(rand({3}, {1, 2}).to_vector<float>(),
              rand({3}, {.seed = 1, .stream = 2}).to_vector<float>());
}

// --- what must not compile -----------------------------------------------------------------------

/// Each is asked of a type that stands for Tensor, so that a call that does not compile is an
/// answer.
template <class T>
concept ReducesWithKeepDimsByPosition = requires(T x) {
    sum(x, {1, true});
}
|| requires(T x) { sum(x, {{0, 1}, true}); }
|| requires(T x) { var(x, {1, true}); }
|| requires(T x) { norm(x, {1, true}); };
static_assert(!ReducesWithKeepDimsByPosition<Tensor>);

template <class T>
concept ReducesByANumber = requires(T x) {
    sum(x, 0);
};
static_assert(!ReducesByANumber<Tensor>);

template <class T>
concept TakesTwoAxesForOne = requires(T x) {
    argmax(x, {0, 1});
}
|| requires(T x) { argmin(x, {0, 1}); }
|| requires(T x) { sort(x, {0, 1}); }
|| requires(T x) { argsort(x, {0, 1}); }
|| requires(T x) { cumsum(x, {0, 1}); }
|| requires(T x) { cummax(x, {0, 1}); }
|| requires(T x) { topk(x, 1, {0, 1}); }
|| requires(T x) { softmax(x, {0, 1}); }
|| requires(T x) { shuffle(x, {0, 1}); }
|| requires(T x) { fft(x, {0, 1}); }
|| requires(T x) { concat({x, x}, {0, 1}); };
static_assert(!TakesTwoAxesForOne<Tensor>);

template <class T>
concept SlicesByPosition = requires(T x) {
    slice(x, {0, 1});
}
|| requires(T x) { slice(x, {1, 0, 2}); };
static_assert(!SlicesByPosition<Tensor>);

template <class T>
concept PadsByPosition = requires(T x) {
    pad(x, {{1, 2}, {3, 4}});
};
static_assert(!PadsByPosition<Tensor>);

template <class T>
concept IsANumberFromAList = requires(T x) {
    x = {1, 2};
}
|| requires(T x) { x({0, 1}); }
|| requires(T x) { x + T{1, 2}; };
static_assert(!IsANumberFromAList<Tensor>);

template <class T>
concept IsACondition = requires(T x) {
    x ? 1 : 0;
}
|| requires(T x) { x&& x; }
|| requires(T x) { x || x; };
static_assert(!IsACondition<Tensor>);
static_assert(!IsACondition<Access>);

template <class T>
concept IsStoredByName = requires(T x, Access place) {
    place = x;
};
static_assert(!IsStoredByName<Tensor>);

template <class T>
concept IsAssignedAsATemporary = requires(T x) {
    T(x) = x;
};
static_assert(!IsAssignedAsATemporary<Tensor>);
static_assert(!IsAssignedAsATemporary<vec3>);

template <class T>
concept IsStoredToThroughConst = requires(const T x) {
    x(0) = 1.0f;
};
static_assert(!IsStoredToThroughConst<Tensor>);

template <class T>
concept ChangesAResult = requires(T x) {
    slice(x, {.begin = 2}) += 1.0f;
}
|| requires(T x) { slice(x, {.begin = 2}) = x; }
|| requires(const T x) { x(range(2)) *= 2.0f; };
static_assert(!ChangesAResult<Tensor>);

template <class T>
concept IsIndexedInBrackets = requires(T x) {
    x[0];
};
static_assert(!IsIndexedInBrackets<Tensor>);

template <class T>
concept IsIndexedTwice = requires(T x) {
    x(0)(1);
}
|| requires(T x) { x(0)(1) = 1.0f; };
static_assert(!IsIndexedTwice<Tensor>);

template <class T>
concept RangesAtATensor = requires(T x) {
    range(x, 3);
}
|| requires(T x) { range(0, x); }
|| requires(T x) { range(x(0), x(1)); };
static_assert(!RangesAtATensor<Tensor>);

using Sum = decltype(compile([](Tensor x, Tensor y) { return x + y; }, {f32("n"), f32("n")}));
static_assert(std::invocable<Sum, Tensor, float> && !std::invocable<Step, Tensor> &&
              !std::invocable<Sum, Tensor, Tensor, Tensor>);

template <class V>
concept RepeatsLettersOnTheLeft = requires(V p, vec2 q) {
    p.xx() = q;
}
|| requires(V p, vec3 q) { p.xyx() = q; }
|| requires(V p, vec2 q) { p.yy() += q; };
static_assert(!RepeatsLettersOnTheLeft<vec3>);

template <class V>
concept WritesPartsOfATemporary = requires(V p, vec2 q) {
    V(p).xy() = q;
}
|| requires(const V p, vec2 q) { p.xy() = q; }
|| requires(V p, Tensor x) { p.xy().x = x; };
static_assert(!WritesPartsOfATemporary<vec3>);

template <class V>
concept WritesPartsOfAnotherSize = requires(V p, vec3 q) {
    p.xy() = q;
};
static_assert(!WritesPartsOfAnotherSize<vec3>);

// --- tensors in braces ---------------------------------------------------------------------------

TEST_F(Braces, OneTensorIsAListOfOneWhereSeveralAreTaken) {
    Tensor x = tensor({1.0f, 2.0f}), y = x * x;
    const std::vector<Tensor> by_one = grad(sum(y), {x}), by_two = grad(sum(y * x), {x, y});
    EXPECT_EQ(by_one.size(), 1u);
    EXPECT_EQ(grad(sum(y), {x})[0].to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(by_two[1].to_vector<float>(), (Floats{1, 2}));
    EXPECT_EQ(grad(sum(y), {x}, {.allow_unused = true}).size(), 1u);
    EXPECT_EQ(jacobian(y, {x})[0].to_vector<float>(), (Floats{2, 0, 0, 4}));
    EXPECT_EQ(jacobian(y, {x, x}).size(), 2u);
    EXPECT_EQ(vjp(y, {x}, ones({2})).size(), 1u);
    EXPECT_EQ(jvp(y, {x}, {ones({2})}).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(hessian_product(sum(y), {x}, {ones({2})})[0].to_vector<float>(), (Floats{2, 2}));
    const auto whole = [](const std::vector<Tensor>& xs) { return sum(xs[0] * xs[0]); };
    EXPECT_EQ(value_and_grad(whole, {x}).gradients[0].to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(concat({x}).shape(), (Shape{2}));
    EXPECT_EQ(stack({x}).shape(), (Shape{1, 2}));
    EXPECT_EQ(einsum("i->", {x}).item<float>(), 3);
    static_assert(std::is_same_v<decltype(grad(x, x)), Tensor>);
    static_assert(std::is_same_v<decltype(jacobian(x, x)), Tensor>);
}

TEST_F(Braces, AnAccessInBracesIsATensorToo) {
    Tensor x = tensor({1.0f, 2.0f}), first = x(0);
    EXPECT_EQ(concat({x(range(0, 1)), x(range(1, 2))}).shape(), (Shape{2}));
    EXPECT_EQ(grad(first * first, {first})[0].item<float>(), 2);
}

template <class T>
concept HasHessianByAList = requires(const T& x) {
    hessian(x, {x});
};
static_assert(!HasHessianByAList<Tensor>, "a hessian is by one tensor");

// --- axes of a variable --------------------------------------------------------------------------

TEST_F(Braces, AxesMayBeAVariable) {
    const Tensor x = reshape(arange(24), {2, 3, 4}).as(f32);
    const std::vector<int> axes{0, -1};
    const std::vector<int64_t> wide{0, 2};
    const std::array<int, 2> fixed{2, 0};
    const Axes named{0, 2};
    for (const Tensor& each : {mean(x, axes), mean(x, wide), mean(x, fixed), mean(x, named),
                               mean(x, {.axis = axes}), mean(x, {.axis = wide})})
        EXPECT_EQ(each.to_vector<float>(), (Floats{7.5f, 11.5f, 15.5f}));
    EXPECT_EQ(sum(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(prod(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(max(x, axes).to_vector<float>(), (Floats{15, 19, 23}));
    EXPECT_EQ(min(x, wide).to_vector<float>(), (Floats{0, 4, 8}));
    EXPECT_EQ(any(x > 22.0f, axes).to_vector<int>(), (Ints{0, 0, 1}));
    EXPECT_EQ(all(x > 0.0f, axes).to_vector<int>(), (Ints{0, 1, 1}));
    EXPECT_EQ(var(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(stddev(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(norm(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(logsumexp(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(nansum(x, axes).shape(), (Shape{3}));
    EXPECT_EQ(flip(x, axes).shape(), (Shape{2, 3, 4}));
    EXPECT_EQ(squeeze(x(range(0, 1), all, range(0, 1)), axes).shape(), (Shape{3}));
    EXPECT_EQ(fftn(x, axes).re.shape(), (Shape{2, 3, 4}));
    const int axis = 1;
    EXPECT_EQ(sum(x, {axis}).shape(), (Shape{2, 4}));
    const std::vector<int> none;
    EXPECT_EQ(sum(x, none).rank(), 0);
}

TEST_F(Braces, AxesOfAVariableThatAreNotThereAreRefused) {
    const std::vector<int> axes{0, 3};
    expect_parts(user_error([&] { mean(zeros({2, 2}), axes); }), {"axis 3", "rank 2"});
}

}  // namespace
}  // namespace firn
