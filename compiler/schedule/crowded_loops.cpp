// Loops that read more tensors than one kernel binds.
#include "compiler/schedule/crowded_loops.h"

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/regions.h"

namespace firn {
namespace {

/// What is in memory, what a loop carries, and all that is computed from them.
NodeSet memory_readers(const RegionFacts& facts) {
    NodeSet readers;
    add_memory_readers(readers, facts.order, [&](const Node& node) {
        const auto carried = facts.arg_index.find(&node);
        return node.op == Op::Buffer || (node.op == Op::Input && !node.as<InputAttr>().scalar) ||
               (carried != facts.arg_index.end() && carried->second > 0);
    });
    return readers;
}

/// Per loop inside a kernel, the values from outside that its iterations read.
std::unordered_map<const Node*, NodeSet> read_from_outside(const RegionFacts& facts) {
    const NodeSet readers = memory_readers(facts);
    std::unordered_map<const Node*, NodeSet> out;
    const auto note = [&](const Node& loop, const Ref& value) {
        const auto& around = facts.loops.at(value.get());
        if (readers.contains(value.get()) &&
            std::find(around.begin(), around.end(), &loop) == around.end())
            out[&loop].insert(value.get());
    };
    for (const Ref& ref : facts.order) {
        if (ref->op == Op::Loop)
            for (const std::vector<Ref>& values : {ref->inputs, ref->as<LoopAttr>().body->results})
                for (const Ref& value : values) note(*ref, value);
        for (const Node* loop : facts.loops.at(ref.get())) {
            for (const Ref& input : ref->inputs) note(*loop, input);
            for (const Ref& result : region_results(*ref)) note(*loop, result);
        }
    }
    return out;
}

bool is_crowded(const Node& loop, const NodeSet& reads, const DeviceProfile& profile,
                const SymbolFacts& facts) {
    BindingCount count;
    for (const Node* value : reads) count.add(bound_value(*value, false), profile, facts);
    for (const Ref& result : loop.as<LoopAttr>().body->results)
        count.add(bound_value(*result, true), profile, facts);
    return !count.fits(profile);
}

}  // namespace

Graph host_crowded_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                         const SymbolFacts& facts) {
    const RegionFacts regions = region_facts(graph);
    NodeSet crowded;
    for (const auto& [loop, reads] : read_from_outside(regions))
        if (!regions.host_loops.contains(loop) && !kernel_by_hand(regions, *loop) &&
            is_crowded(*loop, reads, profile, facts))
            crowded.insert(loop);
    if (crowded.empty()) return graph;
    const auto visit = [](const Node&, const std::vector<Ref>&) { return Ref(); };
    const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
        if (!crowded.contains(&node)) return nullptr;
        LoopAttr attr = made->as<LoopAttr>();
        attr.host = true;
        return table.intern(Op::Loop, made->dtype, made->shape, made->inputs, attr,
                            node.lines.empty() ? SourceLine{} : node.lines[0]);
    };
    Graph out = graph;
    out.results = rewrite(table, out.results, visit, {}, visit_region);
    return out;
}

}  // namespace firn
