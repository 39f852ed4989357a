// The one test of programs on the device; its cases stand beside it.
#include "tests/device/on_device.h"

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

}  // namespace firn
