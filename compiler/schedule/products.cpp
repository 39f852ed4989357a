// Sums of products whose factors are shared by several results.
#include "compiler/schedule/products.h"

#include <algorithm>

#include "compiler/schedule/costs.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns the terms that a reduction sums: before a Cast, and before a Select that leaves some of
/// them out, as in gradients of choices.
const Node& terms_of(const Node& sum) {
    const Node* node = sum.inputs[0].get();
    while (node->op == Op::Cast) node = node->inputs[0].get();
    if (node->op == Op::Select)
        for (size_t side : {1, 2})
            if (node->inputs[side]->op == Op::Mul) return *node->inputs[side];
    return *node;
}

/// True if the value has elements of another one, some of them repeated.
bool repeats(const Node& value, const SymbolFacts& symbols) {
    const Node* node = &value;
    while (node->op == Op::Cast || node->op == Op::Gather || is_movement(node->op))
        node = node->inputs[0].get();
    return expected_elements(node->shape, symbols) < expected_elements(value.shape, symbols);
}

/// True if both have a factor in common, whose loads their loops can share.
bool share_a_factor(const Node& a, const Node& b) {
    const std::vector<Ref>&of_a = terms_of(a).inputs, &of_b = terms_of(b).inputs;
    return std::any_of(of_a.begin(), of_a.end(), [&](const Ref& factor) {
        return std::find(of_b.begin(), of_b.end(), factor) != of_b.end();
    });
}

double seconds_of(const ScheduleFacts& facts, const Node& node) {
    return facts.seconds.at(&node) * expected_elements(node.shape, facts.symbols);
}

/// Returns the seconds that a separate kernel costs which passes the value on through memory.
double seconds_in_memory(const ScheduleFacts& facts, const Node& node) {
    const DeviceProfile& profile = facts.profile;
    return profile.seconds_per_launch +
           expected_elements(node.shape, facts.symbols) *
               (2 * node.dtype.bytes() / profile.bytes_per_second + profile.seconds_per_load);
}

/// True if no product of `some` is `node` or has a factor in common with it.
bool is_apart(const std::vector<const Node*>& some, const Node& node) {
    return std::none_of(some.begin(), some.end(), [&](const Node* other) {
        return other == &node || share_a_factor(*other, node);
    });
}

}  // namespace

bool is_shared_product(const Node& node, const SymbolFacts& symbols) {
    if (node.op != Op::Reduce || node.as<ReduceAttr>().op != ReduceOp::Sum) return false;
    const Node& terms = terms_of(node);
    return terms.op == Op::Mul &&
           std::all_of(terms.inputs.begin(), terms.inputs.end(),
                       [&](const Ref& factor) { return repeats(*factor, symbols); });
}

void note_product(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    for (const Ask& ask : asks) draft.round.products[ask.root].push_back(&node);
}

bool is_better_apart(const Draft& draft, const Node& node, const std::set<Ask>& asks,
                     double seconds) {
    if (in_small_loop(draft.facts, node) ||
        seconds * costs::kOwnKernelDivisor > seconds_of(draft.facts, node))
        return false;
    return std::any_of(asks.begin(), asks.end(), [&](const Ask& ask) {
        const auto found = draft.round.products.find(ask.root);
        return found != draft.round.products.end() && is_apart(found->second, node);
    });
}

std::vector<const Node*> large_products(const Draft& draft, const Node& root,
                                        const KernelNeeds& needs) {
    const double least = draft.facts.profile.seconds_per_launch * costs::kOwnKernelDivisor;
    std::vector<const Node*> out;
    const auto note = [&](const Node& node) {
        if (is_shared_product(node, draft.facts.symbols) && !in_small_loop(draft.facts, node) &&
            seconds_of(draft.facts, node) >= least)
            out.push_back(&node);
    };
    note(root);
    for (const auto& [node, map] : needs.values)
        if (!is_loaded(draft, *node)) note(*node);
    return out;
}

bool are_apart(const Draft& draft, const std::vector<const Node*>& some,
               const std::vector<const Node*>& others, bool hands_on) {
    const auto may_be = [&](const Node* node) {
        return !hands_on || seconds_in_memory(draft.facts, *node) * costs::kOwnKernelDivisor <=
                                seconds_of(draft.facts, *node);
    };
    return std::any_of(some.begin(), some.end(), may_be) &&
           std::any_of(others.begin(), others.end(),
                       [&](const Node* node) { return may_be(node) && is_apart(some, *node); });
}

}  // namespace firn
