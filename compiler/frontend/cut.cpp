// Replaces leaves by Inputs.
#include "compiler/frontend/cut.h"

#include <cmath>

#include "compiler/frontend/data_size.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

/// Small whole numbers, halves and the special values change what the compiler makes of a formula.
bool worth_folding(const ConstantAttr& constant) {
    if (constant.parameter) return false;
    const Scalar& value = constant.value;
    if (!value.dtype.is_float() || !std::isfinite(value.f)) return true;
    return std::abs(value.f) <= 16 && value.f * 2 == std::floor(value.f * 2);
}

SourceLine first_line(const Node& node) {
    return node.lines.empty() ? SourceLine{} : node.lines.front();
}

class Cutter {
  public:
    Cutter(NodeTable& table, Cut& cut, bool constants)
        : table_(table), cut_(cut), constants_(constants) {}

    Ref operator()(const Node& node) {
        if (node.op == Op::Buffer) return add(node, node.as<BufferAttr>().storage, {});
        if (node.op != Op::Constant) return nullptr;
        const auto& number = node.as<ConstantAttr>();
        if (constants_) return worth_folding(number) ? nullptr : add(node, nullptr, number.value);
        return number.parameter ? constant({table_, first_line(node)}, number.value) : nullptr;
    }

  private:
    Ref add(const Node& node, std::shared_ptr<Memory> memory, const Scalar& value) {
        int index = static_cast<int>(cut_.graph.args.size());
        Ref made = input({table_, first_line(node)}, index, node.dtype, node.shape, !memory);
        cut_.graph.args.push_back(made);
        cut_.call.arguments.push_back(std::move(memory));
        cut_.call.scalars.push_back(value);
        return made;
    }

    NodeTable& table_;
    Cut& cut_;
    bool constants_;
};

/// `results` with the counts of the data symbols below in front.
std::vector<Ref> with_counts(Cut& cut, const std::vector<Ref>& results) {
    cut.symbols = data_symbols_below(results);
    std::vector<Ref> out;
    for (const SizeAtom& symbol : cut.symbols) out.push_back(source_of(symbol).count);
    out.insert(out.end(), results.begin(), results.end());
    return out;
}

}  // namespace

Cut cut_graph(NodeTable& table, const std::vector<Ref>& results,
              const std::unordered_map<const Node*, Ref>& computed) {
    Cut cut;
    Cutter cutter(table, cut, true);
    const std::vector<Ref> all = with_counts(cut, substitute(table, results, computed));
    cut.graph.results =
        rewrite(table, substitute(table, all, computed),
                [&](const Node& node, const std::vector<Ref>&) { return cutter(node); });
    name_data_sizes(table, cut.graph, cut.symbols);
    return cut;
}

Cut cut_buffers(NodeTable& table, const std::vector<Ref>& results,
                const std::vector<Ref>& declared) {
    Cut cut;
    cut.graph.args = declared;
    cut.call.arguments.resize(declared.size());
    cut.call.scalars.resize(declared.size());
    Cutter cutter(table, cut, false);
    cut.graph.results =
        rewrite(table, with_counts(cut, results),
                [&](const Node& node, const std::vector<Ref>&) { return cutter(node); });
    name_data_sizes(table, cut.graph, cut.symbols);
    return cut;
}

}  // namespace firn
