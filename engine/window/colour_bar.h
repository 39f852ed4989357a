// The ticks of colour bars. They are found on the device, since a picture's range may be known only
// there.
#pragma once
#include <memory>
#include <vector>

#include "engine/window/graphics.h"
#include "engine/window/scene.h"
#include "engine/window/view_renderer.h"

namespace firn {

/// The place of a colour bar in pixels, and its scale.
struct BarPlace {
    Rectangle bar;
    float scale = 1;
};

/// The ticks and the colours of colour bars. Must end before its device, and may end while it is in
/// use.
class ColourBars {
  public:
    ColourBars(std::shared_ptr<Device> device, uint32_t slots);
    ~ColourBars();
    ColourBars(const ColourBars&) = delete;
    ColourBars& operator=(const ColourBars&) = delete;

    void begin() { used_ = 0; }
    /// Outside the pass: returns the ticks of a bar as lines and numbers. A unit in x is a pixel at
    /// scale 1, from the bar's left side; y is from 0, the bar's lower end, to 1.
    DrawScene ticks(VkCommandBuffer commands, uint32_t slot, const ShownRange& range,
                    const BarPlace& place);
    /// Returns all colours of a map, from the last down to the first.
    const BufferView& ramp() const { return ramp_; }

  private:
    struct Bar {
        std::unique_ptr<StorageSets> sets;
        std::shared_ptr<Buffer> ticks;
    };
    std::shared_ptr<Device> device_;
    uint32_t slots_;
    BufferView ramp_;
    std::vector<Bar> bars_;  // of a frame
    size_t used_ = 0;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace firn
