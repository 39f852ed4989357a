// The trip count of a loop, as far as its bounds tell.
#include "compiler/autodiff/loop_trips.h"

#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <utility>

#include "compiler/autodiff/reverse_run.h"
#include "compiler/ir/host_size.h"
#include "compiler/ir/value_bounds.h"

namespace firn {

namespace {

constexpr size_t kEndSteps = 200;  // nodes of a number that are followed

/// Bounds of an integer, as far as the host knows them.
struct Ends {
    std::optional<Size> least, most;
};

template <class Combine>
std::optional<Size> of_both(const std::optional<Size>& a, const std::optional<Size>& b,
                            const Combine& combine) {
    return a && b ? std::optional<Size>(combine(*a, *b)) : std::nullopt;
}

/// The same, where one of the two is a bound already.
template <class Combine>
std::optional<Size> of_any(const std::optional<Size>& a, const std::optional<Size>& b,
                           const Combine& combine) {
    return a && b ? of_both(a, b, combine) : a ? a : b;
}

/// Each node is followed once. Sizes go on as sizes: a bound of numbers alone would be as large as
/// a symbol can be.
class EndFinder {
  public:
    Ends of(const Node& node) {
        if (const auto it = known_.find(&node); it != known_.end()) return it->second;
        if (known_.size() >= kEndSteps) return {};
        known_[&node] = {};
        Ends out = find(node);
        if (node.dtype == i32 && (!out.least || !out.most)) {
            const Interval all = value_bounds(node, {});
            if (!out.least && all.lo > std::numeric_limits<int32_t>::min()) out.least = all.lo;
            if (!out.most && all.hi < std::numeric_limits<int32_t>::max()) out.most = all.hi;
        }
        return known_[&node] = out;
    }

  private:
    Ends find(const Node& node) {
        if (const auto known = host_size(node, {})) return {known, known};
        const auto input = [&](size_t k) { return of(*node.inputs[k]); };
        const auto add = [](const Size& a, const Size& b) { return a + b; };
        const auto subtract = [](const Size& a, const Size& b) { return a - b; };
        const auto smaller = [](const Size& a, const Size& b) { return min(a, b); };
        const auto larger = [](const Size& a, const Size& b) { return max(a, b); };
        switch (node.op) {
            case Op::Add: {
                const Ends a = input(0), b = input(1);
                return {of_both(a.least, b.least, add), of_both(a.most, b.most, add)};
            }
            case Op::Sub: {
                const Ends a = input(0), b = input(1);
                return {of_both(a.least, b.most, subtract), of_both(a.most, b.least, subtract)};
            }
            case Op::Min: {
                const Ends a = input(0), b = input(1);
                return {of_both(a.least, b.least, smaller), of_any(a.most, b.most, smaller)};
            }
            case Op::Max: {
                const Ends a = input(0), b = input(1);
                return {of_any(a.least, b.least, larger), of_both(a.most, b.most, larger)};
            }
            case Op::Select: {
                const Ends a = input(1), b = input(2);
                return {of_both(a.least, b.least, smaller), of_both(a.most, b.most, larger)};
            }
            case Op::Mul: return product(input(0), input(1));
            case Op::Div: {
                const Ends a = input(0), b = input(1);
                if (!from(a.least, 0) || !from(b.least, 1)) return {};
                Ends out{Size(0), std::nullopt};
                if (a.most) out.most = floor_div(*a.most, *b.least);
                return out;
            }
            case Op::Mod: {
                const Ends a = input(0), b = input(1);
                if (!from(a.least, 0) || !from(b.least, 1)) return {};
                Ends out{Size(0), a.most};
                if (b.most) out.most = of_any(a.most, *b.most - Size(1), smaller);
                return out;
            }
            default: return {};
        }
    }

    static bool from(const std::optional<Size>& least, int64_t begin) {
        return least && least->lower_bound() >= begin;
    }

    static Ends product(const Ends& a, const Ends& b) {
        const auto multiply = [](const Size& x, const Size& y) { return x * y; };
        if (from(a.least, 0) && from(b.least, 0))
            return {*a.least * *b.least, of_both(a.most, b.most, multiply)};
        for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
            if (!one.least || !one.most || !(*one.least == *one.most)) continue;
            const Size& by = *one.least;
            if (by.lower_bound() >= 0)
                return {of_both(other.least, by, multiply), of_both(other.most, by, multiply)};
            if (by.upper_bound() <= 0)
                return {of_both(other.most, by, multiply), of_both(other.least, by, multiply)};
        }
        return {};
    }

    std::unordered_map<const Node*, Ends> known_;
};

}  // namespace

std::optional<Size> upper_bound_of(const Node& node) { return EndFinder().of(node).most; }

Trips trips_of(const Builder& b, const Node& loop) {
    const Ref &begin = loop.inputs[0], &end = loop.inputs[1];
    const auto by = host_size(*loop.inputs[2], {});
    if (!by || !by->is_constant())
        refuse_gradient(loop, "loops whose step only the data knows: count by a number");
    const bool up = by->constant() > 0;
    const Ref &low = up ? begin : end, &high = up ? end : begin;
    const int64_t pace = std::abs(by->constant());
    const auto first = host_size(*low, {}), last = host_size(*high, {});
    if (first && last) {
        const Size known = max(ceil_div(*last - *first, Size(pace)), Size(0));
        return {size_value(b, known), known};
    }
    const Ref way = elementwise(b, Op::Sub, {high, low});
    const Ref trips = pace == 1
                          ? way
                          : elementwise(b, Op::Div,
                                        {elementwise(b, Op::Add, {way, constant_int(b, pace - 1)}),
                                         constant_int(b, pace)});
    Trips out{elementwise(b, Op::Max, {trips, constant_int(b, 0)}), std::nullopt};
    const auto most = upper_bound_of(*way);
    if (most) out.most = max(ceil_div(*most, Size(pace)), Size(0));
    return out;
}

}  // namespace firn
