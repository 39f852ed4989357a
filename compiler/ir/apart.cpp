// Two sums of multiples are compared by greatest common divisors, by intervals, and digit by digit.
#include "compiler/ir/apart.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <unordered_map>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/value_bounds.h"
#include "compiler/program/affine.h"

namespace firn {
namespace {

constexpr size_t kIndexSteps = 200;  // nodes of an index that are followed
constexpr int64_t kLargest = int64_t{1}
                             << 40;  // of a factor, so that products and sums of them fit

/// The factors of a sum's terms: the place in a group along an axis, the group's place, or the
/// value of a node.
struct Term {
    enum class Kind : uint8_t { Local, Group, Value } kind;
    int axis = 0;
    const Node* node = nullptr;
    friend auto operator<=>(const Term&, const Term&) = default;
};

/// A sum of integers that do not wrap.
using Sum = Affine<Term>;

int64_t largest_number(const Sum& sum) {
    int64_t out = std::abs(sum.offset);
    for (const auto& [term, factor] : sum.terms) out = std::max(out, std::abs(factor));
    return out;
}

class Sums {
  public:
    explicit Sums(const Invocations& invocations) : invocations_(invocations) {}

    std::optional<Sum> of(const Node& node) {
        if (auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kIndexSteps) return std::nullopt;
        known_[&node] = std::nullopt;
        std::optional<Sum> out = find(node);
        if (!out && node.dtype.is_integer()) out = Sum{{{{Term::Kind::Value, 0, &node}, 1}}, 0};
        return known_[&node] = out;
    }

    Interval range(const Term& term) const {
        if (const Size* size = size_of(term))  // an i32 holds it
            return {std::max(size->lower_bound(), kAnyI32.lo),
                    std::min(size->upper_bound(), kAnyI32.hi)};
        if (term.kind == Term::Kind::Value) return value_bounds(*term.node, {});
        const int64_t width = invocations_.group[static_cast<size_t>(term.axis)];
        if (term.kind == Term::Kind::Local) return {0, width - 1};
        return {0, last_index(term.axis) / width};
    }

    Interval range(const Sum& sum) const {
        Interval out{sum.offset, sum.offset};
        for_parts(sum, [&](int64_t factor, const Interval& of, const Size&, const Size&) {
            out = out + Interval{factor, factor} * of;
        });
        return out;
    }

    /// Every value of the sum is an index of an axis with this extent, which may be symbolic.
    bool inside(const Sum& sum, const Size& extent) const {
        const Interval all = range(sum);
        if (all.lo == INT64_MIN || all.hi == INT64_MAX) return false;
        Size low(sum.offset), high(sum.offset);
        for_parts(sum, [&](int64_t factor, const Interval&, const Size& least, const Size& most) {
            (factor > 0 ? low : high) += Size(factor) * least;
            (factor > 0 ? high : low) += Size(factor) * most;
        });
        return proved_less_equal(Size(0), low) && proved_less_equal(high, extent - Size(1));
    }

  private:
    /// The size that a value is; null where it is none.
    static const Size* size_of(const Term& term) {
        const bool is_size = term.kind == Term::Kind::Value && term.node->op == Op::SizeValue;
        return is_size ? &term.node->as<SizeAttr>().size : nullptr;
    }

    /// An invocation knows its index as an i32, however large the sum of sizes could be.
    int64_t last_index(int axis) const {
        const int64_t n = invocations_.grid[static_cast<size_t>(axis)].upper_bound();
        return std::clamp<int64_t>(n - 1, 0, INT32_MAX - 1);
    }

    /// Visits the factors with the values that they meet: the index of an invocation lies in the
    /// grid, even in a partly filled group.
    template <class Visit>
    void for_parts(const Sum& sum, const Visit& visit) const {
        auto whole = [&](const Term& term) {
            if (term.kind == Term::Kind::Value) return false;
            const int64_t local = coefficient_of(sum, {Term::Kind::Local, term.axis}),
                          group = coefficient_of(sum, {Term::Kind::Group, term.axis});
            return local != 0 &&
                   group == local * invocations_.group[static_cast<size_t>(term.axis)];
        };
        for (const auto& [term, factor] : sum.terms) {
            const Size& n = invocations_.grid[static_cast<size_t>(term.axis)];
            if (const Size* size = size_of(term)) {
                visit(factor, range(term), *size, *size);
            } else if (!whole(term)) {
                const Interval of = range(term);
                visit(factor, of, Size(of.lo), Size(of.hi));
            } else if (term.kind == Term::Kind::Local) {
                visit(factor, Interval{0, last_index(term.axis)}, Size(0), n - Size(1));
            }
        }
    }

    /// a + times * b, of numbers that are not too large.
    static std::optional<Sum> sum(const std::optional<Sum>& a, const std::optional<Sum>& b,
                                  int64_t times) {
        if (!a || !b || largest_number(*b) > kLargest / std::max<int64_t>(1, std::abs(times)))
            return std::nullopt;
        Sum out = plus(*a, *b, times);
        return largest_number(out) <= kLargest ? std::optional(std::move(out)) : std::nullopt;
    }

    static std::optional<int64_t> number(const std::optional<Sum>& sum) {
        return sum && sum->terms.empty() ? std::optional(sum->offset) : std::nullopt;
    }

    /// The invocation's index along an axis, where the node is one; -1 for any other. The index
    /// along an axis of a tensor of the grid's last axes is one.
    int axis_of(const Node& node) const {
        const Node& at = without_expand(node);
        if (at.op == Op::Invocation) return at.as<IndexAttr>().axis;
        const Shape& grid = invocations_.grid;
        if (at.op != Op::Index || at.shape.size() > grid.size()) return -1;
        const size_t before = grid.size() - at.shape.size(),
                     axis = static_cast<size_t>(at.as<IndexAttr>().axis);
        return at.shape[axis] == grid[before + axis] ? static_cast<int>(before + axis) : -1;
    }

    std::optional<Sum> find(const Node& node) {
        auto input = [&](size_t k) { return of(*node.inputs[k]); };
        switch (node.op) {
            case Op::Constant:
                if (!node.dtype.is_integer()) return std::nullopt;
                return sum(Sum{}, Sum{{}, node.as<ConstantAttr>().value.i}, 1);
            case Op::Expand: return input(0);
            case Op::Invocation:
            case Op::Index: {
                const int axis = axis_of(node);
                if (axis < 0) return std::nullopt;
                const int64_t width = invocations_.group[static_cast<size_t>(axis)];
                return Sum{{{{Term::Kind::Local, axis}, 1}, {{Term::Kind::Group, axis}, width}}, 0};
            }
            case Op::Mod:
            case Op::Div: {
                const int axis = axis_of(*node.inputs[0]);
                if (axis < 0 || number(input(1)) != invocations_.group[static_cast<size_t>(axis)])
                    return std::nullopt;
                return Sum{
                    {{{node.op == Op::Mod ? Term::Kind::Local : Term::Kind::Group, axis}, 1}}, 0};
            }
            case Op::Add: return sum(input(0), input(1), 1);
            case Op::Sub: return sum(input(0), input(1), -1);
            case Op::Neg: return sum(Sum{}, input(0), -1);
            case Op::Mul:
                if (const auto times = number(input(1))) return sum(Sum{}, input(0), *times);
                if (const auto times = number(input(0))) return sum(Sum{}, input(1), *times);
                return std::nullopt;
            case Op::ShiftLeft:
                if (const auto count = number(input(1)))
                    return sum(Sum{}, input(0), int64_t{1} << (*count & 31));
                return std::nullopt;
            default: return std::nullopt;
        }
    }

    const Invocations& invocations_;
    std::unordered_map<const Node*, std::optional<Sum>> known_;
};

/// The difference of two indices, one of each of two invocations: terms that are the same for both,
/// and those that each has its own of.
class Difference {
  public:
    /// `exact`: neither wraps around.
    Difference(const Sums& sums, const Invocations& invocations, const Sum& a, const Sum& b,
               bool exact)
        : sums_(sums), exact_(exact) {
        const int64_t constant = a.offset - b.offset;
        range_ = {constant, constant}, congruence_ = {0, constant};
        plain_ = constant == 0;
        std::set<Term> terms;
        for (const Sum* sum : {&a, &b})
            for (const auto& [term, factor] : sum->terms) terms.insert(term);
        for (const Term& term : terms) {
            const int64_t of_a = coefficient_of(a, term), of_b = coefficient_of(b, term);
            const bool same = term.kind == Term::Kind::Group ? invocations.same_group
                                                             : term.kind == Term::Kind::Value &&
                                                                   !invocations.varies(*term.node);
            if (same)
                add(of_a - of_b, sums.range(term));
            else
                add(of_a, sums.range(term)), add(-of_b, sums.range(term));
            if (!same && of_a == of_b && term.kind != Term::Kind::Value)
                digits_.emplace_back(std::abs(of_a), term);
            else if (!same || of_a != of_b)
                plain_ = false;
        }
    }

    /// It is never 0.
    bool is_apart() const {
        if (exact_ && !contains(range_, 0)) return true;
        return !contains(exact_ ? congruence_ : wrapped(congruence_), 0);
    }

    /// Returns the terms that are equal for both invocations if the difference is 0: the digits of
    /// a number.
    std::vector<Term> equal_terms() const {
        if (!exact_ || !plain_) return {};
        std::vector<std::pair<int64_t, Term>> digits = digits_;
        std::sort(digits.begin(), digits.end());
        std::vector<Term> out;
        int64_t below = 0;  // the most that the digits before can differ by
        for (const auto& [factor, term] : digits) {
            if (factor <= below) return {};
            const Interval range = sums_.range(term);
            below += factor * (range.hi - range.lo);
            out.push_back(term);
        }
        return out;
    }

  private:
    void add(int64_t factor, Interval range) {
        range_ = range_ + Interval{factor, factor} * range;
        congruence_ = congruence_ + Congruence{std::abs(factor), 0};
    }

    const Sums& sums_;
    Interval range_;
    Congruence congruence_;
    bool exact_ = false, plain_ = false;  // plain: it is the sum of the digits' differences
    std::vector<std::pair<int64_t, Term>> digits_;
};

/// Returns whether the access touches exactly the element of its index, or none.
bool is_plain(const PlaceIndex& place) {
    return place.mode == Bounds::Constant || place.mode == Bounds::Unchecked;
}

}  // namespace

bool proved_apart(std::span<const PlaceIndex> a, std::span<const PlaceIndex> b,
                  const Invocations& invocations) {
    Sums sums(invocations);
    std::set<Term> equal;
    for (size_t k = 0; k < a.size(); ++k) {
        const auto of_a = sums.of(*a[k].index), of_b = sums.of(*b[k].index);
        if (!of_a || !of_b) continue;
        const bool a_inside = sums.inside(*of_a, a[k].extent),
                   b_inside = sums.inside(*of_b, b[k].extent);
        if ((!a_inside && !is_plain(a[k])) || (!b_inside && !is_plain(b[k]))) continue;
        const bool exact = (a_inside || contains(kAnyI32, sums.range(*of_a))) &&
                           (b_inside || contains(kAnyI32, sums.range(*of_b)));
        const Difference difference(sums, invocations, *of_a, *of_b, exact);
        if (difference.is_apart()) return true;
        for (const Term& term : difference.equal_terms()) equal.insert(term);
    }
    // They touch the same element only where all of these are equal: where they are the same
    // invocation.
    for (int axis = 0; axis < static_cast<int>(invocations.grid.size()); ++axis)
        for (const Term::Kind kind : {Term::Kind::Local, Term::Kind::Group}) {
            const Interval range = sums.range({kind, axis});
            const bool fixed =
                range.lo == range.hi || (kind == Term::Kind::Group && invocations.same_group);
            if (!fixed && !equal.contains({kind, axis})) return false;
        }
    return true;
}

bool touches_only_index(const PlaceIndex& place, const Invocations& invocations) {
    if (is_plain(place)) return true;
    Sums sums(invocations);
    const auto sum = sums.of(*place.index);
    return sum && sums.inside(*sum, place.extent);
}

}  // namespace firn
