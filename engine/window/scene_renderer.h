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

/// Draws layers. Must end before its device, and may end while it is in use.
class SceneRenderer {
  public:
    /// `slots`: the number of frames that may be in flight at a time.
    SceneRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);
    ~SceneRenderer();
    SceneRenderer(const SceneRenderer&) = delete;
    SceneRenderer& operator=(const SceneRenderer&) = delete;

    /// Begins another frame in a slot that is not in use.
    void begin(uint32_t slot);
    /// Binds the layers of a scene to the slot, outside the pass. It sees everything written
    /// before; the buffers must live until the commands are complete. `scale`: pixels for each
    /// pixel of size. Returns the scene's number in the frame. Throws UserError if the device
    /// cannot bind a view.
    size_t prepare(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                   const DrawPlacement& placement, float scale);
    /// Draws inside the pass, whose depth has unknown contents.
    void draw(VkCommandBuffer commands, uint32_t slot, size_t scene,
              const DrawPlacement& placement) const;

  private:
    /// The push constants of draw_layer.glsl.
    struct Push {
        std::array<float, 16> to_clip;
        std::array<float, 4> colour;
        std::array<float, 2> viewport, focal;
        float size, unit, stretch;
        uint32_t firsts;
    };
    /// The specialization constants of the shaders, in order, and one for the blending.
    using Variant = std::array<int32_t, 9>;
    struct Draw {
        VkPipeline pipeline = VK_NULL_HANDLE;
        Push push{};
        uint32_t vertices = 0;  // 0: nothing
        bool is_text = false;
        size_t number = 0;  // of its sets, or of its text, in the frame
    };
    struct Scene {
        std::vector<Draw> draws;  // by layer
        bool in_space = false;
    };
    struct Slot {
        std::vector<Scene> scenes;
        size_t shapes = 0, texts = 0;
    };
    static Variant variant_of(const DrawLayer& layer, bool in_space);
    Push common(const DrawScene& scene, const DrawPlacement& placement) const;
    Draw prepare_text(uint32_t slot, const DrawLayer& layer, const Push& common, bool in_space,
                      float scale);
    Draw prepare_shapes(uint32_t slot, const DrawLayer& layer, const Push& common, bool in_space,
                        float scale);
    uint32_t bind(const StorageSets& sets, uint32_t slot, const DrawLayer& from) const;
    VkPipeline pipeline(const Variant& variant);
    void draw_layer(VkCommandBuffer commands, uint32_t slot, const Draw& draw) const;

    std::shared_ptr<Device> device_;
    VkRenderPass pass_;                               // the caller's
    std::vector<std::unique_ptr<StorageSets>> sets_;  // of each layer of a frame, by slot
    std::map<Variant, VkPipeline> pipelines_;
    std::vector<Slot> slots_;
    TextRenderer texts_;
};

}  // namespace firn
