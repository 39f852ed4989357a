// Guarded stores become stores of every element.
#include "compiler/mapping/before/complete_stores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/rebuild.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

/// Returns the store that is all that a guard guards; none if the effect is no such guard.
NodeId guarded_store(const KernelCode& code, NodeId effect) {
    const KernelNode& n = code[effect];
    if (n.op != KernelOp::Branch || !n.guard || n.as<BodyAttr>().else_region) return {};
    const KernelRegion& taken = code[n.as<BodyAttr>().region];
    if (taken.effects.size() != 1 || !taken.yields.empty()) return {};
    const KernelNode& store = code[taken.effects[0]];
    return store.op == KernelOp::Store && width(store) == 1 ? taken.effects[0] : NodeId();
}

/// Collects the terms of a conjunction.
void add_parts(const KernelCode& code, NodeId condition, std::vector<NodeId>& parts) {
    const KernelNode& n = code[condition];
    if (n.op != KernelOp::And || !n.dtype.is_bool()) return parts.push_back(condition);
    for (NodeId arg : n.args) add_parts(code, arg, parts);
}

/// Returns whether `found` holds for `root` or for a node that it is computed from.
template <class Found>
bool needs(const KernelCode& code, NodeId root, const Found& found) {
    std::vector<NodeId> open{root};
    std::set<NodeId> seen;
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        const KernelNode& n = code[id];
        if (found(n)) return true;
        open.insert(open.end(), n.args.begin(), n.args.end());
    }
    return false;
}
bool is_region(const KernelNode& n) {
    return n.op == KernelOp::For || n.op == KernelOp::Branch || n.op == KernelOp::RegionArg;
}

/// Returns whether a comparison of indices with a bound holds for at least half of them. Unknown
/// bounds count as holding, because bounds are seldom in the middle.
bool mostly_holds(const KernelCode& code, NodeId part) {
    const KernelNode& n = code[part];
    if (n.op == KernelOp::NotEqual) return true;
    if (n.op != KernelOp::Less && n.op != KernelOp::LessEqual) return false;
    const Interval a = code[n.args[0]].interval, b = code[n.args[1]].interval;
    const int64_t least = a.lo - b.hi, most = a.hi - b.lo;  // of the difference
    return least + most <= 0;
}

/// The place in an element's own part of memory where an index stands, which is another part for
/// each invocation; nothing if that is not known.
std::optional<int64_t> own_place(const KernelCode& code, NodeId index, const Size& elements) {
    const IndexForm form = IndexForms(code).of(index);
    if (!form.is_sum() || !form.sum.offset.is_constant()) return {};
    std::vector<std::pair<Size, Size>> steps;  // of a range, and its extent
    for (RangeId r : code.ranges.ids()) {
        const Range& range = code[r];
        if (range.kind != RangeKind::Grid || range.extent.is(1)) continue;
        steps.push_back({coefficient_of(form.sum, r), range.extent});
    }
    if (steps.size() != form.sum.terms.size()) return {};
    // Goes from the largest part that one index chooses to the smallest.
    Size part = elements;
    while (!steps.empty()) {
        const auto of_part = std::find_if(steps.begin(), steps.end(), [&](const auto& step) {
            return step.first * step.second == part;
        });
        if (of_part == steps.end()) return {};
        part = of_part->first;
        steps.erase(of_part);
    }
    const int64_t place = form.sum.offset.constant();
    const bool inside = part.is_constant() && place >= 0 && place < part.constant();
    return inside ? std::optional(place) : std::nullopt;
}

class Completer : public Rebuild {
  public:
    Completer(const KernelCode& code, KernelBuilder& b) : Rebuild(code, b), code_(code), b_(b) {}

    /// Copies the kernel; returns whether a store has changed.
    bool run() {
        copy_grid();
        std::map<NodeId, Complete> own;  // by effect
        for (NodeId effect : code_[kRoot].effects)
            if (const NodeId store = guarded_store(code_, effect))
                if (const auto found = complete(effect, store)) own[effect] = *found;
        keep_alone(own);
        std::vector<NodeId> made;
        for (NodeId effect : code_[kRoot].effects)
            made.push_back(own.contains(effect) ? store_always(own.at(effect))
                                                : this->effect(effect));
        b_.code()[kRoot].effects = std::move(made);
        return !own.empty();
    }

  private:
    /// Builds the store that every invocation makes.
    struct Complete {
        NodeId store, condition, index;
        int64_t place = 0;
    };

    std::optional<Complete> complete(NodeId effect, NodeId store) {
        const KernelNode& n = code_[store];
        Rebuild free(code_, b_);  // of the guard
        for (RangeId r : code_.ranges.ids())
            if (const NodeId own = index_of(r); own && code_[r].kind == RangeKind::Grid)
                free.bind(own, value(own));
        const NodeId condition = code_[effect].args[0];
        if (needs(code_, n.args[1], is_region) || needs(code_, condition, is_region)) return {};
        // An index that the condition chose, with -1 as the alternative, is the chosen index here.
        std::vector<NodeId> parts, rest;
        add_parts(code_, condition, parts);
        for (NodeId part : parts) {
            const NodeId choice = choice_in(part);
            if (!choice) {
                rest.push_back(part);
                continue;
            }
            const KernelNode& chosen = code_[choice];
            take(free, choice, chosen.args[1]);
            free.bind(part, free.value(chosen.args[0]));
            add_parts(code_, chosen.args[0], rest);
        }
        Complete out{store, free.value(condition), free.value(n.args[0])};
        const KernelBuffer& buffer = code_.buffers[n.as<AccessAttr>().buffer];
        const auto place = own_place(b_.code(), out.index, buffer.elements);
        if (!place) return {};
        out.place = *place;
        const bool holds = std::all_of(rest.begin(), rest.end(), [&](NodeId part) {
            const auto loads = [](const KernelNode& n) { return n.op == KernelOp::Load; };
            return !needs(code_, part, loads) && mostly_holds(code_, part);
        });
        // Finds whether the element is loaded anyway, for the stored value or for the guard.
        const auto is_own = [&](const KernelNode& load) {
            return load.op == KernelOp::Load &&
                   code_.buffers[load.as<AccessAttr>().buffer].buffer == buffer.buffer &&
                   free.value(load.args[0]) == out.index;
        };
        const bool done =
            holds || needs(code_, n.args[1], is_own) || needs(code_, condition, is_own);
        return done ? std::optional(out) : std::nullopt;
    }

    bool is_zero(NodeId id) const {
        return code_[id].op == KernelOp::Constant && code_[id].as<Scalar>().i == 0;
    }
    /// Returns the select of an index or a negative number that `part` requires not to be negative;
    /// none if the condition requires something else.
    NodeId choice_in(NodeId part) const {
        const KernelNode& n = code_[part];
        if (n.op != KernelOp::LessEqual || !is_zero(n.args[0])) return {};
        const KernelNode& choice = code_[n.args[1]];
        const bool chooses = choice.op == KernelOp::Select &&
                             code_[choice.args[1]].interval.lo >= 0 &&
                             code_[choice.args[2]].interval.hi < 0;
        return chooses ? n.args[1] : NodeId();
    }

    /// Replaces the choice in the store's index, bounded or not, by `side`.
    void take(Rebuild& free, NodeId choice, NodeId side) const {
        const NodeId taken = free.value(side);
        free.bind(choice, taken);
        for (NodeId id : code_.nodes.ids()) {
            const KernelNode& n = code_[id];
            const bool bounds = n.op == KernelOp::Max && n.dtype == i32 &&
                                ((is_zero(n.args[0]) && n.args[1] == choice) ||
                                 (is_zero(n.args[1]) && n.args[0] == choice));
            if (bounds) free.bind(id, taken);
        }
    }

    /// Leaves out stores to memory that is stored to otherwise too.
    void keep_alone(std::map<NodeId, Complete>& own) const {
        std::map<int, size_t> effects, completed;  // by buffer of the program
        std::set<std::pair<int, int64_t>> places;
        std::set<int> meeting;
        const auto buffer_of = [&](const KernelNode& n) {
            return code_.buffers[n.as<AccessAttr>().buffer].buffer;
        };
        for (const KernelNode& n : code_.nodes)
            if (n.op == KernelOp::Store || n.op == KernelOp::Atomic) ++effects[buffer_of(n)];
        for (const auto& [effect, complete] : own) {
            const int buffer = buffer_of(code_[complete.store]);
            ++completed[buffer];
            if (!places.insert({buffer, complete.place}).second) meeting.insert(buffer);
        }
        std::erase_if(own, [&](const auto& entry) {
            const int buffer = buffer_of(code_[entry.second.store]);
            return meeting.contains(buffer) || effects[buffer] != completed[buffer];
        });
    }

    NodeId store_always(const Complete& complete) {
        const KernelNode& n = code_[complete.store];
        const NodeId made = value(n.args[1]);
        const int to = buffer(n.as<AccessAttr>().buffer);
        b_.set_lines(n.lines);
        const NodeId stored = b_.select(complete.condition, made, b_.load(to, complete.index));
        return b_.store(to, complete.index, std::span(&stored, 1));
    }

    const KernelCode& code_;
    KernelBuilder& b_;
};

}  // namespace

KernelCode complete_stores(KernelCode code, const DeviceProfile& profile,
                           const SymbolFacts& facts) {
    if (!rules_of(profile).masked) return code;
    const std::vector<NodeId>& effects = code[kRoot].effects;
    if (std::none_of(effects.begin(), effects.end(),
                     [&](NodeId effect) { return bool(guarded_store(code, effect)); }))
        return code;
    // Pinned nodes must keep their place among the effects.
    if (std::any_of(code.nodes.begin(), code.nodes.end(),
                    [](const KernelNode& n) { return n.pinned; }))
        return code;
    KernelCode made;
    made.name = code.name;
    KernelBuilder b(made, facts);
    return Completer(code, b).run() ? made : code;
}

}  // namespace firn
