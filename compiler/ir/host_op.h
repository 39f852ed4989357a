// Operations that the host computes too.
#pragma once
#include <optional>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/program/host_scalar.h"

namespace firn {

inline constexpr std::pair<Op, HostOp> kHostOps[] = {
    {Op::Neg, HostOp::Neg},   {Op::Abs, HostOp::Abs},     {Op::Floor, HostOp::Floor},
    {Op::Sqrt, HostOp::Sqrt}, {Op::Rsqrt, HostOp::Rsqrt}, {Op::Rcp, HostOp::Rcp},
    {Op::Exp, HostOp::Exp},   {Op::Exp2, HostOp::Exp2},   {Op::Log, HostOp::Log},
    {Op::Log2, HostOp::Log2}, {Op::Sin, HostOp::Sin},     {Op::Cos, HostOp::Cos},
    {Op::Tan, HostOp::Tan},   {Op::Tanh, HostOp::Tanh},   {Op::Add, HostOp::Add},
    {Op::Sub, HostOp::Sub},   {Op::Mul, HostOp::Mul},     {Op::Div, HostOp::Div},
    {Op::Min, HostOp::Min},   {Op::Max, HostOp::Max},     {Op::Pow, HostOp::Pow},
};

inline std::optional<HostOp> host_op(Op op) {
    for (const auto& [ours, hosts] : kHostOps)
        if (ours == op) return hosts;
    return std::nullopt;
}

/// Returns the Op of a HostOp that has operands.
inline std::optional<Op> op_of(HostOp op) {
    for (const auto& [ours, hosts] : kHostOps)
        if (hosts == op) return ours;
    return std::nullopt;
}

}  // namespace firn
