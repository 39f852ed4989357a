// Finds which value of a schedule is computed from which, and by which kernels.
#include "compiler/plan/value_graph.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/schedule/regions.h"

namespace firn {
namespace {

/// Limit of the sources that a value without verdict passes on: long chains of numbers are cut off.
constexpr size_t kMostPassedOn = 64;

void add(std::vector<int>& to, const std::vector<int>& more) {
    for (int each : more)
        if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
}

/// Returns whether the value is not computed: a movement of another value, or a number for every
/// element. It is left out of a picture of the computation.
bool only_places(const ValueVerdict& verdict) {
    const Node& node = *verdict.value;
    return verdict.verdict == Verdict::Inlined &&
           (is_movement(node.op) || node.op == Op::Index || node.op == Op::Constant ||
            node.op == Op::SizeValue);
}

/// The sources of a value: verdicts by their rows, carried values by a number of their own,
/// arguments by index.
struct Sources {
    std::vector<int> rows, carried, arguments;
};

void add(Sources& to, const Sources& more) {
    add(to.rows, more.rows);
    add(to.carried, more.carried);
    add(to.arguments, more.arguments);
}

class Walk {
  public:
    Walk(const Graph& graph, const std::vector<ValueVerdict>& verdicts)
        : facts_(region_facts(graph)) {
        for (size_t k = 0; k < verdicts.size(); ++k)
            if (!only_places(verdicts[k])) rows_[verdicts[k].value.get()] = static_cast<int>(k);
        for (const auto& node : facts_.order)
            if (facts_.arg_owner.contains(node.get())) {
                numbers_[node.get()] = static_cast<int>(arguments_.size());
                arguments_.push_back(node.get());
            }
        for (const Ref& node : facts_.order) note(*node);
    }

    int row(const Node* node) const {
        const auto at = rows_.find(node);
        return at == rows_.end() ? -1 : at->second;
    }
    /// Returns the sources, with carried values followed to their own sources.
    Sources read(const Node& node) {
        Sources out = read_[&node];
        for (size_t k = 0; k < out.carried.size(); ++k) add(out, carried(out.carried[k]));
        return out;
    }

  private:
    void note(const Node& node) {
        Sources own = read_by(node);
        if (const int k = row(&node); k >= 0) {
            read_[&node] = std::move(own);
            own = {{k}, {}, {}};
        }
        for (std::vector<int> Sources::*part :
             {&Sources::rows, &Sources::carried, &Sources::arguments})
            (own.*part).resize(std::min((own.*part).size(), kMostPassedOn));
        given_[&node] = std::move(own);
    }

    Sources read_by(const Node& node) {
        Sources out;
        if (node.op == Op::Input) out.arguments = {node.as<InputAttr>().index};
        if (const auto number = numbers_.find(&node); number != numbers_.end())
            out.carried = {number->second};
        if (node.op == Op::Result && node.inputs[0]->op == Op::Loop) {
            const Node& loop = *node.inputs[0];
            const auto k = static_cast<size_t>(node.as<ResultAttr>().index);
            add(out, given_[loop.as<LoopAttr>().body->results.at(k).get()]);
            add(out, given_[loop.inputs.at(k + 3).get()]);
            return out;
        }
        for (const Ref& input : node.inputs) add(out, given_[input.get()]);
        for (const Ref& result : region_results(node)) add(out, given_[result.get()]);
        return out;
    }

    /// Returns the sources of a carried value's initial value and of its next value; none for a
    /// loop's induction.
    Sources carried(int number) {
        const Node* arg = arguments_[static_cast<size_t>(number)];
        const Node& loop = *facts_.arg_owner.at(arg);
        const auto k = static_cast<size_t>(facts_.arg_index.at(arg));
        Sources out;
        if (k == 0) return out;
        add(out, given_[loop.inputs.at(k + 2).get()]);
        add(out, given_[loop.as<LoopAttr>().body->results.at(k - 1).get()]);
        return out;
    }

    RegionFacts facts_;
    std::unordered_map<const Node*, int> rows_;
    std::unordered_map<const Node*, int> numbers_;    // of the arguments of loops
    std::vector<const Node*> arguments_;              // by number
    std::unordered_map<const Node*, Sources> given_;  // to a value that reads it
    std::unordered_map<const Node*, Sources> read_;   // by a value that has a verdict
};

}  // namespace

std::vector<CompileTrace::Value> value_graph(
    const Graph& graph, const std::vector<ValueVerdict>& verdicts,
    const std::vector<std::vector<const Node*>>& computed) {
    Walk walk(graph, verdicts);
    std::vector<CompileTrace::Value> out(verdicts.size());
    for (size_t k = 0; k < out.size(); ++k) {
        if (walk.row(verdicts[k].value.get()) < 0) continue;
        Sources read = walk.read(*verdicts[k].value);
        out[k].reads = std::move(read.rows), out[k].arguments = std::move(read.arguments);
    }
    for (size_t d = 0; d < computed.size(); ++d)
        for (const Node* node : computed[d])
            if (const int row = walk.row(node); row >= 0)
                add(out[static_cast<size_t>(row)].dispatches, {static_cast<int>(d)});
    // A value stands before those that read it.
    for (size_t k = out.size(); k-- > 0;)
        for (int source : out[k].reads) {
            const auto s = static_cast<size_t>(source);
            if (s < k && verdicts[s].verdict != Verdict::Materialised)
                add(out[s].dispatches, out[k].dispatches);
        }
    return out;
}

}  // namespace firn
