// Cuts of chains whose uses grow from value to value.
#include "compiler/schedule/early_cuts.h"

#include <algorithm>

#include "compiler/program/cost_table.h"
#include "compiler/schedule/verdicts.h"

namespace firn {
namespace {

bool asks_one_of(const Node& node, const NodeSet& values) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const Ref& input) { return values.contains(input.get()); });
}

/// The values that are computed where they are asked, from `value`, itself among them; not those
/// that only `without` leads to.
NodeSet computed_from(const Draft& draft, const Node& value, const Node* without = nullptr) {
    NodeSet out{&value};
    const std::vector<ValueVerdict>& verdicts = draft.round.verdicts;
    for (size_t k = verdicts.size(); k-- > 0;) {  // producers first
        const Node& node = *verdicts[k].value;
        if (verdicts[k].verdict == Verdict::Inlined && &node != without && asks_one_of(node, out))
            out.insert(&node);
    }
    return out;
}

/// The value that the kernel at `root` cannot do without for the one that was cut and that had
/// better be kept, as that saves more than a launch. The one next to what was cut: the farther
/// away, the sooner another has to be.
const ValueVerdict* better_kept(const Draft& draft, const ValueVerdict& cut, const Node& root) {
    const double most = cut.materialise_seconds - draft.facts.profile.seconds_per_launch;
    const NodeSet between = computed_from(draft, *cut.value);
    const std::vector<ValueVerdict>& verdicts = draft.round.verdicts;
    for (size_t k = verdicts.size(); k-- > 0;) {  // producers first
        const ValueVerdict& v = verdicts[k];
        if (&v != &cut && v.materialise_seconds < most && between.contains(v.value.get()) &&
            is_ever_kept(draft.facts, *v.value) &&
            !asks_one_of(root, computed_from(draft, *cut.value, v.value.get())))
            return &v;
    }
    return nullptr;
}

}  // namespace

bool note_early_cuts(Draft& draft) {
    if (draft.findings.early_cuts.size() >= costs::kMostEarlyCuts) return false;
    for (const ValueVerdict& v : draft.round.verdicts) {
        if (v.verdict != Verdict::Materialised || v.reason != kReasonBudget) continue;
        const std::set<Ask>& asks = draft.round.asks.at(v.value.get());
        for (const Ask& ask : asks) {
            if (!are_too_many(asks, *ask.root)) continue;
            const ValueVerdict* early = better_kept(draft, v, *ask.root);
            if (early && draft.findings.early_cuts.insert(early->value.get()).second) return true;
        }
    }
    return false;
}

}  // namespace firn
