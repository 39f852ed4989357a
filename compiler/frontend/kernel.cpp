// Recording kernels by hand: the scope, arrays, barriers, atomics and subgroups.
#include "compiler/frontend/kernel.h"

#include <exception>

#include "compiler/base/error.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/by_hand.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/uniform.h"
#include "compiler/program/device_profile.h"

namespace firn {
namespace {

Scope& kernel_scope(SessionState& session, const char* what, SourceLine line) {
    const size_t depth = kernel_depth(session);
    if (!depth) fail_at(line, std::string(what) + ": only inside kernel(...)");
    return session.scopes[depth];
}

/// Returns the kernel's scope; it must have whole groups, because the operation is one of a group.
Scope& group_scope(SessionState& session, const char* what, SourceLine line) {
    Scope& scope = kernel_scope(session, what, line);
    if (!scope.by_hand->whole_groups)
        fail_at(line, std::string(what) + ": the kernel at " + text(scope.line) +
                          " has no group; give one, as in kernel(shape, {.group = {64}}, ...)");
    return scope;
}

Ref invocation(const Builder& b, const Scope& scope, int axis) {
    return firn::invocation(b, scope.by_hand->iteration, scope.by_hand->grid, axis);
}

Ref checked_axis_index(SessionState& session, const Builder& b, const char* what, int axis) {
    const Scope& scope = group_scope(session, what, b.line);
    const int rank = static_cast<int>(scope.by_hand->grid.size());
    if (axis < 0 || axis >= rank)
        fail_at(b.line, std::string(what) + ": axis " + std::to_string(axis) +
                            " of a kernel with " + std::to_string(rank) +
                            (rank == 1 ? " axis" : " axes"));
    return invocation(b, scope, axis);
}

}  // namespace

// --- the kernel ----------------------------------------------------------------------------------

KernelRecorder::KernelRecorder(const Shape& shape, const KernelOptions& options, SourceLine line)
    : session_(current_state()), line_(line), exceptions_(std::uncaught_exceptions()) {
    Builder b = builder(*session_, line);
    line_ = b.line;
    if (kernel_depth(*session_))
        fail_at(line_,
                "kernel: it stands inside another kernel; one dispatch cannot start another");
    if (shape.empty() || shape.size() > 3)
        fail_at(line_, "kernel: the shape " + text(shape) + " has " + std::to_string(shape.size()) +
                           " axes; a kernel has one to three (flatten the first ones)");
    if (!options.group.empty() && options.group.size() != shape.size())
        fail_at(line_, "kernel: a group of " + std::to_string(options.group.size()) +
                           " axes for a shape of " + std::to_string(shape.size()) +
                           "; give one number for each axis");
    ByHand by_hand;
    by_hand.whole_groups = !options.group.empty();
    by_hand.group = usual_group(shape.size());
    by_hand.grid = shape;
    for (size_t axis = 0; axis < options.group.size(); ++axis) {
        if (options.group[axis] < 1)
            fail_at(line_,
                    "kernel: a group of " + std::to_string(options.group[axis]) + " invocations");
        by_hand.group[axis] = static_cast<uint32_t>(options.group[axis]);
        by_hand.grid[axis] = round_up(shape[axis], options.group[axis]);
    }
    by_hand.iteration = region_arg(b, i32, {});
    push_scope(*session_, ScopeKind::Kernel, line_);
    scope_ = session_->scopes.back().id;
    session_->scopes.back().by_hand = std::make_shared<ByHand>(std::move(by_hand));
}

Tensor KernelRecorder::index(int axis) const {
    const Scope& scope = kernel_scope(*session_, "kernel", line_);
    const int rank = static_cast<int>(scope.by_hand->grid.size());
    if (axis >= rank)
        fail_at(line_, "kernel: its body takes more than " + std::to_string(rank) +
                           " indices, and the shape has " + std::to_string(rank) +
                           (rank == 1 ? " axis" : " axes"));
    return Tensor::from_node(invocation(builder(*session_, line_), scope, axis));
}

void KernelRecorder::close() {
    ensure(session_->scopes.back().id == scope_, "scopes close in the order they were opened");
    closed_ = true;
    Scope scope = pop_scope(*session_);
    Builder b = builder(*session_, line_);
    std::vector<const ScopeEntry*> written;
    std::unordered_map<const Node*, Ref> replace;
    for (const ScopeEntry& entry : scope.entries) {
        if (entry.written && entry.value != entry.arg)
            written.push_back(&entry);
        else
            replace.emplace(entry.arg.get(), entry.initial);
    }
    if (written.empty())
        fail_at(line_,
                "kernel: it stores nothing; store to a tensor from outside by index, as in c(i) = "
                "value");
    Region body{{scope.by_hand->iteration}, {}};
    std::vector<Ref> inits;
    for (const ScopeEntry* entry : written) {
        body.args.push_back(entry->arg);
        body.results.push_back(entry->value);
        inits.push_back(entry->initial);
    }
    body.results = substitute(session_->nodes, body.results, replace);
    Ref node = kernel_by_hand(b, std::move(inits), std::move(body), scope.by_hand->grid,
                              scope.by_hand->group, scope.by_hand->whole_groups);
    std::vector<Ref> results;
    for (size_t k = 0; k < written.size(); ++k)
        results.push_back(result(b, node, static_cast<int>(k)));
    check_reads(*node);
    for (size_t k = 0; k < written.size(); ++k) write_slot(written[k]->slot, results[k], line_);
    for (const ByHand::Endless& loop : scope.by_hand->endless) {
        const Builder at = builder(*session_, loop.line);
        record_failure(
            *session_, at, loop.text,
            elementwise(at, Op::Equal, {read_slot(loop.went_on, loop.line), constant_int(at, 0)}));
    }
}

KernelRecorder::~KernelRecorder() {
    if (closed_ || !scope_) return;
    while (session_->scopes.back().id >= scope_) pop_scope(*session_);
}

// --- arrays --------------------------------------------------------------------------------------

KernelArray::KernelArray(DType dtype, const std::vector<int>& shape, bool shared, SourceLine line)
    : rank_(shape.size()) {
    SessionState& session = *current_state();
    const char* what = shared ? "shared" : "local";
    Scope& scope = shared ? group_scope(session, what, line) : kernel_scope(session, what, line);
    if (shared && &scope != &session.scopes.back())
        fail_at(line,
                "shared: the array stands inside a loop or branch; declare it at the top of the "
                "kernel's body");
    if (shape.empty() || shape.size() > 3)
        fail_at(line, std::string(what) + ": an array has one to three dimensions");
    Builder b = builder(session, line);
    Shape whole;
    for (size_t axis = 0; axis < scope.by_hand->grid.size(); ++axis) {
        const int width = static_cast<int>(scope.by_hand->group[axis]);
        prefix_.push_back(shared ? group_index(static_cast<int>(axis), line)
                                 : Tensor::from_node(invocation(b, scope, static_cast<int>(axis))));
        whole.push_back(shared ? floor_div(scope.by_hand->grid[axis], Size(width))
                               : scope.by_hand->grid[axis]);
    }
    for (int n : shape) {
        if (n < 1)
            fail_at(line, std::string(what) + ": a dimension of " + std::to_string(n) +
                              "; give 1 or more");
        whole.push_back(Size(n));
    }
    memory_ = Tensor::from_node(b.table.intern(Op::Array, dtype, std::move(whole),
                                               {scope.by_hand->iteration},
                                               ArrayAttr{++session.last_id, shared}, b.line));
    memory_.slot()->array = true;
    if (shared) scope.by_hand->shared.push_back(std::shared_ptr<Slot>(memory_.slot()));
}

Access KernelArray::operator()(const Index& i, const Index& j, const Index& k) {
    std::vector<Index> indices;
    SourceLine line;
    for (const Index* index : {&i, &j, &k}) {
        if (index->is() == Index::Is::Absent) continue;
        if (!line.line) line = index->line();
        if (!index->arg())
            fail_at(line,
                    "an array of a kernel is read and stored to by one element: give a number "
                    "or a tensor as its index, and a loop for several");
        indices.push_back(*index);
    }
    if (indices.size() != rank_)
        fail_at(line, "an array of a kernel with " + std::to_string(rank_) +
                          " dimensions is given " + std::to_string(indices.size()) + " indices");
    std::vector<Index> all;
    for (const Tensor& at : prefix_) all.emplace_back(at, line);
    all.insert(all.end(), indices.begin(), indices.end());
    return Access(memory_, std::move(all), line);
}

Reader own(const KernelArray& array, SourceLine line) {
    std::vector<Arg> prefix;
    for (const Tensor& at : array.prefix_) prefix.emplace_back(at, line);
    return Reader(Operand(array.memory_, line), std::move(prefix));
}

// --- groups --------------------------------------------------------------------------------------

namespace {

/// Throws UserError if some invocations of a group may not reach this point.
void require_all_come(SessionState& session, const char* what, SourceLine line) {
    const size_t kernel = kernel_depth(session);
    const std::vector<uint32_t>& group = session.scopes[kernel].by_hand->group;
    const size_t top = session.scopes.size() - 1;
    auto refuse = [&](const std::string& why) {
        fail_at(line, std::string(what) + ": " + why +
                          ", so that not all invocations of a group reach it; move it out, or make "
                          "the condition the same for the whole group");
    };
    for (size_t depth = kernel + 1; depth <= top; ++depth) {
        Scope& scope = session.scopes[depth];
        if (scope.condition && !is_uniform(*scope.condition, group))
            refuse("it stands under the if_ at " + text(scope.line) +
                   ", whose condition differs among invocations");
        std::unordered_set<const Node*> known;
        for (const ScopeEntry& entry : scope.entries)
            if (entry.slot == scope.active) known.insert(entry.arg.get());
        // Inner loops do not change the flags of this loop.
        size_t inside = depth;
        while (inside < top && session.scopes[inside + 1].kind != ScopeKind::Loop) ++inside;
        for (const std::shared_ptr<Slot>& flag : {scope.active, scope.iteration})
            if (flag && !is_uniform(*value_at(session, flag, inside), group, known))
                refuse(
                    "it follows a break_ or continue_ whose condition differs among invocations");
        if (scope.kind == ScopeKind::Loop) scope.together = {what, line};
    }
}

}  // namespace

void barrier(SourceLine line) {
    SessionState& session = *current_state();
    Builder b = builder(session, line);
    Scope& scope = group_scope(session, "barrier", b.line);
    require_all_come(session, "barrier", b.line);
    const uint64_t id = ++session.last_id;
    const std::vector<std::weak_ptr<Slot>> arrays = scope.by_hand->shared;
    for (const std::weak_ptr<Slot>& array : arrays)
        if (const std::shared_ptr<Slot> slot = array.lock()) {
            const Ref version = read_slot(slot, b.line);
            store_slot(slot,
                       b.table.intern(Op::Barrier, version->dtype, version->shape, {version},
                                      BarrierAttr{id}, b.line),
                       b.line);
        }
}

namespace {

/// An index of the invocation, taken apart by the width of the group.
Tensor part_of_index(const char* what, Op op, int axis, SourceLine line) {
    SessionState& session = *current_state();
    Builder b = builder(session, line);
    const Ref at = checked_axis_index(session, b, what, axis);
    const Scope& scope = session.scopes[kernel_depth(session)];
    const Ref width = constant_int(b, scope.by_hand->group[static_cast<size_t>(axis)]);
    return Tensor::from_node(elementwise(b, op, {at, width}));
}

}  // namespace

Tensor local_index(int axis, SourceLine line) {
    return part_of_index("local_index", Op::Mod, axis, line);
}
Tensor group_index(int axis, SourceLine line) {
    return part_of_index("group_index", Op::Div, axis, line);
}

// --- atomics -------------------------------------------------------------------------------------

namespace {

Tensor atomic(const char* what, const Access& place, const Arg& value, ScatterOp op) {
    SessionState& session = *current_state();
    if (!kernel_depth(session))
        fail_at(value.line(),
                std::string(what) +
                    ": only inside kernel(...); elsewhere scatter_add and its kin combine");
    const Ref version = Access(place).store(value, ScatterAttr{op});
    return Tensor::from_node(fetched(builder(session, value.line()), version));
}

}  // namespace

Tensor atomic_add(const Access& place, const Arg& value) {
    return atomic("atomic_add", place, value, ScatterOp::Add);
}
Tensor atomic_min(const Access& place, const Arg& value) {
    return atomic("atomic_min", place, value, ScatterOp::Min);
}
Tensor atomic_max(const Access& place, const Arg& value) {
    return atomic("atomic_max", place, value, ScatterOp::Max);
}
Tensor atomic_and(const Access& place, const Arg& value) {
    return atomic("atomic_and", place, value, ScatterOp::And);
}
Tensor atomic_or(const Access& place, const Arg& value) {
    return atomic("atomic_or", place, value, ScatterOp::Or);
}
Tensor atomic_xor(const Access& place, const Arg& value) {
    return atomic("atomic_xor", place, value, ScatterOp::Xor);
}
Tensor atomic_exchange(const Access& place, const Arg& value) {
    return atomic("atomic_exchange", place, value, ScatterOp::Last);
}

// --- subgroups -----------------------------------------------------------------------------------

int subgroup_size(SourceLine line) {
    SessionState& session = *current_state();
    const DeviceProfile& profile = executor_of(session, line).profile();
    if (!profile.subgroup_shuffle)
        fail_at(line,
                "subgroup: the device cannot exchange values between lanes; use shared(...) and "
                "barrier()");
    return static_cast<int>(profile.subgroup_size);
}

namespace {

/// The group's size is a multiple of the lanes.
int checked_lanes(SessionState& session, SourceLine line) {
    const Scope& scope = group_scope(session, "subgroup", line);
    const int lanes = subgroup_size(line);
    uint32_t members = 1;
    for (uint32_t g : scope.by_hand->group) members *= g;
    if (members % static_cast<uint32_t>(lanes))
        fail_at(line, "subgroup: a group of " + std::to_string(members) +
                          " invocations is no whole number of subgroups of " +
                          std::to_string(lanes) + " lanes; choose a multiple");
    return lanes;
}

Tensor exchange(const Operand& x, SubgroupOp op, ReduceOp combine, const Arg* lane = nullptr) {
    SessionState& session = *current_state();
    Builder b = builder(session, x.line());
    const int lanes = checked_lanes(session, b.line);
    require_all_come(session, "a subgroup operation", b.line);
    const ByHand& by_hand = *session.scopes[kernel_depth(session)].by_hand;
    Ref value = x.node();
    if (combine == ReduceOp::Any || combine == ReduceOp::All)
        value = cast(b, value, boolean);
    else if (value->dtype.is_bool() && op != SubgroupOp::Shuffle)
        value = cast(b, value, i32);
    if (value->dtype.bytes() > 4 || (value->dtype.bytes() < 4 && !value->dtype.is_bool()))
        fail_at(b.line, std::string("subgroup: lanes exchange f32, i32, u32 and bool, not ") +
                            value->dtype.name() + "; convert by .as(f32)");
    std::vector<Ref> inputs = {by_hand.iteration, expand(b, value, by_hand.grid)};
    if (lane) inputs.push_back(expand(b, cast(b, lane->node(), i32), by_hand.grid));
    const DType dtype = inputs[1]->dtype;
    return Tensor::from_node(b.table.intern(Op::Subgroup, dtype, by_hand.grid, std::move(inputs),
                                            SubgroupAttr{op, combine, lanes, by_hand.group},
                                            b.line));
}

}  // namespace

Tensor subgroup_lane(SourceLine line) {
    SessionState& session = *current_state();
    const int lanes = checked_lanes(session, line);
    const ByHand by_hand = *session.scopes[kernel_depth(session)].by_hand;
    Tensor place = local_index(0, line);
    for (size_t axis = 1; axis < by_hand.grid.size(); ++axis)
        place = place * static_cast<int>(by_hand.group[axis]) +
                local_index(static_cast<int>(axis), line);
    return place % lanes;
}

Tensor subgroup_add(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::Sum); }
Tensor subgroup_mul(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::Prod); }
Tensor subgroup_min(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::Min); }
Tensor subgroup_max(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::Max); }
Tensor subgroup_any(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::Any); }
Tensor subgroup_all(const Operand& x) { return exchange(x, SubgroupOp::Reduce, ReduceOp::All); }
Tensor subgroup_inclusive_add(const Operand& x) {
    return exchange(x, SubgroupOp::Scan, ReduceOp::Sum);
}
Tensor subgroup_shuffle(const Operand& x, const Arg& lane) {
    return exchange(x, SubgroupOp::Shuffle, ReduceOp::Sum, &lane);
}

}  // namespace firn
