// Decides which materialised values share a kernel, and the order of kernels and host loops.
#include "compiler/schedule/groups.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/schedule/costs.h"
#include "compiler/schedule/kernel_needs.h"
#include "compiler/schedule/order_around_calls.h"
#include "compiler/schedule/products.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The kernels that read a value from memory.
struct Readers {
    std::vector<const Node*> roots;
    bool all_at_own_index = true;
};
using ReadersOf = std::unordered_map<const Node*, Readers>;

struct Group {
    ScheduleItem item;
    bool heavy = false;  // has loops: kept apart from elementwise values that do not continue it
    KernelNeeds needs;   // of memory, sizes and values
    std::vector<const Node*> products;  // see large_products()
    bool behind_call = false;           // needs the output of a call of the host
    bool calls() const { return !item.loop && item.outputs[0]->op == Op::HostCall; }
};

/// A value that may join a group.
struct Candidate {
    const Ref& root;
    KernelNeeds needs;
    bool heavy = false;
    int inner = 0;                                             // see Round
    const std::vector<const Node*>* row_reductions = nullptr;  // see Round; null: none
    std::vector<const Node*> products;                         // see large_products()
    bool behind_call = false;                                  // see Group
    /// True if the candidate has a step to itself, as kernels of rows do, and calls of the host.
    bool alone() const { return inner > 0 || row_reductions || root->op == Op::HostCall; }
};

/// True if the value's kernel contains a reduction or a loop.
bool is_heavy(const Draft& draft, const Node& root) {
    return computes_any(draft, root, [](const Node& node) {
        return node.op == Op::Reduce || (node.op == Op::Result && node.inputs[0]->op == Op::Loop);
    });
}

Candidate candidate(Draft& draft, const Ref& root) {
    Candidate out{root, kernel_needs(draft, *root), is_heavy(draft, *root)};
    if (out.heavy) out.products = large_products(draft, *root, out.needs);
    if (const auto rows = draft.round.inner.find(root.get()); rows != draft.round.inner.end())
        out.inner = rows->second;
    const auto held = draft.round.row_reductions.find(root.get());
    if (held != draft.round.row_reductions.end()) out.row_reductions = &held->second;
    return out;
}

bool fits_with(const Draft& draft, const Group& group, const Candidate& candidate) {
    std::vector<Ref> outputs = group.item.outputs;
    outputs.push_back(candidate.root);
    KernelNeeds all;
    all.loads = candidate.needs.loads;
    all.loads.insert(group.needs.loads.begin(), group.needs.loads.end());
    all.sizes = candidate.needs.sizes || group.needs.sizes;
    return fits_device(outputs, all, draft.facts);
}

/// Returns the operations of what both compute.
double shared_operations(const Draft& draft, const KernelNeeds& a, const KernelNeeds& b) {
    double shared = 0;
    for (const auto& [node, map] : b.values)
        if (a.values.contains({node, map})) shared += operations_in_kernel(draft, *node);
    return shared;
}

/// True if the kernel of both has a body that the driver's compiler can handle; what they share
/// counts once.
bool bears(const Draft& draft, const KernelNeeds& a, const KernelNeeds& b) {
    const double most = draft.facts.profile.max_body_operations, both = a.operations + b.operations;
    const auto [less, more] = std::minmax(a.operations, b.operations);
    if (both <= most || (more > most && less <= costs::kLittleMore * more)) return true;
    const double shared = shared_operations(draft, a, b);
    return both - shared <= most || shared >= costs::kMostlyShared * less;
}

/// True if the kernel can take another output. Values that a step of one group passes on stay with
/// the group (mapping/list/sequence_needs), and a loop is not run again for more of its results.
bool has_room(const Draft& draft, const Group& group, const Candidate& candidate) {
    if (group.item.outputs.size() < costs::kMaxOutputs ||
        in_small_loop(draft.facts, *candidate.root) || is_stored_by_hand(*candidate.root))
        return true;
    return candidate.heavy &&
           shared_operations(draft, group.needs, candidate.needs) >=
               costs::kMostlyShared * std::min(group.needs.operations, candidate.needs.operations);
}

/// True if the candidate reads an output of the group at its own index, where the group has it in a
/// register. A store that combines has a kernel of its own form.
bool goes_on_from(const Group& group, const Candidate& candidate) {
    const Node& root = *candidate.root;
    if (root.op == Op::Scatter && root.as<ScatterAttr>().op != ScatterOp::Last) return false;
    return std::any_of(group.item.outputs.begin(), group.item.outputs.end(), [&](const Ref& out) {
        const auto read = candidate.needs.items.find(out.get());
        return read != candidate.needs.items.end() && read->second;
    });
}

bool can_join(const Draft& draft, const Group& group, const Candidate& candidate) {
    const Node& root = *candidate.root;
    const bool alike =
        group.heavy == candidate.heavy || (group.heavy && goes_on_from(group, candidate));
    if (candidate.alone() || group.item.loop || group.item.inner ||
        !group.item.row_reductions.empty() || !alike || !has_room(draft, group, candidate))
        return false;
    const Node& other = *group.item.outputs[0];
    // A kernel that waits for a call would keep what the next call needs.
    if (group.calls() || group.behind_call != candidate.behind_call) return false;
    if (is_stored_by_hand(root) || is_stored_by_hand(other))
        return is_stored_by_hand(root) && is_stored_by_hand(other) &&
               root.inputs[0] == other.inputs[0];
    if (!bears(draft, group.needs, candidate.needs) ||
        are_apart(draft, group.products, candidate.products, goes_on_from(group, candidate)))
        return false;
    // A store by position joins stores at the same positions, and values that have one element per
    // position. Neither reads what the other one writes: see kernel_needs.
    const Written a = written(draft.facts, root), b = written(draft.facts, other);
    const RegionFacts& regions = draft.facts.regions;
    return a.loop == b.loop && grid_shape(regions, other) == grid_shape(regions, root) &&
           (in_small_loop(draft.facts, root) || fits_with(draft, group, candidate));
}

/// The groups of one region.
struct Grouping {
    std::vector<Group> groups;
    std::unordered_map<const Node*, size_t> group_of;  // roots and loops of this region
};

/// True if the candidate needs the output of a call.
bool is_behind_call(const Grouping& grouping, const Candidate& candidate) {
    return std::any_of(candidate.needs.items.begin(), candidate.needs.items.end(),
                       [&](const auto& item) {
                           const auto at = grouping.group_of.find(item.first);
                           if (at == grouping.group_of.end()) return false;
                           const Group& group = grouping.groups[at->second];
                           return group.calls() || group.behind_call;
                       });
}

/// Returns the first group that comes after what the candidate needs, or that it may join.
size_t first_place(const Grouping& grouping, const Candidate& candidate) {
    size_t first = 0;
    for (const auto& [node, own] : candidate.needs.items) {
        const auto it = grouping.group_of.find(node);
        if (it == grouping.group_of.end()) continue;
        const bool may_join = own && !grouping.groups[it->second].item.loop;
        first = std::max(first, it->second + (may_join ? 0 : 1));
    }
    return first;
}

/// A loop waits for all before it, see waiting_steps().
void add_loop(Grouping& grouping, const Ref& loop, std::vector<ScheduleItem> body) {
    const bool behind_call =
        std::any_of(grouping.groups.begin(), grouping.groups.end(),
                    [](const Group& group) { return group.calls() || group.behind_call; });
    grouping.group_of[loop.get()] = grouping.groups.size();
    Group& group = grouping.groups.emplace_back();
    group.behind_call = behind_call;
    group.item.loop = loop;
    group.item.body = std::move(body);
}

/// Returns the additional seconds that the kernel takes to compute values of its own at other
/// indices too (`with`), where another kernel would load them (`without`). Values that the group
/// computes already cost nothing.
double seconds_again(Draft& draft, const Group& group, const Candidate& without,
                     const KernelNeeds& with) {
    const ScheduleFacts& facts = draft.facts;
    double loads = 0, operations = 0;  // whole numbers, whose sums are the same in any order
    for (const auto& value : with.values) {
        const auto [node, map] = value;
        const double trips = draft.maps.trips(map);
        const bool before = without.needs.values.contains(value), again = with.again.contains(node);
        if (before && again) loads -= trips;
        if (group.needs.values.contains(value) || (before && !again)) continue;
        if (is_loaded(draft, *node) && !again)
            loads += trips;
        else
            operations += trips * own_operations(*node);
    }
    const double grid = expected_elements(grid_shape(facts.regions, *without.root), facts.symbols);
    const double each =
        loads * facts.profile.seconds_per_load + operations / facts.profile.operations_per_second;
    return std::max(0.0, each) * grid * idle_factor(grid, facts.profile);
}

/// Returns what the candidate needs if it joins the last kernel that it waits for, and recomputes
/// what it would load from that kernel at indices other than its own. Nothing if that takes longer
/// than the step that it saves.
std::optional<KernelNeeds> without_waiting(const Grouping& grouping, Draft& draft,
                                           const Candidate& candidate) {
    const ScheduleFacts& facts = draft.facts;
    const size_t first = first_place(grouping, candidate), at = first - 1;
    if (first == 0 || candidate.alone() || written(facts, *candidate.root) ||
        grouping.groups[at].item.loop)
        return std::nullopt;
    Candidate out = candidate;
    for (bool waits = true; std::exchange(waits, false);) {
        NodeSet again = out.needs.again;
        for (const auto& [node, own] : out.needs.items) {
            const auto it = grouping.group_of.find(node);
            if (own || it == grouping.group_of.end() || it->second != at) continue;
            if (!is_computed(facts, *node)) return std::nullopt;
            waits = again.insert(node).second;
        }
        if (waits) out.needs = kernel_needs(draft, *candidate.root, std::move(again));
    }
    if (first_place(grouping, out) > at || !can_join(draft, grouping.groups[at], out) ||
        seconds_again(draft, grouping.groups[at], candidate, out.needs) * costs::kLeastGain >
            seconds_per_step(facts, *candidate.root))
        return std::nullopt;
    return std::move(out.needs);
}

/// Adds the candidate to a group, and returns it as it was added.
Candidate add_root(Grouping& grouping, Draft& draft, Candidate candidate) {
    std::vector<Group>& groups = grouping.groups;
    candidate.behind_call = is_behind_call(grouping, candidate);
    size_t at = first_place(grouping, candidate);
    while (at < groups.size() && !can_join(draft, groups[at], candidate)) ++at;
    if (at == groups.size())
        if (auto needs = without_waiting(grouping, draft, candidate)) {
            at = first_place(grouping, candidate) - 1;
            candidate.needs = std::move(*needs);
        }
    if (at == groups.size()) {
        Group& made = groups.emplace_back();
        made.heavy = candidate.heavy;
        made.behind_call = candidate.behind_call;
        made.item.inner = candidate.inner;
        if (candidate.row_reductions) made.item.row_reductions = *candidate.row_reductions;
    }
    Group& group = groups[at];
    group.item.outputs.push_back(candidate.root);
    group.needs.loads.insert(candidate.needs.loads.begin(), candidate.needs.loads.end());
    group.needs.sizes |= candidate.needs.sizes;
    for (const auto& [node, own] : candidate.needs.items) group.needs.items.emplace(node, own);
    group.products.insert(group.products.end(), candidate.products.begin(),
                          candidate.products.end());
    group.needs.again.insert(candidate.needs.again.begin(), candidate.needs.again.end());
    for (const auto& [node, map] : candidate.needs.values)
        add_value(group.needs, draft, *node, map);
    grouping.group_of[candidate.root.get()] = at;
    return candidate;
}

/// Materialised values and host loops in their order, by the host loop whose body contains them.
using StepsOf = std::unordered_map<const Node*, std::vector<Ref>>;

StepsOf steps_by_loop(const Draft& draft) {
    const RegionFacts& regions = draft.facts.regions;
    StepsOf out;
    for (const Ref& ref : regions.order)
        if (draft.round.materialised.contains(ref.get()) || regions.host_loops.contains(ref.get()))
            out[home_loop(regions, *ref)].push_back(ref);
    return out;
}

/// Returns what each group waits for. A loop waits for all before it, and all behind it for it.
std::vector<WaitingStep> waiting_steps(const Grouping& grouping) {
    std::vector<WaitingStep> out(grouping.groups.size());
    size_t loop = SIZE_MAX;  // the last
    for (size_t k = 0; k < out.size(); ++k) {
        const Group& group = grouping.groups[k];
        if (loop != SIZE_MAX) out[k].before.push_back(loop);
        if (group.item.loop) {
            for (size_t before = loop + 1; before < k; ++before) out[k].before.push_back(before);
            loop = k;
            continue;
        }
        out[k].calls = group.calls();
        for (const auto& [node, own] : group.needs.items)
            if (const auto at = grouping.group_of.find(node);
                at != grouping.group_of.end() && at->second != k)
                out[k].before.push_back(at->second);
    }
    return out;
}

/// Returns the steps of a host loop's body, or of the whole program if `home` is null.
std::vector<ScheduleItem> group_region(Draft& draft, const Node* home, const StepsOf& steps,
                                       ReadersOf& readers) {
    const RegionFacts& regions = draft.facts.regions;
    Grouping grouping;
    const auto own = steps.find(home);
    for (const Ref& ref : own == steps.end() ? std::vector<Ref>{} : own->second) {
        if (regions.host_loops.contains(ref.get())) {
            add_loop(grouping, ref, group_region(draft, ref.get(), steps, readers));
            continue;
        }
        const Candidate made = add_root(grouping, draft, candidate(draft, ref));
        for (const auto& [node, at_own] : made.needs.items) {
            Readers& of_node = readers[node];
            of_node.roots.push_back(ref.get());
            of_node.all_at_own_index = of_node.all_at_own_index && at_own;
        }
    }
    std::vector<ScheduleItem> out;
    for (const size_t at : order_around_calls(waiting_steps(grouping))) {
        Group& g = grouping.groups[at];
        g.item.again = std::move(g.needs.again);
        out.push_back(std::move(g.item));
    }
    return out;
}

bool read_only_by(const NodeSet& members, const Node& value, const ReadersOf& readers,
                  const ScheduleFacts& facts) {
    const auto found = readers.find(&value);
    if (found == readers.end() || !found->second.all_at_own_index ||
        facts.required.contains(&value))
        return false;
    return std::all_of(found->second.roots.begin(), found->second.roots.end(),
                       [&](const Node* root) { return members.contains(root); });
}

/// Keeps values in registers that only the outputs of their own kernel read, each at its own index:
/// no kernel would load them. Runs after grouping, which had to place such a value before its
/// readers.
void keep_in_kernels(Draft& draft, std::vector<ScheduleItem>& items, const ReadersOf& readers) {
    for (ScheduleItem& item : items) {
        keep_in_kernels(draft, item.body, readers);
        NodeSet members;
        for (const Ref& output : item.outputs) members.insert(output.get());
        std::erase_if(item.outputs, [&](const Ref& output) {
            if (!read_only_by(members, *output, readers, draft.facts)) return false;
            draft.round.materialised.erase(output.get());
            for (ValueVerdict& v : draft.round.verdicts)
                if (v.value == output) v.verdict = Verdict::Inlined, v.reason = kReasonKernel;
            return true;
        });
    }
}

void note_again(Draft& draft, const std::vector<ScheduleItem>& items) {
    for (const ScheduleItem& item : items) {
        note_again(draft, item.body);
        for (ValueVerdict& v : draft.round.verdicts)
            if (v.verdict == Verdict::Materialised && item.again.contains(v.value.get()))
                v.reason += kReasonAgain;
    }
}

}  // namespace

std::vector<ScheduleItem> group_into_kernels(Draft& draft) {
    ReadersOf readers;
    std::vector<ScheduleItem> items = group_region(draft, nullptr, steps_by_loop(draft), readers);
    keep_in_kernels(draft, items, readers);
    note_again(draft, items);
    return items;
}

}  // namespace firn
