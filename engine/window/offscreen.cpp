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
    colour_ = std::make_unique<DeviceImage>(
        device_, format, extent,
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
        VK_IMAGE_ASPECT_COLOR_BIT, "picture");
    depth_ = create_depth_image(device_, extent);
    framebuffer_ =
        create_framebuffer(*device_, pass, colour_->view(), depth_->view(), extent, "picture");
    pixels_ = create_buffer(device_, uint64_t{4} * extent.width * extent.height, "picture",
                            BufferPlace::Host);
}

OffscreenImage::~OffscreenImage() {
    device_->defer([device = device_.get(), framebuffer = framebuffer_] {
        device->vk().vkDestroyFramebuffer(device->handle(), framebuffer, nullptr);
    });
}

void OffscreenImage::record_read(VkCommandBuffer commands) const {
    VkBufferImageCopy region{};
    region.bufferOffset = pixels_->range().offset;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {extent_.width, extent_.height, 1};
    device_->vk().vkCmdCopyImageToBuffer(commands, colour_->handle(),
                                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
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
