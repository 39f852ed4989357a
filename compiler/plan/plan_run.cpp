// The state of one run of make_plan().
#include "compiler/plan/plan_run.h"

namespace firn {
namespace {

void count_uses(PlanRun& run) {
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

PlanRun::PlanRun(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
                 const CompileOptions& options, CompileTimes& times)
    : graph(graph),
      schedule(schedule),
      profile(profile),
      options(options),
      times(times),
      program(std::make_shared<Program>()),
      sizes(graph, *program) {
    count_uses(*this);
    context.facts = options.facts;
    context.float_atomic_add = profile.float_atomic_add;
    context.has_i64 = profile.has_i64;
}

const RegionFacts& regions_of(PlanRun& run) {
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
