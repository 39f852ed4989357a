// An image with memory of its own, to which frames are drawn.
#pragma once
#include <memory>
#include <string>

#include "engine/gpu/device.h"

namespace firn {

/// An image with memory of its own. May end while it is in use.
class DeviceImage {
  public:
    DeviceImage(std::shared_ptr<Device> device, VkFormat format, VkExtent2D extent,
                VkImageUsageFlags usage, VkImageAspectFlags aspect, const std::string& name);
    ~DeviceImage();
    DeviceImage(const DeviceImage&) = delete;
    DeviceImage& operator=(const DeviceImage&) = delete;

    VkImage handle() const { return image_; }
    VkImageView view() const { return view_; }

  private:
    // So that the destructor runs when the constructor throws midway.
    explicit DeviceImage(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    void allocate(const std::string& name);

    std::shared_ptr<Device> device_;
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
};

/// Returns a format for depths without a stencil; every device has one of two.
VkFormat depth_format(const Device& device);
std::unique_ptr<DeviceImage> create_depth_image(std::shared_ptr<Device> device, VkExtent2D extent);

/// Creates a view of an image. The caller destroys it.
VkImageView create_image_view(const Device& device, VkImage image, VkFormat format,
                              VkImageAspectFlags aspect, const std::string& name);

}  // namespace firn
