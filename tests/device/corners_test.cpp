// Functions and their derivatives on the device, over the whole range of f32, within what
// compiler/accuracy.md promises.
#include "tests/learning/corners.h"

#include "tests/device/on_device.h"

namespace firn {
namespace {

class CornersOnDevice : public ::testing::TestWithParam<corners::Row> {
  protected:
    static void SetUpTestSuite() {
        try {
            session() = std::make_unique<Session>(device_session({.validation = true}));
        } catch (const DeviceError&) {
        }
    }
    static void TearDownTestSuite() { session().reset(); }
    static std::unique_ptr<Session>& session() {
        static std::unique_ptr<Session> session;
        return session;
    }
};
INSTANTIATE_TEST_SUITE_P(Rows, CornersOnDevice, ::testing::ValuesIn(corners::kRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(CornersOnDevice, StayWithinTheirBounds) {
    if (!session()) GTEST_SKIP() << "no device";
    SessionScope scope(*session());
    corners::expect_within(GetParam(), f32);
}

}  // namespace
}  // namespace firn
