// The format of kernels for Vulkan: the contract between the target that writes them and the engine
// that runs them.
#pragma once

namespace firn {

/// Artefact::format of a kernel whose words are a SPIR-V module.
inline constexpr const char* kSpirvFormat = "spirv";

}  // namespace firn
