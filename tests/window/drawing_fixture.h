// Shapes from memory, drawn headless pixel by pixel on a device whose validation must stay silent.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_window.h"
#include "tests/gpu/device_fixture.h"

namespace firn {

using Pixel = std::array<int, 3>;
using Numbers = std::vector<float>;

const Pixel kBack = {14, 16, 20}, kRed = {255, 0, 0}, kGreen = {0, 255, 0},
            kWhite = {255, 255, 255};

inline Pixel pixel_of(const Picture& picture, int x, int y) {
    const auto at = 4 * static_cast<size_t>(y * picture.width + x);
    return {picture.rgba[at], picture.rgba[at + 1], picture.rgba[at + 2]};
}

inline BufferView in_memory(VulkanExecutor& executor, const Numbers& values,
                            std::vector<int64_t> shape) {
    auto memory = executor.allocate(values.size() * 4 + 4, "shapes");
    executor.write(*memory, 0, std::as_bytes(std::span(values)));
    return {memory, 0, f32, std::move(shape)};
}

class ShapesTest : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device) executor = std::make_shared<VulkanExecutor>(device);
    }
    void TearDown() override {
        executor.reset();
        DeviceTest::TearDown();
    }
    BufferView view(const Numbers& values, std::vector<int64_t> shape) {
        return in_memory(*executor, values, std::move(shape));
    }
    Picture drawn(const std::vector<DrawScene>& scenes, const WindowOptions& options,
                  const SceneGrid& grid = {}) {
        WindowOptions headless = options;
        headless.headless = true;
        ViewWindow window(executor, headless);
        EXPECT_TRUE(window.open());
        window.show_scenes(scenes, grid);
        return window.picture();
    }

    std::shared_ptr<VulkanExecutor> executor;
};

/// The pixels that are brighter than the background, from and to.
struct Box {
    int left = 1 << 20, top = 1 << 20, right = -1, bottom = -1, count = 0;
    int width() const { return right - left + 1; }
    int height() const { return bottom - top + 1; }
};
inline Box bright_box(const Picture& picture, const Rectangle& within) {
    Box box;
    for (int y = int(within.y); y < int(within.y + within.height); ++y)
        for (int x = int(within.x); x < int(within.x + within.width); ++x) {
            if (pixel_of(picture, x, y)[0] < 128) continue;
            box.left = std::min(box.left, x), box.right = std::max(box.right, x);
            box.top = std::min(box.top, y), box.bottom = std::max(box.bottom, y);
            ++box.count;
        }
    return box;
}
inline Box bright_box(const Picture& picture) {
    return bright_box(picture, {0, 0, float(picture.width), float(picture.height)});
}

}  // namespace firn
