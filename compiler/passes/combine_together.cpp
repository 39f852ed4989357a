// Stores that combine into one tensor, one after the other: one kernel does them all, and those of
// other tensors at as many positions.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_counts.h"

namespace firn {
namespace {

constexpr int64_t kOneGroup = 1024;        // positions that one group has; fewer share a dispatch
constexpr int64_t kGroupMemory = 1 << 16;  // bytes; groups combine first into targets that fit
constexpr int64_t kMostGroups = 65535;     // of an axis, on every device
constexpr size_t kMostTargets = 3;  // of a kernel: devices bind four tensors to write, or more

using Nodes = std::unordered_set<const Node*>;

/// Returns the nodes that the results need outside of all loops and branches.
Nodes outside_regions(const std::vector<Ref>& results) {
    Nodes out;
    std::vector<const Node*> queue;
    for (const Ref& result : results) queue.push_back(result.get());
    while (!queue.empty()) {
        const Node* node = queue.back();
        queue.pop_back();
        if (!out.insert(node).second) continue;
        for (const Ref& input : node->inputs) queue.push_back(input.get());
    }
    return out;
}

/// Enough for a dispatch, and no more than one has.
bool fills_a_dispatch(const Shape& positions) {
    if (positions.empty() || positions.size() > 3) return false;
    const std::vector<uint32_t> group = usual_group(positions.size());
    int64_t count = 1;
    for (size_t axis = 0; axis < positions.size(); ++axis) {
        if (!positions[axis].is_constant()) return false;
        count *= positions[axis].constant();
        if (positions[axis].constant() > kMostGroups * group[axis]) return false;
    }
    return count > kOneGroup;
}

/// Returns whether every position combines with the old value, in any order.
bool combines(const Node& node) {
    if (node.op != Op::Scatter || node.dtype.bytes() != 4) return false;
    const ScatterAttr& attr = node.as<ScatterAttr>();
    return attr.op != ScatterOp::Last && !attr.by_hand && !attr.part &&
           fills_a_dispatch(node.inputs[1]->shape) &&
           element_count(node.shape).lower_bound() * 4 >= kGroupMemory;
}

/// Returns whether `later` combines into the result of `earlier`, by the same operation at as many
/// positions.
bool goes_on(const Node& later, const Node& earlier) {
    return combines(later) && combines(earlier) &&
           later.as<ScatterAttr>().op == earlier.as<ScatterAttr>().op &&
           later.inputs[1]->shape == earlier.inputs[1]->shape;
}

/// Stores into one tensor, the last first.
using Chain = std::vector<const Node*>;

Chain chain_of(const Node& last, const Nodes& begun) {
    Chain out{&last};
    while (begun.contains(out.back()->inputs[0].get())) out.push_back(out.back()->inputs[0].get());
    return out;
}

/// Returns the versions of each chain's tensor after one kernel over the positions of the chains.
std::vector<Ref> combined(const Builder& b, const std::vector<Chain>& chains) {
    const Shape& grid = chains[0][0]->inputs[1]->shape;
    const Ref iteration = region_arg(b, i32, {});
    std::vector<Ref> own, targets;
    for (size_t axis = 0; axis < grid.size(); ++axis)
        own.push_back(invocation(b, iteration, grid, static_cast<int>(axis)));
    const std::vector<Bounds> inside(grid.size(), Bounds::Unchecked);
    const auto read = [&](const Ref& x) {
        return gather(b, x, own, inside, Scalar{scalar_int(0)}.to(x->dtype));
    };
    Region body{{iteration}, {}};
    for (const Chain& chain : chains) {
        Ref version = region_arg(b, chain[0]->dtype, chain[0]->shape);
        targets.push_back(chain.back()->inputs[0]);
        body.args.push_back(version);
        for (size_t k = chain.size(); k-- > 0;) {
            const Node& store = *chain[k];
            std::vector<Ref> at;
            for (size_t i = 2; i < store.inputs.size(); ++i) at.push_back(read(store.inputs[i]));
            version = scatter(b, version, read(store.inputs[1]), at,
                              {.op = store.as<ScatterAttr>().op, .by_hand = true});
            note_lines(*version, store.lines);
        }
        body.results.push_back(version);
    }
    const Ref kernel =
        kernel_by_hand(b, targets, std::move(body), grid, usual_group(grid.size()), false);
    std::vector<Ref> out;
    for (size_t k = 0; k < chains.size(); ++k)
        out.push_back(result(b, kernel, static_cast<int>(k)));
    return out;
}

Builder builder_at(NodeTable& table, const Node& node) { return {table, first_line(node.lines)}; }

/// Returns the nodes that need the end of a chain, and these ends themselves.
Nodes behind_chains(const std::vector<Ref>& order, const Nodes& lasts) {
    Nodes out;
    for (const Ref& node : order) {
        bool behind = lasts.contains(node.get());
        for (const Ref& input : node->inputs) behind |= out.contains(input.get());
        const auto look_into = [&](const Region& region) {
            for (const Ref& result : region.results) behind |= out.contains(result.get());
        };
        if (node->op == Op::Loop) look_into(*node->as<LoopAttr>().body);
        if (node->op == Op::If) {
            look_into(*node->as<IfAttr>().then_body);
            look_into(*node->as<IfAttr>().else_body);
        }
        if (behind) out.insert(node.get());
    }
    return out;
}

/// Kernels of the chains that need nothing of another one's: those of as many positions together.
std::unordered_map<const Node*, Ref> of_independent_chains(NodeTable& table,
                                                           const std::vector<Chain>& chains,
                                                           const Nodes& behind) {
    std::vector<std::vector<Chain>> kernels;
    for (const Chain& chain : chains) {
        const std::vector<Ref>& inputs = chain[0]->inputs;
        if (std::any_of(inputs.begin(), inputs.end(),
                        [&](const Ref& input) { return behind.contains(input.get()); }))
            continue;
        const auto room = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
            return kernel.size() < kMostTargets &&
                   kernel[0][0]->inputs[1]->shape == chain[0]->inputs[1]->shape;
        });
        if (room != kernels.end())
            room->push_back(chain);
        else
            kernels.push_back({chain});
    }
    std::unordered_map<const Node*, Ref> out;
    for (const std::vector<Chain>& kernel : kernels) {
        const std::vector<Ref> results = combined(builder_at(table, *kernel[0][0]), kernel);
        for (size_t k = 0; k < kernel.size(); ++k) out[kernel[k][0]] = results[k];
    }
    return out;
}

}  // namespace

Graph combine_together(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    const UseCounts uses = use_counts(graph.results);
    const Nodes outside = outside_regions(graph.results);
    Nodes begun;  // that another one goes on with
    for (const Node* node : outside)
        if (node->op == Op::Scatter && uses.at(node->inputs[0].get()) == 1 &&
            goes_on(*node, *node->inputs[0]))
            begun.insert(node->inputs[0].get());
    const std::vector<Ref> order = topological(graph.results);
    std::vector<Chain> chains;
    Nodes lasts;
    for (const Ref& node : order) {
        if (!outside.contains(node.get()) || begun.contains(node.get()) || !combines(*node) ||
            !begun.contains(node->inputs[0].get()))
            continue;
        chains.push_back(chain_of(*node, begun));
        lasts.insert(node.get());
    }
    if (fired && !chains.empty()) (*fired)["combined together"] += static_cast<int>(chains.size());
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!lasts.contains(&node)) return nullptr;
        const Builder b = builder_at(table, node);
        const Ref last = remake(b, node, inputs, node.attr);
        Chain chain{last.get()};
        for (const Node* at = &node; begun.contains(at->inputs[0].get()); at = at->inputs[0].get())
            chain.push_back(chain.back()->inputs[0].get());
        return combined(b, {chain})[0];
    };
    return {graph.args,
            rewrite(table, graph.results, visit,
                    of_independent_chains(table, chains, behind_chains(order, lasts))),
            graph.guards, graph.data_sizes};
}

}  // namespace firn
