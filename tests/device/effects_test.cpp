// Prints, assertions and arguments that are given away, on the device.
#include "engine/firn/device_session.h"
#include "engine/runtime/vulkan_executor.h"
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

/// Returns the prints and errors of a session when a compiled program runs twice.
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
                print_value(x, {.label = "x", .edge = 1, .iterations = 4});
                assert_value(x % 7 != 0, "seven");
                print_value(max(x), {.label = "largest", .iterations = 2});
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

TEST_F(EffectsOnDevice, ALoopThatNeverEndsIsAnError) {
    SessionScope scope(*session_);
    session_->limit_while(200'000);
    Tensor x = tensor({5, 3, 100'000}), y = arange(40), i = index(y, 0);
    while_([&] { return x != 4; }, [&] { x -= 1; });
    expect_parts(user_error([&] { x.to_vector<int>(); }),
                 {"while_: its condition still held", "effects_test.cpp:"});
    session_->limit_while(200);
    while_([&] { return sum(y) < 10'000; }, [&] { y = max(y, y(i - 1)); });
    expect_parts(user_error([&] { y.to_vector<int>(); }), {"while_: its condition still held"});
    EXPECT_EQ((i + 1).to_vector<int>()[39], 40);  // the device goes on
}

// --- arguments that are given away
// -----------------------------------------------------------------

/// Bytes in live buffers after many frames; the allocations of the device must have ended by the
/// second.
uint64_t bytes_of_frames(Session& session, bool give, std::vector<int>& values) {
    SessionScope scope(session);
    auto& pool = static_cast<VulkanExecutor&>(session.executor()).device().memory();
    auto step = compile(
        [](Tensor x, Tensor at) {
            scatter_add(x(at), 1);
            return x;
        },
        {i32("n"), i32("k")});
    const int n = 1 << 20;
    Tensor x = zeros({n}, i32) + 0, at = tensor({5, 5, 7});
    uint64_t allocations = 0, most = 0;
    for (int frame = 0; frame < 12; ++frame) {
        Tensor next = give ? step(std::move(x), at) : step(x, at);
        most = std::max(most, pool.use().used);
        x = next;
        if (frame == 1) allocations = pool.use().allocations;
    }
    EXPECT_EQ(pool.use().allocations, allocations);
    values = x.to_vector<int>();
    return most;
}

TEST_F(EffectsOnDevice, AStateThatIsGivenAwayIsWrittenInPlace) {
    std::vector<int> copied, moved;
    const uint64_t with_copies = bytes_of_frames(*session_, false, copied);
    const uint64_t in_place = bytes_of_frames(*session_, true, moved);
    EXPECT_EQ(moved, copied);
    EXPECT_EQ(moved[5], 24);
    EXPECT_LE(in_place + (4u << 20), with_copies);
}

}  // namespace
}  // namespace firn
