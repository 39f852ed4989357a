// Loops of kernels that keep every state of a carried value in its tape only.
#include "compiler/passes/profiled/kept_states.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/tape.h"
#include "compiler/kernel/bindings.h"
#include "compiler/passes/state_tapes.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/regions.h"

namespace firn {
namespace {

constexpr int64_t kVector = 4;  // elements that a kernel loads at once

class Keeper {
  public:
    Keeper(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
           const SymbolFacts& facts)
        : table_(table),
          graph_(graph),
          profile_(profile),
          facts_(facts),
          regions_(region_facts(graph)),
          inductions_(host_inductions(regions_)) {}

    Graph run() {
        const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (node.op != Op::Result) return nullptr;
            const auto changed = results_.find(node.inputs[0].get());
            if (changed == results_.end()) return nullptr;
            return result_of(node, inputs[0], changed->second);
        };
        const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
            return regions_.host_loops.contains(&node) ? kept_once(node, made) : nullptr;
        };
        Graph out = graph_;
        out.results = rewrite(table_, graph_.results, visit, {}, visit_region);
        return out;
    }

  private:
    /// The place of a carried value of the original loop: a new place, or the last slot of a tape.
    struct Fate {
        size_t place = 0;
        bool in_tape = false;
    };

    /// The new loop, while it is built.
    struct Remade {
        Region body;
        std::vector<Ref> inits;  // after its bounds
        std::unordered_map<const Node*, Ref> replaced;
        std::vector<Fate> fates;
    };

    Builder builder(const Node& node) const { return {table_, first_line(node.lines)}; }

    /// True if a kernel loads a state from the tape as it would load the value: as many elements at
    /// once, through the same kind of binding.
    bool reads_as_well(const Node& state, const Node& tape) const {
        const auto form = [&](const Node& value) {
            return binding_form(bound_value(value, false), profile_, facts_);
        };
        return state.dtype.bytes() >= 4 && element_count(state.shape).divisor() % kVector == 0 &&
               form(state) == form(tape);
    }

    std::vector<StateTape> tapes_of(const Node& original, const Node& loop) const {
        const Region& body = *loop.as<LoopAttr>().body;
        std::vector<StateTape> out = state_tapes(loop);
        for (size_t k = 0; k < out.size(); ++k) {
            if (!out[k]) continue;
            const Node& tape = *body.args[out[k].place + 1];
            if (!has_last_slot(original, tape.shape[0], inductions_, facts_) ||
                !reads_as_well(*body.args[k + 1], tape))
                out[k] = {};
        }
        return out;
    }

    Ref kept_once(const Node& original, const Ref& made) {
        const std::vector<StateTape> tapes = tapes_of(original, *made);
        if (std::all_of(tapes.begin(), tapes.end(), [](const StateTape& tape) { return !tape; }))
            return made;
        Remade out;
        const Builder b = builder(original);
        carry_others(b, *made, tapes, out);
        read_states(b, *made, tapes, out);
        store_next(b, *made, tapes, out);
        results_[&original] = std::move(out.fates);
        LoopAttr attr = made->as<LoopAttr>();
        attr.body = std::make_shared<Region>(std::move(out.body));
        attr.host = true;  // as it was, also where each element reads no other
        Ref loop =
            table_.intern(Op::Loop, made->dtype, made->shape, std::move(out.inits), attr, b.line);
        note_lines(*loop, original.lines);
        return loop;
    }

    /// Adds arguments for all carried values but those that tapes keep.
    static void carry_others(const Builder& b, const Node& loop,
                             const std::vector<StateTape>& tapes, Remade& out) {
        const Region& body = *loop.as<LoopAttr>().body;
        const auto add_arg = [&](const Ref& arg) {
            out.body.args.push_back(region_arg(b, arg->dtype, arg->shape));
            note_lines(*out.body.args.back(), arg->lines);
            out.replaced[arg.get()] = out.body.args.back();
        };
        out.inits.assign(loop.inputs.begin(), loop.inputs.begin() + 3);
        out.fates.resize(tapes.size());
        add_arg(body.args[0]);
        for (size_t k = 0; k < tapes.size(); ++k) {
            if (tapes[k]) continue;
            out.fates[k].place = out.inits.size() - 3;
            out.inits.push_back(loop.inputs[k + 3]);
            add_arg(body.args[k + 1]);
        }
    }

    /// Reads kept values from their tapes. Slot 0 holds what the first iteration starts with.
    static void read_states(const Builder& b, const Node& loop, const std::vector<StateTape>& tapes,
                            Remade& out) {
        const Region& body = *loop.as<LoopAttr>().body;
        for (size_t k = 0; k < tapes.size(); ++k) {
            if (!tapes[k]) continue;
            const size_t place = out.fates[tapes[k].place].place;
            out.fates[k] = {place, true};
            Ref& init = out.inits[place + 3];
            if (!tapes[k].ends)
                init = with_state(b, init, loop.inputs[k + 3], constant_int(b, 0), true);
            out.replaced[body.args[k + 1].get()] =
                state_at(b, out.body.args[place + 1], out.body.args[0]);
        }
    }

    /// Stores to each tape what would have been the next value of what it keeps.
    void store_next(const Builder& b, const Node& loop, const std::vector<StateTape>& tapes,
                    Remade& out) const {
        std::vector<Ref> next = loop.as<LoopAttr>().body->results;
        std::vector<bool> is_tape(next.size());
        for (size_t k = 0; k < tapes.size(); ++k)
            if (const size_t tape = tapes[k].place; tapes[k] && !tapes[k].ends)
                next[tape] = next[k], is_tape[tape] = true;
        next = substitute(table_, next, out.replaced);
        const Ref slot = elementwise(b, Op::Add, {out.body.args[0], constant_int(b, 1)});
        for (size_t k = 0; k < tapes.size(); ++k) {
            if (tapes[k]) continue;
            const Ref& own = out.body.args[out.fates[k].place + 1];
            out.body.results.push_back(is_tape[k] ? with_state(b, own, next[k], slot) : next[k]);
        }
    }

    Ref result_of(const Node& node, const Ref& loop, const std::vector<Fate>& fates) const {
        const Fate& fate = fates[static_cast<size_t>(node.as<ResultAttr>().index)];
        if (fate.in_tape) return last_state(table_, node, loop, fate.place);
        return result(builder(node), loop, static_cast<int>(fate.place));
    }

    NodeTable& table_;
    const Graph& graph_;
    const DeviceProfile& profile_;
    const SymbolFacts& facts_;
    const RegionFacts regions_;
    const std::unordered_map<const Node*, Size> inductions_;
    std::unordered_map<const Node*, std::vector<Fate>> results_;  // by the original loop
};

}  // namespace

Graph keep_states_once(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    return Keeper(table, graph, profile, facts).run();
}

}  // namespace firn
