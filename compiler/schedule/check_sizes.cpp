// Refuses values with more indices than kernels can count, and names the user's line.
#include "compiler/schedule/check_sizes.h"

#include <set>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/reshape_blocks.h"
#include "compiler/ir/too_large.h"
#include "compiler/program/index_limits.h"

namespace firn {
namespace {

class Checker {
  public:
    Checker(Graph& graph, const SymbolFacts& facts) : graph_(graph), facts_(facts) {}

    /// Requires that `size`, which belongs to `node`, is at most `most`.
    void require(const Node& node, const Size& size, int64_t most, const std::string& what) {
        if (size.is_constant() ? size.constant() <= most : !seen_.emplace(size, most).second)
            return;
        const Size largest = firn::largest(size);
        if (largest.upper_bound(facts_.largest) <= most) return;
        std::string message = std::string(info(node.op).name) + " of shape " + text(node.shape) +
                              ": " + what + " is " + size.text() +
                              ", and kernels count with 32 bits, here to " + std::to_string(most) +
                              "; keep axes apart, or do it in parts";
        if (!node.lines.empty()) message += " (" + text(node.lines[0]) + ")";
        if (size.is_constant()) throw UserError(message);
        graph_.guards.push_back({min(largest, Size(most)), largest, message});
    }

  private:
    Graph& graph_;
    const SymbolFacts& facts_;
    std::set<std::pair<Size, int64_t>> seen_;  // symbolic ones, which have a guard
};

}  // namespace

void check_sizes(Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts) {
    Checker checker(graph, facts);
    for (const Ref& node : topological(graph.results)) {
        for (size_t axis = 0; axis < node->shape.size(); ++axis)
            checker.require(*node, node->shape[axis], kMostIndices, "axis " + std::to_string(axis));
        if (node->op == Op::Scatter)
            for (const Size& positions : node->inputs[1]->shape)
                checker.require(*node, positions, kMostElements, "an axis of what is stored");
        if (node->op != Op::Reshape || profile.has_i64) continue;
        for (const ReshapeBlock& block : reshape_blocks(node->shape, node->inputs[0]->shape))
            if (!counts_in_32_bits(block, facts))
                checker.require(*node, block.count, kMostIndices,
                                "what it renumbers, without 64-bit integers on this device,");
    }
}

void check_memory(const Graph& graph, const NodeSet& materialised) {
    for (const Ref& node : topological(graph.results)) {
        if (!materialised.contains(node.get())) continue;
        std::vector<int64_t> shape;
        for (const Size& size : node->shape)
            if (size.is_constant()) shape.push_back(size.constant());
        if (shape.size() == node->shape.size() &&
            count_elements(shape) > static_cast<double>(kMostElements))
            throw UserError(too_large(*node, shape, counted_limit()));
    }
}

}  // namespace firn
