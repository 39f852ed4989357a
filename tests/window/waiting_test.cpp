// Windows while the device does not come to an end.
#include <thread>

#include "engine/gpu/commands.h"
#include "tests/gpu/device_fixture.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

/// Work that goes on until the host says so.
class EndlessWork {
  public:
    explicit EndlessWork(Device& device) : device_(device) {
        const VkEventCreateInfo info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
        device.check(device.vk().vkCreateEvent(device.handle(), &info, nullptr, &event_),
                     "vkCreateEvent", "endless work");
        submit_once(device, [&](VkCommandBuffer commands) {
            device.vk().vkCmdWaitEvents(commands, 1, &event_, VK_PIPELINE_STAGE_HOST_BIT,
                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0, nullptr,
                                        0, nullptr);
        });
    }
    ~EndlessWork() {
        end();
        device_.wait_until_idle();
        device_.vk().vkDestroyEvent(device_.handle(), event_, nullptr);
    }
    EndlessWork(const EndlessWork&) = delete;
    EndlessWork& operator=(const EndlessWork&) = delete;
    void end() { device_.vk().vkSetEvent(device_.handle(), event_); }

  private:
    Device& device_;
    VkEvent event_ = VK_NULL_HANDLE;
};

class Waiting : public RealWindow {
  protected:
    void SetUp() override {
        RealWindow::SetUp();
        if (!executor) return;
        // One of its own, which may be given up.
        DeviceOptions options;
        options.validation = true;
        options.surfaces = SurfaceSupport::Required;
        executor = std::make_shared<VulkanExecutor>(Device::create(options));
        auto memory = executor->allocate(16, "picture");
        picture = {memory, 0, f32, {2, 2}};
    }
    void TearDown() override {
        if (!executor) return;
        for (const std::string& message : executor->device().validation_messages())
            ADD_FAILURE() << message;
    }
    /// Returns whether a window has this in its title, now or soon.
    static bool has_title(const std::string& pattern) {
        const std::string look =
            "timeout 100 xdotool search --sync --name '" + pattern + "' > /dev/null 2>&1";
        return std::system(look.c_str()) == 0;
    }

    BufferView picture;
};

TEST_F(Waiting, TheTitleTellsHowLong) {
    ViewWindow window(executor, options("waiting"));
    for (int frames = 0; frames < 3; ++frames) window.open(), window.show(picture);
    EndlessWork work(executor->device());
    bool told = false;
    std::jthread other([&] {
        told = has_title("^waiting: the device has been busy for [1-9][0-9]* s$");
        work.end();
    });
    for (int frames = 0; frames < 3; ++frames) EXPECT_TRUE(window.open());
    other.join();
    EXPECT_TRUE(told);
    EXPECT_TRUE(has_title("^waiting$"));
}
TEST_F(Waiting, ClosingItEndsAWaitThatAnEditedKernelMayHaveMade) {
    ViewWindow window(executor, options("leaving"));
    for (int frames = 0; frames < 3; ++frames) window.open(), window.show(picture);
    executor->device().suspect("a kernel by hand");
    EndlessWork work(executor->device());
    by_hand("leaving", "windowfocus \\$id sleep 0.1 key Escape");
    const std::string said = message_of([&] {
        for (int frames = 0; frames < 3; ++frames) window.open();
    });
    EXPECT_NE(said.find("did not finish its work within"), std::string::npos) << said;
    EXPECT_NE(said.find("a kernel by hand"), std::string::npos) << said;
    EXPECT_TRUE(executor->device().is_given_up());
}
TEST_F(Waiting, ClosingItEndsNoOtherWait) {
    ViewWindow window(executor, options("staying"));
    for (int frames = 0; frames < 3; ++frames) window.open(), window.show(picture);
    EndlessWork work(executor->device());
    by_hand("staying", "windowfocus \\$id sleep 0.1 key Escape");
    std::jthread other([&] {
        EXPECT_TRUE(has_title("^staying: the device has been busy for ([7-9]|[1-9][0-9]+) s$"));
        work.end();
    });
    int frames = 0;
    while (window.open() && frames < 100) ++frames;
    other.join();
    EXPECT_LT(frames, 100);
    EXPECT_FALSE(executor->device().is_given_up());
}

}  // namespace
}  // namespace firn
