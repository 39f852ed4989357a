// Queries on kernel code.
#include "compiler/kernel/kernel_code.h"

#include <algorithm>

namespace firn {
const char* name(RangeKind kind) {
    switch (kind) {
        case RangeKind::Grid: return "grid";
        case RangeKind::Group: return "group";
        case RangeKind::Invocation: return "invocation";
        case RangeKind::Serial: return "serial";
        case RangeKind::Subgroup: return "subgroup";
    }
    return "?";
}

DType bits_type(DType floats) { return floats == f64 ? u64 : u32; }

bool holds_bits(const KernelBuffer& buffer, DType used) {
    return used.is_float() && buffer.dtype == bits_type(used);
}

KernelAttr empty_attr(KernelOp op) {
    switch (op) {
        case KernelOp::Constant: return Scalar();
        case KernelOp::Range: return RangeId();
        case KernelOp::Param: return ParamAttr();
        case KernelOp::RegionArg: return CarriedAttr();
        case KernelOp::Result: return PositionAttr();
        case KernelOp::Load:
        case KernelOp::Store:
        case KernelOp::Atomic:
        case KernelOp::Array:
        case KernelOp::MatrixLoad:
        case KernelOp::MatrixStore: return AccessAttr();
        case KernelOp::Lane:
        case KernelOp::SubgroupShuffle: return LaneAttr();
        case KernelOp::For:
        case KernelOp::Branch: return BodyAttr();
        case KernelOp::RowReduce:
        case KernelOp::SubgroupReduce:
        case KernelOp::SubgroupScan: return ReduceOp::Sum;
        default: return {};
    }
}

KernelNode constant_node(const Scalar& value) {
    KernelNode n;
    n.dtype = value.dtype;
    n.attr = value;
    if (!value.dtype.is_float()) n.interval = {value.i, value.i}, n.congruence = {0, value.i};
    return n;
}

double operations_of(const KernelNode& n) {
    return is_elementwise(n.op) || is_combined(n.op) ? body_cost(info(n.op)) : 1;
}

bool is_matrix(KernelOp op) {
    return op == KernelOp::MatrixFill || op == KernelOp::MatrixLoad ||
           op == KernelOp::MatrixMulAdd || op == KernelOp::MatrixCast ||
           op == KernelOp::MatrixStore;
}

bool names_buffer(KernelOp op) { return std::holds_alternative<AccessAttr>(empty_attr(op)); }

bool is_placed(const KernelCode& code) {
    return std::any_of(code.regions.begin(), code.regions.end(),
                       [](const KernelRegion& region) { return !region.order.empty(); });
}

bool is_addressed(const KernelBuffer& buffer) {
    return buffer.space == MemorySpace::Bound && buffer.form == BindingForm::Address;
}

std::vector<DType> param_types(const KernelCode& code) {
    std::vector<DType> types;
    for (const ParamInfo& p : host_params(code)) types.push_back(p.dtype);
    types.insert(
        types.end(),
        static_cast<size_t>(std::count_if(code.buffers.begin(), code.buffers.end(), is_addressed)),
        u64);
    return types;
}

std::vector<ParamInfo> host_params(const KernelCode& code) {
    std::vector<ParamInfo> out;
    for (const ParamInfo& param : code.params)
        if (!code.on_device(param)) out.push_back(param);
    return out;
}

}  // namespace firn
