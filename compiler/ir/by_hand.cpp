// The contents of a kernel by hand: versions of arrays, and which elements invocations may read.
#include "compiler/ir/by_hand.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/apart.h"
#include "compiler/ir/edge_reads.h"
#include "compiler/ir/stored_together.h"
#include "compiler/ir/uniform.h"

namespace firn {

const Node& unmasked(const Node& index) {
    return index.op == Op::Select && is_outside(*index.inputs[2]) ? *index.inputs[1] : index;
}

void refuse_by_hand(const Node& node, const std::string& message) {
    throw UserError("inside a kernel, " + message + in_brackets(node.lines));
}

// --- arrays --------------------------------------------------------------------------------------

namespace {

using Roots = std::unordered_map<const Node*, const Node*>;

/// Finds, for every version among the nodes (operands first), the array or argument that it is a
/// version of.
Roots version_roots(const Node& kernel, const std::vector<Ref>& order) {
    std::unordered_map<const Node*, const Node*> init;  // of carried values
    for (const Ref& node : order)
        if (node->op == Op::Loop && node.get() != &kernel)
            for (size_t k = 3; k < node->inputs.size(); ++k)
                init[node->as<LoopAttr>().body->args[k - 2].get()] = node->inputs[k].get();
    auto version_of = [&](const Node& node) -> const Node* {
        if (node.op == Op::Scatter && node.as<ScatterAttr>().by_hand) return node.inputs[0].get();
        if (node.op == Op::Barrier) return node.inputs[0].get();
        if (node.op == Op::Result && node.inputs[0]->op == Op::Loop)
            return node.inputs[0]
                ->inputs[static_cast<size_t>(node.as<ResultAttr>().index) + 3]
                .get();
        const auto it = init.find(&node);
        return it == init.end() ? nullptr : it->second;
    };
    Roots roots;
    const std::vector<Ref>& args = kernel.as<LoopAttr>().body->args;
    for (size_t k = 1; k < args.size(); ++k) roots[args[k].get()] = args[k].get();
    for (const Ref& node : order) {
        if (node->op == Op::Array) roots[node.get()] = node.get();
        const Node* before = version_of(*node);
        if (auto it = before ? roots.find(before) : roots.end(); it != roots.end())
            roots[node.get()] = it->second;
    }
    return roots;
}

}  // namespace

HandArrays::HandArrays(const Node& kernel, const Placement& placement,
                       const std::unordered_set<const Node*>& apart) {
    const OwnNodes own(*kernel.as<LoopAttr>().body);
    root = version_roots(kernel, own.order);
    const std::vector<Ref>& args = kernel.as<LoopAttr>().body->args;
    for (size_t k = 1; k < args.size(); ++k) carried[args[k].get()] = static_cast<int>(k) - 1;
    auto visit = [&](auto&& self, size_t region) -> bool {
        bool holds = false;
        for (const Ref& ref : placement.regions[region].order) {
            const Node& node = *ref;
            if (!own.contains(node)) continue;
            bool step = node.op == Op::Array || node.op == Op::Barrier || node.op == Op::Subgroup ||
                        (node.op == Op::Scatter && root.contains(&node)) ||
                        (node.op == Op::Gather && root.contains(node.inputs[0].get()) &&
                         !apart.contains(node.inputs[0].get()));
            if (node.op == Op::Loop || node.op == Op::If) {
                const auto first = static_cast<size_t>(placement.first_region.at(&node));
                step = self(self, first);
                if (node.op == Op::If) step = self(self, first + 1) || step;
            }
            uses_subgroups |= node.op == Op::Subgroup;
            if (step) steps.insert(&node);
            holds |= step;
            if (node.op == Op::Scatter && root.contains(&node) &&
                node.as<ScatterAttr>().op != ScatterOp::Last)
                exchanged[root.at(&node)] |= node.as<ScatterAttr>().op != ScatterOp::Add;
            if (node.op == Op::Fetched && root.contains(node.inputs[0].get()))
                exchanged[root.at(node.inputs[0].get())] |=
                    node.inputs[0]->as<ScatterAttr>().op != ScatterOp::Add;
        }
        return holds;
    };
    visit(visit, static_cast<size_t>(placement.first_region.at(&kernel)));
}

// --- tensors that are stored to ------------------------------------------------------------------

namespace {

using IndexTuple = std::vector<const Node*>;

IndexTuple indices_of(const Node& access, size_t first) {
    IndexTuple out;
    for (size_t k = first; k < access.inputs.size(); ++k)
        out.push_back(first == 2 ? &unmasked(*access.inputs[k]) : access.inputs[k].get());
    return out;
}

/// No two invocations have the same indices.
bool is_own(const IndexTuple& indices, const Shape& grid) {
    std::vector<bool> used(grid.size());
    for (size_t k = 0; k < grid.size(); ++k) used[k] = grid[k].is(1);
    for (const Node* index : indices)
        if (const int axis = own_axis(*index); axis >= 0) used[static_cast<size_t>(axis)] = true;
    return std::all_of(used.begin(), used.end(), [](bool u) { return u; });
}

}  // namespace

std::vector<TargetUse> target_uses(const Node& by_hand, const std::vector<Ref>& results) {
    const LoopAttr& attr = by_hand.as<LoopAttr>();
    const Placement placement = place_by_hand(results);
    const HandArrays arrays(by_hand, placement);
    const OwnNodes nodes(*attr.body);
    std::vector<TargetUse> uses(attr.body->results.size());
    std::vector<IndexTuple> own(
        uses.size());  // where all stores to a tensor go, empty: to several places
    std::vector<bool> several(uses.size()), read(uses.size());
    auto target_of = [&](const Node& version) {
        const auto it = arrays.root.find(&version);
        const auto k =
            it == arrays.root.end() ? arrays.carried.end() : arrays.carried.find(it->second);
        return k == arrays.carried.end() ? -1 : k->second;
    };
    auto for_steps = [&](Op op, auto visit) {
        for (const PlacedRegion& region : placement.regions)
            for (const Ref& node : region.order)
                if (node->op == op && arrays.is_step(*node))
                    if (const int k = target_of(*node->inputs[0]); k >= 0)
                        visit(*node, static_cast<size_t>(k));
    };
    for_steps(Op::Scatter, [&](const Node& store, size_t k) {
        const IndexTuple to = indices_of(store, 2);
        if (own[k].empty() && !several[k]) own[k] = to;
        several[k] = several[k] || own[k] != to || store.as<ScatterAttr>().op != ScatterOp::Last ||
                     !is_own(to, attr.grid);
    });
    for_steps(Op::Gather, [&](const Node& node, size_t k) {
        read[k] = true;
        const bool at_entry = node.inputs[0].get() == attr.body->args[k + 1].get();
        if (at_entry && (several[k] || indices_of(node, 1) != own[k] ||
                         !uses_only_own(by_hand, nodes, arrays.root, node)))
            uses[k].read_apart = true;
    });
    for (const PlacedRegion& region : placement.regions)
        for (const Ref& node : region.order)  // the old value of an exchange or a sum
            if (node->op == Op::Fetched)
                if (const int k = target_of(*node->inputs[0]); k >= 0)
                    read[static_cast<size_t>(k)] = true;
    for (size_t k = 0; k < uses.size(); ++k)
        uses[k].covered = !read[k] && leaves_nothing(attr, *attr.body->results[k]);
    return uses;
}

// --- reads ---------------------------------------------------------------------------------------

namespace {

/// Compares the reads and stores of invocations.
class AccessCheck {
  public:
    explicit AccessCheck(const Node& kernel)
        : kernel_(kernel),
          own_(*kernel.as<LoopAttr>().body),
          root_(version_roots(kernel, own_.order)) {
        for (const Ref& node : own_.order)
            if (node->op == Op::Loop)
                for (size_t k = 3; k < node->inputs.size(); ++k)
                    carried_[node->as<LoopAttr>().body->args[k - 2].get()] = {node.get(), k - 3};
    }

    void check_reads() {
        for (const Ref& node : own_.order)
            if (node->op == Op::Gather && !node->as<GatherAttr>().own &&
                root_.contains(node->inputs[0].get()))
                check_read(*node);
    }

    const Node* colliding_store() {
        std::unordered_map<const Node*, std::vector<const Node*>> stores;  // by root, as they come
        for (const Ref& node : own_.order) {
            if (node->op != Op::Scatter || !root_.contains(node.get())) continue;
            const Node& root = *root_.at(node.get());
            std::vector<const Node*>& all = stores[&root];
            all.push_back(node.get());
            // Steps on an invocation's private array keep its order.
            if (root.op == Op::Array && !root.as<ArrayAttr>().shared) continue;
            for (const Node* other : all)
                if (!in_any_order(*node, *other) &&
                    !proved_apart(place(*node, 2, root), place(*other, 2, root), invocations(root)))
                    return node.get();
        }
        return nullptr;
    }

  private:
    static bool in_any_order(const Node& a, const Node& b) {
        const ScatterOp op = a.as<ScatterAttr>().op;
        return op != ScatterOp::Last && op == b.as<ScatterAttr>().op;
    }

    /// Follows the versions of an array back from a read, to the last barrier.
    void check_read(const Node& read) {
        const Node& root = *root_.at(read.inputs[0].get());
        if (root.op == Op::Array && !root.as<ArrayAttr>().shared) return;
        const IndexTuple at = indices_of(read, 1);
        // An array's place is its own for one invocation where the tuple of a store is that of the
        // read; elements of tensors must be its own in the whole grid.
        const bool own = root.op == Op::Array || is_own(at, kernel_.as<LoopAttr>().grid);
        std::unordered_set<const Node*> seen;
        std::vector<const Node*> queue{read.inputs[0].get()};
        auto push = [&](const Node* version) {
            if (seen.insert(version).second) queue.push_back(version);
        };
        while (!queue.empty()) {
            const Node& version = *queue.back();
            queue.pop_back();
            if (version.op == Op::Scatter) {
                if (apart(read, version, root)) {
                    push(version.inputs[0].get());
                    continue;
                }
                if (!own || version.as<ScatterAttr>().op != ScatterOp::Last ||
                    indices_of(version, 2) != at)
                    refuse(read, root, version);
                if (root.op != Op::Array && !uses_only_own(kernel_, own_, root_, read))
                    refuse_beyond(read, version);
                push(version.inputs[0].get());
            } else if (version.op == Op::Result) {
                const auto k = static_cast<size_t>(version.as<ResultAttr>().index);
                push(version.inputs[0]->inputs[k + 3].get());
                push(version.inputs[0]->as<LoopAttr>().body->results[k].get());
            } else if (const auto it = carried_.find(&version); it != carried_.end()) {
                push(it->second.first->inputs[it->second.second + 3].get());
                push(it->second.first->as<LoopAttr>().body->results[it->second.second].get());
            }
        }
    }

    /// The dimensions of a shared array behind those of the groups, or all of a tensor.
    std::vector<PlaceIndex> place(const Node& access, size_t first, const Node& root) const {
        const size_t skip = root.op == Op::Array ? kernel_.as<LoopAttr>().grid.size() : 0;
        const IndexTuple indices = indices_of(access, first);
        std::vector<PlaceIndex> out;
        for (size_t k = skip; k < indices.size(); ++k)
            out.push_back(
                {indices[k], root.shape[k],
                 access.op == Op::Gather ? access.as<GatherAttr>().modes[k] : Bounds::Constant});
        return out;
    }

    /// Returns whether no invocation stores to an element that another reads.
    bool apart(const Node& read, const Node& store, const Node& root) const {
        return proved_apart(place(read, 1, root), place(store, 2, root), invocations(root));
    }

    /// Returns the invocations that can touch the same element.
    Invocations invocations(const Node& root) const {
        const auto& attr = kernel_.as<LoopAttr>();
        return {attr.grid, attr.group, root.op == Op::Array, [&](const Node& node) {
                    return own_.contains(node) || !is_uniform(node, attr.group);
                }};
    }

    [[noreturn]] static void refuse(const Node& read, const Node& root, const Node& store) {
        const std::string where = store.lines.empty() ? "" : " at " + text(store.lines[0]);
        if (root.op == Op::Array)
            refuse_by_hand(
                read,
                "an element of a shared array is read that another invocation may have stored" +
                    where +
                    "; put a barrier() between, or read it by own(array)(..) where no other "
                    "invocation does");
        refuse_by_hand(
            read,
            "an element is read that another invocation may have stored" + where +
                "; read it in a kernel(...) of its own after this one, which sees all that "
                "this one stored; or read what was there at entry before the store, give it "
                "through shared(...) and a barrier() inside a group, or read it by own(x)(..) "
                "where no other invocation stores it");
    }

    [[noreturn]] static void refuse_beyond(const Node& read, const Node& store) {
        const std::string where = store.lines.empty() ? "" : " at " + text(store.lines[0]);
        refuse_by_hand(
            read,
            "an element is read that the invocation itself has stored" + where +
                ", and an invocation whose index is outside of the tensor reads an element at its "
                "edge, which another invocation stores; use the value that was stored, or read by "
                "zero(x)(..), which "
                "gives 0 outside");
    }

    const Node& kernel_;
    OwnNodes own_;
    Roots root_;
    std::unordered_map<const Node*, std::pair<const Node*, size_t>>
        carried_;  // argument -> loop, carried value
};

}  // namespace

void check_reads(const Node& kernel) { AccessCheck(kernel).check_reads(); }

const Node* colliding_store(const Node& kernel) { return AccessCheck(kernel).colliding_store(); }

}  // namespace firn
