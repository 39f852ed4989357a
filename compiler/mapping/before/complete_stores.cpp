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

/// Returns the store that is all that a guard guards; -1: the effect is no such guard.
int guarded_store(const KernelCode& code, int effect) {
    const KernelNode& n = code.nodes[effect];
    if (n.op != KernelOp::Branch || !n.guard || n.else_region >= 0) return -1;
    const KernelRegion& taken = code.regions[n.region];
    if (taken.effects.size() != 1 || !taken.yields.empty()) return -1;
    const KernelNode& store = code.nodes[taken.effects[0]];
    return store.op == KernelOp::Store && store.width == 1 ? taken.effects[0] : -1;
}

/// Collects the terms of a conjunction.
void add_parts(const KernelCode& code, int condition, std::vector<int>& parts) {
    const KernelNode& n = code.nodes[condition];
    if (n.op != KernelOp::And || !n.dtype.is_bool()) return parts.push_back(condition);
    for (int arg : n.args) add_parts(code, arg, parts);
}

/// Returns whether `found` holds for `root` or for a node that it is computed from.
template <class Found>
bool needs(const KernelCode& code, int root, const Found& found) {
    std::vector<int> open{root};
    std::set<int> seen;
    while (!open.empty()) {
        const int id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        const KernelNode& n = code.nodes[id];
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
bool mostly_holds(const KernelCode& code, int part) {
    const KernelNode& n = code.nodes[part];
    if (n.op == KernelOp::NotEqual) return true;
    if (n.op != KernelOp::Less && n.op != KernelOp::LessEqual) return false;
    const Interval a = code.nodes[n.args[0]].interval, b = code.nodes[n.args[1]].interval;
    const int64_t least = a.lo - b.hi, most = a.hi - b.lo;  // of the difference
    return least + most <= 0;
}

/// The place in an element's own part of memory where an index stands, which is another part for
/// each invocation; nothing if that is not known.
std::optional<int64_t> own_place(const KernelCode& code, int index, const Size& elements) {
    const IndexForm form = IndexForms(code).of(index);
    if (!form.is_sum() || !form.sum.offset.is_constant()) return {};
    std::vector<std::pair<Size, Size>> steps;  // of a range, and its extent
    for (size_t r = 0; r < code.ranges.size(); ++r) {
        const Range& range = code.ranges[r];
        if (range.kind != RangeKind::Grid || range.extent.is(1)) continue;
        steps.push_back({coefficient_of(form.sum, static_cast<int>(r)), range.extent});
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
        std::map<int, Complete> own;  // by effect
        for (int effect : code_.regions[0].effects)
            if (const int store = guarded_store(code_, effect); store >= 0)
                if (const auto found = complete(effect, store)) own[effect] = *found;
        keep_alone(own);
        std::vector<int> made;
        for (int effect : code_.regions[0].effects)
            made.push_back(own.contains(effect) ? store_always(own.at(effect))
                                                : this->effect(effect));
        b_.code().regions[0].effects = std::move(made);
        return !own.empty();
    }

  private:
    /// Builds the store that every invocation makes.
    struct Complete {
        int store = -1, condition = -1, index = -1;
        int64_t place = 0;
    };

    std::optional<Complete> complete(int effect, int store) {
        const KernelNode& n = code_.nodes[store];
        Rebuild free(code_, b_);  // of the guard
        for (size_t r = 0; r < code_.ranges.size(); ++r)
            if (const int own = index_of(static_cast<int>(r));
                own >= 0 && code_.ranges[r].kind == RangeKind::Grid)
                free.bind(own, value(own));
        const int condition = code_.nodes[effect].args[0];
        if (needs(code_, n.args[1], is_region) || needs(code_, condition, is_region)) return {};
        // An index that the condition chose, with -1 as the alternative, is the chosen index here.
        std::vector<int> parts, rest;
        add_parts(code_, condition, parts);
        for (int part : parts) {
            const int choice = choice_in(part);
            if (choice < 0) {
                rest.push_back(part);
                continue;
            }
            const KernelNode& chosen = code_.nodes[choice];
            take(free, choice, chosen.args[1]);
            free.bind(part, free.value(chosen.args[0]));
            add_parts(code_, chosen.args[0], rest);
        }
        Complete out{store, free.value(condition), free.value(n.args[0])};
        const KernelBuffer& buffer = code_.buffers[n.buffer];
        const auto place = own_place(b_.code(), out.index, buffer.elements);
        if (!place) return {};
        out.place = *place;
        const bool holds = std::all_of(rest.begin(), rest.end(), [&](int part) {
            const auto loads = [](const KernelNode& n) { return n.op == KernelOp::Load; };
            return !needs(code_, part, loads) && mostly_holds(code_, part);
        });
        // Finds whether the element is loaded anyway, for the stored value or for the guard.
        const auto is_own = [&](const KernelNode& load) {
            return load.op == KernelOp::Load &&
                   code_.buffers[load.buffer].buffer == buffer.buffer &&
                   free.value(load.args[0]) == out.index;
        };
        const bool done =
            holds || needs(code_, n.args[1], is_own) || needs(code_, condition, is_own);
        return done ? std::optional(out) : std::nullopt;
    }

    bool is_zero(int id) const {
        return code_.nodes[id].op == KernelOp::Constant && code_.nodes[id].constant.i == 0;
    }
    /// Returns the select of an index or a negative number that `part` requires not to be negative;
    /// -1: the condition requires something else.
    int choice_in(int part) const {
        const KernelNode& n = code_.nodes[part];
        if (n.op != KernelOp::LessEqual || !is_zero(n.args[0])) return -1;
        const KernelNode& choice = code_.nodes[n.args[1]];
        const bool chooses = choice.op == KernelOp::Select &&
                             code_.nodes[choice.args[1]].interval.lo >= 0 &&
                             code_.nodes[choice.args[2]].interval.hi < 0;
        return chooses ? n.args[1] : -1;
    }

    /// Replaces the choice in the store's index, bounded or not, by `side`.
    void take(Rebuild& free, int choice, int side) const {
        const int taken = free.value(side);
        free.bind(choice, taken);
        for (size_t id = 0; id < code_.nodes.size(); ++id) {
            const KernelNode& n = code_.nodes[id];
            const bool bounds = n.op == KernelOp::Max && n.dtype == i32 &&
                                ((is_zero(n.args[0]) && n.args[1] == choice) ||
                                 (is_zero(n.args[1]) && n.args[0] == choice));
            if (bounds) free.bind(static_cast<int>(id), taken);
        }
    }

    /// Leaves out stores to memory that is stored to otherwise too.
    void keep_alone(std::map<int, Complete>& own) const {
        std::map<int, size_t> effects, completed;  // by buffer of the program
        std::set<std::pair<int, int64_t>> places;
        std::set<int> meeting;
        const auto buffer_of = [&](const KernelNode& n) { return code_.buffers[n.buffer].buffer; };
        for (const KernelNode& n : code_.nodes)
            if (n.op == KernelOp::Store || n.op == KernelOp::Atomic) ++effects[buffer_of(n)];
        for (const auto& [effect, complete] : own) {
            const int buffer = buffer_of(code_.nodes[complete.store]);
            ++completed[buffer];
            if (!places.insert({buffer, complete.place}).second) meeting.insert(buffer);
        }
        std::erase_if(own, [&](const auto& entry) {
            const int buffer = buffer_of(code_.nodes[entry.second.store]);
            return meeting.contains(buffer) || effects[buffer] != completed[buffer];
        });
    }

    int store_always(const Complete& complete) {
        const KernelNode& n = code_.nodes[complete.store];
        const int made = value(n.args[1]), to = buffer(n.buffer);
        b_.set_lines(n.lines);
        const int stored = b_.select(complete.condition, made, b_.load(to, complete.index));
        return b_.store(to, complete.index, std::span(&stored, 1));
    }

    const KernelCode& code_;
    KernelBuilder& b_;
};

}  // namespace

KernelCode complete_stores(KernelCode code, const DeviceProfile& profile,
                           const SymbolFacts& facts) {
    if (!rules_of(profile).masked) return code;
    const std::vector<int>& effects = code.regions[0].effects;
    if (std::none_of(effects.begin(), effects.end(),
                     [&](int effect) { return guarded_store(code, effect) >= 0; }))
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
