// Prints and assertions of programs on the device.
#include "engine/firn/device_session.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class EffectsOnDevice : public ::testing::Test {
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

/// What a session prints and throws when a compiled program runs twice.
std::string effects_in(const Session& session) {
    SessionScope scope(session);
    std::string out;
    session.on_print([&](const std::string& text) { out += text; });
    auto fall = compile(
        [](Tensor x) {
            print_value(x, {.label = "start", .edge = 2});
            for (Tensor i : loop(30)) {
                if_(x <= 3, [&] { break_(); });
                x = x - 3;
                print_value(x, {.label = "x", .edge = 1, .turns = 4});
                assert_value(x % 7 != 0, "seven");
                print_value(max(x), {.label = "largest", .turns = 2});
            }
            assert_value(x < 4, "still high");
            return x;
        },
        {i32("n")});
    out += user_error([&] { fall(arange(20)); });
    out += user_error([&] { fall(arange(300) * 4); });
    return out;
}

TEST_F(EffectsOnDevice, PrintsAndThrowsWhatTheOracleDoes) {
    const std::string expected = effects_in(Session::oracle());
    EXPECT_EQ(effects_in(*session_), expected);
    expect_parts(expected, {"start", "largest", "seven: "});
}

}  // namespace
}  // namespace firn
