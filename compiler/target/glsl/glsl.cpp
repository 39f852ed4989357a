// Stage 6: placed and mapped Kernel code as GLSL.
#include "compiler/target/glsl/glsl.h"

#include <algorithm>
#include <sstream>

#include "compiler/kernel/bindings.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/glsl/declarations.h"
#include "compiler/target/glsl/device_needs.h"
#include "compiler/target/glsl/glsl_run.h"
#include "compiler/target/glsl/leaves.h"
#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/statements.h"

namespace firn {

std::string emit_glsl(const KernelCode& code, const DeviceProfile& profile) {
    GlslRun run(code, profile);
    name_leaves(run);
    write_region(run, kRoot, 1);
    std::ostringstream out;
    declare_kernel(out, run);
    out << math_library(run.functions);
    out << "void main() {\n";
    declare_addressed(out, code);
    read_leaves(out, run);
    out << run.body.str() << "}\n";
    return out.str();
}

std::array<uint32_t, 3> launched_group(const KernelCode& code, const DeviceProfile& profile) {
    const std::array<uint32_t, 3>& size = code.group_size;
    const uint32_t all = size[0] * size[1] * size[2];
    const bool idle = rules_of(profile).subgroups_run_serially &&
                      size[0] % profile.subgroup_size != 0 && all <= profile.max_group_extent[0];
    const bool row = all != size[0] && (idle || uses_lanes(code));
    return row ? std::array<uint32_t, 3>{all, 1, 1} : size;
}

bool needs_param_buffer(const KernelCode& code, const DeviceProfile& profile) {
    return param_offsets(param_types(code)).back() > profile.push_constant_bytes;
}

bool keeps_special_floats(const KernelCode& code, const DeviceProfile& profile) {
    auto is_float = [](const KernelNode& n) { return n.dtype.is_float(); };
    return profile.keeps_special_floats &&
           std::any_of(code.nodes.begin(), code.nodes.end(), is_float);
}

}  // namespace firn
