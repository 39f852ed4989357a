// Sums with products and quotients by roots, which are one operation, as LLVM IR.
#include <algorithm>

#include "compiler/target/native/operation.h"
#include "compiler/target/native/roots.h"

namespace firn::native {
namespace {

/// A factor is masked where it is loaded, or broadcast.
bool masks_easily(const IrRun& run, NodeId factor) {
    const KernelOp op = run.code[factor].op;
    return op == KernelOp::Load || op == KernelOp::Lane || !run.varying[factor];
}

/// A product, or one that is 0 without a condition.
struct Product {
    NodeId mul, condition;
};
Product product_of(const Operation& o, NodeId id) {
    const KernelNode& n = o.run.code[id];
    if (n.op == KernelOp::Mul) return {id, {}};
    if (n.op != KernelOp::Select || !o.varying) return {};
    const auto* otherwise = o.run.code[n.args[2]].get_if<Scalar>();
    const KernelNode& mul = o.run.code[n.args[1]];
    if (!otherwise || mul.op != KernelOp::Mul ||
        !(constant_text(*otherwise) == constant_text(scalar_float(0, n.dtype))))
        return {};
    const bool easy = std::all_of(mul.args.begin(), mul.args.end(),
                                  [&](NodeId arg) { return masks_easily(o.run, arg); });
    return easy ? Product{n.args[1], n.args[0]} : Product{};
}

/// A product of a function's definition that nothing but one sum takes. If it is exact, so that a
/// later step takes the rest of the sum, the sum is the same; else it loses one rounding error.
bool is_term_of_function(const Operation& o, NodeId mul) {
    if (o.run.arguments.empty()) return false;
    int64_t uses = 0;
    for (const KernelNode& n : o.run.code.nodes)
        uses += std::count(n.args.begin(), n.args.end(), mul);
    for (const KernelRegion& region : o.run.code.regions)
        uses += std::count(region.yields.begin(), region.yields.end(), mul);
    return uses == 1;
}

}  // namespace

bool accumulates(const IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (n.op == KernelOp::Result) return run.code[n.args[0]].op == KernelOp::For;
    return n.op == KernelOp::RegionArg || run.sums[id];
}

std::string fused(const Operation& o, const KernelNode& n) {
    if (!o.run.contract || (o.operand != f32 && o.operand != f64) ||
        (o.op != KernelOp::Add && o.op != KernelOp::Sub))
        return {};
    const Product products[] = {product_of(o, n.args[0]), product_of(o, n.args[1])};
    if (!products[0].mul == !products[1].mul) return {};
    const size_t k = products[0].mul ? 0 : 1;
    if (!accumulates(o.run, n.args[1 - k]) && !is_term_of_function(o, products[k].mul)) return {};
    const KernelNode& mul = o.run.code[products[k].mul];
    // Without the condition both factors are 0, and so is their product, whatever they were.
    std::string mask;
    if (const NodeId condition = products[k].condition) {
        if (value_of(o.run, condition).text == "poison") return {};
        mask = as_vector(o.run, value_of(o.run, condition), boolean);
    }
    const auto value = [&](NodeId id) {
        const IrValue& v = value_of(o.run, id);
        const std::string all = o.varying ? as_vector(o.run, v, o.operand) : v.text;
        return mask.empty() ? all : o.select(mask, all, o.number(0));
    };
    for (NodeId arg : mul.args)
        if (value_of(o.run, arg).text == "poison" || (!o.varying && value_of(o.run, arg).varying))
            return {};
    const auto negated = [&](const std::string& x) { return o.emit("fneg " + o.type() + " " + x); };
    std::string a = value(mul.args[0]), rest = o.in[1 - k];
    if (o.op == KernelOp::Sub && k == 0) rest = negated(rest);
    if (o.op == KernelOp::Sub && k == 1) a = negated(a);
    return o.call("fma", {a, value(mul.args[1]), rest});
}

std::string quotient_by_root(const Operation& o, const KernelNode& n) {
    if (n.op != KernelOp::Div || !o.varying || o.operand != f32) return {};
    const KernelNode& root = o.run.code[n.args[1]];
    if (root.op != KernelOp::Sqrt) return {};
    const IrValue x = value_of(o.run, root.args[0]);
    if (!x.is_vector() || x.text == "poison") return {};
    const std::string inverse = inverse_root(o.run, x.text);
    return inverse.empty() ? "" : o.binary("fmul", o.in[0], inverse);
}

}  // namespace firn::native
