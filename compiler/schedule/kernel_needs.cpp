// Finds what the kernel of a materialised value needs: other values, memory, sizes, operations.
#include "compiler/schedule/kernel_needs.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/pattern.h"
#include "compiler/schedule/costs.h"

namespace firn {
namespace {

/// Returns the host loop that returns the value, null if there is none.
const Node* host_loop_of(const ScheduleFacts& facts, const Node& node) {
    const Node* owner = node.op == Op::Result ? node.inputs[0].get() : nullptr;
    return owner && facts.regions.host_loops.contains(owner) ? owner : nullptr;
}

/// Adds the kernels that compute sizes which only the device knows.
void add_sizes(KernelNeeds& needs, const ScheduleFacts& facts, const Node& node) {
    if (facts.counts.empty()) return;
    for_sizes(node, [&](const Size& size) {
        for (const SizeAtom& symbol : data_symbols(size)) {
            const Node* count = facts.counts.at(symbol.name);
            const Node* loop = host_loop_of(facts, *count);
            needs.items[loop ? loop : count] = false;
            needs.sizes = true;
        }
    });
}

/// True if the root reads a materialised value at the index at which it writes its own value, or at
/// the positions of its store.
bool at_own_index(Draft& draft, const Node& root, const Node& value, int map) {
    return value.shape == grid_shape(draft.facts.regions, root) &&
           map == draft.maps.identity(value.shape) && !written(draft.facts, root).loop &&
           !written(draft.facts, value) && !is_stored_by_hand(root);
}

}  // namespace

KernelNeeds kernel_needs(Draft& draft, const Node& root, NodeSet again) {
    const ScheduleFacts& facts = draft.facts;
    KernelNeeds out;
    out.again = std::move(again);
    add_sizes(out, facts, root);
    std::vector<std::pair<const Node*, int>> queue;
    const auto push = [&](const Node& node, int map, bool) {
        if (add_value(out, draft, node, map)) queue.push_back({&node, map});
    };
    const auto add_all = [&](bool before) {
        while (!queue.empty()) {
            const auto [node, map] = queue.back();
            queue.pop_back();
            add_sizes(out, facts, *node);
            if (out.again.contains(node)) {
                for_demand(facts, draft.maps, *node, map, push);
                continue;
            }
            if (is_loaded(draft, *node) && !starts_as(draft, root, *node, map))
                out.loads.insert(node);
            if (const Node* loop = host_loop_of(facts, *node)) {
                out.items[loop] = false;
                // Kernels need no memory of a number; a call does.
            } else if (draft.round.materialised.contains(node) &&
                       (before || root.op == Op::HostCall || !constant_value(*node))) {
                const bool own = !before && at_own_index(draft, root, *node, map);
                auto [it, added] = out.items.emplace(node, own);
                if (!added) it->second = it->second && own;
            } else if (!in_memory(draft, *node)) {
                for_demand(facts, draft.maps, *node, map, push);
            }
        }
    };
    // The values with which a store starts exist before its kernel runs, and so does everything
    // they are computed from.
    for (const bool before : {true, false}) {
        for_demand(facts, draft.maps, root, draft.maps.identity(grid_shape(facts.regions, root)),
                   [&](const Node& node, int map, bool starts) {
                       if (starts == before) push(node, map, starts);
                   });
        add_all(before);
    }
    return out;
}

double operations_in_kernel(const Draft& draft, const Node& node) {
    return in_memory(draft, node) || draft.round.materialised.contains(&node)
               ? 1
               : body_operations(node);
}

bool add_value(KernelNeeds& needs, const Draft& draft, const Node& node, int map) {
    const bool first = needs.values.insert({&node, map});
    if (first)
        needs.operations +=
            needs.again.contains(&node) ? body_operations(node) : operations_in_kernel(draft, node);
    return first;
}

bool fits_device(const std::vector<Ref>& outputs, const KernelNeeds& needs,
                 const ScheduleFacts& facts) {
    BindingCount count;
    count[BindingForm::Storage] = needs.sizes ? 1 : 0;
    for (const Ref& output : outputs)
        count.add(bound_value(*output, true), facts.profile, facts.symbols);
    for (const Node* load : needs.loads) {
        const auto is_load = [&](const Ref& output) { return output.get() == load; };
        if (std::none_of(outputs.begin(), outputs.end(), is_load))
            count.add(bound_value(*load, false), facts.profile, facts.symbols);
    }
    return count.fits(facts.profile);
}

}  // namespace firn
