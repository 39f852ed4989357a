// grad(): derivatives of any order, points without a derivative, and reasons for refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "compiler/driver/compile.h"
#include "compiler/learning/activations.h"
#include "tests/autodiff/derivatives_check.h"

namespace firn {
namespace {

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

/// nan at 800 in f32, where exp overflows; 0 at 0, where its slope is 1.
Tensor overflowing(const Tensor& x) { return sin(exp(x) - 1.0f); }

TEST(Gradients, OfWhatAnExtremeLeavesOutAreExactlyNothing) {
    const std::vector<float> at = {800, 0}, first_is_left_out = {0, 1};
    EXPECT_EQ(gradient_of([](const Tensor& x) { return max(overflowing(x), -1.45f); }, at),
              first_is_left_out);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return min(1.45f, overflowing(x)); }, at),
              first_is_left_out);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return clamp(overflowing(x), -1.0f, 1.0f); }, at),
              first_is_left_out);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return max(overflowing(x)); }, at),
              first_is_left_out);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return min(overflowing(x)); }, at),
              first_is_left_out);
    const auto stored = [](const Tensor& x) {
        Tensor y = zeros({1}) - 2.0f;
        scatter_max(y(index(x, 0) * 0), overflowing(x));
        return y;
    };
    EXPECT_EQ(gradient_of(stored, at), first_is_left_out);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return relu(log(x)); }, {0, 2}),
              (std::vector<float>{0, 0.5f}));
}

/// The one element that a store changes alone is compared, and shared with what is equal.
TEST(Gradients, OfStoresAtOneElement) {
    const auto least = [](const Tensor& x) {
        Tensor y = 3.0f * x;
        scatter_min(y(1), 2.0f * x(0));
        return y;
    };
    EXPECT_EQ(gradient_of(least, {1, 5, 7}), (std::vector<float>{5, 0, 3}));
    EXPECT_EQ(gradient_of(least, {9, 5, 7}), (std::vector<float>{3, 3, 3}));
    EXPECT_EQ(gradient_of(least, {3, 2, 7}), (std::vector<float>{4, 1.5f, 3}));
    const auto product = [](const Tensor& x) {
        Tensor y = 3.0f * x;
        scatter_mul(y(1), 2.0f * x(0));
        return y;
    };
    EXPECT_EQ(gradient_of(product, {2, 5, 7}), (std::vector<float>{33, 12, 3}));
    EXPECT_EQ(gradient_of(product, {0, 5, 7}), (std::vector<float>{33, 0, 3}));
    const auto outside = [](const Tensor& x) {
        Tensor y = 3.0f * x;
        scatter_min(y(5), 2.0f * x(0));
        return y;
    };
    EXPECT_EQ(gradient_of(outside, {1, 5, 7}), (std::vector<float>{3, 3, 3}));
}

TEST(Gradients, OfWhatIsStoredOutsideAreExactlyNothing) {
    const std::vector<float> at = {800, 0}, second_is_stored = {0, 1};
    const auto added = [](const Tensor& x) {
        Tensor y = zeros({1});
        scatter_add(y(1 - index(x, 0)), overflowing(x));
        return y;
    };
    EXPECT_EQ(gradient_of(added, at), second_is_stored);
    const auto multiplied = [](const Tensor& x) {
        Tensor y = zeros({1}) + 1.0f;
        scatter_mul(y(1 - index(x, 0)), overflowing(x));
        return y;
    };
    EXPECT_EQ(gradient_of(multiplied, at), second_is_stored);
    const auto stored = [](const Tensor& x) {
        Tensor y = zeros({1});
        kernel({2}, [&](Tensor i) { y(1 - i) = sin(exp(x(i)) - 1.0f); });
        return y;
    };
    EXPECT_EQ(gradient_of(stored, at), second_is_stored);
}

TEST(Gradients, OfWhatIsNotReadAreExactlyNothing) {
    const std::vector<float> at = {800, 0}, second_is_read = {0, 1};
    EXPECT_EQ(gradient_of([](const Tensor& x) { return overflowing(x)(1); }, at), second_is_read);
    EXPECT_EQ(gradient_of([](const Tensor& x) { return overflowing(x)(tensor({1})); }, at),
              second_is_read);
    EXPECT_EQ(
        gradient_of([](const Tensor& x) { return overflowing(x)(index(Shape{1}, 0) + 1); }, at),
        second_is_read);
}

TEST(Gradients, WhereThereIsNoDerivative) {
    EXPECT_EQ(gradient_of([](const Tensor& x) { return abs(x); }, {0}), std::vector<float>{0});
    EXPECT_EQ(gradient_of([](const Tensor& x) { return sqrt(sum(x * x)); }, {0, 0}),
              (std::vector<float>{0, 0}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return sqrt(sum(pow(x, 2.0f)) / 3.0f); }, {0, 0}),
              (std::vector<float>{0, 0}));
    EXPECT_EQ(gradient_of([](const Tensor& x) { return sqrt(x); }, {0}),
              std::vector<float>{INFINITY});
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
    const std::string loops = error_of([&] {
        Tensor y = x;
        while_([&] { return sum(y) < 100.0f; }, [&] { y = y * x; });
        grad(sum(y), x);
    });
    EXPECT_NE(loops.find("a while_ whose states need a bound: give it a .max_steps"),
              std::string::npos)
        << loops;
    EXPECT_NE(loops.find("grad_test.cpp"), std::string::npos) << loops;
    const auto expect_error = [](const std::function<void()>& f, const std::string& says) {
        const std::string error = error_of(f);
        EXPECT_NE(error.find(says), std::string::npos) << error;
        EXPECT_NE(error.find("grad_test.cpp"), std::string::npos) << error;
    };
    expect_error(
        [&] {
            Tensor y = x;
            for (Tensor k : loop(cast<int>(x(1)))) y = y * y;
            grad(sum(y), x);
        },
        "let it count to min(count, most)");
    expect_error(
        [&] {
            Tensor y = x;
            for (Tensor k : loop(0, 4, cast<int>(x(0)))) y = y * y;
            grad(sum(y), x);
        },
        "whose step only the data knows");
    expect_error(
        [&] {
            for (Tensor k : loop(3, {.checkpoint = -1})) sum(x);
        },
        "checkpoint is -1");
    expect_error([&] { jvp(sum(x), {x}, {}); }, "0 tangents are given for 1 tensors");
}

}  // namespace
}  // namespace firn
