// The image that frames without a window are drawn to.
#include <cstring>

#include "engine/window/graphics.h"

namespace firn {

OffscreenImage::OffscreenImage(std::shared_ptr<Device> device, VkFormat format, VkExtent2D extent,
                               VkRenderPass pass)
    : OffscreenImage(std::move(device)) {
    format_ = format;
    extent_ = extent;
    uint32_t largest = device_->limits().maxImageDimension2D;
    if (extent.width > largest || extent.height > largest) {
        throw UserError("picture: a size of " + std::to_string(extent.width) + "x" +
                        std::to_string(extent.height) + " is more than the " +
                        std::to_string(largest) +
                        " pixels a side that the device draws; make it smaller");
    }
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {extent.width, extent.height, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    check(device_->vk().vkCreateImage(device_->handle(), &info, nullptr, &image_), "vkCreateImage",
          "picture");
    device_->set_name(image_, VK_OBJECT_TYPE_IMAGE, "picture");
    allocate();
    view_ = create_colour_view(*device_, image_, format, "picture");
    framebuffer_ = create_framebuffer(*device_, pass, view_, extent, "picture");
    pixels_ = create_buffer(device_, uint64_t{4} * extent.width * extent.height, "picture",
                            BufferPlace::Host);
}

void OffscreenImage::allocate() {
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
          "vkAllocateMemory", "picture of " + std::to_string(needs.size) + " bytes");
    device_->set_name(memory_, VK_OBJECT_TYPE_DEVICE_MEMORY, "picture");
    check(device_->vk().vkBindImageMemory(device_->handle(), image_, memory_, 0),
          "vkBindImageMemory", "picture");
}

OffscreenImage::~OffscreenImage() {
    if (!image_) return;
    device_->defer([device = device_.get(), image = image_, memory = memory_, view = view_,
                    framebuffer = framebuffer_] {
        device->vk().vkDestroyFramebuffer(device->handle(), framebuffer, nullptr);
        device->vk().vkDestroyImageView(device->handle(), view, nullptr);
        device->vk().vkDestroyImage(device->handle(), image, nullptr);
        device->vk().vkFreeMemory(device->handle(), memory, nullptr);
    });
}

void OffscreenImage::record_read(VkCommandBuffer commands) const {
    VkBufferImageCopy region{};
    region.bufferOffset = pixels_->range().offset;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {extent_.width, extent_.height, 1};
    device_->vk().vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                         pixels_->range().buffer, 1, &region);
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    device_->vk().vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0,
                                       nullptr);
}

Picture OffscreenImage::picture() const {
    Picture picture{static_cast<int>(extent_.width), static_cast<int>(extent_.height), {}};
    picture.rgba.resize(size_t{4} * extent_.width * extent_.height);
    std::memcpy(picture.rgba.data(), pixels_->mapped(), picture.rgba.size());
    for (size_t pixel = 0; pixel < picture.rgba.size(); pixel += 4) {
        if (format_ == VK_FORMAT_B8G8R8A8_UNORM)
            std::swap(picture.rgba[pixel], picture.rgba[pixel + 2]);
        picture.rgba[pixel + 3] = 255;
    }
    return picture;
}

}  // namespace firn
