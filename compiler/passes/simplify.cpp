// Runs the rows of rules.h over a graph, bottom-up, each node until none fires.
#include <array>
#include <cmath>
#include <unordered_map>

#include "compiler/base/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/pattern.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rules.h"

namespace firn {
namespace {

struct CompiledRow {
    const char* name;
    RuleTypes types;
    Pattern pattern, replacement;
};

/// The rows by the operation they start with.
struct RuleIndex {
    std::array<std::vector<CompiledRow>, kOpCount> algebra;
    std::array<std::vector<StructureRow>, kOpCount> structure;

    RuleIndex() {
        for (const AlgebraRow& row : algebra_rows()) {
            CompiledRow compiled{row.name, row.types, parse_pattern(row.pattern),
                                 parse_pattern(row.replacement)};
            ensure(compiled.pattern.kind == Pattern::Kind::Operation,
                   "a rule's pattern is an operation");
            algebra[static_cast<size_t>(compiled.pattern.op)].push_back(std::move(compiled));
        }
        for (const StructureRow& row : structure_rows())
            structure[static_cast<size_t>(row.op)].push_back(row);
    }
};

const RuleIndex& rules() {
    static const RuleIndex index;
    return index;
}

class Simplifier {
  public:
    Simplifier(NodeTable& table, RuleCounts* fired) : table_(table), fired_(fired) {}

    Graph run(const Graph& graph) {
        auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (info(node.op).properties & kLeaf) return nullptr;
            line_ = first_line(node.lines);
            Ref made = inputs == node.inputs
                           ? table_.intern(node.op, node.dtype, node.shape, inputs, node.attr)
                           : remake({table_, line_}, node, inputs, node.attr);
            note_lines(*made, node.lines);
            return simplified(made);
        };
        auto keep_regions = [](const Node&, const Ref&) { return Ref(); };
        return {graph.args, rewrite(table_, graph.results, visit, {}, keep_regions), graph.guards,
                graph.data_sizes};
    }

  private:
    /// Sizes that only a guard makes equal were guarded when the node was recorded.
    Builder builder() {
        known_.clear();
        return {table_, line_, &known_};
    }

    Ref simplified(Ref node) {
        // Every rule makes the graph smaller or moves towards one form; a cycle would be our bug.
        for (int round = 0; round < 1000; ++round) {
            Ref next = step(node);
            if (!next) return node;
            ensure(next->dtype == node->dtype && next->shape == node->shape,
                   "a rule changed a type or shape");
            node = std::move(next);
        }
        throw InternalError("internal error: simplify goes in circles at a node " +
                            std::string(info(node->op).name));
    }

    Ref count(const char* rule, Ref replaced) {
        if (replaced && fired_) ++(*fired_)[rule];
        return replaced;
    }

    Ref step(const Ref& node) {
        if (is_elementwise(node->op)) {
            if (Ref folded = count("constant folding", fold(*node))) return folded;
            if (Ref below = count("scalar arithmetic below an expand", moved_below_expand(*node)))
                return below;
        }
        if (node->op == Op::Result)
            if (Ref made = count("loop of one iteration", made_once(*node))) return made;
        for (const StructureRow& row : rules().structure[static_cast<size_t>(node->op)])
            if (Ref replaced = row.apply(builder(), *node)) return count(row.name, replaced);
        for (const CompiledRow& row : rules().algebra[static_cast<size_t>(node->op)])
            if (Ref replaced = apply(row, node)) return count(row.name, replaced);
        return nullptr;
    }

    /// Returns the result of a loop that runs once, null for others.
    Ref made_once(const Node& result) {
        const auto [at, is_new] = once_.try_emplace(result.inputs[0]);
        if (is_new) at->second = results_of_one_iteration(builder(), *result.inputs[0]);
        if (at->second.empty()) return nullptr;
        return expand(builder(), at->second[size_t(result.as<ResultAttr>().index)], result.shape);
    }

    Ref fold(const Node& node) {
        std::vector<Scalar> values;
        for (const Ref& input : node.inputs) {
            if (input->op != Op::Constant) return nullptr;
            values.push_back(input->as<ConstantAttr>().value);
        }
        return constant({table_, line_}, evaluate(node.op, node.dtype, values));
    }

    /// If every input repeats one element, applies the operation to that element and repeats the
    /// result.
    Ref moved_below_expand(const Node& node) {
        for (const Ref& input : node.inputs) {
            if (input->op != Op::Expand) return nullptr;
            for (const Size& size : input->inputs[0]->shape)
                if (!size.is(1)) return nullptr;
        }
        std::vector<Ref> singles;
        for (const Ref& input : node.inputs)
            singles.push_back(simplified(reshape(builder(), input->inputs[0], {})));
        Ref single = simplified(made_again(node, singles));
        return expand(builder(), single, node.shape);
    }

    Ref made_again(const Node& node, const std::vector<Ref>& inputs) {
        if (node.op == Op::Cast) return cast(builder(), inputs[0], node.dtype);
        if (node.op == Op::Bitcast) return bitcast(builder(), inputs[0], node.dtype);
        return elementwise(builder(), node.op, inputs);
    }

    Ref apply(const CompiledRow& row, const Ref& node) {
        if (!holds_for(row.types, node->inputs.back()->dtype)) return nullptr;
        Bindings bindings;
        if (!match(row.pattern, node, bindings)) return nullptr;
        auto make = [&](Op op, const std::vector<Ref>& inputs, const std::vector<bool>& weak) {
            return simplified(elementwise(builder(), op, inputs, weak));
        };
        auto make_literal = [&](double value) {
            // Whole numbers are integers here: weak ones then take any dtype without changing it.
            bool is_whole = std::isfinite(value) && value == std::trunc(value) &&
                            !(value == 0 && std::signbit(value));
            return is_whole ? constant_int(builder(), static_cast<int64_t>(value), i64)
                            : constant_float(builder(), value, f64);
        };
        Ref replaced = build(row.replacement, bindings, make, make_literal);
        if (row.replacement.kind == Pattern::Kind::Literal)
            replaced = cast(builder(), replaced, node->dtype);
        return expand(builder(), replaced, node->shape);
    }

    NodeTable& table_;
    RuleCounts* fired_;
    SourceLine line_;
    std::vector<Guard> known_;
    std::unordered_map<Ref, std::vector<Ref>> once_;  // by the loop
};

}  // namespace

Graph simplify(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    return Simplifier(table, fired).run(graph);
}

}  // namespace firn
