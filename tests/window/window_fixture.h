// Windows under a virtual display, on a device whose validation must stay silent.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_window.h"
#include "engine/window/widgets.h"
#include "tests/deadline.h"
#include "tests/window/display.h"

namespace firn {

class RealWindow : public testing::Test {
  protected:
    static void TearDownTestSuite() {
        shared().reset();
        display().reset();
    }
    void SetUp() override {
        if (std::system("command -v Xvfb xdotool import > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb, xdotool and imagemagick";
        if (!display()) display() = std::make_unique<VirtualDisplay>();
        ASSERT_TRUE(display()->works());
        if (!shared()) {
            DeviceOptions options;
            options.validation = true;
            options.surfaces = SurfaceSupport::IfAvailable;
            try {
                shared() = std::make_shared<VulkanExecutor>(Device::create(options));
            } catch (const DeviceError& error) {
                GTEST_SKIP() << "no device: " << error.what();
            }
        }
        executor = shared();
        // A gradient, so that every place looks different.
        std::vector<float> values(40 * 80);
        for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 80) / 79.0f;
        auto memory = executor->allocate(values.size() * 4, "gradient");
        executor->write(*memory, 0, std::as_bytes(std::span(values)));
        gradient = {memory, 0, f32, {40, 80}};
    }
    void TearDown() override {
        if (!executor) return;
        EXPECT_FALSE(hand_is_done() && holds_a_key()) << "the next window would get the key";
        executor->wait();
        for (const std::string& message : executor->device().validation_messages())
            ADD_FAILURE() << message;
    }

    static WindowOptions options(const std::string& title) {
        return {.title = title, .size = {640, 320}, .frames = 100000};
    }
    /// Frames until `done`, at most 20 seconds of Deadline.
    bool frames_until(ViewWindow& window, const std::function<bool()>& done) {
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();)
            window.show(gradient);
        return done();
    }
    /// Closes the window after so many seconds of Deadline, even while it waits.
    static void close_after(ViewWindow& window, double seconds) {
        window.close_when([deadline = Deadline(seconds)]() mutable { return deadline.is_over(); });
    }
    void settle(ViewWindow& window, int frames = 5) {
        int last = window.frame() + frames;
        frames_until(window, [&] { return window.frame() >= last; });
    }

    std::shared_ptr<VulkanExecutor> executor;
    BufferView gradient;

  private:
    static std::shared_ptr<VulkanExecutor>& shared() {
        static std::shared_ptr<VulkanExecutor> executor;
        return executor;
    }
    static std::unique_ptr<VirtualDisplay>& display() {
        static std::unique_ptr<VirtualDisplay> display;
        return display;
    }
};

/// Moves the mouse there, in pixels of the window.
inline std::string at(float x, float y) {
    return "mousemove --window \\$id " + std::to_string(std::lround(x)) + " " +
           std::to_string(std::lround(y)) + " ";
}

}  // namespace firn
