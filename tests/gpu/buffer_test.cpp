// Device memory: reuse, accounting, copies and their errors.
#include <thread>

#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

std::vector<std::byte> pattern(size_t bytes, int seed) {
    std::vector<std::byte> data(bytes);
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + seed);
    return data;
}

std::vector<std::byte> read_all(const Buffer& buffer, size_t bytes) {
    std::vector<std::byte> data(bytes);
    read_buffer(buffer, 0, data);
    return data;
}

using BufferTest = DeviceTest;

TEST_F(BufferTest, GivesBackWhatWasWritten) {
    auto buffer = create_buffer(device, 1000, "data");
    write_buffer(*buffer, 0, pattern(1000, 1));
    EXPECT_EQ(read_all(*buffer, 1000), pattern(1000, 1));
}

TEST_F(BufferTest, UnmappedMemoryIsCopiedInPieces) {
    DeviceOptions unmapped = options();
    unmapped.map_memory = false;
    auto other = Device::create(unmapped);
    size_t bytes = (70 << 20) + 3;  // five pieces
    auto buffer = create_buffer(other, bytes, "data");
    write_buffer(*buffer, 0, pattern(bytes, 1));
    EXPECT_TRUE(read_all(*buffer, bytes) == pattern(bytes, 1));
    EXPECT_TRUE(other->validation_messages().empty());
}

TEST_F(BufferTest, AnEmptyBufferHasARange) {
    EXPECT_GT(create_buffer(device, 0, "empty")->range().bytes, 0u);
}

TEST_F(BufferTest, SmallBuffersShareABlockAndDoNotOverlap) {
    auto a = create_buffer(device, 100, "a"), b = create_buffer(device, 100, "b");
    ASSERT_EQ(a->range().buffer, b->range().buffer);
    EXPECT_TRUE(a->range().offset + 100 <= b->range().offset ||
                b->range().offset + 100 <= a->range().offset);
}

TEST_F(BufferTest, FreedMemoryIsUsedAgain) {
    create_buffer(device, 5 << 20, "warm up").reset();
    uint64_t allocations = device->memory().use().allocations;
    for (int i = 0; i < 100; ++i) create_buffer(device, 5 << 20, "again");
    EXPECT_EQ(device->memory().use().allocations, allocations);
}

TEST_F(BufferTest, MemoryIsFilledWhereThatIsAskedFor) {
    DeviceOptions filling = options();
    filling.fill_memory = true;
    auto other = Device::create(filling);
    for (int time = 0; time < 2; ++time) {  // new memory, and reused memory
        auto buffer = create_buffer(other, 400, "filled");
        std::vector<uint32_t> words(100);
        read_buffer(*buffer, 0, std::as_writable_bytes(std::span(words)));
        EXPECT_EQ(words, std::vector<uint32_t>(100, kFilledWord));
        write_buffer(*buffer, 0, pattern(400, 1));
    }
}

TEST_F(BufferTest, FragmentsMergeAgain) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (int i = 0; i < 64; ++i) buffers.push_back(create_buffer(device, 100 << 10, "part"));
    uint64_t allocations = device->memory().use().allocations;
    buffers.clear();
    for (int i = 0; i < 6; ++i) buffers.push_back(create_buffer(device, 1000 << 10, "whole"));
    EXPECT_EQ(device->memory().use().allocations, allocations);
}

TEST_F(BufferTest, UsedBytesAreCounted) {
    uint64_t before = device->memory().use().used;
    auto buffer = create_buffer(device, 1 << 20, "counted");
    EXPECT_EQ(device->memory().use().used, before + (1 << 20));
}

TEST_F(BufferTest, TrimGivesMemoryBack) {
    create_buffer(device, 9 << 20, "gone").reset();
    uint64_t held = device->memory().use().held;
    device->memory().trim();
    EXPECT_LE(device->memory().use().held, held - (9 << 20));
}

/// A window that is drawn to ever new sizes leaves none of its pictures behind.
TEST_F(BufferTest, SizesThatDoNotComeAgainAreGivenBack) {
    device->memory().trim();
    const uint64_t before = device->memory().use().held;
    uint64_t most = 0;
    for (uint64_t size = 0; size < 100; ++size)
        for (int frame = 0; frame < 30; ++frame) {
            create_buffer(device, (1 << 20) + size * (256 << 10), "picture");
            create_buffer(device, 1 << 10, "small");
            most = std::max(most, device->memory().use().held - before);
        }
    const uint64_t last = (1ull << 20) + 100 * (256ull << 10);
    EXPECT_LT(most, 8 * last) << "not as much as the pool may keep of blocks that come again";
}

/// Alternating sizes keep theirs.
TEST_F(BufferTest, SizesThatTakeIterationsAreKept) {
    const auto frames = [&] {
        for (uint64_t size = 0; size < 3; ++size)
            for (int frame = 0; frame < 40; ++frame)
                create_buffer(device, (3 << 20) << size, "picture");
    };
    frames();
    const uint64_t allocations = device->memory().use().allocations;
    for (int iteration = 0; iteration < 4; ++iteration) frames();
    EXPECT_EQ(device->memory().use().allocations, allocations);
}

TEST_F(BufferTest, OutOfMemorySaysWhatWasAskedHeldAndFree) {
    auto kept = create_buffer(device, 2 << 20, "kept");
    std::string message = message_of([&] { create_buffer(device, 1ull << 45, "huge"); });
    EXPECT_NE(message.find("33554432.0 MiB were asked for 'huge'"), std::string::npos) << message;
    EXPECT_NE(message.find("are used"), std::string::npos) << message;
    EXPECT_NE(message.find("are free on"), std::string::npos) << message;
}

TEST_F(BufferTest, ManyAllocationsTogetherRunOutOfMemoryToo) {
    if (device->info().type != VK_PHYSICAL_DEVICE_TYPE_CPU)
        GTEST_SKIP() << "only a CPU driver takes no pages until they are touched";
    std::vector<std::shared_ptr<Buffer>> buffers;
    auto fill = [&] {
        for (int i = 0; i < 4096; ++i)  // 4 TiB
            buffers.push_back(create_buffer(device, 1ull << 30, "part"));
    };
    EXPECT_THROW(fill(), DeviceError);
    buffers.clear();
    device->memory().trim();
}

TEST_F(BufferTest, OutOfMemoryIsADeviceErrorAndLeavesTheRestUsable) {
    auto kept = create_buffer(device, 64, "kept");
    EXPECT_THROW(create_buffer(device, 1ull << 45, "huge"), DeviceError);
    write_buffer(*kept, 0, pattern(64, 3));
    EXPECT_EQ(read_all(*kept, 64), pattern(64, 3));
}

TEST_F(BufferTest, WritingBesideABufferIsAUserError) {
    auto buffer = create_buffer(device, 64, "small");
    EXPECT_THROW(write_buffer(*buffer, 32, pattern(64, 0)), UserError);
    EXPECT_THROW(write_buffer(*buffer, UINT64_MAX - 8, pattern(16, 0)), UserError);
}

TEST_F(BufferTest, AWriteWaitsForTheReadsBeforeIt) {
    auto source = create_buffer(device, 4 << 20, "source"),
         copy = create_buffer(device, 4 << 20, "copy");
    write_buffer(*source, 0, pattern(4 << 20, 1));
    TimelinePoint point = submit_once(*device, [&](VkCommandBuffer commands) {
        VkBufferCopy region{source->range().offset, copy->range().offset, 4 << 20};
        device->vk().vkCmdCopyBuffer(commands, source->range().buffer, copy->range().buffer, 1,
                                     &region);
    });
    source->used_at(point, false);
    copy->used_at(point, true);
    write_buffer(*source, 0, pattern(4 << 20, 2));
    write_buffer(*source, 0, pattern(64, 5));
    EXPECT_EQ(read_all(*copy, 4 << 20), pattern(4 << 20, 1));
}

TEST_F(BufferTest, ASmallWriteToABusyBufferIsOrdered) {
    auto source = create_buffer(device, 256, "source"), copy = create_buffer(device, 256, "copy");
    for (int i = 0; i < 50; ++i) {
        write_buffer(*source, 0, pattern(256, i));
        TimelinePoint point = submit_once(*device, [&](VkCommandBuffer commands) {
            VkBufferCopy region{source->range().offset, copy->range().offset, 256};
            device->vk().vkCmdCopyBuffer(commands, source->range().buffer, copy->range().buffer, 1,
                                         &region);
        });
        source->used_at(point, false);
        copy->used_at(point, true);
    }
    EXPECT_EQ(read_all(*copy, 256), pattern(256, 49));
}

TEST_F(BufferTest, TexelFormatsFollowTheType) {
    EXPECT_EQ(texel_format(f32, 1), VK_FORMAT_R32_SFLOAT);
    EXPECT_EQ(texel_format(f32, 4), VK_FORMAT_R32G32B32A32_SFLOAT);
    EXPECT_EQ(texel_format(i32, 4), VK_FORMAT_R32G32B32A32_SINT);
    EXPECT_EQ(texel_format(boolean, 1), VK_FORMAT_R32_UINT);
    EXPECT_THROW(texel_format(f64, 1), InternalError);
}

TEST_F(BufferTest, ATexelViewBeyondTheLimitIsAUserError) {
    BufferRange range{VK_NULL_HANDLE, 0, (device->limits().maxTexelBufferElements + 4ull) * 4};
    std::string message = message_of([&] { create_texel_view(*device, range, f32, 1, "large"); });
    EXPECT_NE(message.find("'large' has " + std::to_string(range.bytes / 4) + " texels"),
              std::string::npos)
        << message;
}

TEST_F(BufferTest, ThreadsMakeAndDropBuffersAtOnce) {
    uint64_t used = device->memory().use().used;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; i < 200; ++i)
                create_buffer(device, 1000 * (i + static_cast<uint64_t>(t)), "shared");
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(device->memory().use().used, used);
}

TEST_F(BufferTest, ACommandPoolReusesWhatIsDone) {
    CommandPool pool(*device, "test");
    VkCommandBuffer first = pool.take().handle;
    EXPECT_EQ(pool.take().handle, first);
}

}  // namespace
}  // namespace firn
