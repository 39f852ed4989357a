// L-BFGS on problems with a known minimum, and training in f16.
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

/// A point that is looked for.
struct Point : Module {
    explicit Point(const Floats& first) : first_(first) {}
    Floats first_;
    Variable x = add_parameter("x", {first_.size()}, [this](const Shape&, const RandomOptions&) {
        return tensor(first_);
    });
};

/// H. Rosenbrock's valley: 0 at (1, 1, ..).
Tensor rosenbrock(const Tensor& x) {
    const Tensor a = slice(x, {.end = -1}), b = slice(x, {.begin = 1});
    return sum(100.0f * square(b - a * a) + square(1.0f - a));
}

TEST(Lbfgs, FindsTheEndOfAValleyInOneProgram) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        const Point point({-1.2f, 1, -0.5f, 0.8f});
        const LBFGS lbfgs(point.parameters());
        const auto step = compile({point, lbfgs}, [&] {
            return lbfgs.step([&] { return rosenbrock(point.x.value()); });
        });
        float loss = 1e9f;
        for (int k = 0; k < 70; ++k) {
            const float now = Tensor(step()).item<float>();
            EXPECT_LE(now, loss * (1 + 1e-5f) + 1e-10f) << "it never climbs, step " << k;
            loss = now;
        }
        EXPECT_LT(loss, 1e-7f);
        expect_near(point.x.value().to_vector<float>(), {1, 1, 1, 1}, 1e-3);
        EXPECT_LE(step.function().variant_count(), 1u);
    }
}

TEST(Lbfgs, SolvesAQuadraticInAboutAsManyStepsAsItHasDimensions) {
    SessionScope scope(Session::interpreter());
    const Point point(Floats(12, 0));
    const LBFGS lbfgs(point.parameters(), {.history = 12});
    const Tensor stiff = exp2(arange(12).as(f32) * 0.6f), target = some({12});
    // A chain of springs with stiffnesses that differ by a factor of 100.
    const auto energy = [&] {
        const Tensor x = point.x.value(), next = zero(x)(arange(12) + 1);
        return 0.5f * sum(stiff * square(x - target)) + 0.5f * sum(square(next - x));
    };
    for (int k = 0; k < 30; ++k) lbfgs.step(energy);
    const Tensor gradient = grad(energy(), point.x.value());
    EXPECT_LT(max(abs(gradient)).item<float>(), 1e-3f);
    // Steps down the gradient, at the largest rate that is stable, are far from there.
    point.reset(0);
    SGD sgd(point.parameters(), {.lr = 0.01f});
    for (int k = 0; k < 30; ++k) sgd.step(energy());
    EXPECT_GT(max(abs(grad(energy(), point.x.value()))).item<float>(), 0.1f);
}

TEST(Lbfgs, StaysWhereNothingServesAndRefusesWhatItCannot) {
    SessionScope scope(Session::interpreter());
    const Point point({2, -3});
    const LBFGS lbfgs(point.parameters());
    // The gradient is a lie: every length climbs.
    lbfgs.step([&] {
        const Tensor x = point.x.value();
        return straight_through(sum(square(x)), sum(-x * x));
    });
    EXPECT_EQ(point.x.value().to_vector<float>(), (Floats{2, -3}));
    lbfgs.step([&] { return sum(point.x.value()) * std::nanf(""); });
    EXPECT_EQ(point.x.value().to_vector<float>(), (Floats{2, -3}));
    expect_parts(user_error([&] { lbfgs.step([&] { return point.x.value(); }); }),
                 {"LBFGS", "shape [2]", "lbfgs_test.cpp:"});
    expect_parts(user_error([&] { LBFGS({}); }), {"0 parameters"});
    expect_parts(user_error([&] { LBFGS(point.parameters(), {.history = 0}); }), {"history of 0"});
}

struct LbfgsNet : Module {
    Linear first = add("first", Linear(4, 16)), second = add("second", Linear(16, 1));
    Tensor operator()(const Tensor& x) const { return second(tanh(first(x))); }
};

/// The loss after some steps in the type.
float trained(DType type, bool scales, float factor, const LbfgsNet& net) {
    net.reset(4);
    net.compute_in(type);
    SGD sgd(net.parameters(), {.lr = 0.2f / factor, .momentum = 0.8f});
    if (scales) sgd.scale_loss();
    const auto step = compile(
        {net, sgd}, [&](Tensor x, Tensor y) { return sgd.step(mse_loss(net(x), y) * factor); },
        {f32(12, 4), f32(12, 1)});
    float loss = 0;
    for (int k = 0; k < 20; ++k)
        loss = step(some({12, 4}), some({12, 1}, -0.5f, 0.5f)).item<float>() / factor;
    EXPECT_EQ(net.first.weight.value().dtype(), f32);
    return loss;
}

TEST(MixedPrecision, LearnsAsF32AndNeedsAScaleWhereGradientsAreSmall) {
    SessionScope scope(Session::interpreter());
    const LbfgsNet net;
    const float wide = trained(f32, false, 1, net), narrow = trained(f16, false, 1, net);
    EXPECT_LT(wide, 0.12f);
    EXPECT_NEAR(narrow, wide, 0.1f * wide + 1e-3f);
    EXPECT_NE(narrow, wide);
    EXPECT_EQ(net(some({12, 4})).dtype(), f16);
    // Gradients below what f16 has vanish, unless the loss is scaled.
    EXPECT_GT(trained(f16, false, 1e-7f, net), 1.2f * wide);
    EXPECT_NEAR(trained(f16, true, 1e-7f, net), wide, 0.1f * wide + 1e-3f);
}

}  // namespace
}  // namespace firn
