// Recognises index tensors of the form offset + position, so that stores can be read from the side
// of their target.
#include "compiler/ir/affine_index.h"

#include <algorithm>
#include <unordered_map>

namespace firn {
namespace {

constexpr size_t kAffineSteps = 500;  // nodes of an index that are followed

bool fits(int64_t value) { return value >= -INT32_MAX && value <= INT32_MAX; }

using Form = std::optional<AffineForm>;

/// a + factor * b, where no factor wraps around.
Form sum(const Form& a, const Form& b, int64_t factor) {
    if (!a || !b || !fits(factor)) return std::nullopt;
    AffineForm out = plus(*a, *b, factor);
    const bool all = std::all_of(out.terms.begin(), out.terms.end(),
                                 [](const auto& term) { return fits(term.second); });
    return all && has_i32_factors(out.offset) ? Form(std::move(out)) : std::nullopt;
}

Form product(const Form& a, const Form& b) {
    if (!a || !b) return std::nullopt;
    if (b->terms.empty() && b->offset.is_constant())
        return sum(AffineForm{}, a, b->offset.constant());
    if (a->terms.empty() && a->offset.is_constant())
        return sum(AffineForm{}, b, a->offset.constant());
    return std::nullopt;
}

/// The one index of a dimension of 1 is repeated; the others move with the rank.
AffineForm expanded(const AffineForm& inner, const Node& node) {
    AffineForm out;
    out.offset = inner.offset;
    const Node& input = *node.inputs[0];
    for (const auto& [axis, scale] : inner.terms)
        if (!input.shape[static_cast<size_t>(axis)].is(1))
            out.terms.emplace_back(axis + node.rank() - input.rank(), scale);
    return out;
}

/// Each node is followed once, however often the index has it.
class Forms {
  public:
    Form of(const Node& node) {
        if (node.inputs.empty()) return find(node);
        if (auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kAffineSteps) return std::nullopt;
        known_[&node] = std::nullopt;
        return known_[&node] = find(node);
    }

  private:
    Form find(const Node& node) {
        auto input = [&](size_t k) { return of(*node.inputs[k]); };
        switch (node.op) {
            case Op::Constant:
                if (node.dtype.is_float() || !fits(node.as<ConstantAttr>().value.i))
                    return std::nullopt;
                return AffineForm{{}, Size(node.as<ConstantAttr>().value.i)};
            case Op::SizeValue: return AffineForm{{}, node.as<SizeAttr>().size};
            case Op::Index: return AffineForm{{{node.as<IndexAttr>().axis, 1}}, Size(0)};
            case Op::Expand: {
                const Form inner = input(0);
                return inner ? Form(expanded(*inner, node)) : std::nullopt;
            }
            case Op::Reshape: {
                const Form inner = input(0);  // one number, for any shape
                return inner && inner->terms.empty() ? inner : std::nullopt;
            }
            case Op::Add: return sum(input(0), input(1), 1);
            case Op::Sub: return sum(input(0), input(1), -1);
            case Op::Neg: return sum(AffineForm{}, input(0), -1);
            case Op::Mul: return product(input(0), input(1));
            default: return std::nullopt;
        }
    }

    std::unordered_map<const Node*, Form> known_;
};

}  // namespace

bool has_i32_factors(const Size& size) {
    if (size.is_constant()) return fits(size.constant());
    const SizeSum sum = as_sum(size);
    return fits(sum.constant) && std::all_of(sum.terms.begin(), sum.terms.end(),
                                             [](const auto& term) { return fits(term.first); });
}

std::optional<AffineForm> affine_form(const Node& node) { return Forms().of(node); }

std::optional<AffineIndex> affine_index(const Node& node) {
    const auto form = affine_form(node);
    if (!form || form->terms.size() > 1) return std::nullopt;
    if (form->terms.empty()) return AffineIndex{-1, form->offset};
    const auto [axis, scale] = form->terms[0];
    if (scale != 1) return std::nullopt;
    return AffineIndex{axis, form->offset};
}

const Node& without_expand(const Node& node) {
    const Node* at = &node;
    while (at->op == Op::Expand) at = at->inputs[0].get();
    return *at;
}

bool is_outside(const Node& node) {
    const Node& at = without_expand(node);
    return at.op == Op::Constant && at.as<ConstantAttr>().value.i < 0;
}

bool leaves_some_out(const Node& index) {
    const Node* at = &index;
    while (is_movement(at->op)) at = at->inputs[0].get();
    return at->op == Op::Select && is_outside(*at->inputs[2]);
}

std::optional<StoreIndex> store_index(const Node& node) {
    if (node.op == Op::Select && is_outside(*node.inputs[2])) {
        const auto inner = affine_index(*node.inputs[1]);
        if (!inner) return std::nullopt;
        return StoreIndex{*inner, node.inputs[0].get()};
    }
    const auto plain = affine_index(node);
    if (!plain) return std::nullopt;
    return StoreIndex{*plain};
}

bool is_invertible_store(const Node& scatter) {
    if (scatter.op != Op::Scatter || scatter.as<ScatterAttr>().op != ScatterOp::Last ||
        scatter.as<ScatterAttr>().part || scatter.as<ScatterAttr>().apart)
        return false;
    std::vector<bool> solved(scatter.inputs[1]->shape.size(), false);
    bool guarded = false;
    for (size_t k = 2; k < scatter.inputs.size(); ++k) {
        const auto index = store_index(*scatter.inputs[k]);
        if (!index) return false;
        if (index->index.axis >= 0) solved[static_cast<size_t>(index->index.axis)] = true;
        guarded |= index->guard != nullptr;
    }
    // If positions write one place, the last wins; with a guard the last is unknown.
    for (size_t axis = 0; guarded && axis < solved.size(); ++axis)
        if (!solved[axis] && !scatter.inputs[1]->shape[axis].is(1)) return false;
    return true;
}

bool is_scattering(const Node& node) {
    return node.op == Op::Scatter && !is_invertible_store(node);
}

}  // namespace firn
