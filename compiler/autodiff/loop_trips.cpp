// How often a loop runs, as far as its bounds tell.
#include "compiler/autodiff/loop_trips.h"

#include <cstdlib>
#include <limits>

#include "compiler/autodiff/reverse_run.h"
#include "compiler/ir/host_size.h"
#include "compiler/ir/value_bounds.h"

namespace firn {

std::optional<Size> most_of(const Node& node) {
    if (const auto known = host_size(node, {})) return known;
    const auto input = [&](size_t k) { return most_of(*node.inputs[k]); };
    if (node.op == Op::Min) {
        const auto a = input(0);
        return a ? a : input(1);
    }
    if (node.op == Op::Max || node.op == Op::Add) {
        const auto a = input(0), c = input(1);
        if (a && c) return node.op == Op::Max ? max(*a, *c) : *a + *c;
    }
    if (node.op == Op::Sub) {
        const auto a = input(0), c = host_size(*node.inputs[1], {});
        if (a && c) return *a - *c;
    }
    const int64_t most = value_bounds(node, {}).hi;
    return most < std::numeric_limits<int32_t>::max() ? std::optional(Size(most)) : std::nullopt;
}

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
    const auto most = most_of(*way);
    if (most) out.most = max(ceil_div(*most, Size(pace)), Size(0));
    return out;
}

}  // namespace firn
