// Counts from its code which features of a device a kernel needs.
#include "compiler/target/glsl/device_needs.h"

#include <vector>

namespace firn {
namespace {

/// Calls `visit` with every node that a placed kernel evaluates or has an effect by, and with the
/// leaves that these and its results use; with some more than once.
template <class Visit>
void for_live_nodes(const KernelCode& code, const Visit& visit) {
    for (const KernelRegion& region : code.regions) {
        for (const std::vector<NodeId>* list : {&region.order, &region.effects})
            for (NodeId id : *list) {
                visit(code[id]);
                for (NodeId arg : code[id].args) visit(code[arg]);
            }
        for (NodeId id : region.yields) visit(code[id]);
    }
}

void count_type(DeviceNeeds& needs, DType dtype) {
    needs.f64 |= dtype == f64;
    needs.i64 |= dtype == i64 || dtype == u64;
}

void count_buffer(DeviceNeeds& needs, const KernelBuffer& buffer, const DeviceProfile& profile) {
    count_type(needs, buffer.dtype);
    if (buffer.space != MemorySpace::Bound || buffer.dtype.is_bool()) return;
    // Elements that the device cannot store as such lie in words, side by side.
    needs.bits_16 |= buffer.dtype.bytes() == 2 && profile.storage_16bit;
    needs.bits_8 |= buffer.dtype.bytes() == 1 && profile.storage_8bit;
    needs.addresses |= is_addressed(buffer);
}

void count_atomic(DeviceNeeds& needs, const KernelCode& code, const KernelNode& n) {
    const auto& access = n.as<AccessAttr>();
    const KernelBuffer& buffer = code.buffers[static_cast<size_t>(access.buffer)];
    if (buffer.space == MemorySpace::Private) return;  // its invocation alone reaches it
    needs.wide_atomics |= buffer.dtype.bytes() == 8;
    needs.float_atomics |= n.dtype.is_float() && access.combine != ScatterOp::Last &&
                           access.combine != ScatterOp::Mul && !holds_bits(buffer, n.dtype);
}

}  // namespace

bool uses_lanes(const KernelCode& code) {
    bool uses = false;
    for_live_nodes(code, [&](const KernelNode& n) {
        uses |= n.op == KernelOp::SubgroupReduce || n.op == KernelOp::SubgroupShuffle ||
                n.op == KernelOp::SubgroupScan || n.op == KernelOp::SubgroupRead ||
                is_matrix(n.op) ||
                (n.op == KernelOp::Range && code[n.as<RangeId>()].kind == RangeKind::Subgroup);
    });
    return uses;
}

DeviceNeeds needs_of(const KernelCode& code, const DeviceProfile& profile) {
    DeviceNeeds needs;
    needs.known = true;
    needs.subgroups = uses_lanes(code);
    for (const KernelBuffer& buffer : code.buffers) count_buffer(needs, buffer, profile);
    for (const ParamInfo& param : code.params) count_type(needs, param.dtype);
    for_live_nodes(code, [&](const KernelNode& n) {
        count_type(needs, n.dtype);
        if (n.op == KernelOp::Atomic) count_atomic(needs, code, n);
        const bool rounded = n.op == KernelOp::Div || n.op == KernelOp::Sqrt;
        needs.exact_division |= rounded && n.dtype.is_float() && n.dtype != f64;
        needs.bits_16 |= is_matrix(n.op);
    });
    return needs;
}

}  // namespace firn
