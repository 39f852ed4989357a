// GLSL text to SPIR-V, in process: the one place that knows shaderc and SPIRV-Tools.
#include "compiler/target/glsl/spirv.h"

#include <cstring>
#include <shaderc/shaderc.hpp>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>
#include <sstream>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/base/numbered_lines.h"

namespace firn {
namespace {

constexpr const char* kKind = "spirv";

/// Everything that could change the result, as text.
std::string cache_text(const std::string& glsl, const SpirvOptions& options) {
    std::ostringstream key;
    key << "spirv " << shader_compiler_version() << " optimize " << options.optimize << " checked "
        << options.validate << " vulkan 1." << options.vulkan_minor << '\n'
        << glsl;
    return key.str();
}

spv_target_env environment(int vulkan_minor) {
    switch (vulkan_minor) {
        case 2: return SPV_ENV_VULKAN_1_2;
        case 3: return SPV_ENV_VULKAN_1_3;
        default:
            throw InternalError("SPIR-V: no target environment for Vulkan 1." +
                                std::to_string(vulkan_minor) + "; 1.2 and 1.3 are known");
    }
}

/// Returns the validator's message about a module; empty: it is valid.
std::string faults_of(std::span<const uint32_t> spirv, int vulkan_minor) {
    spvtools::SpirvTools tools(environment(vulkan_minor));
    std::string messages;
    tools.SetMessageConsumer(
        [&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
            messages += "word " + std::to_string(position.index) + ": " + message + "\n";
        });
    spvtools::ValidatorOptions options;
    if (tools.Validate(spirv.data(), spirv.size(), options)) return "";
    return messages.empty() ? "it cannot be read\n" : messages;
}

bool has_fixed_arrays(std::span<const uint32_t> spirv) {
    constexpr uint32_t kTypeArray = 28;
    constexpr size_t kHeader = 5;
    for (size_t at = kHeader; at < spirv.size() && spirv[at] >> 16 != 0; at += spirv[at] >> 16)
        if ((spirv[at] & 0xffff) == kTypeArray) return true;
    return false;
}

/// Returns the module from the cache, if there is one. Drivers trust their input. The cache returns
/// the module of this very text or nothing, so that a module from disk is as good as one just made.
std::vector<uint32_t> cached(const std::string& directory, const std::string& key) {
    const std::optional<std::string> bytes = cache_find_text(directory, kKind, key);
    if (!bytes || bytes->size() % 4 != 0) return {};
    std::vector<uint32_t> spirv(bytes->size() / 4);
    std::memcpy(spirv.data(), bytes->data(), bytes->size());
    return spirv;
}

std::vector<uint32_t> compile(const std::string& glsl, const std::string& name,
                              const SpirvOptions& options) {
    // The first compile costs 74 ms (built-in tables), later ones 0.4 ms, on any thread while a
    // compiler lives.
    static const shaderc::Compiler compiler;
    shaderc::CompileOptions settings;
    settings.SetSourceLanguage(shaderc_source_language_glsl);
    settings.SetTargetEnvironment(shaderc_target_env_vulkan, options.vulkan_minor == 3
                                                                 ? shaderc_env_version_vulkan_1_3
                                                                 : shaderc_env_version_vulkan_1_2);
    settings.SetOptimizationLevel(options.optimize ? shaderc_optimization_level_performance
                                                   : shaderc_optimization_level_zero);
    auto result =
        compiler.CompileGlslToSpv(glsl, shaderc_compute_shader, name.c_str(), "main", settings);
    if (result.GetCompilationStatus() != shaderc_compilation_status_success)
        throw InternalError("GLSL of kernel '" + name + "' does not compile:\n" +
                            result.GetErrorMessage() + numbered_lines(glsl));
    return {result.cbegin(), result.cend()};
}

}  // namespace

std::string shader_compiler_version() {
    unsigned version = 0, revision = 0;
    shaderc_get_spv_version(&version, &revision);
    return std::to_string(version) + '.' + std::to_string(revision) + ' ' +
           spvSoftwareVersionString();
}

std::vector<uint32_t> glsl_to_spirv(const std::string& glsl, const std::string& name,
                                    const SpirvOptions& options) {
    environment(options.vulkan_minor);  // refuses an unknown one
    const auto compiled = [&] {
        std::vector<uint32_t> spirv = compile(glsl, name, options);
        if (options.validate) validate_spirv(spirv, name, options.vulkan_minor);
        return spirv;
    };
    if (options.cache_directory.empty()) return compiled();
    const std::string key = cache_text(glsl, options);
    std::vector<uint32_t> spirv = cached(options.cache_directory, key);
    if (!spirv.empty()) return spirv;
    spirv = compiled();
    cache_put_text(options.cache_directory, kKind, key,
                   {reinterpret_cast<const char*>(spirv.data()), 4 * spirv.size()});
    return spirv;
}

void validate_spirv(std::span<const uint32_t> spirv, const std::string& name, int vulkan_minor) {
    if (const std::string faults = faults_of(spirv, vulkan_minor); !faults.empty())
        throw InternalError("SPIR-V of kernel '" + name + "' is not valid:\n" + faults +
                            spirv_text(spirv, vulkan_minor));
}

std::vector<uint32_t> with_indices_held(std::vector<uint32_t> spirv, const std::string& name,
                                        int vulkan_minor) {
    if (!has_fixed_arrays(spirv)) return spirv;
    spvtools::Optimizer optimizer(environment(vulkan_minor));
    std::string messages;
    optimizer.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                                     const char* message) { messages += message; });
    optimizer.RegisterPass(spvtools::CreateGraphicsRobustAccessPass());
    std::vector<uint32_t> held;
    if (!optimizer.Run(spirv.data(), spirv.size(), &held))
        throw InternalError("SPIR-V of kernel '" + name +
                            "' has indices that cannot be held within their arrays: " + messages);
    return held;
}

std::string spirv_text(std::span<const uint32_t> spirv, int vulkan_minor) {
    spvtools::SpirvTools tools(environment(vulkan_minor));
    std::string text;
    if (!tools.Disassemble(
            std::vector<uint32_t>(spirv.begin(), spirv.end()), &text,
            SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES))
        return "(not SPIR-V: " + std::to_string(spirv.size()) + " words)\n";
    return text;
}

}  // namespace firn
