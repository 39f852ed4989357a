// The images of a window's surface, acquired and presented in turn.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/window/device_image.h"
#include "engine/window/os_window.h"

namespace firn {

/// Owns the surface and its swapchain. Must end before the OsWindow.
class Swapchain {
  public:
    /// Throws DeviceError if the device cannot present to the window. Without `vsync`, images are
    /// presented at once if the surface supports that.
    Swapchain(std::shared_ptr<Device> device, const OsWindow& window, bool vsync);
    ~Swapchain();
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;

    /// The format is UNORM: frames already have the values that the screen shows.
    VkFormat format() const { return format_.format; }
    VkExtent2D extent() const { return extent_; }

    /// Returns an image to draw to; `acquired` is signalled when it is free. Returns nothing while
    /// the window has no pixels or is being resized: try again after the next poll. `pass` is used
    /// to make framebuffers.
    std::optional<uint32_t> acquire(const OsWindow& window, VkRenderPass pass,
                                    VkSemaphore acquired);
    VkFramebuffer framebuffer(uint32_t image) const { return images_[image].framebuffer; }
    /// Returns the semaphore that the submission which draws the image must signal.
    VkSemaphore rendered(uint32_t image) const { return images_[image].rendered; }
    /// Presents the image. If this throws, the image waits to be presented again.
    void present(uint32_t image);

  private:
    // So that the destructor runs when the constructor throws midway.
    explicit Swapchain(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    struct Image {
        VkImage image = VK_NULL_HANDLE;
        VkImageView view = VK_NULL_HANDLE;
        VkFramebuffer framebuffer = VK_NULL_HANDLE;
        VkSemaphore rendered = VK_NULL_HANDLE;  // one per image: presenting may still wait for it
    };
    void choose_format();
    void choose_mode(bool vsync);
    bool create(VkExtent2D wanted, VkRenderPass pass);
    void create_images(VkRenderPass pass);
    void destroy_images();

    std::shared_ptr<Device> device_;
    VkSurfaceKHR surface_ = VK_NULL_HANDLE;
    VkSurfaceFormatKHR format_{};
    VkPresentModeKHR mode_ = VK_PRESENT_MODE_FIFO_KHR;  // which every surface has
    VkExtent2D extent_{};
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    std::vector<Image> images_;
    std::unique_ptr<DeviceImage> depth_;  // of all: frames are drawn one after the other
    bool outdated_ = true;
};

}  // namespace firn
