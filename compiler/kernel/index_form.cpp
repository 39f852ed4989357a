// Indices of a lowered kernel as sums over its ranges.
#include "compiler/kernel/index_form.h"

#include <numeric>

namespace firn {
namespace {

IndexForm of_size(const Size& size) {
    IndexForm out;
    out.size = size;
    out.divisor = size.divisor();
    return out;
}

/// a + b times `sign`.
IndexForm sum(const IndexForm& a, const IndexForm& b, int64_t sign) {
    if (a.size && b.size) return of_size(*a.size + *b.size * Size(sign));
    IndexForm out = a;
    out.size.reset();
    out.divisor = std::gcd(a.divisor, b.divisor);
    out.others.insert(b.others.begin(), b.others.end());
    for (const auto& [range, step] : b.along) {
        Size& own = out.along.try_emplace(range, Size(0)).first->second;
        own += step * Size(sign);
        if (own.is(0)) out.along.erase(range);
    }
    return out;
}

IndexForm product(const IndexForm& a, const Size& by) {
    if (a.size) return of_size(*a.size * by);
    IndexForm out = a;
    for (auto& [range, step] : out.along) step *= by;
    out.divisor *= by.divisor();
    return out;
}

}  // namespace

const std::optional<IndexForm>& IndexForms::of(int node) {
    if (const auto at = known_.find(node); at != known_.end()) return at->second;
    std::optional<IndexForm> out = find(code_.nodes[static_cast<size_t>(node)]);
    return known_.emplace(node, std::move(out)).first->second;
}

std::optional<IndexForm> IndexForms::find(const KernelNode& n) {
    if (n.op == KernelOp::Constant) return of_size(Size(n.constant.i));
    if (n.op == KernelOp::Param && code_.params[static_cast<size_t>(n.param)].scalar < 0)
        return of_size(code_.params[static_cast<size_t>(n.param)].size);
    IndexForm out;
    if (n.op == KernelOp::Range) {
        out.along[n.range] = Size(1);
        return out;
    }
    if (n.op != KernelOp::Param && n.op != KernelOp::Load && !is_elementwise(n.op))
        return std::nullopt;
    for (int arg : n.args)
        if (!of(arg)) return std::nullopt;
    if (n.dtype == i32 && n.op == KernelOp::Add) return sum(*of(n.args[0]), *of(n.args[1]), 1);
    if (n.dtype == i32 && n.op == KernelOp::Sub) return sum(*of(n.args[0]), *of(n.args[1]), -1);
    if (n.dtype == i32 && n.op == KernelOp::Mul)
        for (size_t k = 0; k < 2; ++k)
            if (const auto& by = of(n.args[k])->size) return product(*of(n.args[1 - k]), *by);
    for (int arg : n.args) {
        const IndexForm& form = *of(arg);
        for (const auto& [range, step] : form.along) out.others.insert(range);
        out.others.insert(form.others.begin(), form.others.end());
    }
    out.divisor = n.dtype == i32 ? std::gcd(n.congruence.mod, n.congruence.rem) : 1;
    return out;
}

}  // namespace firn
