// Moves values to memory whose kernels would otherwise bind more tensors than the device allows.
#include "compiler/schedule/crowded_kernels.h"

#include <algorithm>

#include "compiler/schedule/kernel_needs.h"

namespace firn {
namespace {

/// Returns what a kernel that computes the value at its uses reads from memory instead, or computes
/// from memory: in a loop, everything that its iterations need.
std::vector<const Node*> asked_instead(Draft& draft, const Node& value, int map) {
    std::vector<const Node*> out;
    NodeSet seen;
    std::vector<std::pair<const Node*, int>> queue{{&value, map}};
    while (!queue.empty()) {
        const auto [node, at] = queue.back();
        queue.pop_back();
        for_demand(draft.facts, draft.maps, *node, at, [&](const Node& input, int to, bool) {
            if (!draft.findings.memory_readers.contains(&input) || !seen.insert(&input).second)
                return;
            if (inside_kernel_loop(draft.facts.regions, input))
                queue.emplace_back(&input, to);
            else
                out.push_back(&input);
        });
    }
    return out;
}

}  // namespace

bool note_crowded_kernels(Draft& draft) {
    const std::vector<Ref>& order = draft.facts.regions.order;
    const auto loaded = [&](const Node& node) { return is_loaded(draft, node); };
    BindingCount all;
    all.of.fill(
        std::count_if(order.begin(), order.end(), [&](const Ref& ref) { return loaded(*ref); }));
    if (all.fits(draft.facts.profile)) return false;
    bool changed = false, crowded = false;
    for (const ValueVerdict& v : draft.round.verdicts) {
        if (v.verdict != Verdict::Materialised ||
            fits_device(outputs_of(v.value), kernel_needs(draft, *v.value), draft.facts))
            continue;
        crowded = true;
        changed |= draft.findings.pressure.add(*v.value);
    }
    return crowded && (add_memory_readers(draft.findings.memory_readers, order, loaded) || changed);
}

bool overcrowds(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const BindingPressure& pressure = draft.findings.pressure;
    const RegionFacts& regions = draft.facts.regions;
    if (pressure.empty() || !draft.findings.memory_readers.contains(&node) ||
        inside_kernel_loop(regions, node) || is_of_invocations(regions, node))
        return false;
    const std::vector<const Node*> inputs = asked_instead(draft, node, asks.begin()->map);
    return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
        return pressure.contains(*a.root) && pressure.exceeds(*a.root, node, inputs);
    });
}

}  // namespace firn
