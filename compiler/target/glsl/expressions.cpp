// Writes nodes that compute values from values, as expressions.
#include "compiler/target/glsl/expressions.h"

#include "compiler/target/glsl/elements.h"
#include "compiler/target/glsl/literal_zero.h"
#include "compiler/target/glsl/matrices.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/remainders.h"
#include "compiler/target/glsl/subgroups.h"

namespace firn {
namespace {

const char* const kLane[] = {"x", "y", "z", "w"};

/// Integer division of indices that are known to be nonnegative needs no care for signs and zero.
bool plain_quotient(const KernelCode& code, const KernelNode& n) {
    return (n.op == KernelOp::Div || n.op == KernelOp::Mod) && n.dtype == i32 &&
           code[n.args[0]].interval.lo >= 0 && code[n.args[1]].interval.lo >= 1;
}

std::string elementwise_text(const GlslRun& run, const KernelNode& n) {
    std::vector<DType> types;
    std::vector<std::string> operands;
    for (NodeId arg : n.args) {
        types.push_back(run.code[arg].dtype);
        operands.push_back(run.text[arg]);
    }
    if (std::string special = literal_zero_glsl(run.code, n, operands); !special.empty())
        return special;
    if (n.op == KernelOp::Mod && n.dtype.is_float()) return remainder_text(run, n, operands);
    if (plain_quotient(run.code, n))
        return "(" + operands[0] + (n.op == KernelOp::Div ? " / " : " % ") + operands[1] + ")";
    return operation_glsl(run.profile, n.op, n.dtype, types, operands);
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
            const std::string lane = run.text[n.args[0]] + "." + kLane[n.as<LaneAttr>().lane];
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
