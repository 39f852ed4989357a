// The sweep over a graph that was recorded for one sample.
#include "compiler/autodiff/batch.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/autodiff/batch_run.h"
#include "compiler/autodiff/region_values.h"
#include "compiler/base/error.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// The nodes of `order` that depend on `sources` in any way, `sources` among them; nodes inside of
/// regions count too.
std::unordered_set<const Node*> dependent_values(const std::vector<Ref>& order,
                                                 const std::vector<Ref>& sources) {
    std::unordered_set<const Node*> out;
    for (const Ref& source : sources) out.insert(source.get());
    for (const Ref& node : order) {
        const auto depends = [&](const Ref& input) { return out.contains(input.get()); };
        bool found = std::any_of(node->inputs.begin(), node->inputs.end(), depends);
        for (const Region* body : regions_of(*node))
            found |= std::any_of(body->results.begin(), body->results.end(), depends);
        if (found) out.insert(node.get());
    }
    return out;
}

void check_sizes(const Node& node) {
    for_sizes(node, [&](const Size& size) {
        if (!data_symbols(size).empty())
            refuse_batch(node,
                         "a size that only the data knows, which would be another one for "
                         "each sample; keep room for all, as compact_padded does");
    });
}

Ref batch_node(BatchRun& run, const Ref& node) {
    check_sizes(*node);
    if (is_movement(node->op)) return batch_movement(run, node);
    if (is_elementwise(node->op)) {
        std::vector<Ref> inputs;
        for (const Ref& input : node->inputs) inputs.push_back(run.all(input));
        return remake(run.b, *node, inputs, node->attr);
    }
    switch (node->op) {
        case Op::Gather:
        case Op::Scatter: return batch_access(run, node);
        case Op::HostCall: {
            const auto& operation = node->as<HostCallAttr>().operation;
            if (!operation->takes_batches()) refuse_batch(*node, operation->name());
            return host_call(run.b, operation, run.all(node->inputs[0]));
        }
        case Op::Ruled: return batch_ruled(run, node);
        case Op::Reduce: {
            std::vector<int> axes = node->as<ReduceAttr>().axes;
            for (int& axis : axes) ++axis;
            return reduce(run.b, node->as<ReduceAttr>().op, run.all(node->inputs[0]), axes, false);
        }
        case Op::Result: {
            const auto k = static_cast<size_t>(node->as<ResultAttr>().index);
            return run.results.at(node->inputs[0].get())[k];
        }
        default: refuse_batch(*node, info(node->op).name);
    }
}

}  // namespace

void refuse_batch(const Node& node, const std::string& why) {
    throw UserError("vmap: there is no rule for " + why + in_brackets(node.lines));
}

Shape BatchRun::with_samples(Shape shape) const {
    shape.insert(shape.begin(), count);
    return shape;
}

void BatchRun::note_lockstep(const std::vector<Ref>& results) {
    for (const Ref& node : topological(results)) lockstep.insert(node.get());
}

Ref BatchRun::all(const Ref& value) const {
    const auto found = values.find(value.get());
    return found != values.end() ? found->second : expand(b, value, with_samples(value->shape));
}

Ref BatchRun::fitted(const Ref& value, const Shape& shape) const {
    Shape own = value->shape;
    own.insert(own.begin() + 1, shape.size() + 1 - own.size(), Size(1));
    return expand(b, reshape(b, value, own), with_samples(shape));
}

void batch_sweep(BatchRun& run, const std::vector<Ref>& results) {
    const std::vector<Ref> order = topological(results);
    const std::unordered_set<const Node*> inside = inside_of_loops(order);
    std::vector<Ref> sources;
    for (const Ref& node : order)
        if (run.depends(node)) sources.push_back(node);
    const std::unordered_set<const Node*> dependent = dependent_values(order, sources);
    for (const Ref& node : order)
        if (node->op == Op::If && dependent.contains(node->inputs[0].get()))
            for (const Region* side : regions_of(*node)) run.note_lockstep(side->results);
    const SourceLine line = run.b.line;
    for (const Ref& node : order) {
        if (!dependent.contains(node.get()) || run.depends(node) ||
            run.results.contains(node.get()) || inside.contains(node.get()))
            continue;
        run.b.line = node->lines.empty() ? line : node->lines[0];
        if (node->op == Op::Loop)
            run.results[node.get()] = batch_loop(run, node);
        else if (node->op == Op::If)
            run.results[node.get()] = batch_branch(run, node);
        else
            run.values[node.get()] = batch_node(run, node);
    }
    run.b.line = line;
}

std::vector<Ref> batched(const Builder& b, const Size& count, const std::vector<Ref>& results,
                         const std::vector<Ref>& placeholders, const std::vector<Ref>& samples) {
    BatchRun run{b, count, {}, {}, {}, {}};
    for (size_t k = 0; k < placeholders.size(); ++k) run.values[placeholders[k].get()] = samples[k];
    batch_sweep(run, results);
    std::vector<Ref> out;
    for (const Ref& result : results) out.push_back(run.all(result));
    return out;
}

}  // namespace firn
