// Finds tapes in which loops keep the states of carried values.
#include "compiler/passes/state_tapes.h"

#include <map>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/host_size.h"
#include "compiler/ir/tape.h"
#include "compiler/schedule/element_loops.h"

namespace firn {
namespace {

/// True if the node stores all of a value into one slot of a tape.
bool stores_a_state(const Node& store) {
    if (store.op != Op::Scatter) return false;
    const ScatterAttr& attr = store.as<ScatterAttr>();
    if (attr.op != ScatterOp::Last || !attr.unique || attr.by_hand) return false;
    const int rank = store.inputs[1]->rank();
    if (store.rank() != rank + 1) return false;
    for (int axis = 0; axis < rank; ++axis) {
        const Node& place = *store.inputs[static_cast<size_t>(axis) + 3];
        if (place.op != Op::Index || place.as<IndexAttr>().axis != axis ||
            !(store.shape[static_cast<size_t>(axis) + 1] ==
              store.inputs[1]->shape[static_cast<size_t>(axis)]))
            return false;
    }
    return true;
}

const Node& slot_of(const Node& store) { return without_expand(*store.inputs[2]); }

bool is_next(const Node& slot, const Ref& iteration) {
    return slot.op == Op::Add && slot.inputs[0] == iteration && is_number(*slot.inputs[1], 1);
}

/// Returns where an iteration stores carried value `k`, if `store` into tape `t` stores it.
StateTape kept_by(const Node& loop, const Node& store, size_t t, size_t k) {
    const Region& body = *loop.as<LoopAttr>().body;
    const Ref& iteration = body.args[0];
    if (&slot_of(store) == iteration.get() && store.inputs[1] == body.args[k + 1])
        return {t, false};
    const Node& first = *loop.inputs[t + 3];
    if (is_next(slot_of(store), iteration) && store.inputs[1] == body.results[k] &&
        stores_a_state(first) && first.inputs[1] == loop.inputs[k + 3] &&
        is_number(slot_of(first), 0))
        return {t, true};
    return {};
}

}  // namespace

std::vector<StateTape> state_tapes(const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region& body = *attr.body;
    std::vector<StateTape> out(body.results.size());
    if (attr.active >= 0 || attr.open || !attr.sizes.empty() || attr.by_hand()) return out;
    UseCounts uses = count_uses(topological(body.results));
    for (const Ref& next : body.results) ++uses[next.get()];
    for (size_t t = 0; t < body.results.size(); ++t) {
        const Ref &tape = body.args[t + 1], &store = body.results[t];
        if (!stores_a_state(*store) || store->inputs[0] != tape || store->as<ScatterAttr>().part ||
            uses[tape.get()] != 1 || uses[store.get()] != 1)
            continue;
        for (size_t k = 0; k < out.size(); ++k)
            if (!out[k]) out[k] = kept_by(loop, *store, t, k);
    }
    return out;
}

bool has_last_slot(const Node& loop, const Size& slots,
                   const std::unordered_map<const Node*, Size>& inductions,
                   const SymbolFacts& facts) {
    if (!is_number(*loop.inputs[0], 0) || !is_number(*loop.inputs[2], 1)) return false;
    const auto end = host_size(*loop.inputs[1], inductions);
    if (!end) return false;
    return end->upper_bound(facts.largest) < slots.lower_bound() ||
           proved_less_equal(max(*end, Size(0)) + Size(1), slots);
}

Ref last_state(NodeTable& table, const Node& like, const Ref& loop, size_t tape) {
    const Builder b{table, first_line(like.lines)};
    return state_at(b, result(b, loop, static_cast<int>(tape)),
                    elementwise(b, Op::Max, {loop->inputs[1], constant_int(b, 0)}));
}

Graph read_last_states(NodeTable& table, const Graph& graph, const SymbolFacts& facts) {
    const RegionFacts regions = region_facts(graph);
    std::unordered_map<const Node*, std::vector<const Node*>> asked;
    for (const Ref& ref : regions.order)
        if (ref->op == Op::Result && ref->inputs[0]->op == Op::Loop &&
            regions.host_loops.contains(ref->inputs[0].get()))
            asked[ref->inputs[0].get()].push_back(ref.get());
    std::unordered_map<const Node*, size_t> in_tape;  // by result, its tape's place
    for (const auto& [loop, results] : asked) {
        const std::vector<StateTape> tapes = state_tapes(*loop);
        std::unordered_map<const Node*, size_t> found;
        Graph others;
        bool all = true;
        for (const Node* value : results) {
            const auto k = static_cast<size_t>(value->as<ResultAttr>().index);
            const bool kept =
                tapes[k] && tapes[k].ends &&
                has_last_slot(*loop, loop->inputs[tapes[k].place + 3]->shape[0], {}, facts);
            if (kept)
                found[value] = tapes[k].place;
            else
                all &= !accumulation(*loop, k).empty();
            const size_t given = kept ? tapes[k].place : k;
            others.results.push_back(result({table}, value->inputs[0], static_cast<int>(given)));
        }
        if (all && !found.empty() && !region_facts(others).host_loops.contains(loop))
            in_tape.merge(found);
    }
    if (in_tape.empty()) return graph;
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        const auto found = in_tape.find(&node);
        return found == in_tape.end() ? nullptr : last_state(table, node, inputs[0], found->second);
    };
    Graph out = graph;
    out.results = rewrite(table, graph.results, visit);
    return out;
}

}  // namespace firn
