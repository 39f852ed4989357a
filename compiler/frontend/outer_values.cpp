// Gradients inside of recorded loops and kernels, and values from outside of them.
#include "compiler/frontend/outer_values.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/autodiff/active_values.h"
#include "compiler/base/error.h"
#include "compiler/frontend/with_history.h"

namespace firn {
namespace {

using Values = std::unordered_map<const Node*, Ref>;

bool needs(const Node& node, const Node& arg) {
    return node.free_args && std::binary_search(node.free_args->begin(), node.free_args->end(),
                                                arg.as<RegionArgAttr>().id);
}

/// A loop's entry for a value that nothing in the loop has assigned so far.
bool is_as_outside(const ScopeEntry& entry) {
    return entry.arg && entry.initial && entry.value == entry.arg;
}

/// Returns the arguments of the open loops from `first` inwards, each with its value outside of
/// them.
Values values_outside(SessionState& session, size_t first) {
    Values out;
    for (size_t depth = first; depth < session.scopes.size(); ++depth)
        for (const ScopeEntry& entry : session.scopes[depth].entries)
            if (is_as_outside(entry))
                out[entry.arg.get()] = substitute(session.nodes, {entry.initial}, out)[0];
    return out;
}

bool any_of(const std::unordered_set<const Node*>& active, const std::vector<Ref>& ys) {
    return std::any_of(ys.begin(), ys.end(),
                       [&](const Ref& y) { return active.contains(y.get()); });
}

/// The dependencies of ys on xs outside of the loops: through arguments other than xs, and through
/// their values there.
struct Paths {
    std::vector<const Node*> arguments;
    bool direct = false;
    bool any() const { return direct || !arguments.empty(); }
};

Paths paths(SessionState& session, const Values& outside, const Differentiated& of,
            SourceLine line) {
    std::vector<Ref> targets, below = of.ys;
    std::unordered_set<const Node*> xs;
    for (const Ref& x : of.xs) {
        xs.insert(x.get());
        if (outside.contains(x.get())) targets.push_back(outside.at(x.get()));
    }
    if (targets.empty()) return {};
    const std::vector<Ref> order = topological(of.ys);
    std::vector<Ref> arguments;
    for (const Ref& node : order)
        if (outside.contains(node.get()) && !xs.contains(node.get())) {
            arguments.push_back(node);
            below.push_back(outside.at(node.get()));
        }
    below = with_history(session, below, targets, line);
    const auto active = active_values(topological(below), targets);
    const auto values = below.begin() + static_cast<std::ptrdiff_t>(of.ys.size());
    Paths out{{}, any_of(active, {below.begin(), values})};
    for (size_t k = 0; k < arguments.size(); ++k)
        if (active.contains(below[of.ys.size() + k].get()) &&
            any_of(active_values(order, {arguments[k]}), of.ys))
            out.arguments.push_back(arguments[k].get());
    return out;
}

/// Returns the initial values of arguments of the loops from `first` inwards, and the arguments
/// themselves.
std::vector<Ref> beginnings(const SessionState& session, size_t first, size_t depth,
                            const std::vector<const Node*>& arguments) {
    std::vector<const Node*> all = arguments;
    std::vector<Ref> out;
    for (size_t k = session.scopes.size(); k-- > first;)
        for (const ScopeEntry& entry : session.scopes[k].entries) {
            const auto begins = [&](const Node* node) {
                return node == entry.arg.get() || needs(*node, *entry.arg);
            };
            if (!is_as_outside(entry) || std::none_of(all.begin(), all.end(), begins)) continue;
            all.push_back(entry.initial.get());
            if (k == depth) out.push_back(entry.arg);
        }
    return out;
}

/// Returns the entry of an argument that the loop assigns; null: it assigns none of them.
const ScopeEntry* assigned_of(const Scope& loop, const std::vector<Ref>& arguments) {
    for (const ScopeEntry& entry : loop.entries)
        if (entry.written && entry.value != entry.arg &&
            std::find(arguments.begin(), arguments.end(), entry.arg) != arguments.end())
            return &entry;
    return nullptr;
}

bool all_assigned(const Scope& loop, const std::vector<Ref>& arguments) {
    return std::all_of(arguments.begin(), arguments.end(),
                       [&](const Ref& arg) { return assigned_of(loop, {arg}) != nullptr; });
}

}  // namespace

AsOutside as_outside(SessionState& session, const Differentiated& of, SourceLine line) {
    AsOutside out{of, {}, {}, 0};
    std::vector<size_t> loops;  // the innermost first
    for (size_t depth = session.scopes.size(); depth-- > 1;)
        if (session.scopes[depth].kind == ScopeKind::Loop) loops.push_back(depth);
    if (loops.empty()) return out;
    const Paths all = paths(session, values_outside(session, loops.back()), of, line);
    if (!all.any()) return out;
    for (const size_t first : loops) {
        const Values outside = values_outside(session, first);
        Paths found = paths(session, outside, of, line);
        if (found.arguments.size() < all.arguments.size() || found.direct != all.direct) continue;
        out.first = first;
        out.between = std::move(found.arguments);
        Values replace;
        for (const Node* arg : out.between) replace.emplace(arg, outside.at(arg));
        for (Ref& x : out.of.xs) {
            const auto at = outside.find(x.get());
            if (at == outside.end()) continue;
            out.xs.push_back(x.get());
            replace.emplace(x.get(), at->second);
            x = at->second;
        }
        out.of.ys = substitute(session.nodes, of.ys, replace);
        break;
    }
    return out;
}

Ref chosen_outside(SessionState& session, const AsOutside& outside, bool inside, SourceLine line) {
    const Builder b = builder(session, line);
    const std::shared_ptr<Slot> slot =
        make_slot_in(session, constant(b, scalar_bool(true)), session.scopes[outside.first - 1].id);
    for (size_t depth = outside.first; depth < session.scopes.size(); ++depth)
        if (session.scopes[depth].kind == ScopeKind::Loop)
            session.scopes[depth].held.push_back(
                {slot, beginnings(session, outside.first, depth, outside.xs),
                 beginnings(session, outside.first, depth, outside.between), inside, line});
    return value_at(session, slot, session.scopes.size() - 1);
}

void settle_gradients(SessionState& session, Scope& loop) {
    for (const HeldGradient& held : loop.held) {
        const ScopeEntry* x = assigned_of(loop, held.xs);
        const ScopeEntry* assigned = x ? x : assigned_of(loop, held.between);
        if (!assigned) continue;
        const bool apart = all_assigned(loop, held.xs) || all_assigned(loop, held.between);
        if (!held.inside || !apart) {
            const std::vector<SourceLine>& lines = assigned->value->lines;
            fail_at(held.line,
                    "grad: inside the loop at " + text(loop.line) +
                        ", the value depends on the tensor through values from before the loop, "
                        "and the loop assigns one of them" +
                        (lines.empty() ? "" : " at " + text(lines.front())) +
                        ", so that in later iterations this is another one; compute the value "
                        "inside of the loop, take the gradient outside of it, or hold what was "
                        "computed before by stop_gradient");
        }
        const auto at = loop.positions.find(held.outside.get());
        ensure(at != loop.positions.end(), "a gradient in a loop is chosen by a value of the loop");
        loop.entries[at->second].initial = constant(builder(session, {}), scalar_bool(false));
    }
}

bool is_of_invocation(const SessionState& session, const Ref& x) {
    const size_t kernel = kernel_depth(session);
    if (needs(*x, *session.scopes[kernel].by_hand->iteration)) return true;
    for (size_t depth = kernel + 1; depth < session.scopes.size(); ++depth)
        for (const ScopeEntry& entry : session.scopes[depth].entries)
            if (entry.arg == x && entry.slot->scope >= session.scopes[kernel].id) return true;
    return false;
}

std::string carried_by_loops(const SessionState& session, const Node& y) {
    for (size_t depth = session.scopes.size(); depth-- > 1;)
        for (const ScopeEntry& entry : session.scopes[depth].entries)
            if (entry.arg && !is_as_outside(entry) && needs(y, *entry.arg))
                return "; what the loop at " + text(session.scopes[depth].line) +
                       " carries from one iteration to the next depends on nothing inside of it: "
                       "compute the value in the iteration, or take the gradient behind the loop";
    return "";
}

}  // namespace firn
