// Native code for processors as a target: its row.
#include "compiler/target/target.h"

#include "compiler/host/processor.h"
#include "compiler/kernel/back_edges.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/native_abi.h"
#include "compiler/target/native/classes.h"
#include "compiler/target/native/llvm.h"
#include "compiler/target/native/native.h"

namespace firn {

extern const Target kNativeTarget;

namespace {

/// The name of a processor, or `cpu`: the session's own, or the one that this process runs on.
std::optional<DeviceProfile> device_named(const std::string& name, const DeviceProfile& own) {
    if (name == "cpu" && &target_of(own) == &kNativeTarget) return own;
    DeviceProfile profile =
        profile_of_processor(processor_named(name == "cpu" ? "" : name, "save_program"));
    profile.driver = native_compiler_version();
    return profile;
}

BindingForm binding_form(const KernelBuffer&, const DeviceProfile&, const SymbolFacts&) {
    return BindingForm::Storage;
}

/// No binding has a limit of its own: the bytes of all memory that an address reaches.
AssumedSize limited_size(const KernelBuffer& buffer, BindingForm, const DeviceProfile&) {
    return {buffer.elements * Size(buffer.dtype.bytes()), INT64_MAX};
}

int64_t most_bindings(BindingForm form, const DeviceProfile&) {
    return form == BindingForm::Storage ? INT32_MAX : 0;
}

BindingForm instead_of(BindingForm form, const DeviceProfile&) { return form; }

std::array<uint32_t, 3> launched_group(const KernelCode& code, const DeviceProfile&) {
    return code.group_size;
}

// No processor has a limit; one group runs kernels in sequence only if their loops end.
int64_t count(const KernelCode& code, const DeviceProfile&) { return count_back_edges(code); }

std::string cannot(const KernelCode&, const KernelNode& node, const DeviceProfile&) {
    if (!is_matrix(node.op)) return {};
    return std::string(info(node.op).name) +
           " needs a matrix unit, which no processor has that native code is made for";
}

void describe(const KernelCode& code, const DeviceProfile&, const EmitOptions& options,
              KernelInfo& info) {
    info.group_size = code.group_size;
    info.artefact.format = options.checks_accesses ? kCheckedFormat : kNativeFormat;
    info.needs.known = true;  // nothing: every processor of its kind has all
}

void build(KernelInfo& kernel, const DeviceProfile& profile, const BuildOptions& options) {
    kernel.artefact.words = compile_native(kernel.artefact.text, kernel.name,
                                           processor_named(profile.processor, "native code"),
                                           {options.cache_directory});
}

}  // namespace

const Target kNativeTarget{.extension = "ll",
                           .devices = "cpu",
                           .device_named = device_named,
                           .most_alignment = 1,
                           .gains_by_multiples = false,
                           .can_check_accesses = true,
                           .rules = native_rules,
                           .binding_form = binding_form,
                           .limited_size = limited_size,
                           .most_bindings = most_bindings,
                           .instead_of = instead_of,
                           .launched_group = launched_group,
                           .count_back_edges = count,
                           .cannot = cannot,
                           .describe = describe,
                           .emit = emit_native,
                           .build = build,
                           .version = native_compiler_version};

}  // namespace firn
