// Tuning on the device: by its own times, with validation on; mappings that only other devices get.
#include <cstdlib>
#include <optional>

#include "engine/firn/device_session.h"
#include "tests/device/on_device.h"
#include "tests/mapping/stage_loads_cases.h"

namespace firn {
namespace {

// The cache is off, so that no other test finds these results.
[[maybe_unused]] const int kNoCache = setenv("FIRN_NO_CACHE", "1", 1);

TEST(TuneOnDevice, FindsNothingSlowerAndKeepsTheResults) {
    std::unique_ptr<Session> session;
    try {
        session = std::make_unique<Session>(device_session({.validation = true}));
    } catch (const DeviceError&) {
        GTEST_SKIP() << "no device";
    }
    SessionScope scope(*session);
    auto f = compile([](Tensor a, Tensor b) { return exp(matmul(a, transpose(b)) * 0.01f); },
                     {f32("n", "k"), f32("m", "k")});
    Tensor a = reshape(cast<float>(arange(64 * 96) % 7 - 3), {64, 96}),
           b = reshape(cast<float>(arange(32 * 96) % 5 - 2), {32, 96});
    const std::vector<double> before = f(a, b).to_vector<double>();
    const TuneReport report =
        f.tune({a, b}, {.seconds = 1.5, .progress = [](const TuneProgress&) { return true; }});
    ASSERT_EQ(report.kernels.size(), 1u);
    EXPECT_GT(report.kernels[0].tried, 0);
    EXPECT_GT(report.kernels[0].before_ms, 0);
    EXPECT_LE(report.kernels[0].after_ms, report.kernels[0].before_ms);
    for (const std::string& dropped : report.kernels[0].dropped) ADD_FAILURE() << dropped;
    expect_near(f(a, b).to_vector<double>(), before, 1e-5);
    EXPECT_NE(f.explain({a, b}).find("measured"), std::string::npos);
    EXPECT_EQ(validation_report(*session), "");
}

/// No CPU driver's mapping has operands in shared memory, but it can be told to.
TEST(StagedOnDevice, GivesWhatTheOracleGives) {
    std::optional<Session> session;
    try {
        session = device_session({.validation = true});
    } catch (const DeviceError&) {
        GTEST_SKIP() << "no device";
    }
    if (lacks_features(session->executor().profile()))
        GTEST_SKIP() << "it has no 64-bit types, or no shuffles";
    for (const StagedCase& test : staged_cases()) {
        SCOPED_TRACE(test.name);
        expect_staged_is_oracle(PreparedCase(test, *session), session->executor(), [](Mapping& m) {
            m.group.x = m.tile.size() < 2 ? 32 : 8, m.group.y = m.tile.size() < 2 ? 1 : 4;
            m.staged_iterations = 8, m.unroll = 4;
        });
    }
    EXPECT_EQ(validation_report(*session), "");
}

}  // namespace
}  // namespace firn
