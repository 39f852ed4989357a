// Divides the values of a loop's body by what they depend on.
#include "compiler/passes/profiled/loop_parts.h"

#include <algorithm>

#include "compiler/schedule/element_loops.h"

namespace firn {
namespace {

/// True if the same operation over all iterations at once computes the node, for all values that
/// the iterations give.
bool is_for_all(const Node& node) {
    if (!is_elementwise(node.op) && !is_movement(node.op) && node.op != Op::Gather &&
        node.op != Op::Reduce)
        return false;
    bool known = true;
    for_sizes(node, [&](const Size& size) { known &= data_symbols(size).empty(); });
    return known;
}

void find_terms(const UseCounts& uses, LoopParts& out) {
    const Region& body = out.body();
    out.terms.resize(body.results.size());
    out.negated.resize(body.results.size());
    for (size_t k = 0; k < body.results.size(); ++k) {
        const Node& next = *body.results[k];
        const Ref& arg = body.args[k + 1];
        if ((next.op != Op::Add && next.op != Op::Sub) || uses.at(&next) != 1) continue;
        const auto used = uses.find(arg.get());
        if (used == uses.end() || used->second != 1) continue;
        out.negated[k] = next.op == Op::Sub;
        if (next.inputs[0] == arg)
            out.terms[k] = next.inputs[1];
        else if (next.inputs[1] == arg && next.op == Op::Add)
            out.terms[k] = next.inputs[0];
    }
}

}  // namespace

LoopParts loop_parts(const Ref& loop) {
    LoopParts out;
    out.loop = loop;
    const Region& body = out.body();
    for (size_t k = 0; k < body.args.size(); ++k) {
        out.inside.insert(body.args[k].get());
        if (k > 0) out.recurrent.insert(body.args[k].get());
    }
    const std::vector<Ref> all = topological(body.results);
    for (const Ref& node : all) {
        bool inside = out.inside.contains(node.get()), waits = false;
        for (const std::vector<Ref>& values : {node->inputs, region_results(*node)})
            for (const Ref& value : values) {
                inside |= out.inside.contains(value.get());
                waits |= out.recurrent.contains(value.get());
            }
        if (!inside) continue;
        out.inside.insert(node.get());
        if (node->op == Op::RegionArg) continue;
        if (!is_for_all(*node)) out.single.insert(node.get());
        if (waits || out.single.contains(node.get())) out.recurrent.insert(node.get());
    }
    NodeSet reached;
    for (const Ref& next : body.results) reached.insert(next.get());
    for (size_t k = all.size(); k-- > 0;) {
        if (!reached.contains(all[k].get()) || !out.inside.contains(all[k].get())) continue;
        for (const Ref& input : all[k]->inputs) reached.insert(input.get());
        out.order.push_back(all[k]);
    }
    std::reverse(out.order.begin(), out.order.end());
    UseCounts uses = count_uses(all);
    for (const Ref& next : body.results) ++uses[next.get()];
    find_terms(uses, out);
    return out;
}

Flags sums(const LoopParts& parts) {
    Flags out;
    for (const Ref& term : parts.terms) out.push_back(term != nullptr);
    return out;
}

Flags sums_across(const LoopParts& parts) {
    NodeSet across;
    for (const Ref& node : parts.order) {
        const bool reads = !is_elementwise(node->op) && node->op != Op::Expand;
        for (const Ref& input : node->inputs)
            if (across.contains(input.get()) || (reads && parts.recurrent.contains(input.get())))
                across.insert(node.get());
    }
    Flags out;
    for (const Ref& term : parts.terms) out.push_back(term && across.contains(term.get()));
    return out;
}

namespace {

/// Returns the nodes of the body that the next values of what is not moved need.
NodeSet kept_nodes(const LoopParts& parts, const Flags& moved) {
    std::vector<Ref> next;
    for (size_t k = 0; k < moved.size(); ++k)
        if (!moved[k]) next.push_back(parts.body().results[k]);
    NodeSet out;
    for (const Ref& node : topological(next))
        if (parts.inside.contains(node.get())) out.insert(node.get());
    return out;
}

/// True if the loop computes the value in every iteration, and no other place does.
bool is_given(const LoopParts& parts, const NodeSet& kept, const Ref& value) {
    return parts.recurrent.contains(value.get()) &&
           (kept.contains(value.get()) || value->op == Op::RegionArg);
}

/// Returns the nodes between the loop's values and `terms`, which are computed after the loop.
std::vector<Ref> nodes_behind(const LoopParts& parts, const NodeSet& kept,
                              const std::vector<Ref>& terms) {
    NodeSet reached;
    for (const Ref& term : terms) reached.insert(term.get());
    std::vector<Ref> out;
    for (size_t k = parts.order.size(); k-- > 0;) {
        const Ref& node = parts.order[k];
        if (!reached.contains(node.get()) || node->op == Op::RegionArg ||
            is_given(parts, kept, node))
            continue;
        for (const Ref& input : node->inputs) reached.insert(input.get());
        out.push_back(node);
    }
    std::reverse(out.begin(), out.end());
    return out;
}

/// Removes tapes whose values follow, at each place, from the values of other tapes.
void leave_what_follows(const LoopParts& parts, std::vector<Ref>& tapes) {
    const auto follows = [&](const Ref& value) {
        return is_elementwise(value->op) && !parts.single.contains(value.get()) &&
               std::all_of(value->inputs.begin(), value->inputs.end(), [&](const Ref& input) {
                   return !parts.recurrent.contains(input.get()) ||
                          std::find(tapes.begin(), tapes.end(), input) != tapes.end();
               });
    };
    for (auto at = tapes.begin(); at != tapes.end();)
        if (follows(*at))
            tapes.erase(at), at = tapes.begin();
        else
            ++at;
}

}  // namespace

LoopCut cut_loop(const LoopParts& parts, Flags moved) {
    for (size_t k = 0; k < moved.size(); ++k) {
        if (!moved[k]) continue;
        for (const Ref& node : nodes_behind(parts, kept_nodes(parts, moved), {parts.terms[k]}))
            if (parts.single.contains(node.get())) moved[k] = false;
    }
    LoopCut out;
    out.moved = moved;
    for (size_t k = 0; k < moved.size(); ++k)
        if (moved[k]) out.terms.push_back(parts.terms[k]);
    out.kept = kept_nodes(parts, moved);
    out.behind = nodes_behind(parts, out.kept, out.terms);
    const auto keep = [&](const Ref& value) {
        if (is_given(parts, out.kept, value) &&
            std::find(out.tapes.begin(), out.tapes.end(), value) == out.tapes.end())
            out.tapes.push_back(value);
    };
    for (const Ref& node : out.behind)
        for (const Ref& input : node->inputs) keep(input);
    for (const Ref& term : out.terms) keep(term);
    leave_what_follows(parts, out.tapes);
    return out;
}

}  // namespace firn
