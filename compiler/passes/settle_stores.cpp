// Stores at computed indices: which position wins is settled by combining stores, which do not
// depend on order.
#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/distinct_positions.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

/// Every position stores the same value: it does not matter which one wins.
bool stores_one_value(const Node& values) {
    return element_count(values.shape).is(1) ||
           (values.op == Op::Expand && element_count(values.inputs[0]->shape).is(1));
}

Ref filled(const Builder& b, int64_t value, const Shape& shape) {
    return expand(b, constant_int(b, value), shape);
}

/// For every element of the target the last position that stores there, -1 where none does.
Ref last_position(const Builder& b, const Shape& target, const Shape& positions,
                  std::vector<Ref> indices) {
    const Size count = element_count(positions);
    Ref position = reshape(b, index(b, {count}, 0), positions);
    return scatter(b, filled(b, -1, target), position, std::move(indices),
                   {.op = ScatterOp::Max, .finds_last = true});
}

Ref read_by_owner(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
    const Ref &target = inputs[0], &values = inputs[1];
    Ref owner = last_position(b, target->shape, values->shape, {inputs.begin() + 2, inputs.end()});
    Ref zero = filled(b, 0, target->shape);
    Ref written = elementwise(b, Op::LessEqual, {zero, owner});
    Ref flat = reshape(b, values, {element_count(values->shape)});
    Ref stored = gather(b, flat, {elementwise(b, Op::Max, {owner, zero})}, {Bounds::Unchecked},
                        scalar_int(0));
    Ref made = elementwise(b, Op::Select, {written, stored, target});
    note_lines(*made, node.lines);
    return made;
}

}  // namespace

Graph settle_stores(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Scatter || node.as<ScatterAttr>().by_hand) return nullptr;
        if (element_count(inputs[1]->shape).is(0)) return inputs[0];  // there is no position
        std::vector<Guard> known;  // shapes that met here have met before
        Builder b{table, first_line(node.lines), &known};
        const ScatterAttr& attr = node.as<ScatterAttr>();
        if (attr.op == ScatterOp::Last) {
            const std::vector<Ref> indices(inputs.begin() + 2, inputs.end());
            Ref same = scatter(b, inputs[0], inputs[1], indices, attr);
            // The promise of a whole permutation was the branch's.
            if (attr.complete && leaves_some_out(*indices[0]))
                return scatter(b, inputs[0], inputs[1], indices, {attr.op, attr.unique});
            if (is_invertible_store(*same) || attr.unique || stores_one_value(*inputs[1]))
                return nullptr;
            if (has_distinct_positions(*same)) {
                if (fired) ++(*fired)["distinct positions"];
                ScatterAttr distinct = attr;
                distinct.unique = true;
                return scatter(b, inputs[0], inputs[1], indices, distinct);
            }
            if (fired) ++(*fired)["read by owner"];
            return read_by_owner(b, node, inputs);
        }
        if (!node.dtype.is_half()) return nullptr;
        if (fired) ++(*fired)["combine in f32"];
        return cast(b,
                    scatter(b, cast(b, inputs[0], f32), cast(b, inputs[1], f32),
                            {inputs.begin() + 2, inputs.end()}, attr),
                    node.dtype);
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
