// Writes a variant's assumptions about its sizes into them.
#include "compiler/ir/builder.h"
#include "compiler/ir/substitute.h"
#include "compiler/passes/passes.h"
#include "compiler/program/program.h"

namespace firn {

Graph assume_sizes(NodeTable& table, const Graph& graph, const SymbolFacts& facts) {
    const SizeMap known = known_sizes(facts);
    if (known.empty()) return graph;
    Graph out = graph;
    std::unordered_map<const Node*, Ref> replace;
    for (Ref& arg : out.args) {
        const InputAttr& attr = arg->as<InputAttr>();
        Ref sized =
            input({table}, attr.index, arg->dtype, substituted(arg->shape, known), attr.scalar);
        const auto value =
            attr.scalar ? facts.exact.find(scalar_symbol(attr.index)) : facts.exact.end();
        replace.emplace(arg.get(), value == facts.exact.end()
                                       ? sized
                                       : constant_int({table}, value->second, arg->dtype));
        arg = sized;
    }
    out.results = substitute_sizes(table, out.results, known, replace);
    for (Guard& guard : out.guards) {
        guard.left = guard.left.substitute(known);
        guard.right = guard.right.substitute(known);
    }
    return out;
}

}  // namespace firn
