// Collects what verdicts and groups are made from: the graph, the device and what follows from
// these alone.
#include "compiler/schedule/schedule_facts.h"

#include <unordered_set>

#include "compiler/ir/affine_index.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/trip_counts.h"

namespace firn {
namespace {

/// True if the node stores a value of the iteration into a slot of a tape that the loop carries.
bool keeps_a_state(const Node& store) {
    return store.op == Op::Scatter && store.as<ScatterAttr>().op == ScatterOp::Last &&
           store.as<ScatterAttr>().unique && store.inputs[0]->op == Op::RegionArg &&
           store.rank() == store.inputs[1]->rank() + 1 &&
           without_expand(*store.inputs[2]).shape.empty();
}

const char* reason_of_store(const Node& store) {
    if (store.op == Op::Scatter && store.as<ScatterAttr>().finds_last) return kReasonLast;
    return keeps_a_state(store) ? kReasonStates : kReasonStore;
}

void require_memory(ScheduleFacts& facts, const NodeSet& kept) {
    const auto require = [&](const Ref& ref, const char* reason) {
        if (!has_memory(facts.regions, *ref)) facts.required.emplace(ref.get(), reason);
    };
    std::unordered_set<const Node*> parts;  // of versions: no versions of their own
    for (const Ref& ref : facts.regions.order)
        if (is_part(*ref) && is_part(*ref->inputs[0])) parts.insert(ref->inputs[0].get());
    for (const Ref& r : facts.graph.results) require(r, kReasonResult);
    for (const Ref& ref : facts.regions.order) {
        if (const Written w = written(facts, *ref);
            w && !inside_kernel_loop(facts.regions, *ref) && !parts.contains(ref.get()))
            require(ref, reason_of_store(*ref));
        if (is_stored_by_hand(*ref)) require(ref, kReasonByHand);
        // The target of a store with steps of its own is made beside others, and written in place.
        if (ref->op == Op::Scatter && ref->as<ScatterAttr>().apart)
            require(ref->inputs[0], kReasonStore);
        if (ref->op == Op::HostCall) {
            require(ref, kReasonHost);
            require(ref->inputs[0], kReasonHost);
        }
        if (kept.contains(ref.get())) require(ref, kReasonExcess);
        if (!facts.regions.host_loops.contains(ref.get())) continue;
        for (size_t k = 3; k < ref->inputs.size(); ++k)
            if (ref->inputs[k]->op != Op::Empty) require(ref->inputs[k], kReasonCarried);
        for (const Ref& r : ref->as<LoopAttr>().body->results) require(r, kReasonCarried);
    }
}

void find_counts(ScheduleFacts& facts) {
    const auto note = [&](const std::vector<Size>& sizes, const std::vector<Ref>& counts) {
        for (size_t k = 0; k < sizes.size(); ++k)
            facts.counts[data_symbols(sizes[k]).at(0).name] = counts[k].get();
    };
    note(facts.graph.data_sizes, facts.graph.results);
    for (const Ref& ref : facts.regions.order)
        if (ref->op == Op::Loop) note(ref->as<LoopAttr>().sizes, ref->as<LoopAttr>().body->results);
}

}  // namespace

ScheduleFacts schedule_facts(const Graph& graph, const DeviceProfile& profile,
                             const SymbolFacts& symbols, bool nested, const NodeSet& launched,
                             const NodeSet& kept) {
    ScheduleFacts facts{graph, profile, symbols, nested, region_facts(graph), {}, {}, {}, {}, {}};
    note_expected_trips(facts.regions, symbols);
    facts.numbers = host_numbers(facts.regions);
    facts.seconds = element_seconds(facts);
    find_counts(facts);
    require_memory(facts, kept);
    facts.small_loops = small_loops(facts, launched);
    return facts;
}

bool has_memory(const RegionFacts& regions, const Node& node) {
    if (node.op == Op::Input) return !node.as<InputAttr>().scalar;
    if (node.op == Op::Buffer) return true;
    if (node.op == Op::RegionArg)
        return regions.host_loops.contains(regions.arg_owner.at(&node)) &&
               regions.arg_index.at(&node) > 0;
    return node.op == Op::Result && regions.host_loops.contains(node.inputs[0].get());
}

Written written(const ScheduleFacts& facts, const Node& node) {
    return written(node, facts.regions.host_loops);
}

}  // namespace firn
