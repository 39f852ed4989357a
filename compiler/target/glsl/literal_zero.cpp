// Arithmetic with a literal 0, which software drivers fold as if there were no -0, inf or nan.
#include "compiler/target/glsl/literal_zero.h"

#include <cmath>
#include <limits>

#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

/// +0 or -0, written as a literal.
bool is_zero(const KernelNode& n) {
    const auto* constant = n.get_if<Scalar>();
    return constant && constant->f == 0;
}
/// llvmpipe folds +0 only: it takes -0 for any other number.
bool is_plus_zero(const KernelNode& n) { return is_zero(n) && !std::signbit(n.as<Scalar>().f); }

}  // namespace

std::string literal_zero_glsl(const KernelCode& code, const KernelNode& node,
                              const std::vector<std::string>& operands) {
    if (!node.dtype.is_float() || operands.size() != 2) return "";
    const KernelNode &left = code[node.args[0]], &right = code[node.args[1]];
    const std::string type = node.dtype == f64 ? "_f64(" : "_f32(";
    switch (node.op) {
        case KernelOp::Add:
            if (is_plus_zero(left)) return "firn_plus_zero" + type + operands[1] + ")";
            if (is_plus_zero(right)) return "firn_plus_zero" + type + operands[0] + ")";
            return "";
        case KernelOp::Sub:
            return is_plus_zero(left) ? "firn_zero_minus" + type + operands[1] + ")" : "";
        case KernelOp::Mul:
            if (is_plus_zero(left)) return "firn_times_zero" + type + operands[1] + ")";
            if (is_plus_zero(right)) return "firn_times_zero" + type + operands[0] + ")";
            return "";
        case KernelOp::Div:
            if (is_zero(right)) {
                // The same value as x / 0, and no division that a driver could drop.
                const double infinity = std::numeric_limits<double>::infinity();
                const Scalar inverse =
                    scalar_float(std::copysign(infinity, right.as<Scalar>().f), node.dtype);
                return "(" + operands[0] + " * " + glsl_literal(inverse) + ")";
            }
            return is_plus_zero(left) ? "firn_zero_over" + type + operands[1] + ")" : "";
        case KernelOp::Mod:
            // nan by 0 and nan; by anything else a 0 with the divisor's sign is left of 0.
            if (is_zero(right))
                return glsl_literal(
                    scalar_float(std::numeric_limits<double>::quiet_NaN(), node.dtype));
            if (!is_plus_zero(left)) return "";
            return "firn_zero_over" + type + operands[1] + ")";
        default: return "";
    }
}

}  // namespace firn
