// A compiled function called while something is recorded becomes part of that: symbols take the
// sizes given.
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/function_state.h"
#include "compiler/ir/builder_checks.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

using SizeMap = std::map<std::string, Size>;

Shape substituted(const Shape& shape, const SizeMap& map) {
    Shape out;
    for (const Size& size : shape) out.push_back(size.substitute(map));
    return out;
}

Attr substituted(const Attr& attr, const SizeMap& map) {
    Attr out = attr;
    if (auto* value = std::get_if<SizeAttr>(&out)) value->size = value->size.substitute(map);
    if (auto* slice = std::get_if<SliceAttr>(&out)) slice->begin = substituted(slice->begin, map);
    if (auto* pad = std::get_if<PadAttr>(&out)) {
        pad->before = substituted(pad->before, map);
        pad->after = substituted(pad->after, map);
    }
    if (auto* loop = std::get_if<LoopAttr>(&out)) loop->grid = substituted(loop->grid, map);
    return out;
}

/// Sizes that stand alone in an argument's shape name its symbols.
void bind_symbols_of(const ArgSpec& spec, const Node& given, SizeMap& map) {
    for (size_t k = 0; k < spec.shape.size(); ++k) {
        std::vector<std::string> symbols = spec.shape[k].symbols();
        if (symbols.size() == 1 && spec.shape[k] == Size::symbol(symbols[0]))
            map.emplace(symbols[0], given.shape[k]);
    }
}

Ref argument_node(const FunctionState& function, size_t k, const Arg& arg) {
    const ArgSpec& spec = function.specs[k];
    std::string what = "call: " + argument_name(function, k);
    Builder b = builder(*function.session, arg.line());
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
Ref fitted(const FunctionState& function, size_t k, const Ref& node, const SizeMap& map,
           SourceLine line) {
    Builder b = builder(*function.session, line);
    Shape wanted = substituted(function.specs[k].shape, map);
    std::string what =
        "call: " + argument_name(function, k) + " is given shape " + text(node->shape);
    for (size_t axis = 0; axis < wanted.size(); ++axis)
        require_equal(b, node->shape[axis], wanted[axis],
                      what + ", and axis " + std::to_string(axis) + " must have size " +
                          wanted[axis].text() + " as its symbol has in an earlier argument");
    return fit(b, node, wanted, what);
}

Ref substitute_node(const Builder& b, const Node& node, const std::vector<Ref>& inputs,
                    const SizeMap& map) {
    const bool by_hand = node.op == Op::Loop && node.as<LoopAttr>().by_hand();
    if ((node.op == Op::Loop && !by_hand) || node.op == Op::If || node.op == Op::Result) return nullptr;
    SourceLine line = node.lines.empty() ? b.line : node.lines.front();
    return b.table.intern(node.op, node.dtype, substituted(node.shape, map), inputs,
                          substituted(node.attr, map), line);
}

}  // namespace

std::vector<Tensor> inline_call(const FunctionState& function, const std::vector<Arg>& args) {
    SourceLine line = args.empty() ? function.line : args[0].line();
    Builder b = builder(*function.session, line);
    std::vector<Ref> nodes;
    SizeMap map;
    for (size_t k = 0; k < args.size(); ++k) {
        nodes.push_back(argument_node(function, k, args[k]));
        bind_symbols_of(function.specs[k], *nodes[k], map);
    }
    std::unordered_map<const Node*, Ref> replace;
    for (size_t k = 0; k < function.graph.args.size(); ++k) {
        const Ref& arg = function.graph.args[k];
        replace[arg.get()] = k < args.size()
                                 ? fitted(function, k, nodes[k], map, args[k].line())
                                 : b.table.intern(Op::Buffer, arg->dtype, arg->shape, {},
                                                  BufferAttr{function.captured[k]}, line);
    }
    for (const Guard& guard : function.graph.guards)
        require_equal(b, guard.left.substitute(map), guard.right.substitute(map), guard.message);
    std::vector<Ref> nodes_there = function.graph.results;
    nodes_there.insert(nodes_there.end(), function.sources.begin(), function.sources.end());
    for (const Ref& node : topological(nodes_there))
        if (node->op == Op::RegionArg)
            replace[node.get()] = region_arg(b, node->dtype, substituted(node->shape, map));
    std::vector<Ref> results = rewrite(
        b.table, nodes_there,
        [&](const Node& node, const std::vector<Ref>& inputs) {
            return substitute_node(b, node, inputs, map);
        },
        replace);
    const auto first_source = results.begin() + static_cast<long>(function.graph.results.size());
    repeat_effects(*function.session, function.effects, {first_source, results.end()});
    size_t own = function.graph.results.size();
    for (const Effect& effect : function.effects) own -= effect.results;
    results.resize(own);
    std::vector<Tensor> out;
    for (Ref& result : results) out.push_back(Tensor::from_node(std::move(result)));
    return out;
}

}  // namespace firn
