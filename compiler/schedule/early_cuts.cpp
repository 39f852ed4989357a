// Cuts chains in which each value multiplies the number of uses of the next.
#include "compiler/schedule/early_cuts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/schedule/verdicts.h"

namespace firn {
namespace {

using Places = std::unordered_map<const Node*, size_t>;  // among the verdicts

/// Returns the values from `cut` up to `root` that are computed at their uses, with their places
/// among the verdicts; `cut` is one of them.
Places between(const std::vector<ValueVerdict>& verdicts, size_t cut, const Node& root) {
    NodeSet needed;
    const auto need_inputs = [&](const Node& node) {
        for (const Ref& input : node.inputs) needed.insert(input.get());
    };
    need_inputs(root);
    for (size_t k = 0; k < cut; ++k)  // consumers first
        if (verdicts[k].verdict == Verdict::Inlined && needed.contains(verdicts[k].value.get()))
            need_inputs(*verdicts[k].value);
    Places out;
    if (!needed.contains(verdicts[cut].value.get())) return out;
    out[verdicts[cut].value.get()] = cut;
    for (size_t k = cut; k-- > 0;) {
        const ValueVerdict& v = verdicts[k];
        const auto& inputs = v.value->inputs;
        if (v.verdict == Verdict::Inlined && needed.contains(v.value.get()) &&
            std::any_of(inputs.begin(), inputs.end(),
                        [&](const Ref& input) { return out.contains(input.get()); }))
            out[v.value.get()] = k;
    }
    return out;
}

/// Returns the value that the kernel at `root` needs on every path to the cut value and that is
/// better kept in its place, as that saves more than a launch; null if there is none. It is the one
/// nearest to the cut value: the farther away it is, the sooner another cut is needed.
const Node* better_kept(const Draft& draft, size_t cut, const Node& root) {
    const std::vector<ValueVerdict>& verdicts = draft.round.verdicts;
    const Places path = between(verdicts, cut, root);
    if (path.empty()) return nullptr;
    // Every path goes through a value if nothing nearer to the root asks for a value beyond it.
    Places last;  // 1 + the place of the use nearest to the root; 0: the root uses it
    const auto note_inputs = [&](const Node& node, size_t place) {
        for (const Ref& input : node.inputs)
            if (path.contains(input.get())) {
                const auto [at, first] = last.emplace(input.get(), place);
                at->second = std::min(at->second, place);
            }
    };
    for (const auto& [node, place] : path) note_inputs(*node, place + 1);
    note_inputs(root, 0);
    const double most = verdicts[cut].materialise_seconds - draft.facts.profile.seconds_per_launch;
    size_t reached = last.at(verdicts[cut].value.get());
    for (size_t k = cut; k-- > 0;) {
        const ValueVerdict& v = verdicts[k];
        if (!path.contains(v.value.get())) continue;
        if (reached > k && v.materialise_seconds < most && is_ever_kept(draft.facts, *v.value))
            return v.value.get();
        reached = std::min(reached, last.at(v.value.get()));
    }
    return nullptr;
}

}  // namespace

bool note_early_cuts(Draft& draft) {
    bool changed = false;
    NodeSet roots;  // one cut for each at a time: it may make others needless
    const std::vector<ValueVerdict>& verdicts = draft.round.verdicts;
    for (size_t k = 0; k < verdicts.size(); ++k) {
        if (verdicts[k].verdict != Verdict::Materialised || verdicts[k].reason != kReasonBudget)
            continue;
        const std::set<Ask>& asks = draft.round.asks.at(verdicts[k].value.get());
        const Node* before = nullptr;
        for (const Ask& ask : asks) {
            if (std::exchange(before, ask.root) == ask.root || roots.contains(ask.root) ||
                !are_too_many(asks, *ask.root))
                continue;
            const Node* early = better_kept(draft, k, *ask.root);
            if (!early || !draft.findings.early_cuts.insert(early).second) continue;
            roots.insert(ask.root);
            changed = true;
        }
    }
    return changed;
}

}  // namespace firn
