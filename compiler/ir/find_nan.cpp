// Notes, while the oracle evaluates a graph, where each value first holds a nan, and goes back from
// the results.
#include "compiler/ir/find_nan.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/op.h"

namespace firn {
namespace {

/// The first time that a value holds one.
struct Finding {
    size_t when = 0;             // values are counted as they come
    std::vector<size_t> blamed;  // inputs that hold one, there
    NanSource source;
};

bool is_nan_at(const HostTensor& value, int64_t element) {
    return value.dtype.is_float() && std::isnan(value.at(element).f);
}

class NanSearch {
  public:
    void see(const Evaluated& seen) {
        ++when_;
        const auto before = found_.find(&seen.node);
        if (before != found_.end() && before->second.blamed.empty()) return;
        const int64_t element = first_nan(seen.value);
        if (element < 0) return;
        if (before != found_.end()) {
            // Another operand may hold one this time: memory that was not written did the first.
            if (!is_elementwise(seen.node.op)) blame_inputs(before->second, seen);
            return;
        }
        Finding out{when_, {}, {}};
        out.source = {seen.node.op,
                      seen.node.lines,
                      seen.node.op == Op::Input ? seen.node.as<InputAttr>().index : -1,
                      seen.value.shape,
                      {},
                      {},
                      {seen.iterations.begin(), seen.iterations.end()}};
        is_elementwise(seen.node.op) ? blame_operands(out, seen, element) : blame_inputs(out, seen);
        if (out.source.at.empty()) out.source.at = place_of(element, seen.value.shape);
        found_.emplace(&seen.node, std::move(out));
    }

    /// Notes, for a loop's arguments, their initial values and the values of the next iteration.
    void note_loops(const Graph& graph) {
        for (const Ref& node : topological(graph.results)) {
            if (node->op != Op::Loop) continue;
            const Region& body = *node->as<LoopAttr>().body;
            for (size_t k = 0; k < body.results.size(); ++k)
                carried_[body.args[k + 1].get()] = {node->inputs[k + 3].get(),
                                                    body.results[k].get()};
        }
    }

    std::optional<NanSource> source_of(const std::vector<Ref>& results) {
        for (const Ref& result : results) open_.push_back(result.get());
        const Finding* first = nullptr;
        while (!open_.empty()) {
            const Node& node = *std::exchange(open_.back(), nullptr);
            open_.pop_back();
            if (!seen_.insert(&node).second) continue;
            if (const auto both = carried_.find(&node); both != carried_.end()) {
                open_.push_back(both->second.first);
                open_.push_back(both->second.second);
                continue;
            }
            const auto found = found_.find(&node);
            if (found == found_.end()) continue;
            const Finding& here = found->second;
            if (node.op == Op::Result)
                open_results(*node.inputs[0], static_cast<size_t>(node.as<ResultAttr>().index));
            else if (here.blamed.empty() && (!first || comes_before(here, *first)))
                first = &here;
            for (size_t k : here.blamed) open_.push_back(node.inputs[k].get());
        }
        return first ? std::optional(first->source) : std::nullopt;
    }

  private:
    /// Memory without values holds nan until it is written, and is a source only where there is no
    /// other.
    static bool comes_before(const Finding& a, const Finding& b) {
        const bool a_empty = a.source.op == Op::Empty, b_empty = b.source.op == Op::Empty;
        return a_empty != b_empty ? b_empty : a.when < b.when;
    }

    /// Finds an element that is nan although its operands are all numbers; if there is none, blames
    /// the operands that are nan at the first element. A select has only the operand that it takes.
    void blame_operands(Finding& out, const Evaluated& seen, int64_t first) {
        const bool choice = seen.node.op == Op::Select;
        for (int64_t e = first; e < seen.value.elements() && !choice; ++e) {
            if (!is_nan_at(seen.value, e)) continue;
            bool made_of_numbers = true;
            for (const HostTensor* operand : seen.inputs)
                made_of_numbers &= !is_nan_at(*operand, e);
            if (!made_of_numbers) continue;
            out.source.at = place_of(e, seen.value.shape);
            for (const HostTensor* operand : seen.inputs)
                out.source.operands.push_back(operand->dtype.is_float()
                                                  ? operand->at(e).f
                                                  : static_cast<double>(operand->at(e).i));
            return;
        }
        for (size_t k = 0; k < seen.inputs.size(); ++k) {
            const bool taken = !choice || (k > 0 && (seen.inputs[0]->at(first).i != 0) == (k == 1));
            if (taken && is_nan_at(*seen.inputs[k], first)) out.blamed.push_back(k);
        }
    }

    static void blame_inputs(Finding& out, const Evaluated& seen) {
        for (size_t k = 0; k < seen.inputs.size(); ++k)
            if (first_nan(*seen.inputs[k]) >= 0 &&
                std::find(out.blamed.begin(), out.blamed.end(), k) == out.blamed.end())
                out.blamed.push_back(k);
    }

    void open_results(const Node& owner, size_t k) {
        if (owner.op == Op::Loop) {
            const Region& body = *owner.as<LoopAttr>().body;
            open_.push_back(body.results[k].get());
            open_.push_back(owner.inputs[k + 3].get());
            return;
        }
        open_.push_back(owner.as<IfAttr>().then_body->results[k].get());
        open_.push_back(owner.as<IfAttr>().else_body->results[k].get());
    }

    size_t when_ = 0;
    std::unordered_map<const Node*, Finding> found_;
    std::unordered_map<const Node*, std::pair<const Node*, const Node*>> carried_;
    std::vector<const Node*> open_;
    std::unordered_set<const Node*> seen_;
};

std::string list(const std::vector<int64_t>& numbers) {
    std::string out;
    for (int64_t n : numbers) out += (out.empty() ? "" : ", ") + std::to_string(n);
    return out;
}

}  // namespace

int64_t first_nan(const HostTensor& value) {
    if (!value.dtype.is_float()) return -1;
    for (int64_t e = 0, n = value.elements(); e < n; ++e)
        if (is_nan_at(value, e)) return e;
    return -1;
}

std::vector<int64_t> place_of(int64_t element, const std::vector<int64_t>& shape) {
    std::vector<int64_t> out(shape.size());
    for (size_t d = shape.size(); d-- > 0; element /= shape[d]) out[d] = element % shape[d];
    return out;
}

std::optional<NanSource> find_nan(const Graph& graph, const std::vector<HostTensor>& args,
                                  const SizeEnv& env) {
    NanSearch search;
    search.note_loops(graph);
    interpret(graph, args, env, [&](const Evaluated& seen) { search.see(seen); });
    return search.source_of(graph.results);
}

std::string text(const NanSource& source) {
    std::ostringstream out;
    if (source.argument >= 0)
        out << "argument " << source.argument + 1 << " holds nan at the call";
    else
        out << info(source.op).name;
    if (!source.operands.empty()) {
        out << " of (";
        for (size_t k = 0; k < source.operands.size(); ++k)
            out << (k ? ", " : "") << source.operands[k];
        out << ") gives nan";
    } else if (source.argument < 0) {
        out << " gives nan";
    }
    if (!source.lines.empty() && source.argument < 0) out << " (" << text(source.lines[0]) << ")";
    if (!source.shape.empty())
        out << ", at (" << list(source.at) << ") of [" << list(source.shape) << "]";
    if (!source.iterations.empty())
        out << ", in iteration" << (source.iterations.size() > 1 ? "s " : " ")
            << list(source.iterations);
    return out.str();
}

}  // namespace firn
