// Draws a tensor from its buffer.
#include "engine/window/view_renderer.h"

#include <algorithm>
#include <cmath>

#include "engine/gpu/commands.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

constexpr int64_t kRangeElementsPerGroup = 8192;                   // as in view_range.comp
constexpr int64_t kMostElements = kRangeElementsPerGroup * 65535;  // one dispatch finds their range

/// The numbers are those of view_buffer.glsl.
enum ElementFormat : int32_t { kF32, kF16, kI32, kU32, kU8, kI8, kBool, kU16, kI16, kBF16 };

/// The numbers are those of view.frag, in which 2 to 4 is the side of the square of elements
/// averaged.
enum Filter : int32_t { kBlend = 0, kNearest = 1, kMostTaps = 4 };
enum RangeKind : int32_t { kGiven, kAutomatic, kSymmetric };

ElementFormat format_of(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return kF32;
        case Type::F16: return kF16;
        case Type::BF16: return kBF16;
        case Type::I32: return kI32;
        case Type::U32: return kU32;
        case Type::U16: return kU16;
        case Type::I16: return kI16;
        case Type::U8: return kU8;
        case Type::I8: return kI8;
        case Type::Bool: return kBool;
        case Type::F64:
        case Type::I64:
        case Type::U64: break;
    }
    throw InternalError("internal error: a view of 64-bit elements was not refused");
}

}  // namespace

ViewRenderer::ViewRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(std::move(device)),
      pass_(pass),
      sets_(*device_, 2, slots, sizeof(Push), "view"),
      range_buffer_(create_buffer(device_, 8, "range of the view")),
      slots_(slots) {}

ViewRenderer::~ViewRenderer() {
    auto destroy = [this](VkPipeline pipeline) {
        device_->defer([device = device_.get(), pipeline] {
            device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
        });
    };
    for (const auto& [variant, pipeline] : draw_) destroy(pipeline);
    for (const auto& [variant, pipeline] : range_) destroy(pipeline);
}

VkPipeline ViewRenderer::draw_pipeline(const Variant& variant) {
    VkPipeline& pipeline = draw_[variant];
    if (pipeline) return pipeline;
    const int32_t constants[] = {variant.format, variant.channels, variant.colormap, variant.filter,
                                 variant.range};
    DrawPipelineInfo info{"view.vert", "view.frag", sets_.layout(), pass_, Blend::None, "view", {}};
    info.constants = constants;
    return pipeline = create_draw_pipeline(*device_, info);
}

VkPipeline ViewRenderer::range_pipeline(const Variant& variant) {
    const std::array constants = {variant.format, variant.channels};
    VkPipeline& pipeline = range_[constants];
    if (!pipeline)
        pipeline = create_compute_pipeline(*device_, "view_range.comp", sets_.layout(),
                                           "range of the view", constants);
    return pipeline;
}

ViewRenderer::Push ViewRenderer::describe(const BufferView& view, const ShowOptions& options,
                                          const Rectangle& area) {
    Push push{};
    push.height = static_cast<int32_t>(view.shape[0]);
    push.width = static_cast<int32_t>(view.shape[1]);
    push.low = options.range.low;
    push.high = options.range.high;
    push.shrink = static_cast<float>(push.width) / area.width;
    return push;
}

ViewRenderer::Variant ViewRenderer::variant_of(const BufferView& view, const ShowOptions& options,
                                               float shrink) {
    Variant variant{};
    variant.format = format_of(view.dtype);
    variant.channels = view.shape.size() == 3 ? static_cast<int32_t>(view.shape[2]) : 1;
    // Colours go through no map: all maps share their pipeline.
    if (variant.channels == 1) variant.colormap = static_cast<int32_t>(options.colormap);
    int taps = std::clamp(static_cast<int>(std::ceil(shrink - 0.01f)), 1, int{kMostTaps});
    bool exact = std::abs(shrink - 1) < 1e-4f;
    variant.filter = taps > 1 ? taps : options.smooth && !exact ? kBlend : kNearest;
    bool diverging =
        options.colormap == Colormap::Coolwarm || options.colormap == Colormap::Icefire;
    if (options.range.low == options.range.high)
        variant.range = diverging ? kSymmetric : kAutomatic;
    return variant;
}

void ViewRenderer::bind(uint32_t slot, const BufferView& view, Push& push) {
    const ViewBinding binding = bind_view(*device_, view);
    if (elements_of(view) > kMostElements)
        throw UserError("show: a tensor of " + std::to_string(elements_of(view)) +
                        " elements is more than the " + std::to_string(kMostElements) +
                        " whose range one dispatch finds; show a slice of it");
    push.first = static_cast<int32_t>(binding.first);
    sets_.bind(slot, 0, binding.buffer, binding.offset, binding.bytes);
    sets_.bind(slot, 1, range_buffer_->range().buffer, range_buffer_->range().offset, 8);
}

void ViewRenderer::find_range(VkCommandBuffer commands, uint32_t slot, const Push& push,
                              const Variant& variant) {
    const VolkDeviceTable& vk = device_->vk();
    const uint32_t empty[2] = {0xffffffffu, 0};  // smallest, largest
    vk.vkCmdUpdateBuffer(commands, range_buffer_->range().buffer, range_buffer_->range().offset, 8,
                         empty);
    barrier_compute(*device_, commands);
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, range_pipeline(variant));
    VkDescriptorSet set = sets_[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sets_.layout(), 0, 1, &set,
                               0, nullptr);
    sets_.push(commands, &push);
    int64_t count = int64_t{push.height} * push.width * variant.channels;
    vk.vkCmdDispatch(
        commands,
        static_cast<uint32_t>((count + kRangeElementsPerGroup - 1) / kRangeElementsPerGroup), 1, 1);
}

void ViewRenderer::prepare(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                           const ShowOptions& options, const Rectangle& area) {
    Push push = describe(view, options, area);
    Variant variant = variant_of(view, options, push.shrink);
    bind(slot, view, push);
    barrier_all(*device_, commands);
    if (variant.range != kGiven) find_range(commands, slot, push, variant);
    barrier_compute_to(*device_, commands,
                       VK_PIPELINE_STAGE_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                       VK_ACCESS_SHADER_READ_BIT);
    slots_[slot] = {push, draw_pipeline(variant)};
}

void ViewRenderer::draw(VkCommandBuffer commands, uint32_t slot, const Rectangle& area,
                        const Rectangle& seen) const {
    const VolkDeviceTable& vk = device_->vk();
    VkViewport viewport{area.x, area.y, area.width, area.height, 0, 1};
    VkRect2D scissor{{static_cast<int32_t>(std::max(seen.x, 0.0f)),
                      static_cast<int32_t>(std::max(seen.y, 0.0f))},
                     {static_cast<uint32_t>(seen.width), static_cast<uint32_t>(seen.height)}};
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, slots_[slot].draw);
    VkDescriptorSet set = sets_[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, sets_.layout(), 0, 1,
                               &set, 0, nullptr);
    sets_.push(commands, &slots_[slot].push);
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    vk.vkCmdSetScissor(commands, 0, 1, &scissor);
    vk.vkCmdDraw(commands, 3, 1, 0, 0);
}

}  // namespace firn
