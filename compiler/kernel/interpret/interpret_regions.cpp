// Regions, and the loops and branches that they belong to, by masks of lanes, for the host
// interpreter.
#include "compiler/kernel/interpret/interpret_regions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/base/error.h"
#include "compiler/kernel/interpret/interpret_access.h"
#include "compiler/kernel/interpret/interpret_fragments.h"
#include "compiler/kernel/interpret/interpret_functions.h"
#include "compiler/kernel/interpret/interpret_subgroup.h"

namespace firn {
namespace {

LaneMask restricted(const LaneMask& mask, const int32_t* condition, bool wanted) {
    LaneMask result = mask;
    result.active = 0;
    for (size_t lane = 0; lane < mask.on.size(); ++lane) {
        result.on[lane] = mask.on[lane] && (condition[lane] != 0) == wanted;
        result.active += result.on[lane];
    }
    return result;
}

/// Drops from the mask the lanes whose loop has no further iteration.
void drop_finished(const InterpretRun& run, LaneMask& mask, const Range& range, int64_t iteration) {
    if (!range.extent_node) {
        if (iteration < range.extent.evaluate(run.env)) return;
        mask.on.assign(mask.on.size(), 0);
        mask.active = 0;
        return;
    }
    const int32_t* trips = run.values[range.extent_node].words();
    for (size_t lane = 0; lane < mask.on.size(); ++lane)
        if (mask.on[lane] && iteration >= trips[lane]) {
            mask.on[lane] = 0;
            --mask.active;
        }
}

void copy(InterpretRun& run, NodeId target, NodeId source, const LaneMask& mask) {
    if (!run.code[target].matrix) return copy_lanes(run.values[target], run.values[source], mask);
    const LaneMatrix to = matrix_of(run, target), from = matrix_of(run, source);
    for (int k = 0; k < to.count(); ++k) copy_lanes(to.part(k), from.part(k), mask);
}

/// Region arguments take the yielded values, all at once: one may be another's next value.
void carry(InterpretRun& run, const KernelRegion& body, const LaneMask& mask) {
    const bool crossed = std::any_of(body.yields.begin(), body.yields.end(), [&](NodeId yield) {
        return std::find(body.args.begin(), body.args.end(), yield) != body.args.end();
    });
    if (!crossed) {
        for (size_t k = 0; k < body.args.size(); ++k) copy(run, body.args[k], body.yields[k], mask);
        return;
    }
    std::vector<std::vector<std::byte>> next;
    for (NodeId yield : body.yields) {
        const Lanes& value = run.values[yield];
        if (run.code[yield].matrix) fail(run, "matrices that a loop carries change places");
        next.emplace_back(value.data,
                          value.data + static_cast<size_t>(run.lanes) * lane_bytes(value.dtype));
    }
    for (size_t k = 0; k < body.args.size(); ++k)
        copy_lanes(run.values[body.args[k]], {run.code[body.yields[k]].dtype, next[k].data()},
                   mask);
}

void run_for(InterpretRun& run, const KernelNode& n, const LaneMask& outer) {
    const RegionId region = n.as<BodyAttr>().region;
    const KernelRegion& body = run.code[region];
    const Range& range = run.code[body.range];
    for (size_t k = 0; k < body.args.size(); ++k) copy(run, body.args[k], n.args[k], outer);
    LaneMask mask = outer;
    for (int64_t iteration = 0;; ++iteration) {
        drop_finished(run, mask, range, iteration);
        if (mask.active == 0) return;
        if (range.max_trips >= 0 && iteration >= range.max_trips)
            fail(run, "loop over " + range.name + " takes more iterations than its bound of " +
                          std::to_string(range.max_trips));
        for (size_t lane = 0; lane < mask.on.size(); ++lane) run.back_edges[lane] += mask.on[lane];
        for (auto [index, id] : run.range_values)
            if (index == body.range)
                std::fill_n(run.values[id].words(), run.lanes, static_cast<int32_t>(iteration));
        run_region(run, region, mask);
        // A region argument may be the condition: it counts before it is carried.
        LaneMask next = mask;
        if (body.alive) next = restricted(mask, run.values[body.alive].words(), true);
        carry(run, body, mask);
        mask = std::move(next);
    }
}

void run_branch(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const int32_t* condition = run.values[n.args[0]].words();
    const LaneMask taken = restricted(mask, condition, true);
    const auto& [region, else_region] = n.as<BodyAttr>();
    run_region(run, region, taken);
    if (else_region) run_region(run, else_region, restricted(mask, condition, false));
    for (size_t k = 0; k < run.results[id].size(); ++k) {
        ensure(else_region != RegionId(), "a branch with values has one side only");
        select_lanes(run.results[id][k], taken.on.data(), run.values[run.code[region].yields[k]],
                     run.values[run.code[else_region].yields[k]], run.lanes);
    }
}

void run_elementwise(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    std::array<Lanes, 3> args;
    for (size_t k = 0; k < n.args.size(); ++k) args[k] = run.values[n.args[k]];
    run.counts.operations += mask.active;
    evaluate_lanes(for_any_angle(n.op), run.values[id], std::span(args).first(n.args.size()), mask);
}

void run_combined(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    const Lanes& x = run.values[n.args[0]];
    run.counts.operations += mask.active;
    for (int lane = 0; lane < run.lanes; ++lane) {
        if (!mask.on[static_cast<size_t>(lane)]) continue;
        if (n.op == KernelOp::OnePlusTanh) {
            const double value = x.floats()[lane];
            run.values[id].floats()[lane] = 1.0f + static_cast<float>(std::tanh(value));
        } else if (n.op == KernelOp::LowBits) {
            const auto by = static_cast<uint32_t>(run.values[n.args[1]].words()[lane]);
            run.values[id].words()[lane] =
                static_cast<int32_t>(static_cast<uint32_t>(x.words()[lane]) & (by - 1));
        } else {
            const int32_t index = x.words()[lane], end = run.values[n.args[1]].words()[lane];
            run.values[id].words()[lane] = 0 <= index && index < end;
        }
    }
}

}  // namespace

void run_node(InterpretRun& run, NodeId id, const LaneMask& mask) {
    const KernelNode& n = run.code[id];
    if ((info(n.op).properties & kCostly) && run_function(run, id, mask)) return;
    if (is_elementwise(for_any_angle(n.op))) return run_elementwise(run, id, mask);
    if (is_combined(n.op)) return run_combined(run, id, mask);
    switch (n.op) {
        case KernelOp::Constant:
        case KernelOp::Param:
        case KernelOp::Range:
        case KernelOp::RegionArg:
        case KernelOp::Result:
        case KernelOp::Lane: return;
        case KernelOp::Load: return run_load(run, id, mask);
        case KernelOp::Store: return run_store(run, id, mask);
        case KernelOp::Atomic: return run_atomic(run, id, mask);
        case KernelOp::Array: return run_array(run, id);
        case KernelOp::Barrier: return run.races.order();  // lanes are in step
        case KernelOp::SubgroupShuffle: return run_shuffle(run, id, mask);
        case KernelOp::SubgroupReduce:
        case KernelOp::SubgroupScan:
        case KernelOp::SubgroupRead: return run_exchange(run, id, mask);
        case KernelOp::MatrixFill:
        case KernelOp::MatrixMulAdd:
        case KernelOp::MatrixCast: return run_matrix(run, id, mask);
        case KernelOp::MatrixLoad:
        case KernelOp::MatrixStore: return move_matrix(run, id, mask);
        case KernelOp::For: return run_for(run, n, mask);
        case KernelOp::Branch: return run_branch(run, id, mask);
        default: fail(run, std::string("operation ") + info(n.op).name + " is not Kernel code");
    }
}

void run_region(InterpretRun& run, RegionId id, const LaneMask& mask) {
    if (mask.active == 0) return;
    for (NodeId inner : run.code[id].order) run_node(run, inner, mask);
    for (NodeId effect : run.code[id].effects) run_node(run, effect, mask);
}

}  // namespace firn
