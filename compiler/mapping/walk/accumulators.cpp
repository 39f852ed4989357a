// Builds the private copies of small reduction targets: clears them, combines into them, and adds
// them to their targets.
#include "compiler/mapping/walk/accumulators.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/mapping/walk/copy_values.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr int64_t kBytes = 4;  // the bytes of an element of a copy

RangeId range_of(KernelBuilder& b, int64_t trips) {
    Range range;
    range.name = "k";
    range.kind = RangeKind::Serial;
    range.extent = Size(trips);
    range.extent_node = b.integer(trips);
    range.max_trips = trips;
    return b.add_range(range);
}

/// Builds a loop of `trips` iterations; `body` gives the effects for an iteration's index.
template <class Body>
NodeId loop(KernelBuilder& b, int64_t trips, Body body) {
    const RangeId range = range_of(b, trips);
    const RegionId region = b.add_region();
    b.code()[region].range = range;
    std::vector<NodeId> effects = body(b.range(range));
    b.code()[region].effects = std::move(effects);
    return b.close_for(region, {});
}

NodeId when(KernelBuilder& b, NodeId condition, std::vector<NodeId> effects, bool guard) {
    const RegionId region = b.add_region();
    b.code()[region].effects = std::move(effects);
    return b.branch(condition, region, {}, guard);
}

}  // namespace

std::vector<AccumulatedTarget> accumulated_targets(const KernelCode& lowered) {
    std::vector<AccumulatedTarget> out;
    std::vector<bool> refused(lowered.buffers.size(), false);
    for (const KernelNode& n : lowered.nodes) {
        const auto* access = n.get_if<AccessAttr>();
        if (!access) continue;
        const auto at = std::find_if(out.begin(), out.end(), [&](const AccumulatedTarget& t) {
            return t.buffer == access->buffer;
        });
        const KernelBuffer& b = lowered.buffers[access->buffer];
        const std::optional<ReduceOp> reduce =
            n.op == KernelOp::Atomic ? reduce_op(access->combine) : std::nullopt;
        const bool one_way =
            reduce && lanes_exchange(n.dtype) && !n.dtype.is_bool() && b.elements.is_constant() &&
            b.elements.constant() > 0 &&
            (at == out.end() || (at->combine == access->combine && at->dtype == n.dtype));
        if (!one_way) {
            refused[access->buffer] = true;
        } else if (at == out.end()) {
            out.push_back({access->buffer, access->combine, *reduce, n.dtype, b.elements.constant(),
                           n.lines});
        }
    }
    // A Program buffer may stand in several forms.
    std::erase_if(out, [&](const AccumulatedTarget& t) {
        for (size_t k = 0; k < lowered.buffers.size(); ++k)
            if (lowered.buffers[k].buffer == lowered.buffers[t.buffer].buffer &&
                (refused[k] || static_cast<int>(k) != t.buffer))
                return true;
        return false;
    });
    return out;
}

std::string why_no_accumulators(const MappingCase& of) {
    const Mapping& m = of.mapping;
    const std::vector<AccumulatedTarget> targets = accumulated_targets(of.ready);
    if (targets.empty()) return "it combines into no target of known size";
    if (m.group.y != 1 || m.group.x % of.profile.subgroup_size != 0)
        return "the group is no row of whole subgroups";
    int64_t bytes = 0;
    for (const AccumulatedTarget& t : targets) bytes += kBytes * t.elements;
    if (bytes > of.profile.shared_bytes)
        return "the copies take " + std::to_string(bytes) + " bytes, and a group has " +
               std::to_string(of.profile.shared_bytes);
    return "";
}

Accumulators::Accumulators(KernelBuilder& b, const KernelCode& lowered, MemorySpace space)
    : b_(b), targets_(accumulated_targets(lowered)), space_(space) {
    for (const AccumulatedTarget& t : targets_) {
        // An invocation's own memory is combined into without atomics, so floats need not be kept
        // as their bits.
        if (space_ == MemorySpace::Private)
            copies_.push_back(b_.own_memory(space_, t.dtype, Size(t.elements + 1)));
        else
            copies_.push_back(
                b_.own_memory(space_, lowered.buffers[t.buffer].dtype, Size(t.elements)));
    }
}

int Accumulators::copy_of(int target) const {
    for (size_t k = 0; k < targets_.size(); ++k)
        if (targets_[k].buffer == target) return copies_[k];
    return -1;
}

NodeId Accumulators::spare_place(int target) const {
    for (const AccumulatedTarget& t : targets_)
        if (t.buffer == target && space_ == MemorySpace::Private) return b_.integer(t.elements);
    return {};
}

std::vector<NodeId> Accumulators::open() {
    std::vector<NodeId> effects;
    for (size_t k = 0; k < targets_.size(); ++k) {
        const AccumulatedTarget& t = targets_[k];
        b_.set_lines(t.lines);
        effects.push_back(b_.pinned(KernelOp::Array, t.dtype,
                                    {b_.constant(reduce_identity(t.reduce, t.dtype))}, copies_[k]));
    }
    if (space_ == MemorySpace::Shared) effects.push_back(b_.pinned(KernelOp::Barrier, i32, {}));
    return effects;
}

std::vector<NodeId> Accumulators::close(const std::vector<int>& bound, NodeId lane,
                                        int64_t members) {
    std::vector<NodeId> effects;
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
void Accumulators::close_private(size_t k, int bound, NodeId lane, std::vector<NodeId>& effects) {
    const AccumulatedTarget& t = targets_[k];
    const int64_t trips = t.elements / costs::kPlacesAtOnce,
                  rest = t.elements % costs::kPlacesAtOnce;
    const NodeId first = b_.make(KernelOp::Equal, boolean, {lane, b_.integer(0)});
    auto places = [&](NodeId begin, int64_t count) {
        std::vector<NodeId> inside;
        for (int64_t c = 0; c < count; ++c) {
            const NodeId place = b_.add(begin, b_.integer(c));
            const NodeId own = b_.pinned(KernelOp::Load, t.dtype, {place}, copies_[k]);
            inside.push_back(own);
            const NodeId all = b_.subgroup_reduce(t.reduce, own);
            inside.push_back(when(b_, b_.make(KernelOp::And, boolean, {first, changes(t, all)}),
                                  {b_.atomic(bound, t.combine, place, all)}, false));
        }
        return inside;
    };
    if (trips)
        effects.push_back(loop(b_, trips, [&](NodeId iteration) {
            return places(b_.mul(iteration, b_.integer(costs::kPlacesAtOnce)),
                          costs::kPlacesAtOnce);
        }));
    for (NodeId effect : places(b_.integer(trips * costs::kPlacesAtOnce), rest))
        effects.push_back(effect);
}

/// Every invocation of the group stores its share of the places.
void Accumulators::close_shared(size_t k, int bound, NodeId lane, int64_t members,
                                std::vector<NodeId>& effects) {
    const AccumulatedTarget& t = targets_[k];
    effects.push_back(loop(
        b_, (t.elements + members - 1) / members, [&](NodeId iteration) -> std::vector<NodeId> {
            const NodeId place = b_.add(b_.mul(iteration, b_.integer(members)), lane);
            const NodeId came = b_.pinned(KernelOp::Load, t.dtype, {place}, copies_[k]);
            const NodeId store =
                when(b_, changes(t, came), {b_.atomic(bound, t.combine, place, came)}, false);
            if (t.elements % members == 0) return {came, store};
            return {when(b_, b_.make(KernelOp::Less, boolean, {place, b_.integer(t.elements)}),
                         {came, store}, true)};
        }));
}

/// Returns the condition that `came` differs from the identity: otherwise the target keeps its
/// value, and a zero keeps its sign.
NodeId Accumulators::changes(const AccumulatedTarget& t, NodeId came) {
    return b_.make(KernelOp::NotEqual, boolean,
                   {came, b_.constant(reduce_identity(t.reduce, t.dtype))});
}

std::vector<NodeId> open_accumulators(MappingRun& run) {
    const Mapping& m = run.mapping;
    run.accumulators.emplace(run.b, run.from, m.accumulators);
    return run.accumulators->open();
}

std::vector<NodeId> close_accumulators(MappingRun& run, std::vector<NodeId> opened,
                                       const std::vector<NodeId>& stores) {
    std::vector<NodeId> effects = std::move(opened);
    std::vector<int> bound;
    for (const AccumulatedTarget& t : run.accumulators->targets())
        bound.push_back(bound_buffer(run, run.from.buffers[t.buffer], true, 1));
    const NodeId lane = run.mapping.accumulators == MemorySpace::Private
                            ? subgroup_lane(run.b, run.profile)
                            : invocation_of_group(run.b, run.mapping);
    const std::vector<NodeId> end = run.accumulators->close(bound, lane, run.mapping.group.x);
    effects.insert(effects.end(), stores.begin(), stores.end());
    effects.insert(effects.end(), end.begin(), end.end());
    return effects;
}

NodeId accumulate_or_drop(MappingRun& run, const KernelNode& branch, NodeId condition,
                          size_t copy) {
    const std::vector<NodeId>& inside = run.from[branch.as<BodyAttr>().region].effects;
    if (!run.accumulators || !branch.guard || inside.size() != 1 ||
        run.from[inside[0]].op != KernelOp::Atomic)
        return {};
    const KernelNode& n = run.from[inside[0]];
    const auto& access = n.as<AccessAttr>();
    const NodeId spare = run.accumulators->spare_place(access.buffer);
    if (!spare) return {};
    const Scoped<Surroundings> apart(run.around, run.around.apart());
    const NodeId value = copy_value(run, n.args[1], copy);
    const NodeId index = run.b.select(condition, copy_value(run, n.args[0], copy), spare);
    run.b.set_lines(n.lines);
    return run.b.atomic(run.accumulators->copy_of(access.buffer), access.combine, index, value);
}

}  // namespace firn
