// Follows an index down to the axis that it depends on, through operations that keep different
// values apart.
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

/// The length of a block: a number, or a power of two by its exponent.
struct Length {
    const Node *value = nullptr, *exponent = nullptr;
    const Node& node() const { return value ? *value : *exponent; }
    friend bool operator==(const Length&, const Length&) = default;
};

Length length_of(const Node& node) {
    const Node& at = without_expand(node);
    if (at.op == Op::ShiftLeft && number(*at.inputs[0]) == 1)
        return {nullptr, &without_expand(*at.inputs[1])};
    return {&at, nullptr};
}

/// The counts of shifts are taken modulo the width, so that no power of two is 0.
bool is_power_of_two(const Length& d) {
    if (d.exponent) return true;
    const int64_t value = number(*d.value).value_or(0);
    return value > 0 && (value & (value - 1)) == 0;
}
bool is_never_zero(const Length& d) {
    return d.exponent || !contains(value_bounds(*d.value, {}), 0);
}

/// The other operand of an operation on two, where one is this number.
const Node* beside_number(const Node& node, int64_t value) {
    for (size_t k : {0, 1})
        if (number(*node.inputs[1 - k]) == value) return node.inputs[k].get();
    return nullptr;
}

/// `node` is that many times `d`, modulo 2^32.
std::optional<int64_t> multiple_of(const Node& node, const Length& d) {
    const Node& at = without_expand(node);
    if (length_of(at) == d) return 1;
    if (at.op == Op::Mul)
        for (size_t k : {0, 1})
            if (length_of(*at.inputs[k]) == d) return number(*at.inputs[1 - k]);
    if (at.op == Op::Add && length_of(*at.inputs[0]) == d && length_of(*at.inputs[1]) == d)
        return 2;
    if (at.op != Op::ShiftLeft) return std::nullopt;
    if (length_of(*at.inputs[0]) == d && number(*at.inputs[1]) == 1) return 2;
    if (d.exponent == &without_expand(*at.inputs[1])) return number(*at.inputs[0]);
    return std::nullopt;
}

/// x / d * (times d) + x % d
struct BlockIndex {
    const Node* x = nullptr;
    Length d;
    int64_t times = 0;
};

/// The d of d - 1.
std::optional<Length> length_above(const Node& mask) {
    const Node& at = without_expand(mask);
    if (at.op == Op::Sub && number(*at.inputs[1]) == 1) return length_of(*at.inputs[0]);
    if (at.op == Op::Add)
        if (const Node* above = beside_number(at, -1)) return length_of(*above);
    return std::nullopt;
}

/// The x and the d of x % d, which may be a mask.
std::optional<BlockIndex> place_in_block(const Node& low) {
    if (low.op == Op::Mod) return BlockIndex{low.inputs[0].get(), length_of(*low.inputs[1]), 0};
    if (low.op != Op::And) return std::nullopt;
    for (size_t k : {0, 1})
        if (const auto d = length_above(*low.inputs[1 - k]); d && is_power_of_two(*d))
            return BlockIndex{low.inputs[k].get(), *d, 0};
    return std::nullopt;
}

bool is_quotient(const Node& node, const Node& x, const Length& d) {
    if ((node.op != Op::Div && node.op != Op::ShiftRight) || node.inputs[0].get() != &x)
        return false;
    return node.op == Op::Div ? length_of(*node.inputs[1]) == d
                              : d.exponent == &without_expand(*node.inputs[1]);
}

/// Returns k if `high` is k d times the quotient of x by d; 0 if it is anything else.
int64_t times_quotient(const Node& high, const Node& x, const Length& d) {
    if (high.op == Op::Mul)
        for (size_t k : {0, 1})
            if (is_quotient(*high.inputs[k], x, d))
                return multiple_of(*high.inputs[1 - k], d).value_or(0);
    if (high.op != Op::ShiftLeft || !d.exponent || !is_quotient(*high.inputs[0], x, d)) return 0;
    const Node& by = without_expand(*high.inputs[1]);
    if (&by == d.exponent) return 1;
    const Node* less = by.op == Op::Add ? beside_number(by, 1) : nullptr;
    return less && &without_expand(*less) == d.exponent ? 2 : 0;
}

/// Returns the block index of a sum, or of a bitwise join of values without common bits.
std::optional<BlockIndex> block_index(const Node& node) {
    if (node.op != Op::Add && node.op != Op::Or && node.op != Op::Xor) return std::nullopt;
    for (size_t k : {0, 1}) {
        auto block = place_in_block(*node.inputs[k]);
        if (!block || (node.op != Op::Add && !is_power_of_two(block->d))) continue;
        block->times = times_quotient(*node.inputs[1 - k], *block->x, block->d);
        if (block->times != 0) return block;
    }
    return std::nullopt;
}

/// Returns whether `high` is d more than `low`, which lies in the lower half of a block of 2 d. For
/// a power of two d may be a bit that `low` does not have.
bool is_more(const Node& high, const Node& low, const Length& d) {
    const bool by_bits = high.op == Op::Xor || high.op == Op::Or;
    if (high.op != Op::Add && !(by_bits && is_power_of_two(d))) return false;
    for (size_t k : {0, 1})
        if (high.inputs[k].get() == &low && length_of(*high.inputs[1 - k]) == d) return true;
    return false;
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
            case Op::Xor:
                if (const auto axis = blocks(node)) return axis;
                return beside_same(node);
            case Op::Or:
                if (const auto axis = blocks(node)) return axis;
                return with_bit(node);
            case Op::Sub: return beside_same(node);
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
    std::optional<int> blocks(const Node& node) {
        const auto block = block_index(node);
        if (!block || without_expand(*block->x).op != Op::Index ||
            !is_same_everywhere(block->d.node()) || !is_never_zero(block->d))
            return std::nullopt;
        return block->times == 1 || block->times == 2 ? axis_of(*block->x) : std::nullopt;
    }

    /// The second of a pair, by the bit that the first does not have.
    std::optional<int> with_bit(const Node& node) {
        for (const Ref& low : node.inputs) {
            const auto block = block_index(*low);
            if (block && block->times == 2 && is_more(node, *low, block->d)) return blocks(*low);
        }
        return std::nullopt;
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

/// Returns the axis of the positions whose index the value is.
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
bool divides(const Length& d, const Size& extent, const CountedBy& loops) {
    int64_t largest = d.value ? number(*d.value).value_or(0) : 0;
    if (d.exponent) {
        const Interval count = value_bounds(*d.exponent, {}, loops);
        // A multiple of the largest power of two is a multiple of the smaller ones.
        if (count.lo >= 0 && count.hi < 31) largest = int64_t{1} << count.hi;
    }
    return largest > 0 && extent.divisor() % largest == 0;
}

bool is_pair(const Node& low, const Node& high, const Size& extent, const Shape& positions,
             int& axis, const CountedBy& loops) {
    const auto block = block_index(low);
    if (!block || block->times != 2 || !is_more(high, low, block->d)) return false;
    const auto own = own_axis(*block->x, positions.size());
    if (!own || !is_same_everywhere(block->d.node())) return false;
    axis = *own;
    const Size& half = positions[static_cast<size_t>(axis)];
    return extent == half * Size(2) && divides(block->d, half, loops);
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
