// Kernels that measurements run: of the library of shaders, with one i32 as their parameter.
#include "engine/gpu/measured_kernel.h"

#include <span>
#include <utility>

#include "compiler/program/spirv_format.h"
#include "engine/gpu/shader_library.h"

namespace firn {

KernelInfo measured_kernel(const char* shader, uint32_t group, std::vector<BindingInfo> bindings) {
    KernelInfo out;
    out.name = shader;
    const std::span<const uint32_t> spirv = shader_module(shader);
    out.artefact.format = kSpirvFormat;
    out.artefact.words.assign(spirv.begin(), spirv.end());
    out.group_size = {group, 1, 1};
    out.bindings = std::move(bindings);
    out.param_types = {i32};
    return out;
}

void bind_measured(const Device& device, VkCommandBuffer commands, const Pipeline& pipeline,
                   VkDescriptorSet buffers, int32_t parameter) {
    const VolkDeviceTable& vk = device.vk();
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, 1,
                               &buffers, 0, nullptr);
    vk.vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          sizeof parameter, &parameter);
}

}  // namespace firn
