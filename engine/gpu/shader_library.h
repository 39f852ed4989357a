// Hand-written shaders that are built into the engine as SPIR-V.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace firn {

/// The SPIR-V (for Vulkan 1.2) of shaders/<file_name>, for instance shader_module("frame.frag"):
/// every
/// *.comp, *.vert and *.frag there is compiled by the build. Lives as long as the process.
/// Throws InternalError where there is no such file.
std::span<const uint32_t> shader_module(std::string_view file_name);

}  // namespace firn
