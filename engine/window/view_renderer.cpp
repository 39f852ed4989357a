// Draws a tensor from its buffer.
#include "engine/window/view_renderer.h"

#include <algorithm>
#include <cmath>

#include "engine/gpu/commands.h"
#include "engine/window/colour_map.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

constexpr int64_t kRangeElementsPerGroup = 8192;                   // as in view_range.comp
constexpr int64_t kMostElements = kRangeElementsPerGroup * 65535;  // one dispatch finds their range

/// The formats of elements, with the numbers of view_buffer.glsl.
enum ElementFormat : int32_t { kF32, kF16, kI32, kU32, kU8, kI8, kBool, kU16, kI16, kBF16 };

/// The filters, with the numbers of view.frag; 2 to 4 is the side of the square of elements that is
/// averaged.
enum Filter : int32_t { kBlend = 0, kNearest = 1, kMostTaps = 4 };

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

int64_t channels_of(const BufferView& view) { return view.shape.size() == 3 ? view.shape[2] : 1; }

}  // namespace

ViewRenderer::ViewRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(std::move(device)), pass_(pass), slots_(slots) {}

ViewRenderer::~ViewRenderer() {
    auto destroy = [this](VkPipeline pipeline) {
        device_->defer([device = device_.get(), pipeline] {
            device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
        });
    };
    for (const auto& [variant, pipeline] : draw_) destroy(pipeline);
    for (const auto& [variant, pipeline] : range_) destroy(pipeline);
}

ViewRenderer::Picture& ViewRenderer::next_picture() {
    if (used_ == pictures_.size()) {
        Picture picture;
        picture.sets = std::make_unique<StorageSets>(*device_, 2, slots_, sizeof(Push), "view");
        picture.range = create_buffer(device_, 8, "range of the view");
        picture.slots.resize(slots_);
        pictures_.push_back(std::move(picture));
    }
    return pictures_[used_++];
}

/// Returns the pipeline; the sets of all pictures have the same layout.
VkPipeline ViewRenderer::draw_pipeline(const Variant& variant) {
    VkPipeline& pipeline = draw_[variant];
    if (pipeline) return pipeline;
    const int32_t constants[] = {variant.format, variant.channels, variant.colormap, variant.filter,
                                 variant.range};
    DrawPipelineInfo info{"view.vert",
                          "view.frag",
                          pictures_.front().sets->layout(),
                          pass_,
                          variant.blended ? Blend::Over : Blend::None,
                          "view",
                          {}};
    info.constants = constants;
    return pipeline = create_draw_pipeline(*device_, info);
}

VkPipeline ViewRenderer::range_pipeline(const Variant& variant) {
    const std::array constants = {variant.format, variant.channels};
    VkPipeline& pipeline = range_[constants];
    if (!pipeline)
        pipeline =
            create_compute_pipeline(*device_, "view_range.comp", pictures_.front().sets->layout(),
                                    "range of the view", constants);
    return pipeline;
}

ViewRenderer::Push ViewRenderer::describe(const BufferView& view, const ShowOptions& options,
                                          const Rectangle& area) {
    Push push{};
    push.height = static_cast<int32_t>(view.shape[0]);
    push.width = static_cast<int32_t>(view.shape[1]);
    const ValueRange range = range_of(options, channels_of(view));
    push.low = range.low;
    push.high = range.high;
    push.shrink = static_cast<float>(push.width) / area.width;
    push.opacity = std::clamp(options.opacity, 0.0f, 1.0f);
    return push;
}

ViewRenderer::Variant ViewRenderer::variant_of(const BufferView& view, const ShowOptions& options,
                                               float shrink) {
    Variant variant{};
    variant.format = format_of(view.dtype);
    variant.channels = static_cast<int32_t>(channels_of(view));
    const Colormap map = options.colormap.value_or(Colormap::Grey);
    // Colours use no map, so that all maps share their pipeline.
    if (variant.channels == 1) variant.colormap = static_cast<int32_t>(map);
    int taps = std::clamp(static_cast<int>(std::ceil(shrink - 0.01f)), 1, int{kMostTaps});
    bool exact = std::abs(shrink - 1) < 1e-4f;
    variant.filter = taps > 1 ? taps : options.smooth && !exact ? kBlend : kNearest;
    const ValueRange range = range_of(options, variant.channels);
    if (range.low == range.high)
        variant.range = variant.channels == 1 && is_diverging(map) ? kSymmetric : kAutomatic;
    variant.blended = variant.channels == 4 || options.opacity < 1;
    return variant;
}

void ViewRenderer::bind(const Picture& picture, uint32_t slot, const BufferView& view, Push& push) {
    const ViewBinding binding = bind_view(*device_, view);
    if (elements_of(view) > kMostElements)
        throw UserError("show: a tensor of " + std::to_string(elements_of(view)) +
                        " elements is larger than the " + std::to_string(kMostElements) +
                        " elements that can be shown; show a slice of it");
    push.first = static_cast<int32_t>(binding.first);
    picture.sets->bind(slot, 0, binding.buffer, binding.offset, binding.bytes);
    picture.sets->bind(slot, 1, picture.range->range().buffer, picture.range->range().offset, 8);
}

void ViewRenderer::find_range(VkCommandBuffer commands, const Picture& picture, uint32_t slot,
                              const Push& push, const Variant& variant) {
    const VolkDeviceTable& vk = device_->vk();
    const BufferRange& range = picture.range->range();
    const uint32_t empty[2] = {0xffffffffu, 0};  // smallest, largest
    vk.vkCmdUpdateBuffer(commands, range.buffer, range.offset, 8, empty);
    barrier_compute(*device_, commands);
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, range_pipeline(variant));
    VkDescriptorSet set = (*picture.sets)[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, picture.sets->layout(), 0,
                               1, &set, 0, nullptr);
    picture.sets->push(commands, &push);
    int64_t count = int64_t{push.height} * push.width * variant.channels;
    vk.vkCmdDispatch(
        commands,
        static_cast<uint32_t>((count + kRangeElementsPerGroup - 1) / kRangeElementsPerGroup), 1, 1);
}

size_t ViewRenderer::prepare(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                             const ShowOptions& options, const Rectangle& area) {
    Picture& picture = next_picture();
    Push push = describe(view, options, area);
    Variant variant = variant_of(view, options, push.shrink);
    bind(picture, slot, view, push);
    barrier_all(*device_, commands);
    if (variant.range != kGiven) find_range(commands, picture, slot, push, variant);
    barrier_compute_to(*device_, commands,
                       VK_PIPELINE_STAGE_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                       VK_ACCESS_SHADER_READ_BIT);
    picture.slots[slot] = {push, static_cast<ColourRange>(variant.range), draw_pipeline(variant)};
    return used_ - 1;
}

ShownRange ViewRenderer::range(uint32_t slot, size_t picture) const {
    const Slot& shown = pictures_[picture].slots[slot];
    return {shown.range, shown.push.low, shown.push.high, pictures_[picture].range.get()};
}

void ViewRenderer::draw(VkCommandBuffer commands, uint32_t slot, size_t picture,
                        const Rectangle& area, const Rectangle& seen) const {
    const VolkDeviceTable& vk = device_->vk();
    const Picture& drawn = pictures_[picture];
    VkViewport viewport{area.x, area.y, area.width, area.height, 0, 1};
    VkRect2D scissor{{static_cast<int32_t>(std::max(seen.x, 0.0f)),
                      static_cast<int32_t>(std::max(seen.y, 0.0f))},
                     {static_cast<uint32_t>(seen.width), static_cast<uint32_t>(seen.height)}};
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, drawn.slots[slot].draw);
    VkDescriptorSet set = (*drawn.sets)[slot];
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, drawn.sets->layout(), 0,
                               1, &set, 0, nullptr);
    drawn.sets->push(commands, &drawn.slots[slot].push);
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    vk.vkCmdSetScissor(commands, 0, 1, &scissor);
    vk.vkCmdDraw(commands, 3, 1, 0, 0);
}

}  // namespace firn
