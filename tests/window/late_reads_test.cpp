// Tensors that reach the host after the frames: nothing waits for them, and none is lost.
#include "engine/window/late_reads.h"

#include <span>

#include "tests/window/drawing_fixture.h"

namespace firn {
namespace {

class Late : public ShapesTest {
  protected:
    void SetUp() override {
        ShapesTest::SetUp();
        if (!device) return;
        device->set_batch_limit(1000);  // nothing runs before it is requested
        reads = std::make_unique<LateReads>(device);
    }
    void TearDown() override {
        reads.reset();
        if (device) device->set_batch_limit(1);
        ShapesTest::TearDown();
    }
    template <class T>
    BufferView view_of(DType dtype, const std::vector<T>& values, std::vector<int64_t> shape) {
        auto memory = executor->allocate(64, "values");
        executor->write(*memory, 0, std::as_bytes(std::span(values)));
        return {memory, 0, dtype, std::move(shape)};
    }
    void ask(const std::vector<BufferView>& views) {
        reads->ask(views, [this](const LateReads::Values& values) { taken.push_back(values); });
    }

    std::unique_ptr<LateReads> reads;
    std::vector<LateReads::Values> taken;
};

TEST_F(Late, NobodyWaitsForThem) {
    const BufferView x = view({1, 2, 3}, {3});
    for (int k = 0; k < 40; ++k) {  // more than a pool of commands keeps in flight
        const TimelinePoint before = device->last_submitted();
        ask({x});
        reads->hand_on();
        EXPECT_EQ(device->last_submitted(), k == 0 ? before + 1 : before);
    }
    EXPECT_TRUE(taken.empty());
    device->flush();
    device->wait_idle();
    reads->hand_on();
    EXPECT_EQ(taken.size(), 40u);
}
TEST_F(Late, TheyHaveTheValuesOfWhenTheyWereAskedFor) {
    const BufferView x = view({1, 2, 3}, {3});
    ask({x});
    const Numbers other{7};
    executor->write(*x.memory, 4, std::as_bytes(std::span(other)));
    ask({x});
    reads->finish();
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0], (LateReads::Values{{1, 2, 3}}));
    EXPECT_EQ(taken[1], (LateReads::Values{{1, 7, 3}}));
}
TEST_F(Late, SeveralOfAllTypesComeTogether) {
    BufferView integers = view_of<int32_t>(i32, {-4, 1 << 20, 9}, {2});
    integers.offset = 4;
    BufferView bytes = view_of<uint8_t>(u8, {0, 7, 255, 1}, {3});
    bytes.offset = 1;
    ask({view({0.5f}, {}), integers, bytes, {nullptr, 0, f32, {0}}});
    reads->finish();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0], (LateReads::Values{{0.5f}, {1 << 20, 9}, {7, 255, 1}, {}}));
}
TEST_F(Late, OneThatAsksForAnotherGetsIt) {
    const BufferView x = view({5}, {});
    reads->ask({x}, [&](const LateReads::Values&) { ask({x}); });
    reads->finish();
    EXPECT_EQ(taken, (std::vector<LateReads::Values>{{{5}}}));
}
TEST_F(Late, AnotherDevicesMemoryIsRefused) {
    VulkanExecutor other(Device::create(options()));
    EXPECT_NE(message_of([&] { ask({in_memory(other, {1}, {})}); }).find("another device"),
              std::string::npos);
    reads->finish();
    EXPECT_TRUE(taken.empty());
}
TEST_F(Late, AWindowsLoopEndsWithAllOfThem) {
    ViewWindow window(executor, {.headless = true, .frames = 30});
    int frames = 0, read = 0;
    while (window.open()) {
        const float frame = float(++frames);
        window.read_later({view({frame}, {})}, [&](const LateReads::Values& values) {
            EXPECT_EQ(values[0][0], float(++read));
        });
        if (frames == 20) {
            window.finish_reads();
            EXPECT_EQ(read, 20);
        }
    }
    EXPECT_EQ(frames, 30);
    EXPECT_EQ(read, 30);
}

}  // namespace
}  // namespace firn
