// Draws a tensor from its buffer, through a colour map whose range may be found on the device.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "engine/window/graphics.h"
#include "engine/window/view.h"

namespace firn {

/// The range of a picture's colours: one that was given, the smallest and largest element, or one
/// symmetric about 0.
enum ColourRange : int32_t { kGiven, kAutomatic, kSymmetric };
struct ShownRange {
    ColourRange kind = kGiven;
    float low = 0, high = 1;        // if it is given
    const Buffer* found = nullptr;  // else two words, as shown_range.glsl reads them
};

/// Draws pictures. Must end before its device, and may end while it is in use.
class ViewRenderer {
  public:
    /// `slots`: the number of frames that may be in flight at a time.
    ViewRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);
    ~ViewRenderer();
    ViewRenderer(const ViewRenderer&) = delete;
    ViewRenderer& operator=(const ViewRenderer&) = delete;

    /// Begins another frame in a slot that is not in use.
    void begin() { used_ = 0; }
    /// Binds a view to the slot, outside the pass, and finds its range if that is automatic. It
    /// sees everything written before. The view's buffer must live until the commands are complete.
    /// Returns the picture's number in the frame. Throws UserError if the device cannot bind it.
    size_t prepare(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                   const ShowOptions& options, const Rectangle& area);
    /// Draws inside the pass: the picture fills `area`, of which `seen` is drawn.
    void draw(VkCommandBuffer commands, uint32_t slot, size_t picture, const Rectangle& area,
              const Rectangle& seen) const;
    ShownRange range(uint32_t slot, size_t picture) const;

  private:
    struct Push {
        int32_t height, width, first;
        float low, high, shrink, opacity;
    };
    /// The specialization constants of view.frag, and whether the picture is opaque: one pipeline
    /// for each combination that is shown.
    struct Variant {
        int32_t format, channels, colormap, filter, range, blended;
        auto operator<=>(const Variant&) const = default;
    };
    struct Slot {
        Push push{};
        ColourRange range = kGiven;
        VkPipeline draw = VK_NULL_HANDLE;
    };
    /// A picture of a frame.
    struct Picture {
        std::unique_ptr<StorageSets> sets;
        std::shared_ptr<Buffer> range;
        std::vector<Slot> slots;
    };
    static Push describe(const BufferView& view, const ShowOptions& options, const Rectangle& area);
    static Variant variant_of(const BufferView& view, const ShowOptions& options, float shrink);
    Picture& next_picture();
    void bind(const Picture& picture, uint32_t slot, const BufferView& view, Push& push);
    void find_range(VkCommandBuffer commands, const Picture& picture, uint32_t slot,
                    const Push& push, const Variant& variant);
    VkPipeline draw_pipeline(const Variant& variant);
    VkPipeline range_pipeline(const Variant& variant);

    std::shared_ptr<Device> device_;
    VkRenderPass pass_;  // the caller's
    uint32_t slots_;
    std::vector<Picture> pictures_;
    size_t used_ = 0;  // of them, in the frame that is prepared
    std::map<Variant, VkPipeline> draw_;
    std::map<std::array<int32_t, 2>, VkPipeline> range_;  // by format and channels
};

}  // namespace firn
