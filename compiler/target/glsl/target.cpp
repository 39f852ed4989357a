// GLSL for Vulkan as a target: its row.
#include "compiler/target/target.h"

#include "compiler/kernel/back_edges.h"
#include "compiler/program/spirv_format.h"
#include "compiler/program/vulkan_limits.h"
#include "compiler/target/glsl/binding_forms.h"
#include "compiler/target/glsl/classes.h"
#include "compiler/target/glsl/device_needs.h"
#include "compiler/target/glsl/glsl.h"
#include "compiler/target/glsl/loop_chains.h"
#include "compiler/target/glsl/spirv.h"

namespace firn {

extern const Target kGlslTarget;

namespace {

int64_t count(const KernelCode& code, const DeviceProfile& profile) {
    return count_back_edges(code, loops_apart(code, profile));
}

std::optional<DeviceProfile> device_named(const std::string& name, const DeviceProfile& own) {
    if (name == "vulkan-least") return least_profile();
    if (name != "vulkan") return std::nullopt;
    return &target_of(own) == &kGlslTarget ? own : cpu_profile();
}

std::string cannot(const KernelCode&, const KernelNode&, const DeviceProfile&) { return {}; }

void describe(const KernelCode& code, const DeviceProfile& profile, const EmitOptions&,
              KernelInfo& info) {
    info.artefact.format = kSpirvFormat;
    info.group_size = launched_group(code, profile);
    info.params_in_buffer = needs_param_buffer(code, profile);
    info.needs = needs_of(code, profile);
    info.keeps_special_floats = keeps_special_floats(code, profile);
}

std::string emit_text(const KernelCode& code, const DeviceProfile& profile, const EmitOptions&) {
    return emit_glsl(code, profile);
}

void build(KernelInfo& kernel, const DeviceProfile&, const BuildOptions& options) {
    SpirvOptions spirv;
    spirv.cache_directory = options.cache_directory;
    spirv.validate = options.validate;
    kernel.artefact.words = glsl_to_spirv(kernel.artefact.text, kernel.name, spirv);
}

}  // namespace

const Target kGlslTarget{.extension = "comp",
                         .devices = "vulkan",
                         .device_named = device_named,
                         .most_alignment = kLeastAlignment,
                         .gains_by_multiples = true,
                         .can_check_accesses = false,
                         .rules = glsl_rules,
                         .binding_form = glsl_binding_form,
                         .limited_size = glsl_limited_size,
                         .most_bindings = glsl_most_bindings,
                         .instead_of = glsl_instead_of,
                         .launched_group = launched_group,
                         .count_back_edges = count,
                         .cannot = cannot,
                         .describe = describe,
                         .emit = emit_text,
                         .build = build,
                         .version = shader_compiler_version};

}  // namespace firn
