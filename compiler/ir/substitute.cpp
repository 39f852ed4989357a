// Nodes with other sizes.
#include "compiler/ir/substitute.h"

#include "compiler/ir/builder.h"

namespace firn {
namespace {

Attr substituted(const Attr& attr, const SizeMap& map) {
    Attr out = attr;
    if (auto* value = std::get_if<SizeAttr>(&out)) value->size = value->size.substitute(map);
    if (auto* slice = std::get_if<SliceAttr>(&out)) slice->begin = substituted(slice->begin, map);
    if (auto* pad = std::get_if<PadAttr>(&out)) {
        pad->before = substituted(pad->before, map);
        pad->after = substituted(pad->after, map);
    }
    if (auto* loop = std::get_if<LoopAttr>(&out)) {
        loop->grid = substituted(loop->grid, map);
        loop->sizes = substituted(loop->sizes, map);
    }
    return out;
}

SourceLine line_of(const Node& node) {
    return node.lines.empty() ? SourceLine{} : node.lines.front();
}

}  // namespace

Shape substituted(const Shape& shape, const SizeMap& map) {
    Shape out;
    for (const Size& size : shape) out.push_back(size.substitute(map));
    return out;
}

std::vector<Ref> substitute_sizes(NodeTable& table, const std::vector<Ref>& roots,
                                  const SizeMap& map,
                                  std::unordered_map<const Node*, Ref> replace) {
    for (const Ref& node : topological(roots))
        if (node->op == Op::RegionArg && !replace.contains(node.get()))
            replace[node.get()] =
                region_arg({table, line_of(*node)}, node->dtype, substituted(node->shape, map));
    return rewrite(
        table, roots,
        [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            const bool sized = node.op == Op::Loop && (node.as<LoopAttr>().by_hand() ||
                                                       !node.as<LoopAttr>().sizes.empty());
            if ((node.op == Op::Loop && !sized) || node.op == Op::If || node.op == Op::Result)
                return nullptr;
            Ref made = table.intern(node.op, node.dtype, substituted(node.shape, map), inputs,
                                    substituted(node.attr, map), line_of(node));
            note_lines(*made, node.lines);
            return made;
        },
        replace);
}

Graph copied_graph(NodeTable& table, const Graph& graph) {
    std::vector<Ref> roots = graph.args;
    roots.insert(roots.end(), graph.results.begin(), graph.results.end());
    roots = substitute_sizes(table, roots, {});
    Graph out = graph;
    const auto results = roots.begin() + static_cast<std::ptrdiff_t>(graph.args.size());
    out.args.assign(roots.begin(), results);
    out.results.assign(results, roots.end());
    return out;
}

}  // namespace firn
