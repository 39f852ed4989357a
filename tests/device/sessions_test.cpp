// Sessions on the device: in threads of their own, with programs compiled in the background, and
// bounded.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/firn/device_session.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class SessionsOnDevice : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            session_ = std::make_unique<Session>(device_session({.validation = true}));
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    void TearDown() override {
        if (session_) {
            EXPECT_EQ(validation_report(*session_), "");
        }
    }
    std::unique_ptr<Session> session_;
};

/// Row sums of ones, by a function that serves every size.
auto row_sums() {
    return compile([](Tensor x) { return sum(sqrt(x), {.axis = 1}); }, {f32("n", "m")});
}

TEST_F(SessionsOnDevice, NewSizesAreServedWhileTheirProgramIsCompiled) {
    SessionScope scope(*session_);
    session_->specialise(false);
    auto sums = row_sums();
    EXPECT_EQ(sums(ones({64, 64})).to_vector<float>(), Floats(64, 64.0f));
    EXPECT_FALSE(sums.stats().better_is_compiling);
    for (int n : {3, 20, 130})
        EXPECT_EQ(sums(ones({n, 1000})).to_vector<float>(), Floats(static_cast<size_t>(n), 1000.0f))
            << n;
    sums.finish_compiling();
    for (int n : {3, 20, 130}) {
        EXPECT_EQ(sums(ones({n, 1000})).to_vector<float>(), Floats(static_cast<size_t>(n), 1000.0f))
            << n;
        EXPECT_FALSE(sums.stats().better_is_compiling);
    }
}

/// FIRN_RATES for as long as it lives.
class RatesVariable {
  public:
    explicit RatesVariable(const char* value) {
        if (const char* before = std::getenv("FIRN_RATES")) before_ = before;
        setenv("FIRN_RATES", value, 1);
    }
    ~RatesVariable() {
        if (before_)
            setenv("FIRN_RATES", before_->c_str(), 1);
        else
            unsetenv("FIRN_RATES");
    }
    RatesVariable(const RatesVariable&) = delete;
    RatesVariable& operator=(const RatesVariable&) = delete;

  private:
    std::optional<std::string> before_;
};

TEST_F(SessionsOnDevice, RatesAreThoseOfTheClassWhereTheEnvironmentAsksForThem) {
    const RatesVariable reference("reference");
    EXPECT_FALSE(device_session().executor().profile().rates_measured);
    EXPECT_NE(device_report().find("by its class"), std::string::npos);
}

TEST_F(SessionsOnDevice, RatesAreMeasuredElse) {
    const RatesVariable none("");
    const DeviceProfile profile = device_session().executor().profile();
    EXPECT_TRUE(profile.rates_measured);
    EXPECT_NE(rates_text(profile).find("measured in steps of two"), std::string::npos);
}

TEST(DeviceSession, UnknownRatesAreAnError) {
    const RatesVariable fast("fast");
    expect_parts(user_error([] { device_session(); }), {"FIRN_RATES=fast", "use reference"});
    expect_parts(user_error([] { device_report(); }), {"FIRN_RATES=fast", "use reference"});
}

TEST_F(SessionsOnDevice, ThreadsWithASessionEachRunInParallel) {
    std::vector<std::thread> threads;
    std::vector<float> sums(3);
    for (size_t t = 0; t < sums.size(); ++t)
        threads.emplace_back([&, t] {
            SessionScope scope(t == 0 ? *session_ : device_session());
            auto rows = row_sums();
            Tensor x = ones({8, 16 + static_cast<int>(t)});
            for (int iteration = 0; iteration < 20; ++iteration) x = x * 1.0f;
            sums[t] = sum(rows(x)).item<float>();
        });
    for (std::thread& thread : threads) thread.join();
    for (size_t t = 0; t < sums.size(); ++t)
        EXPECT_EQ(sums[t], 8.0f * (16 + static_cast<float>(t)));
}

TEST_F(SessionsOnDevice, TensorsEndOnOtherThreadsWhileTheDeviceIsAtWork) {
    SessionScope scope(*session_);
    std::vector<std::thread> threads;
    for (int k = 0; k < 20; ++k) {
        std::vector<Tensor> values{arange(5000) + k};
        values.push_back(values[0] * 2);
        realize(values);
        threads.emplace_back([values = std::move(values)]() mutable { values.clear(); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum(arange(5)).item<int>(), 10);
}

TEST_F(SessionsOnDevice, ProgramsThatAreLetGoOfFreeTheirPipelines) {
    SessionScope scope(*session_);
    auto& device = static_cast<VulkanExecutor&>(session_->executor()).device();
    const auto power = [](int n) {
        return compile(
            [n](Tensor x) {
                for (int k = 0; k < n; ++k) x = x * 0.5f + 1;
                return x;
            },
            {f32(8)});
    };
    std::vector<decltype(power(1))> functions;
    const Tensor x = ones({8});
    for (int n = 1; n <= 12; ++n) functions.push_back(power(n)), functions.back()(x);
    EXPECT_GE(device.shared_pipelines().entries.size(), 12u);
    functions.clear();
    EXPECT_EQ(sum(x).item<float>(), 8);
    EXPECT_LE(device.shared_pipelines().entries.size(), 3u);
}

}  // namespace
}  // namespace firn
