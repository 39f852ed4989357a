// Decides which loops become steps of kernels, and to which loop's body each value belongs.
#include "compiler/schedule/regions.h"

#include <algorithm>

#include "compiler/ir/accumulation.h"
#include "compiler/schedule/element_loops.h"

namespace firn {
namespace {

std::vector<const Node*> merge(std::vector<const Node*> a, const std::vector<const Node*>& b) {
    for (const Node* n : b)
        if (std::find(a.begin(), a.end(), n) == a.end()) a.push_back(n);
    return a;
}

const Region* body_of(const Node& node) {
    return node.op == Op::Loop ? node.as<LoopAttr>().body.get() : nullptr;
}

void find_arrays(RegionFacts& facts) {
    auto version_of = [&](const Node& node) -> const Node* {
        if (node.op == Op::Scatter)
            return node.as<ScatterAttr>().by_hand ? node.inputs[0].get() : nullptr;
        if (node.op == Op::Barrier) return node.inputs[0].get();
        if (node.op == Op::RegionArg && facts.arg_owner.contains(&node) &&
            facts.arg_index.at(&node) > 0)
            return facts.arg_owner.at(&node)
                ->inputs[static_cast<size_t>(facts.arg_index.at(&node)) + 2]
                .get();
        if (node.op == Op::Result && node.inputs[0]->op == Op::Loop &&
            !node.inputs[0]->as<LoopAttr>().by_hand())
            return node.inputs[0]
                ->inputs[static_cast<size_t>(node.as<ResultAttr>().index) + 3]
                .get();
        return nullptr;
    };
    for (const Ref& ref : facts.order) {
        const auto owner = facts.arg_owner.find(ref.get());
        const bool carried = owner != facts.arg_owner.end() &&
                             owner->second->as<LoopAttr>().by_hand() &&
                             facts.arg_index.at(ref.get()) > 0;
        const Node* before = version_of(*ref);
        if (ref->op == Op::Array || carried || (before && facts.arrays.contains(before)))
            facts.arrays.insert(ref.get());
    }
}

/// A data symbol of the iterations of a loop, and the node that gives its value.
struct SizeOfIteration {
    const Node *loop, *count;
};
using SizesOfIterations = std::unordered_map<std::string, SizeOfIteration>;

SizesOfIterations sizes_of_iterations(const std::vector<Ref>& order) {
    SizesOfIterations out;
    for (const Ref& ref : order) {
        if (ref->op != Op::Loop) continue;
        const LoopAttr& attr = ref->as<LoopAttr>();
        for (size_t k = 0; k < attr.sizes.size(); ++k)
            out[data_symbols(attr.sizes[k]).at(0).name] = {ref.get(), attr.body->results[k].get()};
    }
    return out;
}

/// Returns the loops whose iterations' sizes the node mentions: it belongs to them, even if its
/// inputs do not.
std::vector<const Node*> loops_of_sizes(const Node& node, const SizesOfIterations& sized,
                                        const RegionFacts& facts) {
    std::vector<const Node*> loops;
    for_sizes(node, [&](const Size& size) {
        for (const SizeAtom& symbol : data_symbols(size)) {
            const auto at = sized.find(symbol.name);
            if (at == sized.end()) continue;
            loops = merge(std::move(loops), {at->second.loop});
            loops = merge(std::move(loops), facts.loops.at(at->second.count));
        }
    });
    return loops;
}

}  // namespace

std::vector<Ref> region_results(const Node& node) {
    if (node.op == Op::Loop) return node.as<LoopAttr>().body->results;
    if (node.op != Op::If) return {};
    std::vector<Ref> out = node.as<IfAttr>().then_body->results;
    const auto& other = node.as<IfAttr>().else_body->results;
    out.insert(out.end(), other.begin(), other.end());
    return out;
}

RegionFacts region_facts(const Graph& graph) {
    RegionFacts facts;
    facts.order = topological(graph.results);
    for (size_t k = 0; k < facts.order.size(); ++k) {
        const Node* node = facts.order[k].get();
        facts.position[node] = static_cast<int>(k);
        if (const Region* body = body_of(*node))
            for (size_t a = 0; a < body->args.size(); ++a) {
                facts.arg_owner[body->args[a].get()] = node;
                facts.arg_index[body->args[a].get()] = static_cast<int>(a);
            }
    }
    const auto sized = sizes_of_iterations(facts.order);
    for (const Ref& ref : facts.order) {
        std::vector<const Node*> loops;
        if (!sized.empty()) loops = loops_of_sizes(*ref, sized, facts);
        if (auto it = facts.arg_owner.find(ref.get()); it != facts.arg_owner.end())
            loops.push_back(it->second);
        for (const Ref& input : ref->inputs)
            loops = merge(std::move(loops), facts.loops[input.get()]);
        for (const Ref& r : region_results(*ref))
            loops = merge(std::move(loops), facts.loops[r.get()]);
        std::erase(loops, ref.get());
        facts.loops[ref.get()] = std::move(loops);
    }
    // A node in the body of a loop belongs to every loop around it, whether it depends on these or
    // not.
    for (size_t k = facts.order.size(); k-- > 0;) {  // outer loops come after what they contain
        std::vector<const Node*>& loops = facts.loops[facts.order[k].get()];
        const std::vector<const Node*> own = loops;
        for (const Node* loop : own) loops = merge(std::move(loops), facts.loops[loop]);
    }
    find_arrays(facts);
    const UseCounts uses = count_uses(facts.order);
    std::unordered_set<const Node*> around;  // loops with steps inside, which come before them
    auto note_around = [&](const Node& step) {
        const auto& loops = facts.loops[&step];
        around.insert(loops.begin(), loops.end());
    };
    for (const Ref& ref : facts.order) {
        if (ref->op == Op::HostCall) note_around(*ref);
        if (ref->op != Op::Loop) continue;
        if (const Node* by_hand = kernel_by_hand(facts, *ref)) {
            if (by_hand == ref.get()) note_around(*ref);
            continue;
        }
        const bool host = ref->as<LoopAttr>().host || !ref->as<LoopAttr>().sizes.empty() ||
                          around.contains(ref.get()) || !is_element_loop(facts, uses, *ref);
        if (!host) continue;
        facts.host_loops.insert(ref.get());
        note_around(*ref);
    }
    return facts;
}

const Node* home_loop(const RegionFacts& regions, const Node& node) {
    // The innermost host loop that the node depends on comes first in topological order.
    const Node* home = nullptr;
    for (const Node* loop : regions.loops.at(&node))
        if (regions.host_loops.contains(loop) &&
            (!home || regions.position.at(loop) < regions.position.at(home)))
            home = loop;
    return home;
}

const Node* kernel_by_hand(const RegionFacts& regions, const Node& node) {
    auto by_hand = [](const Node& loop) {
        return loop.op == Op::Loop && loop.as<LoopAttr>().by_hand();
    };
    if (by_hand(node)) return &node;
    const auto& loops = regions.loops.at(&node);
    const auto found =
        std::find_if(loops.begin(), loops.end(), [&](const Node* loop) { return by_hand(*loop); });
    return found == loops.end() ? nullptr : *found;
}

bool is_stored_by_hand(const Node& node) {
    return node.op == Op::Result && node.inputs[0]->op == Op::Loop &&
           node.inputs[0]->as<LoopAttr>().by_hand();
}

std::unordered_map<const Node*, Size> host_inductions(const RegionFacts& regions) {
    std::unordered_map<const Node*, Size> out;
    for (const Ref& ref : regions.order)
        if (regions.host_loops.contains(ref.get()))
            out.emplace(ref->as<LoopAttr>().body->args[0].get(),
                        Size::symbol("$i" + std::to_string(out.size())));
    return out;
}

bool is_of_invocations(const RegionFacts& regions, const Node& node) {
    return regions.arrays.contains(&node) || is_stored_by_hand(node) || node.op == Op::Invocation ||
           node.op == Op::Fetched || node.op == Op::Subgroup;
}

bool inside_kernel_loop(const RegionFacts& regions, const Node& node) {
    const auto& loops = regions.loops.at(&node);
    return std::any_of(loops.begin(), loops.end(),
                       [&](const Node* loop) { return !regions.host_loops.contains(loop); });
}

const Node* loop_of_result(const RegionFacts& regions, const Node& node) {
    if (node.op != Op::Result || node.inputs[0]->op != Op::Loop ||
        written(node, regions.host_loops) || is_stored_by_hand(node))
        return nullptr;
    const Node* loop = node.inputs[0].get();
    return regions.host_loops.contains(loop) ? nullptr : loop;
}

const Shape& grid_shape(const RegionFacts& regions, const Node& root) {
    if (is_stored_by_hand(root)) return root.inputs[0]->as<LoopAttr>().grid;
    const Written w = written(root, regions.host_loops);
    return w ? w.positions() : root.shape;
}

}  // namespace firn
