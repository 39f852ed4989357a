// Gradients against central differences, of the second order too.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "compiler/autodiff/derivatives.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/op.h"
#include "compiler/language.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

std::vector<float> numbers(int64_t count, float low = -1.7f, float high = 1.9f) {
    std::vector<float> out;
    for (int64_t k = 0; k < count; ++k)
        out.push_back(low + (high - low) * float((k * 37 + 11) % 101) / 101.0f);
    return out;
}
Tensor some(const Shape& shape, float low = -1.7f, float high = 1.9f) {
    return tensor(numbers(element_count(shape).constant(), low, high), shape);
}

/// f and its gradient have the derivatives that differences have.
void expect_derivatives(const Function& f, const Tensors& xs, bool second = true) {
    const GradientCheck first = check_gradients(f, xs);
    EXPECT_TRUE(first) << first.where;
    if (!second) return;
    const auto gradient = [&](const Tensors& at) {
        Tensor y = f(at);
        Tensors all = grad(sum(y * cos(y)), at, {.allow_unused = true});
        Tensor out = 0.0f;
        for (const Tensor& each : all) out = out + sum(sin(each));
        return out;
    };
    const GradientCheck again = check_gradients(gradient, xs, {.tolerance = 1e-5});
    EXPECT_TRUE(again) << "second order: " << again.where;
}

struct Unary {
    const char* name;
    Tensor (*f)(const Tensor&);
    float low = -1.7f, high = 1.9f;
};
const Unary kUnary[] = {
    {"neg", [](const Tensor& x) { return Tensor(-x); }},
    {"abs", [](const Tensor& x) { return abs(x); }, 0.2f, 2},
    {"frac", [](const Tensor& x) { return frac(x); }, 0.1f, 0.9f},
    {"floor", [](const Tensor& x) { return x * floor(x); }, 0.1f, 0.9f},
    {"exp", [](const Tensor& x) { return exp(x); }},
    {"exp2", [](const Tensor& x) { return exp2(x); }},
    {"expm1", [](const Tensor& x) { return expm1(x); }},
    {"log", [](const Tensor& x) { return log(x); }, 0.2f, 3},
    {"log2", [](const Tensor& x) { return log2(x); }, 0.2f, 3},
    {"log1p", [](const Tensor& x) { return log1p(x); }, -0.7f, 3},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, 0.2f, 3},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x); }, 0.3f, 3},
    {"rcp", [](const Tensor& x) { return rcp(x); }, 0.4f, 3},
    {"sin", [](const Tensor& x) { return sin(x); }},
    {"cos", [](const Tensor& x) { return cos(x); }},
    {"tan", [](const Tensor& x) { return tan(x); }, -1, 1},
    {"asin", [](const Tensor& x) { return asin(x); }, -0.8f, 0.8f},
    {"acos", [](const Tensor& x) { return acos(x); }, -0.8f, 0.8f},
    {"atan", [](const Tensor& x) { return atan(x); }},
    {"sinh", [](const Tensor& x) { return sinh(x); }},
    {"cosh", [](const Tensor& x) { return cosh(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"erf", [](const Tensor& x) { return erf(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"power", [](const Tensor& x) { return pow(x, 2.5f); }, 0.2f, 1.5f},
    {"cube", [](const Tensor& x) { return pow(x, 3.0f); }},
};
class UnaryGradients : public testing::TestWithParam<Unary> {};
INSTANTIATE_TEST_SUITE_P(Functions, UnaryGradients, testing::ValuesIn(kUnary),
                         [](const auto& row) { return row.param.name; });
TEST_P(UnaryGradients, AgreeWithDifferences) {
    expect_derivatives([](const Tensors& x) { return GetParam().f(x[0]); },
                       {some({7}, GetParam().low, GetParam().high)});
}

TEST(Gradients, OfEveryOperationOnFloats) {
    for (int k = 0; k < kOpCount; ++k) {
        const Op op = static_cast<Op>(k);
        const bool chooses = op == Op::Select || op == Op::Min || op == Op::Max;
        const bool gives_floats =
            info(op).result == ResultRule::Same || info(op).result == ResultRule::Float;
        if (!is_elementwise(op) || chooses || !gives_floats || !(info(op).types & kSingles))
            continue;
        for (int input = 0; input < info(op).arity; ++input)
            EXPECT_TRUE(partial_derivative(op, input)) << info(op).name;
    }
}

TEST(Gradients, OfTwoOperands) {
    const Tensor a = some({3, 4}), b = some({3, 4}, 0.8f, 2), row = some({4}, 0.4f, 1.3f);
    expect_derivatives([](const Tensors& x) { return x[0] * x[1] + x[0] - 2.0f * x[1]; }, {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] / x[1]; }, {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] % x[1]; }, {b + 2.013f, row}, false);
    expect_derivatives([](const Tensors& x) { return pow(x[1], x[0]); }, {a, b});
    expect_derivatives([](const Tensors& x) { return atan2(x[0], x[1]); }, {a, b});
    expect_derivatives([](const Tensors& x) { return min(x[0], x[1]) * max(x[0], x[1]); },
                       {a, row});
    expect_derivatives([](const Tensors& x) { return select(x[0] < x[1], x[0] * x[1], sin(x[0])); },
                       {a, b});
    expect_derivatives([](const Tensors& x) { return x[0] * x[0] * x[0]; }, {a});
}

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
    expect_derivatives([&](const Tensors& x) { return neighbours(zero(x[0])); }, {x});
}

TEST(Gradients, OfNeighboursReadNeighbours) {
    const Tensor x = some({5, 6});
    for (int by : {-2, -1, 0, 1, 2})
        for (const char* mode : {"clamp", "wrap", "mirror", "zero"}) {
            const auto f = [&](const Tensors& a) {
                auto [i, j] = indices<2>(a[0].shape());
                Tensor y;
                const std::string name = mode;
                if (name == "clamp") y = a[0](i + by, j - by);
                if (name == "wrap") y = wrap(a[0])(i + by, j - by);
                if (name == "mirror") y = mirror(a[0])(i + by, j - by);
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
    for (const char* mode : {"clamp", "wrap", "mirror", "zero"})
        expect_derivatives(
            [&](const Tensors& a) {
                auto [i, j] = indices<2>(a[0].shape());
                const std::string name = mode;
                Tensor y = name == "clamp"    ? Tensor(a[0](i - 3, j + 3))
                           : name == "wrap"   ? Tensor(wrap(a[0])(i - 3, j + 3))
                           : name == "mirror" ? Tensor(mirror(a[0])(i - 3, j + 3))
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
    // One zero, and two of them.
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

TEST(Gradients, ThroughAlgorithms) {
    const Tensor x = some({12}), y = some({12}, -1, 2),
                 square = some({4, 4}) +
                          tensor({3, 0, 0, 1, 0, 2, 0, 0, 1, 0, 4, 0, 0, 0, 2, 3}, {4, 4});
    const auto expect_first = [](const Function& f, const Tensors& at) {
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

std::vector<float> gradient_of(Tensor (*f)(const Tensor&), const std::vector<float>& at) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor(at);
    return grad(f(x), x).to_vector<float>();
}

TEST(Gradients, OfASideThatIsNotTakenAreExactlyNothing) {
    const float nan = std::nanf("");
    EXPECT_EQ(
        gradient_of([](const Tensor& x) { return select(x > 0.0f, log(x), 2.0f * x); }, {-1, 0, 4}),
        (std::vector<float>{2, 2, 0.25f}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return select(x > 0.0f, sqrt(x) / x, 0.0f * x); },
                          {0, 4})[0],
              0);
    EXPECT_EQ(
        gradient_of([](const Tensor& x) { return select(is_nan(x), 0.0f, x * exp(x)); }, {nan, 0}),
        (std::vector<float>{0, 1}));
    EXPECT_EQ(gradient_of(
                  [](const Tensor& x) {
                      Tensor y = x;
                      for (Tensor k : loop(2)) y = rcp(y) * x;
                      return select(x > 0.0f, y, x);
                  },
                  {0, 4}),
              (std::vector<float>{1, 1}));
    EXPECT_EQ(
        gradient_of([](const Tensor& x) { return select(is_nan(x(0)), 0.0f, max(x)); }, {nan, nan}),
        (std::vector<float>{0, 0}));
    // Through what comes before the side as well.
    EXPECT_EQ(
        gradient_of([](const Tensor& x) { return select(x > 0.0f, rcp(sqrt(x * x - 1.0f)), x); },
                    {-1, 0})[0],
        1);
}

TEST(Gradients, WhereThereIsNoDerivative) {
    EXPECT_EQ(gradient_of([](const Tensor& x) { return abs(x); }, {0}), std::vector<float>{0});
    EXPECT_EQ(gradient_of([](const Tensor& x) { return sqrt(sum(x * x)); }, {0, 0}),
              (std::vector<float>{0, 0}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return max(x, 0.0f); }, {-1, 0, 1}),
              (std::vector<float>{0, 0.5f, 1}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return max(x); }, {1, 3, 3}),
              (std::vector<float>{0, 0.5f, 0.5f}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return pow(x, 2.0f); }, {0}),
              std::vector<float>{0});
    EXPECT_EQ(gradient_of([](const Tensor& x) { return max(x, x); }, {2}), std::vector<float>{1});
}

TEST(Gradients, OfAnyOrder) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({0.7f});
    std::vector<Tensor> all{sin(x)};
    for (int order = 1; order <= 6; ++order) all.push_back(grad(all.back(), x));
    const double sine = std::sin(0.7f), cosine = std::cos(0.7f);
    const double expected[] = {sine, cosine, -sine, -cosine, sine, cosine, -sine};
    for (size_t order = 0; order < all.size(); ++order)
        EXPECT_NEAR(all[order].item<float>(), expected[order], 1e-6) << order;
}

TEST(Gradients, BySeveralTensorsAndAnother) {
    SessionScope scope(Session::oracle());
    Tensor w = tensor({2.0f, 3.0f}), hidden = w * w;
    const std::vector<Tensor> all = grad(sum(hidden * hidden), {w, hidden});
    const Tensor scaled = vjp(hidden, {w}, tensor({1.0f, 10.0f}))[0];
    EXPECT_EQ(all[0].to_vector<float>(), (std::vector<float>{32, 108}));
    EXPECT_EQ(all[1].to_vector<float>(), (std::vector<float>{8, 18}));
    EXPECT_EQ(scaled.to_vector<float>(), (std::vector<float>{4, 60}));
}

TEST(Gradients, OfANetworkByKernels) {
    const auto step = [](const Tensors& p) {
        Tensor hidden = max(matmul(p[0], p[1]) + p[2], 0.0f);
        Tensor out = matmul(hidden, p[3]);
        const std::vector<Tensor> g = grad(mean(square(out - p[4])), {p[1], p[2], p[3]});
        return Tensors{g[0], g[1], g[2]};
    };
    const std::vector<Shape> shapes{{32, 20}, {20, 24}, {24}, {24, 10}, {32, 10}};
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        Tensors arguments;
        std::vector<ArgSpec> specs;
        for (const Shape& shape : shapes) {
            arguments.push_back(some(shape));
            specs.push_back(ArgSpec(f32, shape));
        }
        std::vector<float> all;
        for (const Tensor& each : compile(step, specs)(arguments))
            for (float value : each.to_vector<float>()) all.push_back(value);
        return all;
    };
    const std::vector<float> expected = run(Session::oracle());
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const std::vector<float> got = run(Session::interpreter(profile));
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 1e-4 * std::max(1.0f, std::abs(expected[k])));
    }
}

TEST(Gradients, ThroughLoops) {
    const Tensor x = some({5}), w = some({5}, 0.3f, 0.9f);
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(4)) y = sin(y * a[1]) + 0.1f * cast<float>(k) * a[0];
            return y;
        },
        {x, w});
    // Several values, of which one is a sum, and one is no number of the loss.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], total = sum(a[0]), count = 0;
            for (Tensor k : loop(1, 8, 3)) {
                y = y * a[1] + total;
                total = total + sum(y * y) * 0.1f;
                count = count + k;
            }
            return y * cast<float>(count) + total;
        },
        {x, w}, false);
    // Inside one another, and one that has no iterations.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(3)) {
                for (Tensor j : loop(2)) y = sin(y + a[1] * cast<float>(k + j));
                y = y * a[0];
            }
            for (Tensor k : loop(3, 3)) y = y * y;
            return y;
        },
        {x, w}, false);
    // Neighbours, and stores into what is carried.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(5)) {
                auto [i] = indices<1>(y.shape());
                y = 0.5f * (wrap(y)(i - 1) + y(i + 1)) + y * a[1];
                y(k) = sin(y(k)) * 2.0f;
            }
            return y;
        },
        {x, w}, false);
    // Nothing is kept where the gradient needs no state.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(6)) y = y + a[1] * 0.5f;
            return y;
        },
        {x, w});
}

TEST(Gradients, ThroughLoopsOfAnyLength) {
    SessionScope scope(Session::interpreter());
    const auto f = compile(
        [](Tensor x, Tensor w) {
            Tensor y = x;
            for (Tensor k : loop(x.size(0))) y = sin(y * w) + x;
            return grad(sum(y), w);
        },
        {f32("n"), f32()});
    for (int n : {1, 2, 9}) {
        const std::vector<float> values = numbers(n);
        const float got = Tensor(f(tensor(values), 0.7f)).item<float>();
        const auto loss = [&](double w) {
            double total = 0;
            for (float start : values) {
                double y = start;
                for (int k = 0; k < n; ++k) y = std::sin(y * w) + start;
                total += y;
            }
            return total;
        };
        EXPECT_NEAR(got, (loss(0.7 + 1e-6) - loss(0.7 - 1e-6)) / 2e-6, 1e-3) << n;
    }
}

TEST(Gradients, ThroughBranches) {
    for (float limit : {-5.0f, 5.0f})
        expect_derivatives(
            [&](const Tensors& a) {
                Tensor y = a[0];
                if_(
                    sum(a[0]) > limit, [&] { y = y * a[1]; }, [&] { y = sin(y); });
                return y;
            },
            {some({5}), some({5}, 0.3f, 0.9f)});
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            if_(a[0] > 0.1f, [&] { y = log(y) * a[1]; });
            return y;
        },
        {some({5}), some({5}, 0.3f, 0.9f)});
}

TEST(Gradients, ByARuleOfOnesOwn) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.5f, -1.5f}), y = tensor({2.0f, 3.0f});
    const Tensor stopped = grad(sum(x * stop_gradient(x * y)), x),
                 rounded = grad(sum(straight_through(round(x), x) * y), x),
                 ruled = grad(sum(y * custom_gradient(
                                          [](const Tensors&a) { return exp(a[0]) * a[1]; }, {x, y},
                                          [](const Tensors&a, const Tensor&value, const Tensor&g) {
                                              return Tensors{g * a[1], g * value * 0.0f};
                                          })),
                              x);
    EXPECT_EQ(stopped.to_vector<float>(), (std::vector<float>{1, -4.5f}));
    EXPECT_EQ(rounded.to_vector<float>(), (std::vector<float>{2, 3}));
    EXPECT_EQ(ruled.to_vector<float>(), (std::vector<float>{4, 9}));
    // In loops, and in what a gradient is taken of again.
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(3)) y = y * stop_gradient(y) + x;
            return grad(sum(grad(sum(y * y), x)), x);
        },
        {f32(2)});
    EXPECT_EQ(Tensor(f(x)).to_vector<float>().size(), 2u);
}

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

TEST(Gradients, SayWhyThereAreNone) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({1.0f, 2.0f}), n = tensor({1, 2});
    EXPECT_NE(error_of([&] {
                  grad(sum(x), tensor({3.0f}));
              }).find("does not depend on tensor 1 (f32[1])"),
              std::string::npos);
    EXPECT_EQ(grad(sum(x), tensor({3.0f}), {.allow_unused = true}).to_vector<float>(),
              std::vector<float>{0});
    EXPECT_NE(error_of([&] { grad(sum(n), n); }).find("is i32, and only floats have gradients"),
              std::string::npos);
    const Tensor known = sum(x * x);
    EXPECT_EQ(known.item<float>(), 5);
    EXPECT_NE(error_of([&] { grad(known, x); }).find("has been computed already"),
              std::string::npos);
    const std::string loops = error_of([&] {
        Tensor y = x;
        while_([&] { return sum(y) < 100.0f; }, [&] { y = y * x; });
        grad(sum(y), x);
    });
    EXPECT_NE(loops.find("no gradients through loops that break"), std::string::npos) << loops;
    EXPECT_NE(loops.find("grad_test.cpp"), std::string::npos) << loops;
}

}  // namespace
}  // namespace firn
