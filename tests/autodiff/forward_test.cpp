// Forward mode, Jacobians, second derivatives, and values with gradients.
#include <gtest/gtest.h>

#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

Tensor wave(const Tensor& x) {
    Tensor y = x;
    for (Tensor k : loop(3)) {
        auto [i] = indices<1>(y.shape());
        y = 0.5f * (wrap(y)(i - 1) + y(i + 1)) + sin(y * x);
        if_(y > 1.5f, [&] { break_(); });
    }
    return y;
}

TEST(ForwardMode, IsWhatDifferencesSay) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor({0.5f, -1.0f, 2.0f}), t = tensor({1.0f, 0.5f, -2.0f});
    const Tensor y = x * x * x(0), slope = jvp(y, {x}, {t});
    // 2 x t x0 + x x t0
    EXPECT_EQ(slope.to_vector<float>(), (std::vector<float>{0.75f, 0.5f, 0}));
    EXPECT_EQ(jvp(y, {tensor({3.0f})}, {tensor({1.0f})}, {.allow_unused = true}).to_vector<float>(),
              (std::vector<float>{0, 0, 0}));
    const Tensor ruled = custom_gradient([](const Tensors& a) { return a[0] * a[1]; }, {x, t},
                                         [](const Tensors& a, const Tensor&, const Tensor& g) {
                                             return Tensors{3.0f * g * a[1], g};
                                         });
    EXPECT_EQ(jvp(sum(ruled), {x, t}, {ones({3}), ones({3})}).item<float>(), 3 * (-0.5f) + 3);
    EXPECT_EQ(jvp(x * stop_gradient(x), {x}, {t}).to_vector<float>(), (x * t).to_vector<float>());
}

TEST(ForwardMode, GivesJacobiansOfEachShape) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Tensor x = tensor({1.0f, 2.0f}),
                     w = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2});
        const Tensor y = matmul(w, reshape(x * x, {2, 1}));  // [3, 1]
        EXPECT_EQ(jacobian(y, x).shape(), (Shape{3, 1, 2}));
        EXPECT_EQ(flat(jacobian(y, x)), (std::vector<float>{2, 8, 6, 16, 10, 24}));
        EXPECT_EQ(flat(jacobian(sum(y), w)), (std::vector<float>{1, 4, 1, 4, 1, 4}));
        EXPECT_EQ(flat(hessian(x(0) * x(0) * x(1), x)), (std::vector<float>{4, 2, 2, 0}));
    }
}

TEST(ForwardMode, OverReverseModeGivesSecondDerivatives) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({0.3f, -0.2f, 0.9f, 0.1f}).as(f64),
                 t = tensor({1.0f, -0.5f, 0.25f, 2.0f}).as(f64);
    const Tensor y = sum(square(wave(x)));
    const std::vector<double> forward = hessian_product(y, {x}, {t})[0].to_vector<double>(),
                              reverse = grad(sum(grad(y, x) * t), x).to_vector<double>();
    const Tensor all = hessian(y, x);
    const std::vector<double> rows = sum(all * t, {.axis = 1}).to_vector<double>();
    for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(forward[k], reverse[k], 1e-12);
        EXPECT_NEAR(rows[k], reverse[k], 1e-12);
    }
}

TEST(ForwardMode, FollowsWhatIterationsHandOn) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({2.0f});
    Tensor first = zeros({1}), second = zeros({1}), third = zeros({1});
    for (Tensor k : loop(3)) third = second * 2.0f, second = first, first = x * cast<float>(k + 1);
    EXPECT_EQ(jvp(third, {x}, {ones({1})}).to_vector<float>(), std::vector<float>{2});
}

/// Nothing is kept, and the loop runs once.
TEST(ForwardMode, KeepsNoStates) {
    SessionScope scope(Session::interpreter());
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(1'000)) y = sin(wrap(y)(index(y, 0) + 1)) * y;
            return std::tuple{y, jvp(y, {x}, {x})};
        },
        {f32(4'096)});
    EXPECT_LE(f.stats().peak_bytes, 8 * 4 * 4'096);
    EXPECT_LE(f.stats().dispatches, 1'002);
}

TEST(ValueAndGrad, TakesArgumentsForThemselves) {
    SessionScope scope(Session::oracle());
    const Tensor w = tensor({2.0f, 3.0f}), squared = w * w;
    const auto f = [&](const Tensors& a) { return sum(a[0] * a[0] * a[1]); };
    const ValueAndGradients found = value_and_grad(f, {w, squared});
    EXPECT_EQ(found.value.item<float>(), 16 + 81);
    EXPECT_EQ(flat(found.gradients[0]), (std::vector<float>{16, 54}));
    EXPECT_EQ(flat(found.gradients[1]), (std::vector<float>{4, 9}));
    // A value that is no argument stays the one that it was computed as.
    EXPECT_EQ(flat(grad(f({w, squared}), w)), (std::vector<float>{32, 108}));
    EXPECT_EQ(flat(value_and_grad(f, {w, w}).gradients[1]), (std::vector<float>{4, 9}));
}

TEST(ForwardMode, SaysWhatIsWrong) {
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({1.0f, 2.0f});
    EXPECT_THROW(jvp(sum(x), {x}, {}), UserError);
    EXPECT_THROW(jvp(sum(x), {x}, {ones({3, 2})}), UserError);
    EXPECT_THROW(jvp(sum(x), {tensor({4.0f})}, {ones({1})}), UserError);
}

}  // namespace
}  // namespace firn
