// The images of a window's surface.
#include "engine/window/swapchain.h"

#include <algorithm>

#include "engine/window/graphics.h"

namespace firn {

Swapchain::Swapchain(std::shared_ptr<Device> device, const OsWindow& window, bool vsync)
    : Swapchain(std::move(device)) {
    if (!device_->can_present()) {
        throw DeviceError(
            "window: device '" + device_->info().name +
            "' cannot present; choose another device (--list-devices) or run headless");
    }
    device_->keep(window.library());
    surface_ = window.create_surface(device_->instance().handle());
    VkBool32 supported = VK_FALSE;
    const InstanceTable& vk = device_->instance().functions();
    VkResult result = vk.vkGetPhysicalDeviceSurfaceSupportKHR(
        device_->physical(), device_->queue_family(), surface_, &supported);
    check(result, "vkGetPhysicalDeviceSurfaceSupportKHR", "window");
    if (!supported) {
        throw DeviceError(
            "window: device '" + device_->info().name +
            "' cannot present to this display; choose another device or run headless");
    }
    choose_format();
    choose_mode(vsync);
}

Swapchain::~Swapchain() {
    destroy_images();
    if (swapchain_) device_->vk().vkDestroySwapchainKHR(device_->handle(), swapchain_, nullptr);
    if (surface_)
        device_->instance().functions().vkDestroySurfaceKHR(device_->instance().handle(), surface_,
                                                            nullptr);
}

void Swapchain::choose_format() {
    const InstanceTable& vk = device_->instance().functions();
    uint32_t count = 0;
    check(vk.vkGetPhysicalDeviceSurfaceFormatsKHR(device_->physical(), surface_, &count, nullptr),
          "vkGetPhysicalDeviceSurfaceFormatsKHR", "window");
    std::vector<VkSurfaceFormatKHR> formats(count);
    check(vk.vkGetPhysicalDeviceSurfaceFormatsKHR(device_->physical(), surface_, &count,
                                                  formats.data()),
          "vkGetPhysicalDeviceSurfaceFormatsKHR", "window");
    for (const VkSurfaceFormatKHR& format : formats) {
        if (format.format == VK_FORMAT_B8G8R8A8_UNORM ||
            format.format == VK_FORMAT_R8G8B8A8_UNORM) {
            format_ = format;
            return;
        }
    }
    throw DeviceError(
        "window: the display offers no UNORM format of 8 bits a channel; run headless");
}

void Swapchain::choose_mode(bool vsync) {
    if (vsync) return;
    const InstanceTable& vk = device_->instance().functions();
    uint32_t count = 0;
    check(vk.vkGetPhysicalDeviceSurfacePresentModesKHR(device_->physical(), surface_, &count,
                                                       nullptr),
          "vkGetPhysicalDeviceSurfacePresentModesKHR", "window");
    std::vector<VkPresentModeKHR> modes(count);
    check(vk.vkGetPhysicalDeviceSurfacePresentModesKHR(device_->physical(), surface_, &count,
                                                       modes.data()),
          "vkGetPhysicalDeviceSurfacePresentModesKHR", "window");
    for (VkPresentModeKHR wanted : {VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR})
        if (std::count(modes.begin(), modes.end(), wanted) > 0) mode_ = wanted;
}

bool Swapchain::create(VkExtent2D wanted, VkRenderPass pass) {
    VkSurfaceCapabilitiesKHR can{};
    check(device_->instance().functions().vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
              device_->physical(), surface_, &can),
          "vkGetPhysicalDeviceSurfaceCapabilitiesKHR", "window");
    VkExtent2D extent = can.currentExtent;
    if (extent.width == UINT32_MAX) {
        extent.width = std::clamp(wanted.width, can.minImageExtent.width, can.maxImageExtent.width);
        extent.height =
            std::clamp(wanted.height, can.minImageExtent.height, can.maxImageExtent.height);
    }
    if (extent.width == 0 || extent.height == 0) return false;
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = surface_;
    info.minImageCount = std::max(can.minImageCount, 3u);
    if (can.maxImageCount > 0) info.minImageCount = std::min(info.minImageCount, can.maxImageCount);
    info.imageFormat = format_.format;
    info.imageColorSpace = format_.colorSpace;
    info.imageExtent = extent;
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    info.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
    info.preTransform = can.currentTransform;
    info.compositeAlpha = (can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR) != 0
                              ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                              : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    info.presentMode = mode_;
    info.clipped = VK_TRUE;
    info.oldSwapchain = swapchain_;
    // No signal tells when presenting an old image has ended, so the device must become idle.
    destroy_images();
    VkSwapchainKHR made = VK_NULL_HANDLE;
    VkResult result = device_->vk().vkCreateSwapchainKHR(device_->handle(), &info, nullptr, &made);
    if (swapchain_) device_->vk().vkDestroySwapchainKHR(device_->handle(), swapchain_, nullptr);
    swapchain_ = made;
    check(result, "vkCreateSwapchainKHR", "window");
    extent_ = extent;
    create_images(pass);
    outdated_ = false;
    return true;
}

void Swapchain::create_images(VkRenderPass pass) {
    const VolkDeviceTable& vk = device_->vk();
    uint32_t count = 0;
    check(vk.vkGetSwapchainImagesKHR(device_->handle(), swapchain_, &count, nullptr),
          "vkGetSwapchainImagesKHR", "window");
    std::vector<VkImage> images(count);
    check(vk.vkGetSwapchainImagesKHR(device_->handle(), swapchain_, &count, images.data()),
          "vkGetSwapchainImagesKHR", "window");
    depth_ = create_depth_image(device_, extent_);
    images_.reserve(count);
    for (VkImage handle : images) {
        Image& image = images_.emplace_back();
        image.image = handle;
        image.view = create_image_view(*device_, handle, format_.format, VK_IMAGE_ASPECT_COLOR_BIT,
                                       "window");
        image.framebuffer =
            create_framebuffer(*device_, pass, image.view, depth_->view(), extent_, "window");
        VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        check(vk.vkCreateSemaphore(device_->handle(), &info, nullptr, &image.rendered),
              "vkCreateSemaphore", "rendered");
        device_->set_name(image.rendered, VK_OBJECT_TYPE_SEMAPHORE, "rendered");
    }
}

void Swapchain::destroy_images() {
    if (images_.empty()) return;
    const VolkDeviceTable& vk = device_->vk();
    device_->wait_until_idle();
    for (const Image& image : images_) {
        vk.vkDestroySemaphore(device_->handle(), image.rendered, nullptr);
        vk.vkDestroyFramebuffer(device_->handle(), image.framebuffer, nullptr);
        vk.vkDestroyImageView(device_->handle(), image.view, nullptr);
    }
    images_.clear();
}

std::optional<uint32_t> Swapchain::acquire(const OsWindow& window, VkRenderPass pass,
                                           VkSemaphore acquired) {
    VkExtent2D wanted = window.extent();
    if (wanted.width == 0 || wanted.height == 0) return std::nullopt;
    if (wanted.width != extent_.width || wanted.height != extent_.height) outdated_ = true;
    // There are two attempts: a window may be resized between making its images and acquiring one.
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (outdated_ && !create(wanted, pass)) return std::nullopt;
        uint32_t image = 0;
        VkResult result = device_->vk().vkAcquireNextImageKHR(
            device_->handle(), swapchain_, UINT64_MAX, acquired, VK_NULL_HANDLE, &image);
        if (result == VK_SUCCESS) return image;
        outdated_ = true;
        if (result == VK_SUBOPTIMAL_KHR) return image;
        if (result != VK_ERROR_OUT_OF_DATE_KHR)
            device_->check(result, "vkAcquireNextImageKHR", "window");
    }
    return std::nullopt;
}

void Swapchain::present(uint32_t image) {
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &images_[image].rendered;
    info.swapchainCount = 1;
    info.pSwapchains = &swapchain_;
    info.pImageIndices = &image;
    std::lock_guard lock(device_->queue_mutex());
    VkResult result = device_->vk().vkQueuePresentKHR(device_->queue(), &info);
    if (result == VK_SUBOPTIMAL_KHR || result == VK_ERROR_OUT_OF_DATE_KHR) {
        outdated_ = true;
    } else {
        device_->check(result, "vkQueuePresentKHR", "window");
    }
}

}  // namespace firn
