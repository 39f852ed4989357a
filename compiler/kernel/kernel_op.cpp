// The rows of kernel_ops.def as data, checked when the compiler is built.
#include "compiler/kernel/kernel_op.h"

#include <algorithm>
#include <array>

#include "compiler/base/error.h"

namespace firn {
namespace {

using namespace op_table;

constexpr auto kOps = std::to_array<OpInfo>({
#define ELEMENT(name, arity, types, result, properties) {#name, arity, result, properties, types},
#define OP(name, arity, result, properties) {#name, arity, result, properties},
#include "compiler/kernel/kernel_ops.def"
#undef OP
});
static_assert(std::all_of(kOps.begin(), kOps.end(), is_sound),
              "a row of kernel_ops.def contradicts itself");

// Both tables begin with the same rows.
#define OP(name, arity, result, properties) \
    static_assert(static_cast<int>(Op::name) == static_cast<int>(KernelOp::name));
#include "compiler/ir/elementwise.def"
#undef OP

}  // namespace

const OpInfo& info(KernelOp op) { return kOps[static_cast<size_t>(op)]; }

std::optional<KernelOp> find_kernel_op(std::string_view name) {
    const auto row = std::find_if(kOps.begin(), kOps.end(),
                                  [&](const OpInfo& each) { return each.name == name; });
    if (row == kOps.end()) return std::nullopt;
    return static_cast<KernelOp>(row - kOps.begin());
}

KernelOp for_any_angle(KernelOp op) {
    switch (op) {
        case KernelOp::SinOfFew: return KernelOp::Sin;
        case KernelOp::CosOfFew: return KernelOp::Cos;
        case KernelOp::TanOfFew: return KernelOp::Tan;
        default: return op;
    }
}

bool is_exact_on_halves(KernelOp op) {
    switch (op) {
        case KernelOp::Neg:
        case KernelOp::Abs:
        case KernelOp::Sign:
        case KernelOp::Floor:
        case KernelOp::Ceil:
        case KernelOp::Round:
        case KernelOp::Trunc:
        case KernelOp::Min:
        case KernelOp::Max: return true;
        default: return false;
    }
}

KernelOp kernel_op(Op op) {
    ensure(is_elementwise(op), "an operation of the Graph alone in kernel code");
    return static_cast<KernelOp>(op);
}

Op graph_op(KernelOp op) {
    ensure(is_elementwise(op), "an operation of kernel code alone in the Graph");
    return static_cast<Op>(op);
}

}  // namespace firn
