// Large reductions with few results become stages that keep the whole device busy.
#include "compiler/schedule/split_reductions.h"

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/schedule/access.h"

namespace firn {
namespace {

constexpr int64_t kSmallReduction = 2048;    // elements that one invocation reduces alone
constexpr int64_t kColumns = 256;            // neighbouring partial results of one run
constexpr int64_t kRows = 256;               // elements of one partial result

/// Reduces the last axis (extent `count`) of x, shape [outer..., count].
Ref reduce_last(Builder b, ReduceOp op, const Ref& x, const SymbolFacts& facts) {
    const Size& count = x->shape.back();
    const int axis = x->rank() - 1;
    if (count.upper_bound(facts.largest) <= kSmallReduction) return reduce(b, op, x, {axis}, false);
    const int64_t rows = count.is_constant()
                             ? std::clamp<int64_t>(count.constant() / kColumns / 4, 8, kRows)
                             : kRows;
    // [outer, groups, rows, columns]: neighbours in a row are read together by neighbouring invocations.
    const int64_t block = rows * kColumns;
    const bool exact = count.divisor(facts.divisors) % block == 0;
    const Size groups = exact ? floor_div(count, Size(block)) : ceil_div(count, Size(block));
    const Size padded = groups * Size(block);
    Ref whole = x;
    if (!exact) {
        std::vector<Size> before(x->shape.size(), Size(0)), after = before;
        after.back() = padded - count;
        whole = pad(b, x, before, after, reduce_identity(op, x->dtype));
    }
    Shape outer(x->shape.begin(), x->shape.end() - 1);
    Shape split = outer, flat = outer;
    split.insert(split.end(), {groups, Size(rows), Size(kColumns)});
    flat.push_back(groups * Size(kColumns));
    const Ref partial = reduce(b, op, reshape(b, whole, split), {x->rank()}, false);
    return reduce_last(b, op, reshape(b, partial, flat), facts);
}

}  // namespace

Graph split_reductions(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    // As many results as keep every invocation slot busy several times over.
    const double enough = profile.parallel_invocations * (profile.device_class == DeviceClass::Cpu ? 16 : 4);
    Graph out = graph;
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Reduce) return nullptr;
        const auto& attr = node.as<ReduceAttr>();
        Size count(1);
        for (int axis : attr.axes) count = count * inputs[0]->shape[axis];
        const double turns = static_cast<double>(count.upper_bound(facts.largest));
        const double results = estimate(element_count(node.shape), facts);
        const bool cut_off = profile.max_back_edges && turns > profile.max_back_edges;
        if (turns <= kSmallReduction || (results >= enough && !cut_off)) return nullptr;
        Builder b{table, node.lines.empty() ? SourceLine{} : node.lines[0], &out.guards};
        std::vector<int> order;
        Shape outer;
        for (int axis = 0; axis < inputs[0]->rank(); ++axis)
            if (std::find(attr.axes.begin(), attr.axes.end(), axis) == attr.axes.end()) {
                order.push_back(axis);
                outer.push_back(inputs[0]->shape[axis]);
            }
        order.insert(order.end(), attr.axes.begin(), attr.axes.end());
        Shape rows = outer;
        rows.push_back(count);
        // Partial sums keep the accumulator's type.
        const DType type = inputs[0]->dtype == f16 && attr.op == ReduceOp::Sum ? f32 : inputs[0]->dtype;
        const Ref last = reshape(b, permute(b, cast(b, inputs[0], type), order), rows);
        return cast(b, reduce_last(b, attr.op, last, facts), node.dtype);
    };
    out.results = rewrite(table, graph.results, visit);
    return out;
}

}  // namespace firn
