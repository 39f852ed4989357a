// Nodes with other sizes.
#include "compiler/ir/substitute.h"

#include <optional>

#include "compiler/ir/builder.h"

namespace firn {
namespace {

/// Sizes with symbols replaced, each worked out once: a graph has few, and they may be long.
class Substitution {
  public:
    explicit Substitution(const SizeMap& map) : map_(map) {}
    Size operator()(const Size& size) {
        if (size.is_constant()) return size;
        const auto [at, added] = known_.try_emplace(size);
        if (added) at->second = size.substitute(map_);
        return at->second;
    }
    Shape operator()(const Shape& shape) {
        Shape out;
        for (const Size& size : shape) out.push_back((*this)(size));
        return out;
    }

  private:
    const SizeMap& map_;
    std::map<Size, Size> known_;
};

Attr substituted(const Attr& attr, Substitution& map) {
    Attr out = attr;
    if (auto* value = std::get_if<SizeAttr>(&out)) value->size = map(value->size);
    if (auto* slice = std::get_if<SliceAttr>(&out)) slice->begin = map(slice->begin);
    if (auto* pad = std::get_if<PadAttr>(&out)) {
        pad->before = map(pad->before);
        pad->after = map(pad->after);
    }
    if (auto* loop = std::get_if<LoopAttr>(&out)) {
        loop->grid = map(loop->grid);
        loop->sizes = map(loop->sizes);
    }
    return out;
}

/// A number that rules about constants may know.
bool is_i32(const Size& size) {
    return size.is_constant() && size.constant() >= INT32_MIN && size.constant() <= INT32_MAX;
}

std::optional<int64_t> number(const Node& node, Substitution& size) {
    if (node.op == Op::Constant && node.dtype == i32) return node.as<ConstantAttr>().value.i;
    if (node.op != Op::SizeValue) return std::nullopt;
    const Size value = size(node.as<SizeAttr>().size);
    return value.is_constant() ? std::optional(value.constant()) : std::nullopt;
}

/// Returns whether the loop's end is known to come before its beginning.
bool ends_at_once(const Node& node, Substitution& size) {
    if (node.op != Op::Loop || node.as<LoopAttr>().by_hand()) return false;
    const auto begin = number(*node.inputs[0], size), end = number(*node.inputs[1], size),
               step = number(*node.inputs[2], size);
    return begin && end && step && *step > 0 && *begin >= *end;
}

/// See substitute_sizes(). `known`: by which loops are found that end at once. Without `rules`
/// values stand for those with a rule of gradients.
std::vector<Ref> rebuilt(NodeTable& table, const std::vector<Ref>& roots, const SizeMap& map,
                         const SizeMap& known, const std::unordered_map<const Node*, Ref>& replace,
                         bool rules) {
    Substitution size(map), trips(known);
    return rewrite(
        table, roots,
        [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (node.op == Op::RegionArg)
                return region_arg({table, first_line(node.lines)}, node.dtype, size(node.shape));
            const bool sized = node.op == Op::Loop && (node.as<LoopAttr>().by_hand() ||
                                                       !node.as<LoopAttr>().sizes.empty());
            if (node.op == Op::Ruled && !rules) return inputs[0];
            if ((node.op == Op::Loop && !sized) || node.op == Op::If || node.op == Op::Result)
                return nullptr;
            const Attr attr = substituted(node.attr, size);
            Ref made =
                node.op == Op::SizeValue && is_i32(std::get<SizeAttr>(attr).size)
                    ? size_value({table, first_line(node.lines)}, std::get<SizeAttr>(attr).size)
                    : table.intern(node.op, node.dtype, size(node.shape), inputs, attr,
                                   first_line(node.lines));
            if (node.own) made = table.as_own(std::move(made), node.own);
            note_lines(*made, node.lines);
            return made;
        },
        replace, {}, [&](const Node& node) { return ends_at_once(node, trips); });
}

}  // namespace

SizeMap known_sizes(const SymbolFacts& facts) {
    SizeMap known;
    for (const auto& [symbol, divisor] : facts.divisors)
        known[symbol] = Size(divisor) * floor_div(Size::symbol(symbol), divisor);
    for (const auto& [symbol, value] : facts.exact) known[symbol] = value;
    return known;
}

Shape substituted(const Shape& shape, const SizeMap& map) { return Substitution(map)(shape); }

std::vector<Ref> substitute_sizes(NodeTable& table, const std::vector<Ref>& roots,
                                  const SizeMap& map,
                                  const std::unordered_map<const Node*, Ref>& replace) {
    return rebuilt(table, roots, map, map, replace, true);
}

Graph copied_graph(NodeTable& table, const Graph& graph, const SymbolFacts& facts) {
    std::vector<Ref> roots = graph.args;
    roots.insert(roots.end(), graph.results.begin(), graph.results.end());
    // Rules hold tensors of their callers, and so their session, which must not end here.
    roots = rebuilt(table, roots, {}, known_sizes(facts), {}, false);
    Graph out = graph;
    const auto results = roots.begin() + static_cast<std::ptrdiff_t>(graph.args.size());
    out.args.assign(roots.begin(), results);
    out.results.assign(results, roots.end());
    return out;
}

}  // namespace firn
