// Draws a tensor from its buffer.
#include "engine/window/view_renderer.h"

#include <algorithm>

#include "engine/gpu/commands.h"

namespace firn {
namespace {

constexpr int kAutomatic = 1, kSmooth = 2, kSymmetric = 4;
constexpr int64_t kRangeElementsPerGroup = 8192;                   // as in view_range.comp
constexpr int64_t kMostElements = kRangeElementsPerGroup * 65535;  // one dispatch finds their range

/// The numbers are those of view_buffer.glsl.
enum ElementFormat : int32_t { kF32, kF16, kI32, kU32, kU8, kI8, kBool };

ElementFormat format_of(DType dtype) {
    switch (dtype.type) {
        case Type::F32:
            return kF32;
        case Type::F16:
            return kF16;
        case Type::I32:
            return kI32;
        case Type::U32:
            return kU32;
        case Type::U8:
            return kU8;
        case Type::I8:
            return kI8;
        case Type::Bool:
            return kBool;
        case Type::F64:
        case Type::I64:
        case Type::U64:
            break;
    }
    throw InternalError("internal error: a view of 64-bit elements was not refused");
}

int64_t count_of(const BufferView& view) {
    int64_t count = 1;
    for (int64_t size : view.shape) count *= size;
    return count;
}

}  // namespace

ViewRenderer::ViewRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(std::move(device)),
      sets_(*device_, 2, slots, sizeof(Push), "view"),
      range_buffer_(create_buffer(device_, 8, "range of the view")),
      pushes_(slots) {
    draw_ = create_draw_pipeline(*device_,
                                 {"view.vert", "view.frag", sets_.layout(), pass, false, "view"});
    range_ =
        create_compute_pipeline(*device_, "view_range.comp", sets_.layout(), "range of the view");
}

ViewRenderer::~ViewRenderer() {
    device_->defer([device = device_.get(), draw = draw_, range = range_] {
        device->vk().vkDestroyPipeline(device->handle(), draw, nullptr);
        device->vk().vkDestroyPipeline(device->handle(), range, nullptr);
    });
}

ViewRenderer::Push ViewRenderer::describe(const BufferView& view, const ShowOptions& options,
                                          const Rectangle& area) const {
    Push push{};
    push.height = static_cast<int32_t>(view.shape[0]);
    push.width = static_cast<int32_t>(view.shape[1]);
    push.channels = view.shape.size() == 3 ? static_cast<int32_t>(view.shape[2]) : 1;
    push.format = format_of(view.dtype);
    push.colormap = static_cast<int32_t>(options.colormap);
    push.low = options.range.low;
    push.high = options.range.high;
    bool diverging =
        options.colormap == Colormap::Coolwarm || options.colormap == Colormap::Icefire;
    push.flags = (push.low == push.high ? kAutomatic : 0) | (options.smooth ? kSmooth : 0) |
                 (diverging ? kSymmetric : 0);
    push.shrink = static_cast<float>(push.width) / area.width;
    return push;
}

void ViewRenderer::bind(uint32_t slot, const BufferView& view, Push& push) {
    auto* buffer = dynamic_cast<Buffer*>(view.memory.get());
    if (!buffer || &buffer->device() != device_.get()) {
        throw UserError(
            "show: the tensor's memory belongs to another device than the window's; "
            "make both in one session");
    }
    uint64_t bytes =
        static_cast<uint64_t>(count_of(view)) * static_cast<uint64_t>(view.dtype.bytes());
    ensure(view.offset + bytes <= buffer->bytes(), "a view reaches beyond its buffer");
    uint64_t begin = buffer->range().offset + view.offset;
    uint64_t alignment = std::max<uint64_t>(device_->limits().minStorageBufferOffsetAlignment, 4);
    uint64_t aligned = begin / alignment * alignment;
    uint64_t range = (begin - aligned + bytes + 3) / 4 * 4;
    if (range > device_->limits().maxStorageBufferRange || count_of(view) > kMostElements) {
        throw UserError("show: a tensor of " + std::to_string(bytes) + " bytes is more than the " +
                        std::to_string(device_->limits().maxStorageBufferRange) +
                        " that the device reads at once; show a slice of it");
    }
    push.first =
        static_cast<int32_t>((begin - aligned) / static_cast<uint64_t>(view.dtype.bytes()));
    sets_.bind(slot, 0, buffer->range().buffer, aligned, range);
    sets_.bind(slot, 1, range_buffer_->range().buffer, range_buffer_->range().offset, 8);
}

void ViewRenderer::find_range(VkCommandBuffer commands, uint32_t slot, const Push& push) const {
    const VolkDeviceTable& vk = device_->vk();
    const uint32_t empty[2] = {0xffffffffu, 0};  // smallest, largest
    vk.vkCmdUpdateBuffer(commands, range_buffer_->range().buffer, range_buffer_->range().offset, 8,
                         empty);
    barrier_compute(*device_, commands);
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, range_);
    VkDescriptorSet set = sets_[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sets_.layout(), 0, 1, &set,
                               0, nullptr);
    sets_.push(commands, &push);
    int64_t count = int64_t{push.height} * push.width * push.channels;
    vk.vkCmdDispatch(
        commands,
        static_cast<uint32_t>((count + kRangeElementsPerGroup - 1) / kRangeElementsPerGroup), 1, 1);
}

void ViewRenderer::prepare(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                           const ShowOptions& options, const Rectangle& area) {
    Push push = describe(view, options, area);
    bind(slot, view, push);
    barrier_all(*device_, commands);
    if (push.flags & kAutomatic) find_range(commands, slot, push);
    barrier_compute_to(*device_, commands, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                       VK_ACCESS_SHADER_READ_BIT);
    pushes_[slot] = push;
}

void ViewRenderer::draw(VkCommandBuffer commands, uint32_t slot, const Rectangle& area) const {
    const VolkDeviceTable& vk = device_->vk();
    VkViewport viewport{area.x, area.y, area.width, area.height, 0, 1};
    VkRect2D scissor{{static_cast<int32_t>(std::max(area.x, 0.0f)),
                      static_cast<int32_t>(std::max(area.y, 0.0f))},
                     {static_cast<uint32_t>(area.width), static_cast<uint32_t>(area.height)}};
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, draw_);
    VkDescriptorSet set = sets_[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, sets_.layout(), 0, 1,
                               &set, 0, nullptr);
    sets_.push(commands, &pushes_[slot]);
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    vk.vkCmdSetScissor(commands, 0, 1, &scissor);
    vk.vkCmdDraw(commands, 3, 1, 0, 0);
}

}  // namespace firn
