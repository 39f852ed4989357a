// Gradients by rules of one's own.
#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

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
    // The rules are used in loops, and in gradients of gradients.
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(3)) y = y * stop_gradient(y) + x;
            return grad(sum(grad(sum(y * y), x)), x);
        },
        {f32(2)});
    EXPECT_EQ(Tensor(f(x)).to_vector<float>().size(), 2u);
}

/// exp, with a rule that differentiates a product of its value and its cotangent again.
Tensor exp_by_products(const Tensor& x) {
    return custom_gradient([](const Tensors& a) { return exp(a[0]); }, {x},
                           [](const Tensors& a, const Tensor& y, const Tensor& g) {
                               return vjp(a[0] * y, {a[0]}, g * g / g);
                           });
}

TEST(Gradients, ARuleMayDifferentiateWhatItsCotangentIsPartOf) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.5f, -1.5f});
    // The cotangent depends on the value, and by way of it on x.
    const auto gradient = grad(sum(square(exp_by_products(x))), x).to_vector<float>();
    const auto expected = (2 * exp(2 * x)).to_vector<float>();
    for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(gradient[k], expected[k], 1e-5);
    const auto second = [&](const Tensor& at) {
        return grad(sum(grad(sum(square(exp_by_products(at))), at)), at).to_vector<float>();
    };
    const auto twice = (4 * exp(2 * x)).to_vector<float>();
    for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(second(x)[k], twice[k], 1e-4);
}

TEST(Gradients, ARuleMayAskForASizeThatOnlyTheDeviceKnows) {
    SessionScope scope(Session::oracle());
    Tensor x = ones({9}) * 2.0f;
    const Size size = device_size(sum(arange(9) > 3), 9);
    Tensor y = custom_gradient(
        [=](const std::vector<Tensor>& xs) { return xs[0](arange(size)); }, {x},
        [](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
            return std::vector<Tensor>{expand(sum(reshape(g, {g.size(0), 1})), xs[0].shape())};
        });
    EXPECT_EQ(grad(sum(y), x).to_vector<float>(), std::vector<float>(9, 5.0f));
}

TEST(Gradients, ForwardsByARuleOfOnesOwn) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.5f, -1.5f}), y = tensor({2.0f, 3.0f}), t = tensor({1.0f, 10.0f});
    const GradientRules rules{
        .reverse =
            [](const Tensors& a, const Tensor&, const Tensor& g) {
                return Tensors{g * a[1], g * a[0]};
            },
        // The forward rule is not the transpose, which shows that it is used.
        .forward = [](const Tensors& a, const Tensor& value,
                      const Tensors& t) { return value + t[0] * 100 + t[1] * a[0]; }};
    const auto product = [&](const Tensor& a, const Tensor& b) {
        return custom_gradient([](const Tensors& a) { return a[0] * a[1]; }, {a, b}, rules);
    };
    EXPECT_EQ(jvp(product(x, y), {x}, {t}).to_vector<float>(), (std::vector<float>{101, 995.5f}));
    EXPECT_EQ(grad(sum(product(x, y)), x).to_vector<float>(), (std::vector<float>{2, 3}));
    const Tensor both =
        vmap([&](const Tensors& a) { return jvp(product(a[0], y), {a[0]}, {t}); }, {stack({x, y})});
    EXPECT_EQ(both.to_vector<float>(), (std::vector<float>{101, 995.5f, 104, 1009}));
    const GradientRules wrong{
        .reverse = rules.reverse,
        .forward = [](const Tensors&, const Tensor&, const Tensors&) { return zeros({3}); }};
    const auto f = [](const Tensors& a) { return a[0] * a[1]; };
    EXPECT_THROW(jvp(custom_gradient(f, {x, y}, wrong), {x}, {t}), UserError);
    EXPECT_THROW(custom_gradient(f, {x, y}, GradientRules{}), UserError);
}

/// Symmetric and positive definite.
Tensor definite(const Tensor& x) {
    return matmul(x, transpose(x, -1, -2)) + 2 * expand(eye(x.shape().back()), x.shape());
}

TEST(Gradients, OfFactorisationsAreOtherSystems) {
    SessionScope scope(Session::interpreter());
    const Tensor square = some({2, 4, 4}), tall = some({5, 3}, -1, 2), wide = some({3, 5}, -1, 2);
    const auto weighed = [](const Tensor& x) { return x * cos(1.3f * x); };
    const auto expect_first = [](const Differentiable& f, const Tensors& at) {
        expect_derivatives(f, at, false);
    };
    expect_first([&](const Tensors& a) { return weighed(cholesky(definite(a[0]))); }, {square});
    expect_first([&](const Tensors& a) { return log_determinant(definite(a[0])); }, {square});
    for (const Tensor& x : {tall, wide, square}) {
        expect_first([&](const Tensors& a) { return weighed(qr(a[0]).q); }, {x});
        expect_first([&](const Tensors& a) { return weighed(qr(a[0]).r); }, {x});
    }
    // An unread value has no gradient.
    const Tensor a = definite(some({3, 3}));
    const auto by_a = grad(sum(cholesky(a)), a).to_vector<float>();
    EXPECT_EQ(by_a[1], 0);
    EXPECT_EQ(by_a[5], 0);
}

}  // namespace
}  // namespace firn
