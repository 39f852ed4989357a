// Points as one writes them by hand: a quad for each, four vertices of an instance.
#pragma once
#include "engine/gpu/device.h"
#include "engine/window/graphics.h"

namespace firn::bench {

struct HandPush {
    float to_clip[16];
    float viewport[2];
    float size;
};

/// Places are [n, d] in binding 0, colours [n, 3] in binding 1.
class HandPoints {
  public:
    HandPoints(Device& device, VkRenderPass pass, int dimensions);
    ~HandPoints();
    HandPoints(const HandPoints&) = delete;
    HandPoints& operator=(const HandPoints&) = delete;

    void bind(const Buffer& places, const Buffer& colours);
    void draw(VkCommandBuffer commands, const HandPush& push, VkExtent2D extent,
              uint32_t count) const;

  private:
    Device& device_;
    bool in_space_;
    StorageSets sets_;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace firn::bench
