// The state of one run of lower_graph().
#include "compiler/lower/lower_run.h"

namespace firn {
namespace {

void count_uses(LowerRun& run) {
    const auto use = [&](const std::vector<Ref>& values) {
        for (const Ref& value : values) ++run.uses[value.get()];
    };
    for (const Ref& ref : topological(run.graph.results)) {
        use(ref->inputs);
        if (ref->op == Op::Result) run.results_of[ref->inputs[0].get()].push_back(ref);
        use(region_results(*ref));
    }
    use(run.graph.results);
}

}  // namespace

LowerRun::LowerRun(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
                   const SymbolFacts& facts)
    : graph(graph), schedule(schedule), profile(profile), program(std::make_shared<Program>()) {
    count_uses(*this);
    context.facts = facts;
    context.float_atomic_add = profile.float_atomic_add;
    context.wide_atomics = profile.wide_atomics;
    context.has_i64 = profile.has_i64;
}

const RegionFacts& regions_of(LowerRun& run) {
    if (!run.regions) run.regions = region_facts(run.graph);
    return *run.regions;
}

std::string first_line(const Node& node) {
    return node.lines.empty() ? std::string() : text(node.lines[0]);
}

std::string at_line(const Node& node) {
    const std::string line = first_line(node);
    return line.empty() ? "" : " (" + line + ")";
}

}  // namespace firn
