// Gradients inside of recorded loops and kernels, and values from outside of them.
#include "compiler/frontend/outer_values.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/autodiff/active_values.h"

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

/// The arguments of the open loops from `first` inwards, each with what it is outside of them.
Values values_outside(SessionState& session, size_t first) {
    Values out;
    for (size_t depth = first; depth < session.scopes.size(); ++depth)
        for (const ScopeEntry& entry : session.scopes[depth].entries)
            if (is_as_outside(entry))
                out[entry.arg.get()] = substitute(session.nodes, {entry.initial}, out)[0];
    return out;
}

/// How y depends on xs as they are outside: by arguments other than xs, and by what it was computed
/// from there.
struct Paths {
    std::vector<const Node*> arguments;
    bool direct = false;
    bool any() const { return direct || !arguments.empty(); }
};

Paths paths(const Values& outside, const Differentiated& of) {
    std::vector<Ref> targets, all{of.y};
    std::unordered_set<const Node*> xs;
    for (const Ref& x : of.xs) {
        xs.insert(x.get());
        if (outside.contains(x.get())) targets.push_back(outside.at(x.get()));
    }
    if (targets.empty()) return {};
    for (const auto& [arg, value] : outside)
        if (needs(*of.y, *arg) && !xs.contains(arg)) all.push_back(value);
    const auto active = active_values(topological(all), targets);
    Paths out{{}, active.contains(of.y.get())};
    for (const auto& [arg, value] : outside)
        if (needs(*of.y, *arg) && !xs.contains(arg) && active.contains(value.get()))
            out.arguments.push_back(arg);
    return out;
}

/// Remembers in the loops from `first` inwards which of their arguments were taken as outside:
/// `taken`, and those that these begin with.
void hold(SessionState& session, size_t first, const std::vector<const Node*>& taken,
          SourceLine line) {
    std::vector<const Node*> all = taken;
    for (size_t depth = session.scopes.size(); depth-- > first;)
        for (const ScopeEntry& entry : session.scopes[depth].entries) {
            if (!is_as_outside(entry)) continue;
            const bool begins_one = std::any_of(all.begin(), all.end(), [&](const Node* node) {
                return node == entry.arg.get() || needs(*node, *entry.arg);
            });
            if (!begins_one) continue;
            session.scopes[depth].held.emplace_back(entry.arg, line);
            all.push_back(entry.initial.get());
        }
}

}  // namespace

Differentiated as_outside(SessionState& session, Differentiated of, SourceLine line) {
    std::vector<size_t> loops;  // the innermost first
    for (size_t depth = session.scopes.size(); depth-- > 1;)
        if (session.scopes[depth].kind == ScopeKind::Loop) loops.push_back(depth);
    if (loops.empty()) return of;
    const Paths all = paths(values_outside(session, loops.back()), of);
    if (!all.any()) return of;
    for (const size_t first : loops) {
        const Values outside = values_outside(session, first);
        Paths found = paths(outside, of);
        if (found.arguments.size() < all.arguments.size() || found.direct != all.direct) continue;
        std::vector<const Node*> taken = std::move(found.arguments);
        for (const Ref& x : of.xs)
            if (outside.contains(x.get())) taken.push_back(x.get());
        Values replace;
        for (const Node* arg : taken) replace.emplace(arg, outside.at(arg));
        hold(session, first, taken, line);
        of.y = substitute(session.nodes, {of.y}, replace)[0];
        for (Ref& x : of.xs)
            if (outside.contains(x.get())) x = outside.at(x.get());
        break;
    }
    return of;
}

void check_held(const Scope& loop) {
    for (const auto& [arg, line] : loop.held)
        for (const ScopeEntry& entry : loop.entries) {
            if (entry.arg != arg || !entry.written || entry.value == entry.arg) continue;
            const std::vector<SourceLine>& lines = entry.value->lines;
            fail_at(line,
                    "grad: inside the loop at " + text(loop.line) +
                        ", the value depends on the tensor through values from before the loop, "
                        "and the loop assigns one of them" +
                        (lines.empty() ? "" : " at " + text(lines.front())) +
                        ", so that in later iterations this is another one; compute the value "
                        "inside of the loop, take the gradient outside of it, or hold what was "
                        "computed before by stop_gradient");
        }
}

bool is_of_invocation(const SessionState& session, const Ref& x) {
    const size_t kernel = kernel_depth(session);
    if (needs(*x, *session.scopes[kernel].by_hand->turn)) return true;
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
