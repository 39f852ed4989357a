// Estimates the data that kernels read from memory again because no cache holds it between two of
// them.
#include "compiler/schedule/streams.h"

#include <algorithm>

#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns the seconds to read the value from memory once; 0 if a cache holds all of it.
double seconds_of_a_pass(const ScheduleFacts& facts, const Node& node) {
    const double bytes = expected_elements(node.shape, facts.symbols) * node.dtype.bytes();
    const bool held = bytes * costs::kWorkingSet <= static_cast<double>(facts.profile.cache_bytes);
    return held ? 0 : bytes / facts.profile.bytes_per_second;
}

double runs_of(const ScheduleFacts& facts, const Node& node) {
    return expected_runs(facts.regions, facts.symbols, node);
}

/// Returns each asking root once, by age.
std::vector<const Node*> roots_of(const std::set<Ask>& asks) {
    std::vector<const Node*> roots;
    for (const Ask& a : asks)
        if (roots.empty() || roots.back() != a.root) roots.push_back(a.root);
    return roots;
}

/// Returns the values that are read from memory to compute a node, except those below `without`; in
/// the same order in every run.
std::vector<const Node*> sources(Draft& draft, const Node& node, const Node* without) {
    const NodeSet& before = draft.findings.already_loaded.materialised;
    std::vector<const Node*> found;
    NodeSet seen{&node};
    std::vector<std::pair<const Node*, int>> queue{
        {&node, draft.maps.identity(grid_shape(draft.facts.regions, node))}};
    while (!queue.empty()) {
        const auto [next, map] = queue.back();
        queue.pop_back();
        for_demand(draft.facts, draft.maps, *next, map, [&](const Node& input, int at, bool) {
            if (&input == without || !seen.insert(&input).second) return;
            if (in_memory(draft, input) || draft.facts.required.contains(&input) ||
                before.contains(&input))
                found.push_back(&input);
            else
                queue.emplace_back(&input, at);
        });
    }
    return found;
}

}  // namespace

double streamed_seconds(const Draft& draft, const Node& node, const std::set<Ask>& asks) {
    double passes = -runs_of(draft.facts, node);  // the first comes with the write
    for (const Node* root : roots_of(asks)) passes += runs_of(draft.facts, *root);
    return std::max(0.0, passes) * seconds_of_a_pass(draft.facts, node);
}

double streamed_seconds_of_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    double total = 0;
    const std::vector<const Node*> inputs = sources(draft, node, nullptr);
    for (const Node* input : inputs)
        total -= seconds_of_a_pass(draft.facts, *input) * runs_of(draft.facts, node);
    for (const Node* root : roots_of(asks)) {
        const std::vector<const Node*> others = sources(draft, *root, &node);
        for (const Node* input : inputs)
            if (std::find(others.begin(), others.end(), input) == others.end())
                total += seconds_of_a_pass(draft.facts, *input) * runs_of(draft.facts, *root);
    }
    return std::max(0.0, total);
}

}  // namespace firn
