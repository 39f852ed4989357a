// Pictures of the host beside those of the device: the same, within one step of 255.
#include "engine/window/host_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_window.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

class HostPictures : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device) executor_ = std::make_shared<VulkanExecutor>(device);
    }
    void TearDown() override {
        executor_.reset();
        DeviceTest::TearDown();
    }
    template <class T>
    BufferView view(const std::vector<T>& values, std::vector<int64_t> shape, DType dtype = f32) {
        auto memory = executor_->allocate(values.size() * sizeof(T) + 16, "view");
        executor_->write(*memory, 0, std::as_bytes(std::span(values)));
        return {memory, 0, dtype, std::move(shape)};
    }
    BufferView floats(int64_t height, int64_t width, int64_t channels = 1) {
        std::vector<float> values(static_cast<size_t>(height * width * channels));
        for (size_t k = 0; k < values.size(); ++k)
            values[k] = 0.6f + 0.7f * std::sin(0.37f * static_cast<float>(k * k));
        return view(values, {height, width, channels});
    }
    void expect_same(const DrawScene& scene, WindowSize size) {
        ViewWindow window(executor_, {.size = size, .headless = true});
        EXPECT_TRUE(window.open());
        window.show_scene(scene);
        const Picture expected = window.picture();
        Frame frame;
        frame.views.front().scene = scene;
        EXPECT_EQ(not_on_host(frame), "");
        const Picture got = host_picture(
            frame, {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)},
            [&](const BufferView& shown) { return window.read(shown); });
        ASSERT_EQ(got.rgba.size(), expected.rgba.size());
        size_t apart = 0;
        for (size_t k = 0; k < got.rgba.size(); ++k)
            apart += std::abs(int{got.rgba[k]} - int{expected.rgba[k]}) > 1;
        EXPECT_EQ(apart, 0u);
    }
    void expect_same(const BufferView& shown, const ShowOptions& options = {},
                     WindowSize size = {23, 17}) {
        DrawScene scene;
        scene.picture = shown;
        scene.options = options;
        expect_same(scene, size);
    }

    std::shared_ptr<VulkanExecutor> executor_;
};

TEST_F(HostPictures, HaveEveryMap) {
    const BufferView shown = floats(9, 12);
    for (int map = 0; map <= int(Colormap::Plasma); ++map) {
        SCOPED_TRACE(map);
        expect_same(shown, {.colormap = Colormap(map)});
        expect_same(shown, {.colormap = Colormap(map), .range = {0.25f, 1}});
    }
}
TEST_F(HostPictures, HaveEveryType) {
    expect_same(view<uint8_t>({10, 200, 30, 255, 0, 128}, {2, 1, 3}, u8));
    expect_same(view<uint16_t>({0, 65535, 51 * 257, 9}, {2, 2}, u16));
    expect_same(view<int32_t>({-1, 0, 1, 7}, {2, 2}, i32), {.colormap = Colormap::Turbo});
    expect_same(view<int8_t>({-1, 0, 1, 7}, {2, 2}, i8), {.colormap = Colormap::Turbo});
    expect_same(view<uint16_t>({0x3266, 0x3c00}, {1, 2}, f16));
    expect_same(view<uint16_t>({0x3e4c, 0x3f80}, {1, 2}, bf16));
    expect_same(view<uint32_t>({0, 1}, {1, 2}, boolean));
}
TEST_F(HostPictures, AreSampledAlike) {
    for (const WindowSize size : {WindowSize{40, 40}, {20, 30}, {19, 11}, {7, 9}, {4, 4}}) {
        SCOPED_TRACE(size.width);
        for (const bool smooth : {true, false}) {
            expect_same(floats(20, 30), {.smooth = smooth}, size);
            expect_same(floats(20, 30, 3), {.smooth = smooth}, size);
        }
    }
}
TEST_F(HostPictures, HideWhatIsBehindAlike) {
    expect_same(floats(8, 8, 4));
    DrawScene scene;
    scene.picture = floats(6, 8, 3);
    scene.overlay = floats(6, 8);
    scene.overlay_options = {.colormap = Colormap::Magma, .opacity = 0.4f};
    expect_same(scene, {32, 24});
}
TEST_F(HostPictures, ShowWhatIsNotFiniteAlike) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const std::vector<float> odd{NAN, kInf, -kInf, 0.5f, 0, 1};
    for (const bool smooth : {true, false}) {
        expect_same(view(odd, {2, 3}), {.colormap = Colormap::Viridis, .smooth = smooth});
        expect_same(view(odd, {1, 2, 3}), {.smooth = smooth});
    }
    expect_same(view<float>({NAN, NAN}, {1, 2}), {.colormap = Colormap::Viridis});
    expect_same(view<float>({3, 3}, {1, 2}), {.colormap = Colormap::Coolwarm});
    expect_same(view<float>({-3e38f, 3e38f}, {1, 2}), {.colormap = Colormap::Viridis});
}
TEST_F(HostPictures, SayWhatTheyDoNotHave) {
    Frame frame;
    DrawScene& scene = frame.views.front().scene;
    EXPECT_EQ(not_on_host(frame), "");
    scene.caption = "a";
    EXPECT_EQ(not_on_host(frame), "caption");
    scene.axes.emplace();
    EXPECT_EQ(not_on_host(frame), "axes");
    scene.options.colour_bar = true;
    EXPECT_EQ(not_on_host(frame), "colour bar");
    scene.layers.emplace_back();
    EXPECT_EQ(not_on_host(frame), "shapes");
}

}  // namespace
}  // namespace firn
