// Draws Dear ImGui's draw lists.
#include "engine/window/gui_renderer.h"

#include <imgui.h>

#include <algorithm>
#include <cstring>

namespace firn {
namespace {

struct Push {
    float scale[2];
    int32_t atlas_size[2];
};
static_assert(sizeof(ImDrawVert) == 20, "gui.vert reads vertices of five words");

}  // namespace

GuiRenderer::GuiRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots,
                         const FontAtlas& atlas)
    : device_(std::move(device)), sets_(*device_, 3, slots, sizeof(Push), "gui"), slots_(slots) {
    std::vector<std::byte> texels(
        (static_cast<size_t>(atlas.width) * static_cast<size_t>(atlas.height) + 3) / 4 * 4);
    std::memcpy(texels.data(), atlas.texels,
                static_cast<size_t>(atlas.width) * static_cast<size_t>(atlas.height));
    atlas_ = create_buffer(device_, texels.size(), "font of the gui");
    write_buffer(*atlas_, 0, texels);
    atlas_size_[0] = atlas.width;
    atlas_size_[1] = atlas.height;
    pipeline_ =  // last: nothing that could fail comes after it
        create_draw_pipeline(
            *device_, {"gui.vert", "gui.frag", sets_.layout(), pass, Blend::Over, "gui", {}});
}

GuiRenderer::~GuiRenderer() {
    device_->defer([device = device_.get(), pipeline = pipeline_] {
        device->vk().vkDestroyPipeline(device->handle(), pipeline, nullptr);
    });
}

/// Uploads the draw lists one after the other. Indices, of 16 bits from an offset on, are widened
/// and count from the first vertex of all.
void GuiRenderer::upload(Slot& slot, const ImDrawData& data) {
    reserve_host(slot.vertices, device_,
                 static_cast<size_t>(data.TotalVtxCount) * sizeof(ImDrawVert), "gui vertices");
    reserve_host(slot.indices, device_, static_cast<size_t>(data.TotalIdxCount) * sizeof(uint32_t),
                 "gui indices");
    std::byte* vertices = slot.vertices->mapped();
    auto* indices = reinterpret_cast<uint32_t*>(slot.indices->mapped());
    uint32_t base = 0;
    for (int list = 0; list < data.CmdListsCount; ++list) {
        const ImDrawList& draws = *data.CmdLists[list];
        std::memcpy(vertices, draws.VtxBuffer.Data,
                    static_cast<size_t>(draws.VtxBuffer.size_in_bytes()));
        vertices += draws.VtxBuffer.size_in_bytes();
        // In their own order, which need not be that of the commands.
        for (const ImDrawCmd& draw : draws.CmdBuffer)
            for (unsigned k = draw.IdxOffset; k < draw.IdxOffset + draw.ElemCount; ++k)
                indices[k] = base + draw.VtxOffset + draws.IdxBuffer[static_cast<int>(k)];
        indices += draws.IdxBuffer.Size;
        base += static_cast<uint32_t>(draws.VtxBuffer.Size);
    }
}

void GuiRenderer::draw(VkCommandBuffer commands, uint32_t slot, const ImDrawData& data,
                       VkExtent2D extent) {
    if (data.TotalIdxCount == 0) return;
    upload(slots_[slot], data);
    const BufferRange* ranges[3] = {&slots_[slot].vertices->range(), &slots_[slot].indices->range(),
                                    &atlas_->range()};
    for (uint32_t i = 0; i < 3; ++i)
        sets_.bind(slot, i, ranges[i]->buffer, ranges[i]->offset, ranges[i]->bytes);
    const VolkDeviceTable& vk = device_->vk();
    VkViewport viewport{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height),
                        0, 1};
    Push push{{2 / viewport.width, 2 / viewport.height}, {atlas_size_[0], atlas_size_[1]}};
    VkDescriptorSet set = sets_[slot];
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, sets_.layout(), 0, 1,
                               &set, 0, nullptr);
    sets_.push(commands, &push);
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    uint32_t first_index = 0;
    for (int list = 0; list < data.CmdListsCount; ++list) {
        const ImDrawList& draws = *data.CmdLists[list];
        for (const ImDrawCmd& draw : draws.CmdBuffer) {
            float left = std::max(draw.ClipRect.x, 0.0f), top = std::max(draw.ClipRect.y, 0.0f);
            float right = std::min(draw.ClipRect.z, viewport.width);
            float bottom = std::min(draw.ClipRect.w, viewport.height);
            if (right <= left || bottom <= top) continue;
            VkRect2D scissor{
                {static_cast<int32_t>(left), static_cast<int32_t>(top)},
                {static_cast<uint32_t>(right - left), static_cast<uint32_t>(bottom - top)}};
            vk.vkCmdSetScissor(commands, 0, 1, &scissor);
            vk.vkCmdDraw(commands, draw.ElemCount, 1, first_index + draw.IdxOffset, 0);
        }
        first_index += static_cast<uint32_t>(draws.IdxBuffer.Size);
    }
}

}  // namespace firn
