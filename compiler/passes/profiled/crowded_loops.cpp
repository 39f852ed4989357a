// Finds loops that read more tensors than one kernel can bind.
#include "compiler/passes/profiled/crowded_loops.h"

#include <algorithm>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/tape.h"
#include "compiler/passes/host_loops.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/regions.h"

namespace firn {
namespace {

/// Returns the values in memory, the values that loops carry, and everything computed from them.
NodeSet memory_readers(const RegionFacts& facts) {
    NodeSet readers;
    add_memory_readers(readers, facts.order, [&](const Node& node) {
        const auto carried = facts.arg_index.find(&node);
        return node.op == Op::Buffer || (node.op == Op::Input && !node.as<InputAttr>().scalar) ||
               (carried != facts.arg_index.end() && carried->second > 0);
    });
    return readers;
}

/// Returns the tensor that is read for a value. Parts of one tensor at fixed places are no separate
/// tensors.
const Node& read_tensor(const Node& value, const NodeSet& readers) {
    const Node* at = &value;
    for (;; at = at->inputs[0].get()) {
        const bool fixed =
            at->op == Op::Gather &&
            std::none_of(at->inputs.begin() + 1, at->inputs.end(),
                         [&](const Ref& index) { return readers.contains(index.get()); });
        if (!fixed && (!is_movement(at->op) || at->op == Op::Pad)) return *at;
    }
}

/// Returns, for each loop inside a kernel, the tensors from outside that its iterations read.
std::unordered_map<const Node*, NodeSet> read_from_outside(const RegionFacts& facts) {
    const NodeSet readers = memory_readers(facts);
    std::unordered_map<const Node*, NodeSet> out;
    const auto note = [&](const Node& loop, const Ref& value) {
        const auto& around = facts.loops.at(value.get());
        if (readers.contains(value.get()) &&
            std::find(around.begin(), around.end(), &loop) == around.end())
            out[&loop].insert(&read_tensor(*value, readers));
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

/// Returns, for each loop, what it stores to memory: results that are asked for, and tensors of
/// which results are parts.
std::unordered_map<const Node*, NodeSet> given_to_memory(const RegionFacts& facts) {
    std::unordered_map<const Node*, const Node*> joined;  // a stored part, and its tensor
    NodeSet asked;
    for (size_t k = facts.order.size(); k-- > 0;) {
        const Node& node = *facts.order[k];
        const bool part = is_part(node);
        if (part) {
            const auto whole = joined.find(&node);
            const Node* last = whole == joined.end() ? &node : whole->second;
            joined[node.inputs[0].get()] = joined[node.inputs[1].get()] = last;
        }
        for (size_t i = part ? 2 : 0; i < node.inputs.size(); ++i)
            asked.insert(node.inputs[i].get());
        for (const Ref& result : region_results(node)) asked.insert(result.get());
    }
    std::unordered_map<const Node*, NodeSet> out;
    for (const Ref& ref : facts.order) {
        if (ref->op != Op::Result || ref->inputs[0]->op != Op::Loop) continue;
        const auto whole = joined.find(ref.get());
        const bool alone = whole == joined.end() || asked.contains(ref.get());
        out[ref->inputs[0].get()].insert(alone ? ref.get() : whole->second);
    }
    return out;
}

/// Returns one of `results` for each type and shape, and each result that a loop writes position by
/// position.
NodeSet one_of_each(const NodeSet& results, const RegionFacts& regions) {
    NodeSet out;
    for (const Node* result : results)
        if (written(*result, regions.host_loops) ||
            std::none_of(out.begin(), out.end(), [&](const Node* other) {
                return other->dtype == result->dtype && other->shape == result->shape &&
                       !written(*other, regions.host_loops);
            }))
            out.insert(result);
    return out;
}

bool is_crowded(const NodeSet& reads, const NodeSet& results, const DeviceProfile& profile,
                const SymbolFacts& facts) {
    BindingCount count;
    for (const Node* value : reads) count.add(bound_value(*value, false), profile, facts);
    for (const Node* result : results) count.add(bound_value(*result, true), profile, facts);
    return !count.fits(profile);
}

}  // namespace

NodeSet crowded_loops(const RegionFacts& regions, const DeviceProfile& profile,
                      const SymbolFacts& facts, LoopResults as) {
    NodeSet crowded;
    auto results = given_to_memory(regions);
    if (as == LoopResults::Joined)
        for (auto& [loop, given] : results) given = one_of_each(given, regions);
    for (const auto& [loop, reads] : read_from_outside(regions))
        if (!regions.host_loops.contains(loop) && !kernel_by_hand(regions, *loop) &&
            is_crowded(reads, results[loop], profile, facts))
            crowded.insert(loop);
    return crowded;
}

namespace {

/// Makes results of one type and shape parts of one tensor.
class Joiner {
  public:
    Joiner(NodeTable& table, const RegionFacts& regions, const NodeSet& crowded) : table_(table) {
        for (const Ref& ref : regions.order)
            if (ref->op == Op::Result && crowded.contains(ref->inputs[0].get()) &&
                !written(*ref, regions.host_loops))
                asked_[ref->inputs[0].get()].push_back(ref.get());
    }

    Graph run(const Graph& graph) {
        const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (node.op != Op::Result || !changed_.contains(inputs[0].get())) return nullptr;
            const Ref own =
                result({table_, first_line(node.lines)}, inputs[0], node.as<ResultAttr>().index);
            const auto found = parts_.find(own.get());
            return found == parts_.end() ? own : found->second;
        };
        const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
            const auto found = asked_.find(&node);
            if (found == asked_.end()) return nullptr;
            changed_.insert(made.get());
            join(node, made, found->second);
            return made;
        };
        Graph out = graph;
        out.results = rewrite(table_, graph.results, visit, {}, visit_region);
        return out;
    }

  private:
    void join(const Node& node, const Ref& loop, std::vector<const Node*> results) {
        const Builder b{table_, first_line(node.lines)};
        while (!results.empty()) {
            const Node& first = *results[0];
            const auto same = std::partition(results.begin(), results.end(), [&](const Node* r) {
                return r->dtype != first.dtype || r->shape != first.shape;
            });
            const std::vector<const Node*> parts(same, results.end());
            results.erase(same, results.end());
            if (parts.size() > 1) join_alike(b, loop, parts);
        }
    }

    void join_alike(const Builder& b, const Ref& loop, const std::vector<const Node*>& parts) {
        Shape shape = parts[0]->shape;
        shape.insert(shape.begin(), Size(static_cast<int64_t>(parts.size())));
        Ref whole = empty(b, parts[0]->dtype, shape);
        std::vector<Ref> own;
        for (const Node* part : parts) {
            own.push_back(result(b, loop, part->as<ResultAttr>().index));
            const auto slot = static_cast<int64_t>(own.size()) - 1;
            whole = with_state(b, whole, own.back(), constant_int(b, slot), true);
        }
        for (size_t k = 0; k < own.size(); ++k)
            parts_[own[k].get()] = state_at(b, whole, constant_int(b, static_cast<int64_t>(k)));
    }

    NodeTable& table_;
    std::unordered_map<const Node*, std::vector<const Node*>> asked_;  // by the original loop
    NodeSet changed_;                                                  // the loops as they are now
    std::unordered_map<const Node*, Ref> parts_;
};

}  // namespace

Graph join_crowded_results(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                           const SymbolFacts& facts) {
    const RegionFacts regions = region_facts(graph);
    NodeSet crowded = crowded_loops(regions, profile, facts);
    for (const Node* loop : crowded_loops(regions, profile, facts, LoopResults::Joined))
        crowded.erase(loop);
    return crowded.empty() ? graph : Joiner(table, regions, crowded).run(graph);
}

Graph host_crowded_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                         const SymbolFacts& facts) {
    return host_loops(table, graph, crowded_loops(region_facts(graph), profile, facts));
}

}  // namespace firn
