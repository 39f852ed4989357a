// The one test of programs on the device; its cases stand beside it.
#include "tests/device/on_device.h"

#include <cstdlib>

namespace firn {

TEST_P(OnDevice, AgreesWithTheOracle) {
    if (!session()) GTEST_SKIP() << "no device";
    std::vector<double> expected, got;
    {
        SessionScope scope(Session::oracle());
        expected = GetParam().run().to_vector<double>();
    }
    try {
        SessionScope scope(*session());
        got = GetParam().run().to_vector<double>();
    } catch (const UserError& error) {
        if (!lacks_features(session()->executor().profile())) throw;
        GTEST_SKIP() << error.what();
    }
    expect_near(got, expected, GetParam().tolerance);
    EXPECT_EQ(validation_report(*session()), "");
}

TEST_P(OnDevice, AgreesAsNativeCode) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    static const Session native = cpu_session();
    std::vector<double> expected, got;
    {
        SessionScope scope(Session::oracle());
        expected = GetParam().run().to_vector<double>();
    }
    {
        SessionScope scope(native);
        got = GetParam().run().to_vector<double>();
    }
    expect_near(got, expected, GetParam().tolerance);
}

/// Operations that a lower level of processors has no instruction for.
std::vector<float> without_instructions() {
    const Tensor x = arange(100).as(f32) * 0.37f - 9.3f, h = x.as(f16);
    return concat({floor(x) + ceil(x) + trunc(x) + round(x), remainder(x, 1.7f),
                   max(h, 1.0f).as(f32), (h * h).as(f32), select(h > 1.0f, h, 1.0f).as(f32),
                   min(x, 2.0f) + max(x, -1.0f) + max(x, 0.0f), x(clamp(arange(100) - 1, 0, 99))})
        .to_vector<float>();
}

TEST(NativeLevels, EachGivesWhatTheOracleGives) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    std::vector<float> expected;
    {
        SessionScope scope(Session::oracle());
        expected = without_instructions();
    }
    const char* before = std::getenv("FIRN_CPU");
    const std::string kept = before ? before : "";
    for (const char* level : {"sse2", "sse4", "avx2", "avx512"}) {
        setenv("FIRN_CPU", level, 1);
        try {
            SessionScope scope(cpu_session());
            EXPECT_EQ(without_instructions(), expected) << level;
        } catch (const UserError& error) {
            // Levels that this processor lacks.
            EXPECT_NE(std::string(error.what()).find("FIRN_CPU"), std::string::npos)
                << error.what();
        }
    }
    before ? setenv("FIRN_CPU", kept.c_str(), 1) : unsetenv("FIRN_CPU");
}

/// Sums and products that are split, a mean of columns, and stores that combine.
std::vector<float> sums_of_all_kinds() {
    const Tensor x = randn({300, 700}, {.seed = 1}), y = randn({700, 20}, {.seed = 2});
    auto [i] = indices<1>({100000});
    const Tensor long_one = sin(i.as(f32));
    Tensor few = zeros({7}), many = zeros({5000});
    scatter_add(few(i % 7), long_one);
    scatter_add(many(i * 37 % 5000), long_one);
    return concat({reshape(sum(long_one), {1}), mean(x, {0}), sum(x, {1}),
                   reshape(matmul(x, y), {6000}), few, many})
        .to_vector<float>();
}

TEST(NativeThreads, AnyNumberGivesTheSameBits) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    std::vector<float> expected;
    for (const char* threads : {"1", "2", "5", "64"}) {
        setenv("FIRN_THREADS", threads, 1);
        SessionScope scope(cpu_session());
        const std::vector<float> got = sums_of_all_kinds();
        if (expected.empty()) expected = got;
        EXPECT_EQ(got, expected) << threads << " threads";
    }
    unsetenv("FIRN_THREADS");
}

}  // namespace firn
