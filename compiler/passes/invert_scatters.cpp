// Scatters that combine at affine indices are read from the side of their target: as sums over the
// positions that meet.
#include <algorithm>
#include <optional>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/distinct_positions.h"
#include "compiler/passes/passes.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// The equations index_k(position) = place_k of a Scatter, each solved for an axis that no other
/// one uses, or for all of its axes where these are the digits of a number.
struct Solution {
    std::vector<AffineForm> forms;         // by axis of the target
    std::vector<std::vector<int>> solved;  // the position's axes, those of larger factors first
    std::vector<int>
        rest;  // axes of the positions that are in no equation's place: they are summed over
};

/// Returns whether few elements of the target get no value.
bool is_dense(const Size& target, const Size& positions, int64_t scale) {
    const Size most = Size(costs::kMostWaste * std::abs(scale)) * positions + Size(costs::kFewMore);
    return (most - target).lower_bound() >= 0;
}

/// Chooses the axis that is not solved for, which is summed over: the longer one if it is known,
/// else that of the smaller factor.
bool is_preferred(const AffineForm& form, const Node& values, int axis, int other) {
    const Size &own = values.shape[static_cast<size_t>(axis)],
               &others = values.shape[static_cast<size_t>(other)];
    if (own.is_constant() && others.is_constant() && !(own == others))
        return own.constant() > others.constant();
    return std::abs(coefficient_of(form, axis)) < std::abs(coefficient_of(form, other));
}

/// Returns the axes of a form whose index is a number of several digits, such as `2 * i + p` with p
/// below 2: each place has at most one position. The first digit first; empty: it is no such
/// number.
std::vector<int> digits_of(const AffineForm& form, const Shape& positions,
                           const std::vector<int>& uses) {
    std::vector<std::pair<int64_t, int>> order;
    for (const auto& [axis, scale] : form.terms) {
        if (uses[static_cast<size_t>(axis)] != 1 || scale <= 0) return {};
        order.emplace_back(scale, axis);
    }
    std::sort(order.rbegin(), order.rend());
    int64_t below = 1;  // the numbers that the digits behind make
    std::vector<int> out;
    for (size_t k = order.size(); k-- > 0;) {
        const auto [scale, axis] = order[k];
        const Size& extent = positions[static_cast<size_t>(axis)];
        if (scale < below || (k > 0 && !extent.is_constant())) return {};
        if (k > 0) below = scale * extent.constant();
        out.insert(out.begin(), axis);
    }
    return out;
}

std::optional<Solution> solve(const Node& target, const Node& values,
                              const std::vector<Ref>& indices) {
    Solution out;
    std::vector<int> uses(values.shape.size(), 0);
    for (const Ref& index : indices) {
        std::optional<AffineForm> form = affine_form(*index);
        if (!form) return std::nullopt;
        for (const auto& [axis, scale] : form->terms) ++uses[static_cast<size_t>(axis)];
        out.forms.push_back(std::move(*form));
    }
    std::vector<bool> taken(values.shape.size(), false);
    const auto is_solvable = [&](size_t k, int axis) {
        return uses[static_cast<size_t>(axis)] == 1 &&
               is_dense(target.shape[k], values.shape[static_cast<size_t>(axis)],
                        coefficient_of(out.forms[k], axis));
    };
    for (size_t k = 0; k < out.forms.size(); ++k) {
        const AffineForm& form = out.forms[k];
        std::vector<int> axes = digits_of(form, values.shape, uses);
        if (axes.size() < 2 || !is_solvable(k, axes[0])) {
            int best = -1;
            for (const auto& [axis, scale] : form.terms)
                if (is_solvable(k, axis) && (best < 0 || is_preferred(form, values, axis, best)))
                    best = axis;
            axes = best < 0 ? std::vector<int>() : std::vector<int>{best};
        }
        if (axes.empty() && (!form.terms.empty() || !is_dense(target.shape[k], Size(1), 1)))
            return std::nullopt;
        for (int axis : axes) taken[static_cast<size_t>(axis)] = true;
        out.solved.push_back(std::move(axes));
    }
    if (std::find(taken.begin(), taken.end(), true) == taken.end()) return std::nullopt;
    for (size_t axis = 0; axis < taken.size(); ++axis)
        if (!taken[axis]) out.rest.push_back(static_cast<int>(axis));
    return out;
}

/// Builds the values for each place, over [target..., rest...].
class Meeting {
  public:
    Meeting(const Builder& b, const Solution& solution, const Shape& target, const Node& values)
        : b_(b), solution_(solution), shape_(target), at_(values.shape.size()) {
        for (int axis : solution.rest) shape_.push_back(values.shape[static_cast<size_t>(axis)]);
        for (size_t k = 0; k < solution.rest.size(); ++k)
            at_[static_cast<size_t>(solution.rest[k])] =
                index(b_, shape_, static_cast<int>(target.size() + k));
    }

    Ref values(const Ref& stored, Scalar nothing) {
        for (size_t k = 0; k < solution_.forms.size(); ++k) solve(static_cast<int>(k));
        if (inside_) at_[0] = select(inside_, at_[0], number(Size(-1)));
        return gather(b_, stored, at_, std::vector<Bounds>(at_.size(), Bounds::Constant), nothing);
    }

  private:
    Ref number(const Size& size) { return expand(b_, size_value(b_, size), shape_); }
    Ref select(const Ref& condition, const Ref& x, const Ref& y) {
        return elementwise(b_, Op::Select, {condition, x, y});
    }
    void require(const Ref& condition) {
        inside_ = inside_ ? elementwise(b_, Op::And, {inside_, condition}) : condition;
    }

    void solve(int k) {
        const AffineForm& form = solution_.forms[static_cast<size_t>(k)];
        const std::vector<int>& axes = solution_.solved[static_cast<size_t>(k)];
        Ref left = elementwise(b_, Op::Sub, {index(b_, shape_, k), number(form.offset)});
        for (const auto& [other, scale] : form.terms) {
            if (std::find(axes.begin(), axes.end(), other) != axes.end()) continue;
            const Ref part =
                elementwise(b_, Op::Mul, {at_[static_cast<size_t>(other)], number(Size(scale))});
            left = elementwise(b_, Op::Sub, {left, part});
        }
        if (axes.empty()) return require(elementwise(b_, Op::Equal, {left, number(Size(0))}));
        // Digits of a negative number would be those of a place inside.
        if (axes.size() > 1 && !form.offset.is(0))
            require(elementwise(b_, Op::LessEqual, {number(Size(0)), left}));
        for (size_t digit = 0; digit < axes.size(); ++digit) {
            const int64_t scale = coefficient_of(form, axes[digit]);
            const bool is_last = digit + 1 == axes.size();
            if (scale == -1) left = elementwise(b_, Op::Neg, {left});
            Ref at = left;
            if (std::abs(scale) > 1) {
                at = elementwise(b_, Op::Div, {left, number(Size(scale))});
                left = elementwise(b_, Op::Mod, {left, number(Size(scale))});
                if (is_last) require(elementwise(b_, Op::Equal, {left, number(Size(0))}));
            }
            at_[static_cast<size_t>(axes[digit])] = at;
        }
    }

    const Builder& b_;
    const Solution& solution_;
    Shape shape_;
    std::vector<Ref> at_;  // by axis of the positions
    Ref inside_;
};

/// Combines in each position by a read and a store, if no two positions have the same index and the
/// type is wider than devices can combine. Null for others.
Ref combined_apart(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
    const ScatterAttr& attr = node.as<ScatterAttr>();
    if (attr.op == ScatterOp::Last || node.dtype.bytes() < 8) return nullptr;
    const Ref &target = inputs[0], &values = inputs[1];
    const std::vector<Ref> indices(inputs.begin() + 2, inputs.end());
    const Ref same = scatter(b, target, values, indices, attr);
    if (!has_distinct_positions(*same)) return nullptr;
    const Ref before = gather(b, target, indices, {Bounds::Clamp}, scalar_int(0));
    const Ref after = elementwise(b, combining_op(attr.op), {before, values});
    Ref made = scatter(b, target, after, indices, {ScatterOp::Last, true});
    note_lines(*made, node.lines);
    return made;
}

}  // namespace

Graph invert_scatters(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Scatter || node.as<ScatterAttr>().by_hand || node.dtype.is_bool())
            return nullptr;
        const std::optional<ReduceOp> op = reduce_op(node.as<ScatterAttr>().op);
        const Ref &target = inputs[0], &values = inputs[1];
        std::optional<Solution> solution;
        if (op) solution = solve(*target, *values, {inputs.begin() + 2, inputs.end()});
        std::vector<Guard> known;  // shapes that met here have met before
        const Builder b{table, first_line(node.lines), &known};
        if (!solution) {
            Ref made = combined_apart(b, node, inputs);
            if (made && fired) ++(*fired)["combined where nothing meets"];
            return made;
        }
        Ref met = Meeting(b, *solution, target->shape, *values)
                      .values(values, reduce_identity(*op, node.dtype));
        std::vector<int> axes;
        for (size_t k = 0; k < solution->rest.size(); ++k)
            axes.push_back(target->rank() + static_cast<int>(k));
        if (!axes.empty()) met = cast(b, reduce(b, *op, met, axes, false), node.dtype);
        Ref made = elementwise(b, combining_op(node.as<ScatterAttr>().op), {target, met});
        note_lines(*made, node.lines);
        if (fired) ++(*fired)["read from the target's side"];
        return made;
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
