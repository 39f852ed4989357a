// Writes the leaves of a kernel's values: constants, parameters and indices of the grid.
#include "compiler/target/glsl/leaves.h"

#include <ostream>
#include <string>

#include "compiler/base/error.h"
#include "compiler/target/glsl/device_needs.h"
#include "compiler/target/glsl/glsl.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/subgroups.h"

namespace firn {
namespace {

const char* const kDim[] = {"x", "y", "z"};

std::string param_text(const KernelCode& code, size_t k) {
    const std::string name = "p" + std::to_string(k);
    return code.params[k].dtype.is_bool() ? "(" + name + " != 0u)" : name;
}

std::string held_name(size_t k) { return "held" + std::to_string(k); }

/// The index along a dimension of a group that is launched as one row.
std::string index_in_row(const std::array<uint32_t, 3>& group, int dim) {
    const std::string x = std::to_string(group[0]) + "u", row = "gl_LocalInvocationIndex";
    if (dim == 0) return "int(" + row + " % " + x + ")";
    if (dim == 2) return "int(" + row + " / " + std::to_string(group[0] * group[1]) + "u)";
    const std::string below = row + " / " + x;
    return "int(" + (group[2] > 1 ? below + " % " + std::to_string(group[1]) + "u" : below) + ")";
}

std::string range_text(const GlslRun& run, const Range& range) {
    const std::string dim = kDim[range.dim];
    switch (range.kind) {
        case RangeKind::Group: return "int(gl_WorkGroupID." + dim + ")";
        case RangeKind::Invocation:
            if (run.launched == run.code.group_size) return "int(gl_LocalInvocationID." + dim + ")";
            return uses_lanes(run.code) ? index_by_subgroups(run, range.dim)
                                        : index_in_row(run.code.group_size, range.dim);
        case RangeKind::Subgroup:
            return range.dim ? "int(gl_SubgroupID)" : "int(gl_SubgroupInvocationID)";
        default:
            throw InternalError("emit: a range of kind " + std::string(name(range.kind)) +
                                " reached the emitter");
    }
}

/// The sizes that only the device knows, from their buffer.
void load_sizes(std::ostream& out, const KernelCode& code) {
    size_t next = 0;
    for (size_t k = 0; k < code.params.size(); ++k)
        if (code.on_device(code.params[k]))
            out << "    int p" << k << " = b" << code.sizes_buffer << "[p" << code.params.size() - 1
                << " + " << next++ << "];\n";
}

}  // namespace

void name_leaves(GlslRun& run) {
    for (NodeId id : run.code.nodes.ids()) {
        const KernelNode& n = run.code[id];
        if (const auto* constant = n.get_if<Scalar>()) run.text[id] = glsl_literal(*constant);
        if (const auto* own = n.get_if<ParamAttr>()) {
            const auto k = static_cast<size_t>(own->param);
            run.text[id] = run.uses.held[k] ? held_name(k) : param_text(run.code, k);
        }
        if (n.op == KernelOp::RegionArg) run.text[id] = "a" + std::to_string(id.number());
        if (const auto* range = n.get_if<RangeId>())
            run.text[id] = "r" + std::to_string(range->number());
    }
}

void read_leaves(std::ostream& out, const GlslRun& run) {
    const KernelCode& code = run.code;
    load_sizes(out, code);
    for (RangeId range : code.ranges.ids())
        if (run.uses.range[range] && code[range].kind != RangeKind::Serial)
            out << "    int r" << range.number() << " = " << range_text(run, code[range]) << ";\n";
    for (size_t k = 0; k < code.params.size(); ++k)
        if (run.uses.held[k])
            out << "    " << glsl_type(code.params[k].dtype) << " " << held_name(k) << " = "
                << param_text(code, k) << ";\n";
}

}  // namespace firn
