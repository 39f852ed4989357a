// Recording loops and branches: opening their scopes, and closing them into Loop and If nodes.
#include "compiler/frontend/control.h"

#include <exception>
#include <optional>

#include "compiler/frontend/record.h"
#include "compiler/frontend/widen.h"
#include "compiler/program/error.h"

namespace firn {

// --- loop ----------------------------------------------------------------------------------------

LoopRange::LoopRange(const Arg& begin, const Arg& end, const Arg& step)
    : session_(current_state()),
      begin_(begin.node()),
      end_(end.node()),
      step_(step.node()),
      line_(end.line()),
      exceptions_(std::uncaught_exceptions()) {}

LoopRange::Turn LoopRange::begin() {
    Builder b = builder(*session_, line_);
    for (const Ref& bound : {begin_, end_, step_})
        if (!bound->shape.empty() || !bound->dtype.is_integer())
            fail_at(line_, std::string("loop: a bound is ") + bound->dtype.name() +
                               text(bound->shape) +
                               "; bounds are single integers: reduce it, or convert by .as(i32)");
    induction_ = region_arg(b, i32, {});
    push_scope(*session_, ScopeKind::Loop, line_);
    scope_ = session_->scopes.back().id;
    return Turn(*this);
}

LoopRange::~LoopRange() {
    if (closed_ || !scope_) return;
    while (session_->scopes.back().id >= scope_) pop_scope(*session_);
    if (std::uncaught_exceptions() == exceptions_)
        session_->left_open =
            "loop: its body was left by a native break or return, which cannot be recorded; use "
            "break_() inside if_ (" +
            text(line_) + ")";
}

namespace {

/// The values that a loop's turns assign, and what to put in the place of the arguments that none
/// does.
struct Carried {
    std::vector<const ScopeEntry*> entries;
    std::unordered_map<const Node*, Ref> replace;
    int active = -1;
};

Carried carried_values(const Scope& scope) {
    Carried out;
    for (const ScopeEntry& entry : scope.entries) {
        if (!entry.arg) continue;
        if (!entry.written || entry.value == entry.arg) {
            out.replace.emplace(entry.arg.get(), entry.initial);
            continue;
        }
        if (entry.slot == scope.active) out.active = static_cast<int>(out.entries.size());
        out.entries.push_back(&entry);
    }
    return out;
}

/// Elements that had left before the turn keep what they had.
Ref frozen(const Builder& b, const Carried& carried, size_t k) {
    const ScopeEntry& entry = *carried.entries[k];
    if (carried.active < 0 || static_cast<int>(k) == carried.active) return entry.value;
    const Ref& active = carried.entries[static_cast<size_t>(carried.active)]->arg;
    return elementwise(b, Op::Select, {active, entry.value, entry.arg});
}

/// The shapes that were asked for inside, as the enclosing loop sees them.
void pass_on_asked(SessionState& session, const Scope& scope, const Carried& carried,
                   const LoopParts& parts, const Ref& node) {
    size_t outer = innermost_loop(session);
    if (!outer || scope.asked.empty()) return;
    std::unordered_map<const Node*, Ref> replace = carried.replace;
    replace.emplace(parts.body.args[0].get(), parts.begin);
    for (size_t k = 0; k < carried.entries.size(); ++k) {
        const Ref& init = node->inputs[3 + k];
        if (init->shape == carried.entries[k]->arg->shape)
            replace.emplace(carried.entries[k]->arg.get(), init);
    }
    std::vector<Ref> asked;
    for (const auto& [value, line] : scope.asked) asked.push_back(value);
    asked = infer_again(builder(session, {}), asked, std::move(replace), parts.body.args[0]);
    for (size_t k = 0; k < asked.size(); ++k)
        session.scopes[outer].asked.emplace_back(asked[k], scope.asked[k].second);
}

}  // namespace

void LoopRange::close() {
    ensure(session_->scopes.back().id == scope_, "scopes close in the order they were opened");
    closed_ = true;
    Scope scope = pop_scope(*session_);
    Builder b = builder(*session_, line_);
    Carried carried = carried_values(scope);
    if (!carried.entries.empty()) {
        LoopParts parts{begin_, end_, step_, {}, {{induction_}, {}}, carried.active};
        for (size_t k = 0; k < carried.entries.size(); ++k) {
            parts.inits.push_back(carried.entries[k]->initial);
            parts.body.args.push_back(carried.entries[k]->arg);
            parts.body.results.push_back(frozen(b, carried, k));
        }
        Ref node = make_loop(b, parts, carried.replace, scope.asked);
        for (size_t k = 0; k < carried.entries.size(); ++k)
            leave_value(*session_, carried.entries[k]->slot, result(b, node, static_cast<int>(k)));
        pass_on_asked(*session_, scope, carried, parts, node);
    }
    for (const ScopeEntry& entry : scope.entries)
        if (entry.written && !entry.arg)
            leave_lost(*session_, entry.slot,
                       "a tensor without a value was assigned only inside the loop at " +
                           text(line_) +
                           ", which may take no turn; start it with a value before the loop");
}

// --- if_ -----------------------------------------------------------------------------------------

namespace {

/// Records one side; the scope is discarded when the body throws.
Scope record_side(SessionState& session, SourceLine line, const std::function<void()>& body) {
    push_scope(session, ScopeKind::Branch, line);
    uint64_t id = session.scopes.back().id;
    if (body) {
        try {
            body();
        } catch (...) {
            while (session.scopes.back().id >= id) pop_scope(session);
            throw;
        }
    }
    ensure(session.scopes.back().id == id, "scopes close in the order they were opened");
    return pop_scope(session);
}

/// What a side leaves in a slot; null: it has no value there.
Ref value_after(SessionState& session, const Scope& side, const std::shared_ptr<Slot>& slot) {
    auto at = side.positions.find(slot.get());
    if (at != side.positions.end()) return side.entries[at->second].value;
    return value_at(session, slot, session.scopes.size() - 1);
}

struct Merge {
    std::shared_ptr<Slot> slot;
    Ref then_value, else_value;
};

std::vector<Merge> merges(SessionState& session, const Scope& then_side, const Scope& else_side) {
    std::vector<Merge> out;
    for (const Scope* side : {&then_side, &else_side})
        for (const ScopeEntry& entry : side->entries) {
            bool seen = side == &else_side && then_side.positions.contains(entry.slot.get());
            if (!entry.written || seen) continue;
            out.push_back({entry.slot, value_after(session, then_side, entry.slot),
                           value_after(session, else_side, entry.slot)});
        }
    return out;
}

}  // namespace

void if_(const Arg& condition, const std::function<void()>& then,
         const std::function<void()>& otherwise) {
    std::shared_ptr<SessionState> session = current_state();
    SourceLine line = condition.line();
    Ref test = condition.node();
    if (!test->dtype.is_bool())
        fail_at(line, std::string("if_: the condition is ") + test->dtype.name() +
                          text(test->shape) + "; it must be a bool: compare it, as in x != 0");
    Scope then_side = record_side(*session, line, then);
    Scope else_side = record_side(*session, line, otherwise);
    Builder b = builder(*session, line);
    Region then_body, else_body;
    std::vector<std::shared_ptr<Slot>> slots;
    for (Merge& merge : merges(*session, then_side, else_side)) {
        if (!merge.then_value || !merge.else_value) {
            leave_lost(*session, merge.slot,
                       "a tensor without a value is assigned in one branch only of the if_ at " +
                           text(line) + "; start it with a value before, or assign it in both");
            continue;
        }
        DType dtype = join(merge.then_value->dtype, merge.else_value->dtype);
        then_body.results.push_back(cast(b, merge.then_value, dtype));
        else_body.results.push_back(cast(b, merge.else_value, dtype));
        slots.push_back(merge.slot);
    }
    if (slots.empty()) return;
    Ref node = branch(b, test, std::move(then_body), std::move(else_body));
    for (size_t k = 0; k < slots.size(); ++k)
        leave_value(*session, slots[k], result(b, node, static_cast<int>(k)));
}

// --- break_ --------------------------------------------------------------------------------------

void break_(SourceLine line) {
    SessionState& session = *current_state();
    Builder b = builder(session, line);
    size_t depth = innermost_loop(session);
    if (!depth)
        fail_at(line, "break_: there is no recorded loop to leave; a C++ loop is left by break");
    Scope& scope = session.scopes[depth];
    if (!scope.active) {
        scope.active = std::make_shared<Slot>();
        scope.active->session = current_state();
        scope.active->id = ++session.last_id;
        scope.active->scope = session.scopes[depth - 1].id;
        scope.active->node = constant(b, scalar_bool(true));
    }
    // Asking for the value first makes the loop carry it.
    value_at(session, scope.active, session.scopes.size() - 1);
    leave_value(session, scope.active, constant(b, scalar_bool(false)));
}

}  // namespace firn
