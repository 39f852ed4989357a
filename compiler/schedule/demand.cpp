// Finds the elements of its inputs that a value needs at a given index.
#include "compiler/schedule/demand.h"

#include <algorithm>
#include <cstddef>

#include "compiler/target/cost_table.h"

namespace firn {

bool are_too_many(const std::set<Ask>& asks, const Node& root) {
    if (asks.size() <= costs::kMostMaps) return false;
    const auto of_root =
        std::count_if(asks.begin(), asks.end(), [&](const Ask& ask) { return ask.root == &root; });
    return asks.size() > costs::kMostMapsOfAll ||
           of_root > static_cast<std::ptrdiff_t>(costs::kMostMaps);
}

const Shape& asking_grid(const RegionFacts& regions, const Ask& ask) {
    return ask.starts ? ask.root->shape : grid_shape(regions, *ask.root);
}

namespace {

using OnDemand = std::function<void(const Node&, int, bool)>;

/// Visits every input at the invocation's own index; of the tensors that the kernel written by hand
/// stores to, all of their earlier elements.
void for_invocations(const ScheduleFacts& facts, AccessMaps& maps, const Node& node,
                     const OnDemand& visit) {
    const bool result = is_stored_by_hand(node);
    const Node& kernel = result ? *node.inputs[0] : *kernel_by_hand(facts.regions, node);
    const Shape& grid = kernel.as<LoopAttr>().grid;
    const int own = maps.identity(grid);
    auto visit_own = [&](const Ref& to) {
        const bool whole =
            facts.regions.arrays.contains(to.get()) || to->shape.size() > grid.size();
        visit(*to, whole ? own : maps.projected(own, grid, to->shape), false);
    };
    if (node.op != Op::Result) {
        for (const Ref& input : node.inputs) visit_own(input);
        return;
    }
    const Node& loop = *node.inputs[0];
    for (size_t k = 0; k < loop.inputs.size(); ++k) {
        if (k < 3 || result)
            visit(*loop.inputs[k], maps.identity(loop.inputs[k]->shape), k >= 3);
        else
            visit_own(loop.inputs[k]);
    }
    for (const Ref& next : loop.as<LoopAttr>().body->results) visit_own(next);
}

/// Visits what the iterations of a loop ask for at one element: the bounds, and every carried value
/// that has elements.
void for_carried(const ScheduleFacts& facts, AccessMaps& maps, const Node& loop, int map,
                 const Shape& shape, const OnDemand& visit) {
    for (int bound = 0; bound < 3; ++bound) visit(*loop.inputs[bound], maps.identity({}), false);
    const Region& body = *loop.as<LoopAttr>().body;
    for (size_t j = 0; j < body.results.size(); ++j) {
        if (facts.regions.arrays.contains(body.results[j].get())) {
            visit(*body.results[j], map, false);
            continue;
        }
        if (body.results[j]->shape.size() > shape.size() || !accumulation(loop, j).empty())
            continue;
        for (const Ref& to : {loop.inputs[j + 3], body.results[j]})
            visit(*to, maps.projected(map, shape, to->shape), false);
    }
}

/// Visits what is written by position: the target element by element, and the values and indices by
/// position.
void for_written(const ScheduleFacts& facts, AccessMaps& maps, const Node& node, const Written& w,
                 int map, const OnDemand& visit) {
    visit(*w.target, maps.identity(node.shape), true);
    for (const Node* scatter : w.scatters)
        for (size_t k = 1; k < scatter->inputs.size(); ++k) visit(*scatter->inputs[k], map, false);
    if (w.loop) for_carried(facts, maps, *w.loop, map, w.positions(), visit);
}

void for_branches(AccessMaps& maps, const Node& node, int map, const OnDemand& visit) {
    const Node& branch = *node.inputs[0];
    const IfAttr& attr = branch.as<IfAttr>();
    const int k = node.as<ResultAttr>().index;
    for (const Ref& to : {branch.inputs[0], attr.then_body->results[k], attr.else_body->results[k]})
        if (to->shape.size() <= node.shape.size())
            visit(*to, maps.projected(map, node.shape, to->shape), false);
}

}  // namespace

void for_demand(const ScheduleFacts& facts, AccessMaps& maps, const Node& node, int map,
                const OnDemand& visit) {
    if (node.op == Op::RegionArg) return;
    if (is_of_invocations(facts.regions, node)) return for_invocations(facts, maps, node, visit);
    if (const Written w = written(facts, node))
        return for_written(facts, maps, node, w, map, visit);
    if (node.op == Op::HostCall)
        return visit(*node.inputs[0], maps.identity(node.inputs[0]->shape), false);
    if (node.op != Op::Result) {
        for (size_t k = 0; k < node.inputs.size(); ++k)
            visit(*node.inputs[k], maps.input_map(node, static_cast<int>(k), map), false);
        return;
    }
    if (node.inputs[0]->op == Op::If) return for_branches(maps, node, map, visit);
    for_carried(facts, maps, *node.inputs[0], map, node.shape, visit);
}

}  // namespace firn
