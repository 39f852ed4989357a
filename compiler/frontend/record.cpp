// Reading and writing slots across scopes.
#include "compiler/frontend/record.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/frontend/capture.h"
#include "compiler/ir/builder_checks.h"

namespace firn {
void fail_at(SourceLine line, const std::string& message) {
    throw UserError(line.line ? message + " (" + text(line) + ")" : message);
}

Builder builder(SessionState& session, SourceLine line) {
    const Inside inside(session.nodes.thread(), line);
    if (CancelScope::is_asked()) CancelScope::end("recording " + text(line));
    if (!session.left_open.empty()) {
        std::string message = std::exchange(session.left_open, {});
        throw UserError(message);
    }
    std::vector<Guard>* guards = nullptr;
    for (Scope& scope : session.scopes)
        if (scope.kind == ScopeKind::Function) guards = &scope.guards;
    return Builder{session.nodes, session.caller.line ? session.caller : line, guards};
}

std::shared_ptr<Slot> make_slot(const std::shared_ptr<SessionState>& session, Ref node) {
    const Inside inside(session->nodes.thread(), {});
    auto slot = std::make_shared<Slot>();
    slot->session = session;
    slot->id = ++session->last_id;
    slot->scope = session->scopes.back().id;
    slot->node = std::move(node);
    return slot;
}

Ref own_value(SessionState& session, Ref node) {
    if (!node || node->own || !node->dtype.is_float()) return node;
    switch (node->op) {
        case Op::Buffer:
        case Op::Input:
        case Op::RegionArg:
        case Op::Loop:
        case Op::If:
        case Op::Result:
        case Op::Array:
        case Op::Ruled: return node;
        default: return session.nodes.as_own(std::move(node));
    }
}

void note_nested(SessionState& session, int levels, SourceLine line) {
    if (static_cast<int>(session.scopes.size()) - 1 + levels > kMostNested)
        fail_at(line, "recording: loops, branches and functions nest more than " +
                          std::to_string(kMostNested) +
                          " deep; a function that calls itself while it is recorded never ends, "
                          "since both sides of an "
                          "if_ are recorded: write a loop, as while_(condition, body)");
    session.scopes.back().nested = std::max(session.scopes.back().nested, levels);
}

void push_scope(SessionState& session, ScopeKind kind, SourceLine line) {
    note_nested(session, 1, line);
    session.nodes.thread().enter(line);
    Scope scope;
    scope.id = ++session.last_id;
    scope.kind = kind;
    scope.line = line;
    session.scopes.push_back(std::move(scope));
}

Scope pop_scope(SessionState& session) {
    Scope scope = std::move(session.scopes.back());
    session.scopes.pop_back();
    if (scope.kind != ScopeKind::Function) {
        int& around = session.scopes.back().nested;
        around = std::max(around, scope.nested + 1);
    }
    session.nodes.thread().leave();
    return scope;
}

namespace {

/// Depth of the scope a slot was born in; -1 when it has closed. Ids grow with depth.
int birth_depth(const SessionState& session, const Slot& slot) {
    auto at = std::lower_bound(session.scopes.begin(), session.scopes.end(), slot.scope,
                               [](const Scope& scope, uint64_t id) { return scope.id < id; });
    if (at == session.scopes.end() || at->id != slot.scope) return -1;
    return static_cast<int>(at - session.scopes.begin());
}

ScopeEntry* find_entry(Scope& scope, const Slot& slot) {
    auto at = scope.positions.find(&slot);
    return at == scope.positions.end() ? nullptr : &scope.entries[at->second];
}

ScopeEntry& add_entry(Scope& scope, ScopeEntry entry) {
    scope.positions.emplace(entry.slot.get(), scope.entries.size());
    scope.entries.push_back(std::move(entry));
    return scope.entries.back();
}

void check_session(const Slot& slot, SourceLine line) {
    if (slot.session != current_state())
        fail_at(line,
                "a tensor of another session is used; a tensor belongs to the session that was "
                "current when it was made: make or load it where it is used (in a program with an "
                "App: inside app.run(...), which has a session of its own), or copy it by "
                "x.to(current_session())");
}

std::string why_no_value(const Slot& slot) {
    if (slot.given_away.line)
        return "the tensor was donated by std::move at " + text(slot.given_away) +
               "; assign a new value before it is read, or do not move it";
    return slot.lost.empty() ? "the tensor has no value yet; assign one before it is read"
                             : slot.lost;
}

/// A value as `dtype` where that loses nothing of its kind; a carried value keeps its type.
Ref converted(const Builder& b, const Ref& value, DType dtype) {
    if (value->dtype == dtype) return value;
    auto kind = [](DType type) { return type.is_bool() ? 0 : type.is_float() ? 2 : 1; };
    if (kind(value->dtype) > kind(dtype))
        fail_at(b.line, std::string("a value of type ") + dtype.name() + " is assigned " +
                            value->dtype.name() + text(value->shape) +
                            " inside a loop or branch, where a value keeps its type; start it as " +
                            value->dtype.name() + " (such as Tensor x = 0.0f), or convert by .as(" +
                            dtype.name() + ")");
    return cast(b, value, dtype);
}

/// Remembers a slot of the root scope that is assigned again. Slots may end on any thread, so those
/// that are gone are dropped here, now and then.
void note_assigned(SessionState& session, const std::shared_ptr<Slot>& slot) {
    slot->assigned = true;
    if (session.assigned.size() >= session.tidy_assigned) {
        std::erase_if(session.assigned, [](const auto& entry) { return entry.second.expired(); });
        session.tidy_assigned = std::max<size_t>(64, 2 * session.assigned.size());
    }
    session.assigned.emplace(slot->id, slot);
}

/// Assigns in the scope that the slot was born in.
void assign_own(SessionState& session, const std::shared_ptr<Slot>& slot_of, Ref node) {
    Slot& slot = *slot_of;
    // A first value is a declaration; only a later one makes the slot state.
    const bool again = static_cast<bool>(slot.node);
    slot.node = std::move(node);
    slot.lost.clear();
    slot.given_away = {};
    if (session.scopes.size() > 1 || !again || slot.assigned) return;
    note_assigned(session, slot_of);
}

/// Inside a kernel by hand, a tensor from outside is written by index alone.
void check_kernel_boundary(const SessionState& session, const Slot& slot, size_t born,
                           SourceLine line) {
    const size_t kernel = kernel_depth(session);
    if (kernel <= born) return;
    const bool number = slot.node && slot.node->shape.empty();
    fail_at(line, "a tensor from outside is assigned as a whole inside the kernel at " +
                      text(session.scopes[kernel].line) +
                      (number ? "; start it as zeros({1}), and say c(0) = value, or "
                                "atomic_add(c(0), value) where every invocation adds"
                              : "; store to it by index, as in c(i) = value"));
}

void check_function_boundary(const SessionState& session, size_t born, SourceLine line) {
    for (size_t depth = born + 1; depth < session.scopes.size(); ++depth)
        if (session.scopes[depth].kind == ScopeKind::Function)
            fail_at(
                line,
                "a tensor from outside is assigned inside a function that is being compiled at " +
                    text(session.scopes[depth].line) +
                    "; that would happen only once, while recording: return the value instead");
}

}  // namespace

Ref value_at(SessionState& session, const std::shared_ptr<Slot>& slot, size_t depth) {
    Scope& scope = session.scopes[depth];
    if (scope.id == slot->scope) return slot->node;
    if (ScopeEntry* entry = find_entry(scope, *slot)) return entry->value;
    Ref outer = value_at(session, slot, depth - 1);
    if (!outer) return nullptr;
    if (scope.kind == ScopeKind::Function) {
        outer = capture(session, slot, outer, depth);
        return add_entry(session.scopes[depth], {slot, outer, nullptr, outer, false}).value;
    }
    if (scope.kind == ScopeKind::Branch) return outer;
    Builder b{session.nodes, first_line(outer->lines)};
    Ref arg = region_arg(b, outer->dtype, outer->shape);
    return add_entry(session.scopes[depth], {slot, outer, arg, arg, false}).value;
}

Ref read_slot(const std::shared_ptr<Slot>& slot, SourceLine line) {
    check_session(*slot, line);
    SessionState& session = *slot->session;
    const Inside inside(session.nodes.thread(), line);
    if (birth_depth(session, *slot) < 0)
        fail_at(line,
                "a tensor that was made inside a loop, a branch, a kernel or a compiled function "
                "is used "
                "after it; "
                "declare it before, with its starting value, and assign it inside");
    Ref node = value_at(session, slot, session.scopes.size() - 1);
    if (!node) fail_at(line, why_no_value(*slot));
    return node;
}

bool is_elsewhere(const Slot& slot) {
    const SessionState& current = *current_state();
    return slot.session.get() != &current && slot.node && !is_recording(*slot.session) &&
           !is_recording(current);
}

bool has_value(const std::shared_ptr<Slot>& slot) {
    SessionState& session = *slot->session;
    if (slot->node || !slot->lost.empty()) return true;
    return birth_depth(session, *slot) >= 0 && value_at(session, slot, session.scopes.size() - 1);
}

std::shared_ptr<Slot> make_slot_in(SessionState& session, Ref value, uint64_t scope) {
    auto slot = std::make_shared<Slot>();
    slot->session = current_state();
    slot->id = ++session.last_id;
    slot->scope = scope;
    slot->node = std::move(value);
    return slot;
}

namespace {

enum class Write : uint8_t { Assignment, Store };

void join(const Builder& b, Ref& all, const Ref& more) {
    all = all ? elementwise(b, Op::And, {all, more}) : more;
}

/// Returns the conditions of the scopes outwards from `top` to `around`, and the flags of the
/// innermost loop among them, which contain the masks around it. Assignments use masks only, stores
/// all conditions.
Ref conditions_between(SessionState& session, const Builder& b, size_t around, size_t top,
                       Write write, const Slot* slot) {
    Ref all;
    bool in_loop = false;
    for (size_t k = top; k > around; --k) {
        const Scope& scope = session.scopes[k];
        if (scope.condition && (scope.masks ? !in_loop : write == Write::Store))
            join(b, all, scope.condition);
        if (scope.kind != ScopeKind::Loop || in_loop) continue;
        in_loop = true;
        // Also if there is no break_ yet: a later one counts from the next iteration on.
        active_flag(session, b, k);
        for (const std::shared_ptr<Slot>& flag :
             {session.scopes[k].active, session.scopes[k].iteration})
            if (flag && flag.get() != slot) join(b, all, value_at(session, flag, top));
    }
    return all;
}

/// Returns where the loop at `depth` runs at all, null: everywhere. It does not run for elements
/// that the branches and loops around it left out: they would never leave it, because none of their
/// assignments count.
Ref runs_at_all(SessionState& session, const Builder& b, size_t depth, Write write) {
    size_t around = depth - 1;
    while (around > kernel_depth(session) && session.scopes[around].kind != ScopeKind::Function)
        --around;
    return conditions_between(session, b, around, depth - 1, write, nullptr);
}

/// The innermost scope for which the slot had no value: there is nothing that an element could
/// keep.
size_t valued_from(SessionState& session, const Slot& slot, size_t born) {
    for (size_t depth = session.scopes.size() - 1; depth > born; --depth)
        if (const ScopeEntry* entry = find_entry(session.scopes[depth], slot);
            entry && !entry->initial)
            return depth;
    return born;
}

/// Returns where a write to the slot takes effect, element by element; null: everywhere.
Ref mask_of(SessionState& session, const Builder& b, const Slot& slot, size_t born, Write write) {
    // A condition on whether a kernel runs at all does not choose among its invocations.
    const size_t around = std::max(valued_from(session, slot, born), kernel_depth(session));
    return conditions_between(session, b, around, session.scopes.size() - 1, write, &slot);
}

/// The shapes broadcast for all values of their symbols.
bool broadcast_surely(const Shape& x, const Shape& y) {
    for (size_t k = 1; k <= std::min(x.size(), y.size()); ++k)
        if (const Size& a = x[x.size() - k], &b = y[y.size() - k]; a != b && !a.is(1) && !b.is(1))
            return false;
    return true;
}

/// Returns `value` where the mask holds, and `before` elsewhere.
Ref chosen(SessionState& session, const Builder& b, const Ref& mask, const Ref& value,
           const Ref& before) {
    if (!mask || value == before) return value;
    const char* what =
        "an assignment under a condition or in a loop: what is assigned and what was there";
    broadcast_shapes(b, broadcast_shapes(b, value->shape, before->shape, what), mask->shape,
                     "an assignment under a condition: the condition and what is assigned");
    return own_value(session, elementwise(b, Op::Select, {mask, value, before}));
}

bool write(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line, bool assigned) {
    if (!slot->node && slot->session != current_state()) return false;
    check_session(*slot, line);
    SessionState& session = *slot->session;
    const Inside inside(session.nodes.thread(), line);
    int born = birth_depth(session, *slot);
    if (born < 0) return false;
    size_t top = session.scopes.size() - 1;
    if (static_cast<size_t>(born) == top) {
        assign_own(session, slot, std::move(node));
        return true;
    }
    Builder b = builder(session, line.line || node->lines.empty() ? line : node->lines.front());
    check_function_boundary(session, static_cast<size_t>(born), b.line);
    if (assigned) check_kernel_boundary(session, *slot, static_cast<size_t>(born), b.line);
    bool reshaped = false;
    if (Ref old = value_at(session, slot, top); old && assigned) {
        node = converted(b, node, old->dtype);
        const Ref mask = mask_of(session, b, *slot, static_cast<size_t>(born), Write::Assignment);
        // If all elements that began the iteration are still active, a value may take other shapes
        // on its way.
        reshaped = mask && mask->op == Op::RegionArg &&
                   session.scopes[top].kind == ScopeKind::Loop &&
                   !broadcast_surely(node->shape, old->shape);
        if (!reshaped) node = chosen(session, b, mask, node, old);
    }
    leave_value(session, slot, std::move(node), assigned);
    if (reshaped) find_entry(session.scopes[top], *slot)->reshaped = true;
    return true;
}

}  // namespace

bool write_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line) {
    return write(slot, std::move(node), line, true);
}

bool store_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line) {
    return write(slot, std::move(node), line, false);
}

std::shared_ptr<Slot> active_flag(SessionState& session, const Builder& b, size_t depth) {
    if (session.scopes[depth].active) return session.scopes[depth].active;
    const Ref always = constant(b, scalar_bool(true));
    const Ref all = runs_at_all(session, b, depth, Write::Store),
              runs = runs_at_all(session, b, depth, Write::Assignment);
    Scope& scope = session.scopes[depth];
    scope.active = make_slot_in(session, all ? all : always, session.scopes[depth - 1].id);
    scope.runs = runs ? runs : always;
    return scope.active;
}

std::shared_ptr<Slot> iteration_flag(SessionState& session, const Builder& b, size_t depth) {
    if (!session.scopes[depth].iteration)
        session.scopes[depth].iteration =
            make_slot_in(session, constant(b, scalar_bool(true)), session.scopes[depth].id);
    return session.scopes[depth].iteration;
}

void lower_flag(SessionState& session, const Builder& b, size_t depth,
                const std::shared_ptr<Slot>& flag) {
    const size_t top = session.scopes.size() - 1;
    // Asking for the value first makes the loop carry it.
    const Ref old = value_at(session, flag, top);
    const Ref mask =
        mask_of(session, b, *flag, flag == session.scopes[depth].iteration ? depth : depth - 1,
                Write::Assignment);
    const bool in_branch =
        std::any_of(session.scopes.begin() + static_cast<long>(depth), session.scopes.end(),
                    [](const Scope& scope) { return scope.condition && !scope.masks; });
    const Ref no = constant(b, scalar_bool(false));
    leave_value(session, flag, mask ? elementwise(b, Op::Select, {mask, no, old}) : no, in_branch);
}

Ref store_mask(const std::shared_ptr<Slot>& slot, SourceLine line) {
    SessionState& session = *slot->session;
    const int born = birth_depth(session, *slot);
    if (born < 0) return nullptr;
    return mask_of(session, builder(session, line), *slot, static_cast<size_t>(born), Write::Store);
}

std::vector<Ref> masked_indices(const Builder& b, const std::shared_ptr<Slot>& slot,
                                std::vector<Ref> indices) {
    if (Ref mask = store_mask(slot, b.line)) {
        broadcast_shapes(b, mask->shape, indices[0]->shape,
                         "a store under a condition: the condition and the index");
        // A store outside is dropped.
        if (indices[0]->dtype.is_integer())
            indices[0] =
                elementwise(b, Op::Select, {mask, as_index(b, indices[0]), constant_int(b, -1)});
    }
    return indices;
}

void start_value(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& value) {
    add_entry(session.scopes.back(), {slot, value, nullptr, value, false});
}

void leave_value(SessionState& session, const std::shared_ptr<Slot>& slot, Ref node,
                 bool assigned) {
    Scope& scope = session.scopes.back();
    if (scope.id == slot->scope) return assign_own(session, slot, std::move(node));
    Ref before = value_at(session, slot, session.scopes.size() - 1);
    ScopeEntry* entry = find_entry(session.scopes.back(), *slot);
    if (!entry) entry = &add_entry(session.scopes.back(), {slot, before, nullptr, before, false});
    entry->value = std::move(node);
    entry->written = true;
    entry->assigned |= assigned;
}

void leave_lost(SessionState& session, const std::shared_ptr<Slot>& slot, std::string why) {
    slot->lost = std::move(why);
    Scope& scope = session.scopes.back();
    if (scope.id == slot->scope)
        slot->node = nullptr;
    else if (ScopeEntry* entry = find_entry(scope, *slot))
        entry->value = nullptr;
}

void note_asked(SessionState& session, const Ref& node, SourceLine line) {
    for (Scope& scope : session.scopes)
        if (scope.kind == ScopeKind::Loop) scope.asked.emplace_back(node, line);
}

size_t innermost_loop(const SessionState& session) {
    for (size_t depth = session.scopes.size() - 1; depth > 0; --depth) {
        if (session.scopes[depth].kind == ScopeKind::Loop) return depth;
        if (session.scopes[depth].kind == ScopeKind::Function ||
            session.scopes[depth].kind == ScopeKind::Kernel)
            return 0;
    }
    return 0;
}

const Shape* kernel_grid(const SessionState& session) {
    const size_t depth = kernel_depth(session);
    return depth ? &session.scopes[depth].by_hand->grid : nullptr;
}

size_t kernel_depth(const SessionState& session) {
    for (size_t depth = session.scopes.size() - 1; depth > 0; --depth)
        if (session.scopes[depth].kind == ScopeKind::Kernel) return depth;
    return 0;
}

}  // namespace firn
