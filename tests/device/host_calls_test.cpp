// Calls of the host inside of programs: on the oracle, by kernel code, as native code, and on the
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/firn/device_session.h"
#include "engine/firn/saved_programs.h"
#include "tests/frontend/host_operations.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

struct Kind {
    const char* name;
    std::function<Session()> open;
    friend std::ostream& operator<<(std::ostream& out, const Kind& kind) {
        return out << kind.name;
    }
};

class HostCalls : public ::testing::TestWithParam<Kind> {
  protected:
    void SetUp() override {
        try {
            session_.emplace(GetParam().open());
        } catch (const UserError& error) {  // without LLVM
            GTEST_SKIP() << error.what();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
        scope_.emplace(*session_);
    }
    void TearDown() override {
        scope_.reset();
        if (session_ && is_device()) {
            EXPECT_EQ(validation_report(*session_), "");
        }
    }
    static bool is_device() { return std::string(GetParam().name) == "device"; }
    /// Runs its programs step by step, and not at once as the oracle does.
    static bool has_steps() { return std::string(GetParam().name) != "oracle"; }
    std::optional<Session> session_;
    std::optional<SessionScope> scope_;
};
INSTANTIATE_TEST_SUITE_P(
    Executors, HostCalls,
    ::testing::Values(Kind{"oracle", [] { return Session::oracle(); }},
                      Kind{"compiled", [] { return Session::interpreter(); }},
                      Kind{"native", [] { return cpu_session(); }},
                      Kind{"device", [] { return device_session({.validation = true}); }}),
    [](const auto& info) { return std::string(info.param.name); });

Tensor scaled(float by, const Tensor& x, const std::shared_ptr<CallLog>& log = nullptr) {
    return host_call(std::make_shared<Scaling>(by, log), x);
}

TEST_P(HostCalls, TakeAValueAndGiveOne) {
    Tensor x = arange(7).as(f32);
    EXPECT_EQ((scaled(3, x + 1.0f) - 1.0f).to_vector<float>(), (Floats{2, 5, 8, 11, 14, 17, 20}));
}

TEST_P(HostCalls, TakeNumbersThatKernelsHaveWithoutMemory) {
    EXPECT_EQ(scaled(2, ones({2, 2})).to_vector<float>(), (Floats{2, 2, 2, 2}));
    EXPECT_EQ(scaled(2, Tensor(1.5f)).item<float>(), 3.0f);
    auto f = compile([](Tensor x) { return scaled(2, Tensor(x.size(0)).as(f32)) + x; }, {f32("n")});
    EXPECT_EQ(f(tensor({1.0f, 2.0f, 3.0f})).to_vector<float>(), (Floats{7, 8, 9}));
}

TEST_P(HostCalls, AreShownByExplain) {
    if (!has_steps()) return;
    auto f = compile([](Tensor x) { return scaled(3, x + 1.0f) + x; }, {f32("n")});
    f(ones({4}));
    expect_parts(f.explain(), {"the host runs scaling(3", ": [", "host_calls_test.cpp:"});
}

TEST_P(HostCalls, ServeEverySizeOfACompiledFunction) {
    auto f =
        compile([](Tensor x) { return host_call(std::make_shared<Repeating>(3), x * 2.0f) + 1.0f; },
                {f32("n", "m")});
    for (const int n : {0, 1, 5}) {
        const Tensor y = f(reshape(arange(n * 2).as(f32), {n, 2}));
        EXPECT_EQ(text(y.shape()), "[" + std::to_string(3 * n) + ", 2]");
        const Floats values = y.to_vector<float>();
        ASSERT_EQ(values.size(), static_cast<size_t>(6 * n));
        for (size_t k = 0; k < values.size(); ++k)
            EXPECT_EQ(values[k], static_cast<float>(k % static_cast<size_t>(2 * n)) * 2 + 1);
    }
}

TEST_P(HostCalls, AreMadeOnceAnIteration) {
    auto log = std::make_shared<CallLog>();
    auto f = compile(
        [&](Tensor x, Tensor count) {
            for ([[maybe_unused]] Tensor i : loop(count)) x = scaled(2, x + 1.0f, log);
            return x;
        },
        {f32("n"), i32()});
    EXPECT_EQ(f(tensor({0.0f, 1.0f}), 3).to_vector<float>(), (Floats{14, 22}));
    EXPECT_EQ(std::count(log->begin(), log->end(), "begin " + std::to_string(2.0f)), 3);
    log->clear();
    EXPECT_EQ(f(tensor({5.0f}), 0).to_vector<float>(), (Floats{5}));
    EXPECT_TRUE(log->empty());
}

TEST_P(HostCalls, EndLoopsThatAskTheData) {
    auto f = compile(
        [](Tensor x) {
            while_([&] { return sum(x) < 100.0f; }, [&] { x = scaled(2, x); });
            return x;
        },
        {f32("n")});
    EXPECT_EQ(f(tensor({1.0f, 2.0f})).to_vector<float>(), (Floats{64, 128}));
}

TEST_P(HostCalls, BeginBeforeKernelsThatDoNotNeedThem) {
    auto log = std::make_shared<CallLog>();
    // Both calls begin before the first is finished, though the results want them one by one.
    auto f = compile(
        [&](Tensor x) {
            const Tensor first = scaled(2, x, log) + x, second = scaled(3, x * x, log) - x;
            return std::vector<Tensor>{first, second};
        },
        {f32("n")});
    const std::vector<Tensor> out = f(tensor({1.0f, 2.0f}));
    EXPECT_EQ(out[0].to_vector<float>(), (Floats{3, 6}));
    EXPECT_EQ(out[1].to_vector<float>(), (Floats{2, 10}));
    ASSERT_EQ(log->size(), 4u);
    if (has_steps()) {
        EXPECT_EQ(log->at(0).substr(0, 5), "begin");
        EXPECT_EQ(log->at(1).substr(0, 5), "begin");
    }
}

TEST_P(HostCalls, WaitForOneAnother) {
    auto f = compile([](Tensor x) { return scaled(5, scaled(2, scaled(3, x))); }, {f32("n")});
    EXPECT_EQ(f(tensor({1.0f, -1.0f})).to_vector<float>(), (Floats{30, -30}));
}

TEST_P(HostCalls, HaveTheGradientOfTheirAdjoint) {
    Tensor x = tensor({1.0f, 2.0f, 3.0f});
    const Tensor loss = sum(host_call(std::make_shared<Repeating>(2), x * x) * arange(6).as(f32));
    EXPECT_EQ(grad(loss, x).to_vector<float>(), (Floats{6, 20, 42}));
    const Tensor y = scaled(3, x * x);
    EXPECT_EQ(jvp(y, {x}, {ones_like(x)}).to_vector<float>(), (Floats{6, 12, 18}));
}

TEST_P(HostCalls, TakeBatchesWhereTheyMay) {
    const Tensor x = reshape(arange(6).as(f32), {2, 3});
    const Callback<Tensor(const std::vector<Tensor>&)> doubled = [](const std::vector<Tensor>& v) {
        return scaled(2, v[0]) + v[0](0);
    };
    EXPECT_EQ(vmap(doubled, {x}).to_vector<float>(), (Floats{0, 2, 4, 9, 11, 13}));
    const Callback<Tensor(const std::vector<Tensor>&)> repeated = [](const std::vector<Tensor>& v) {
        return host_call(std::make_shared<Repeating>(2), v[0]);
    };
    const std::string error = user_error([&] { vmap(repeated, {x}).to_vector<float>(); });
    expect_parts(error, {"vmap: there is no rule for repeating(2)", "host_calls_test.cpp:"});
}

TEST_P(HostCalls, AreValuesUnderBranches) {
    auto f = compile(
        [](Tensor x, Tensor up) {
            Tensor y = x;
            if_(
                up > 0, [&] { y = scaled(2, x); }, [&] { y = scaled(-1, x); });
            return y;
        },
        {f32("n"), i32()});
    EXPECT_EQ(f(tensor({1.0f, 2.0f}), 1).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(f(tensor({1.0f, 2.0f}), 0).to_vector<float>(), (Floats{-1, -2}));
}

TEST_P(HostCalls, GiveResultsAndTakeArgumentsAsTheyAre) {
    auto f = compile([](Tensor x) { return scaled(2, x); }, {f32("n")});
    const Tensor x = tensor({1.0f, 2.0f, 3.0f});
    EXPECT_EQ(f(x).to_vector<float>(), (Floats{2, 4, 6}));
    EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2, 3}));
}

/// Throws when it is finished.
struct Failing : HostOperation {
    std::string name() const override { return "failing"; }
    std::unique_ptr<HostWork> begin(const HostCall& call) const override {
        struct Fails : HostWork {
            std::string line;
            void finish() override { throw UserError("the other side is gone (" + line + ")"); }
        };
        auto work = std::make_unique<Fails>();
        work->line = call.line;
        return work;
    }
};

TEST_P(HostCalls, EndTheRunByTheirErrors) {
    auto f = compile([](Tensor x) { return host_call(std::make_shared<Failing>(), x) + 1.0f; },
                     {f32("n")});
    const Tensor x = tensor({1.0f, 2.0f});
    expect_parts(user_error([&] { f(x).to_vector<float>(); }),
                 {"the other side is gone (host_calls_test.cpp:"});
    EXPECT_EQ((x * 2.0f).to_vector<float>(), (Floats{2, 4}));
}

TEST_P(HostCalls, RefuseWhatCannotBe) {
    const Tensor x = tensor({1.0f, 2.0f});
    expect_parts(user_error([&] {
                     grad(sum(host_call(std::make_shared<Failing>(), x)), x).to_vector<float>();
                 }),
                 {"grad: there are no gradients through failing", "host_calls_test.cpp:"});
    expect_parts(user_error([&] { host_call(std::make_shared<Repeating>(2), x(0)); }),
                 {"repeating(2) takes no number", "host_calls_test.cpp:"});
    expect_parts(user_error([&] { host_call(nullptr, x); }), {"there is no operation"});
    if (!has_steps()) return;
    auto saved = compile([](Tensor v) { return scaled(2, v); }, {f32("n")});
    expect_parts(user_error([&] { save_program(::testing::TempDir() + "/call.firn", saved, x); }),
                 {"calls scaling(2", "which no file can hold", "host_calls_test.cpp:"});
    auto counted = compile([](Tensor v) { return scaled(2, compact(v, v > 0.0f)); }, {f32("n")});
    expect_parts(user_error([&] { counted(x).to_vector<float>(); }),
                 {"which only the device knows", "host_calls_test.cpp:"});
}

}  // namespace
}  // namespace firn
