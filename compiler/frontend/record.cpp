// Reading and writing slots across scopes.
#include "compiler/frontend/record.h"

#include <algorithm>

#include "compiler/frontend/capture.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr size_t kDeepest = 200;   // scopes inside one another: more is recursion

}  // namespace

void fail_at(SourceLine line, const std::string& message) {
    throw UserError(line.line ? message + " (" + text(line) + ")" : message);
}

Builder builder(SessionState& session, SourceLine line) {
    const Inside inside(session.nodes.thread(), line);
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

void push_scope(SessionState& session, ScopeKind kind, SourceLine line) {
    if (session.scopes.size() > kDeepest)
        fail_at(line, "recording: loops, branches and functions nest " + std::to_string(kDeepest) +
                          " deep; a function that calls itself while it is recorded never ends, since both sides of an "
                          "if_ are recorded: write a loop, as while_(condition, body)");
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
                "current when "
                "it was made: keep them apart, or move the data by to_vector and tensor");
}

std::string why_no_value(const Slot& slot) {
    if (slot.given_away.line)
        return "the tensor was given away by std::move at " + text(slot.given_away) +
               "; assign a new value before it is read, or do not move it";
    return slot.lost.empty() ? "the tensor has no value yet; assign one before it is read" : slot.lost;
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

/// Remembers a slot of the root scope that is assigned again. Slots may end on any thread, so those that are gone are
/// dropped here, now and then.
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
    // A first value is a declaration; only a later one makes the slot somebody's state.
    bool again = slot.node != nullptr;
    slot.node = std::move(node);
    slot.lost.clear();
    slot.given_away = {};
    if (session.scopes.size() > 1 || !again || slot.assigned) return;
    note_assigned(session, slot_of);
}

/// The flags that say, element by element, whether the loops that a write leaves still run, and this turn.
std::vector<std::shared_ptr<Slot>> loop_masks(const SessionState& session, size_t born, const Slot& slot) {
    std::vector<std::shared_ptr<Slot>> out;
    // What chooses whether a kernel runs at all does not choose among its invocations.
    for (size_t depth = session.scopes.size() - 1; depth > std::max(born, kernel_depth(session)); --depth)
        for (const std::shared_ptr<Slot>& mask : {session.scopes[depth].active, session.scopes[depth].turn})
            if (mask && mask.get() != &slot) out.push_back(mask);
    return out;
}

/// `value` where every loop that the write leaves is still active, else `old`.
Ref masked(SessionState& session, const Builder& b, size_t born, const Slot& slot, Ref value,
           const Ref& old) {
    for (const std::shared_ptr<Slot>& mask : loop_masks(session, born, slot))
        value = elementwise(b, Op::Select, {value_at(session, mask, session.scopes.size() - 1), value, old});
    return value;
}

/// Inside a kernel by hand, a tensor from outside is written by index alone.
void check_kernel_boundary(const SessionState& session, size_t born, SourceLine line) {
    if (const size_t kernel = kernel_depth(session); kernel > born)
        fail_at(line, "a tensor from outside is assigned as a whole inside the kernel at " + text(session.scopes[kernel].line) +
                          "; store to it by index, as in c(i) = value");
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
    Builder b{session.nodes, outer->lines.empty() ? SourceLine{} : outer->lines.front()};
    Ref arg = region_arg(b, outer->dtype, outer->shape);
    return add_entry(session.scopes[depth], {slot, outer, arg, arg, false}).value;
}

Ref read_slot(const std::shared_ptr<Slot>& slot, SourceLine line) {
    check_session(*slot, line);
    SessionState& session = *slot->session;
    const Inside inside(session.nodes.thread(), line);
    if (birth_depth(session, *slot) < 0)
        fail_at(line,
                "a tensor that was made inside a loop, a branch, a kernel or a compiled function is used "
                "after it; "
                "declare it before, with its starting value, and assign it inside");
    Ref node = value_at(session, slot, session.scopes.size() - 1);
    if (!node) fail_at(line, why_no_value(*slot));
    return node;
}

bool has_value(const std::shared_ptr<Slot>& slot) {
    SessionState& session = *slot->session;
    if (slot->node || !slot->lost.empty()) return true;
    return birth_depth(session, *slot) >= 0 && value_at(session, slot, session.scopes.size() - 1);
}

namespace {

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
    if (assigned) check_kernel_boundary(session, static_cast<size_t>(born), b.line);
    if (Ref old = value_at(session, slot, top); old && assigned)
        node = masked(session, b, static_cast<size_t>(born), *slot, converted(b, node, old->dtype),
                      old);
    leave_value(session, slot, std::move(node), assigned);
    return true;
}

}  // namespace

bool write_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line) {
    return write(slot, std::move(node), line, true);
}

bool store_slot(const std::shared_ptr<Slot>& slot, Ref node, SourceLine line) {
    return write(slot, std::move(node), line, false);
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

/// Where the loop at `depth` runs at all: not for elements that the branches and loops around it left out. They
/// would never leave it, since nothing that they assign counts.
Ref runs_at_all(SessionState& session, const Builder& b, size_t depth) {
    Ref all;
    auto join = [&](const Ref& more) { all = all ? elementwise(b, Op::And, {all, more}) : more; };
    for (size_t k = depth - 1; k > kernel_depth(session) && session.scopes[k].kind != ScopeKind::Function; --k) {
        const Scope& scope = session.scopes[k];
        if (scope.condition) join(scope.condition);
        for (const std::shared_ptr<Slot>& flag : {scope.active, scope.turn})
            if (flag) join(value_at(session, flag, depth - 1));
    }
    return all ? all : constant(b, scalar_bool(true));
}

}  // namespace

std::shared_ptr<Slot> active_flag(SessionState& session, const Builder& b, size_t depth) {
    if (!session.scopes[depth].active)
        session.scopes[depth].active =
            make_slot_in(session, runs_at_all(session, b, depth), session.scopes[depth - 1].id);
    return session.scopes[depth].active;
}

std::shared_ptr<Slot> turn_flag(SessionState& session, const Builder& b, size_t depth) {
    if (!session.scopes[depth].turn)
        session.scopes[depth].turn =
            make_slot_in(session, constant(b, scalar_bool(true)), session.scopes[depth].id);
    return session.scopes[depth].turn;
}

Ref store_mask(const std::shared_ptr<Slot>& slot, SourceLine line) {
    SessionState& session = *slot->session;
    const int born = birth_depth(session, *slot);
    if (born < 0) return nullptr;
    Builder b = builder(session, line);
    Ref mask;
    auto join = [&](const Ref& more) { mask = mask ? elementwise(b, Op::And, {mask, more}) : more; };
    const size_t outermost = std::max(static_cast<size_t>(born), kernel_depth(session));
    for (size_t depth = outermost + 1; depth < session.scopes.size(); ++depth) {
        if (session.scopes[depth].condition) join(session.scopes[depth].condition);
        // A break_ further down in the body counts from the next turn on.
        if (session.scopes[depth].kind == ScopeKind::Loop) active_flag(session, b, depth);
    }
    for (const std::shared_ptr<Slot>& flag : loop_masks(session, static_cast<size_t>(born), *slot))
        join(value_at(session, flag, session.scopes.size() - 1));
    return mask;
}

std::vector<Ref> masked_indices(const Builder& b, const std::shared_ptr<Slot>& slot, std::vector<Ref> indices) {
    if (Ref mask = store_mask(slot, b.line)) {
        broadcast_shapes(b, mask->shape, indices[0]->shape, "a store under a condition: the condition and the index");
        // A store outside is dropped.
        if (indices[0]->dtype.is_integer())
            indices[0] = elementwise(b, Op::Select, {mask, cast(b, indices[0], i32), constant_int(b, -1)});
    }
    return indices;
}

void leave_value(SessionState& session, const std::shared_ptr<Slot>& slot, Ref node, bool assigned) {
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
        if (session.scopes[depth].kind == ScopeKind::Function || session.scopes[depth].kind == ScopeKind::Kernel) return 0;
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
