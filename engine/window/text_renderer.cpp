// Draws the texts of drawings.
#include "engine/window/text_renderer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/window/view_binding.h"

namespace firn {
namespace {

constexpr uint32_t kTextBindings = 5;  // places, values, colours, glyphs, atlas
constexpr size_t kAtlases = 8;         // sizes that are kept
/// The most glyphs of a number, kMost of draw_text.vert.
constexpr uint64_t kGlyphsOfANumber = 16;
constexpr uint64_t kVertices = 6;  // of a glyph

}  // namespace

TextRenderer::TextRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(std::move(device)), pass_(pass), slots_(slots) {}

TextRenderer::~TextRenderer() {
    for (const auto& [variant, pipeline] : pipelines_)
        device_->defer([device = device_.get(), pipeline = pipeline] {
            device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
        });
}

VkPipeline TextRenderer::pipeline(const Variant& variant, VkPipelineLayout layout) {
    VkPipeline& pipeline = pipelines_[variant];
    if (pipeline) return pipeline;
    DrawPipelineInfo info{"draw_text.vert", "draw_text.frag", layout, pass_,
                          Blend::Over,      "text",           variant};
    if (variant[5] != 0) info.depth = Depth::Test;
    return pipeline = create_draw_pipeline(*device_, info);
}

/// Returns the atlas for a line height, which is rounded to whole pixels.
std::shared_ptr<GlyphAtlas> TextRenderer::atlas(float pixels) {
    pixels = std::max(std::round(pixels), 1.0f);
    auto at = std::find_if(atlases_.begin(), atlases_.end(),
                           [&](const auto& atlas) { return atlas->pixels() == pixels; });
    if (at == atlases_.end()) {
        if (atlases_.size() == kAtlases) atlases_.pop_back();
        atlases_.insert(atlases_.begin(), std::make_shared<GlyphAtlas>(device_, pixels));
    } else {
        std::rotate(atlases_.begin(), at, at + 1);
    }
    return atlases_.front();
}

void TextRenderer::bind(const StorageSets& sets, uint32_t slot, const DrawLayer& layer,
                        Slot& filled) {
    const BufferView* views[] = {&layer.places, &layer.values, &layer.colours};
    filled.push.firsts = 0;
    for (uint32_t k = 0; k < 3; ++k) {
        const ViewBinding view = bind_view(*device_, views[k]->memory ? *views[k] : layer.places);
        sets.bind(slot, k, view.buffer, view.offset, view.bytes);
        filled.push.firsts |= view.first << (8 * k);
    }
    const Buffer* own[] = {filled.glyphs.get(), &filled.atlas->texels()};
    for (uint32_t k = 0; k < 2; ++k)
        sets.bind(slot, 3 + k, own[k]->range().buffer, own[k]->range().offset,
                  own[k]->range().bytes);
}

void TextRenderer::prepare(uint32_t slot, size_t which, const DrawLayer& layer,
                           const std::array<float, 16>& to_clip,
                           const std::array<float, 2>& viewport, bool in_space, float scale) {
    while (texts_.size() <= which) {
        Text& text = texts_.emplace_back();
        text.slots.resize(slots_);
        text.sets =
            std::make_unique<StorageSets>(*device_, kTextBindings, slots_, sizeof(Push), "text");
    }
    Text& text = texts_[which];
    Slot& filled = text.slots[slot];
    filled.vertices = 0;
    const auto count = static_cast<uint64_t>(layer.places.shape[0]);
    if (count == 0) return;
    const bool numbers = layer.shape == DrawShape::Numbers;
    filled.atlas = atlas(layer.size * scale);
    std::vector<PlacedGlyph> glyphs;
    if (numbers) glyphs = filled.atlas->number_glyphs(layer.text.align[1]);
    for (size_t k = 0; k < layer.text.labels.size() && !numbers; ++k)
        filled.atlas->lay_out(layer.text.labels[k], static_cast<uint32_t>(k), layer.text.align,
                              glyphs);
    const uint64_t vertices = kVertices * (numbers ? kGlyphsOfANumber * count : glyphs.size());
    if (vertices > UINT32_MAX)
        throw UserError("draw numbers: " + std::to_string(count) +
                        " are more than one layer draws; draw a slice of them");
    if (vertices == 0) return;
    reserve_host(filled.glyphs, device_, glyphs.size() * sizeof(PlacedGlyph), "glyphs of a text");
    std::memcpy(filled.glyphs->mapped(), glyphs.data(), glyphs.size() * sizeof(PlacedGlyph));
    filled.push.to_clip = to_clip;
    filled.push.colour = layer.colour;
    filled.push.viewport = viewport;
    filled.push.shift = {layer.text.shift[0] * scale, layer.text.shift[1] * scale};
    filled.push.align = layer.text.align;
    filled.push.atlas_size = filled.atlas->size();
    filled.push.decimals = layer.text.decimals;
    bind(*text.sets, slot, layer, filled);
    const int32_t channels =
        layer.colours.memory ? static_cast<int32_t>(layer.colours.shape.back()) : 0;
    filled.pipeline = pipeline({numbers, static_cast<int32_t>(layer.places.shape.back()), channels,
                                layer.text.halo, in_space, in_space && !layer.text.on_top},
                               text.sets->layout());
    filled.vertices = static_cast<uint32_t>(vertices);
    filled.instances = layer.text.halo ? 2 : 1;
}

void TextRenderer::draw(VkCommandBuffer commands, uint32_t slot, size_t which) const {
    const Text& text = texts_[which];
    const Slot& filled = text.slots[slot];
    if (filled.vertices == 0) return;
    const VolkDeviceTable& vk = device_->vk();
    VkDescriptorSet set = (*text.sets)[slot];
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, filled.pipeline);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, text.sets->layout(), 0, 1,
                               &set, 0, nullptr);
    text.sets->push(commands, &filled.push);
    vk.vkCmdDraw(commands, filled.vertices, filled.instances, 0, 0);
}

}  // namespace firn
