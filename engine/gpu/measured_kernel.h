// Kernels that measurements run: of the library of shaders, with one i32 as their parameter.
#pragma once
#include <vector>

#include "engine/gpu/pipeline.h"

namespace firn {

KernelInfo measured_kernel(const char* shader, uint32_t group, std::vector<BindingInfo> bindings);
/// Binds the kernel for the dispatches that are recorded after this.
void bind_measured(const Device& device, VkCommandBuffer commands, const Pipeline& pipeline,
                   VkDescriptorSet buffers, int32_t parameter);

}  // namespace firn
