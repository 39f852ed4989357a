// Kernels in other languages, through SPIRV-Cross where the tool was built with it.
#include "apps/tool/translate.h"

#include <string>

#include "compiler/base/error.h"
#include "compiler/program/spirv_format.h"

#ifdef FIRN_WITH_SPIRV_CROSS
#include <spirv_cross/spirv_cross_c.h>
#endif

namespace firn::tool {
namespace {

struct LanguageRow {
    Language language;
    const char* name;
    const char* ending;
    const char* entry;
};
constexpr LanguageRow kLanguages[] = {{Language::Spirv, "spirv", ".spv", "main"},
                                      {Language::Glsl, "glsl", ".comp", "main"},
                                      {Language::Hlsl, "hlsl", ".hlsl", "main"},
                                      {Language::Msl, "msl", ".metal", "main0"}};

const LanguageRow& row_of(Language language) {
    for (const LanguageRow& row : kLanguages)
        if (row.language == language) return row;
    throw InternalError("internal error: a language without a row");
}

#ifdef FIRN_WITH_SPIRV_CROSS

constexpr unsigned kShaderModel = 62;  // the first with types of 16 bits
constexpr unsigned kGlslVersion = 460;
constexpr unsigned kMetalVersion = SPVC_MAKE_MSL_VERSION(2, 3, 0);  // atomics and texel buffers

/// Owns a context of SPIRV-Cross, and throws its messages.
class Translation {
  public:
    explicit Translation(const KernelInfo& kernel) : kernel_(kernel) {
        if (spvc_context_create(&context_) != SPVC_SUCCESS)
            throw UserError("SPIRV-Cross could not be started");
        // SPIRV-Cross prints its messages by default.
        spvc_context_set_error_callback(
            context_, [](void*, const char*) {}, nullptr);
    }
    ~Translation() { spvc_context_destroy(context_); }
    Translation(const Translation&) = delete;
    Translation& operator=(const Translation&) = delete;

    std::string into(Language language) {
        const std::vector<uint32_t>& words = kernel_.artefact.words;
        spvc_parsed_ir parsed = nullptr;
        check(spvc_context_parse_spirv(context_, words.data(), words.size(), &parsed));
        const spvc_backend backend = language == Language::Hlsl  ? SPVC_BACKEND_HLSL
                                     : language == Language::Msl ? SPVC_BACKEND_MSL
                                                                 : SPVC_BACKEND_GLSL;
        check(spvc_context_create_compiler(context_, backend, parsed,
                                           SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler_));
        check(spvc_compiler_create_compiler_options(compiler_, &options_));
        if (language == Language::Hlsl)
            prepare_hlsl();
        else if (language == Language::Msl)
            prepare_metal();
        else
            prepare_glsl();
        const char* text = nullptr;
        check(spvc_compiler_compile(compiler_, &text));
        return text;
    }

  private:
    void check(spvc_result result) {
        if (result != SPVC_SUCCESS)
            throw UserError(std::string("SPIRV-Cross says: ") +
                            spvc_context_get_last_error_string(context_));
    }
    void set(spvc_compiler_option option, unsigned value) {
        check(spvc_compiler_options_set_uint(options_, option, value));
    }
    unsigned behind_bindings() const { return static_cast<unsigned>(kernel_.bindings.size()); }

    void prepare_glsl() {
        set(SPVC_COMPILER_OPTION_GLSL_VERSION, kGlslVersion);
        set(SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, 1);
        check(spvc_compiler_install_compiler_options(compiler_, options_));
    }
    void prepare_hlsl() {
        set(SPVC_COMPILER_OPTION_HLSL_SHADER_MODEL, kShaderModel);
        set(SPVC_COMPILER_OPTION_HLSL_ENABLE_16BIT_TYPES, 1);
        set(SPVC_COMPILER_OPTION_HLSL_FORCE_STORAGE_BUFFER_AS_UAV, 1);
        check(spvc_compiler_install_compiler_options(compiler_, options_));
        if (kernel_.params_in_buffer || kernel_.param_types.empty()) return;
        spvc_hlsl_root_constants constants{0, param_offsets(kernel_.param_types).back(),
                                           behind_bindings(), 0};
        check(spvc_compiler_hlsl_set_root_constants_layout(compiler_, &constants, 1));
    }
    void prepare_metal() {
        set(SPVC_COMPILER_OPTION_MSL_VERSION, kMetalVersion);
        set(SPVC_COMPILER_OPTION_MSL_TEXTURE_BUFFER_NATIVE, 1);
        check(spvc_compiler_install_compiler_options(compiler_, options_));
        for (unsigned k = 0; k <= behind_bindings(); ++k) bind_metal(0, k, k);
        bind_metal(SPVC_MSL_PUSH_CONSTANT_DESC_SET, SPVC_MSL_PUSH_CONSTANT_BINDING,
                   behind_bindings());
    }
    void bind_metal(unsigned set, unsigned binding, unsigned index) {
        spvc_msl_resource_binding place;
        spvc_msl_resource_binding_init(&place);
        place.stage = SpvExecutionModelGLCompute;
        place.desc_set = set, place.binding = binding;
        place.msl_buffer = index, place.msl_texture = index;
        check(spvc_compiler_msl_add_resource_binding(compiler_, &place));
    }

    const KernelInfo& kernel_;
    spvc_context context_ = nullptr;
    spvc_compiler compiler_ = nullptr;
    spvc_compiler_options options_ = nullptr;
};

#endif

}  // namespace

Language language_named(const std::string& name) {
    for (const LanguageRow& row : kLanguages)
        if (name == row.name) return row.language;
    throw UserError("--to " + name + ": there is no such language; give spirv, glsl, hlsl or msl");
}

std::string ending_of(Language language) { return row_of(language).ending; }
std::string entry_of(Language language) { return row_of(language).entry; }

std::string why_not_translated(Language language, const Program& program) {
    for (const KernelInfo& kernel : program.kernels)
        if (kernel.artefact.format != kSpirvFormat)
            return "its kernels are not SPIR-V but of the format '" + kernel.artefact.format +
                   "'; choose a form for Vulkan by --form, or save the program for Vulkan";
#ifndef FIRN_WITH_SPIRV_CROSS
    bool has_text = language == Language::Glsl;
    for (const KernelInfo& kernel : program.kernels) has_text &= !kernel.artefact.text.empty();
    if (language != Language::Spirv && !has_text)
        return "this tool was built without SPIRV-Cross, which translates SPIR-V; install "
               "libspirv-cross-c-shared-dev and build it again, or give --to spirv";
#else
    (void)language;
#endif
    return "";
}

std::string translated(Language language, const KernelInfo& kernel) {
    if (language == Language::Spirv)
        return {reinterpret_cast<const char*>(kernel.artefact.words.data()),
                4 * kernel.artefact.words.size()};
    if (language == Language::Glsl && !kernel.artefact.text.empty()) return kernel.artefact.text;
#ifdef FIRN_WITH_SPIRV_CROSS
    return Translation(kernel).into(language);
#else
    throw UserError("this tool was built without SPIRV-Cross");
#endif
}

}  // namespace firn::tool
