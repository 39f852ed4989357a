// Paints scenes into rectangles of a frame: pictures, shapes, colour bars and captions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/window/colour_bar.h"
#include "engine/window/placement.h"
#include "engine/window/scene_renderer.h"
#include "engine/window/view_renderer.h"

namespace firn {

/// Paints scenes. Must end before its device, and may end while it is in use.
class ScenePainter {
  public:
    /// `slots`: the number of frames that may be in flight at a time.
    ScenePainter(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);

    /// Begins a frame in a slot that is not in use.
    void begin(uint32_t slot);
    /// Prepares a scene outside the pass; what it shows must live until the commands are complete.
    /// `scale`: pixels of a unit. Throws UserError if the device cannot bind it.
    void prepare(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                 const FlatZoom& zoom, const SceneLayout& layout, float scale);
    /// Draws what was prepared since begin(), inside the pass, whose depth has unknown contents.
    void draw(VkCommandBuffer commands, uint32_t slot) const;

  private:
    /// A picture, or the shapes of one scene.
    struct Step {
        bool is_picture = false;
        size_t number = 0;  // in its renderer
        Rectangle area;     // of a picture; placement.area of it is seen
        DrawPlacement placement;
    };
    /// The cell, in which texts are placed by pixels.
    struct Sheet {
        Rectangle cell;
        DrawScene scene;
    };
    size_t picture(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                   const ShowOptions& options, const Rectangle& area, const DrawPlacement& seen);
    void shapes(VkCommandBuffer commands, uint32_t slot, const DrawScene& scene,
                const DrawPlacement& placement, float scale);
    void write(Sheet& sheet, const std::string& text, float x, float y,
               const std::array<float, 2>& align, float scale, float size) const;
    void axes(Sheet& sheet, const DrawAxes& words, const DrawPlacement& placement, float scale);
    void colour_bar(VkCommandBuffer commands, uint32_t slot, const ColourBar& bar,
                    const ShownRange& range, const BarPlace& place);

    std::shared_ptr<Device> device_;
    ViewRenderer pictures_;
    SceneRenderer scenes_;
    ColourBars bars_;
    BufferView origin_;  // one place, (0, 0)
    /// The lines of axes, which are kept from frame to frame.
    struct AxisLines {
        std::vector<float> ends;
        BufferView view;
    };
    std::vector<AxisLines> axis_lines_;
    size_t axes_used_ = 0;  // of a frame
    std::vector<Step> steps_;
};

}  // namespace firn
