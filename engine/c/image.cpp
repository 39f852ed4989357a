// Images of the host in place of tensors.
#include "engine/c/image.h"

#include <span>

#include "compiler/program/spirv_format.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/shader_library.h"

namespace firn::c {
namespace {

/// A format of images, and how shaders/image_pixels.comp calls it.
struct PixelFormat {
    VkFormat format;
    uint32_t pixel_bytes;
    int64_t channels;
    bool is_plain;  // the pixels are the floats of a tensor
    uint32_t code;  // of the shader
    bool is_srgb;
};
constexpr PixelFormat kFormats[] = {
    {VK_FORMAT_R8G8B8A8_UNORM, 4, 4, false, 0, false},
    {VK_FORMAT_R8G8B8A8_SRGB, 4, 4, false, 0, true},
    {VK_FORMAT_B8G8R8A8_UNORM, 4, 4, false, 1, false},
    {VK_FORMAT_B8G8R8A8_SRGB, 4, 4, false, 1, true},
    {VK_FORMAT_R16G16B16A16_SFLOAT, 8, 4, false, 2, false},
    {VK_FORMAT_R32G32B32A32_SFLOAT, 16, 4, true, 0, false},
    {VK_FORMAT_R32_SFLOAT, 4, 1, true, 0, false},
};
constexpr uint32_t kGroup = 64;  // invocations of the shader

const PixelFormat* find_format(uint32_t format) {
    for (const PixelFormat& each : kFormats)
        if (static_cast<uint32_t>(each.format) == format) return &each;
    return nullptr;
}

std::string text_of(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
    return text + "]";
}

int64_t channels_of(const firn_host_image& image, const PixelFormat& format, DType dtype,
                    const std::vector<int64_t>& shape, const std::string& name) {
    if (dtype != f32)
        fail(name + " is of the type " + dtype.name() +
             ", and images stand for tensors of f32; convert it in the program, or bind a buffer");
    const int64_t channels = shape.size() == 2 ? 1 : shape.size() == 3 ? shape[2] : 0;
    const bool fits = channels == format.channels || (channels == 3 && !format.is_plain);
    if (!fits || shape[0] != image.height || shape[1] != image.width)
        fail(name + " has the shape " + text_of(shape) + ", and its image is " +
             std::to_string(image.width) + " pixels wide and " + std::to_string(image.height) +
             " high with " + std::to_string(format.channels) +
             " channels; a tensor is [height, width, channels]");
    return channels;
}

std::shared_ptr<const Pipeline> pixel_pipeline(firn_context& context, bool packs,
                                               const PixelFormat& format, uint32_t channels) {
    const std::array<uint32_t, 4> constants{packs, format.code, format.is_srgb, channels};
    std::shared_ptr<const Pipeline>& kept = context.pixel_pipelines[constants];
    if (kept) return kept;
    KernelInfo kernel;
    kernel.name = packs ? "floats to pixels" : "pixels to floats";
    const std::span<const uint32_t> spirv = shader_module("image_pixels.comp");
    kernel.artefact.format = kSpirvFormat;
    kernel.artefact.words.assign(spirv.begin(), spirv.end());
    kernel.group_size = {kGroup, 1, 1};
    kernel.bindings = {{BindingForm::Storage, u32, 1, packs},
                       {BindingForm::Storage, f32, 1, !packs}};
    kernel.param_types = {u32, u32};
    kept = std::make_shared<const Pipeline>(*context.device, kernel, constants);
    return kept;
}

/// Waits for commands before, and moves the image into a layout.
void change_layout(const Device& device, const firn_host_image& image, VkCommandBuffer commands,
                   uint32_t from, uint32_t to, bool begins) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    constexpr VkAccessFlags kAll = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    constexpr VkAccessFlags kCopies = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.srcAccessMask = begins ? VkAccessFlags{VK_ACCESS_MEMORY_WRITE_BIT}
                                   : VkAccessFlags{VK_ACCESS_TRANSFER_WRITE_BIT};
    barrier.dstAccessMask = begins ? kCopies : kAll;
    barrier.oldLayout = static_cast<VkImageLayout>(from);
    barrier.newLayout = static_cast<VkImageLayout>(to);
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = (VkImage)image.image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    device.vk().vkCmdPipelineBarrier(
        commands, begins ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT,
        begins ? VK_PIPELINE_STAGE_TRANSFER_BIT : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr,
        0, nullptr, 1, &barrier);
}

void convert(const Device& device, const BoundImage& image, VkCommandBuffer commands) {
    const VolkDeviceTable& vk = device.vk();
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, image.pipeline->handle());
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, image.pipeline->layout(),
                               0, 1, image.sets->sets().data(), 0, nullptr);
    vk.vkCmdPushConstants(commands, image.pipeline->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          sizeof image.parameters, image.parameters.data());
    vk.vkCmdDispatch(commands, image.groups[0], image.groups[1], 1);
}

}  // namespace

BoundImage bind_image(firn_context& context, const firn_host_image& image,
                      const std::shared_ptr<Buffer>& tensor, DType dtype,
                      const std::vector<int64_t>& shape, const std::string& name, bool is_result) {
    const PixelFormat& format = *find_format(image.format);
    const auto channels = static_cast<uint32_t>(channels_of(image, format, dtype, shape, name));
    const VkImageUsageFlags usage =
        is_result ? VK_IMAGE_USAGE_TRANSFER_DST_BIT : VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    if (!(image.usage & usage))
        fail("the image of " + name + " was made without the usage " +
             (is_result ? "TRANSFER_DST" : "TRANSFER_SRC") + ", which copies need; add it");
    if (!is_result && image.layout_before == VK_IMAGE_LAYOUT_UNDEFINED)
        fail("the image of " + name +
             " is read, and its layout_before is UNDEFINED, which keeps nothing; give the layout "
             "that it is in");
    BoundImage out;
    out.image = image;
    out.is_result = is_result;
    out.tensor = tensor->range();
    if (format.is_plain) return out;
    const uint64_t pixels = uint64_t{image.width} * image.height;
    out.packed = create_buffer(context.device, pixels * format.pixel_bytes, "pixels of " + name);
    out.pipeline = pixel_pipeline(context, is_result, format, channels);
    const SetRequest request{
        out.pipeline.get(), {out.packed->range(), out.tensor}, {&out.packed->name(), &name}, {}};
    out.sets = std::make_unique<DescriptorSets>(*context.device, std::span(&request, 1), name);
    const uint64_t most = uint64_t{context.device->profile().max_groups[0]} * kGroup;
    const uint64_t columns = std::min(pixels, most);
    out.parameters = {static_cast<uint32_t>(pixels), static_cast<uint32_t>(columns)};
    out.groups[0] = static_cast<uint32_t>((columns + kGroup - 1) / kGroup);
    out.groups[1] = static_cast<uint32_t>((pixels + columns - 1) / columns);
    return out;
}

void record_images(const firn_context& context, const std::vector<BoundImage>& images,
                   VkCommandBuffer commands, bool of_results) {
    const Device& device = *context.device;
    const VolkDeviceTable& vk = device.vk();
    bool any = false;
    for (const BoundImage& image : images) {
        if (image.is_result != of_results) continue;
        if (of_results && !any) barrier_compute(device, commands);
        any = true;
        const BufferRange& memory = image.packed ? image.packed->range() : image.tensor;
        VkBufferImageCopy region{};
        region.bufferOffset = memory.offset;
        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.imageExtent = {image.image.width, image.image.height, 1};
        const auto handle = (VkImage)image.image.image;
        const VkImageLayout copied = of_results ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                                : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        if (of_results && image.packed) {
            convert(device, image, commands);
            barrier_compute(device, commands);
        }
        change_layout(device, image.image, commands, image.image.layout_before, copied, true);
        if (of_results)
            vk.vkCmdCopyBufferToImage(commands, memory.buffer, handle, copied, 1, &region);
        else
            vk.vkCmdCopyImageToBuffer(commands, handle, copied, memory.buffer, 1, &region);
        change_layout(device, image.image, commands, copied, image.image.layout_after, false);
        if (!of_results && image.packed) {
            barrier_compute(device, commands);
            convert(device, image, commands);
        }
    }
    if (any && !of_results) barrier_compute(device, commands);
}

}  // namespace firn::c

using namespace firn::c;

int32_t firn_image_import(firn_context* context, const firn_host_image* from, firn_image** image) {
    return guarded(context, [&] {
        if (!image) fail("the place for the image is NULL; give one");
        *image = nullptr;
        const firn_host_image given = taken(from, "firn_host_image");
        if (given.image == 0) fail("firn_host_image.image is 0; give the VkImage");
        if (given.width == 0 || given.height == 0)
            fail("firn_host_image has no pixels; give its width and height");
        if (!find_format(given.format))
            fail("images of the VkFormat " + std::to_string(given.format) +
                 " cannot stand for tensors; use R8G8B8A8 or B8G8R8A8 (UNORM or SRGB), "
                 "R16G16B16A16_SFLOAT, R32G32B32A32_SFLOAT or R32_SFLOAT");
        if (given.layout_after == VK_IMAGE_LAYOUT_UNDEFINED ||
            given.layout_after == VK_IMAGE_LAYOUT_PREINITIALIZED)
            fail("firn_host_image.layout_after is " + std::to_string(given.layout_after) +
                 ", which no image can be left in; give the layout in which it is used next");
        auto made = std::make_unique<firn_image>();
        made->context = context;
        made->image = given;
        *image = made.release();
        ++context->images;
    });
}

void firn_image_release(firn_image* image) {
    if (!image) return;
    released(image->context, [&] {
        --image->context->images;
        delete image;
    });
}
