// Draws frames (a picture, shapes, and the panel over them) to the window or to a picture.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "engine/gpu/commands.h"
#include "engine/window/gui_renderer.h"
#include "engine/window/scene_painter.h"
#include "engine/window/swapchain.h"

namespace firn {

/// The colour of a frame where it shows nothing.
inline constexpr VkClearValue kFrameBackground{{{0.055f, 0.063f, 0.078f, 1}}};

/// A scene, and how the person sees it.
struct SceneView {
    DrawScene scene;
    FlatZoom zoom;
    DrawCamera asked;  // by the program, the last time
};

struct Frame {
    std::vector<SceneView> views = std::vector<SceneView>(1);  // one, or several in a grid
    SceneGrid grid;
    float scale = 1;                  // pixels for each pixel of the scenes' sizes
    const ImDrawData* gui = nullptr;  // null: no panel
};

/// Returns the cells of the frame's views.
std::vector<Rectangle> cells_of(const Frame& frame, VkExtent2D extent);
/// Returns how each view divides its cell: their frames are equally large, whichever has a colour
/// bar.
std::vector<SceneLayout> layouts_of(const Frame& frame, VkExtent2D extent);
/// Returns the placement of one of the views, without a colour bar and a caption.
DrawPlacement placement_of(const Frame& frame, size_t view, VkExtent2D extent);

class FramePainter {
  public:
    /// `window` may be null: then the painter makes pictures only. The window must outlive the
    /// painter.
    FramePainter(std::shared_ptr<Device> device, const OsWindow* window, bool vsync,
                 const FontAtlas& atlas);
    ~FramePainter();
    FramePainter(const FramePainter&) = delete;
    FramePainter& operator=(const FramePainter&) = delete;

    /// Submits the frame after everything enqueued before, in the same submission, and presents it.
    /// Does nothing while the window cannot show a frame.
    void present(const Frame& frame);
    /// Draws the frame and waits for the picture.
    Picture picture(const Frame& frame, VkExtent2D extent);

  private:
    static constexpr uint32_t kSlots = 2;  // frames in flight
    static constexpr uint32_t kPictureSlot = 2;
    struct Slot {
        VkSemaphore acquired = VK_NULL_HANDLE;
        /// An image that was acquired and not drawn to, as a frame that failed leaves it:
        /// `acquired` is signalled for it.
        std::optional<uint32_t> image;
        TimelinePoint busy_until = 0;
    };
    // So that the destructor runs when the constructor throws midway.
    FramePainter(std::shared_ptr<Device> device, const OsWindow* window);
    void present_drawn();
    void record(VkCommandBuffer commands, uint32_t slot, const Frame& frame, VkRenderPass pass,
                VkFramebuffer framebuffer, VkExtent2D extent);

    std::shared_ptr<Device> device_;
    const OsWindow* window_;
    std::unique_ptr<Swapchain> swapchain_;
    VkFormat format_ = VK_FORMAT_R8G8B8A8_UNORM;
    VkRenderPass present_pass_ = VK_NULL_HANDLE, picture_pass_ = VK_NULL_HANDLE;
    CommandPool commands_;
    std::unique_ptr<ScenePainter> scene_painter_;
    std::unique_ptr<GuiRenderer> gui_renderer_;
    std::unique_ptr<OffscreenImage> image_;  // of the last picture
    Slot slots_[kSlots];
    uint32_t next_slot_ = 0;
    std::optional<uint32_t> drawn_;  // an image that is still to be presented
    TimelinePoint drawn_until_ = 0;
};

}  // namespace firn
