// An index is followed down to the axis that it depends on, through what keeps different values
// apart.
#include "compiler/ir/distinct_positions.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

constexpr int kProofSteps = 200;  // nodes of an index that are followed

bool is_same_everywhere(const Node& node) {
    return element_count(without_expand(node).shape).is(1);
}

std::optional<int64_t> number(const Node& node) {
    const Node& at = without_expand(node);
    if (at.op != Op::Constant || !at.dtype.is_integer()) return std::nullopt;
    return at.as<ConstantAttr>().value.i;
}

/// Counts of shifts are taken modulo the width, so that an odd number never becomes 0.
bool is_never_zero(const Node& node) {
    const Node& at = without_expand(node);
    if (at.op == Op::ShiftLeft)
        if (const auto shifted = number(*at.inputs[0])) return *shifted % 2 != 0;
    return !contains(value_bounds(at, {}), 0);
}

/// `node` is that many times `d`, modulo 2^32.
std::optional<int64_t> multiple_of(const Node& node, const Node& d) {
    const Node &at = without_expand(node), &one = without_expand(d);
    if (&at == &one) return 1;
    if (at.op == Op::Mul)
        for (size_t k : {0, 1})
            if (&without_expand(*at.inputs[k]) == &one) return number(*at.inputs[1 - k]);
    if (at.op == Op::Add && &without_expand(*at.inputs[0]) == &one &&
        &without_expand(*at.inputs[1]) == &one)
        return 2;
    if (at.op == Op::ShiftLeft && &without_expand(*at.inputs[0]) == &one)
        if (number(*at.inputs[1]) == 1) return 2;
    if (at.op == Op::ShiftLeft && one.op == Op::ShiftLeft && at.inputs[1] == one.inputs[1] &&
        number(*one.inputs[0]) == 1)
        return number(*at.inputs[0]);
    return std::nullopt;
}

/// x / d * (times d) + x % d
struct BlockIndex {
    const Node *x = nullptr, *d = nullptr;
    int64_t times = 0;
};

std::optional<BlockIndex> block_index(const Node& high, const Node& low) {
    if (low.op != Op::Mod || high.op != Op::Mul) return std::nullopt;
    const Node &x = *low.inputs[0], &d = *low.inputs[1];
    for (size_t k : {0, 1}) {
        const Node& quotient = *high.inputs[k];
        if (quotient.op != Op::Div || quotient.inputs[0] != low.inputs[0] ||
            &without_expand(*quotient.inputs[1]) != &without_expand(d))
            continue;
        if (const auto times = multiple_of(*high.inputs[1 - k], d))
            return BlockIndex{&x, &d, *times};
    }
    return std::nullopt;
}

std::optional<BlockIndex> block_index(const Node& node) {
    if (node.op != Op::Add) return std::nullopt;
    if (auto out = block_index(*node.inputs[0], *node.inputs[1])) return out;
    return block_index(*node.inputs[1], *node.inputs[0]);
}

class Follower {
  public:
    /// The one axis along which the values of an i32 index differ, if along none other they do.
    std::optional<int> axis_of(const Node& node) {
        if (--steps_ < 0 || node.dtype != i32) return std::nullopt;
        switch (node.op) {
            case Op::Index: return node.as<IndexAttr>().axis;
            case Op::Expand: return expanded(node);
            case Op::Add:
                if (const auto axis = blocks(*node.inputs[0], *node.inputs[1])) return axis;
                if (const auto axis = blocks(*node.inputs[1], *node.inputs[0])) return axis;
                return beside_same(node);
            case Op::Sub:
            case Op::Xor: return beside_same(node);
            case Op::Neg: return axis_of(*node.inputs[0]);
            case Op::Mul: return scaled(node);
            case Op::Select:
                // Positions outside store nothing.
                return is_outside(*node.inputs[2]) ? axis_of(*node.inputs[1]) : std::nullopt;
            default: return std::nullopt;
        }
    }

  private:
    std::optional<int> expanded(const Node& node) {
        const Node& inner = *node.inputs[0];
        const auto axis = axis_of(inner);
        if (!axis || inner.shape[static_cast<size_t>(*axis)].is(1)) return std::nullopt;
        return *axis + node.rank() - inner.rank();
    }

    std::optional<int> beside_same(const Node& node) {
        for (size_t k : {0, 1})
            if (is_same_everywhere(*node.inputs[1 - k])) return axis_of(*node.inputs[k]);
        return std::nullopt;
    }

    /// An odd factor keeps all values apart, any other those of an index that it does not take
    /// once around.
    std::optional<int> scaled(const Node& node) {
        for (size_t k : {0, 1}) {
            const auto factor = number(*node.inputs[1 - k]);
            if (!factor || *factor == 0) continue;
            const auto axis = axis_of(*node.inputs[k]);
            if (!axis || *factor % 2 != 0) return axis;
            const Node& index = without_expand(*node.inputs[k]);
            const int64_t extent = node.shape[static_cast<size_t>(*axis)].upper_bound();
            const bool fits = extent <= (int64_t{1} << 32) / std::abs(*factor);
            return fits && index.op == Op::Index ? axis : std::nullopt;
        }
        return std::nullopt;
    }

    /// x / d * (k d) + x % d is x + (k - 1) d (x / d), which grows with x and stays below k 2^31.
    std::optional<int> blocks(const Node& high, const Node& low) {
        const auto block = block_index(high, low);
        if (!block || without_expand(*block->x).op != Op::Index || !is_same_everywhere(*block->d) ||
            !is_never_zero(*block->d))
            return std::nullopt;
        return block->times == 1 || block->times == 2 ? axis_of(*block->x) : std::nullopt;
    }

    int steps_ = kProofSteps;
};

}  // namespace

bool has_distinct_positions(const Node& scatter) {
    const Shape& positions = scatter.inputs[1]->shape;
    std::vector<bool> differs(positions.size(), false);
    for (size_t k = 2; k < scatter.inputs.size(); ++k) {
        const Node& index = *scatter.inputs[k];
        const auto axis = Follower().axis_of(index);
        if (!axis) continue;
        // Indices are broadcast to the positions.
        const int own = *axis + static_cast<int>(positions.size()) - index.rank();
        if (!index.shape[static_cast<size_t>(*axis)].is(1))
            differs[static_cast<size_t>(own)] = true;
    }
    for (size_t axis = 0; axis < positions.size(); ++axis)
        if (!differs[axis] && !positions[axis].is(1)) return false;
    return true;
}

namespace {

/// The axis of the positions whose index the value is.
std::optional<int> own_axis(const Node& node, size_t rank) {
    int axis = 0;
    const Node* at = &node;
    for (; at->op == Op::Expand; at = at->inputs[0].get())
        axis += at->rank() - at->inputs[0]->rank();
    if ((at->op != Op::Index && at->op != Op::Invocation) || node.shape.size() > rank)
        return std::nullopt;
    return at->as<IndexAttr>().axis + axis + static_cast<int>(rank - node.shape.size());
}

/// `d` is positive, and `extent` a multiple of it.
bool divides(const Node& d, const Size& extent, const CountedBy& loops) {
    const Node& at = without_expand(d);
    int64_t largest = number(at).value_or(0);
    if (at.op == Op::ShiftLeft && number(*at.inputs[0]) == 1) {
        const Interval count = value_bounds(*at.inputs[1], {}, loops);
        // Powers of two divide what the largest of them divides.
        if (count.lo >= 0 && count.hi < 31) largest = int64_t{1} << count.hi;
    }
    return largest > 0 && extent.divisor() % largest == 0;
}

/// `high` is d more than `low`, whose multiples of 2 d have room for that.
bool is_pair(const Node& low, const Node& high, const Size& extent, const Shape& positions,
             int& axis, const CountedBy& loops) {
    const auto block = block_index(low);
    if (!block || block->times != 2 ||
        (high.op != Op::Add && high.op != Op::Xor && high.op != Op::Or))
        return false;
    const bool more = (high.inputs[0].get() == &low &&
                       &without_expand(*high.inputs[1]) == &without_expand(*block->d)) ||
                      (high.inputs[1].get() == &low &&
                       &without_expand(*high.inputs[0]) == &without_expand(*block->d));
    const auto own = own_axis(*block->x, positions.size());
    if (!more || !own || !is_same_everywhere(*block->d)) return false;
    axis = *own;
    const Size& half = positions[static_cast<size_t>(axis)];
    return extent == half * Size(2) && divides(*block->d, half, loops);
}

}  // namespace

bool fill_in_pairs(const Node& first, const Node& second, const CountedBy& loops) {
    const Shape& positions = first.inputs[1]->shape;
    if (!(positions == second.inputs[1]->shape) || positions.size() != first.shape.size())
        return false;
    std::vector<bool> taken(positions.size(), false);
    bool paired = false;
    for (size_t k = 0; k < first.shape.size(); ++k) {
        const Node &a = *first.inputs[k + 2], &b = *second.inputs[k + 2];
        const Size& extent = first.shape[k];
        int axis = -1;
        if (is_pair(a, b, extent, positions, axis, loops) ||
            is_pair(b, a, extent, positions, axis, loops)) {
            if (paired) return false;
            paired = true;
        } else {
            const auto own = own_axis(a, positions.size());
            if (&a != &b || !own || !(positions[static_cast<size_t>(*own)] == extent)) return false;
            axis = *own;
        }
        if (taken[static_cast<size_t>(axis)]) return false;
        taken[static_cast<size_t>(axis)] = true;
    }
    return paired;
}

}  // namespace firn
