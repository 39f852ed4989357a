// Replaces leaves by Inputs.
#include "compiler/frontend/cut.h"

#include <cmath>

#include "compiler/frontend/data_size.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

enum class Folding : uint8_t { Never, Worth, Always };

/// Says whether a constant is folded: small whole numbers, halves and the special values change the
/// code for a formula.
Folding folding_of(const ConstantAttr& constant) {
    if (constant.parameter) return Folding::Never;
    const Scalar& value = constant.value;
    if (!value.dtype.is_float() || !std::isfinite(value.f)) return Folding::Always;
    const bool simple = std::abs(value.f) <= 16 && value.f * 2 == std::floor(value.f * 2);
    return simple ? Folding::Worth : Folding::Never;
}

class Cutter {
  public:
    Cutter(NodeTable& table, Cut& cut, bool constants)
        : table_(table), cut_(cut), constants_(constants) {}
    Cutter(NodeTable& table, Cut& cut, const UnfoldedNumbers& unfolded,
           std::vector<double>& numbers)
        : table_(table), cut_(cut), constants_(true), unfolded_(&unfolded), numbers_(&numbers) {}

    Ref operator()(const Node& node) {
        if (node.op == Op::Buffer) return add(node, node.as<BufferAttr>(), {});
        if (node.op != Op::Constant) return nullptr;
        const auto& number = node.as<ConstantAttr>();
        if (constants_) return folds(number) ? nullptr : add(node, {}, number.value);
        return number.parameter ? constant({table_, first_line(node.lines)}, number.value)
                                : nullptr;
    }

  private:
    bool folds(const ConstantAttr& number) {
        const Folding folding = folding_of(number);
        if (folding == Folding::Always || number.parameter) return folding == Folding::Always;
        const size_t which = numbers_->size();
        numbers_->push_back(number.value.f);
        const bool asked = which < unfolded_->size() && (*unfolded_)[which];
        return folding == Folding::Worth && !asked;
    }
    Ref add(const Node& node, BufferAttr buffer, const Scalar& value) {
        int index = static_cast<int>(cut_.graph.args.size());
        Ref made =
            input({table_, first_line(node.lines)}, index, node.dtype, node.shape, !buffer.storage);
        cut_.graph.args.push_back(made);
        cut_.call.arguments.push_back(buffer.storage);
        cut_.buffers.push_back(std::move(buffer));
        cut_.call.scalars.push_back(value);
        return made;
    }

    NodeTable& table_;
    Cut& cut_;
    bool constants_;
    const UnfoldedNumbers* unfolded_ = nullptr;
    std::vector<double>* numbers_ = nullptr;
};

/// `results` with the counts of the data symbols below in front.
std::vector<Ref> with_counts(Cut& cut, const std::vector<Ref>& results) {
    cut.symbols = data_symbols_below(results);
    std::vector<Ref> out;
    for (const SizeAtom& symbol : cut.symbols) out.push_back(source_of(symbol).count);
    out.insert(out.end(), results.begin(), results.end());
    return out;
}

/// Returns the Buffers of the values below `results` that were computed already. Numbers stay
/// numbers: a loop's bound must not become a load because its value was read before.
std::unordered_map<const Node*, Ref> computed_below(const std::vector<Ref>& results) {
    const auto is_computed = [](const Node& node) { return node.computed && !is_trivial(node); };
    std::unordered_map<const Node*, Ref> buffers;
    for (const Ref& node : topological(results, is_computed))
        if (is_computed(*node)) buffers.emplace(node.get(), node->computed);
    return buffers;
}

/// Returns `results` with Buffers in place of computed values, equal values merged.
std::vector<Ref> with_computed(NodeTable& table, const std::vector<Ref>& results) {
    return merge_equal(table, results, computed_below(results));
}

}  // namespace

bool is_trivial(const Node& node) {
    const Node* base = &node;
    while (is_movement(base->op)) base = base->inputs[0].get();
    return base->inputs.empty();
}

Cut cut_graph(NodeTable& table, const std::vector<Ref>& results, const UnfoldedNumbers& unfolded,
              std::vector<double>* numbers) {
    Cut cut;
    std::vector<double> own;
    Cutter cutter(table, cut, unfolded, numbers ? *numbers : own);
    std::vector<Ref> all = with_counts(cut, with_computed(table, results));
    if (!cut.symbols.empty()) all = with_computed(table, all);
    cut.graph.results =
        rewrite(table, all, [&](const Node& node, const auto&) { return cutter(node); });
    name_data_sizes(table, cut.graph, cut.symbols);
    return cut;
}

Cut cut_as_recorded(NodeTable& table, const std::vector<Ref>& results) {
    Cut cut;
    Cutter cutter(table, cut, false);
    const auto with_buffers = [&](const std::vector<Ref>& roots) {
        const auto buffers = computed_below(roots);
        return buffers.empty() ? roots : substitute(table, roots, buffers);
    };
    std::vector<Ref> all = with_counts(cut, with_buffers(results));
    if (!cut.symbols.empty()) all = with_buffers(all);
    cut.graph.results = rewrite(
        table, all, [&](const Node& node, const std::vector<Ref>&) { return cutter(node); });
    name_data_sizes(table, cut.graph, cut.symbols);
    return cut;
}

Cut cut_buffers(NodeTable& table, const std::vector<Ref>& results,
                const std::vector<Ref>& declared) {
    Cut cut;
    cut.graph.args = declared;
    cut.call.arguments.resize(declared.size());
    cut.buffers.resize(declared.size());
    cut.call.scalars.resize(declared.size());
    Cutter cutter(table, cut, false);
    cut.graph.results =
        rewrite(table, merge_equal(table, with_counts(cut, results)),
                [&](const Node& node, const std::vector<Ref>&) { return cutter(node); });
    name_data_sizes(table, cut.graph, cut.symbols);
    return cut;
}

}  // namespace firn
