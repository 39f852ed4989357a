// Stores that combine into one tensor, one after the other: one kernel does them all.
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_counts.h"

namespace firn {
namespace {

constexpr int64_t kOneGroup = 1024;        // positions that one group has; fewer share a dispatch
constexpr int64_t kGroupMemory = 1 << 16;  // bytes; into what fits there groups combine first
constexpr int64_t kMostGroups = 65535;     // of an axis, on every device

using Nodes = std::unordered_set<const Node*>;

/// What the results need that stands in no loop and in no branch.
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

/// Every position combines with what is there, whichever comes first.
bool combines(const Node& node) {
    if (node.op != Op::Scatter || node.dtype.bytes() != 4) return false;
    const ScatterAttr& attr = node.as<ScatterAttr>();
    return attr.op != ScatterOp::Last && !attr.by_hand && !attr.part &&
           fills_a_dispatch(node.inputs[1]->shape) &&
           element_count(node.shape).lower_bound() * 4 >= kGroupMemory;
}

/// `later` combines into what `earlier` leaves, by the same operation at as many positions.
bool goes_on(const Node& later, const Node& earlier) {
    return combines(later) && combines(earlier) &&
           later.as<ScatterAttr>().op == earlier.as<ScatterAttr>().op &&
           later.inputs[1]->shape == earlier.inputs[1]->shape;
}

/// A kernel over the positions of stores, of which the last stands first.
Ref combined(const Builder& b, const std::vector<const Node*>& stores) {
    const Node& last = *stores.front();
    const Shape& grid = last.inputs[1]->shape;
    const Ref turn = region_arg(b, i32, {}), target = region_arg(b, last.dtype, last.shape);
    std::vector<Ref> own;
    for (size_t axis = 0; axis < grid.size(); ++axis)
        own.push_back(invocation(b, turn, grid, static_cast<int>(axis)));
    const std::vector<Bounds> inside(grid.size(), Bounds::Unchecked);
    const auto read = [&](const Ref& x) {
        return gather(b, x, own, inside, Scalar{scalar_int(0)}.to(x->dtype));
    };
    Ref version = target;
    for (size_t k = stores.size(); k-- > 0;) {
        const Node& store = *stores[k];
        std::vector<Ref> at;
        for (size_t i = 2; i < store.inputs.size(); ++i) at.push_back(read(store.inputs[i]));
        version = scatter(b, version, read(store.inputs[1]), at,
                          {.op = store.as<ScatterAttr>().op, .by_hand = true});
        note_lines(*version, store.lines);
    }
    Region body{{turn, target}, {version}};
    return result(b,
                  kernel_by_hand(b, {stores.back()->inputs[0]}, std::move(body), grid,
                                 usual_group(grid.size()), false),
                  0);
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
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!outside.contains(&node) || begun.contains(&node) || !combines(node) ||
            !begun.contains(node.inputs[0].get()))
            return nullptr;
        const Builder b{table, node.lines.empty() ? SourceLine{} : node.lines[0]};
        const Ref last = remake(b, node, inputs, node.attr);
        std::vector<const Node*> stores{last.get()};
        for (const Node* at = &node; begun.contains(at->inputs[0].get()); at = at->inputs[0].get())
            stores.push_back(stores.back()->inputs[0].get());
        if (fired) ++(*fired)["combined together"];
        return combined(b, stores);
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
