// Kernels that compute much more than the values they are made of.
#include "compiler/driver/excess_work.h"

#include <algorithm>
#include <mutex>
#include <sstream>
#include <unordered_map>

#include "compiler/kernel/count.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/schedule_facts.h"
#include "compiler/schedule/trip_counts.h"

namespace firn {
namespace {

struct ExcessRun {
    const Schedule& schedule;
    const SymbolFacts& symbols;
    RegionFacts regions;
    std::unordered_map<const Node*, const ValueVerdict*> verdicts;
};

/// Values that a kernel computes; `repeated`: those that a reduction or a loop of it evaluates.
struct Computed {
    NodeSet all, repeated;
};

bool repeats(const ExcessRun& run, const Node& node) {
    return node.op == Op::Reduce || loop_of_result(run.regions, node);
}

Computed computed_by(const ExcessRun& run, const std::vector<const Node*>& outputs) {
    Computed out;
    struct Step {
        const Node* node;
        bool repeated;
    };
    std::vector<Step> queue;
    const auto ask = [&](const Node& node, bool repeated) {
        const bool kept = has_memory(run.regions, node) ||
                          run.schedule.materialised.contains(&node) ||
                          known_to_host(run.schedule.numbers, node);
        if (kept && std::find(outputs.begin(), outputs.end(), &node) == outputs.end()) return;
        const bool first = out.all.insert(&node).second;
        const bool again = repeated && out.repeated.insert(&node).second;
        if (first || again) queue.push_back({&node, repeated});
    };
    for (const Node* output : outputs) ask(*output, false);
    while (!queue.empty()) {
        const auto [node, repeated] = queue.back();
        queue.pop_back();
        if (node->op == Op::RegionArg) continue;
        const bool inside = repeated || repeats(run, *node);
        for (const Ref& input : node->inputs) ask(*input, inside);
        for (const Ref& result : region_results(*node)) ask(*result, inside);
    }
    return out;
}

/// Operations that a value takes if each of its elements is computed once: at least one each.
double operations_once(const ExcessRun& run, const Node& node) {
    double elements = expected_elements(node.shape, run.symbols);
    if (node.op == Op::Reduce || node.op == Op::Scatter)
        for (const Ref& input : node.inputs)
            elements = std::max(elements, expected_elements(input->shape, run.symbols));
    for (const auto& [loop, trips] : kernel_loops(run.regions, run.symbols, node))
        elements *= std::max(1.0, trips);
    const bool plain = is_elementwise(node.op) || node.op == Op::Reduce;
    return elements * (plain ? 1 : std::max(1.0, own_operations(node)));
}

bool can_be_kept(const ExcessRun& run, const Node& node) {
    return !(info(node.op).properties & kLeaf) && !is_movement(node.op) &&
           !run.schedule.kept.contains(&node) && !inside_kernel_loop(run.regions, node) &&
           !is_of_invocations(run.regions, node);
}

/// Adds the values of a kernel that are to be kept. False where there are none.
bool keep_of(const ExcessRun& run, const std::vector<const Node*>& outputs,
             const Computed& computed, NodeSet& out) {
    const auto keep = [&](const NodeSet& from, const auto& is_dear) {
        const size_t before = out.size();
        for (const Node* node : from)
            if (can_be_kept(run, *node) && is_dear(*node) &&
                std::find(outputs.begin(), outputs.end(), node) == outputs.end())
                out.insert(node);
        return out.size() > before;
    };
    if (keep(computed.repeated, [&](const Node& node) { return repeats(run, node); })) return true;
    return keep(computed.all, [&](const Node& node) {
        const auto verdict = run.verdicts.find(&node);
        return verdict != run.verdicts.end() &&
               verdict->second->evaluations > verdict->second->elements;
    });
}

std::mutex census_mutex;
ExcessCensus all_kernels;  // guarded by it

void count(const ListedKernel& kernel, double factor, bool is_cut) {
    const std::scoped_lock lock(census_mutex);
    ++all_kernels.kernels;
    if (is_cut) ++all_kernels.cut;
    ExcessCensus::Worst& worst = is_cut ? all_kernels.worst_cut : all_kernels.kept;
    if (factor > worst.factor) worst = {factor, kernel.lines.empty() ? "" : kernel.lines[0]};
}

}  // namespace

ExcessCensus excess_census() {
    const std::scoped_lock lock(census_mutex);
    return all_kernels;
}

std::string text(const ExcessCensus& census) {
    std::ostringstream out;
    out.precision(3);
    const auto put = [&](const ExcessCensus::Worst& worst, const char* of) {
        out << worst.factor << " times" << of;
        if (!worst.line.empty()) out << " (" << worst.line << ")";
    };
    out << census.kernels << " kernels, at most ";
    put(census.kept, " the operations of their values");
    out << "; " << census.cut << " cut";
    if (census.cut > 0) {
        out << ", of at most ";
        put(census.worst_cut, "");
    }
    return out.str();
}

NodeSet find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                    const SymbolFacts& facts) {
    ExcessRun run{schedule, facts, region_facts(graph), {}};
    for (const ValueVerdict& verdict : schedule.verdicts)
        run.verdicts.emplace(verdict.value.get(), &verdict);
    NodeSet out;
    for_kernels(list.steps, [&](const ListedKernel& kernel) {
        if (kernel.by_hand || kernel.values.empty()) return;
        const Computed computed = computed_by(run, kernel.values);
        double once = 0;
        for (const Node* node : computed.all) once += operations_once(run, *node);
        const double factor = estimate(value_operations(kernel.code), facts) / std::max(once, 1.0);
        count(kernel, factor, factor > kMostExcess && keep_of(run, kernel.values, computed, out));
    });
    return out;
}

NodeSet find_overlong_parts(const KernelList& list, const Graph& graph, const Schedule& schedule,
                            const DeviceProfile& profile, const SymbolFacts& facts) {
    const ExcessRun run{schedule, facts, region_facts(graph), {}};
    NodeSet out;
    for_kernels(list.steps, [&](const ListedKernel& kernel) {
        if (kernel.by_hand || is_within_back_edges(kernel.code, profile)) return;
        for (const Node* node : computed_by(run, kernel.values).all)
            if (repeats(run, *node) && can_be_kept(run, *node) &&
                std::find(kernel.values.begin(), kernel.values.end(), node) == kernel.values.end())
                out.insert(node);
    });
    return out;
}

}  // namespace firn
