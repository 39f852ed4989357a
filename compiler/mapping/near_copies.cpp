// Copies of small targets: cleared, combined into, and added to what they are copies of.
#include "compiler/mapping/near_copies.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/mapping/copy_values.h"
#include "compiler/mapping/mapping_run.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr int64_t kAtOnce = 8;  // places of a copy that are unrolled at once

int range_of(KernelBuilder& b, int64_t trips) {
    Range range;
    range.name = "k";
    range.kind = RangeKind::Serial;
    range.extent = Size(trips);
    range.extent_node = b.integer(trips);
    range.max_trips = trips;
    return b.add_range(range);
}

/// A loop of `trips` iterations whose effects `body` gives for the index of one.
template <class Body>
int loop(KernelBuilder& b, int64_t trips, Body body) {
    const int range = range_of(b, trips), region = b.add_region();
    b.code().regions[region].range = range;
    std::vector<int> effects = body(b.range(range));
    b.code().regions[region].effects = std::move(effects);
    return b.close_for(region, {});
}

int when(KernelBuilder& b, int condition, std::vector<int> effects, bool guard) {
    const int region = b.add_region();
    b.code().regions[region].effects = std::move(effects);
    return b.branch(condition, region, -1, guard);
}

bool reads_or_stores(const KernelNode& n) {
    return n.op == KernelOp::Load || n.op == KernelOp::Store || n.op == KernelOp::Atomic ||
           n.op == KernelOp::Array;
}

}  // namespace

std::vector<NearTarget> near_targets(const KernelCode& lowered) {
    std::vector<NearTarget> out;
    std::vector<bool> refused(lowered.buffers.size(), false);
    for (const KernelNode& n : lowered.nodes) {
        if (!reads_or_stores(n)) continue;
        const auto at = std::find_if(out.begin(), out.end(),
                                     [&](const NearTarget& t) { return t.buffer == n.buffer; });
        const KernelBuffer& b = lowered.buffers[n.buffer];
        const std::optional<ReduceOp> reduce =
            n.op == KernelOp::Atomic ? reduce_op(n.combine) : std::nullopt;
        const bool one_way =
            reduce && lanes_exchange(n.dtype) && !n.dtype.is_bool() && b.elements.is_constant() &&
            b.elements.constant() > 0 &&
            (at == out.end() || (at->combine == n.combine && at->dtype == n.dtype));
        if (!one_way) {
            refused[n.buffer] = true;
        } else if (at == out.end()) {
            out.push_back({n.buffer, n.combine, *reduce, n.dtype, b.elements.constant(), n.lines});
        }
    }
    // A Program buffer may stand in several forms.
    std::erase_if(out, [&](const NearTarget& t) {
        for (size_t k = 0; k < lowered.buffers.size(); ++k)
            if (lowered.buffers[k].buffer == lowered.buffers[t.buffer].buffer &&
                (refused[k] || static_cast<int>(k) != t.buffer))
                return true;
        return false;
    });
    return out;
}

NearCopies::NearCopies(KernelBuilder& b, const KernelCode& lowered, MemorySpace space)
    : b_(b), targets_(near_targets(lowered)), space_(space) {
    for (const NearTarget& t : targets_) {
        // An invocation's own memory is combined into without atomics, so floats need not be kept
        // as their bits.
        if (space_ == MemorySpace::Private)
            copies_.push_back(b_.own_memory(space_, t.dtype, Size(t.elements + 1)));
        else
            copies_.push_back(
                b_.own_memory(space_, lowered.buffers[t.buffer].dtype, Size(t.elements)));
    }
}

int NearCopies::copy_of(int target) const {
    for (size_t k = 0; k < targets_.size(); ++k)
        if (targets_[k].buffer == target) return copies_[k];
    return -1;
}

int NearCopies::spare_place(int target) const {
    for (const NearTarget& t : targets_)
        if (t.buffer == target && space_ == MemorySpace::Private) return b_.integer(t.elements);
    return -1;
}

std::vector<int> NearCopies::open() {
    std::vector<int> effects;
    for (size_t k = 0; k < targets_.size(); ++k) {
        const NearTarget& t = targets_[k];
        b_.set_lines(t.lines);
        effects.push_back(b_.pinned(KernelOp::Array, t.dtype,
                                    {b_.constant(reduce_identity(t.reduce, t.dtype))}, copies_[k]));
    }
    if (space_ == MemorySpace::Shared) effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
    return effects;
}

std::vector<int> NearCopies::close(const std::vector<int>& bound, int lane, int64_t members) {
    std::vector<int> effects;
    if (space_ == MemorySpace::Shared) effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
    for (size_t k = 0; k < targets_.size(); ++k) {
        b_.set_lines(targets_[k].lines);
        if (space_ == MemorySpace::Shared)
            close_shared(k, bound[k], lane, members, effects);
        else
            close_private(k, bound[k], lane, effects);
    }
    return effects;
}

/// The lanes' copies of a place combine, and one lane stores.
void NearCopies::close_private(size_t k, int bound, int lane, std::vector<int>& effects) {
    const NearTarget& t = targets_[k];
    const int64_t trips = t.elements / kAtOnce, rest = t.elements % kAtOnce;
    const int first = b_.make(KernelOp::Equal, boolean, {lane, b_.integer(0)});
    auto places = [&](int begin, int64_t count) {
        std::vector<int> inside;
        for (int64_t c = 0; c < count; ++c) {
            const int place = b_.add(begin, b_.integer(c));
            const int own = b_.pinned(KernelOp::Load, t.dtype, {place}, copies_[k]);
            inside.push_back(own);
            const int all = b_.subgroup_reduce(t.reduce, own);
            inside.push_back(when(b_, b_.make(KernelOp::And, boolean, {first, changes(t, all)}),
                                  {b_.atomic(bound, t.combine, place, all)}, false));
        }
        return inside;
    };
    if (trips)
        effects.push_back(loop(b_, trips, [&](int iteration) {
            return places(b_.mul(iteration, b_.integer(kAtOnce)), kAtOnce);
        }));
    for (int effect : places(b_.integer(trips * kAtOnce), rest)) effects.push_back(effect);
}

/// Every invocation of the group stores its share of the places.
void NearCopies::close_shared(size_t k, int bound, int lane, int64_t members,
                              std::vector<int>& effects) {
    const NearTarget& t = targets_[k];
    effects.push_back(
        loop(b_, (t.elements + members - 1) / members, [&](int iteration) -> std::vector<int> {
            const int place = b_.add(b_.mul(iteration, b_.integer(members)), lane);
            const int came = b_.pinned(KernelOp::Load, t.dtype, {place}, copies_[k]);
            const int store =
                when(b_, changes(t, came), {b_.atomic(bound, t.combine, place, came)}, false);
            if (t.elements % members == 0) return {came, store};
            return {when(b_, b_.make(KernelOp::Less, boolean, {place, b_.integer(t.elements)}),
                         {came, store}, true)};
        }));
}

/// Where nothing came the target stays as it is, a zero with its sign too.
int NearCopies::changes(const NearTarget& t, int came) {
    return b_.make(KernelOp::NotEqual, boolean,
                   {came, b_.constant(reduce_identity(t.reduce, t.dtype))});
}

std::vector<int> open_near_copies(MappingRun& run) {
    const Mapping& m = run.mapping;
    ensure(m.lanes == 1 && m.dealt_loads == 1 && m.group_y == 1,
           "map: the invocations of this kernel are not all there for copies of what they "
           "store to");
    run.near.emplace(run.b, run.from, m.near);
    return run.near->open();
}

std::vector<int> close_near_copies(MappingRun& run, std::vector<int> opened,
                                   const std::vector<int>& stores) {
    std::vector<int> effects = std::move(opened), bound;
    for (const NearTarget& t : run.near->targets())
        bound.push_back(bound_buffer(run, run.from.buffers[t.buffer], true, 1));
    const int lane = run.mapping.near == MemorySpace::Private
                         ? subgroup_lane(run.b, run.profile)
                         : invocation_of_group(run.b, run.mapping);
    const std::vector<int> end = run.near->close(bound, lane, run.mapping.group_x);
    effects.insert(effects.end(), stores.begin(), stores.end());
    effects.insert(effects.end(), end.begin(), end.end());
    return effects;
}

int store_near_or_drop(MappingRun& run, const KernelNode& branch, int condition, size_t copy) {
    const std::vector<int>& inside = run.from.regions[branch.region].effects;
    if (!run.near || !branch.guard || inside.size() != 1 ||
        run.from.nodes[inside[0]].op != KernelOp::Atomic)
        return -1;
    const KernelNode& n = run.from.nodes[inside[0]];
    const int spare = run.near->spare_place(n.buffer);
    if (spare < 0) return -1;
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const int value = copy_value(run, n.args[1], copy);
    const int index = run.b.select(condition, copy_value(run, n.args[0], copy), spare);
    run.b.set_lines(n.lines);
    return run.b.atomic(run.near->copy_of(n.buffer), n.combine, index, value);
}

}  // namespace firn
