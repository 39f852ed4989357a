// Every optimizer against its formula in plain C++, and what steps do besides.
#include <functional>
#include <limits>

#include "tests/learning/learning_session.h"

namespace firn {
namespace {

/// Parameters of a module that is nothing but two of them.
struct Pair : Module {
    Variable a = add_parameter(
        "a", {3, 2}, [](const Shape& shape, const RandomOptions&) { return some(shape); });
    Variable b = add_parameter(
        "b", {4}, [](const Shape& shape, const RandomOptions&) { return some(shape, -0.5f, 2); });
    /// Far from quadratic, with gradients of both signs.
    Tensor loss(const Tensor& x) const {
        return mean(square(sin(a.value() * x))) + mean(abs(b.value() - x) * b.value());
    }
};

/// The gradient of Pair::loss, with a's elements first.
std::vector<double> gradient(const std::vector<double>& p, double x) {
    std::vector<double> g(10);
    for (size_t k = 0; k < 6; ++k) g[k] = 2 * std::sin(p[k] * x) * std::cos(p[k] * x) * x / 6;
    for (size_t k = 6; k < 10; ++k)
        g[k] = ((p[k] > x ? 1.0 : -1.0) * p[k] + std::abs(p[k] - x)) / 4;
    return g;
}

struct HostState {
    std::vector<double> p, first = std::vector<double>(10), second = first;
    int steps = 0;
};
using HostRule = std::function<void(double& p, double g, double& first, double& second, int step)>;

struct OptimizerRow {
    const char* name;
    Optimizer (*make)(const std::vector<NamedVariable>&);
    HostRule rule;
};

HostRule adam(double lr, double beta1, double beta2, double decay, bool decoupled) {
    return [=](double& p, double g, double& m, double& v, int step) {
        if (decoupled)
            p -= lr * decay * p;
        else
            g += decay * p;
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * g * g;
        p -= lr * m / (1 - std::pow(beta1, step)) /
             (std::sqrt(v / (1 - std::pow(beta2, step))) + 1e-8);
    };
}

const OptimizerRow kOptimizerRows[] = {
    {"SGD", [](const auto& p) -> Optimizer { return SGD(p, {.lr = 0.1f}); },
     [](double& p, double g, double&, double&, int) { p -= 0.1 * g; }},
    {"Momentum",
     [](const auto& p) -> Optimizer {
         return SGD(p, {.lr = 0.1f, .momentum = 0.8f, .weight_decay = 0.2f});
     },
     [](double& p, double g, double& b, double&, int) {
         b = 0.8 * b + g + 0.2 * p;
         p -= 0.1 * b;
     }},
    {"Nesterov",
     [](const auto& p) -> Optimizer {
         return SGD(p, {.lr = 0.1f, .momentum = 0.8f, .nesterov = true});
     },
     [](double& p, double g, double& b, double&, int) {
         b = 0.8 * b + g;
         p -= 0.1 * (g + 0.8 * b);
     }},
    {"Adam",
     [](const auto& p) -> Optimizer {
         return Adam(p, {.lr = 0.05f, .beta1 = 0.8f, .beta2 = 0.95f, .weight_decay = 0.1f});
     },
     adam(0.05, 0.8, 0.95, 0.1, false)},
    {"AdamW",
     [](const auto& p) -> Optimizer {
         return AdamW(p, {.lr = 0.05f, .beta1 = 0.8f, .beta2 = 0.95f, .weight_decay = 0.3f});
     },
     adam(0.05, 0.8, 0.95, 0.3, true)},
    {"RMSProp",
     [](const auto& p) -> Optimizer {
         return RMSProp(p, {.lr = 0.02f, .alpha = 0.9f, .momentum = 0.5f, .weight_decay = 0.1f});
     },
     [](double& p, double g, double& v, double& b, int) {
         g += 0.1 * p;
         v = 0.9 * v + 0.1 * g * g;
         b = 0.5 * b + g / (std::sqrt(v) + 1e-8);
         p -= 0.02 * b;
     }},
    {"Lion",
     [](const auto& p) -> Optimizer { return Lion(p, {.lr = 0.02f, .weight_decay = 0.5f}); },
     [](double& p, double g, double& m, double&, int) {
         const double u = 0.9 * m + 0.1 * g;
         p -= 0.02 * ((u > 0) - (u < 0) + 0.5 * p);
         m = 0.99 * m + 0.01 * g;
     }},
};

class Optimizers : public testing::TestWithParam<OptimizerRow> {};
INSTANTIATE_TEST_SUITE_P(Rules, Optimizers, testing::ValuesIn(kOptimizerRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(Optimizers, FollowTheirFormulas) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        Pair pair;
        const Optimizer optimizer = GetParam().make(pair.parameters());
        const auto step = compile({pair, optimizer},
                                  [&](Tensor x) { return optimizer.step(pair.loss(x)); }, {f32()});
        HostState host;
        for (float value : values_of(pair.parameters())) host.p.push_back(value);
        for (int k = 1; k <= 7; ++k) {
            const float x = 0.4f + 0.3f * float(k % 3);
            const std::vector<double> g = gradient(host.p, double(x));
            for (size_t e = 0; e < 10; ++e)
                GetParam().rule(host.p[e], g[e], host.first[e], host.second[e], k);
            step(x);
        }
        expect_near(values_of(pair.parameters()), Floats(host.p.begin(), host.p.end()), 2e-5);
    }
}

TEST(Steps, GoOnAfterGradientsWhoseSquaresOverflow) {
    SessionScope scope(Session::interpreter());
    const auto moved = [](const auto& make, float first) {
        Variable w({1}, constant_init(1), true);
        const Optimizer optimizer = make(std::vector<NamedVariable>{{"w", w}});
        std::vector<float> out;
        optimizer.step(Tensors{tensor({first})});
        out.push_back(w.value().item<float>());
        for (int k = 0; k < 5; ++k) optimizer.step(Tensors{tensor({first})});
        out.push_back(w.value().item<float>());
        return out;
    };
    const auto adam = [](const auto& p) { return Adam(p, {.lr = 0.01f}); };
    const auto adamw = [](const auto& p) { return AdamW(p, {.lr = 0.01f, .weight_decay = 0.0f}); };
    for (float first : {3.0f, 1e18f, 1e20f, 1e30f, 3e38f}) {
        SCOPED_TRACE(first);
        expect_near(moved(adam, first), {0.99f, 0.94f}, 1e-4);
        expect_near(moved(adamw, first), {0.99f, 0.94f}, 1e-4);
        expect_near(moved(adam, -first), {1.01f, 1.06f}, 1e-4);
    }
    const auto rmsprop = [](const auto& p) { return RMSProp(p, {.lr = 0.01f, .alpha = 0.5f}); };
    expect_near(moved(rmsprop, 1e20f), moved(rmsprop, 1e10f), 1e-3);
    // A gradient that is none is not hidden.
    for (float none : {NAN, INFINITY}) EXPECT_TRUE(std::isnan(moved(adam, none)[0]));
}

TEST(Steps, ClipGradients) {
    SessionScope scope(Session::interpreter());
    Pair pair;
    const Floats before = values_of(pair.parameters());
    const Tensors gradients{some({3, 2}, -2, 3), some({4}, -2, 3)};
    Floats g = gradients[0].to_vector<float>();
    for (float value : gradients[1].to_vector<float>()) g.push_back(value);
    double squares = 0;
    for (float value : g) squares += double(value) * value;
    EXPECT_NEAR(global_norm(gradients).item<float>(), std::sqrt(squares), 1e-5);
    for (bool by_norm : {true, false}) {
        pair.reset(0);
        SGD sgd(pair.parameters(), {.lr = 1});
        by_norm ? sgd.clip_norm(0.5f) : sgd.clip_value(0.7f);
        sgd.step(gradients);
        Floats expected;
        for (size_t k = 0; k < 10; ++k)
            expected.push_back(before[k] - (by_norm ? g[k] * float(0.5 / std::sqrt(squares))
                                                    : std::min(0.7f, std::max(-0.7f, g[k]))));
        expect_near(values_of(pair.parameters()), expected, 1e-5);
        // Shorter ones stay as they are.
        pair.reset(0);
        sgd[by_norm ? "clip_norm" : "clip_value"] = 1000;
        sgd.reset();
        sgd.step(gradients);
        for (size_t k = 0; k < 10; ++k) expected[k] = before[k] - g[k];
        expect_near(values_of(pair.parameters()), expected, 1e-5);
    }
}

TEST(Steps, AccumulateGradientsInOneProgram) {
    const Session session = Session::interpreter();
    SessionScope scope(session);
    Pair pair, whole;
    Adam adam(pair.parameters(), {.lr = 0.1f}), reference(whole.parameters(), {.lr = 0.1f});
    adam.accumulate(3);
    const auto step =
        compile({pair, adam}, [&](Tensor x) { return adam.step(pair.loss(x)); }, {f32()});
    for (int iteration = 0; iteration < 2; ++iteration) {
        const Floats before = values_of(pair.parameters());
        for (float x : {0.3f, 0.9f}) step(x);
        EXPECT_EQ(values_of(pair.parameters()), before);
        step(1.4f);
        reference.step((whole.loss(0.3f) + whole.loss(0.9f) + whole.loss(1.4f)) / 3.0f);
        EXPECT_EQ(adam.steps(), iteration + 1);
        expect_near(values_of(pair.parameters()), values_of(whole.parameters()), 1e-5);
    }
    EXPECT_EQ(step.function().variant_count(), 1u);
}

TEST(Steps, ScaleTheLossAndLeaveOutWhatIsNotFinite) {
    SessionScope scope(Session::interpreter());
    Pair pair, plain;
    SGD sgd(pair.parameters(), {.lr = 0.1f}), reference(plain.parameters(), {.lr = 0.1f});
    sgd.scale_loss(2);
    const auto scale = [&] {
        for (const NamedVariable& each : State(sgd).variables)
            if (each.name == "optimizer.loss_scale") return each.variable.value().item<float>();
        return 0.0f;
    };
    const auto step =
        compile({pair, sgd}, [&](Tensor x) { return sgd.step(pair.loss(x)); }, {f32()});
    for (float expected : {65536.0f, 131072.0f, 131072.0f}) {
        step(0.7f);
        reference.step(plain.loss(0.7f));
        EXPECT_EQ(scale(), expected);
    }
    expect_near(values_of(pair.parameters()), values_of(plain.parameters()), 1e-5);
    const Floats before = values_of(pair.parameters());
    step(std::numeric_limits<float>::infinity());
    EXPECT_EQ(values_of(pair.parameters()), before);
    EXPECT_EQ(scale(), 65536.0f);
    EXPECT_EQ(sgd.steps(), 3);
    step(0.7f);
    EXPECT_EQ(sgd.steps(), 4);
    expect_parts(user_error([&] {
                     sgd.step(Tensors{some({3, 2}), some({4})});
                 }),
                 {"scales the loss", "optimizers_test.cpp:"});
    expect_parts(user_error([&] {
                     reference.step(Tensors{some({3, 2})});
                 }),
                 {"1 gradients for 2 parameters"});
    expect_parts(user_error([&] {
                     reference.step(Tensors{some({3, 2}), some({5})});
                 }),
                 {"'b' has shape [5], and the parameter [4]"});
}

TEST(Steps, ByARuleOfOnesOwn) {
    SessionScope scope(Session::interpreter());
    Pair pair;
    UpdateRule rule;
    rule.update = [](Update& u) {
        u.parameter = u.parameter - u.number("rate") * sign(u.gradient);
    };
    const Optimizer own(pair.parameters(), rule, {{"rate", 0.5f}});
    const Floats before = values_of(pair.parameters());
    own.step(Tensors{full({3, 2}, 3.0f), full({4}, -2.0f)});
    Floats expected;
    for (size_t k = 0; k < 10; ++k) expected.push_back(before[k] + (k < 6 ? -0.5f : 0.5f));
    expect_near(values_of(pair.parameters()), expected);
}

TEST(Steps, LeaveMeansOfTheWeights) {
    SessionScope scope(Session::interpreter());
    Pair pair;
    SGD sgd(pair.parameters(), {.lr = 0.3f});
    AveragedWeights mean(pair.parameters(), 0.5f);
    const auto step = compile({pair, sgd, mean},
                              [&](Tensor x) {
                                  Tensor loss = sgd.step(pair.loss(x));
                                  mean.update();
                                  return loss;
                              },
                              {f32()});
    std::vector<double> expected(10);
    for (int n = 0; n < 12; ++n) {
        step(0.8f);
        const double keep = std::min(0.5, n / (n + 9.0));
        const Floats now = values_of(pair.parameters());
        for (size_t k = 0; k < 10; ++k) expected[k] = keep * expected[k] + (1 - keep) * now[k];
    }
    const Floats own = values_of(pair.parameters());
    mean.exchange();
    expect_near(values_of(pair.parameters()), Floats(expected.begin(), expected.end()), 1e-5);
    mean.exchange();
    EXPECT_EQ(values_of(pair.parameters()), own);
}

TEST(Averages, OfF64AreInF64) {
    SessionScope scope(Session::interpreter());
    const auto values = [](double value) {
        return [=](const Shape& shape, const RandomOptions&) { return ones(shape, f64) * value; };
    };
    const Variable w({1}, values(1e300), true);
    const AveragedWeights mean({{"w", w}}, 0.5f);
    for (int k = 0; k < 3; ++k) mean.update();
    mean.exchange();
    EXPECT_EQ(w.value().dtype(), f64);
    EXPECT_DOUBLE_EQ(w.value().item<double>(), 1e300);
}

TEST(Schedules, AreThoseOfTheirFormulas) {
    EXPECT_FLOAT_EQ(step_decay(2, 10, 0.5f)(25), 0.5f);
    EXPECT_FLOAT_EQ(exponential_decay(2, 0.9f)(3), 2 * 0.729f);
    const Schedule cosine = cosine_decay(1, 100, 0.2f);
    EXPECT_FLOAT_EQ(cosine(0), 1);
    EXPECT_FLOAT_EQ(cosine(50), 0.6f);
    EXPECT_FLOAT_EQ(cosine(25), 0.2f + 0.4f * (1 + std::sqrt(0.5f)));
    EXPECT_FLOAT_EQ(cosine(1000), 0.2f);
    EXPECT_FLOAT_EQ(linear_decay(1, 100)(25), 0.75f);
    const Schedule cycle = one_cycle(1, 100);
    EXPECT_FLOAT_EQ(cycle(0), 0.04f);
    EXPECT_FLOAT_EQ(cycle(29), 1);
    EXPECT_FLOAT_EQ(cycle(99), 4e-6f);
    EXPECT_GT(cycle(20), cycle(10));
    for (int64_t steps : {1, 2, 3, 4, 10}) {
        EXPECT_FLOAT_EQ(one_cycle(1, steps)(0), 0.04f) << steps;
        EXPECT_FLOAT_EQ(one_cycle(1, steps)(std::max<int64_t>(steps - 1, 1)), 4e-6f) << steps;
    }
    const Schedule warm = warmup(10, cosine);
    EXPECT_FLOAT_EQ(warm(0), 0);
    EXPECT_FLOAT_EQ(warm(5), 0.5f);
    EXPECT_FLOAT_EQ(warm(60), cosine(50));
}

/// A step of each on a parameter of rank 0 beside one with a shape.
template <class Make>
void expect_steps_of_a_number(const Make& make) {
    for (const Session& session : {Session::oracle(), Session::interpreter()}) {
        SessionScope scope(session);
        Variable number({}, constant_init(1), true), row({1}, constant_init(1), true);
        const Optimizer optimizer = make({{"number", number}, {"row", row}});
        for (int k = 0; k < 3; ++k)
            optimizer.step(square(number.value()) + sum(square(row.value())));
        EXPECT_EQ(number.value().rank(), 0);
        EXPECT_NE(number.value().item<float>(), 1.0f);
        EXPECT_EQ(number.value().item<float>(), row.value().item<float>());
    }
}

TEST(Optimizers, TakeAParameterOfRankZero) {
    using Parameters = std::vector<NamedVariable>;
    expect_steps_of_a_number([](const Parameters& p) { return Optimizer(SGD(p, {.lr = 0.1f})); });
    expect_steps_of_a_number([](const Parameters& p) { return Optimizer(Adam(p, {.lr = 0.1f})); });
    expect_steps_of_a_number([](const Parameters& p) { return Optimizer(AdamW(p, {.lr = 0.1f})); });
    expect_steps_of_a_number([](const Parameters& p) { return Optimizer(RMSProp(p)); });
    expect_steps_of_a_number([](const Parameters& p) { return Optimizer(Lion(p)); });
    expect_steps_of_a_number([](const Parameters& p) {
        const Adam all(p);
        all.accumulate(2), all.scale_loss(), all.clip_norm(1), all.clip_each_norm(1);
        all.clip_value(1);
        return Optimizer(all);
    });
}

TEST(Optimizers, OfRankZeroAreCompiledAveragedAndMinimised) {
    SessionScope scope(Session::interpreter());
    Variable number({}, constant_init(1), true);
    const Adam adam({{"number", number}}, {.lr = 0.1f});
    auto step = compile(
        {adam}, [&](Tensor target) { return adam.step(square(number.value() - target)); }, {f32()});
    step(3.0f), step(3.0f);
    EXPECT_NEAR(number.value().item<float>(), 1.2f, 1e-3);
    const AveragedWeights mean({{"number", number}}, 0.5f);
    mean.update();
    mean.exchange();
    EXPECT_EQ(number.value().rank(), 0);
    const LBFGS minimise({{"number", number}});
    for (int k = 0; k < 5; ++k) minimise.step([&] { return square(number.value() - 3.0f); });
    EXPECT_NEAR(number.value().item<float>(), 3.0f, 1e-3);
}

TEST(Optimizers, StepByAListOfOneGradient) {
    SessionScope scope(Session::oracle());
    Variable w({2}, constant_init(1), true);
    const SGD sgd({{"w", w}}, {.lr = 0.5f});
    sgd.step({tensor({1.0f, 2.0f})});
    EXPECT_EQ(w.value().to_vector<float>(), (Floats{0.5f, 0}));
    const Tensor g = tensor({1.0f, 0.0f});
    sgd.step({g});
    EXPECT_EQ(w.value().to_vector<float>(), (Floats{0, 0}));
}

TEST(Optimizers, ClipEachGradientByItsOwnNorm) {
    SessionScope scope(Session::oracle());
    Variable a({2}, constant_init(0), true), b({}, constant_init(0), true);
    const SGD sgd({{"a", a}, {"b", b}}, {.lr = 1});
    sgd.clip_each_norm(1);
    sgd.step({tensor({3.0f, 4.0f}), Tensor(0.5f)});
    expect_near(a.value().to_vector<float>(), {-0.6f, -0.8f});
    EXPECT_EQ(b.value().item<float>(), -0.5f);
    sgd["clip_each_norm"] = 0.25f;
    sgd.step({tensor({0.0f, 0.0f}), Tensor(-0.5f)});
    expect_near(a.value().to_vector<float>(), {-0.6f, -0.8f});
    EXPECT_NEAR(b.value().item<float>(), -0.25f, 1e-5);
}

}  // namespace
}  // namespace firn
