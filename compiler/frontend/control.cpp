// Recording loops and branches: opening their scopes, and closing them into Loop and If nodes.
#include "compiler/frontend/control.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "compiler/base/error.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/outer_values.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/scopes.h"
#include "compiler/frontend/widen.h"
#include "compiler/ir/uniform.h"
#include "compiler/ir/value_bounds.h"

namespace firn {

namespace {

/// Drops the scope with this id, if it is still open, and those in it.
void discard_scopes(SessionState& session, uint64_t id) {
    const bool open = std::any_of(session.scopes.begin(), session.scopes.end(),
                                  [&](const Scope& scope) { return scope.id == id; });
    if (!open) return;
    while (session.scopes.back().id >= id) pop_scope(session);
    discard_effects(session);
}

}  // namespace

// --- loop ----------------------------------------------------------------------------------------

LoopRange::LoopRange(const Arg& begin, const Arg& end, const Arg& step, const LoopOptions& options)
    : session_(current_state()),
      begin_(begin.node()),
      end_(end.node()),
      step_(step.node()),
      line_(end.line()),
      checkpoint_(options.checkpoint),
      exceptions_(std::uncaught_exceptions()) {
    if (checkpoint_ < 0 || checkpoint_ > INT32_MAX)
        fail_at(line_, "loop: checkpoint is " + std::to_string(checkpoint_) +
                           "; it counts iterations from one kept state to the next");
}

namespace {

/// Returns the trip count of a loop in each invocation, if its bounds differ between invocations.
Ref trips_of_each(const Builder& b, const Ref& begin, const Ref& end, const Ref& step) {
    const auto op = [&](Op o, const Ref& x, const Ref& y) { return elementwise(b, o, {x, y}); };
    const Ref zero = constant_int(b, 0), one = constant_int(b, 1);
    const Ref way = op(Op::Sub, end, begin), back = op(Op::Sub, begin, end);
    const Ref up = op(Op::Div, op(Op::Add, way, op(Op::Sub, step, one)), step);
    const Ref down =
        op(Op::Div, op(Op::Sub, back, op(Op::Add, step, one)), op(Op::Sub, zero, step));
    if (step->op != Op::Constant)
        return elementwise(b, Op::Select, {op(Op::Less, zero, step), up, down});
    const int64_t by = step->as<ConstantAttr>().value.as_int();
    return by == 1 ? way : by > 0 ? up : down;
}

/// The most by which `end` lies beyond `begin`, where it says so itself: min(end, begin + 100).
int64_t most_beyond(const Ref& end, const Ref& begin) {
    if (end->op == Op::Min)
        return std::min(most_beyond(end->inputs[0], begin), most_beyond(end->inputs[1], begin));
    if (end->op == Op::Add)
        for (size_t k : {size_t{0}, size_t{1}})
            if (end->inputs[k] == begin) return value_bounds(*end->inputs[1 - k], {}).hi;
    return INT32_MAX;
}

}  // namespace

/// Counts the iterations of the invocation with the most, and masks invocations that are done. If
/// their number is unknown, the driver's limit may end the loop early.
void LoopRange::count_by_invocation() {
    const Builder b = builder(*session_, line_);
    const Ref begin = cast(b, begin_, i32), end = cast(b, end_, i32), step = cast(b, step_, i32);
    const Ref trips = trips_of_each(b, begin, end, step);
    int64_t most = value_bounds(*trips, {}).hi;
    if (step->op == Op::Constant && step->as<ConstantAttr>().value.as_int() > 0)
        most = std::min(most, most_beyond(end, begin));
    begin_ = constant_int(b, 0), step_ = constant_int(b, 1);
    end_ = constant_int(b, std::max<int64_t>(most, 0));
    Scope& scope = session_->scopes.back();
    scope.begin = begin_, scope.step = step_;
    const bool bounded = most < INT32_MAX;
    if (!bounded) scope.must_end = MustEnd::Stored;
    index_ = elementwise(b, Op::Add, {begin, elementwise(b, Op::Mul, {induction_, step})});
    const Ref done = elementwise(b, Op::LessEqual, {trips, induction_});
    if_(Arg(Tensor::from_node(done), line_), [&] { break_(line_); });
    if (!bounded) active_ = session_->scopes.back().active;
}

LoopRange::Iteration LoopRange::begin() {
    Builder b = builder(*session_, line_);
    bool each = false;
    for (const auto& bound : {begin_, end_, step_}) {
        const std::string given =
            std::string("loop: a bound is ") + bound->dtype.name() + text(bound->shape);
        if (!bound->dtype.is_integer())
            fail_at(line_, given + "; a bound is an integer: convert it by .as(i32)");
        if (bound->shape.empty()) continue;
        each = true;
        if (!kernel_depth(*session_))
            fail_at(line_, given +
                               "; a bound is one integer: take max(bound), or give every element "
                               "its own trip count by while_([&] { return k < bound; }, "
                               "[&] { ..; k += 1; }); inside of kernel(...) it may be each "
                               "invocation's own");
        const Shape& grid = *kernel_grid(*session_);
        if (broadcast_shapes(b, bound->shape, grid, "loop: a bound and the invocations") != grid)
            fail_at(line_, given + ", and the kernel's invocations are " + text(grid) +
                               "; a bound is the invocation's own, as in loop(start(k), "
                               "start(k + 1))");
    }
    index_ = induction_ = region_arg(b, i32, {});
    push_scope(*session_, ScopeKind::Loop, line_);
    Scope& scope = session_->scopes.back();
    scope_ = scope.id;
    scope.induction = induction_, scope.begin = begin_, scope.step = step_,
    scope.checkpoint = checkpoint_;
    if (each) count_by_invocation();
    return Iteration(*this);
}

LoopRange::~LoopRange() {
    if (closed_ || !scope_) return;
    discard_scopes(*session_, scope_);
    if (std::uncaught_exceptions() == exceptions_)
        session_->left_open =
            "loop: its body was left by a native break or return, which cannot be recorded; use "
            "break_() inside if_ (" +
            text(line_) + ")";
}

namespace {

/// The values that a loop's iterations assign, and the replacements of arguments that none assigns.
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
            out.replace.emplace(entry.arg.get(),
                                entry.slot == scope.active ? scope.runs : entry.initial);
            continue;
        }
        if (entry.slot == scope.active) out.active = static_cast<int>(out.entries.size());
        out.entries.push_back(&entry);
    }
    return out;
}

/// Carries values that the body only reads, if the loop may never end and assigns nothing: a later
/// use of them then finds out that it never ended.
void carry_what_is_read(const Scope& scope, Carried& carried) {
    if (scope.must_end == MustEnd::No || carried.active < 0 || carried.entries.size() > 1) return;
    for (const ScopeEntry& entry : scope.entries)
        if (entry.arg && carried.replace.erase(entry.arg.get())) carried.entries.push_back(&entry);
}

/// Returns an entry's value after an iteration; elements that left the loop before keep their old
/// value.
Ref kept_of_left(const Builder& b, const Carried& carried, const ScopeEntry& entry) {
    if (carried.active < 0 || !entry.reshaped) return entry.value;
    const Ref& active = carried.entries[static_cast<size_t>(carried.active)]->arg;
    return elementwise(b, Op::Select, {active, entry.value, entry.arg});
}

/// Passes the shapes that were read inside on, as the enclosing loop sees them.
void pass_on_asked(SessionState& session, const Scope& scope, const Carried& carried,
                   const RecordedLoop& parts, const Ref& node) {
    size_t outer = innermost_loop(session);
    if (!outer || scope.asked.empty()) return;
    std::unordered_map<const Node*, Ref> replace = carried.replace;
    replace.emplace(parts.body.args[0].get(), parts.begin);
    for (size_t k = 0; k < carried.entries.size(); ++k) {
        const Ref& init = node->inputs[3 + parts.sizes.size() + k];
        if (init->shape == carried.entries[k]->arg->shape)
            replace.emplace(carried.entries[k]->arg.get(), init);
    }
    std::vector<Ref> asked;
    for (const auto& [value, line] : scope.asked) asked.push_back(value);
    asked = infer_again(builder(session, {}), asked, std::move(replace), parts.body.args[0]);
    for (size_t k = 0; k < asked.size(); ++k)
        session.scopes[outer].asked.emplace_back(asked[k], scope.asked[k].second);
}

/// Checks that the group leaves the loop together, because every iteration has a collective
/// operation of the kernel's group.
void check_together(const SessionState& session, const Scope& scope, const RecordedLoop& parts) {
    if (!scope.together.first || parts.active < 0) return;
    const auto k = static_cast<size_t>(parts.active);
    const std::vector<uint32_t>& group = session.scopes[kernel_depth(session)].by_hand->group;
    if (!is_uniform(*parts.body.results[k], group, {parts.body.args[k + 1].get()}))
        fail_at(scope.together.second, std::string(scope.together.first) + ": the loop at " +
                                           text(scope.line) +
                                           " is left by a break_ whose condition differs among "
                                           "invocations, so that not all of a group reach it; let "
                                           "all of them take every iteration, or make the "
                                           "condition the same for the whole group");
}

/// Returns the parts of the loop: the sizes that begin in its iterations, then the carried values.
RecordedLoop parts_of(const Builder& b, const Scope& scope, const Carried& carried) {
    RecordedLoop parts;
    std::vector<Ref> below;
    for (const ScopeEntry* entry : carried.entries) below.push_back(entry->value);
    for (const Size& size : scope.sizes) below.push_back(source_of(data_symbols(size)[0]).count);
    parts.sizes = mentioned(scope.sizes, below);
    parts.body.args = {scope.induction};
    for (const Size& size : parts.sizes) {
        parts.inits.push_back(constant_int(b, 0));
        parts.body.args.push_back(region_arg(b, i32, {}));
        parts.body.results.push_back(source_of(data_symbols(size)[0]).count);
    }
    for (size_t k = 0; k < carried.entries.size(); ++k) {
        const ScopeEntry& entry = *carried.entries[k];
        if (const Size* own = mentioned(parts.sizes, entry.value->shape))
            fail_at(entry.value->lines.empty() ? scope.line : entry.value->lines.front(),
                    "loop: a tensor from outside is assigned " + text(entry.value->shape) +
                        ", and " + own->text() + " is a size of one iteration of the loop at " +
                        text(scope.line) +
                        ": the next has another; store to a tensor of fixed shape by index, or "
                        "keep room for all, as "
                        "compact_padded and nonzero_padded do");
        parts.inits.push_back(entry.initial);
        parts.body.args.push_back(entry.arg);
        parts.body.results.push_back(kept_of_left(b, carried, entry));
    }
    parts.active = carried.active < 0 ? -1 : carried.active + static_cast<int>(parts.sizes.size());
    parts.must_end = scope.must_end;
    parts.checkpoint = scope.checkpoint;
    return parts;
}

/// A kernel by hand is one dispatch, which cannot fail: it stores that some invocation still runs,
/// and later uses see that.
void note_endless(SessionState& session, const std::shared_ptr<Slot>& active,
                  const std::string& text, SourceLine line) {
    const size_t kernel = kernel_depth(session);
    ByHand& by_hand = *session.scopes[kernel].by_hand;
    const Builder b = builder(session, line);
    const Ref none = expand(b, constant_int(b, 0), {Size(1)});
    const std::shared_ptr<Slot> went_on =
        make_slot_in(session, none, session.scopes[kernel - 1].id);
    by_hand.endless.push_back({went_on, text, b.line});
    if_(Arg(Tensor::from_node(read_slot(active, line)), line), [&] {
        std::vector<Ref> at =
            masked_indices(b, went_on, {expand(b, constant_int(b, 0), by_hand.grid)});
        store_slot(went_on,
                   scatter(b, read_slot(went_on, line), constant_int(b, 1), std::move(at),
                           {.op = ScatterOp::Or, .by_hand = true}),
                   line);
    });
}

}  // namespace

void LoopRange::close() {
    ensure(session_->scopes.back().id == scope_, "scopes close in the order they were opened");
    closed_ = true;
    Scope scope = pop_scope(*session_);
    Builder b = builder(*session_, line_);
    settle_gradients(*session_, scope);
    Carried carried = carried_values(scope);
    carry_what_is_read(scope, carried);
    if (!carried.entries.empty()) {
        RecordedLoop parts = parts_of(b, scope, carried);
        parts.begin = begin_, parts.end = end_, parts.step = step_;
        check_together(*session_, scope, parts);
        Ref node = make_loop(b, parts, carried.replace, scope.asked);
        for (size_t k = 0; k < carried.entries.size(); ++k)
            leave_value(*session_, carried.entries[k]->slot,
                        result(b, node, static_cast<int>(parts.sizes.size() + k)),
                        carried.entries[k]->assigned);
        pass_on_asked(*session_, scope, carried, parts, node);
    }
    for (const ScopeEntry& entry : scope.entries)
        if (entry.written && !entry.arg)
            leave_lost(*session_, entry.slot,
                       "a tensor without a value was assigned only inside the loop at " +
                           text(line_) +
                           ", which may take no iteration; start it with a value before the loop");
    if (active_)
        note_endless(*session_, active_,
                     "loop: the bounds of an invocation ask for more iterations than this device "
                     "allows in one dispatch; share its elements among several invocations",
                     line_);
    perform_effects(*session_);
}

// --- if_ -----------------------------------------------------------------------------------------

namespace {

/// A value of which a loop around carries one number may take a shape when that loop closes.
bool may_widen(const SessionState& session, const Node& node) {
    if (!node.free_args) return false;
    for (const Scope& scope : session.scopes)
        for (const ScopeEntry& entry : scope.entries)
            if (entry.arg && entry.arg->shape.empty() &&
                std::binary_search(node.free_args->begin(), node.free_args->end(),
                                   entry.arg->as<RegionArgAttr>().id))
                return true;
    return false;
}

/// Begins one side of a branch, chosen by `condition`.
void open_side(SessionState& session, SourceLine line, const Ref& condition, bool masks) {
    push_scope(session, ScopeKind::Branch, line);
    session.scopes.back().condition = condition;
    session.scopes.back().masks = masks;
}

/// Ends the side that is open.
Scope end_side(SessionState& session, uint64_t id) {
    ensure(session.scopes.back().id == id, "scopes close in the order they were opened");
    return pop_scope(session);
}

/// The value that a side leaves in a slot.
struct Side {
    Ref value;              // null: it has no value there
    bool assigned = false;  // not only by stores
};

Side side_of(SessionState& session, const Scope& side, const std::shared_ptr<Slot>& slot) {
    auto at = side.positions.find(slot.get());
    if (at == side.positions.end()) return {value_at(session, slot, session.scopes.size() - 1)};
    const ScopeEntry& entry = side.entries[at->second];
    return {entry.value, entry.written && entry.assigned};
}

/// The slots that a side wrote, each once, in the order of first use.
std::vector<std::shared_ptr<Slot>> written_slots(const Scope& then_side, const Scope& else_side) {
    std::vector<std::shared_ptr<Slot>> out;
    for (const Scope* side : {&then_side, &else_side})
        for (const ScopeEntry& entry : side->entries) {
            const auto other = side == &else_side ? then_side.positions.find(entry.slot.get())
                                                  : then_side.positions.end();
            const bool seen =
                other != then_side.positions.end() && then_side.entries[other->second].written;
            if (entry.written && !seen) out.push_back(entry.slot);
        }
    return out;
}

/// Begins the second side on top of the first: elements that take the other side have the first
/// side's result, and positions are masked already. Only if a branch takes one of its sides does
/// the second begin as the first did.
void open_second(SessionState& session, SourceLine line, const Ref& condition, const Scope& first) {
    open_side(session, line, condition, first.masks);
    for (const ScopeEntry& entry : first.entries)
        if (entry.written && entry.initial && entry.value && (first.masks || !entry.assigned))
            start_value(session, entry.slot, entry.value);
}

/// The values that a branch chooses between, and where they go.
struct Choices {
    Region then_body, else_body;
    std::vector<std::shared_ptr<Slot>> slots;
};

}  // namespace

BranchScope::BranchScope(const Arg& condition)
    : session_(current_state()), condition_(condition.node()), line_(condition.line()) {
    if (!condition_->dtype.is_bool())
        fail_at(line_, std::string("if_: the condition is ") + condition_->dtype.name() +
                           text(condition_->shape) +
                           "; it must be a bool: compare it, as in x != 0");
    builder(*session_, line_);
    masks_ = !condition_->shape.empty() || may_widen(*session_, *condition_);
    open_side(*session_, line_, condition_, masks_);
    scope_ = session_->scopes.back().id;
}

BranchScope::~BranchScope() {
    if (scope_) discard_scopes(*session_, scope_);
}

void BranchScope::otherwise() {
    first_ = std::make_shared<Scope>(end_side(*session_, scope_));
    scope_ = 0;
    open_second(*session_, line_, elementwise(builder(*session_, line_), Op::Not, {condition_}),
                *first_);
    scope_ = session_->scopes.back().id;
}

void BranchScope::close() {
    const Scope second = end_side(*session_, scope_);
    scope_ = 0;
    const Builder b = builder(*session_, line_);
    Choices choices;
    for (const std::shared_ptr<Slot>& slot : written_slots(*first_, second)) {
        const Ref before = value_at(*session_, slot, session_->scopes.size() - 1);
        const Side yes = side_of(*session_, *first_, slot), no = side_of(*session_, second, slot);
        const bool assigned = yes.assigned || no.assigned;
        if (!yes.value || !no.value) {
            leave_lost(*session_, slot,
                       "a tensor without a value is assigned in one branch only of the if_ at " +
                           text(line_) + "; start it with a value before, or assign it in both");
            continue;
        }
        if (before && (masks_ || !assigned)) {
            leave_value(*session_, slot, no.value, assigned);
            continue;
        }
        const DType dtype = join(yes.value->dtype, no.value->dtype);
        choices.then_body.results.push_back(cast(b, yes.value, dtype));
        choices.else_body.results.push_back(cast(b, no.value, dtype));
        choices.slots.push_back(slot);
    }
    if (!choices.slots.empty()) {
        Ref node =
            branch(b, condition_, std::move(choices.then_body), std::move(choices.else_body));
        for (size_t k = 0; k < choices.slots.size(); ++k)
            leave_value(*session_, choices.slots[k], result(b, node, static_cast<int>(k)));
    }
    perform_effects(*session_);
}

void if_(const Arg& condition, const Callback<void()>& then, const Callback<void()>& otherwise) {
    BranchScope sides(condition);
    if (then) then();
    sides.otherwise();
    if (otherwise) otherwise();
    sides.close();
}

// --- break_, continue_, while_ -------------------------------------------------------------------

namespace {

/// The loop that break_ or continue_ means; UserError where there is none.
size_t loop_to_leave(const SessionState& session, SourceLine line, const char* what,
                     const char* native) {
    size_t depth = innermost_loop(session);
    if (!depth)
        fail_at(line, std::string(what) +
                          ": there is no recorded loop to leave; a C++ loop is left by " + native);
    return depth;
}

}  // namespace

void break_(SourceLine line) {
    SessionState& session = *current_state();
    Builder b = builder(session, line);
    size_t depth = loop_to_leave(session, line, "break_", "break");
    lower_flag(session, b, depth, active_flag(session, b, depth));
}

void continue_(SourceLine line) {
    SessionState& session = *current_state();
    Builder b = builder(session, line);
    size_t depth = loop_to_leave(session, line, "continue_", "continue");
    lower_flag(session, b, depth, iteration_flag(session, b, depth));
}

namespace {

/// Iterations that a while_ without max_steps may take.
int64_t while_limit(SessionState& session) {
    if (!session.while_limit) session.while_limit = environment_number("FIRN_MAX_STEPS", 1'000'000);
    if (*session.while_limit < 1)
        throw UserError("FIRN_MAX_STEPS counts iterations; give a number from 1 up");
    return *session.while_limit;
}

}  // namespace

WhileScope::WhileScope(const WhileOptions& options, SourceLine line)
    : session_(current_state()), line_(line), limited_(options.max_steps.has_value()) {
    if (options.max_steps && *options.max_steps < 0)
        fail_at(line_, "while_: max_steps is " + std::to_string(*options.max_steps) +
                           "; it counts iterations");
    const int64_t most = options.max_steps.value_or(while_limit(*session_));
    loop_.emplace(Arg(0, line_), Arg(Size(std::min<int64_t>(most, INT32_MAX)), line_),
                  Arg(1, line_));
    if (!limited_)
        session_->scopes.back().must_end =
            kernel_depth(*session_) ? MustEnd::Stored : MustEnd::Throws;
}

WhileScope::~WhileScope() = default;

void WhileScope::test(const Tensor& condition) {
    if_(Arg(!condition, line_), [&] { break_(line_); });
    active_ = session_->scopes.back().active;
}

void WhileScope::close() {
    loop_->close();
    if (kernel_depth(*session_) && !limited_)
        note_endless(*session_, active_, never_ended(SourceLine{}), line_);
}

void while_(const Callback<Tensor()>& condition, const Callback<void()>& body,
            const WhileOptions& options, SourceLine line) {
    WhileScope loop(options, line);
    loop.test(condition());
    body();
    loop.close();
}

// --- LoopScope, Carrier --------------------------------------------------------------------------

LoopScope::LoopScope(const Arg& begin, const Arg& end, const Arg& step, const LoopOptions& options)
    : session_(current_state()) {
    range_.emplace(begin, end, step, options);
    iteration_.emplace(range_->begin());
}

LoopScope::~LoopScope() {
    // Only a C++ loop can be left by a native break.
    std::string left_open = std::move(session_->left_open);
    range_.reset();
    session_->left_open = std::move(left_open);
}

uint64_t current_scope() { return current_state()->scopes.back().id; }

Carrier::Carrier(const std::optional<Tensor>& value, uint64_t scope, SourceLine line)
    : slot_(make_slot_in(*current_state(), value ? value->node(line) : nullptr, scope)) {}

Carrier Carrier::as(DType type, const std::vector<BranchScope*>& branches) const {
    SessionState& session = *slot_->session;
    const auto converted = [&](const Ref& value) {
        return value ? cast(builder(session, {}), value, type) : nullptr;
    };
    const std::shared_ptr<Slot> out = make_slot_in(session, converted(slot_->node), slot_->scope);
    const auto convert_in = [&](Scope& scope) {
        const auto at = scope.positions.find(slot_.get());
        if (at == scope.positions.end()) return;
        const ScopeEntry& entry = scope.entries[at->second];
        ensure(!entry.arg, "a tensor changes its type where no loop carries it");
        ScopeEntry copy{out,           converted(entry.initial),
                        nullptr,       converted(entry.value),
                        entry.written, entry.assigned};
        scope.positions.emplace(out.get(), scope.entries.size());
        scope.entries.push_back(std::move(copy));
    };
    for (Scope& scope : session.scopes)
        if (scope.id > slot_->scope) convert_in(scope);
    for (const BranchScope* branch : branches)
        if (branch->first_) convert_in(*branch->first_);
    return Carrier(out);
}

bool Carrier::assign(const Tensor& value, SourceLine line) {
    const Ref node = value.node(line);
    if (!write_slot(slot_, node, line))
        fail_at(line, "a tensor of a loop or branch that has ended is assigned");
    return read_slot(slot_, line) == node;
}

Tensor Carrier::read(SourceLine line) const { return tensor_of(read_slot(slot_, line)); }

bool Carrier::holds(const Tensor& tensor) const {
    SessionState& session = *slot_->session;
    return value_at(session, slot_, session.scopes.size() - 1) == tensor.node();
}

bool Carrier::has_value() const {
    SessionState& session = *slot_->session;
    return value_at(session, slot_, session.scopes.size() - 1) != nullptr;
}

const std::string& Carrier::lost() const { return slot_->lost; }

bool Carrier::takes(DType type) const {
    SessionState& session = *slot_->session;
    const Ref value = value_at(session, slot_, session.scopes.size() - 1);
    const auto kind = [](DType dtype) { return dtype.is_bool() ? 0 : dtype.is_float() ? 2 : 1; };
    return !value || kind(type) <= kind(value->dtype);
}

}  // namespace firn
