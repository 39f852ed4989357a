// Finds kernels that take many more operations than their values need.
#include "compiler/driver/excess_work.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "compiler/base/error.h"
#include "compiler/ir/host_size.h"
#include "compiler/kernel/count.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/schedule_facts.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

struct ExcessRun {
    const Schedule& schedule;
    const SymbolFacts& symbols;
    const DeviceProfile& profile;
    RegionFacts regions;
    std::unordered_map<const Node*, const ValueVerdict*> verdicts;
    /// The indices of loops of kernels (the first arguments of their bodies), by their counters.
    std::unordered_map<const Node*, Size> indices;
};

/// Adds the indices of the list's loops to `run`, and the largest values of their counters to
/// `facts`.
void add_counters(ExcessRun& run, const KernelList& list, SymbolFacts& facts) {
    for_loops(list.steps, [&](const ListedLoop& listed) {
        const RepeatStep& repeat = listed.loop;
        const int64_t trips = repeat.trips.upper_bound(facts.largest);
        if (trips <= INT32_MAX) facts.largest[repeat.induction] = std::max<int64_t>(trips - 1, 0);
        if (!listed.node) return;
        const auto begin = host_size(*listed.node->inputs[0], run.indices),
                   step = host_size(*listed.node->inputs[2], run.indices);
        if (begin && step)
            run.indices.emplace(listed.node->as<LoopAttr>().body->args[0].get(),
                                *begin + *step * Size::symbol(repeat.induction));
    });
}

/// Returns the expected trip count of a loop inside a kernel, which may count to an index of a loop
/// of kernels: as the operations of the kernel are estimated.
double trips_of(const ExcessRun& run, const Node& loop, double otherwise) {
    const auto counts = [&](int k) { return loop.inputs[k]->free_args != nullptr; };
    if (!counts(0) && !counts(1)) return otherwise;
    const auto begin = host_size(*loop.inputs[0], run.indices),
               end = host_size(*loop.inputs[1], run.indices),
               step = host_size(*loop.inputs[2], run.indices);
    if (!begin || !end || !step || !step->is_constant() || step->is(0)) return otherwise;
    const Size distance = step->constant() > 0 ? *end - *begin : *begin - *end;
    return estimate(distance, run.symbols) / static_cast<double>(std::abs(step->constant()));
}

/// The values that a kernel computes. `repeated` holds those that a reduction or a loop of the
/// kernel evaluates in its iterations.
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

/// Returns the operations that a value takes if each of its elements is computed once: at least one
/// per element.
double operations_once(const ExcessRun& run, const Node& node) {
    double elements = expected_elements(node.shape, run.symbols);
    if (node.op == Op::Reduce || node.op == Op::Scatter)
        for (const Ref& input : node.inputs)
            elements = std::max(elements, expected_elements(input->shape, run.symbols));
    for (const auto& [loop, trips] : kernel_loops(run.regions, run.symbols, node))
        elements *= std::max(1.0, trips_of(run, *loop, trips));
    const bool plain = is_elementwise(node.op) || node.op == Op::Reduce;
    return elements * (plain ? 1 : std::max(1.0, own_operations(node)));
}

bool can_be_kept(const ExcessRun& run, const Node& node) {
    return !(info(node.op).properties & kLeaf) && !is_movement(node.op) &&
           !run.schedule.kept.contains(&node) && !inside_kernel_loop(run.regions, node) &&
           !is_of_invocations(run.regions, node);
}

/// The values that are looked at: first those that reductions and loops compute, then all.
enum class Among : uint8_t { Repeating, All };

/// Adds to `out` the values of a kernel that are to be kept in memory. False if there are none.
bool keep_of(const ExcessRun& run, const std::vector<const Node*>& outputs,
             const Computed& computed, Among among, NodeSet& out) {
    const auto is_dear = [&](const Node& node) {
        if (among == Among::Repeating) return repeats(run, node);
        const auto verdict = run.verdicts.find(&node);
        // A single number that is computed where it is used has no verdict.
        if (verdict == run.verdicts.end()) return node.shape.empty() && repeats(run, node);
        return verdict->second->evaluations > verdict->second->elements;
    };
    const size_t before = out.size();
    for (const Node* node : among == Among::Repeating ? computed.repeated : computed.all)
        if (can_be_kept(run, *node) && is_dear(*node) &&
            std::find(outputs.begin(), outputs.end(), node) == outputs.end())
            out.insert(node);
    return out.size() > before;
}

/// Returns the tensors that a value which is written by position begins with: all their elements
/// are computed.
std::vector<Ref> starts_of(const ExcessRun& run, const Node& node) {
    if (const Written w = written(node, run.regions.host_loops)) return {w.target};
    if (!is_stored_by_hand(node)) return {};
    const std::vector<Ref>& inputs = node.inputs[0]->inputs;
    return {inputs.begin() + 3, inputs.end()};
}

/// Returns the most evaluations of each value that a kernel computes: those of its consumers, in
/// every iteration of a reduction. Within one invocation a value is computed once for each of its
/// elements, unless its indices are computed.
std::unordered_map<const Node*, double> most_evaluations(const ExcessRun& run,
                                                         const std::vector<const Node*>& outputs,
                                                         const Computed& computed) {
    double positions = 1, grid = 1;
    for (const Node* output : outputs) {
        positions =
            std::max(positions, expected_elements(grid_shape(run.regions, *output), run.symbols));
        for (const Ref& target : starts_of(run, *output))
            grid = std::max(grid, expected_elements(target->shape, run.symbols));
    }
    grid = std::max(grid, positions);
    std::unordered_map<const Node*, double> out;
    const auto ask = [&](const Node& node, double evaluations) {
        if (computed.all.contains(&node)) out[&node] = std::max(out[&node], evaluations);
    };
    for (const Node* output : outputs) ask(*output, positions);
    for (size_t k = run.regions.order.size(); k-- > 0;) {  // consumers first
        const Node& node = *run.regions.order[k];
        const auto own = out.find(&node);
        if (own == out.end()) continue;
        const double inside =
            own->second * (node.op == Op::Reduce ? reduction_trips(node, run.symbols) : 1);
        for (const Ref& target : starts_of(run, node))
            ask(*target, expected_elements(target->shape, run.symbols));
        for (const Ref& input : node.inputs) {
            const double elements = expected_elements(input->shape, run.symbols);
            ask(*input, node.op == Op::Gather ? inside : std::min(inside, grid * elements));
        }
        for (const Ref& result : region_results(node)) ask(*result, inside);
    }
    return out;
}

/// Returns the loops inside kernels around values that a kernel evaluates more often than they have
/// elements: as steps of loops of kernels these can be kept.
NodeSet loops_around(const ExcessRun& run, const std::vector<const Node*>& outputs,
                     const Computed& computed, Among among) {
    NodeSet loops;
    for (const auto& [node, times] : most_evaluations(run, outputs, computed)) {
        if (info(node->op).properties & kLeaf || is_movement(node->op) ||
            (among == Among::Repeating && !repeats(run, *node)) ||
            is_of_invocations(run.regions, *node) ||
            times <= expected_elements(node->shape, run.symbols))
            continue;
        for (const auto& [loop, trips] : kernel_loops(run.regions, run.symbols, *node))
            loops.insert(loop);
    }
    return loops;
}

/// Returns the launches that the iterations of loops take, at most, once these are loops of
/// kernels: one for the values that are kept, and one for those that the loop carries.
double launches_of(const ExcessRun& run, const NodeSet& loops) {
    double out = 0;
    for (const Node* loop : loops) {
        double runs = most_trips(*loop, run.schedule.numbers, run.profile, run.symbols);
        for (const Node* around : run.regions.loops.at(loop))
            if (loops.contains(around))
                runs *= most_trips(*around, run.schedule.numbers, run.profile, run.symbols);
        out += 2 * runs;
    }
    return out;
}

/// True if the kernel takes no longer than launches (or the barriers in their place) of other
/// kernels, for any sizes of a call: cutting it would gain nothing.
bool is_short(const ExcessRun& run, const Node& output, const Size& operations, double launches) {
    const Node* home = home_loop(run.regions, output);
    const double launch =
        run.profile.seconds_per_launch * (home && run.schedule.small_loops.contains(home)
                                              ? rules_of(run.profile).barrier_of_launch
                                              : 1);
    const auto most = static_cast<double>(operations.upper_bound(run.symbols.largest));
    return most <= launches * launch * run.profile.operations_per_second;
}

enum class Fate : uint8_t { Stays, IsCut, IsExempt };

/// Adds to `out` what is to be cut in a kernel that exceeds kMostExcess.
Fate cut_kernel(const ExcessRun& run, const std::vector<const Node*>& outputs,
                const Computed& computed, const Size& operations, Excess& out) {
    if (is_short(run, *outputs[0], operations, 1)) return Fate::IsExempt;
    Fate fate = Fate::Stays;
    for (const Among among : {Among::Repeating, Among::All}) {
        if (keep_of(run, outputs, computed, among, out.values)) return Fate::IsCut;
        const NodeSet loops = loops_around(run, outputs, computed, among);
        if (loops.empty()) continue;
        fate = Fate::IsExempt;
        if (is_short(run, *outputs[0], operations, launches_of(run, loops))) continue;
        out.loops.insert(loops.begin(), loops.end());
        return Fate::IsCut;
    }
    return fate;
}

void keep_worse(ExcessCensus::Worst& worst, const ExcessCensus::Worst& other) {
    if (other.factor > worst.factor) worst = other;
}

void count(ExcessCensus& census, const ListedKernel& kernel, double factor, Fate fate) {
    const ExcessCensus::Worst found{factor, kernel.lines.empty() ? "" : kernel.lines[0]};
    ++census.kernels;
    if (fate == Fate::IsCut) ++census.cut;
    if (fate == Fate::IsExempt) ++census.exempt;
    keep_worse(fate == Fate::IsCut      ? census.worst_cut
               : fate == Fate::IsExempt ? census.worst_exempt
                                        : census.kept,
               found);
}

}  // namespace

void add(ExcessCensus& sum, const ExcessCensus& one) {
    sum.kernels += one.kernels, sum.cut += one.cut, sum.exempt += one.exempt;
    keep_worse(sum.kept, one.kept);
    keep_worse(sum.worst_cut, one.worst_cut);
    keep_worse(sum.worst_exempt, one.worst_exempt);
}

void begin_round(ExcessCensus& census) {
    census.kernels = census.exempt = 0;
    census.kept = census.worst_exempt = {};
}

void append_excess(const std::string& file, const ExcessCensus& of_one_compile) {
    std::ostringstream line;
    line << of_one_compile.kernels << '\t' << of_one_compile.cut << '\t' << of_one_compile.exempt;
    for (const ExcessCensus::Worst& worst :
         {of_one_compile.kept, of_one_compile.worst_cut, of_one_compile.worst_exempt})
        line << '\t' << worst.factor << '\t' << worst.line;
    std::ofstream out(file, std::ios::app);
    out << line.str() + "\n";  // one write, so that lines of other processes do not mix with it
    if (!out.flush())
        throw UserError("FIRN_EXCESS: cannot append to " + file +
                        "; name a file that can be written to");
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
    if (census.exempt > 0) {
        out << "; " << census.exempt << " shorter than the launches of a cut, of at most ";
        put(census.worst_exempt, "");
    }
    return out.str();
}

Excess find_excess(const KernelList& list, const Graph& graph, const Schedule& schedule,
                   const DeviceProfile& profile, const SymbolFacts& symbols, ExcessCensus& census) {
    SymbolFacts facts = symbols;
    ExcessRun run{schedule, facts, profile, region_facts(graph), {}, {}};
    add_counters(run, list, facts);
    for (const ValueVerdict& verdict : schedule.verdicts)
        run.verdicts.emplace(verdict.value.get(), &verdict);
    Excess out;
    for_kernels(list.steps, [&](const ListedKernel& kernel) {
        if (kernel.by_hand || kernel.values.empty()) return;
        const Computed computed = computed_by(run, kernel.values);
        double once = 0;
        for (const Node* node : computed.all) once += operations_once(run, *node);
        const Size operations = value_operations(kernel.code);
        const double factor = estimate(operations, facts) / std::max(once, 1.0);
        Fate fate = Fate::Stays;
        if (factor > kMostExcess) fate = cut_kernel(run, kernel.values, computed, operations, out);
        count(census, kernel, factor, fate);
    });
    return out;
}

NodeSet find_overlong_parts(const KernelList& list, const Graph& graph, const Schedule& schedule,
                            const DeviceProfile& profile, const SymbolFacts& facts) {
    const ExcessRun run{schedule, facts, profile, region_facts(graph), {}, {}};
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
