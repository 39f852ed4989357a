// A schedule in the making: one round of verdicts, and the findings of earlier rounds.
#include "compiler/schedule/draft.h"

#include "compiler/ir/pattern.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {

Draft make_draft(const ScheduleFacts& facts) {
    Draft draft{facts,
                AccessMaps(facts.symbols),
                Findings{{}, {}, {}, {}, BindingPressure(facts.profile, facts.symbols), {}, {}},
                {}};
    draft.maps.set_loop_dependencies(
        [&facts](const Node& node) { return kernel_loops(facts.regions, facts.symbols, node); });
    return draft;
}

void start_round(Draft& draft) {
    draft.round = {};
    draft.findings.pressure.restart();
}

bool in_memory(const Draft& draft, const Node& node) {
    if (has_memory(draft.facts.regions, node)) return true;
    return node.op != Op::Input && node.op != Op::RegionArg &&
           draft.round.materialised.contains(&node);
}

bool is_loaded(const Draft& draft, const Node& node) {
    return in_memory(draft, node) && !known_to_host(draft.facts.numbers, node) &&
           !constant_value(node);
}

bool computes_any(const Draft& draft, const Node& root,
                  const std::function<bool(const Node&)>& is) {
    NodeSet seen;
    std::vector<const Node*> queue{&root};
    while (!queue.empty()) {
        const Node* node = queue.back();
        queue.pop_back();
        if (!seen.insert(node).second || (node != &root && in_memory(draft, *node))) continue;
        if (is(*node)) return true;
        if (node->op == Op::Result) continue;
        for (const Ref& input : node->inputs) queue.push_back(input.get());
    }
    return false;
}

bool starts_as(Draft& draft, const Node& version, const Node& value, int map) {
    return in_memory(draft, value) && written(draft.facts, version).target.get() == &value &&
           map == draft.maps.identity(value.shape);
}

void ask(Draft& draft, const Node& node, const Ask& ask) {
    std::set<Ask>& asks = draft.round.asks[&node];
    if (!are_too_many(asks, *ask.root) && asks.insert(ask).second)
        draft.round.operations[ask.root] += body_operations(node);
    Findings& findings = draft.findings;
    if (findings.pressure.contains(*ask.root) && findings.memory_readers.contains(&node) &&
        !starts_as(draft, *ask.root, node, ask.map))
        findings.pressure.ask(*ask.root, node);
}

void ask_inputs(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    for (const Ask& a : asks) {
        if (node.op == Op::Pad && draft.maps.in_padding(node, a.map)) continue;
        for_demand(draft.facts, draft.maps, node, a.map,
                   [&](const Node& input, int map, bool starts) {
                       ask(draft, input, {a.root, map, a.starts || starts});
                   });
    }
}

}  // namespace firn
