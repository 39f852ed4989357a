// Calls compiled functions with tensors whose sizes only the device knows.
#include <algorithm>

#include "compiler/frontend/data_size.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

std::string cannot_check(const std::string& what, const Size& size) {
    return what + " is " + size.text() +
           ", which only the device knows, so that it cannot be checked here; ask for the tensor's "
           "shape() before "
           "the call, which reads it back, or declare a symbol of its own for that axis";
}

Ref count_of(SessionState& session, const Size& size, SourceLine line) {
    const std::vector<SizeAtom> symbols = data_symbols(size);
    if (symbols.size() == 1 && size == Size::data(symbols[0].name, symbols[0].args[0]))
        return source_of(symbols[0]).count;
    return realize_nodes(session, {size_value(builder(session, line), size)}, line)[0];
}

}  // namespace

std::map<std::string, Ref> given_counts(const FunctionState& function,
                                        const std::vector<GivenSize>& given, SourceLine line) {
    SizeMap sizes;
    auto what = [&](size_t argument, size_t axis) {
        return "call: axis " + std::to_string(axis) + " of " + argument_name(function, argument);
    };
    auto given_at = [&](size_t argument, size_t axis) {
        return std::find_if(given.begin(), given.end(), [&](const GivenSize& each) {
            return each.argument == argument && each.axis == axis;
        });
    };
    for (const GivenSize& each : given) {
        const Size& declared = function.specs[each.argument].shape[each.axis];
        const std::vector<std::string> names = declared.symbols();
        if (names.size() != 1 || !(declared == Size::symbol(names[0])))
            fail_at(line, cannot_check(what(each.argument, each.axis), each.size));
        sizes.emplace(names[0], each.size);
    }
    for (const auto& [symbol, size] : sizes) {
        for (size_t k = 0; k < function.specs.size(); ++k)
            for (size_t axis = 0; axis < function.specs[k].shape.size(); ++axis) {
                const Size& declared = function.specs[k].shape[axis];
                const auto at = given_at(k, axis);
                if (mentions(declared, symbol) &&
                    !(declared == Size::symbol(symbol) && at != given.end() && at->size == size))
                    fail_at(line,
                            cannot_check(what(k, axis) + " must fit size '" + symbol + "', which",
                                         size));
            }
        for (const Guard& guard : function.graph.guards)
            if (mentions(guard.left, symbol) || mentions(guard.right, symbol))
                fail_at(line, cannot_check(guard.message + "; size '" + symbol + "'", size));
    }
    std::map<std::string, Ref> counts;
    for (const auto& [symbol, size] : sizes)
        counts[symbol] = count_of(*function.session, size, line);
    return counts;
}

Graph with_data_sizes(NodeTable& table, const Graph& graph,
                      const std::vector<std::string>& symbols) {
    if (symbols.empty()) return graph;
    Graph out = graph;
    SizeMap map;
    std::vector<Ref> counts;
    out.data_sizes.clear();
    for (const std::string& symbol : symbols) {
        const Size size = Size::data("?" + symbol, Size::symbol(symbol));
        map.emplace(symbol, size);
        out.data_sizes.push_back(size);
        counts.push_back(
            input({table}, static_cast<int>(out.args.size() + counts.size()), i32, {}, false));
    }
    for (const Size& size : graph.data_sizes) out.data_sizes.push_back(size.substitute(map));
    std::vector<Ref> roots = graph.args;
    roots.insert(roots.end(), graph.results.begin(), graph.results.end());
    roots = substitute_sizes(table, roots, map);
    const auto results = roots.begin() + static_cast<std::ptrdiff_t>(graph.args.size());
    out.args.assign(roots.begin(), results);
    out.args.insert(out.args.end(), counts.begin(), counts.end());
    out.results = counts;
    out.results.insert(out.results.end(), results, roots.end());
    return out;
}

}  // namespace firn
