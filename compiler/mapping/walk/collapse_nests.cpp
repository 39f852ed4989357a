// Nests of loops that run as one loop.
#include "compiler/mapping/walk/collapse_nests.h"

#include <algorithm>
#include <cstdint>

#include "compiler/kernel/place.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/parts_of_loop.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

constexpr int64_t kMostJoined = INT32_MAX;  // iterations of loops that run as one: they are counted

const KernelRegion& body_of(const MappingRun& run, NodeId loop) {
    return run.from[run.from[loop].as<BodyAttr>().region];
}

int64_t most_iterations(const MappingRun& run, NodeId loop) {
    const int64_t most = run.from[body_of(run, loop).range].max_trips;
    return most < 0 ? kMostJoined : std::max<int64_t>(most, 1);
}

/// Returns whether the order of the loop's iterations does not matter.
bool only_gathers(const MappingRun& run, const KernelRegion& body) {
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(run.from, body, k)) return false;
    return true;
}

/// Returns whether the trip count is the same in every copy and in every iteration of the loops
/// around it.
bool has_fixed_trips(const MappingRun& run, NodeId loop, const std::vector<NodeId>& around) {
    const NodeId extent = run.from[body_of(run, loop).range].extent_node;
    const std::vector<RegionId>& needs = run.needs[extent];
    return !run.varies[extent] && std::none_of(around.begin(), around.end(), [&](NodeId outer) {
        return std::find(needs.begin(), needs.end(), run.from[outer].as<BodyAttr>().region) !=
               needs.end();
    });
}

/// Returns whether it is not unrolled completely, and the remainder of unrolling can be taken first
/// or last.
bool stays_a_loop(MappingRun& run, NodeId loop, size_t copy) {
    const std::vector<Part> parts = parts_of_loop(run, loop, copy);
    const bool written_out =
        run.b.is_constant(parts[0].trips) && run.b.node(parts[0].trips).as<Scalar>().i <= 1;
    return !written_out && (parts.size() == 1 || only_gathers(run, body_of(run, loop)));
}

}  // namespace

std::vector<NodeId> joined_nest(MappingRun& run, NodeId loop, size_t copy) {
    std::vector<NodeId> out{loop};
    int64_t iterations = most_iterations(run, loop);
    while (run.mapping.collapsed_nests && !is_split(run, out.back())) {
        const NodeId inner = handed_through(run.from, out.back());
        if (!inner || run.staged.contains(inner) || body_of(run, inner).alive ||
            !has_fixed_trips(run, inner, out) || !stays_a_loop(run, inner, copy) ||
            most_iterations(run, inner) > kMostJoined / iterations)
            break;
        iterations *= most_iterations(run, inner);
        out.push_back(inner);
    }
    return out;
}

bool collapses_nests(KernelCode code, const DeviceProfile& profile, int64_t carried,
                     int64_t iterations_at_once) {
    if (!rules_of(profile).masked || carried < costs::kMuchCarried) return false;
    place(code);
    auto joins = [&](NodeId loop) {
        const KernelNode& n = code[loop];
        if (n.op != KernelOp::For) return false;
        const NodeId inner = handed_through(code, loop);
        if (!inner) return false;
        const KernelRegion& outside = code[n.as<BodyAttr>().region];
        const KernelRegion& body = code[code[inner].as<BodyAttr>().region];
        const bool plain = std::all_of(outside.order.begin(), outside.order.end(), [&](NodeId id) {
            const KernelOp op = code[id].op;
            return id == inner || op == KernelOp::Result ||
                   (op != KernelOp::Load && is_elementwise(op));
        });
        const Range& range = code[body.range];
        return plain && (range.max_trips < 0 || !range.extent.is_constant() ||
                         range.max_trips <= costs::kLongInside * iterations_at_once);
    };
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order)
            if (joins(id)) return true;
    return false;
}

}  // namespace firn
