// Ifs that cost nothing to evaluate on both sides become Selects.
#include "compiler/ir/builder.h"
#include "compiler/ir/regions.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

/// The regions that are dissolved: those of Ifs that become Selects.
struct Dissolving {
    Placement placement;
    std::vector<bool> holds_loop, holds_host_loop, dissolves;

    Dissolving(const Graph& graph, const std::unordered_set<const Node*>& host_loops)
        : placement(place(graph.results)) {
        size_t count = placement.regions.size();
        holds_loop.resize(count);
        holds_host_loop.resize(count);
        dissolves.resize(count);
        // A region comes after its parent, so inner regions report to outer ones in this order.
        for (size_t r = count; r-- > 0;) {
            for (const Ref& node : placement.regions[r].order) {
                holds_loop[r] = holds_loop[r] || node->op == Op::Loop;
                holds_host_loop[r] = holds_host_loop[r] || host_loops.contains(node.get());
            }
            int parent = placement.regions[r].parent;
            if (parent >= 0 && holds_loop[r]) holds_loop[static_cast<size_t>(parent)] = true;
            if (parent >= 0 && holds_host_loop[r])
                holds_host_loop[static_cast<size_t>(parent)] = true;
        }
        for (size_t r = 1; r < count; ++r) {
            const Node& owner = *placement.regions[r].owner;
            dissolves[r] = owner.op == Op::If && becomes_select(owner);
        }
    }

    bool becomes_select(const Node& branch) const {
        size_t first = static_cast<size_t>(placement.first_region.at(&branch));
        return !branch.inputs[0]->shape.empty() || (!holds_loop[first] && !holds_loop[first + 1]) ||
               holds_host_loop[first] || holds_host_loop[first + 1];
    }

    /// Inside a region that will be evaluated although its condition may not hold.
    bool loses_its_condition(const Node& node) const {
        for (int r = placement.region_of.at(&node); r > 0;
             r = placement.regions[static_cast<size_t>(r)].parent)
            if (dissolves[static_cast<size_t>(r)]) return true;
        return false;
    }
};

Graph dissolve(NodeTable& table, const Graph& graph, RuleCounts* fired,
               const Dissolving& dissolving) {
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op == Op::Gather && dissolving.loses_its_condition(node))
            return checked_read({table}, node, inputs);
        if (node.op != Op::Result || node.inputs[0]->op != Op::If) return nullptr;
        if (!dissolving.becomes_select(*node.inputs[0])) return nullptr;
        const Node& branch = *inputs[0];
        const auto& attr = branch.as<IfAttr>();
        size_t k = static_cast<size_t>(node.as<ResultAttr>().index);
        // Sizes that meet here met when the branch was recorded: its guards are in the graph
        // already.
        std::vector<Guard> known;
        Builder b{table, first_line(branch.lines), &known};
        if (fired) ++(*fired)["branch to select"];
        std::vector<Ref> operands = {branch.inputs[0], attr.then_body->results[k],
                                     attr.else_body->results[k]};
        for (Ref& operand : operands) operand = expand(b, operand, node.shape);
        Ref made = elementwise(b, Op::Select, operands);
        note_lines(*made, node.lines);
        return made;
    };
    auto keep_regions = [](const Node&, const Ref&) { return Ref(); };
    return {graph.args, rewrite(table, graph.results, visit, {}, keep_regions), graph.guards,
            graph.data_sizes};
}

}  // namespace

Graph branches_to_select(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    return dissolve(table, graph, fired, Dissolving(graph, {}));
}

Graph run_both_sides(NodeTable& table, const Graph& graph,
                     const std::unordered_set<const Node*>& host_loops) {
    return dissolve(table, graph, nullptr, Dissolving(graph, host_loops));
}

}  // namespace firn
