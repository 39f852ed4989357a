// Training steps: against a network written by hand, as one program, and refusals.
#include "tests/learning/learning_session.h"

namespace firn {
namespace {

struct SteppedNet : Module {
    Linear first = add("first", Linear(2, 4)), second = add("second", Linear(4, 1));
    Tensor operator()(const Tensor& x) const { return second(tanh(first(x))); }
};

const Floats kInputs{0, 0, 0, 1, 1, 0, 1, 1}, kTargets{0, 1, 1, 0};

/// The same network and Adam in f64: w1 [4, 2], b1 [4], w2 [4], b2.
struct ByHand {
    std::vector<double> p, m = std::vector<double>(17), v = m;
    double beta1_power = 1, beta2_power = 1;

    double step(double lr) {
        std::vector<double> g(17);
        double loss = 0;
        for (size_t sample = 0; sample < 4; ++sample) {
            const double x[] = {kInputs[2 * sample], kInputs[2 * sample + 1]};
            double hidden[4], out = p[16];
            for (size_t h = 0; h < 4; ++h) {
                hidden[h] = std::tanh(p[2 * h] * x[0] + p[2 * h + 1] * x[1] + p[8 + h]);
                out += p[12 + h] * hidden[h];
            }
            const double error = out - kTargets[sample], down = 2 * error / 4;
            loss += error * error / 4;
            g[16] += down;
            for (size_t h = 0; h < 4; ++h) {
                g[12 + h] += down * hidden[h];
                const double inner = down * p[12 + h] * (1 - hidden[h] * hidden[h]);
                g[8 + h] += inner;
                for (size_t k = 0; k < 2; ++k) g[2 * h + k] += inner * x[k];
            }
        }
        const double beta1 = 0.9f, beta2 = 0.999f;
        beta1_power *= beta1, beta2_power *= beta2;
        for (size_t k = 0; k < 17; ++k) {
            m[k] = beta1 * m[k] + (1 - beta1) * g[k];
            v[k] = beta2 * v[k] + (1 - beta2) * g[k] * g[k];
            p[k] -= lr * m[k] / (1 - beta1_power) / (std::sqrt(v[k] / (1 - beta2_power)) + 1e-8);
        }
        return loss;
    }
};

/// `step(net, adam, x, y)` gives the loss.
template <class Step>
void expect_to_learn_as_by_hand(const Step& step, int steps) {
    SteppedNet net;
    net.reset(3);
    Adam adam(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    ByHand expected;
    for (float value : values_of(net.parameters())) expected.p.push_back(value);
    const auto run = step(net, adam);
    for (int k = 0; k < steps; ++k) {
        adam["lr"] = k < 5 ? 0.02f : 0.05f;
        const double loss = expected.step(k < 5 ? 0.02f : 0.05f);
        ASSERT_NEAR(run(x, y).template item<float>(), loss, 2e-4) << "step " << k;
    }
    expect_near(values_of(net.parameters()), Floats(expected.p.begin(), expected.p.end()), 2e-3);
    EXPECT_EQ(adam.steps(), steps);
}

auto compiled_step(SteppedNet& net, Adam& adam) {
    return compile({net, adam}, [&](Tensor x, Tensor y) { return adam.step(mse_loss(net(x), y)); },
                   {f32("n", 2), f32("n", 1)});
}

auto eager_step(SteppedNet& net, Adam& adam) {
    return [&](const Tensor& x, const Tensor& y) { return adam.step(mse_loss(net(x), y)); };
}

TEST(Step, LearnsAsByHandOnTheOracle) {
    SessionScope scope(Session::oracle());
    expect_to_learn_as_by_hand(compiled_step, 20);
    expect_to_learn_as_by_hand(eager_step, 20);
}

TEST(Step, LearnsXorByKernels) {
    SessionScope scope(Session::interpreter());
    expect_to_learn_as_by_hand(compiled_step, 40);
    SteppedNet net;
    net.reset(3);
    Adam adam(net.parameters(), {.lr = 0.05f});
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto step = compiled_step(net, adam);
    float loss = 1;
    for (int k = 0; k < 200; ++k) loss = step(x, y).item<float>();
    EXPECT_LT(loss, 0.02f);
    expect_near(net(x).to_vector<float>(), kTargets, 0.3);
}

TEST(Step, IsOneProgramThatChangesItsVariablesInPlace) {
    const auto executor = std::make_shared<CountingExecutor>(gpu_profile());
    const Session session(executor);
    session.compile_in_background(false);
    SessionScope scope(session);
    SteppedNet net;
    Adam adam(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto step = compiled_step(net, adam);
    for (int k = 0; k < 2; ++k) step(x, y);
    const int runs = executor->runs, allocations = executor->allocations;
    for (int k = 0; k < 10; ++k) {
        adam["lr"] *= 0.9f, adam["beta1"] *= 0.99f;
        step(x, y);
    }
    EXPECT_EQ(executor->runs - runs, 10);
    EXPECT_EQ(executor->allocations - allocations, 10) << "the losses";
    EXPECT_EQ(step.function().variant_count(), 1u);
}

TEST(Step, ComputedAtOnceRecompilesNothingForAnotherRate) {
    const auto executor = std::make_shared<CountingExecutor>();
    const Session session(executor);
    SessionScope scope(session);
    SteppedNet net;
    Adam adam(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto step = eager_step(net, adam);
    for (int k = 0; k < 3; ++k) step(x, y);
    const int runs = executor->runs;
    const size_t plans = session.plan_count();
    for (int k = 0; k < 5; ++k) {
        adam["lr"] *= 0.9f;
        step(x, y);
    }
    EXPECT_EQ(executor->runs - runs, 5);
    EXPECT_EQ(session.plan_count(), plans);
}

TEST(Step, OfTheSameNumbersAgain) {
    SessionScope scope(Session::interpreter());
    SteppedNet net;
    Adam adam(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto step = compiled_step(net, adam);
    Floats first;
    for (int run = 0; run < 2; ++run) {
        net.reset(7);
        adam.reset();
        for (int k = 0; k < 3; ++k) step(x, y);
        if (run == 0) first = values_of(net.parameters());
    }
    EXPECT_EQ(values_of(net.parameters()), first);
    net.reset(8);
    EXPECT_NE(values_of(net.parameters()), first);
}

TEST(Step, ThatFailsLeavesEverythingAsItWas) {
    SessionScope scope(Session::interpreter());
    SteppedNet net;
    Adam adam(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto step = compiled_step(net, adam);
    step(x, y);
    const Floats before = values_of(State({net, adam}).variables);
    expect_parts(user_error([&] {
                     step(x, tensor({1.0f, 2.0f}, {2, 1}));
                 }),
                 {"size 'n' is 4 by argument 0", "step_test.cpp:"});
    expect_parts(user_error([&] {
                     step(tensor(kInputs, {2, 4}), y);
                 }),
                 {"size 'n'", "[2, 4]", "step_test.cpp:"});
    EXPECT_EQ(values_of(State({net, adam}).variables), before);
    step(x, y);
}

TEST(Step, SaysWhichParametersTheLossDoesNotDependOn) {
    SessionScope scope(Session::oracle());
    SteppedNet net;
    SGD sgd(net.parameters());
    const Tensor x = tensor(kInputs, {4, 2});
    expect_parts(
        user_error([&] { sgd.step(mean(net.first(x))); }),
        {"does not depend on 'second.weight', 'second.bias'", "freeze()", "step_test.cpp:"});
    const Floats before = net.second.weight.value().to_vector<float>();
    sgd.step(mean(net.first(x)), {.allow_unused = true});
    EXPECT_EQ(net.second.weight.value().to_vector<float>(), before);
    expect_parts(user_error([&] { sgd.step(net(x)); }), {"shape [4, 1]", "mean()"});
    expect_parts(user_error([&] { sgd["rate"] = 1; }), {"no number 'rate'", "lr momentum"});
    expect_parts(user_error([&] { SGD({}); }), {"no parameters"});
}

/// As in PyTorch, a gradient does not go through earlier steps.
TEST(Step, WhatItAssignsDependsOnNothing) {
    SessionScope scope(Session::oracle());
    const Variable a({1}, constant_init(1), true), b({1}, constant_init(2), true);
    SGD first({{"a", a}}, {.lr = 0.1f}), second({{"b", b}}, {.lr = 0.1f});
    const auto loss = [&] { return sum(square(a.value() * b.value())); };
    first.step(loss());
    EXPECT_NEAR(a.value().item<float>(), 1 - 0.1f * 8, 1e-6f);
    EXPECT_NEAR(grad(loss(), b.value()).item<float>(), 2 * 0.04f * 2, 1e-5f);
    second.step(loss());
    EXPECT_NEAR(b.value().item<float>(), 2 - 0.1f * 0.16f, 1e-5f);
}

TEST(Step, OfALossThatWasReadBefore) {
    SessionScope scope(Session::oracle());
    SteppedNet net;
    SGD sgd(net.parameters(), {.lr = 0.1f});
    const Tensor x = tensor(kInputs, {4, 2});
    Tensor loss = mean(net(x));
    const float before = loss.item<float>();
    sgd.step(loss);
    EXPECT_LT(mean(net(x)).item<float>(), before);
}

TEST(Modules, HaveThePathsOfPyTorch) {
    SessionScope scope(Session::oracle());
    struct Block : Module {
        std::vector<Linear> layers = add("layers", std::vector{Linear(2, 3), Linear(3, 2)});
        Sequential tail = add("tail", Sequential(
                                          Linear(2, 2, {.bias = false}),
                                          [](const Tensor& x) { return relu(x); }, Linear(2, 1)));
        Linear again = add("again", layers[0]);
    };
    Block block;
    std::vector<std::string> names;
    for (const NamedVariable& each : block.parameters()) names.push_back(each.name);
    EXPECT_EQ(names, (std::vector<std::string>{"layers.0.weight", "layers.0.bias",
                                               "layers.1.weight", "layers.1.bias", "tail.0.weight",
                                               "tail.2.weight", "tail.2.bias"}));
    block.layers[1].freeze();
    EXPECT_EQ(block.parameters().size(), 5u);
    EXPECT_EQ(block.variables().size(), 7u);
    block.eval();
    EXPECT_FALSE(block.layers[0].training());
    EXPECT_EQ(Shape(block.tail(some({5, 2})).shape()), (Shape{5, 1}));
}

TEST(Modules, RefuseWhatCannotBe) {
    SessionScope scope(Session::oracle());
    Linear none;
    expect_parts(user_error([&] {
                     none(some({2, 2}));
                 }),
                 {"no parameters yet", "Linear(2, 16)", "step_test.cpp:"});
    expect_parts(user_error([&] {
                     Linear(2, 3)(some({4, 5}));
                 }),
                 {"Linear: x is [4, 5]", "[3, 2]", "step_test.cpp:"});
    expect_parts(user_error([&] { Linear(0, 3); }), {"1 or more", "step_test.cpp:"});
    struct Twice : Module {
        Linear a = add("a", Linear(1, 1)), b = add("a", Linear(1, 1));
    };
    expect_parts(user_error([&] { Twice(); }), {"two members called 'a'", "step_test.cpp:"});
    struct Dotted : Module {
        Linear a = add("a.b", Linear(1, 1));
    };
    expect_parts(user_error([&] { Dotted(); }), {"'a.b'", "no dot"});
    expect_parts(user_error([&] {
                     none = Linear(2, 3), none.weight.set(some({2, 3}));
                 }),
                 {"f32[3, 2]", "f32[2, 3]", "step_test.cpp:"});
}

TEST(Modules, InAFunctionOfTheirOwnSeeWhatTrainingChanged) {
    SessionScope scope(Session::interpreter());
    SteppedNet net;
    SGD sgd(net.parameters(), {.lr = 0.1f});
    const Tensor x = tensor(kInputs, {4, 2}), y = tensor(kTargets, {4, 1});
    const auto predict = compile(net, [&](Tensor x) { return net(x); }, {f32("n", 2)});
    const auto frozen = compile([&](Tensor x) { return net(x); }, {f32("n", 2)});
    const Floats before = Tensor(predict(x)).to_vector<float>();
    sgd.step(mse_loss(net(x), y));
    expect_near(Tensor(frozen(x)).to_vector<float>(), before);
    expect_near(Tensor(predict(x)).to_vector<float>(), net(x).to_vector<float>());
    EXPECT_NE(Tensor(predict(x)).to_vector<float>(), before);
}

/// A loss that is nan is reported with its place, and the step that would have spread it is
/// skipped.
TEST(Step, SaysWhereALossIsNoNumberAndChangesNothing) {
    const Session session = Session::interpreter();
    SessionScope scope(session);
    session.find_nan(true);
    SteppedNet net;
    net.reset(3);
    Adam adam(net.parameters());
    const auto step = compile(
        {net, adam}, [&](Tensor x, Tensor y) { return adam.step(mean(log(y - square(net(x))))); },
        {f32("n", 2), f32("n", 1)});
    const Tensor x = tensor(kInputs, {4, 2});
    step(x, full({4, 1}, 50.0f));
    const Floats before = values_of(net.parameters());
    std::string said;
    try {
        step(x, full({4, 1}, -1.0f));
    } catch (const UserError& error) {
        said = error.what();
    }
    EXPECT_NE(said.find("call 2 of the function"), std::string::npos) << said;
    EXPECT_NE(said.find("Log of (-1."), std::string::npos) << said;
    EXPECT_NE(said.find("step_test.cpp:"), std::string::npos) << said;
    EXPECT_EQ(values_of(net.parameters()), before);
    EXPECT_EQ(adam.steps(), 1);
    step(x, full({4, 1}, 50.0f));
    EXPECT_EQ(adam.steps(), 2);
}

}  // namespace
}  // namespace firn
