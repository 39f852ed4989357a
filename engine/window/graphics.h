// The graphics objects that frames need: render passes, pipelines, descriptor sets, and an image to
// draw to.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/device.h"
#include "engine/window/device_image.h"
#include "engine/window/picture.h"

namespace firn {

/// Returns a pass that clears one colour image and draws to it, with a depth image whose contents
/// are unknown at first and are not kept. Passes of one format are compatible for all final
/// layouts. The caller destroys it.
VkRenderPass create_render_pass(const Device& device, VkFormat format, VkImageLayout final_layout);

/// The blending of a pipeline's colour with the colour behind it: it replaces it, lies over it, or
/// adds to it, the last two weighted by its alpha.
enum class Blend : uint8_t { None, Over, Add };
/// The comparison of depths: a nearer depth is greater, as in CameraProjection.
enum class Depth : uint8_t { None, Test, TestAndWrite };

struct DrawPipelineInfo {
    std::string_view vertex, fragment;  // names for shader_module
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkRenderPass render_pass = VK_NULL_HANDLE;
    Blend blend = Blend::None;
    std::string name;
    std::span<const int32_t> constants;  // constant_id 0, 1, ... of both shaders
    Depth depth = Depth::None;
};
/// Creates a pipeline that draws triangles with dynamic viewport and scissor and no vertex input.
/// The caller destroys it.
VkPipeline create_draw_pipeline(const Device& device, const DrawPipelineInfo& info);
VkPipeline create_compute_pipeline(const Device& device, std::string_view shader,
                                   VkPipelineLayout layout, const std::string& name,
                                   std::span<const int32_t> constants = {});

/// `count` equal sets of storage buffers (bindings 0, 1, ...) and a pipeline layout with push
/// constants. Must end before its device, and may end while it is in use.
class StorageSets {
  public:
    StorageSets(Device& device, uint32_t bindings, uint32_t count, uint32_t push_bytes,
                const std::string& name);
    ~StorageSets();
    StorageSets(const StorageSets&) = delete;
    StorageSets& operator=(const StorageSets&) = delete;

    VkPipelineLayout layout() const { return layout_; }
    VkDescriptorSet operator[](size_t set) const { return sets_[set]; }
    /// Binds a buffer; the set must not be in use.
    void bind(size_t set, uint32_t binding, VkBuffer buffer, uint64_t offset, uint64_t bytes) const;
    void push(VkCommandBuffer commands, const void* data) const;

  private:
    // So that the destructor runs when the constructor throws midway.
    StorageSets(Device& device, uint32_t push_bytes) : device_(device), push_bytes_(push_bytes) {}

    Device& device_;
    uint32_t push_bytes_ = 0;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets_;
};

/// Gives `buffer` at least `bytes` of host memory that the device reads, with room to grow. If it
/// was too small, its contents are lost.
void reserve_host(std::shared_ptr<Buffer>& buffer, const std::shared_ptr<Device>& device,
                  size_t bytes, const char* name);

/// An image to which frames without a window are drawn, and from which they are read back.
class OffscreenImage {
  public:
    OffscreenImage(std::shared_ptr<Device> device, VkFormat format, VkExtent2D extent,
                   VkRenderPass pass);
    ~OffscreenImage();
    OffscreenImage(const OffscreenImage&) = delete;
    OffscreenImage& operator=(const OffscreenImage&) = delete;

    VkFramebuffer framebuffer() const { return framebuffer_; }
    VkExtent2D extent() const { return extent_; }
    /// Records the copy after the pass, which leaves the image as a source of transfers.
    void record_read(VkCommandBuffer commands) const;
    /// Returns the picture, which is opaque, after the commands are complete.
    Picture picture() const;

  private:
    // So that the destructor runs when the constructor throws midway.
    explicit OffscreenImage(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    std::shared_ptr<Device> device_;
    VkFormat format_ = VK_FORMAT_UNDEFINED;
    VkExtent2D extent_{};
    std::unique_ptr<DeviceImage> colour_, depth_;
    VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
    std::shared_ptr<Buffer> pixels_;
};

VkFramebuffer create_framebuffer(const Device& device, VkRenderPass pass, VkImageView colour,
                                 VkImageView depth, VkExtent2D extent, const std::string& name);

}  // namespace firn
