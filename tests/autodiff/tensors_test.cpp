// Gradients of movement, reads, stores, reductions and algorithms against central differences.
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

TEST(Gradients, ThroughMovement) {
    const Tensor x = some({3, 4, 2}), y = some({4});
    expect_derivatives([](const Tensors& x) { return sin(reshape(x[0], {6, 4})) * x[1]; }, {x, y});
    expect_derivatives(
        [](const Tensors& x) {
            return sin(permute(x[0], {2, 0, 1})) * x[1];
        },
        {x, y});
    expect_derivatives([](const Tensors& x) { return sin(flip(x[0], {1})); }, {x});
    expect_derivatives([](const Tensors& x) { return sin(roll(x[0], 2, {.axis = 1})); }, {x});
    for (int64_t step : {1, 2, 3, -1, -2})
        expect_derivatives(
            [&](const Tensors& x) {
                return sin(slice(x[0], {.axis = 1, .begin = 1, .end = 4, .step = step}));
            },
            {x});
    expect_derivatives(
        [](const Tensors& x) {
            return concat({sin(x[0]), x[0] * x[0]}, {.axis = 1});
        },
        {x});
    expect_derivatives([](const Tensors& x) { return stack({sin(x[0]), x[0] * x[0]}); }, {x});
    expect_derivatives([](const Tensors& x) { return sin(expand(x[0], {3, 4})); }, {y});
}

TEST(Gradients, ThroughReadsOfEachMode) {
    const Tensor x = some({5, 4});
    const auto neighbours = [](const auto& read) {
        auto [i, j] = indices<2>({6, 7});
        return sin(read(i - 1, j - 2)) * read(2 * i, j % 3);
    };
    expect_derivatives([&](const Tensors& x) { return neighbours(x[0]); }, {x});
    expect_derivatives([&](const Tensors& x) { return neighbours(wrap(x[0])); }, {x});
    expect_derivatives([&](const Tensors& x) { return neighbours(mirror(x[0])); }, {x});
    expect_derivatives([&](const Tensors& x) { return neighbours(reflect(x[0])); }, {x});
    expect_derivatives([&](const Tensors& x) { return neighbours(zero(x[0])); }, {x});
}

TEST(Gradients, OfNeighboursReadNeighbours) {
    const Tensor x = some({5, 6});
    for (int by : {-2, -1, 0, 1, 2})
        for (const char* mode : {"clamp", "wrap", "mirror", "reflect", "zero"}) {
            const auto f = [&](const Tensors& a) {
                auto [i, j] = indices<2>(a[0].shape());
                Tensor y;
                const std::string name = mode;
                if (name == "clamp") y = a[0](i + by, j - by);
                if (name == "wrap") y = wrap(a[0])(i + by, j - by);
                if (name == "mirror") y = mirror(a[0])(i + by, j - by);
                if (name == "reflect") y = reflect(a[0])(i + by, j - by);
                if (name == "zero") y = zero(a[0])(i + by, j - by);
                return y * y * sin(a[0](i, j));
            };
            expect_derivatives(f, {x}, by == 1);
            SessionScope scope(Session::interpreter());
            const auto compiled = compile([&](Tensor x) { return grad(f({x}), x); }, {f32(5, 6)});
            for (const VerdictInfo& v : compiled.program()->verdicts)
                EXPECT_EQ(v.value.find("Scatter"), std::string::npos) << mode << " " << by;
        }
    // Axes that are shorter than the offset.
    for (const char* mode : {"clamp", "wrap", "mirror", "reflect", "zero"})
        expect_derivatives(
            [&](const Tensors& a) {
                auto [i, j] = indices<2>(a[0].shape());
                const std::string name = mode;
                Tensor y = name == "clamp"     ? Tensor(a[0](i - 3, j + 3))
                           : name == "wrap"    ? Tensor(wrap(a[0])(i - 3, j + 3))
                           : name == "mirror"  ? Tensor(mirror(a[0])(i - 3, j + 3))
                           : name == "reflect" ? Tensor(reflect(a[0])(i - 3, j + 3))
                                               : Tensor(zero(a[0])(i - 3, j + 3));
                return y * y;
            },
            {some({2, 1})});
    // Axes that change places, are read at a number, and repeat.
    expect_derivatives(
        [](const Tensors& a) {
            auto [j, k, i] = indices<3>({6, 3, 5});
            return sin(a[0](i, j) * a[0](3, j)) + float(1) * cast<float>(k);
        },
        {x});
}

TEST(Gradients, ThroughStoresThatCollide) {
    const Tensor x = some({6}), values = some({8});
    const auto stored = [](std::vector<int> places, auto store) {
        return [places, store](const Tensors& a) {
            Tensor y = sin(a[0]);
            store(y, tensor(places), a[1] * a[1]);
            return y * y;
        };
    };
    const std::vector<int> colliding{0, 3, 3, 5, 1, 9, -1, 3}, once{4, 1, 0, 7, -1, 9, 8, 3};
    using T = Tensor;
    expect_derivatives(stored(colliding, [](T& y, const T& at, const T& v) { y(at) = v; }),
                       {x, values});
    expect_derivatives(
        stored(colliding, [](T& y, const T& at, const T& v) { scatter_add(y(at), v); }),
        {x, values});
    expect_derivatives(
        stored(colliding, [](T& y, const T& at, const T& v) { scatter_min(y(at), v); }),
        {x, values});
    expect_derivatives(
        stored(colliding, [](T& y, const T& at, const T& v) { scatter_max(y(at), v); }),
        {x, values});
    const auto multiplied =
        stored(colliding, [](T& y, const T& at, const T& v) { scatter_mul(y(at), v); });
    expect_derivatives(multiplied, {x, values});
    // With one 0 the gradient there is the product of the others, with two it is 0.
    Tensor some_zeros = values, zero_first = x;
    some_zeros(3) = 0.0f;
    some_zeros(1) = 0.0f;
    zero_first(0) = 0.0f;
    const auto of_root = [&](const Tensors& a) {
        Tensor y = a[0];
        scatter_mul(y(tensor(colliding)), a[1]);
        return y + y * y;
    };
    expect_derivatives(of_root, {zero_first, values}, false);
    expect_derivatives(of_root, {x, some_zeros}, false);
    expect_derivatives(
        stored(once, [](T& y, const T& at, const T& v) { store(y(at), v, {.unique = true}); }),
        {x, values});
}

TEST(Gradients, ThroughReductions) {
    const Tensor x = some({3, 4, 2});
    for (const std::vector<int>& axes : {std::vector<int>{0}, {1, 2}, {0, 1, 2}}) {
        expect_derivatives([&](const Tensors& x) { return sin(sum(x[0] * x[0], {.axis = axes})); },
                           {x});
        expect_derivatives([&](const Tensors& x) { return prod(x[0], {.axis = axes}); }, {x},
                           false);
        expect_derivatives(
            [&](const Tensors& x) { return max(x[0], {.axis = axes}) * min(x[0], {.axis = axes}); },
            {x}, false);
    }
    // The elements have one zero, and two of them.
    expect_derivatives([](const Tensors& x) { return prod(x[0]); }, {tensor({2.0f, 0.0f, 3.0f})},
                       false);
    expect_derivatives([](const Tensors& x) { return prod(x[0]); }, {tensor({2.0f, 0.0f, 0.0f})},
                       false);
}

TEST(Gradients, ThroughLinearAlgebraAndNetworks) {
    const Tensor a = some({3, 4}), b = some({4, 5}), image = some({2, 3, 5, 6}),
                 weights = some({4, 3, 3, 3});
    expect_derivatives([](const Tensors& x) { return tanh(matmul(x[0], x[1])); }, {a, b});
    expect_derivatives(
        [](const Tensors& x) {
            return einsum("ij,jk->ki", {x[0], sin(x[1])});
        },
        {a, b});
    expect_derivatives([](const Tensors& x) { return max(conv2d(x[0], x[1]), 0.0f); },
                       {image, weights}, false);
    expect_derivatives(
        [](const Tensors& x) {
            Tensor high = max(x[0], {.axis = 1, .keep_dims = true});
            Tensor e = exp(x[0] - high);
            return log(e / sum(e, {.axis = 1, .keep_dims = true}));
        },
        {a}, false);
}

/// Elements of an image gather from the windows that saw them: no atomics.
TEST(Gradients, OfConvolutionsAreReads) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    for (const Conv2dOptions& options : {Conv2dOptions{}, Conv2dOptions{.stride = 2, .padding = 1},
                                         Conv2dOptions{.dilation = 2}}) {
        const auto compiled =
            compile([&](Tensor x, Tensor w) { return grad(sum(square(conv2d(x, w, options))), x); },
                    {f32(2, 3, 16, 12), f32(4, 3, 3, 3)});
        for (const VerdictInfo& v : compiled.program()->verdicts)
            EXPECT_EQ(v.value.find("Scatter"), std::string::npos);
        expect_derivatives([&](const Tensors& a) { return square(conv2d(a[0], a[1], options)); },
                           {some({1, 2, 7, 6}), some({2, 2, 3, 3})}, false);
    }
}

/// The gradient does not go through every step of the elimination.
TEST(Gradients, OfASystemAreThoseOfAnother) {
    SessionScope scope(Session::interpreter());
    const auto solves = [](const Tensors& a) { return sum(square(solve(a[0], a[1]))); };
    const auto dispatches = [&](const auto& f) {
        return compile(f, {f32(32, 32), f32(32, 3)}).stats().dispatches;
    };
    const int64_t once = dispatches([&](Tensor a, Tensor b) { return solves({a, b}); });
    EXPECT_LE(dispatches([&](Tensor a, Tensor b) {
                  return grad(solves({a, b}), a);
              }),
              2 * once + 8);
    const Tensor a = some({2, 3, 3}) + 3.0f * eye(3), b = some({2, 3, 2});
    expect_derivatives([](const Tensors& x) { return solve(x[0], x[1]); }, {a, b});
    expect_derivatives([](const Tensors& x) { return solve(x[0], x[1]); },
                       {a(0), b(0)(index({3}, 0), 0)}, false);
}

TEST(Gradients, ThroughAlgorithms) {
    const Tensor x = some({12}), y = some({12}, -1, 2),
                 square = some({4, 4}) +
                          tensor({3, 0, 0, 1, 0, 2, 0, 0, 1, 0, 4, 0, 0, 0, 2, 3}, {4, 4});
    const auto expect_first = [](const Differentiable& f, const Tensors& at) {
        expect_derivatives(f, at, false);
    };
    expect_first([](const Tensors& a) { return sin(cumsum(a[0])) * cumprod(a[1]); }, {x, y});
    expect_first([](const Tensors& a) { return sort(a[0]) * topk(a[1], 12).values; }, {x, y});
    expect_first(
        [](const Tensors& a) {
            const Complex f = fft(Complex{a[0], a[1]});
            return f.re * f.re + f.im;
        },
        {x, y});
    expect_first([](const Tensors& a) { return inverse(a[0]); }, {square});
    expect_first([](const Tensors& a) { return solve(a[0], reshape(a[1], {4, 3})); }, {square, x});
    expect_first([](const Tensors& a) { return qr(a[0]).r; }, {square});
}

}  // namespace
}  // namespace firn
