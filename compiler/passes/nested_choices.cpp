// Simplifies selects under the condition of a select around them, whose value is known there.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/node_map.h"
#include "compiler/ir/pattern.h"
#include "compiler/passes/passes.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr size_t kMostBelow =
    4096;  // nodes that one Select looks at: time stays linear in the graph

constexpr int kFollowed = 100;          // terms of a condition
constexpr size_t kMostConditions = 16;  // of a loop, each of which looks at all of its body

/// One of 64 marks, by which most values show that they do not depend on a condition.
uint64_t mark_of(const Node& condition) {
    return uint64_t{1} << (without_expand(condition).serial % 64);
}

/// Conditions that hold, or do not: one, and those that it implies.
struct Facts {
    std::unordered_map<const Node*, bool> known;  // at their roots
    uint64_t marks = 0, oldest = UINT64_MAX;

    Facts(const Node& condition, bool holds) {
        std::vector<std::pair<const Node*, bool>> open{{&condition, holds}};
        while (!open.empty()) {
            const Node& node = without_expand(*open.back().first);
            const bool value = open.back().second;
            open.pop_back();
            if (node.op == Op::Constant || !known.emplace(&node, value).second) continue;
            marks |= mark_of(node);
            oldest = std::min(oldest, node.serial);
            auto follows = [&](size_t k, bool v) { open.emplace_back(node.inputs[k].get(), v); };
            if (node.op == Op::Not) follows(0, !value);
            if ((node.op == Op::And && value) || (node.op == Op::Or && !value))
                follows(0, value), follows(1, value);
            if (node.op != Op::Select) continue;
            // A result that differs from one side came from the other.
            for (size_t side = 1; side <= 2; ++side)
                if (const auto constant = constant_value(*node.inputs[side]);
                    constant && (constant->i != 0) != value)
                    follows(0, side == 2), follows(3 - side, value);
        }
    }

    std::optional<bool> value(const Node& condition) const {
        const Node& node = without_expand(condition);
        if (const auto at = known.find(&node); at != known.end()) return at->second;
        if (node.op != Op::Not) return std::nullopt;
        const auto at = known.find(&without_expand(*node.inputs[0]));
        return at == known.end() ? std::nullopt : std::optional(!at->second);
    }
};

class NestedChoices {
  public:
    NestedChoices(NodeTable& table, const Graph& graph, RuleCounts* fired)
        : table_(table), graph_(graph), fired_(fired) {}

    Graph run() {
        find_doubled();
        auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (node.op == Op::Result) return after_loop(node, inputs[0]);
            if (node.op != Op::Select || constant_value(*inputs[0])) return nullptr;
            Remade in_yes, in_no;
            Ref yes = inputs[1], no = inputs[2];
            if (!doubled_[0].contains(&node)) yes = below(yes, Facts(*inputs[0], true), &in_yes);
            if (!doubled_[1].contains(&node)) no = below(no, Facts(*inputs[0], false), &in_no);
            // A node that one side or the condition needs unchanged is not computed in another form
            // too.
            if (needs({inputs[0], no}, in_yes)) yes = inputs[1];
            if (needs({inputs[0], yes}, in_no)) no = inputs[2];
            if (yes == inputs[1] && no == inputs[2]) return nullptr;
            if (fired_) ++(*fired_)["choice inside a choice"];
            return again(node, {inputs[0], yes, no});
        };
        auto visit_region = [&](const Node&, const Ref& made) {
            if (made->op != Op::Loop) return Ref();
            const Ref chosen = around(made);
            return chosen ? chosen : until_still(made);
        };
        return {graph_.args, rewrite(table_, graph_.results, visit, {}, visit_region),
                graph_.guards, graph_.data_sizes};
    }

  private:
    Ref again(const Node& node, std::vector<Ref> inputs) {
        std::vector<Guard> known;  // sizes that meet here have met before
        const Builder b{table_, first_line(node.lines), &known};
        Ref made = folded(b, node, inputs);
        if (!made) made = of_constants(b, node, inputs);
        if (!made) made = remake(b, node, std::move(inputs), node.attr);
        note_lines(*made, node.lines);
        return made;
    }

    /// Returns the result of an operation on constants, so that conditions on it are known; null
    /// for others.
    static Ref of_constants(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
        if (!is_elementwise(node.op)) return nullptr;
        std::vector<Scalar> values;
        for (const Ref& input : inputs) {
            const auto value = constant_value(*input);
            if (!value) return nullptr;
            values.push_back(*value);
        }
        return expand(b, constant(b, evaluate(node.op, node.dtype, values)), node.shape);
    }

    static Ref truth(const Builder& b, bool value, const Shape& shape) {
        return expand(b, constant(b, scalar_bool(value)), shape);
    }

    /// A condition of which a part is known; null for any other node.
    static Ref folded(const Builder& b, const Node& node, const std::vector<Ref>& inputs) {
        if (!node.dtype.is_bool() ||
            (node.op != Op::And && node.op != Op::Or && node.op != Op::Not))
            return nullptr;
        for (size_t k = 0; k < inputs.size(); ++k) {
            const auto part = constant_value(*inputs[k]);
            if (!part) continue;
            const bool value = part->i != 0;
            if (node.op == Op::Not) return truth(b, !value, node.shape);
            return value == (node.op == Op::And) ? inputs[1 - k] : truth(b, value, node.shape);
        }
        return nullptr;
    }

    /// A Loop that goes its own way for each element, and only for those of which a condition
    /// outside of it holds: the loop without the condition, which after_loop puts around it.
    Ref around(const Ref& loop) {
        const auto& attr = loop->as<LoopAttr>();
        if (attr.active >= 0 || !attr.sizes.empty() || attr.by_hand()) return nullptr;
        const Region& body = *attr.body;
        Ref condition;
        int steps = kFollowed;
        for (size_t k = 0; k < body.results.size() && !condition; ++k)
            if (body.results[k]->op == Op::Select)
                condition = part_outside(body.results[k]->inputs[0], body, steps);
        if (!condition || !goes_by_elements(body)) return nullptr;
        for (const Ref& result : body.results)
            if (!broadcasts_to(condition->shape, result->shape)) return nullptr;
        const Facts holds(*condition, true), fails(*condition, false);
        Region chosen = body;
        std::vector<Ref> inputs = loop->inputs, otherwise;
        for (size_t k = 0; k < body.results.size(); ++k) {
            if (below(body.results[k], fails) != body.args[k + 1]) return nullptr;
            chosen.results[k] = below(body.results[k], holds);
            otherwise.push_back(below(inputs[k + 3], fails));
            inputs[k + 3] = below(inputs[k + 3], holds);
        }
        if (fired_) ++(*fired_)["choice around a loop"];
        LoopAttr made = attr;
        made.body = std::make_shared<const Region>(with_fresh_args(table_, chosen));
        const Ref out =
            remake({table_, first_line(loop->lines)}, *loop, std::move(inputs), std::move(made));
        note_lines(*out, loop->lines);
        around_.emplace(out.get(), Around{out, condition, std::move(otherwise)});
        return out;
    }

    /// Returns a Loop that ends earlier, or null: a Loop that runs for each element by itself, and
    /// returns its carried values unchanged if a condition of these alone holds (or does not), does
    /// so in all later iterations too, and may end there.
    Ref until_still(const Ref& loop) {
        const auto& attr = loop->as<LoopAttr>();
        if (attr.active >= 0 || attr.host || attr.open || attr.must_end != MustEnd::No ||
            !attr.sizes.empty() || attr.checkpoint != 0 || attr.by_hand() || is_short(*loop))
            return nullptr;
        const Region& body = *attr.body;
        const Shape& shape = body.args.back()->shape;
        for (size_t k = 0; k < body.results.size(); ++k)
            if (body.args[k + 1]->shape != shape || body.results[k]->shape != shape) return nullptr;
        const std::vector<Ref> conditions = conditions_of(body);
        if (conditions.empty() || !goes_by_elements(body)) return nullptr;
        for (const Ref& condition : conditions)
            for (const bool held : {false, true})
                if (const Still still = is_still(body, Facts(*condition, held)); still.holds) {
                    if (fired_) ++(*fired_)["loop until nothing changes"];
                    return ending(loop, condition, held, still.adds_zeros);
                }
        return nullptr;
    }

    /// Written out as a whole, such a loop has no need of an end.
    static bool is_short(const Node& loop) {
        const auto begin = constant_value(*loop.inputs[0]), end = constant_value(*loop.inputs[1]),
                   step = constant_value(*loop.inputs[2]);
        return begin && end && step && step->i != 0 &&
               (end->i - begin->i) / step->i <= costs::kShortLoop;
    }

    /// Returns the conditions of a body's selects, or parts of them, that depend on its carried
    /// values alone.
    static std::vector<Ref> conditions_of(const Region& body) {
        std::vector<Ref> out, open;
        const std::vector<uint64_t> all = ids_of(body.args), first{all[0]};
        for (size_t k = 0; k < body.results.size(); ++k) {
            if (body.args[k + 1]->dtype.is_bool()) out.push_back(body.args[k + 1]);
            if (body.results[k]->op == Op::Select) open.push_back(body.results[k]->inputs[0]);
        }
        for (size_t at = 0; at < open.size() && at < kMostConditions; ++at) {
            const Ref condition = open[at];
            if (condition->op == Op::And || condition->op == Op::Or || condition->op == Op::Not)
                open.insert(open.end(), condition->inputs.begin(), condition->inputs.end());
            if (condition->shape == body.args.back()->shape && depends(*condition, all) &&
                !depends(*condition, first) &&
                std::find(out.begin(), out.end(), condition) == out.end())
                out.push_back(condition);
        }
        return out;
    }

    /// Tells whether an iteration changes nothing if the facts hold, or nothing but the sign of a
    /// zero, to which it adds one.
    struct Still {
        bool holds = false, adds_zeros = false;
    };
    Still is_still(const Region& body, const Facts& facts) {
        Still out{true, false};
        for (size_t k = 0; k < body.results.size(); ++k) {
            const Ref &arg = body.args[k + 1], next = below(body.results[k], facts);
            const auto truth = constant_value(*next);
            const bool is_known =
                truth && arg->dtype.is_bool() && facts.value(*arg) == std::optional(truth->i != 0);
            const bool adds_nothing =
                next->op == Op::Add && ((next->inputs[0] == arg && is_zero(*next->inputs[1])) ||
                                        (next->inputs[1] == arg && is_zero(*next->inputs[0])));
            if (next != arg && !is_known && !adds_nothing) return {};
            out.adds_zeros |= adds_nothing && arg->dtype.is_float();
        }
        return out;
    }
    static bool is_zero(const Node& node) {
        if (node.op == Op::Cast) return is_zero(*node.inputs[0]);
        const auto value = constant_value(node);
        return value && (node.dtype.is_float() ? value->f == 0 : value->i == 0);
    }

    /// The loop without iterations that change nothing: those where `condition` is `held`, but the
    /// first of them if it is to be `taken`.
    Ref ending(const Ref& loop, const Ref& condition, bool held, bool taken) {
        const auto& attr = loop->as<LoopAttr>();
        const Builder b{table_, first_line(loop->lines)};
        Region body = *attr.body;
        const auto arg = std::find(body.args.begin() + 1, body.args.end(), condition);
        std::vector<Ref> inits(loop->inputs.begin() + 3, loop->inputs.end());
        auto active = static_cast<int>(arg - body.args.begin()) - 1;
        const bool is_carried = arg != body.args.end();
        if (!is_carried || held || taken) {
            // A condition that depends on values before the iteration ends the loop one iteration
            // later.
            const Ref decides =
                is_carried && !taken ? body.results[static_cast<size_t>(active)] : condition;
            active = static_cast<int>(inits.size());
            body.args.push_back(region_arg(b, boolean, condition->shape));
            body.results.push_back(held ? elementwise(b, Op::Not, {decides}) : decides);
            inits.push_back(truth(b, true, condition->shape));
        }
        const Ref out = firn::loop(b, loop->inputs[0], loop->inputs[1], loop->inputs[2],
                                   std::move(inits), with_fresh_args(table_, body), active);
        note_lines(*out, loop->lines);
        return out;
    }

    Ref after_loop(const Node& node, const Ref& loop) {
        const auto at = around_.find(loop.get());
        if (at == around_.end()) return nullptr;
        const int index = node.as<ResultAttr>().index;
        std::vector<Guard> known;
        const Builder b{table_, first_line(node.lines), &known};
        return elementwise(b, Op::Select,
                           {at->second.condition, result(b, loop, index),
                            at->second.otherwise[static_cast<size_t>(index)]});
    }

    /// A choice by `from` between values of shape `to` keeps that shape.
    static bool broadcasts_to(const Shape& from, const Shape& to) {
        if (from.size() > to.size()) return false;
        const size_t more = to.size() - from.size();
        for (size_t axis = 0; axis < from.size(); ++axis)
            if (!from[axis].is(1) && from[axis] != to[axis + more]) return false;
        return true;
    }

    /// The part of a condition, joined by And, that does not change in the iterations, in the shape
    /// that it has before it is repeated; null: none. `steps`: nodes that are still followed.
    Ref part_outside(const Ref& condition, const Region& body, int& steps) {
        if (--steps < 0) return nullptr;
        if (condition->op != Op::Expand && !depends(*condition, ids_of(body.args)))
            return condition;
        if (condition->op == Op::Expand) return part_outside(condition->inputs[0], body, steps);
        if (condition->op != Op::And) return nullptr;
        const Ref a = part_outside(condition->inputs[0], body, steps),
                  c = part_outside(condition->inputs[1], body, steps);
        std::vector<Guard> known;
        return a && c ? elementwise({table_, {}, &known}, Op::And, {a, c}) : a ? a : c;
    }

    static std::vector<uint64_t> ids_of(const std::vector<Ref>& args) {
        std::vector<uint64_t> ids;
        for (const Ref& arg : args) ids.push_back(arg->as<RegionArgAttr>().id);
        return ids;
    }

    static bool depends(const Node& node, const std::vector<uint64_t>& args) {
        return node.free_args && std::any_of(args.begin(), args.end(), [&](uint64_t id) {
                   return std::binary_search(node.free_args->begin(), node.free_args->end(), id);
               });
    }

    /// Returns whether no element of a body's carried values depends on another one.
    static bool goes_by_elements(const Region& body) {
        std::vector<uint64_t> args = ids_of(body.args);
        std::vector<const Node*> open;
        std::unordered_set<const Node*> seen;
        auto enter = [&](const Region& region) {
            for (const Ref& result : region.results) open.push_back(result.get());
        };
        enter(body);
        while (!open.empty()) {
            const Node& node = *open.back();
            open.pop_back();
            if (!depends(node, args) || !seen.insert(&node).second) continue;
            if (node.op == Op::Loop) {
                const auto& attr = node.as<LoopAttr>();
                if (attr.by_hand() || !attr.sizes.empty()) return false;
                const std::vector<uint64_t> more = ids_of(attr.body->args);
                args.insert(args.end(), more.begin(), more.end());
                enter(*attr.body);
            } else if (node.op == Op::If) {
                enter(*node.as<IfAttr>().then_body), enter(*node.as<IfAttr>().else_body);
            } else if (node.op != Op::RegionArg && node.op != Op::Result) {
                const size_t first = first_own(node);
                if (first > 1 || (first == 1 && depends(*node.inputs[0], args))) return false;
            }
            for (const Ref& input : node.inputs) open.push_back(input.get());
        }
        return true;
    }

    /// Nodes of which a new form was made.
    using Remade = std::unordered_set<const Node*>;

    /// Returns whether the roots are computed from one of the nodes.
    static bool needs(std::vector<Ref> open, const Remade& nodes) {
        if (nodes.empty()) return false;
        uint64_t oldest = UINT64_MAX;
        for (const Node* node : nodes) oldest = std::min(oldest, node->serial);
        std::unordered_set<const Node*> seen;
        while (!open.empty() && seen.size() < kMostBelow) {
            const Ref node = open.back();
            open.pop_back();
            if (node->serial < oldest || !seen.insert(node.get()).second) continue;
            if (nodes.contains(node.get())) return true;
            open.insert(open.end(), node->inputs.begin(), node->inputs.end());
        }
        return false;
    }

    /// One side of a Select, and the nodes of which it would make a new form.
    struct Side {
        const Node* choice;
        Remade remade;
        bool doubled = false;
    };
    /// Sides with the same knowledge: those of Selects by one condition, where it holds or where it
    /// does not.
    struct Knowing {
        std::vector<Side> sides;
        Remade remade;                         // of all sides
        std::vector<const Node*> users_first;  // the same in order
    };
    using Users = std::unordered_map<const Node*, std::vector<const Node*>>;

    /// Finds the sides that would compute in another form what others need unchanged: after a
    /// function of a choice, both sides of the choice have cotangents, and each of them would
    /// compute its own derivative of the function, besides the function of the choice itself.
    void find_doubled() {
        const std::vector<Ref> order = topological(graph_.results);
        for (const bool holds : {true, false}) {
            std::unordered_map<const Node*, size_t> places;
            std::vector<Knowing> all;
            for (const Ref& node : order) {
                if (node->op != Op::Select || constant_value(*node->inputs[0])) continue;
                Side side{node.get(), {}};
                below(node->inputs[holds ? 1 : 2], Facts(*node->inputs[0], holds), &side.remade);
                if (side.remade.empty()) continue;
                const auto [at, first] =
                    places.try_emplace(&without_expand(*node->inputs[0]), all.size());
                if (first) all.emplace_back();
                all[at->second].remade.insert(side.remade.begin(), side.remade.end());
                all[at->second].sides.push_back(std::move(side));
            }
            if (all.empty()) continue;
            const Users users = users_in(order);
            sort(all, order);
            for (Knowing& each : all) add_doubled(users, each, holds);
        }
    }

    static void sort(std::vector<Knowing>& all, const std::vector<Ref>& order) {
        std::unordered_map<const Node*, size_t> places;
        for (const Ref& node : order) places.emplace(node.get(), places.size());
        for (Knowing& each : all) {
            for (const Node* node : each.remade)
                if (places.contains(node)) each.users_first.push_back(node);
            std::sort(each.users_first.begin(), each.users_first.end(),
                      [&](const Node* a, const Node* b) { return places.at(a) > places.at(b); });
        }
    }

    /// Returns, for each node, the nodes that have it as an operand; null for a region or the
    /// graph.
    Users users_in(const std::vector<Ref>& order) const {
        Users out;
        const auto leave = [&](const std::vector<Ref>& results) {
            for (const Ref& result : results) out[result.get()].push_back(nullptr);
        };
        leave(graph_.results);
        for (const Ref& node : order) {
            for (const Ref& input : node->inputs) out[input.get()].push_back(node.get());
            if (node->op == Op::Loop) leave(node->as<LoopAttr>().body->results);
            if (node->op != Op::If) continue;
            leave(node->as<IfAttr>().then_body->results);
            leave(node->as<IfAttr>().else_body->results);
        }
        return out;
    }

    /// Marks the sides that would remake nodes which are needed unchanged: those that something
    /// else has as an operand, and the operands of such nodes. A side that is marked needs more of
    /// them.
    void add_doubled(const Users& users, Knowing& all, bool holds) {
        std::unordered_map<const Node*, const Side*> choices;
        for (const Side& side : all.sides) choices.emplace(side.choice, &side);
        for (bool changed = true; changed;) {
            changed = false;
            Remade needed;
            const auto needs_it = [&](const Node* user, const Node& node) {
                if (!user) return true;
                if (all.remade.contains(user) && needed.contains(user)) return true;
                const auto side = choices.find(user);
                if (side == choices.end()) return !all.remade.contains(user);
                return side->second->doubled || user->inputs[0].get() == &node ||
                       user->inputs[holds ? 2 : 1].get() == &node;
            };
            for (const Node* node : all.users_first) {
                const std::vector<const Node*>& by = users.at(node);
                if (std::any_of(by.begin(), by.end(),
                                [&](const Node* user) { return needs_it(user, *node); }))
                    needed.insert(node);
            }
            for (Side& side : all.sides) {
                if (side.doubled || std::none_of(side.remade.begin(), side.remade.end(),
                                                 [&](const Node* n) { return needed.contains(n); }))
                    continue;
                side.doubled = changed = true;
                doubled_[holds ? 0 : 1].insert(side.choice);
            }
        }
    }

    /// Returns `root` if the facts hold: operands of elementwise operations are selected by them.
    Ref below(const Ref& root, const Facts& facts, Remade* remade = nullptr) {
        std::unordered_map<const Node*, Ref> done;
        std::vector<Ref> open{root};
        // True where the operand is done, else it is the next to do.
        auto has = [&](const Ref& input) {
            if (done.contains(input.get())) return true;
            open.push_back(input);
            return false;
        };
        auto known = [&](const Ref& node) { return constant_value(*done.at(node.get())); };
        while (!open.empty()) {
            const Ref node = open.back();
            Ref made = node;
            if (done.contains(node.get())) {
                open.pop_back();
                continue;
            }
            if (done.size() < kMostBelow && node->serial >= facts.oldest &&
                (marks_below(node) & facts.marks)) {
                const auto value = node->dtype.is_bool() ? facts.value(*node) : std::nullopt;
                if (value) {
                    made = truth({table_}, *value, node->shape);
                } else {
                    std::vector<Ref> inputs = node->inputs;
                    if (node->op == Op::Select) {
                        if (!has(inputs[0])) continue;
                        // Only the side that is taken.
                        if (const auto condition = known(inputs[0]))
                            inputs = {inputs[condition->i ? 1 : 2]};
                    }
                    bool ready = true;
                    for (size_t k = first_own(*node); k < inputs.size(); ++k)
                        ready = has(inputs[k]) && ready;
                    if (!ready) continue;
                    for (size_t k = first_own(*node); k < inputs.size(); ++k)
                        inputs[k] = done.at(inputs[k].get());
                    if (inputs.size() < node->inputs.size())
                        made = inputs[0];
                    else if (inputs != node->inputs) {
                        made = again(*node, std::move(inputs));
                        if (remade && made->serial > node->serial && !constant_value(*made))
                            remade->insert(node.get());
                    }
                }
            }
            done.emplace(node.get(), made);
            open.pop_back();
        }
        return done.at(root.get());
    }

    /// The first operand of which an element needs only its own element; no operand: the number of
    /// them.
    static size_t first_own(const Node& node) {
        if (is_elementwise(node.op) || node.op == Op::Expand) return 0;
        // A read uses its own index, independent of other reads.
        return node.op == Op::Gather && node.inputs.back()->shape == node.shape
                   ? 1
                   : node.inputs.size();
    }

    /// The marks of all conditions on the way below a node.
    uint64_t marks_below(const Ref& root) {
        std::vector<Ref> open{root};
        while (!open.empty()) {
            const Ref node = open.back();
            uint64_t marks = node->dtype.is_bool() ? mark_of(*node) : 0;
            bool ready = true;
            for (size_t k = first_own(*node); k < node->inputs.size(); ++k) {
                const auto* below = marks_.find(node->inputs[k].get());
                if (below)
                    marks |= below->second;
                else
                    open.push_back(node->inputs[k]), ready = false;
            }
            if (!ready) continue;
            open.pop_back();
            marks_.insert(node.get(), {node, marks});
        }
        return marks_.at(root.get()).second;
    }

    /// A loop that was rebuilt without its condition, and the value if the condition does not hold.
    struct Around {
        Ref loop, condition;
        std::vector<Ref> otherwise;
    };

    NodeTable& table_;
    const Graph& graph_;
    RuleCounts* fired_;
    std::unordered_set<const Node*> doubled_[2];  // Selects by their sides, see find_doubled()
    std::unordered_map<const Node*, Around> around_;
    NodeMap<std::pair<Ref, uint64_t>>
        marks_;  // holds the nodes, so that none takes another's place
};

}  // namespace

Graph nested_choices(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    return NestedChoices(table, graph, fired).run();
}

}  // namespace firn
