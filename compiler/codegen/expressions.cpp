// What nodes compute from values, as expressions.
#include "compiler/codegen/expressions.h"

#include <string_view>

#include "compiler/codegen/elements.h"
#include "compiler/codegen/literal_zero.h"
#include "compiler/codegen/matrices.h"
#include "compiler/codegen/operations.h"
#include "compiler/codegen/subgroups.h"

namespace firn {
namespace {

const char* const kLane[] = {"x", "y", "z", "w"};

/// 1 + tanh(x) where nobody else asks for the tanh: half the work of its parts. Else empty.
std::string one_plus_tanh(const KernelCode& code, const KernelNode& n,
                          const std::vector<std::string>& operands) {
    static constexpr std::string_view kTanh = "firn_tanh(";
    if (n.op != KernelOp::Add || n.dtype != f32) return "";
    for (size_t k = 0; k < 2; ++k) {
        const KernelNode& one = code.nodes[n.args[1 - k]];
        if (one.op == KernelOp::Constant && one.constant.f == 1 && operands[k].starts_with(kTanh))
            return "firn_one_plus_tanh(" + operands[k].substr(kTanh.size());
    }
    return "";
}

/// 0 <= x and x < n in one comparison: a negative x is a large one without its sign. Else empty.
std::string range_test(const GlslRun& run, const KernelNode& n) {
    if (n.op != KernelOp::And || n.dtype != boolean) return "";
    const std::vector<KernelNode>& nodes = run.code.nodes;
    for (size_t k = 0; k < 2; ++k) {
        const KernelNode &low = nodes[n.args[k]], &high = nodes[n.args[1 - k]];
        if (low.op != KernelOp::LessEqual || high.op != KernelOp::Less ||
            low.args[1] != high.args[0])
            continue;
        const KernelNode &zero = nodes[low.args[0]], &end = nodes[high.args[1]];
        if (zero.op == KernelOp::Constant && zero.dtype == i32 && zero.constant.i == 0 &&
            end.interval.lo >= 0)
            return "(uint(" + run.text[high.args[0]] + ") < uint(" + run.text[high.args[1]] + "))";
    }
    return "";
}

/// Integer division of indices that are known to be nonnegative needs no care for signs and zero.
bool plain_quotient(const KernelCode& code, const KernelNode& n) {
    return (n.op == KernelOp::Div || n.op == KernelOp::Mod) && n.dtype == i32 &&
           code.nodes[n.args[0]].interval.lo >= 0 && code.nodes[n.args[1]].interval.lo >= 1;
}

std::string elementwise_text(const GlslRun& run, const KernelNode& n) {
    std::vector<DType> types;
    std::vector<std::string> operands;
    for (int arg : n.args) {
        types.push_back(run.code.nodes[arg].dtype);
        operands.push_back(run.text[arg]);
    }
    if (std::string special = literal_zero_glsl(run.code, n, operands); !special.empty())
        return special;
    if (std::string sigmoid = one_plus_tanh(run.code, n, operands); !sigmoid.empty())
        return sigmoid;
    if (std::string inside = range_test(run, n); !inside.empty()) return inside;
    if (plain_quotient(run.code, n))
        return "(" + operands[0] + (n.op == KernelOp::Div ? " / " : " % ") + operands[1] + ")";
    if (!run.profile.compares_widened && n.op == KernelOp::Cast && widens(n.dtype, types[0]))
        return widened_glsl(n.dtype, operands[0]);
    return operation_glsl(n.op, n.dtype, types, operands);
}

}  // namespace

std::string expression_text(GlslRun& run, const KernelNode& n) {
    switch (n.op) {
        case KernelOp::Load: return load_text(run, n);
        case KernelOp::SubgroupShuffle:
        case KernelOp::SubgroupRead: return shuffle_text(run, n);
        case KernelOp::MatrixFill:
        case KernelOp::MatrixCast:
        case KernelOp::MatrixMulAdd: return matrix_text(run, n);
        case KernelOp::Lane: {
            const std::string lane = run.text[n.args[0]] + "." + kLane[n.lane];
            return n.dtype.is_bool() ? "(" + lane + " != 0u)" : lane;
        }
        default: break;
    }
    std::string out = elementwise_text(run, n);
    note_functions(run, out);
    return out;
}

std::string combined_text(GlslRun& run, KernelOp op, DType dtype, const std::string& a,
                          const std::string& b) {
    std::string out = operation_glsl(op, dtype, {dtype, dtype}, {a, b});
    note_functions(run, out);
    return out;
}

}  // namespace firn
