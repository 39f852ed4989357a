// Draws layers of shapes: every vertex reads its own numbers from the tensors.
#include "engine/window/scene_renderer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/gpu/commands.h"
#include "engine/window/camera.h"
#include "engine/window/view_binding.h"

namespace firn {
namespace {

constexpr uint32_t kBindings = 4;  // places, vectors, colours, sizes

uint32_t vertices_of(DrawShape shape) {
    switch (shape) {
        case DrawShape::Points:
        case DrawShape::Triangles: return 3;
        case DrawShape::Lines:
        case DrawShape::Path:
        case DrawShape::Arrows: return 6;
        case DrawShape::Text:
        case DrawShape::Numbers: break;
    }
    throw InternalError("internal error: a shape without vertices");
}

}  // namespace

SceneRenderer::SceneRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots)
    : device_(std::move(device)), pass_(pass), slots_(slots), texts_(device_, pass, slots) {}

SceneRenderer::~SceneRenderer() {
    for (const auto& [variant, pipeline] : pipelines_)
        device_->defer([device = device_.get(), pipeline = pipeline] {
            device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
        });
}

SceneRenderer::Variant SceneRenderer::variant_of(const DrawLayer& layer, bool in_space) {
    const bool corners = layer.colours.shape.size() == 3;
    return {static_cast<int32_t>(layer.shape),
            static_cast<int32_t>(layer.places.shape.back()),
            layer.colours.memory ? static_cast<int32_t>(layer.colours.shape.back()) : 0,
            corners,
            layer.sizes.memory != nullptr,
            layer.in_units,
            layer.lit && in_space,
            in_space,
            layer.additive};
}

VkPipeline SceneRenderer::pipeline(const Variant& variant) {
    VkPipeline& pipeline = pipelines_[variant];
    if (pipeline) return pipeline;
    const auto shape = static_cast<DrawShape>(variant[0]);
    const bool ball = shape == DrawShape::Points && variant[5] != 0 && variant[6] != 0;
    const bool in_space = variant[7] != 0, additive = variant[8] != 0;
    DrawPipelineInfo info{
        "draw.vert", ball ? "draw_ball.frag" : "draw.frag", sets_.front()->layout(),
        pass_,       additive ? Blend::Add : Blend::Over,   "drawing",
        variant};
    if (in_space) info.depth = additive ? Depth::Test : Depth::TestAndWrite;
    return pipeline = create_draw_pipeline(*device_, info);
}

SceneRenderer::Push SceneRenderer::common(const DrawScene& scene, const DrawPlacement& at) const {
    Push push{};
    push.viewport = {at.area.width, at.area.height};
    if (scene.is_in_space()) {
        const CameraProjection projection =
            projection_of(scene.camera, at.area.width / at.area.height);
        push.to_clip = projection.to_clip;
        push.focal = projection.focal;
        push.unit = 0.5f * at.area.height * std::abs(projection.focal[1]);
        return push;
    }
    const float across = 2 / (at.right - at.left), down = 2 / (at.bottom - at.top);
    push.to_clip[0] = across, push.to_clip[12] = -1 - at.left * across;
    push.to_clip[5] = down, push.to_clip[13] = -1 - at.top * down;
    push.to_clip[15] = 1;
    push.unit = 0.5f * at.area.width * std::abs(across);
    return push;
}

/// Binds the buffers, and returns the offsets of their first elements, one byte for each binding:
/// alignments are at most 256 bytes.
uint32_t SceneRenderer::bind(const StorageSets& sets, uint32_t slot, const DrawLayer& from) const {
    const BufferView* views[kBindings] = {&from.places, &from.vectors, &from.colours, &from.sizes};
    uint32_t firsts = 0;
    for (uint32_t k = 0; k < kBindings; ++k) {
        const ViewBinding view = bind_view(*device_, views[k]->memory ? *views[k] : from.places);
        sets.bind(slot, k, view.buffer, view.offset, view.bytes);
        firsts |= view.first << (8 * k);
    }
    return firsts;
}

void SceneRenderer::begin(uint32_t slot) { slots_[slot] = {}; }

SceneRenderer::Draw SceneRenderer::prepare_text(uint32_t slot, const DrawLayer& layer,
                                                const Push& common, bool in_space, float scale) {
    Draw draw;
    draw.is_text = true;
    draw.number = slots_[slot].texts++;
    texts_.prepare(slot, draw.number, layer, common.to_clip, common.viewport, in_space, scale);
    return draw;
}

SceneRenderer::Draw SceneRenderer::prepare_shapes(uint32_t slot, const DrawLayer& layer,
                                                  const Push& common, bool in_space, float scale) {
    Draw draw;
    const auto shapes = static_cast<uint64_t>(shapes_of(layer));
    if (shapes == 0) return draw;
    const uint64_t vertices = shapes * vertices_of(layer.shape);
    if (vertices > UINT32_MAX)
        throw UserError("draw: " + std::to_string(shapes) +
                        " shapes are more than one layer draws; draw a slice of them");
    draw.number = slots_[slot].shapes++;
    if (sets_.size() == draw.number)
        sets_.push_back(std::make_unique<StorageSets>(
            *device_, kBindings, static_cast<uint32_t>(slots_.size()), sizeof(Push), "drawing"));
    draw.push = common;
    draw.push.colour = layer.colour;
    draw.push.size = layer.size;
    draw.push.stretch = layer.stretch;
    if (!layer.in_units) draw.push.unit = 0.5f * scale;  // a radius by a diameter
    draw.push.firsts = bind(*sets_[draw.number], slot, layer);
    draw.pipeline = pipeline(variant_of(layer, in_space));
    draw.vertices = static_cast<uint32_t>(vertices);
    return draw;
}

size_t SceneRenderer::prepare(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                              const DrawPlacement& placement, float scale) {
    Scene prepared;
    prepared.in_space = scene.is_in_space();
    const Push common = this->common(scene, placement);
    for (const DrawLayer& layer : scene.layers)
        prepared.draws.push_back(
            is_text(layer) ? prepare_text(slot, layer, common, prepared.in_space, scale)
                           : prepare_shapes(slot, layer, common, prepared.in_space, scale));
    barrier_all(*device_, commands);
    barrier_compute_to(*device_, commands, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT,
                       VK_ACCESS_SHADER_READ_BIT);
    slots_[slot].scenes.push_back(std::move(prepared));
    return slots_[slot].scenes.size() - 1;
}

void SceneRenderer::draw(VkCommandBuffer commands, uint32_t slot, size_t scene,
                         const DrawPlacement& placement) const {
    const VolkDeviceTable& vk = device_->vk();
    const Rectangle& area = placement.area;
    const VkViewport viewport{area.x, area.y, area.width, area.height, 0, 1};
    const VkRect2D scissor{{static_cast<int32_t>(std::max(area.x, 0.0f)),
                            static_cast<int32_t>(std::max(area.y, 0.0f))},
                           {static_cast<uint32_t>(area.width), static_cast<uint32_t>(area.height)}};
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    vk.vkCmdSetScissor(commands, 0, 1, &scissor);
    const auto& [draws, in_space] = slots_[slot].scenes[scene];
    if (in_space) {
        VkClearAttachment far{VK_IMAGE_ASPECT_DEPTH_BIT, 0, {}};
        far.clearValue.depthStencil = {0, 0};
        const VkClearRect all{scissor, 0, 1};
        vk.vkCmdClearAttachments(commands, 1, &far, 1, &all);
    }
    // In space, texts come last: they hide nothing, but shapes that are drawn later would hide
    // them.
    for (const Draw& draw : draws)
        if (!in_space || !draw.is_text) draw_layer(commands, slot, draw);
    for (const Draw& draw : draws)
        if (in_space && draw.is_text) draw_layer(commands, slot, draw);
}

void SceneRenderer::draw_layer(VkCommandBuffer commands, uint32_t slot, const Draw& draw) const {
    if (draw.is_text) return texts_.draw(commands, slot, draw.number);
    if (draw.vertices == 0) return;
    const VolkDeviceTable& vk = device_->vk();
    const StorageSets& sets = *sets_[draw.number];
    VkDescriptorSet set = sets[slot];
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, draw.pipeline);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, sets.layout(), 0, 1, &set,
                               0, nullptr);
    sets.push(commands, &draw.push);
    vk.vkCmdDraw(commands, draw.vertices, 1, 0, 0);
}

}  // namespace firn
