// Buffers of a list that may be one.
#include "compiler/plan/write_over.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/bindings.h"

namespace firn {
namespace {

std::vector<size_t> bindings_of(const KernelCode& code, int buffer) {
    std::vector<size_t> out;
    for (size_t k = 0; k < bound_buffers(code); ++k)
        if (code.buffers[k].buffer == buffer) out.push_back(k);
    return out;
}

/// Numbers a kernel's nodes as one iteration of every loop evaluates them.
class Order {
  public:
    explicit Order(const KernelCode& code)
        : code_(code),
          at_(code.nodes.size(), -1),
          region_start_(code.nodes.size()),
          in_loop_(code.nodes.size()) {
        walk(kRoot, false);
    }
    int at(NodeId node) const { return at_[node]; }
    /// Returns whether every run of `load` is followed by `store`.
    bool leads_to(NodeId load, NodeId store) const {
        return at(load) < at(store) && region_start_[store] <= at(load);
    }
    bool in_loop(NodeId node) const { return in_loop_[node]; }

  private:
    void walk(RegionId region, bool loop) {
        const KernelRegion& body = code_[region];
        const int start = next_;
        for (const std::vector<NodeId>& part : {body.order, body.effects})
            for (NodeId id : part) visit(id, start, loop);
    }

    void visit(NodeId id, int start, bool loop) {
        const KernelNode& node = code_[id];
        at_[id] = next_++;
        region_start_[id] = start;
        in_loop_[id] = loop;
        for (RegionId inner : bodies(node)) walk(inner, loop || node.op == KernelOp::For);
    }

    const KernelCode& code_;
    ByNode<int> at_, region_start_;
    ByNode<bool> in_loop_;
    int next_ = 0;
};

/// Returns whether invocations work together on an element, so that one may store what another
/// still loads. Assumed for kernels by hand.
bool shares_elements(const KernelCode& code) {
    return code.in_order ||
           std::any_of(code.ranges.begin(), code.ranges.end(),
                       [](const Range& range) { return range.kind == RangeKind::Subgroup; }) ||
           std::any_of(code.nodes.begin(), code.nodes.end(), [](const KernelNode& node) {
               return node.op == KernelOp::SubgroupReduce || node.op == KernelOp::SubgroupShuffle;
           });
}

/// Marks the values computed from one node, with carried values and results.
ByNode<bool> made_of(const KernelCode& code, const Order& order, NodeId origin) {
    ByNode<bool> out(code.nodes.size());
    out[origin] = true;
    const auto is_made = [&](NodeId id) { return id && out[id]; };
    const auto any_of = [&](const std::vector<NodeId>& ids) {
        return std::any_of(ids.begin(), ids.end(), is_made);
    };
    for (bool changed = true; std::exchange(changed, false);)
        for (NodeId id : code.nodes.ids()) {
            const KernelNode& node = code[id];
            const bool leaf = node.op == KernelOp::RegionArg;
            if (out[id] || (!leaf && order.at(id) < 0)) continue;
            bool made = any_of(node.args);
            for (RegionId inner : bodies(node)) {
                const KernelRegion& region = code[inner];
                made = made || any_of(region.yields) || is_made(region.alive);
                if (!made) continue;
                for (NodeId arg : region.args) changed = changed || !is_made(arg), out[arg] = true;
            }
            changed = changed || made;
            out[id] = made;
        }
    return out;
}

/// Returns whether the store needs the loaded value, and no other effect, branch or trip count
/// does.
bool feeds_only(const KernelCode& code, const Order& order, NodeId load, NodeId store) {
    const ByNode<bool> made = made_of(code, order, load);
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& node = code[id];
        const bool effect = node.op == KernelOp::Store || node.op == KernelOp::Atomic ||
                            node.pinned || is_matrix(node.op);
        if (made[id] && effect && id != store) return false;
        if (node.op == KernelOp::Branch && made[node.args[0]]) return false;
    }
    const bool ends_a_loop =
        std::any_of(code.regions.begin(), code.regions.end(),
                    [&](const KernelRegion& region) { return region.alive && made[region.alive]; });
    return made[store] && !ends_a_loop &&
           std::none_of(code.ranges.begin(), code.ranges.end(), [&](const Range& range) {
               return range.extent_node && made[range.extent_node];
           });
}

/// Returns whether every invocation loads from binding `from` only elements that it later stores to
/// binding `to`.
bool element_by_element(const KernelCode& code, size_t from, size_t to) {
    const KernelBuffer &read = code.buffers[from], &written = code.buffers[to];
    if (read.written || shares_elements(code)) return false;
    const Order order(code);
    std::vector<NodeId> loads, stores;
    for (NodeId id : code.nodes.ids()) {
        const KernelNode& node = code[id];
        const bool memory =
            node.op == KernelOp::Load || node.op == KernelOp::Store || node.op == KernelOp::Atomic;
        if (order.at(id) < 0 || !memory) continue;
        const auto buffer = static_cast<size_t>(node.as<AccessAttr>().buffer);
        if (buffer == from) loads.push_back(id);
        if (buffer != to) continue;
        // A store in a loop may come before the load of a later iteration.
        if (node.op != KernelOp::Store || order.in_loop(id)) return false;
        stores.push_back(id);
    }
    // A load in another form is not known to be of the same memory: it surely comes before a store
    // only if the store needs it.
    const bool any_order = read.form != written.form;
    return !loads.empty() && std::all_of(loads.begin(), loads.end(), [&](NodeId load) {
        return std::any_of(stores.begin(), stores.end(), [&](NodeId store) {
            return code[store].args[0] == code[load].args[0] &&
                   width(code[store]) == width(code[load]) && order.leads_to(load, store) &&
                   (!any_order || feeds_only(code, order, load, store));
        });
    });
}

/// The stores of code that is not mapped yet that are in no loop.
void add_stores(const KernelCode& code, RegionId region, std::vector<const KernelNode*>& stores) {
    for (NodeId id : code[region].effects) {
        const KernelNode& node = code[id];
        if (node.op == KernelOp::Store) stores.push_back(&node);
        if (node.op != KernelOp::Branch) continue;
        for (RegionId side : bodies(node)) add_stores(code, side, stores);
    }
}

/// Returns the same for code whose points may yet be given to invocations in any way (as a sequence
/// of kernels does): every point loads only elements that it stores itself.
bool point_by_point(const KernelCode& lowered, int old, int made) {
    const auto is_of = [&](const KernelNode& node, int buffer) {
        const auto bound = static_cast<size_t>(node.as<AccessAttr>().buffer);
        return lowered.buffers[bound].buffer == buffer;
    };
    std::vector<const KernelNode*> stores;
    add_stores(lowered, kRoot, stores);
    return std::all_of(lowered.nodes.begin(), lowered.nodes.end(), [&](const KernelNode& load) {
        return load.op != KernelOp::Load || !is_of(load, old) ||
               std::any_of(stores.begin(), stores.end(), [&](const KernelNode* store) {
                   return is_of(*store, made) && store->args[0] == load.args[0];
               });
    });
}

void rename(KernelCode& code, int from, int to) {
    for (KernelBuffer& b : code.buffers)
        if (b.buffer == from) b.buffer = to;
}

}  // namespace

bool in_rotation(const std::vector<ListedStep>& steps, int buffer) {
    return std::any_of(steps.begin(), steps.end(), [&](const ListedStep& step) {
        const auto* listed = std::get_if<ListedLoop>(&step.step);
        if (!listed) return false;
        for (const auto& [first, second] : listed->loop.rotation)
            if (first == buffer || second == buffer) return true;
        return listed->loop.alive == buffer || in_rotation(listed->body, buffer);
    });
}

bool uses(const ListedStep& step, int buffer) {
    if (const auto* copy = std::get_if<CopyStep>(&step.step))
        return copy->source == buffer || copy->target == buffer;
    if (const auto* call = std::get_if<CallStep>(&step.step))
        return call->input == buffer || call->output == buffer;
    if (const auto* loop = std::get_if<ListedLoop>(&step.step))
        return std::any_of(loop->body.begin(), loop->body.end(),
                           [&](const ListedStep& inner) { return uses(inner, buffer); });
    return !bindings_of(std::get<ListedKernel>(step.step).code, buffer).empty();
}

bool may_write_over(const ListedStep& step, int old, int made) {
    if (const auto* copy = std::get_if<CopyStep>(&step.step))
        return copy->source == old && copy->target == made;
    const auto* kernel = std::get_if<ListedKernel>(&step.step);
    if (!kernel) return false;
    const std::vector<size_t> from = bindings_of(kernel->code, old),
                              to = bindings_of(kernel->code, made);
    return from.size() == 1 && to.size() == 1 && element_by_element(kernel->code, from[0], to[0]) &&
           (!kernel->ready || point_by_point(*kernel->ready, old, made));
}

void rename(std::vector<ListedStep>& steps, int from, int to) {
    for (ListedStep& step : steps) {
        if (auto* copy = std::get_if<CopyStep>(&step.step)) {
            if (copy->source == from) copy->source = to;
            if (copy->target == from) copy->target = to;
        } else if (auto* call = std::get_if<CallStep>(&step.step)) {
            if (call->input == from) call->input = to;
            if (call->output == from) call->output = to;
        } else if (auto* loop = std::get_if<ListedLoop>(&step.step)) {
            rename(loop->body, from, to);
        } else {
            auto& kernel = std::get<ListedKernel>(step.step);
            rename(kernel.code, from, to);
            if (!kernel.ready) continue;
            auto ready = std::make_shared<KernelCode>(*kernel.ready);
            rename(*ready, from, to);
            kernel.ready = std::move(ready);
        }
    }
}

}  // namespace firn
