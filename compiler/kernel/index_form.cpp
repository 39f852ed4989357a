// Indices of a lowered kernel as sums over its ranges.
#include "compiler/kernel/index_form.h"

#include "compiler/base/error.h"

namespace firn {
namespace {

/// The ranges along which `a` moves by 1, and `b` does not.
void insert_lone(std::set<RangeId>& to, const IndexForm& a, const IndexForm& b) {
    auto insert = [&](RangeId range) {
        if (!b.depends_on(range) && stride(a, range) == Stride::One) to.insert(range);
    };
    for (const auto& [range, step] : a.sum.terms) insert(range);
    for (RangeId range : a.clamped) insert(range);
}

/// a + b times `sign`.
IndexForm sum(const IndexForm& a, const IndexForm& b, int64_t sign) {
    IndexForm out{plus(a.sum, b.sum, Size(sign)), a.rest + Congruence{0, sign} * b.rest, a.others};
    out.others.insert(b.others.begin(), b.others.end());
    insert_lone(out.clamped, a, b);
    if (sign == 1) insert_lone(out.clamped, b, a);
    std::erase_if(out.clamped, [&](RangeId range) { return !out.others.contains(range); });
    out.carried = a.carried || b.carried;
    return out;
}

IndexForm product(const IndexForm& a, const Size& by) {
    return {scaled(a.sum, by), a.rest * Congruence{by.divisor(), 0}, a.others, {}, a.carried};
}

}  // namespace

Stride stride(const IndexForm& form, RangeId range) {
    if (!form.depends_on(range)) return Stride::None;
    const bool one = form.others.contains(range) ? form.clamped.contains(range)
                                                 : coefficient_of(form.sum, range).is(1);
    return one ? Stride::One : Stride::Other;
}

const IndexForm& IndexForms::of(NodeId node) {
    if (const auto at = known_.find(node); at != known_.end()) return at->second;
    IndexForm out = find(code_[node]);
    return known_.emplace(node, std::move(out)).first->second;
}

IndexForm IndexForms::find(const KernelNode& n) {
    if (const auto* value = n.get_if<Scalar>()) return {{{}, Size(value->i)}};
    if (const auto* given = n.get_if<ParamAttr>()) {
        const ParamInfo& param = code_.params[static_cast<size_t>(given->param)];
        if (param.scalar < 0) return {{{}, param.size}};
    }
    if (const auto* range = n.get_if<RangeId>()) return {{{{*range, Size(1)}}, Size(0)}};
    if (n.dtype != i32 || n.args.size() != 2) return rest(n);
    const IndexForm &a = of(n.args[0]), &b = of(n.args[1]);
    try {
        if (n.op == KernelOp::Add) return sum(a, b, 1);
        if (n.op == KernelOp::Sub) return sum(a, b, -1);
        if (n.op == KernelOp::Mul && a.is_size()) return product(b, a.sum.offset);
        if (n.op == KernelOp::Mul && b.is_size()) return product(a, b.sum.offset);
    } catch (const UserError&) {  // a factor beyond 64 bits, or of too many terms
    }
    IndexForm out = rest(n);
    if (n.op == KernelOp::Min || n.op == KernelOp::Max)
        insert_lone(out.clamped, a, b), insert_lone(out.clamped, b, a);
    return out;
}

/// Returns the form of a node that is no sum.
IndexForm IndexForms::rest(const KernelNode& n) {
    IndexForm out;
    out.rest = n.congruence;
    out.carried = n.op != KernelOp::Param && n.op != KernelOp::Load && !is_elementwise(n.op);
    for (NodeId arg : n.args) {
        const IndexForm& form = of(arg);
        for (const auto& [range, step] : form.sum.terms) out.others.insert(range);
        out.others.insert(form.others.begin(), form.others.end());
        out.carried |= form.carried;
    }
    if (n.op == KernelOp::For || n.op == KernelOp::Branch)
        for (RangeId range : code_.ranges.ids()) out.others.insert(range);
    return out;
}

}  // namespace firn
