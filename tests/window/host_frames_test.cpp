// Windows of programs that run on the host: another device draws their frames, when it is needed.
#include <gtest/gtest.h>

#include "compiler/host/host_executor.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_window.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

/// Memory of the host; counts how often it is given away.
class CountingHost : public HostExecutor {
  public:
    CountingHost() : HostExecutor(cpu_profile(), {.called = "a test"}) {}
    const std::byte* mapped(const Memory& memory) override {
        ++mapped_;
        return HostExecutor::mapped(memory);
    }
    void dispatch(const HostDispatch&) override {}
    int mapped_ = 0;
};

class HostFrames : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device) drawer_ = std::make_shared<VulkanExecutor>(device);
    }
    void TearDown() override {
        drawer_.reset();
        DeviceTest::TearDown();
    }
    BufferView view(const std::vector<float>& values, std::vector<int64_t> shape) {
        auto memory = host_->allocate(values.size() * sizeof(float), "view");
        host_->write(*memory, 0, std::as_bytes(std::span(values)));
        return {memory, 0, f32, std::move(shape)};
    }
    /// A window of two by one pixels.
    std::unique_ptr<ViewWindow> window() {
        const auto open = [this]() -> SharedPtr<VulkanExecutor> {
            ++opened_;
            if (!drawer_) throw DeviceError("no driver was found");
            return drawer_;
        };
        auto made = std::make_unique<ViewWindow>(host_, open,
                                                 WindowOptions{.size = {2, 1}, .headless = true});
        EXPECT_TRUE(made->open());
        return made;
    }

    std::shared_ptr<CountingHost> host_ = std::make_shared<CountingHost>();
    std::shared_ptr<VulkanExecutor> drawer_;
    int opened_ = 0;
};

TEST_F(HostFrames, AreDrawnByTheHost) {
    const auto made = window();
    for (int frame = 0; frame < 3; ++frame) {
        made->show(view({1, 0.2f}, {1, 2}));
        EXPECT_TRUE(made->open());
    }
    const Picture picture = made->picture();
    EXPECT_EQ(picture.rgba[0], 255);
    EXPECT_EQ(picture.rgba[4], 51);
    EXPECT_EQ(opened_, 0);
    EXPECT_FALSE(made->has_executor());
}
TEST_F(HostFrames, AreBroughtToADeviceOnceWhereTheyHaveMore) {
    const auto made = window();
    const BufferView shown = view({1, 0.2f}, {1, 2});
    DrawScene scene;
    scene.picture = scene.overlay = shown;
    scene.caption = "a";
    made->show_scene(scene);
    made->picture();
    made->picture();
    EXPECT_EQ(opened_, 1);
    EXPECT_EQ(host_->mapped_, 1);
    EXPECT_EQ(made->shown().memory.get(), shown.memory.get());
    scene.picture = view({0.2f, 1}, {1, 2});
    made->show_scene(scene);
    made->picture();
    EXPECT_EQ(host_->mapped_, 2);
}
TEST_F(HostFrames, WithMoreAreAnErrorWithoutADriver) {
    drawer_.reset();
    const auto made = window();
    made->show(view({1, 0.2f}, {1, 2}), {.colormap = Colormap::Viridis, .colour_bar = true});
    EXPECT_EQ(message_of([&] { made->picture(); }),
              "no driver was found; pictures without one have no colour bar");
}
TEST_F(HostFrames, GiveTheirNumbersWithoutADevice) {
    const auto made = window();
    std::vector<float> read;
    made->read_later({view({3, 4}, {2})},
                     [&](const std::vector<std::vector<float>>& values) { read = values.front(); });
    EXPECT_TRUE(read.empty());
    EXPECT_TRUE(made->open());
    EXPECT_EQ(read, (std::vector<float>{3, 4}));
    made->show(view({5, 6}, {1, 2}));
    EXPECT_EQ(made->read(made->shown()).size(), 8u);
    EXPECT_EQ(opened_, 0);
}

}  // namespace
}  // namespace firn
