// A compiled function called while something is recorded becomes part of that: symbols take the
// sizes given.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/function_state.h"
#include "compiler/ir/builder_checks.h"

namespace firn {
namespace {

/// Sizes that stand alone in an argument's shape name its symbols.
void bind_symbols_of(const ArgSpec& spec, const Node& given, SizeMap& map) {
    for (size_t k = 0; k < spec.shape.size(); ++k) {
        std::vector<std::string> symbols = spec.shape[k].symbols();
        if (symbols.size() == 1 && spec.shape[k] == Size::symbol(symbols[0]))
            map.emplace(symbols[0], given.shape[k]);
    }
}

Ref argument_node(SessionState& session, const RecordedFunction& function, size_t k,
                  const Arg& arg) {
    const ArgSpec& spec = function.specs[k];
    std::string what = "call: " + argument_name(function, k);
    Builder b = builder(session, arg.line());
    if (arg.is_scalar()) {
        if (!spec.shape.empty())
            fail(b, what + " is given the number " + text(arg.scalar()) +
                        "; it has a shape, so give a tensor");
        return constant(b, checked_scalar(arg, spec.dtype, what));
    }
    Ref node = arg.node();
    if (node->dtype != spec.dtype || node->shape.size() != spec.shape.size())
        fail(b, what + " is given " + node->dtype.name() + text(node->shape) +
                    "; type and rank must be as declared: convert or reshape it");
    return node;
}

/// The argument with exactly the shape that the function was recorded with.
Ref fitted(SessionState& session, const RecordedFunction& function, size_t k, const Ref& node,
           const SizeMap& map, SourceLine line) {
    Builder b = builder(session, line);
    Shape wanted = substituted(function.specs[k].shape, map);
    std::string what =
        "call: " + argument_name(function, k) + " is given shape " + text(node->shape);
    for (size_t axis = 0; axis < wanted.size(); ++axis)
        require_equal(b, node->shape[axis], wanted[axis],
                      what + ", and axis " + std::to_string(axis) + " must have size " +
                          wanted[axis].text() + " as its symbol has in an earlier argument");
    return fit(b, node, wanted, what);
}

/// The tensors that the function captured, as far as `map` names the sizes of their shapes.
void take_captured(SessionState& session, const RecordedFunction& function, const SizeMap& map,
                   SourceLine line, std::unordered_map<const Node*, Ref>& replace) {
    for (size_t k = function.specs.size(); k < function.graph.args.size(); ++k) {
        const Ref& arg = function.graph.args[k];
        const Shape shape = substituted(arg->shape, map);
        const bool named = std::all_of(shape.begin(), shape.end(), [](const Size& size) {
            const std::vector<SizeAtom> symbols = data_symbols(size);
            return std::all_of(symbols.begin(), symbols.end(),
                               [](const SizeAtom& each) { return each.source != nullptr; });
        });
        if (named)
            replace[arg.get()] =
                session.nodes.intern(Op::Buffer, arg->dtype, shape, {}, function.captured[k], line);
    }
}

/// Adds the sizes that the function computes as sizes of the current recording: `map` names them. A
/// count depends only on sizes before it.
void take_data_sizes(SessionState& session, const RecordedFunction& function, SizeMap& map,
                     SourceLine line, std::unordered_map<const Node*, Ref>& replace) {
    for (size_t k = 0; k < function.graph.data_sizes.size(); ++k) {
        take_captured(session, function, map, line, replace);
        const SizeAtom symbol = data_symbols(function.graph.data_sizes[k]).at(0);
        const Ref count =
            substitute_sizes(session.nodes, {function.graph.results[k]}, map, replace)[0];
        map[symbol.name] = data_size(session, count, symbol.args[0].substitute(map), line);
    }
    take_captured(session, function, map, line, replace);
}

}  // namespace

std::vector<Ref> inlined(SessionState& session, const RecordedFunction& function,
                         const std::vector<Ref>& nodes, const std::vector<Arg>& args,
                         SourceLine line) {
    Builder b = builder(session, line);
    note_nested(session, function.nested, line);
    std::vector<Ref> given;
    SizeMap map;
    for (size_t k = 0; k < args.size(); ++k) {
        given.push_back(argument_node(session, function, k, args[k]));
        bind_symbols_of(function.specs[k], *given[k], map);
    }
    std::unordered_map<const Node*, Ref> replace;
    for (size_t k = 0; k < args.size(); ++k)
        replace[function.graph.args[k].get()] =
            fitted(session, function, k, given[k], map, args[k].line());
    for (const Guard& guard : function.graph.guards)
        require_equal(b, guard.left.substitute(map), guard.right.substitute(map), guard.message);
    take_data_sizes(session, function, map, line, replace);
    rename_iteration_sizes(session, function.graph.results, map);
    return substitute_sizes(b.table, nodes, map, std::move(replace));
}

std::vector<Tensor> inline_call(const FunctionState& function, const std::vector<Arg>& args) {
    const SourceLine line = args.empty() ? function.line : args[0].line();
    const size_t counts = function.graph.data_sizes.size();
    size_t own = function.graph.results.size() - counts;
    std::vector<Ref> nodes(function.graph.results.begin() + static_cast<long>(counts),
                           function.graph.results.end());
    nodes.insert(nodes.end(), function.sources.begin(), function.sources.end());
    std::vector<Ref> results = inlined(*function.session, function, nodes, args, line);
    repeat_effects(*function.session, function.effects,
                   {results.begin() + static_cast<long>(own), results.end()});
    for (const Effect& effect : function.effects) own -= effect.results;
    results.resize(own);
    std::vector<Tensor> out;
    for (Ref& result : results) out.push_back(Tensor::from_node(std::move(result)));
    return out;
}

}  // namespace firn
