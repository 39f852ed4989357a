// Axes that are counted as one and read as two, such as the pixels `k / 5, k % 5` of a window,
// become two.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

/// Returns the constant if the node is the index along `axis` divided by one, or the remainder;
/// else 0.
int64_t divisor_of(const Node& node, int axis) {
    if (node.op != Op::Div && node.op != Op::Mod) return 0;
    const Node& divisor = without_expand(*node.inputs[1]);
    if (divisor.op != Op::Constant || node.dtype != i32) return 0;
    const auto index = affine_index(*node.inputs[0]);
    const bool is_own = index && index->axis == axis && index->offset.is(0);
    return is_own ? divisor.as<ConstantAttr>().value.i : 0;
}

/// The axis of an Expand's input that `axis` of the Expand is; -1: there is none, or it is
/// repeated.
int axis_before(const Node& expand, int axis) {
    const Node& input = *expand.inputs[0];
    const int before = axis - (expand.rank() - input.rank());
    return before < 0 || input.shape[static_cast<size_t>(before)].is(1) ? -1 : before;
}

/// The dependence of values of one shape on the index along an axis.
class Uses {
  public:
    void add(const Node& node, int axis) {
        if (whole_ || !seen_.emplace(&node, axis).second) return;
        if (const int64_t divisor = divisor_of(node, axis)) {
            divisors_.push_back(divisor);
        } else if (node.op == Op::Index) {
            whole_ = node.as<IndexAttr>().axis == axis;
        } else if (node.op == Op::Expand) {
            const int before = axis_before(node, axis);
            if (before >= 0) add(*node.inputs[0], before);
        } else if (is_elementwise(node.op) || node.op == Op::Gather) {
            for (size_t k = node.op == Op::Gather ? 1 : 0; k < node.inputs.size(); ++k)
                add(*node.inputs[k], axis);
        } else {
            whole_ = true;
        }
    }

    /// The divisor that all uses are of, or of multiples of it; 0: there is none.
    int64_t divisor(const Size& extent) const {
        if (whole_ || divisors_.empty() || !extent.is_constant()) return 0;
        const int64_t least = *std::min_element(divisors_.begin(), divisors_.end());
        if (least < 2 || least >= extent.constant() || extent.constant() % least != 0) return 0;
        const bool fits = std::all_of(divisors_.begin(), divisors_.end(),
                                      [&](int64_t each) { return each % least == 0; });
        return fits ? least : 0;
    }

  private:
    std::set<std::pair<const Node*, int>> seen_;
    std::vector<int64_t> divisors_;
    bool whole_ = false;
};

/// Values with an axis split into quotients and remainders of its index.
class Split {
  public:
    Split(const Builder& b, int64_t divisor) : b_(b), divisor_(divisor) {}

    Ref of(const Ref& node, int axis) {
        const std::pair<const Node*, int> key(node.get(), axis);
        if (const auto it = made_.find(key); it != made_.end()) return it->second;
        return made_[key] = make(*node, axis);
    }

  private:
    Shape split(Shape shape, int axis) const {
        Size& extent = shape[static_cast<size_t>(axis)];
        const Size quotients = extent.is(1) ? Size(1) : floor_div(extent, Size(divisor_));
        const Size remainders = extent.is(1) ? Size(1) : Size(divisor_);
        extent = quotients;
        shape.insert(shape.begin() + axis + 1, remainders);
        return shape;
    }

    Ref make(const Node& node, int axis) {
        const Shape shape = split(node.shape, axis);
        if (const int64_t divisor = divisor_of(node, axis))
            return divided(node.op, index(b_, shape, axis), index(b_, shape, axis + 1), divisor);
        if (node.op == Op::Index) {
            const int own = node.as<IndexAttr>().axis;
            return index(b_, shape, own + (own > axis));
        }
        if (node.op == Op::Expand) return expanded(node, axis, shape);
        std::vector<Ref> inputs = node.inputs;
        for (size_t k = node.op == Op::Gather ? 1 : 0; k < inputs.size(); ++k)
            inputs[k] = of(inputs[k], axis);
        return remake(b_, node, std::move(inputs), node.attr);
    }

    /// Returns the index, given by its quotient and remainder, divided by a multiple of the
    /// divisor; or the remainder of that.
    Ref divided(Op op, const Ref& quotient, const Ref& remainder, int64_t divisor) {
        if (divisor == divisor_) return op == Op::Div ? quotient : remainder;
        const auto number = [&](int64_t value) {
            return expand(b_, constant_int(b_, value), quotient->shape);
        };
        const Ref high = elementwise(b_, op, {quotient, number(divisor / divisor_)});
        if (op == Op::Div) return high;
        return elementwise(b_, Op::Add,
                           {elementwise(b_, Op::Mul, {high, number(divisor_)}), remainder});
    }

    Ref expanded(const Node& node, int axis, const Shape& shape) {
        const Ref& input = node.inputs[0];
        if (axis_before(node, axis) >= 0)
            return expand(b_, of(input, axis_before(node, axis)), shape);
        const int before = axis - (node.rank() - input->rank());
        return expand(b_, before < 0 ? input : reshape(b_, input, split(input->shape, before)),
                      shape);
    }

    const Builder& b_;
    int64_t divisor_;
    std::map<std::pair<const Node*, int>, Ref> made_;
};

/// An axis of values, by its divisor.
struct Found {
    int axis = 0;
    int64_t divisor = 0;
};

std::optional<Found> find(const std::vector<Ref>& values, const std::vector<int>& axes) {
    for (int axis : axes) {
        Uses uses;
        for (const Ref& each : values) uses.add(*each, axis);
        if (const int64_t divisor = uses.divisor(values[0]->shape[static_cast<size_t>(axis)]))
            return Found{axis, divisor};
    }
    return std::nullopt;
}

std::vector<int> split_axes_of(const std::vector<int>& axes, int split) {
    std::vector<int> out;
    for (int axis : axes) {
        out.push_back(axis + (axis > split));
        if (axis == split) out.push_back(axis + 1);
    }
    return out;
}

/// Splits axes of the values until there is nothing to split; true where it did.
bool split_all(const Builder& b, std::vector<Ref>& values, std::vector<int>& axes) {
    bool changed = false;
    while (const auto found = find(values, axes)) {
        Split split(b, found->divisor);
        for (Ref& each : values) each = split.of(each, found->axis);
        axes = split_axes_of(axes, found->axis);
        changed = true;
    }
    return changed;
}

}  // namespace

Graph split_axes(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        const bool is_store = node.op == Op::Scatter && !node.as<ScatterAttr>().by_hand;
        const bool is_reduction =
            node.op == Op::Reduce && !monoid(node.as<ReduceAttr>().op).position_of;
        if (!is_reduction && !is_store) return nullptr;
        const Builder b{table, first_line(node.lines)};
        // The values that are summed, or those that are stored and their indices.
        std::vector<Ref> values(inputs.begin() + is_store, inputs.end());
        std::vector<int> axes;
        if (!is_store) axes = node.as<ReduceAttr>().axes;
        for (int k = 0; is_store && k < values[0]->rank(); ++k) axes.push_back(k);
        if (!split_all(b, values, axes)) return nullptr;
        const Ref made = is_store
                             ? scatter(b, inputs[0], values[0], {values.begin() + 1, values.end()},
                                       node.as<ScatterAttr>())
                             : reduce(b, node.as<ReduceAttr>().op, values[0], axes, false);
        note_lines(*made, node.lines);
        if (fired) ++(*fired)["split into quotients and remainders"];
        return made;
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
