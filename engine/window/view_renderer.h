// Draws a tensor from its buffer, through a colour map whose range may be found on the device.
#pragma once
#include <array>
#include <map>

#include "engine/window/graphics.h"
#include "engine/window/view.h"

namespace firn {

/// Must end before its device, and may end while it is in use.
class ViewRenderer {
  public:
    /// `slots`: frames that may be in flight at a time.
    ViewRenderer(std::shared_ptr<Device> device, VkRenderPass pass, uint32_t slots);
    ~ViewRenderer();
    ViewRenderer(const ViewRenderer&) = delete;
    ViewRenderer& operator=(const ViewRenderer&) = delete;

    /// Outside the pass: binds the view to a slot that is not in use, and finds its range where
    /// that is automatic. Everything written before is seen. The view's buffer must live until the
    /// commands are complete. Throws UserError where the device cannot bind the view.
    void prepare(VkCommandBuffer commands, uint32_t slot, const BufferView& view,
                 const ShowOptions& options, const Rectangle& area);
    /// Inside the pass: the picture fills `area`, of which `seen` is drawn.
    void draw(VkCommandBuffer commands, uint32_t slot, const Rectangle& area,
              const Rectangle& seen) const;

  private:
    struct Push {
        int32_t height, width, first;
        float low, high, shrink;
    };
    /// The constants of view.frag: one pipeline for each combination that is shown.
    struct Variant {
        int32_t format, channels, colormap, filter, range;
        auto operator<=>(const Variant&) const = default;
    };
    struct Slot {
        Push push;
        VkPipeline draw = VK_NULL_HANDLE;
    };
    static Push describe(const BufferView& view, const ShowOptions& options, const Rectangle& area);
    static Variant variant_of(const BufferView& view, const ShowOptions& options, float shrink);
    void bind(uint32_t slot, const BufferView& view, Push& push);
    void find_range(VkCommandBuffer commands, uint32_t slot, const Push& push,
                    const Variant& variant);
    VkPipeline draw_pipeline(const Variant& variant);
    VkPipeline range_pipeline(const Variant& variant);

    std::shared_ptr<Device> device_;
    VkRenderPass pass_;  // the caller's
    StorageSets sets_;
    std::map<Variant, VkPipeline> draw_;
    std::map<std::array<int32_t, 2>, VkPipeline> range_;  // by format and channels
    std::shared_ptr<Buffer> range_buffer_;
    std::vector<Slot> slots_;
};

}  // namespace firn
