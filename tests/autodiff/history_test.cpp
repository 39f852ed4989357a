// Values that are computed on the way keep their history: gradients do not change.
#include <sstream>

#include "tests/frontend/counting_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class History : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
    Tensor w_ = tensor({1.0f, 2.0f});
    /// The gradient of sum(h + w) by w, and that it is the same forwards.
    Floats through(const Tensor& h) {
        const Tensor y = sum(h + w_);
        const Floats out = grad(y, w_).to_vector<float>();
        for (int k = 0; k < 2; ++k) {
            const Tensor direction = tensor({k == 0 ? 1.0f : 0.0f, k == 1 ? 1.0f : 0.0f});
            EXPECT_EQ(jvp(y, {w_}, {direction}).item<float>(), out[static_cast<size_t>(k)]);
        }
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Executors, History, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(History, IsKeptWhereAValueIsRead) {
    const auto read_by = [&](auto read) {
        Tensor h = square(w_);
        read(h);
        return through(h);
    };
    const Floats expected{3, 5};
    EXPECT_EQ(read_by([](Tensor&) {}), expected);
    EXPECT_EQ(read_by([](Tensor& h) { h.to_vector<float>(); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { h(0).item<float>(); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { sum(h).item<float>(); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { realize(h); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { memory_of(h); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { bytes_of(h); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { host_view<float>(h); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { assert_value(h > 0.0f); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { std::ostringstream() << h; }), expected);
    session_.on_print([](const std::string&) {});
    EXPECT_EQ(read_by([](Tensor& h) { print_value(h); }), expected);
    EXPECT_EQ(read_by([](Tensor& h) { compile([](Tensor x) { return x + 1.0f; }, {f32(2)})(h); }),
              expected);
    EXPECT_EQ(read_by([](Tensor& h) { compile([&](Tensor x) { return x + h; }, {f32(2)}); }),
              expected);
    EXPECT_EQ(read_by([](Tensor& h) {
                  Tensor copy = h;
                  copy.to_vector<float>();
              }),
              expected);
    EXPECT_EQ(read_by([](Tensor& h) {
                  for (int k = 0; k < 20; ++k) {
                      h = h + 0.0f;
                      h.to_vector<float>();
                  }
              }),
              expected);
}

TEST_P(History, IsKeptWhereAFunctionIsCalled) {
    auto f = compile([](Tensor x) { return square(x); }, {f32("n")});
    auto by_jit = jit([](Tensor x) { return square(x); });
    const Floats expected{3, 5};
    EXPECT_EQ(through(f(w_)), expected);
    EXPECT_EQ(through(by_jit(w_)), expected);
    EXPECT_EQ(through(compile([](Tensor x) { return square(x); }, {f32(2)})(w_)), expected);
    EXPECT_EQ(through(f(sqrt(f(w_)))), expected) << "temporaries";
    EXPECT_EQ(through(f(f(w_))), (Floats{1 + 4, 1 + 4 * 8}));
    const Tensor w = w_;
    auto captured = compile([&](Tensor x) { return x * w * w; }, {f32(2)});
    EXPECT_EQ(through(captured(ones({2}))), expected);
    auto several = compile(
        [](Tensor x) {
            return std::tuple{x * 2.0f, (x * 3.0f).as(i32), x * x};
        },
        {f32("n")});
    const auto [twice, count, squared] = several(w_);
    EXPECT_EQ(through(twice), (Floats{3, 3}));
    EXPECT_EQ(through(squared), expected);
    EXPECT_EQ(through(count.as(f32)), (Floats{1, 1}));
    auto scaled = compile([](Tensor x, Tensor a) { return x * x * a; }, {f32("n"), f32()});
    EXPECT_EQ(through(scaled(w_, 2.0f)), (Floats{5, 9}));
    const Tensor a = 2.0f;
    EXPECT_EQ(grad(sum(scaled(w_, a)), a).item<float>(), 5);
    const Tensor b = sum(w_);
    EXPECT_EQ(grad(sum(scaled(w_, b)), b).item<float>(), 5);
    EXPECT_EQ(through(scaled(w_, b)), (Floats{1 + 2 * 3 * 1 + 5, 1 + 2 * 3 * 2 + 5}));
}

TEST_P(History, OfAFunctionWithEffectsRepeatsNone) {
    std::string printed;
    session_.on_print([&](const std::string& text) { printed += text; });
    auto f = compile(
        [](Tensor x) {
            print_value(x);
            assert_value(x > 0.0f);
            return x * x;
        },
        {f32("n")});
    const Tensor h = f(w_);
    printed.clear();
    EXPECT_EQ(through(h), (Floats{3, 5}));
    EXPECT_EQ(printed, "");
}

TEST_P(History, OfRandomNumbersHasTheSame) {
    auto f = compile([](Tensor x) { return x * rand(x.shape()); }, {f32(2)});
    for (int k = 0; k < 2; ++k) {
        const Tensor h = f(w_);
        const Floats value = h.to_vector<float>();
        EXPECT_EQ(through(h), (Floats{1 + value[0], 1 + value[1] / 2}));
    }
    Tensor h = w_ * rand({2});
    const Floats value = h.to_vector<float>();
    EXPECT_EQ(through(h), (Floats{1 + value[0], 1 + value[1] / 2}));
}

TEST_P(History, ServesDerivativesOfSecondOrder) {
    Tensor h = w_ * w_ * w_;
    h.to_vector<float>();
    Tensor first = grad(sum(h), w_);
    EXPECT_EQ(first.to_vector<float>(), (Floats{3, 12}));
    EXPECT_EQ(grad(sum(first), w_).to_vector<float>(), (Floats{6, 12}));
    EXPECT_EQ(hessian_product(sum(h), {w_}, {tensor({1.0f, 1.0f})})[0].to_vector<float>(),
              (Floats{6, 12}));
    EXPECT_EQ(jacobian(h, w_).to_vector<float>(), (Floats{3, 0, 0, 12}));
    EXPECT_EQ(hessian(sum(h), w_).to_vector<float>(), (Floats{6, 0, 0, 12}));
    EXPECT_EQ(vjp(h, {w_}, tensor({1.0f, 10.0f}))[0].to_vector<float>(), (Floats{3, 120}));
}

TEST_P(History, ServesTheOtherFormOfATensor) {
    Tensor h = square(w_);
    const Tensor before = h * h, copy = h;
    h.to_vector<float>();
    EXPECT_EQ(grad(sum(before), h).to_vector<float>(), (Floats{2, 8}));
    EXPECT_EQ(grad(sum(h * h), copy).to_vector<float>(), (Floats{2, 8}));
    EXPECT_EQ(grad(sum(before), copy).to_vector<float>(), (Floats{2, 8}));
    const std::vector<Tensor> both = grad(sum(before + h), {w_, h, copy});
    EXPECT_EQ(both[0].to_vector<float>(), (Floats{6, 36}));
    EXPECT_EQ(both[1].to_vector<float>(), (Floats{3, 9}));
    EXPECT_EQ(both[2].to_vector<float>(), (Floats{3, 9}));
}

TEST_P(History, BehindAValueThatWasComputedFromNoTensorOfTheUser) {
    Tensor h = square(tensor({1.0f, 2.0f})), y = h * h, z = h * y;
    realize(h, y);
    EXPECT_EQ(grad(sum(y), h).to_vector<float>(), (Floats{2, 4 * 2}));
    z.to_vector<float>();
    EXPECT_EQ(grad(sum(z + y), h).to_vector<float>(), (Floats{3 + 2, 3 * 16 + 8}));
    EXPECT_EQ(grad(sum(z), y).to_vector<float>(), (Floats{1, 4}));
}

TEST_P(History, WhereTheIntermediateHandleIsGone) {
    Tensor y;
    {
        Tensor h = square(w_);
        h.to_vector<float>();
        y = h * h;
        y.to_vector<float>();
    }
    EXPECT_EQ(through(y), (Floats{5, 33}));
}

TEST_P(History, EndsWhereAGradientStops) {
    Tensor held = stop_gradient(w_);
    held.to_vector<float>();
    EXPECT_EQ(through(w_ * held), (Floats{2, 3}));
    EXPECT_EQ(through(held), (Floats{1, 1}));
    auto f = compile([](Tensor x) { return stop_gradient(x); }, {f32(2)});
    EXPECT_EQ(through(w_ * f(w_)), (Floats{2, 3}));
    Tensor same = w_ + 0.0f;
    same.to_vector<float>();
    EXPECT_EQ(through(w_ * same), (Floats{3, 5}));
    EXPECT_EQ(grad(sum(w_ * same), same).to_vector<float>(), (Floats{1, 2}));
    Tensor rounded = straight_through(round(w_), w_);
    rounded.to_vector<float>();
    EXPECT_EQ(through(rounded), (Floats{2, 2}));
}

TEST_P(History, OfWhatIsStoredAndAssignedLater) {
    Tensor h = square(w_);
    h.to_vector<float>();
    h(0) = 7.0f;
    EXPECT_EQ(through(h), (Floats{1, 5}));
    h.to_vector<float>();
    EXPECT_EQ(through(h), (Floats{1, 5}));
    h = h * w_;
    h.to_vector<float>();
    EXPECT_EQ(through(h), (Floats{8, 13}));
}

TEST_P(History, OfSizesThatOnlyTheDeviceKnows) {
    Tensor h = compact(w_ * w_, w_ > 1.5f);
    h.to_vector<float>();
    EXPECT_EQ(grad(sum(h), w_).to_vector<float>(), (Floats{0, 4}));
}

TEST_P(History, InsideAFunctionThatIsRecorded) {
    Tensor h = square(w_);
    h.to_vector<float>();
    auto f = compile([&](Tensor x) { return grad(sum(h * x), w_); }, {f32(2)});
    EXPECT_EQ(f(tensor({1.0f, 10.0f})).to_vector<float>(), (Floats{2, 40}));
    auto by_loop = compile(
        [&](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(2)) y = y * h;
            return y;
        },
        {f32(2)});
    EXPECT_EQ(grad(sum(by_loop(ones({2}))), w_).to_vector<float>(), (Floats{4, 32}));
}

TEST_P(History, InsideALoopThatIsRecorded) {
    Tensor h = square(w_), out = zeros({2});
    h.to_vector<float>();
    for (Tensor k : loop(2)) out += grad(sum(h * w_), w_);
    EXPECT_EQ(out.to_vector<float>(), (Floats{2 * 3, 2 * 12}));
    for (Tensor k : loop(2)) out += grad(sum(h), w_);
    EXPECT_EQ(out.to_vector<float>(), (Floats{2 * 3 + 2 * 2, 2 * 12 + 2 * 4}));
}

TEST_P(History, IsOfValueAndGradToo) {
    auto f = compile([](Tensor x) { return square(x); }, {f32(2)});
    const auto at = value_and_grad(
        [&](const std::vector<Tensor>& x) {
            Tensor h = f(x[0]);
            h.to_vector<float>();
            return sum(h * x[0]);
        },
        {w_});
    EXPECT_EQ(at.gradients[0].to_vector<float>(), (Floats{3, 12}));
}

TEST_P(History, DoesNotGrowWithFrames) {
    const Tensor k = tensor({0.5f, 0.25f});
    auto step = compile([](Tensor u, Tensor by) { return u * by + 1.0f; }, {f32(2), f32(2)});
    Tensor u = ones({2}), v = ones({2});
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 1000; ++frame) {
        u = step(u, k);
        v = v * k + 1.0f;
        v.to_vector<float>();
        if (frame % 300 == 299) nodes.push_back(session_.node_count());
    }
    EXPECT_LE(nodes[2], nodes[1] + 5);
    const std::string error = user_error([&] { grad(sum(u * k), k); });
    EXPECT_EQ(error.find("not depend"), std::string::npos);
    expect_parts(error, {"f32[2] is behind a value that was computed at", "history_test.cpp:",
                         "more than 256 values", "one compiled function", "stop_gradient"});
    expect_parts(user_error([&] { jvp(v, {k}, {k}); }),
                 {"history_test.cpp:", "are no longer kept"});
}

TEST_P(History, OfFramesWithoutParametersIsNotKept) {
    auto step = compile([](Tensor u) { return u * 0.5f + 1.0f; }, {f32(2)});
    Tensor u = ones({2}), v = ones({2});
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 40; ++frame) {
        u = step(u);
        v = v * 0.5f + 1.0f;
        v.to_vector<float>();
        nodes.push_back(session_.node_count());
    }
    EXPECT_LE(nodes[39], nodes[5]);
}

TEST_P(History, OfATrainingLoopByHand) {
    const Tensor x = tensor({1.0f, 2.0f, 3.0f}), y = tensor({2.0f, 4.0f, 6.0f});
    Tensor a = 0.0f, b = 1.0f;
    std::vector<size_t> nodes;
    for (int k = 0; k < 300; ++k) {
        const Tensor loss = mean(square(a * x + b - y));
        const std::vector<Tensor> g = grad(loss, {a, b});
        a -= 0.1f * g[0];
        b -= 0.1f * g[1];
        loss.item<float>();
        nodes.push_back(session_.node_count());
    }
    EXPECT_NEAR(a.item<float>(), 2, 0.01);
    EXPECT_LE(nodes[299], nodes[200] + 10) << "of the latest values alone";
}

class GivenAway : public ::testing::Test {
  protected:
    std::shared_ptr<CountingExecutor> executor_ = std::make_shared<CountingExecutor>(gpu_profile());
    Session session_{executor_};
    SessionScope scope_{session_};
    const Tensor w_ = tensor({1.0f, 2.0f});
    template <class Body>
    int allocations(const Body& body) {
        const int before = executor_->allocations;
        body();
        return executor_->allocations - before;
    }
};

TEST_F(GivenAway, MemoryIsWrittenOverAsBefore) {
    auto f = compile([](Tensor u, Tensor by) { return u * by + 1.0f; }, {f32(2), f32(2)});
    Tensor u = tensor({1.0f, 1.0f});
    u = f(std::move(u), w_);
    Tensor energy;
    std::vector<size_t> nodes;
    for (int frame = 0; frame < 40; ++frame) {
        EXPECT_EQ(allocations([&] { u = f(std::move(u), w_); }), 0);
        if (frame % 3 == 0) u.to_vector<float>();
        nodes.push_back(session_.node_count());
    }
    EXPECT_LE(nodes[39], nodes[30] + 2);
    expect_parts(user_error([&] { grad(sum(u), w_); }),
                 {"f32[2] is behind a value", "history_test.cpp:", "donated"});
    energy = sum(u * u);
    energy.item<float>();
    EXPECT_EQ(allocations([&] { u = f(std::move(u), w_); }), 0);
    expect_parts(user_error([&] { grad(energy, w_); }), {"history_test.cpp:", "donated"});
}

TEST_F(GivenAway, TemporariesAreComputedAgain) {
    auto f = compile([](Tensor x, Tensor by) { return x * by; }, {f32(2), f32(2)});
    EXPECT_EQ(grad(sum(f(square(w_), w_)), w_).to_vector<float>(), (Floats{3, 12}));
    EXPECT_EQ(grad(sum(f(f(ones({2}), w_), w_)), w_).to_vector<float>(), (Floats{2, 4}));
    Tensor h = square(w_), y = f(std::move(h), w_);
    EXPECT_EQ(grad(sum(y), w_).to_vector<float>(), (Floats{3, 12}));
    Tensor g = square(w_);
    const Tensor z = g + w_;
    EXPECT_EQ(grad(sum(f(std::move(g), w_) + z), w_).to_vector<float>(), (Floats{6, 17}));
    EXPECT_EQ(z.to_vector<float>(), (Floats{2, 6}));
}

TEST_F(GivenAway, HistoriesHoldLittleMemory) {
    const int n = 1 << 20;  // 4 MiB
    const Tensor k = full({n}, 0.5f);
    auto f = compile([](Tensor u, Tensor by) { return u * by; }, {f32("n"), f32("n")});
    Tensor u = ones({n});
    for (int frame = 0; frame < 12; ++frame) u = f(u, k);
    EXPECT_NEAR(grad(sum(u), k)(0).item<float>(), 12 * std::pow(0.5f, 11), 1e-6);
    for (int frame = 0; frame < 12; ++frame) u = f(u, k);
    expect_parts(user_error([&] { grad(sum(u), k); }), {"more than 64 MiB", "history_test.cpp:"});
}

}  // namespace
}  // namespace firn
