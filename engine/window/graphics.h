// The few graphics objects that frames need: render passes, pipelines, descriptor sets, an image to
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

/// A pass that clears one colour image and draws to it, with a depth beside it whose contents are
/// not kept and unknown at first. Passes of one format are compatible whatever their final layout.
/// The caller destroys it.
VkRenderPass create_render_pass(const Device& device, VkFormat format, VkImageLayout final_layout);

/// How a pipeline's colour meets what is behind it: replaces it, lies over it, or adds to it, the
/// last two as much as its alpha says.
enum class Blend : uint8_t { None, Over, Add };
/// Nearer is more, as CameraProjection has it.
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
/// Triangles with dynamic viewport and scissor, without vertex input. The caller destroys it.
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
    /// The set must not be in use.
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

/// At least `bytes` of host memory that the device reads, with room to grow; what was in it is lost
/// where it was too small.
void reserve_host(std::shared_ptr<Buffer>& buffer, const std::shared_ptr<Device>& device,
                  size_t bytes, const char* name);

/// An image that frames without a window are drawn to, and read back from.
class OffscreenImage {
  public:
    OffscreenImage(std::shared_ptr<Device> device, VkFormat format, VkExtent2D extent,
                   VkRenderPass pass);
    ~OffscreenImage();
    OffscreenImage(const OffscreenImage&) = delete;
    OffscreenImage& operator=(const OffscreenImage&) = delete;

    VkFramebuffer framebuffer() const { return framebuffer_; }
    VkExtent2D extent() const { return extent_; }
    /// Recorded after the pass, which leaves the image as a source of transfers.
    void record_read(VkCommandBuffer commands) const;
    /// The picture, once the commands are complete. Opaque.
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
