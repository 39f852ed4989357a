// Compute pipelines made from kernels, and the descriptor sets that bind buffers to them.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/device.h"

namespace firn {

/// A kernel as the device runs it. Owns pipeline, layout and descriptor set layout; must end before
/// its device, and may end while it is in use.
class Pipeline {
  public:
    /// `constants`: specialisation constants, from id 0 on. Throws UserError where the kernel needs
    /// more than the device has (it was compiled for another).
    Pipeline(Device& device, const KernelInfo& kernel, std::span<const uint32_t> constants = {});
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    VkPipeline handle() const { return pipeline_; }
    VkPipelineLayout layout() const { return layout_; }
    VkDescriptorSetLayout set_layout() const { return set_layout_; }
    const std::vector<BindingInfo>& bindings() const { return bindings_; }
    /// The parameters are a uniform buffer with a dynamic offset, at the binding after the last.
    bool params_in_buffer() const { return params_in_buffer_; }
    uint32_t param_bytes() const { return param_bytes_; }
    const std::string& name() const { return name_; }

  private:
    void create_layouts();
    void create_pipeline(const KernelInfo& kernel, std::span<const uint32_t> constants);

    Device& device_;
    std::string name_;
    std::vector<BindingInfo> bindings_;
    bool params_in_buffer_ = false;
    uint32_t param_bytes_ = 0;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

/// Returns the pipeline of a kernel; makes it if the device has none that is the same except for
/// its name: programs that share kernels share compiled pipelines. May be called by several threads
/// at once. Throws as Pipeline does.
std::shared_ptr<const Pipeline> shared_pipeline(Device& device, const KernelInfo& kernel);

/// The pipeline of a descriptor set, and the buffers of its bindings.
struct SetRequest {
    const Pipeline* pipeline = nullptr;
    std::vector<BufferRange> buffers;       // one per Pipeline::bindings
    std::vector<const std::string*> names;  // of the buffers, for errors; live as long
    BufferRange params;                     // used if the pipeline has params_in_buffer
};

/// Descriptor sets that are made and freed together, with the texel views they need. Must end
/// before its device, and may end while they are in use.
class DescriptorSets {
  public:
    /// Throws UserError if a buffer is beyond the device's limits of bindings.
    DescriptorSets(Device& device, std::span<const SetRequest> requests, const std::string& name);
    ~DescriptorSets();
    DescriptorSets(const DescriptorSets&) = delete;
    DescriptorSets& operator=(const DescriptorSets&) = delete;

    /// Returns a set for each request, in their order.
    const std::vector<VkDescriptorSet>& sets() const { return sets_; }

  private:
    void create_pool(std::span<const SetRequest> requests, const std::string& name);
    void write(VkDescriptorSet set, const SetRequest& request);

    Device& device_;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    std::vector<VkDescriptorSet> sets_;
    std::vector<VkBufferView> views_;
};

}  // namespace firn
