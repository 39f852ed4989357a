// The demand walk before it opens a nested loop: finds the carried values that can be evaluated at
// the index of one of them.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

#include "compiler/ir/affine_index.h"
#include "compiler/lower/walk_state.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr NodeId kSomewhere{};  // an index that is known only by evaluating it

/// Follows a carried value to the carried values of outer loops, and the indices at which they are
/// evaluated.
class WayOut {
  public:
    using Carried = std::function<bool(const Node&, const Indices&)>;

    WayOut(KernelBuilder& b, const LowerContext& context, Carried carried)
        : b_(b), context_(context), carried_(std::move(carried)) {}

    /// Returns whether all values that carried value `k` needs, at `at`, stand at the indices that
    /// outer loops carry them at.
    bool stays(const Node& loop, int k, const Indices& at) {
        enter(loop);
        push_iterations(loop, static_cast<size_t>(k), at);
        while (!queue_.empty()) {
            if (seen_.size() > costs::kMostLoopWalk) return false;
            const auto [node, to] = std::move(queue_.back());
            queue_.pop_back();
            if (!visit(*node, to)) return false;
        }
        return true;
    }

  private:
    struct Slot {
        const Node* loop;
        size_t arg;
    };

    void enter(const Node& loop) {
        const std::vector<Ref>& args = loop.as<LoopAttr>().body->args;
        for (size_t a = 0; a < args.size(); ++a) entered_[args[a].get()] = {&loop, a};
    }

    void push(const Node& node, Indices at) {
        for (size_t k = 0; k < at.size(); ++k)
            if (node.shape[k].is(1)) at[k] = b_.integer(0);
        if (seen_.insert({&node, at}).second) queue_.push_back({&node, std::move(at)});
    }

    /// Adds a value that broadcasts to one of shape `from`, which is evaluated at `at`.
    void push_projected(const Node& node, const Shape& from, const Indices& at) {
        if (node.shape.size() > from.size())
            return push(node, Indices(node.shape.size(), kSomewhere));
        push(node, project(b_, at, from, node.shape));
    }

    void push_iterations(const Node& loop, size_t k, const Indices& at) {
        const Node& next = *loop.as<LoopAttr>().body->results[k];
        push_projected(*loop.inputs[k + 3], next.shape, at);
        push(next, at);
    }

    bool visit(const Node& node, const Indices& at) {
        if (context_.buffers.contains(&node) || context_.host_values.contains(&node) ||
            context_.host_numbers.contains(&node))
            return true;
        if (node.op == Op::RegionArg) {
            const auto slot = entered_.find(&node);
            if (slot == entered_.end()) return carried_(node, at);
            if (slot->second.arg > 0) push_iterations(*slot->second.loop, slot->second.arg - 1, at);
            return true;
        }
        if (node.op == Op::Result) {
            push_region(node, at);
            return true;
        }
        for (size_t k = 0; k < node.inputs.size(); ++k)
            push(*node.inputs[k], input_index(node, k, at));
        return true;
    }

    void push_region(const Node& node, const Indices& at) {
        const Node& owner = *node.inputs[0];
        const auto k = static_cast<size_t>(node.as<ResultAttr>().index);
        if (owner.op == Op::If) {
            const IfAttr& attr = owner.as<IfAttr>();
            for (const Ref& to :
                 {owner.inputs[0], attr.then_body->results[k], attr.else_body->results[k]})
                push_projected(*to, node.shape, at);
            return;
        }
        enter(owner);
        for (size_t bound = 0; bound < 3; ++bound) push(*owner.inputs[bound], {});
        push_iterations(owner, k, at);
        const int active = owner.as<LoopAttr>().active;
        if (active < 0) return;
        push_projected(*owner.inputs[static_cast<size_t>(active) + 3], node.shape, at);
        push_projected(*owner.as<LoopAttr>().body->results[static_cast<size_t>(active)], node.shape,
                       at);
    }

    /// Returns the index at which input `k` is evaluated, along each axis; kSomewhere if the node
    /// alone does not tell.
    Indices input_index(const Node& node, size_t k, const Indices& at) {
        const Shape& in = node.inputs[k]->shape;
        Indices to(in.size(), kSomewhere);
        if (is_elementwise(node.op)) return at;
        switch (node.op) {
            case Op::Expand: return project(b_, at, node.shape, in);
            case Op::Permute:
                for (size_t j = 0; j < at.size(); ++j) to[node.as<PermuteAttr>().axes[j]] = at[j];
                return to;
            case Op::Reshape: return without_ones(node.shape, in, at);
            case Op::Slice:
                for (size_t j = 0; j < at.size(); ++j)
                    to[j] =
                        moved(at[j], node.as<SliceAttr>().begin[j], node.as<SliceAttr>().step[j]);
                return to;
            case Op::Gather:
                if (k > 0) return at;
                for (size_t j = 0; j < in.size(); ++j)
                    if (const auto index = affine_index(*node.inputs[j + 1]))
                        to[j] = index->axis < 0 ? b_.size(index->offset)
                                                : moved(at[index->axis], index->offset, 1);
                return to;
            case Op::Scatter: return k == 0 ? at : to;
            default: return to;
        }
    }

    NodeId moved(NodeId index, const Size& by, int64_t step) {
        if (index == kSomewhere) return index;
        return b_.add(b_.size(by), b_.mul(index, b_.integer(step)));
    }

    /// Returns the index before a reshape that only adds and drops dimensions of 1.
    static Indices without_ones(const Shape& from, const Shape& to, const Indices& at) {
        Shape kept;
        Indices kept_at, out(to.size(), kSomewhere);
        for (size_t k = 0; k < from.size(); ++k)
            if (!from[k].is(1)) kept.push_back(from[k]), kept_at.push_back(at[k]);
        size_t next = 0;
        for (size_t k = 0; k < to.size(); ++k) {
            if (to[k].is(1)) continue;
            if (next == kept.size() || kept[next] != to[k]) return Indices(to.size(), kSomewhere);
            out[k] = kept_at[next++];
        }
        return out;
    }

    KernelBuilder& b_;
    const LowerContext& context_;
    Carried carried_;
    std::unordered_map<const Node*, Slot> entered_;  // carried values of the loops on the way
    std::set<std::pair<const Node*, Indices>> seen_;
    std::vector<std::pair<const Node*, Indices>> queue_;
};

}  // namespace

bool Walk::comes_along(const Node& loop, int k, const Indices& at) {
    if (open_loops_ == 0) return true;
    const auto carried = [&](const Node& arg, const Indices& to) {
        return memo_.contains({&arg, to}) || is_carried_at(arg, to);
    };
    return WayOut(b_, context_, carried).stays(loop, k, at);
}

}  // namespace firn
