// GLSL text to SPIR-V, in process: the one place that knows shaderc and SPIRV-Tools.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace firn {

struct SpirvOptions {
    /// Runs the SPIR-V optimiser. Off: it takes 4 to 10 times as long and measured kernels run no
    /// faster.
    bool optimize = false;
    /// Vulkan 1.<minor> is the target: 2 gives SPIR-V 1.5, 3 gives SPIR-V 1.6.
    int vulkan_minor = 2;
    /// Checks modules that are compiled, as validate_spirv() does. Those from the cache are not:
    /// they were checked before they were stored, and checking takes as long as all other steps
    /// together.
    bool validate = false;
    /// The directory in which compiled modules are kept between runs; empty: none. See
    /// default_cache_directory().
    std::string cache_directory;
};

/// Names the versions of the libraries that compile shaders: others may make other modules.
std::string shader_compiler_version();

/// Compiles a GLSL compute shader. `name` appears in errors and dumps, and is no part of the
/// result. Throws InternalError with the compiler's message and the numbered source: GLSL is
/// written by Firn. May be called from any thread.
std::vector<uint32_t> glsl_to_spirv(const std::string& glsl, const std::string& name,
                                    const SpirvOptions& options = {});

/// Checks a module by the rules of SPIR-V and of Vulkan 1.<vulkan_minor>.
/// Throws InternalError with the validator's message.
void validate_spirv(std::span<const uint32_t> spirv, const std::string& name, int vulkan_minor = 2);

/// Clamps every index into arrays of fixed sizes (shared ones, and an invocation's private ones),
/// which no device guards; devices guard buffers, and a module without such arrays is not changed.
/// For kernels that Firn has not written. Throws InternalError if it fails.
std::vector<uint32_t> with_indices_held(std::vector<uint32_t> spirv, const std::string& name,
                                        int vulkan_minor = 2);

/// The module as readable assembly, for dumps.
std::string spirv_text(std::span<const uint32_t> spirv, int vulkan_minor = 2);

}  // namespace firn
