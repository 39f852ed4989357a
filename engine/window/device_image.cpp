// Images with memory of their own.
#include "engine/window/device_image.h"

namespace firn {

DeviceImage::DeviceImage(std::shared_ptr<Device> device, VkFormat format, VkExtent2D extent,
                         VkImageUsageFlags usage, VkImageAspectFlags aspect,
                         const std::string& name)
    : DeviceImage(std::move(device)) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {extent.width, extent.height, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = usage;
    check(device_->vk().vkCreateImage(device_->handle(), &info, nullptr, &image_), "vkCreateImage",
          name);
    device_->set_name(image_, VK_OBJECT_TYPE_IMAGE, name);
    allocate(name);
    view_ = create_image_view(*device_, image_, format, aspect, name);
}

void DeviceImage::allocate(const std::string& name) {
    VkMemoryRequirements needs{};
    device_->vk().vkGetImageMemoryRequirements(device_->handle(), image_, &needs);
    VkPhysicalDeviceMemoryProperties memory{};
    device_->instance().functions().vkGetPhysicalDeviceMemoryProperties(device_->physical(),
                                                                        &memory);
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    bool found = false;
    for (uint32_t type = 0; type < memory.memoryTypeCount && !found; ++type) {
        found = (needs.memoryTypeBits >> type & 1) != 0 &&
                (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        if (found) info.memoryTypeIndex = type;
    }
    ensure(found, "no device-local memory type for an image");
    check(device_->vk().vkAllocateMemory(device_->handle(), &info, nullptr, &memory_),
          "vkAllocateMemory", name + " of " + std::to_string(needs.size) + " bytes");
    device_->set_name(memory_, VK_OBJECT_TYPE_DEVICE_MEMORY, name);
    check(device_->vk().vkBindImageMemory(device_->handle(), image_, memory_, 0),
          "vkBindImageMemory", name);
}

DeviceImage::~DeviceImage() {
    device_->defer([device = device_.get(), image = image_, memory = memory_, view = view_] {
        device->vk().vkDestroyImageView(device->handle(), view, nullptr);
        device->vk().vkDestroyImage(device->handle(), image, nullptr);
        device->vk().vkFreeMemory(device->handle(), memory, nullptr);
    });
}

VkFormat depth_format(const Device& device) {
    VkFormatProperties can{};
    device.instance().functions().vkGetPhysicalDeviceFormatProperties(device.physical(),
                                                                      VK_FORMAT_D32_SFLOAT, &can);
    const bool floats =
        (can.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT) != 0;
    return floats ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_X8_D24_UNORM_PACK32;
}

std::unique_ptr<DeviceImage> create_depth_image(std::shared_ptr<Device> device, VkExtent2D extent) {
    const VkFormat format = depth_format(*device);
    return std::make_unique<DeviceImage>(std::move(device), format, extent,
                                         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                         VK_IMAGE_ASPECT_DEPTH_BIT, "depth");
}

VkImageView create_image_view(const Device& device, VkImage image, VkFormat format,
                              VkImageAspectFlags aspect, const std::string& name) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = image;
    info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    info.format = format;
    info.subresourceRange = {aspect, 0, 1, 0, 1};
    VkImageView view = VK_NULL_HANDLE;
    check(device.vk().vkCreateImageView(device.handle(), &info, nullptr, &view),
          "vkCreateImageView", name);
    device.set_name(view, VK_OBJECT_TYPE_IMAGE_VIEW, name);
    return view;
}

}  // namespace firn
