// A saved program in the frames of a host: its device, its command buffers, its buffers.
#include <cmath>

#include "tests/c/fixture.h"
#include "tests/runtime/allocation_count.h"

namespace firn {
namespace {

/// The wave on a host: two states in buffers of the host, between which frames alternate.
class Wave {
  public:
    Wave(Host& host, firn_context* context, int n, int m, VkBufferUsageFlags usage)
        : host_(host), context_(context), n(n), m(m) {
        EXPECT_OK(context,
                  firn_program_load(context, files().wave.data(), files().wave.size(), &program_));
        const firn_shape shapes[3] = {shape_of({n, m}), shape_of({n, m}), firn_shape{}};
        for (int k = 0; k < 4; ++k) {
            memory[k] = host.buffer(static_cast<uint64_t>((n * m * 4 + 15) / 16 * 16), usage);
            firn_host_buffer from{sizeof from, usage, reinterpret_cast<uint64_t>(memory[k].buffer),
                                  memory[k].bytes};
            EXPECT_OK(context, firn_buffer_import(context, &from, &buffers[k]));
        }
        for (int way = 0; way < 2; ++way)
            EXPECT_OK(context, firn_call_create(program_, shapes, 3, &calls[way]));
        u.assign(static_cast<size_t>(n * m), 0);
        v = u;
        u[u.size() / 2] = 1;
        std::copy(u.begin(), u.end(), memory[0].floats);
        std::copy(v.begin(), v.end(), memory[1].floats);
    }
    ~Wave() {
        for (firn_call* call : calls) firn_call_release(call);
        for (firn_buffer* buffer : buffers) firn_buffer_release(buffer);
        firn_program_release(program_);
        EXPECT_EQ(firn_collect(context_, UINT64_MAX), is_lost_ ? FIRN_ERROR_DEVICE_LOST : FIRN_OK);
        for (Host::Memory& each : memory) host_.free(each);
    }
    int32_t bind(int way) {
        const int from = way == 0 ? 0 : 2, to = 2 - from;
        const firn_binding arguments[3] = {{buffers[from]}, {buffers[from + 1]}, {}};
        const firn_binding results[2] = {{buffers[to]}, {buffers[to + 1]}};
        return firn_call_bind(calls[way], arguments, 3, results, 2, nullptr);
    }
    /// Compares the state after `frames` frames.
    void check(int frames, float dt) {
        for (int k = 0; k < frames; ++k) wave_step(u, v, n, m, dt);
        const float* got = memory[frames % 2 == 0 ? 0 : 2].floats;
        for (size_t k = 0; k < u.size(); ++k) ASSERT_NEAR(got[k], u[k], 1e-5) << "at " << k;
    }

    /// The device was lost, as its end then says.
    void expect_lost() { is_lost_ = true; }

  private:
    bool is_lost_ = false;
    Host& host_;
    firn_context* context_;
    firn_program* program_ = nullptr;

  public:
    int n, m;
    Host::Memory memory[4];
    firn_buffer* buffers[4] = {};
    firn_call* calls[2] = {};
    std::vector<float> u, v;
};

firn_record_info frame_info(VkCommandBuffer commands, uint64_t frame) {
    firn_record_info info{};
    info.struct_size = sizeof info;
    info.flags = FIRN_RECORD_BARRIERS;
    info.command_buffer = commands;
    info.frame = frame;
    return info;
}

TEST(CFrames, RunOnADeviceThatWasMadeWithoutAnyFeature) {
    Host host;
    Context context(host.describe(false));
    {
        Wave wave(host, context, 37, 21, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        // The form for this very driver reads through texel views, which these buffers do not have.
        EXPECT_EQ(wave.bind(0), FIRN_ERROR_ARGUMENT);
        EXPECT_NE(std::string(firn_message(context)).find("STORAGE_TEXEL_BUFFER"),
                  std::string::npos)
            << firn_message(context);
    }
    firn_host host_info = host.describe(false);
    host_info.flags = FIRN_HOST_STORAGE_BUFFERS_ONLY;
    Context plain(host_info);
    Wave wave(host, plain, 37, 21, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    for (int way = 0; way < 2; ++way) ASSERT_OK(plain.context, wave.bind(way));
    constexpr int kFrames = 5;
    for (int frame = 0; frame < kFrames; ++frame) {
        const firn_record_info info = frame_info(host.begin(), static_cast<uint64_t>(frame + 1));
        ASSERT_OK(plain.context, firn_record(wave.calls[frame % 2], &info, nullptr));
        host.run();
        ASSERT_OK(plain.context, firn_collect(plain, static_cast<uint64_t>(frame + 1)));
    }
    wave.check(kFrames, 0.1f);
}

TEST(CFrames, SubmitAndWaitForNothingFromTheFirstToTheLast) {
    Host host;
    {
        Context context(host.describe(false));
        Wave wave(host, context, 16, 16,
                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
        ASSERT_OK(context.context, wave.bind(0));
        const firn_record_info info = frame_info(host.begin(), 1);
        ASSERT_OK(context.context, firn_record(wave.calls[0], &info, nullptr));
        host.run();
        wave.check(1, 0.1f);
    }
    EXPECT_EQ(host_counts().submits, 0);
    EXPECT_EQ(host_counts().waits, 0);
    EXPECT_EQ(host_counts().device_waits, 0);
    EXPECT_EQ(host_counts().made, host_counts().destroyed);
    EXPECT_GT(host_counts().made, 0);
}

TEST(CFrames, RecordAllocatesNothing) {
    Host host(nullptr, {}, false);
    firn_host info = host.describe(false);
    info.allocator = counting_allocator();
    Context context(info);
    Wave wave(host, context, 16, 16,
              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    ASSERT_OK(context.context, wave.bind(0));
    EXPECT_GT(host_counts().allocations, 0);
    for (int frame = 1; frame <= 3; ++frame) {
        firn_record_info frame_of = frame_info(host.begin(), static_cast<uint64_t>(frame));
        ASSERT_OK(context.context, firn_call_set_number(wave.calls[0], 2, 0.01 * frame));
        const int by_host = host_counts().allocations, before = allocation_count();
        const int32_t code = firn_record(wave.calls[0], &frame_of, nullptr);
        const int after = allocation_count();
        EXPECT_OK(context.context, code);
        EXPECT_EQ(after, before);
        EXPECT_EQ(host_counts().allocations, by_host);
        host.run();
    }
}

TEST(CFrames, TakeNumbersAndParametersFromTheNextRecordOn) {
    Host host;
    Context context(host.describe(false));
    Wave wave(host, context, 12, 20,
              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    ASSERT_OK(context.context, wave.bind(0));
    const double dt = 0.25;
    ASSERT_OK(context.context, firn_call_set_parameter(wave.calls[0], 0, &dt, 1));
    const firn_record_info info = frame_info(host.begin(), 1);
    ASSERT_OK(context.context, firn_record(wave.calls[0], &info, nullptr));
    host.run();
    wave.check(1, 0.25f);
    const double beyond = 0.75;
    EXPECT_EQ(firn_call_set_parameter(wave.calls[0], 0, &beyond, 1), FIRN_ERROR_ARGUMENT);
    EXPECT_NE(std::string(firn_message(context)).find("cannot be 0.75; it is from 0 to 0.5"),
              std::string::npos)
        << firn_message(context);
}

TEST(CFrames, MayBeBoundAnewWhileOlderFramesAreUnderWay) {
    Host host;
    Context context(host.describe(false));
    Wave wave(host, context, 12, 20,
              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    ASSERT_OK(context.context, wave.bind(0));
    const firn_record_info info = frame_info(host.begin(), 7);
    ASSERT_OK(context.context, firn_record(wave.calls[0], &info, nullptr));
    // What was recorded keeps its descriptor sets until frame 7 is said to be complete.
    ASSERT_OK(context.context, wave.bind(0));
    ASSERT_OK(context.context, firn_collect(context, 6));
    const firn_record_info earlier =
        frame_info(static_cast<VkCommandBuffer>(info.command_buffer), 6);
    EXPECT_EQ(firn_record(wave.calls[0], &earlier, nullptr), FIRN_ERROR_ARGUMENT);
    host.run();
    wave.check(1, 0.1f);
    ASSERT_OK(context.context, firn_collect(context, 7));
}

/// The place of new memory of 4096 bytes, which is released again.
std::pair<uint64_t, uint64_t> place_of_new_memory(firn_context* context) {
    firn_buffer* buffer = nullptr;
    EXPECT_OK(context, firn_buffer_create(context, 4096, &buffer));
    firn_buffer_info info{};
    info.struct_size = sizeof info;
    EXPECT_OK(context, firn_buffer_describe(buffer, &info));
    firn_buffer_release(buffer);
    return {info.buffer, info.offset};
}

TEST(CFrames, KeepWhatWasReleasedUntilTheirFrameIsComplete) {
    Host host;
    Context context(host.describe(false));
    firn_program* program = nullptr;
    ASSERT_OK(context.context,
              firn_program_load(context, files().wave.data(), files().wave.size(), &program));
    firn_call* call = nullptr;
    ASSERT_OK(context.context, firn_call_create(program, nullptr, 0, &call));
    firn_buffer* buffers[2];
    const std::vector<float> zeros(32 * 32);
    for (firn_buffer*& buffer : buffers) {
        ASSERT_OK(context.context, firn_buffer_create(context, 4096, &buffer));
        ASSERT_OK(context.context, firn_buffer_write(buffer, 0, zeros.data(), 4096));
    }
    firn_buffer_info used{};
    used.struct_size = sizeof used;
    ASSERT_OK(context.context, firn_buffer_describe(buffers[0], &used));
    const firn_binding arguments[3] = {{buffers[0]}, {buffers[1]}, {}};
    ASSERT_OK(context.context, firn_call_bind(call, arguments, 3, nullptr, 0, nullptr));
    const firn_record_info info = frame_info(host.begin(), 1);
    ASSERT_OK(context.context, firn_record(call, &info, nullptr));
    firn_call_release(call);
    firn_program_release(program);
    for (firn_buffer* buffer : buffers) firn_buffer_release(buffer);
    // New memory is none that the frame uses, until the frame is complete.
    const std::pair place(used.buffer, used.offset);
    EXPECT_NE(place_of_new_memory(context), place);
    host.run();
    EXPECT_NE(place_of_new_memory(context), place);
    ASSERT_OK(context.context, firn_collect(context, 1));
    EXPECT_EQ(place_of_new_memory(context), place);
}

TEST(CFrames, SayThatTheDeviceIsLostFromThenOn) {
    Host host;
    {
        Context context(host.describe(true));
        Wave wave(host, context, 12, 20,
                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
        ASSERT_OK(context.context, wave.bind(0));
        ASSERT_OK(context.context, firn_submit(wave.calls[0], nullptr, nullptr));
        ASSERT_OK(context.context, firn_wait(context, 0));
        EXPECT_EQ(firn_status(context), FIRN_OK);
        host_counts().is_lost = true;
        for (int time = 0; time < 2; ++time)
            EXPECT_EQ(firn_submit(wave.calls[0], nullptr, nullptr), FIRN_ERROR_DEVICE_LOST);
        EXPECT_EQ(firn_status(context), FIRN_ERROR_DEVICE_LOST);
        EXPECT_NE(std::string(firn_message(context)).find("is lost"), std::string::npos)
            << firn_message(context);
        wave.expect_lost();
    }
    host_counts().is_lost = false;
}

TEST(CFrames, UseTheQueueUnderTheHostsLockAlone) {
    VkPhysicalDeviceVulkan12Features with{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    with.timelineSemaphore = VK_TRUE;
    for (const void* features :
         {static_cast<const void*>(nullptr), static_cast<const void*>(&with)}) {
        Host host(features);
        {
            Context context(host.describe(true));
            EXPECT_EQ(host_counts().submits, 0);  // no probe was allowed
            Wave wave(
                host, context, 12, 20,
                VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
            for (int way = 0; way < 2; ++way) ASSERT_OK(context.context, wave.bind(way));
            uint64_t point = 0;
            for (int frame = 0; frame < 4; ++frame)
                ASSERT_OK(context.context, firn_submit(wave.calls[frame % 2], nullptr, &point));
            ASSERT_OK(context.context, firn_wait(context, point));
            wave.check(4, 0.1f);
        }
        EXPECT_GE(host_counts().submits, 4);
        EXPECT_EQ(host_counts().unlocked_submits, 0);
        EXPECT_EQ(host_counts().device_waits, 0);
    }
}

}  // namespace
}  // namespace firn
