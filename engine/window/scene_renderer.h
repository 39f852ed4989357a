// Draws layers of shapes straight from their tensors' memory.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "engine/window/graphics.h"
#include "engine/window/placement.h"
#include "engine/window/text_renderer.h"

namespace firn {

/// Must end before its device, and may end while it is in use.
class SceneRenderer {
  public:
    /// `slots`: frames that may be in flight at a time.
    SceneRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);
    ~SceneRenderer();
    SceneRenderer(const SceneRenderer&) = delete;
    SceneRenderer& operator=(const SceneRenderer&) = delete;

    /// Outside the pass: binds the layers to a slot that is not in use. Everything written before
    /// is seen; the buffers must live until the commands are complete. `scale`: pixels of a pixel
    /// of size. Throws UserError where the device cannot bind a view.
    void prepare(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                 const DrawPlacement& placement, float scale);
    /// Inside the pass, which has a depth of unknown contents.
    void draw(VkCommandBuffer commands, uint32_t slot, const DrawPlacement& placement) const;

  private:
    /// As in draw_layer.glsl.
    struct Push {
        std::array<float, 16> to_clip;
        std::array<float, 4> colour;
        std::array<float, 2> viewport, focal;
        float size, unit, stretch;
        uint32_t firsts;
    };
    /// The constants of the shaders, in order, and one for the blending.
    using Variant = std::array<int32_t, 9>;
    struct Draw {
        VkPipeline pipeline = VK_NULL_HANDLE;
        Push push{};
        uint32_t vertices = 0;  // 0: nothing
        bool is_text = false;
    };
    struct Slot {
        std::vector<Draw> draws;  // by layer
        bool in_space = false;
    };
    static Variant variant_of(const DrawLayer& layer, bool in_space);
    Push common(const DrawScene& scene, const DrawPlacement& placement) const;
    uint32_t bind(uint32_t slot, size_t layer, const DrawLayer& from);
    VkPipeline pipeline(const Variant& variant);
    void draw_layer(VkCommandBuffer commands, uint32_t slot, size_t layer) const;

    std::shared_ptr<Device> device_;
    VkRenderPass pass_;                               // the caller's
    std::vector<std::unique_ptr<StorageSets>> sets_;  // of each layer, by slot
    std::map<Variant, VkPipeline> pipelines_;
    std::vector<Slot> slots_;
    TextRenderer texts_;  // by layer
};

}  // namespace firn
