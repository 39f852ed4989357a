// The operations of kernel code, from the one table in kernel_ops.def. The elementwise ones are the
// Graph's.
#pragma once
#include "compiler/ir/op.h"

namespace firn {

enum class KernelOp : uint8_t {
#define OP(name, arity, result, properties) name,
#include "compiler/kernel/kernel_ops.def"
#undef OP
};

const OpInfo& info(KernelOp op);
inline bool is_elementwise(KernelOp op) { return info(op).properties & kElementwise; }
inline bool is_combined(KernelOp op) { return info(op).properties & kCombined; }
/// Returns Sin, Cos or Tan for SinOfFew, CosOfFew or TanOfFew; any other operation itself.
KernelOp for_any_angle(KernelOp op);
/// The result for operands of f16 or bf16 is representable: it needs no rounding.
bool is_exact_on_halves(KernelOp op);
/// Cost of one evaluation in simple operations.
inline double operation_cost(KernelOp op) { return operation_cost(info(op)); }
/// The operation by its name (`Add`); nothing where there is none.
std::optional<KernelOp> find_kernel_op(std::string_view name);
inline constexpr int kElementwiseCount = 0
#define OP(name, arity, result, properties) +1
#include "compiler/ir/elementwise.def"
#undef OP
    ;
/// The same elementwise operation in the other table.
KernelOp kernel_op(Op op);
Op graph_op(KernelOp op);

}  // namespace firn
