// Numbers and tensors as rank-0 arguments; bounds of loops that the host computes.
#include "compiler/frontend/call_graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/ir/host_size.h"
#include "compiler/ir/interpret.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

/// A rank-0 value made of numbers of the call, sizes and constants alone.
bool is_of_numbers(const Node& node, const std::unordered_set<const Node*>& of_numbers) {
    if (!node.shape.empty()) return false;
    switch (node.op) {
        case Op::Constant: return true;
        case Op::SizeValue: return data_symbols(node.as<SizeAttr>().size).empty();
        case Op::Input: return node.as<InputAttr>().scalar;
        default:
            return is_elementwise(node.op) &&
                   std::all_of(node.inputs.begin(), node.inputs.end(),
                               [&](const Ref& input) { return of_numbers.contains(input.get()); });
    }
}

/// Finds the values in the bounds of loops that only the host can compute before the call: goes
/// down through sizes to values that are no sizes.
std::vector<Ref> find_host_bounds(const Graph& graph) {
    const std::vector<Ref> order = topological(graph.results);
    std::unordered_set<const Node*> of_numbers, called, seen;
    std::vector<Ref> asked, found;
    for (const Ref& node : order) {
        if (is_of_numbers(*node, of_numbers)) of_numbers.insert(node.get());
        // Passes fold values that do not depend on the call.
        if (node->op == Op::Input ||
            std::any_of(node->inputs.begin(), node->inputs.end(),
                        [&](const Ref& input) { return called.contains(input.get()); }))
            called.insert(node.get());
        if (node->op == Op::Loop)
            asked.insert(asked.end(), node->inputs.begin(), node->inputs.begin() + 3);
    }
    while (!asked.empty()) {
        const Ref node = std::move(asked.back());
        asked.pop_back();
        if (node->dtype != i32 || !of_numbers.contains(node.get()) ||
            !called.contains(node.get()) || !seen.insert(node.get()).second || host_size(*node, {}))
            continue;
        const bool is_sum = node->op == Op::Add || node->op == Op::Sub || node->op == Op::Neg ||
                            node->op == Op::Min || node->op == Op::Max || node->op == Op::Mul;
        if (is_sum)
            asked.insert(asked.end(), node->inputs.begin(), node->inputs.end());
        else
            found.push_back(node);
    }
    return found;
}

/// The integer arguments that say how long loops run.
std::set<std::string> symbols_of_trips(const Graph& graph) {
    std::set<std::string> out;
    for (const Ref& node : topological(graph.results)) {
        if (node->op != Op::Loop) continue;
        for (size_t k = 0; k < 3; ++k)
            if (const auto bound = host_size(*node->inputs[k], {}))
                for (const std::string& symbol : bound->symbols())
                    if (symbol[0] == '$') out.insert(symbol);
    }
    return out;
}

}  // namespace

Graph with_kinds(NodeTable& table, const Graph& graph, const std::string& kinds) {
    Graph out = graph;
    std::unordered_map<const Node*, Ref> replace;
    size_t next = 0;
    for (Ref& arg : out.args) {
        if (!arg->as<InputAttr>().scalar || kinds[next++] == 's') continue;
        Ref tensor = input({table}, arg->as<InputAttr>().index, arg->dtype, {}, false);
        replace.emplace(arg.get(), tensor);
        arg = tensor;
    }
    out.results = substitute(table, out.results, replace);
    return out;
}

CallGraph call_graph(NodeTable& table, const Graph& graph, const std::string& kinds) {
    CallGraph out{with_kinds(table, graph, kinds), {}, {}, {}};
    const std::vector<Ref> bounds = find_host_bounds(out.graph);
    std::unordered_map<const Node*, Ref> replace, numbered;
    for (const Ref& node : topological(bounds)) {
        if (node->op != Op::Input) continue;
        const auto index = static_cast<int>(out.numbers.size());
        out.numbers.push_back(static_cast<size_t>(node->as<InputAttr>().index));
        out.host_bounds.args.push_back(input({table}, index, node->dtype, {}, true));
        numbered.emplace(node.get(), out.host_bounds.args.back());
    }
    out.host_bounds.results = substitute(table, bounds, numbered);
    for (const Ref& bound : bounds) {
        const auto index = static_cast<int>(out.graph.args.size());
        out.graph.args.push_back(input({table}, index, i32, {}, true));
        replace.emplace(bound.get(), out.graph.args.back());
    }
    out.graph.results = substitute(table, out.graph.results, replace);
    out.trip_symbols = symbols_of_trips(out.graph);
    return out;
}

std::vector<int64_t> host_bounds(const CallGraph& graph, const Call& call, const SizeEnv& symbols) {
    if (graph.host_bounds.results.empty()) return {};
    std::vector<HostTensor> numbers;
    for (size_t k = 0; k < graph.numbers.size(); ++k) {
        numbers.push_back(HostTensor::make(graph.host_bounds.args[k]->dtype, {}));
        numbers.back().set(0, call.scalars[graph.numbers[k]]);
    }
    std::vector<int64_t> out;
    for (const HostTensor& value : interpret(graph.host_bounds, numbers, symbols))
        out.push_back(value.at(0).i);
    return out;
}

}  // namespace firn
