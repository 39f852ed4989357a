// Lazy evaluation: chooses the values that are computed together, and stores their results.
#include "compiler/frontend/realize.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/frontend/cut.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/lazy_plans.h"
#include "compiler/frontend/nan_check.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

void check_not_recording(const SessionState& session, SourceLine line) {
    if (!is_recording(session)) return;
    const Scope& scope = session.scopes.back();
    fail_at(line,
            "a tensor's data is asked for inside the " +
                std::string(scope.kind == ScopeKind::Function ? "function" : "loop or branch") +
                " that is being recorded at " + text(scope.line) +
                ", where it has no value yet; return it, or ask after the end");
}

/// Returns tensors that are assigned again and again, and whose computation shares something with
/// that of `results`: they are computed with it, else their graphs would grow from frame to frame.
std::vector<std::shared_ptr<Slot>> pending_state(const SessionState& session,
                                                 const std::vector<Ref>& results) {
    std::vector<std::shared_ptr<Slot>> out, assigned;
    std::vector<Ref> candidates;
    for (const auto& [id, weak] : session.assigned)
        if (auto slot = weak.lock(); slot && slot->node && !is_trivial(*slot->node)) {
            candidates.push_back(slot->node);
            assigned.push_back(std::move(slot));
        }
    if (candidates.empty()) return out;
    // Finds which nodes share something in one walk over all of them, operands first.
    std::unordered_set<const Node*> sharing;
    for (const Ref& node : topological(results))
        if (!is_trivial(*node)) sharing.insert(node.get());
    auto shares = [&](const Ref& node) { return sharing.contains(node.get()); };
    auto any_shares = [&](const std::vector<Ref>& nodes) {
        return std::any_of(nodes.begin(), nodes.end(), shares);
    };
    for (const Ref& node : topological(candidates)) {
        bool found = any_shares(node->inputs);
        if (node->op == Op::Loop) found |= any_shares(node->as<LoopAttr>().body->results);
        if (node->op == Op::If)
            for (const auto& body : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                found |= any_shares(body->results);
        if (found) sharing.insert(node.get());
    }
    for (auto& slot : assigned)
        if (shares(slot->node)) out.push_back(std::move(slot));
    return out;
}

}  // namespace

std::vector<Ref> realize_nodes(SessionState& session, const std::vector<Ref>& nodes,
                               SourceLine line) {
    const Inside inside(session.nodes.thread(), line);
    std::vector<Ref> wanted;
    for (const Ref& node : nodes)
        if (!known_buffer(node) && std::find(wanted.begin(), wanted.end(), node) == wanted.end())
            wanted.push_back(node);
    if (!wanted.empty()) {
        prune_histories(session);
        const auto state = pending_state(session, wanted);
        for (const auto& slot : state)
            if (!known_buffer(slot->node) &&
                std::find(wanted.begin(), wanted.end(), slot->node.ref()) == wanted.end())
                wanted.push_back(slot->node);
        auto [cut, key] = cut_for_plans(session, wanted);
        const std::optional<Call> kept = kept_for_nan(session, cut.call);
        const PlannedGraph plan = plan_of(session, cut.graph, std::move(key), line);
        cut.call.symbols = plan.symbols;
        std::vector<Ref> buffers =
            run_graph(session, plan.graph, plan.program, std::move(cut.call), line, cut.symbols);
        if (kept) refuse_nan(session, cut.graph, *kept, buffers, "find_nan: computed here", line);
        for (size_t k = 0; k < wanted.size(); ++k) set_computed(*wanted[k], buffers[k]);
        std::vector<Computed> taken;
        for (const auto& slot : state) {
            taken.push_back({slot->node, known_buffer(slot->node)});
            slot->node = taken.back().buffer;
        }
        keep_histories(session, taken, line);
    }
    std::vector<Ref> out;
    for (const Ref& node : nodes) out.push_back(known_buffer(node));
    return out;
}

void realize_leaves(const std::vector<Tensor*>& values, const std::vector<Tensor*>& leaves,
                    SourceLine line) {
    SessionState& session = *current_state();
    const Inside inside(session.nodes.thread(), line);
    builder(session, line);
    check_not_recording(session, line);
    std::vector<Tensor*> tensors = values;
    tensors.insert(tensors.end(), leaves.begin(), leaves.end());
    std::vector<Ref> nodes;
    for (Tensor* tensor : tensors) nodes.push_back(tensor->node(line));
    const std::vector<Ref> buffers = realize_nodes(session, nodes, line);
    std::vector<Computed> taken;
    for (size_t k = 0; k < tensors.size(); ++k) {
        if (k < values.size()) taken.push_back({tensors[k]->slot()->node, buffers[k]});
        tensors[k]->slot()->node = buffers[k];
    }
    keep_histories(session, taken, line);
    for (size_t k = values.size(); k < tensors.size(); ++k) make_leaf(session, buffers[k]);
}

void realize(const std::vector<Tensor*>& tensors, SourceLine line) {
    realize_leaves(tensors, {}, line);
}

void realize(std::vector<Tensor>& tensors, SourceLine line) {
    std::vector<Tensor*> all;
    for (Tensor& tensor : tensors) all.push_back(&tensor);
    realize(all, line);
}

namespace {

/// Returns the node of a tensor whose data is read.
Ref checked_node(const Tensor& x, SourceLine line) {
    SessionState& session = *x.slot()->session;
    builder(session, line);
    Ref node = read_slot(x.slot(), line);
    check_not_recording(session, line);
    for (const Size& size : node->shape) refuse_symbols(size, line);
    return node;
}

}  // namespace

TensorMemory memory_of(const Tensor& x, SourceLine line) {
    SessionState& session = *x.slot()->session;
    const Inside inside(session.nodes.thread(), line);
    const Ref asked = with_known_sizes(session, checked_node(x, line), line);
    Ref node = realize_nodes(session, {asked}, line)[0];
    take_buffer(session, x.slot(), node, line);
    TensorMemory out{node->as<BufferAttr>().storage, node->dtype, {}};
    for (const Size& size : node->shape) out.shape.push_back(size.constant());
    return out;
}

Tensor tensor_over(SharedPtr<Memory> memory, DType dtype, const Shape& shape, SourceLine line) {
    SessionState& session = *current_state();
    builder(session, line);
    for (const Size& size : shape)
        if (!size.is_constant() || size.constant() < 0)
            fail_at(line, "tensor_over: memory cannot have shape " + text(shape) +
                              "; give sizes that are numbers from 0 up");
    if (memory->bytes() < padded_bytes(storage_bytes(dtype, shape)))
        fail_at(line, "tensor_over: shape " + text(shape) + " of " + dtype.name() + " needs " +
                          std::to_string(padded_bytes(storage_bytes(dtype, shape))) +
                          " bytes (a multiple of 16), the memory has " +
                          std::to_string(memory->bytes()) + "; allocate that much");
    // The value is distinct from other values that share this memory.
    return Tensor::from_node(
        buffer_node(session, std::move(memory), dtype, shape, line, ++session.last_id));
}

std::vector<std::byte> read_tensor(const Tensor& x, SourceLine line) {
    const std::shared_ptr<Slot>& slot = x.slot();
    SessionState& session = *slot->session;
    const Inside inside(session.nodes.thread(), line);
    Ref node = with_known_sizes(session, checked_node(x, line), line);
    std::vector<std::byte> data;
    const bool constant = node->op == Op::Constant;
    if (!constant) take_buffer(session, slot, realize_nodes(session, {node}, line)[0], line);
    data.resize(storage_bytes(node->dtype, node->shape));
    if (constant) {
        store_scalar(node->as<ConstantAttr>().value, data.data());
        return data;
    }
    if (!data.empty())
        executor_of(session, line).read(*slot->node->as<BufferAttr>().storage, 0, data);
    return data;
}

std::vector<std::byte> bytes_of(const Tensor& x, SourceLine line) { return read_tensor(x, line); }

}  // namespace firn
