// Wrong use of the C interface gets a code and a text, and nothing is lost.
#include <dlfcn.h>

#include <thread>

#include "tests/c/fixture.h"

namespace firn {
namespace {

/// A context on a device of Firn's own, with the wave at 8 x 8.
class CErrors : public testing::Test {
  protected:
    void SetUp() override {
        firn_own own{};
        own.struct_size = sizeof own;
        own.validation = 1;
        own.log = [](void* messages, int32_t level, const char* text) {
            if (level == FIRN_LOG_WARNING)
                static_cast<std::vector<std::string>*>(messages)->push_back(text);
        };
        own.user = &messages_;
        char message[512];
        ASSERT_EQ(firn_context_create_own(&own, &context, message, sizeof message), FIRN_OK)
            << message;
        ASSERT_OK(context,
                  firn_program_load(context, files().wave.data(), files().wave.size(), &program));
        ASSERT_OK(context, firn_call_create(program, nullptr, 0, &call));
        for (firn_buffer*& buffer : buffers)
            ASSERT_OK(context, firn_buffer_create(context, 4096, &buffer));
    }
    void TearDown() override {
        for (firn_buffer* buffer : buffers) firn_buffer_release(buffer);
        firn_call_release(call);
        firn_program_release(program);
        EXPECT_OK(context, firn_context_destroy(context));
        EXPECT_TRUE(messages_.empty()) << messages_[0];
    }
    /// The text of an error of this kind.
    std::string refused(int32_t code, int32_t expected = FIRN_ERROR_ARGUMENT) {
        EXPECT_EQ(code, expected) << firn_message(context);
        return code == FIRN_OK ? "no error" : firn_message(context);
    }
    static bool says(const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    }
    int32_t bind(firn_binding u, firn_binding v, const firn_binding* results = nullptr,
                 const firn_binding* scratch = nullptr) {
        const firn_binding arguments[3] = {u, v, {}};
        return firn_call_bind(call, arguments, 3, results, 2, scratch);
    }

    std::vector<std::string> messages_;
    firn_context* context = nullptr;
    firn_program* program = nullptr;
    firn_call* call = nullptr;
    firn_buffer* buffers[4] = {};
};

#define EXPECT_SAYS(text, part) EXPECT_PRED2(says, text, part)

TEST_F(CErrors, TellWhatIsMissingOfAHost) {
    firn_host host{};
    host.struct_size = sizeof host;
    firn_context* other = nullptr;
    char message[512];
    EXPECT_EQ(firn_context_create(&host, &other, message, sizeof message), FIRN_ERROR_ARGUMENT);
    EXPECT_SAYS(message, "VkInstance");
    EXPECT_EQ(firn_context_create(nullptr, &other, message, sizeof message), FIRN_ERROR_ARGUMENT);
    host.struct_size = 0;
    EXPECT_EQ(firn_context_create(&host, &other, message, sizeof message), FIRN_ERROR_ARGUMENT);
    EXPECT_SAYS(message, "struct_size");
    EXPECT_EQ(other, nullptr);
}

TEST_F(CErrors, TellOfAVersionBelowTheLeast) {
    Host real;
    firn_host host = real.describe(true);
    host.api_version = VK_API_VERSION_1_1;
    firn_context* other = nullptr;
    char message[512];
    EXPECT_EQ(firn_context_create(&host, &other, message, sizeof message), FIRN_ERROR_ARGUMENT);
    EXPECT_SAYS(message, "1.2");
}

TEST_F(CErrors, TellOfAQueueFamilyThatDoesNotExist) {
    Host real;
    firn_host host = real.describe(true);
    host.queue_family = 9;
    firn_context* other = nullptr;
    char message[512];
    EXPECT_EQ(firn_context_create(&host, &other, message, sizeof message), FIRN_ERROR_ARGUMENT);
    EXPECT_SAYS(message, "queue family 9");
}

TEST_F(CErrors, RefuseMembersOfANewerHeader) {
    struct Newer {
        firn_own known;
        uint64_t later = 0;
    } newer{};
    newer.known.struct_size = sizeof newer;
    firn_context* other = nullptr;
    char message[512];
    newer.later = 1;
    EXPECT_EQ(firn_context_create_own(&newer.known, &other, message, sizeof message),
              FIRN_ERROR_ARGUMENT);
    EXPECT_SAYS(message, "newer");
}

TEST_F(CErrors, FillAnOlderStructAsFarAsItGoes) {
    firn_program_info info{};
    info.struct_size = 8;  // the size and the number of arguments
    info.result_count = 77;
    ASSERT_OK(context, firn_program_describe(program, &info));
    EXPECT_EQ(info.argument_count, 3u);
    EXPECT_EQ(info.result_count, 77u);
}

TEST_F(CErrors, RefuseEveryCutOfAFile) {
    const auto& file = files().counted;
    for (size_t bytes = 0; bytes < file.size(); bytes += 1 + file.size() / 300) {
        firn_program* cut = nullptr;
        ASSERT_EQ(firn_program_load(context, file.data(), bytes, &cut), FIRN_ERROR_FILE) << bytes;
    }
}

TEST_F(CErrors, RefuseOrLoadEveryFlippedByte) {
    std::vector<std::byte> file = files().counted;
    for (size_t at = 0; at < file.size(); at += 1 + file.size() / 300) {
        file[at] ^= std::byte{0x21};
        firn_program* flipped = nullptr;
        const int32_t code = firn_program_load(context, file.data(), file.size(), &flipped);
        ASSERT_TRUE(code == FIRN_OK || code == FIRN_ERROR_FILE) << at;
        firn_program_release(flipped);
        file[at] ^= std::byte{0x21};
    }
}

TEST_F(CErrors, TellOfADeviceWithoutWhatTheProgramNeeds) {
    Host real;  // no shaderFloat64
    Context on_host(real.describe(true));
    firn_program* doubles = nullptr;
    ASSERT_OK(on_host.context,
              firn_program_load(on_host, files().doubles.data(), files().doubles.size(), &doubles));
    firn_call* other = nullptr;
    EXPECT_EQ(firn_call_create(doubles, nullptr, 0, &other), FIRN_ERROR_UNSUPPORTED);
    EXPECT_SAYS(firn_message(on_host), "floats of 64 bits");
    firn_program_release(doubles);
}

TEST_F(CErrors, TellOfSizesThatContradictOneAnother) {
    const firn_shape shapes[3] = {shape_of({8, 8}), shape_of({8, 9}), firn_shape{}};
    firn_call* other = nullptr;
    EXPECT_SAYS(refused(firn_call_create(program, shapes, 3, &other)), "size 'm' is 8");
    EXPECT_SAYS(refused(firn_call_create(program, shapes, 2, &other)), "3 arguments");
    EXPECT_EQ(other, nullptr);
}

TEST_F(CErrors, TellOfMemoryThatIsTooSmallOrOutside) {
    EXPECT_SAYS(refused(bind({buffers[0], nullptr, 0, 64}, {buffers[1]})), "takes 4096 bytes");
    EXPECT_SAYS(refused(bind({buffers[0], nullptr, 1 << 20, 0}, {buffers[1]})), "ends behind them");
    EXPECT_SAYS(refused(bind({buffers[0], nullptr, 0, UINT64_MAX}, {buffers[1]})),
                "ends behind them");
    EXPECT_SAYS(refused(bind({nullptr}, {buffers[1]})), "no buffer");
}

TEST_F(CErrors, TellOfARangeBehindTheEndOfTheHostsBuffer) {
    firn_buffer_info own{};
    own.struct_size = sizeof own;
    ASSERT_OK(context, firn_buffer_describe(buffers[0], &own));
    // Half a buffer, as a host would give it that takes the size of another for it.
    firn_host_buffer from{sizeof from, own.usage, own.buffer, 2048};
    firn_buffer* half = nullptr;
    ASSERT_OK(context, firn_buffer_import(context, &from, &half));
    EXPECT_SAYS(refused(bind({half}, {buffers[1]})), "takes 4096 bytes");
    EXPECT_SAYS(refused(bind({half, nullptr, 4096, 0}, {buffers[1]})), "ends behind them");
    firn_buffer_release(half);
}

TEST_F(CErrors, TellOfARangeThatStartsBetweenTheStepsOfTheDevice) {
    firn_buffer* large = nullptr;
    ASSERT_OK(context, firn_buffer_create(context, 8192, &large));
    EXPECT_SAYS(refused(bind({large, nullptr, 4, 4096}, {buffers[1]})), "multiple of");
    firn_buffer_release(large);
}

TEST_F(CErrors, TellOfMemoryThatIsWrittenAndUsedTwice) {
    const firn_binding results[2] = {{buffers[0]}, {buffers[2]}};
    EXPECT_SAYS(refused(bind({buffers[0]}, {buffers[1]}, results)), "same memory");
}

TEST_F(CErrors, TellOfABufferOfAnotherContext) {
    firn_context* other = nullptr;
    ASSERT_EQ(firn_context_create_own(nullptr, &other, nullptr, 0), FIRN_OK);
    firn_buffer* foreign = nullptr;
    ASSERT_EQ(firn_buffer_create(other, 4096, &foreign), FIRN_OK);
    EXPECT_SAYS(refused(bind({foreign}, {buffers[1]})), "another context");
    firn_buffer_release(foreign);
    EXPECT_EQ(firn_context_destroy(other), FIRN_OK);
}

TEST_F(CErrors, KeepTheOldMemoryWhereNewOneIsRefused) {
    std::vector<float> u(32 * 32), v(32 * 32);
    u[100] = 1;
    ASSERT_OK(context, firn_buffer_write(buffers[0], 0, u.data(), 4096));
    ASSERT_OK(context, firn_buffer_write(buffers[1], 0, v.data(), 4096));
    ASSERT_OK(context, bind({buffers[0]}, {buffers[1]}));
    refused(bind({nullptr}, {buffers[1]}));
    ASSERT_OK(context, firn_submit(call, nullptr, nullptr));
    firn_buffer* result = nullptr;
    ASSERT_OK(context, firn_call_result(call, 0, &result));
    std::vector<float> got(32 * 32);
    ASSERT_OK(context, firn_buffer_read(result, 0, got.data(), 4096));
    wave_step(u, v, 32, 32, 0.1f);
    for (size_t k = 0; k < u.size(); ++k) ASSERT_NEAR(got[k], u[k], 1e-5);
    firn_buffer_release(result);
}

TEST_F(CErrors, AreNoneOfTimesThatWereAskedFor) {
    uint32_t count = 0;
    EXPECT_SAYS(refused(firn_times(call, nullptr, &count)), "FIRN_SUBMIT_TIMED");
    ASSERT_OK(context, bind({buffers[0]}, {buffers[1]}));
    firn_submit_info info{};
    info.struct_size = sizeof info;
    info.flags = FIRN_SUBMIT_TIMED;
    ASSERT_OK(context, firn_submit(call, &info, nullptr));
    firn_kernel_time rows[8];
    count = 8;
    ASSERT_OK(context, firn_times(call, rows, &count));
    ASSERT_GT(count, 0u);
    EXPECT_GT(rows[0].milliseconds, 0);
    EXPECT_GT(rows[0].dispatches, 0u);
    EXPECT_NE(std::string(rows[0].name), "");
}

TEST_F(CErrors, TellOfACallWithoutMemory) {
    EXPECT_SAYS(refused(firn_submit(call, nullptr, nullptr)), "firn_call_bind");
}

TEST_F(CErrors, TellOfNumbersThatDoNotFit) {
    firn_program* counted = nullptr;
    ASSERT_OK(context,
              firn_program_load(context, files().counted.data(), files().counted.size(), &counted));
    firn_call* count = nullptr;
    ASSERT_OK(context, firn_call_create(counted, nullptr, 0, &count));
    EXPECT_SAYS(refused(firn_call_set_number(count, 1, 2.5)), "i32");
    EXPECT_SAYS(refused(firn_call_set_integer(count, 1, int64_t{1} << 40)), "i32");
    EXPECT_SAYS(refused(firn_call_set_integer(count, 0, 1)), "tensor");
    EXPECT_SAYS(refused(firn_call_set_integer(count, 9, 1)), "no number 9");
    firn_call_release(count);
    firn_program_release(counted);
}

TEST_F(CErrors, TellThatSomethingIsStillUsed) {
    EXPECT_SAYS(refused(firn_context_destroy(context), FIRN_ERROR_IN_USE), "1 program 1 call");
}

TEST_F(CErrors, LetTheProgramGoBeforeItsCalls) {
    firn_program_release(program);
    program = nullptr;
    ASSERT_OK(context, bind({buffers[0]}, {buffers[1]}));
    EXPECT_OK(context, firn_submit(call, nullptr, nullptr));
}

TEST_F(CErrors, AreNoneForNull) {
    firn_program_release(nullptr);
    firn_call_release(nullptr);
    firn_buffer_release(nullptr);
    EXPECT_EQ(firn_context_destroy(nullptr), FIRN_OK);
    EXPECT_EQ(firn_record(nullptr, nullptr, nullptr), FIRN_ERROR_ARGUMENT);
    EXPECT_EQ(firn_collect(nullptr, 0), FIRN_ERROR_ARGUMENT);
}

TEST_F(CErrors, KeepASecondThreadOut) {
    // The log of an error runs inside the context: a call from there is a second one.
    firn_own own{};
    own.struct_size = sizeof own;
    struct Seen {
        firn_context* context = nullptr;
        int32_t code = FIRN_OK;
    } seen;
    own.log = [](void* user, int32_t, const char*) {
        auto& inside = *static_cast<Seen*>(user);
        std::thread([&] { inside.code = firn_collect(inside.context, 0); }).join();
    };
    own.user = &seen;
    ASSERT_EQ(firn_context_create_own(&own, &seen.context, nullptr, 0), FIRN_OK);
    firn_program* none = nullptr;
    EXPECT_EQ(firn_program_load(seen.context, "no program", 10, &none), FIRN_ERROR_FILE);
    EXPECT_EQ(seen.code, FIRN_ERROR_BUSY);
    EXPECT_EQ(firn_context_destroy(seen.context), FIRN_OK);
}

TEST_F(CErrors, RefuseRecordingALoopThatDataEnd) {
    firn_program* endless = nullptr;
    ASSERT_OK(context,
              firn_program_load(context, files().endless.data(), files().endless.size(), &endless));
    firn_call* grow = nullptr;
    ASSERT_OK(context, firn_call_create(endless, nullptr, 0, &grow));
    std::vector<float> ones(8, 1.0f);
    ASSERT_OK(context, firn_buffer_write(buffers[0], 0, ones.data(), 32));
    const firn_binding x{buffers[0]};
    ASSERT_OK(context, firn_call_bind(grow, &x, 1, nullptr, 0, nullptr));
    firn_record_info info{};
    info.struct_size = sizeof info;
    info.command_buffer = &info;
    EXPECT_SAYS(refused(firn_record(grow, &info, nullptr), FIRN_ERROR_UNSUPPORTED), "max_steps");
    // Submitted it runs.
    ASSERT_OK(context, firn_submit(grow, nullptr, nullptr));
    firn_buffer* result = nullptr;
    ASSERT_OK(context, firn_call_result(grow, 0, &result));
    ASSERT_OK(context, firn_buffer_read(result, 0, ones.data(), 32));
    EXPECT_EQ(ones, std::vector<float>(8, 128.0f));
    firn_buffer_release(result);
    firn_call_release(grow);
    firn_program_release(endless);
}

TEST_F(CErrors, FollowAnIntegerThatDecidesTheSteps) {
    firn_program* counted = nullptr;
    ASSERT_OK(context,
              firn_program_load(context, files().counted.data(), files().counted.size(), &counted));
    firn_call* count = nullptr;
    ASSERT_OK(context, firn_call_create(counted, nullptr, 0, &count));
    std::vector<float> ones(8, 1.0f);
    ASSERT_OK(context, firn_buffer_write(buffers[0], 0, ones.data(), 32));
    const firn_binding bindings[2] = {{buffers[0]}, {}};
    ASSERT_OK(context, firn_call_bind(count, bindings, 2, nullptr, 0, nullptr));
    for (const int trips : {2, 0, 5}) {
        ASSERT_OK(context, firn_call_set_integer(count, 1, trips));
        ASSERT_OK(context, firn_submit(count, nullptr, nullptr));
        firn_buffer* result = nullptr;
        ASSERT_OK(context, firn_call_result(count, 0, &result));
        std::vector<float> got(8);
        ASSERT_OK(context, firn_buffer_read(result, 0, got.data(), 32));
        EXPECT_EQ(got, std::vector<float>(8, static_cast<float>(1 << trips)));
        firn_buffer_release(result);
    }
    firn_call_release(count);
    firn_program_release(counted);
}

TEST_F(CErrors, AreToldInAChildOfFork) {
    EXPECT_EXIT(
        {
            const int32_t code = firn_collect(context, 0);
            _exit(code == FIRN_ERROR_ARGUMENT && says(firn_message(context), "which fork() made")
                      ? 0
                      : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace firn
