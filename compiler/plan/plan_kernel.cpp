// A mapped kernel as part of a Program.
#include "compiler/plan/plan_kernel.h"

#include <algorithm>
#include <set>

#include "compiler/base/error.h"
#include "compiler/kernel/bindings.h"
#include "compiler/target/target.h"

namespace firn {

namespace {

int64_t shared_bytes(const KernelCode& code) {
    int64_t bytes = 0;
    for (const KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Shared)
            bytes += b.elements.constant() * std::max(4, b.dtype.bytes());
    return bytes;
}

MatrixUnit used_matrix_unit(const KernelCode& code) {
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::MatrixMulAdd) continue;
        const int depth = code[n.args[0]].matrix.columns;
        return {static_cast<uint32_t>(n.matrix.rows), static_cast<uint32_t>(n.matrix.columns),
                static_cast<uint32_t>(depth)};
    }
    return {};
}

void check_ranges(const KernelCode& code, const DeviceProfile& profile, const std::string& at) {
    for (size_t k = 0; k < bound_buffers(code); ++k) {
        const KernelBuffer& b = code.buffers[k];
        const AssumedSize size = assumed_size(b, profile);
        if (is_addressed(b) || size.size.lower_bound() <= size.most) continue;
        throw UserError("a kernel binds a tensor of " + std::to_string(size.size.lower_bound()) +
                        " bytes, and this device binds " + std::to_string(size.most) +
                        " at once and has no addresses of buffers; split the tensor" + at);
    }
}

/// Returns the user's lines whose sums and products of floats are computed by atomics.
std::string unordered_lines(const KernelCode& code) {
    std::set<std::string> lines;
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::Atomic || !n.dtype.is_float()) continue;
        const ScatterOp combine = n.as<AccessAttr>().combine;
        if (combine == ScatterOp::Add || combine == ScatterOp::Mul)
            lines.insert(n.lines.empty() ? "?" : text(n.lines[0]));
    }
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : ", ") + line;
    return out;
}

}  // namespace

KernelInfo kernel_info(const KernelCode& code, const DeviceProfile& profile, Emission emission,
                       const EmitOptions& options) {
    KernelInfo info;
    const Target& target = target_of(profile);
    target.describe(code, profile, options, info);
    if (emission != Emission::Nothing) info.artefact.text = target.emit(code, profile, options);
    for (size_t k = 0; k < bound_buffers(code); ++k) {
        const KernelBuffer& b = code.buffers[k];
        info.bindings.push_back({b.form, b.dtype, b.width, b.written});
    }
    info.param_types = param_types(code);
    info.back_edges = code.back_edges;
    info.guards = code.guards;
    info.shared_bytes = static_cast<uint32_t>(shared_bytes(code));
    info.matrix_unit = used_matrix_unit(code);
    info.unordered = unordered_lines(code);
    return info;
}

void launch_as(DispatchStep& step, const KernelCode& code) {
    for (size_t dim = 0; dim < 3; ++dim) step.groups[dim] = largest(code.groups[dim]);
    step.params = host_params(code);
    step.buffers.clear();
    for (size_t k = 0; k < bound_buffers(code); ++k) step.buffers.push_back(code.buffers[k].buffer);
}

void check_expressible(const KernelCode& code, const Target& target, const DeviceProfile& profile,
                       const std::string& at) {
    const auto check = [&](const KernelNode& node) {
        std::string why = why_lacks(node.dtype, profile);
        if (why.empty()) why = target.cannot(code, node, profile);
        if (!why.empty())
            throw UserError(why + (node.lines.empty() ? at : " (" + text(node.lines[0]) + ")"));
    };
    for (size_t k = 0; k < code.buffers.size(); ++k) {
        KernelNode load;
        load.op = KernelOp::Load, load.dtype = code.buffers[k].dtype;
        load.attr = AccessAttr{.buffer = static_cast<int>(k)};
        check(load);
    }
    for (const KernelRegion& region : code.regions)
        for (const std::vector<NodeId>* list : {&region.order, &region.effects})
            for (NodeId id : *list) check(code[id]);
}

bool is_within_back_edges(const KernelCode& code, const DeviceProfile& profile) {
    return !profile.max_back_edges ||
           (code.back_edges >= 0 && code.back_edges <= profile.max_back_edges);
}

void check_limits(const KernelCode& code, const DeviceProfile& profile, const std::string& at) {
    const int64_t shared = shared_bytes(code);
    BindingCount bound;
    for (const KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) ++bound[b.form];
    check_ranges(code, profile, at);
    const uint32_t members = code.group_size[0] * code.group_size[1] * code.group_size[2];
    if (shared > static_cast<int64_t>(profile.shared_bytes))
        throw UserError("the shared arrays of this kernel take " + std::to_string(shared) +
                        " bytes and a group on this device has " +
                        std::to_string(profile.shared_bytes) + "; make them smaller" + at);
    if (members > profile.max_group_size)
        throw UserError("a group of this kernel has " + std::to_string(members) +
                        " invocations and this device allows " +
                        std::to_string(profile.max_group_size) + "; make it smaller" + at);
    const std::array<uint32_t, 3> launched = target_of(profile).launched_group(code, profile);
    for (size_t dim = 0; dim < 3; ++dim)
        if (launched[dim] > profile.max_group_extent[dim])
            throw UserError("a group of this kernel is " + std::to_string(launched[dim]) +
                            " wide along one axis and this device allows " +
                            std::to_string(profile.max_group_extent[dim]) +
                            (launched == code.group_size
                                 ? "; share it among the axes"
                                 : ": where lanes exchange values all invocations stand in one "
                                   "row; make the group smaller") +
                            at);
    if (!bound.fits(profile)) {
        const Target& target = target_of(profile);
        const auto most = [&](BindingForm form) {
            return std::to_string(target.most_bindings(form, profile));
        };
        throw UserError("a kernel reads " + std::to_string(bound[BindingForm::View]) +
                        " tensors through views and binds " +
                        std::to_string(bound[BindingForm::Storage]) +
                        " others, and this device binds " + most(BindingForm::View) + " and " +
                        most(BindingForm::Storage) +
                        " at once; split the kernel by hand, or concatenate some tensors" + at);
    }
    if (is_within_back_edges(code, profile)) return;
    if (code.back_edges < 0)
        throw UserError(
            "only the data knows how many iterations a loop in this kernel takes, and this device "
            "stops an invocation after " +
            std::to_string(profile.max_back_edges) + "; bound it, as in loop(min(n, 60000))" + at);
    throw UserError("a loop inside one kernel takes up to " + std::to_string(code.back_edges) +
                    " iterations and this device stops an invocation after " +
                    std::to_string(profile.max_back_edges) + "; split it in two loops" + at);
}

std::optional<KernelCode> remap(const KernelCode& lowered, const Mapping& mapping,
                                const DeviceProfile& profile, const SymbolFacts& facts,
                                const KernelPassOptions& passes) {
    try {
        KernelCode code = map_kernel(lowered, mapping, profile, facts, passes);
        check_limits(code, profile, "");
        return code;
    } catch (const std::exception&) {
        return std::nullopt;  // another version's words: the heuristics know better
    }
}

}  // namespace firn
