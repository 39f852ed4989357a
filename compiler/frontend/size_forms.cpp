// Graphs that differ in their sizes alone.
#include "compiler/frontend/size_forms.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// Symbols of one graph: more are no sizes of a few tensors.
constexpr size_t kMostSymbols = 8;
/// Sizes whose products are tried.
constexpr size_t kMostFactors = 16;

bool is_number(const Node& node) { return node.op == Op::Constant && node.dtype == i32; }

using Column = std::vector<int64_t>;  // one number of a form in each of the examples

bool is_same(const Column& column) {
    return std::all_of(column.begin(), column.end(), [&](int64_t x) { return x == column[0]; });
}

/// Returns a column as a multiple of a symbol plus a constant. There is always a line through two
/// points: if there are no more, only a neighbour or a multiple is accepted.
std::optional<Size> line_through(const Column& column, const Column& symbol, const Size& name) {
    size_t other = 0;
    while (other < symbol.size() && symbol[other] == symbol[0]) ++other;
    if (other == symbol.size()) return std::nullopt;
    const int64_t rise = column[other] - column[0], run = symbol[other] - symbol[0];
    if (rise % run != 0) return std::nullopt;
    const int64_t slope = rise / run, begin = column[0] - slope * symbol[0];
    for (size_t k = 0; k < column.size(); ++k)
        if (column[k] != slope * symbol[k] + begin) return std::nullopt;
    const size_t points = std::set<int64_t>(symbol.begin(), symbol.end()).size();
    if (slope == 0 || (points < 3 && begin != 0 && std::abs(slope) != 1)) return std::nullopt;
    return Size(slope) * name + Size(begin);
}

/// Returns a column as a multiple of the product of two symbols.
std::optional<Size> multiple_of(const Column& column, const Column& a, const Column& b,
                                const Size& product) {
    std::optional<int64_t> factor;
    for (size_t k = 0; k < column.size(); ++k) {
        const int64_t each = a[k] * b[k];
        if (each == 0 ? column[k] != 0 : column[k] % each != 0) return std::nullopt;
        if (each == 0) continue;
        if (factor && *factor != column[k] / each) return std::nullopt;
        factor = column[k] / each;
    }
    if (!factor || *factor == 0) return std::nullopt;
    return Size(*factor) * product;
}

/// Expresses columns as sizes.
class Symbols {
  public:
    /// The column as a size of the symbols so far.
    std::optional<Size> known(const Column& column) const {
        if (is_same(column)) return Size(column[0]);
        for (const Sized& base : bases_)
            if (const auto line = line_through(column, base.column, base.size)) return line;
        for (size_t a = 0; a < factors_.size(); ++a)
            for (size_t b = a; b < factors_.size(); ++b)
                if (const auto product = multiple_of(column, factors_[a].column, factors_[b].column,
                                                     factors_[a].size * factors_[b].size))
                    return product;
        return std::nullopt;
    }
    /// Returns the column as a size, as a new symbol if it follows from no other. Nothing if there
    /// are too many, or it is negative.
    std::optional<Size> add(const Column& column, size_t number) {
        std::optional<Size> size = known(column);
        if (!size) {
            const auto is_negative = [](int64_t x) { return x < 0; };
            if (bases_.size() == kMostSymbols ||
                std::any_of(column.begin(), column.end(), is_negative))
                return std::nullopt;
            symbols.emplace_back("n" + std::to_string(bases_.size()), number);
            size = Size::symbol(symbols.back().first);
            bases_.push_back({column, *size});
        }
        if (!size->is_constant() && factors_.size() < kMostFactors)
            factors_.push_back({column, *size});
        return size;
    }
    std::vector<std::pair<std::string, size_t>> symbols;

  private:
    struct Sized {
        Column column;
        Size size;
    };
    std::vector<Sized> bases_, factors_;
};

/// Gives the nodes of a graph the sizes of their numbers.
class Resizer {
  public:
    Resizer(NodeTable& table, const Graph& graph, const SizedNumbers& sized)
        : table_(table), sized_(sized) {
        size_t number = 0;
        for (const Ref& node : topological(graph.results)) {
            first_[node.get()] = number;
            for_sizes(*node, [&](const Size&) { ++number; });
            number += is_number(*node);
        }
    }

    Ref operator()(const Node& node, const std::vector<Ref>& inputs) {
        at_ = first_.at(&node);
        const Builder b{table_, first_line(node.lines)};
        if (node.op == Op::Ruled) return inputs[0];
        if (node.op == Op::Result) return nullptr;
        if (is_number(node))
            return sized_.sizes[at_].is_constant() ? nullptr : size_value(b, sized_.sizes[at_]);
        const Shape shape = next(node.shape);
        if (node.op == Op::RegionArg) return region_arg(b, node.dtype, shape);
        Ref made = table_.intern(node.op, node.dtype, shape, inputs, attribute(node.attr), b.line);
        note_lines(*made, node.lines);
        return made;
    }

    /// Among loops and branches only kernels by hand have sizes.
    Ref region(const Node& node, const Ref& rebuilt) {
        if (node.op != Op::Loop || !node.as<LoopAttr>().by_hand()) return nullptr;
        at_ = first_.at(&node) + node.shape.size();
        Ref made = table_.intern(Op::Loop, rebuilt->dtype, rebuilt->shape, rebuilt->inputs,
                                 attribute(rebuilt->attr), first_line(node.lines));
        note_lines(*made, node.lines);
        return made;
    }

  private:
    /// Visits sizes in the order of for_sizes.
    Attr attribute(const Attr& attr) {
        Attr out = attr;
        if (auto* value = std::get_if<SizeAttr>(&out)) value->size = sized_.sizes[at_++];
        if (auto* loop = std::get_if<LoopAttr>(&out)) loop->grid = next(loop->grid);
        if (auto* slice = std::get_if<SliceAttr>(&out)) slice->begin = next(slice->begin);
        if (auto* pad = std::get_if<PadAttr>(&out)) {
            pad->before = next(pad->before);
            pad->after = next(pad->after);
        }
        return out;
    }
    std::vector<Size> next(const std::vector<Size>& old) {
        const auto begin = sized_.sizes.begin() + static_cast<std::ptrdiff_t>(at_);
        at_ += old.size();
        return {begin, begin + static_cast<std::ptrdiff_t>(old.size())};
    }

    NodeTable& table_;
    const SizedNumbers& sized_;
    std::unordered_map<const Node*, size_t> first_;  // of each node's numbers
    size_t at_ = 0;
};

}  // namespace

std::optional<SizeForm> form_of(const Graph& graph) {
    SizeForm form;
    bool numbers = graph.data_sizes.empty() && graph.guards.empty();
    for (const Ref& node : topological(graph.results)) {
        for_sizes(*node, [&](const Size& size) {
            numbers &= size.is_constant();
            if (numbers) form.numbers.push_back(size.constant());
        });
        if (is_number(*node)) form.numbers.push_back(node->as<ConstantAttr>().value.i);
        numbers &= node->op != Op::Loop || node->as<LoopAttr>().sizes.empty();
        if (!numbers) return std::nullopt;
    }
    form.text = print(graph, {.numbers = false});
    return form;
}

std::optional<SizeEnv> SizedNumbers::fit(const std::vector<int64_t>& numbers) const {
    SizeEnv env;
    for (const auto& [symbol, number] : symbols) {
        if (numbers[number] < 0) return std::nullopt;
        env[symbol] = numbers[number];
    }
    for (size_t k = 0; k < sizes.size(); ++k)
        if (sizes[k].evaluate(env) != numbers[k]) return std::nullopt;
    return env;
}

std::optional<SizedNumbers> sized_numbers(const Graph& graph,
                                          const std::vector<std::vector<int64_t>>& examples) {
    std::vector<Column> columns(examples[0].size());
    for (const std::vector<int64_t>& example : examples)
        for (size_t k = 0; k < columns.size(); ++k) columns[k].push_back(example[k]);
    // The smallest sizes first: products and counts are made of them.
    std::map<Column, size_t> sizes;
    size_t number = 0;
    for (const Ref& node : topological(graph.results)) {
        for_sizes(*node, [&](const Size&) { sizes.emplace(columns[number], number), ++number; });
        number += is_number(*node);
    }
    Symbols symbols;
    std::map<Column, Size> known;
    for (const auto& [column, at] : sizes) {
        const std::optional<Size> size = symbols.add(column, at);
        if (!size) return std::nullopt;
        known.emplace(column, *size);
    }
    SizedNumbers out;
    for (const Column& column : columns) {
        const auto at = known.find(column);
        const std::optional<Size> size = at == known.end() ? symbols.known(column) : at->second;
        if (!size) return std::nullopt;
        out.sizes.push_back(*size);
    }
    out.symbols = std::move(symbols.symbols);
    return out;
}

Graph with_sizes(NodeTable& table, const Graph& graph, const SizedNumbers& sized) {
    Resizer resized(table, graph, sized);
    std::vector<Ref> roots = graph.args;
    roots.insert(roots.end(), graph.results.begin(), graph.results.end());
    roots = rewrite(
        table, roots,
        [&](const Node& node, const std::vector<Ref>& inputs) { return resized(node, inputs); }, {},
        [&](const Node& node, const Ref& rebuilt) { return resized.region(node, rebuilt); });
    const auto results = roots.begin() + static_cast<std::ptrdiff_t>(graph.args.size());
    Graph out;
    out.args.assign(roots.begin(), results);
    out.results.assign(results, roots.end());
    verify(out, "with_sizes");
    return out;
}

}  // namespace firn
