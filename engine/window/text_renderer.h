// Draws the texts of drawings: labels that the host lays out, and numbers that the device formats.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "engine/window/glyph_atlas.h"
#include "engine/window/graphics.h"
#include "engine/window/scene.h"

namespace firn {

/// Draws texts. Must end before its device, and may end while it is in use.
class TextRenderer {
  public:
    /// `slots`: the number of frames that may be in flight at a time.
    TextRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);
    ~TextRenderer();
    TextRenderer(const TextRenderer&) = delete;
    TextRenderer& operator=(const TextRenderer&) = delete;

    /// Lays out the `which`-th text of the frame, outside the pass, and binds it to a slot that is
    /// not in use. `to_clip` and `viewport` are as shaders use them; `scale`: pixels for each pixel
    /// of size.
    void prepare(uint32_t slot, size_t which, const DrawLayer& layer,
                 const std::array<float, 16>& to_clip, const std::array<float, 2>& viewport,
                 bool in_space, float scale);
    /// Draws inside the pass.
    void draw(VkCommandBuffer commands, uint32_t slot, size_t which) const;

  private:
    /// The push constants of draw_text.glsl.
    struct Push {
        std::array<float, 16> to_clip;
        std::array<float, 4> colour;
        std::array<float, 2> viewport, shift, align;
        std::array<int32_t, 2> atlas_size;
        uint32_t firsts;
        int32_t decimals;
    };
    /// The specialization constants of the shaders, in order, and whether shapes hide the text.
    using Variant = std::array<int32_t, 6>;
    struct Slot {
        VkPipeline pipeline = VK_NULL_HANDLE;
        Push push{};
        uint32_t vertices = 0, instances = 1;
        std::shared_ptr<Buffer> glyphs;
        std::shared_ptr<GlyphAtlas> atlas;  // in use until the slot is filled again
    };
    /// A text of a frame.
    struct Text {
        std::unique_ptr<StorageSets> sets;
        std::vector<Slot> slots;
    };
    std::shared_ptr<GlyphAtlas> atlas(float pixels);
    void bind(const StorageSets& sets, uint32_t slot, const DrawLayer& layer, Slot& filled);
    VkPipeline pipeline(const Variant& variant, VkPipelineLayout layout);

    std::shared_ptr<Device> device_;
    VkRenderPass pass_;  // the caller's
    uint32_t slots_;
    std::vector<Text> texts_;
    std::map<Variant, VkPipeline> pipelines_;
    std::vector<std::shared_ptr<GlyphAtlas>> atlases_;  // the last ones, the newest first
};

}  // namespace firn
