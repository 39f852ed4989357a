// What a variant knows of its sizes, written into them.
#include "compiler/ir/builder.h"
#include "compiler/ir/substitute.h"
#include "compiler/passes/passes.h"

namespace firn {

Graph assume_divisors(NodeTable& table, const Graph& graph, const SymbolFacts& facts) {
    SizeMap multiples;
    for (const auto& [symbol, divisor] : facts.divisors)
        multiples[symbol] = Size(divisor) * floor_div(Size::symbol(symbol), divisor);
    if (multiples.empty()) return graph;
    Graph out = graph;
    std::unordered_map<const Node*, Ref> replace;
    for (Ref& arg : out.args) {
        const InputAttr& attr = arg->as<InputAttr>();
        Ref sized =
            input({table}, attr.index, arg->dtype, substituted(arg->shape, multiples), attr.scalar);
        replace.emplace(arg.get(), sized);
        arg = sized;
    }
    out.results = substitute_sizes(table, out.results, multiples, replace);
    for (Guard& guard : out.guards) {
        guard.left = guard.left.substitute(multiples);
        guard.right = guard.right.substitute(multiples);
    }
    return out;
}

}  // namespace firn
