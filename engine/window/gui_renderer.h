// Draws Dear ImGui's draw lists with one pipeline over three storage buffers: vertices, indices,
// font.
#pragma once
#include "engine/window/graphics.h"
#include "engine/window/gui_panel.h"

struct ImDrawData;

namespace firn {

/// The pipeline and its buffers. Must end before its device, and may end while it is in use.
class GuiRenderer {
  public:
    /// `slots`: the number of frames that may be in flight at a time.
    GuiRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots,
                const FontAtlas& atlas);
    ~GuiRenderer();
    GuiRenderer(const GuiRenderer&) = delete;
    GuiRenderer& operator=(const GuiRenderer&) = delete;

    /// Draws inside the pass, in a slot that is not in use. ImGui's coordinates are pixels of the
    /// frame.
    void draw(VkCommandBuffer commands, uint32_t slot, const ImDrawData& data, VkExtent2D extent);

  private:
    /// The geometry of one frame, in host memory that the device reads.
    struct Slot {
        std::shared_ptr<Buffer> vertices, indices;
    };
    void upload(Slot& slot, const ImDrawData& data);

    std::shared_ptr<Device> device_;
    StorageSets sets_;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    std::shared_ptr<Buffer> atlas_;
    int32_t atlas_size_[2] = {0, 0};
    std::vector<Slot> slots_;
};

}  // namespace firn
