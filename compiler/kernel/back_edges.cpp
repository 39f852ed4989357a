// Counts the back edges that an invocation of a kernel takes.
#include "compiler/kernel/back_edges.h"

#include <algorithm>

namespace firn {
namespace {

/// Iterations in which an invocation clears memory of its own or its share of the group's.
int64_t clearing_iterations(const KernelCode& code, const KernelNode& array) {
    const KernelBuffer& b = code.buffers[array.as<AccessAttr>().buffer];
    if (!b.elements.is_constant()) return 0;
    const int64_t members = int64_t{code.group_size[0]} * code.group_size[1] * code.group_size[2];
    return 1 + (b.space == MemorySpace::Shared ? (b.elements.constant() + members - 1) / members
                                               : b.elements.constant());
}

}  // namespace

int64_t count_loops(const KernelCode& code, RegionId region) {
    int64_t loops = 0;
    const KernelRegion& body = code[region];
    for (const std::vector<NodeId>& ids : {body.order, body.effects})
        for (NodeId id : ids) {
            const KernelNode& n = code[id];
            loops += n.op == KernelOp::Array || n.op == KernelOp::For;
            for (RegionId inner : bodies(n)) loops += count_loops(code, inner);
        }
    return loops;
}

int64_t count_back_edges(const KernelCode& code, const std::set<NodeId>& apart) {
    auto count = [&](auto&& self, RegionId region_id) -> int64_t {
        int64_t total = 0;
        auto add = [&](NodeId id) {
            const KernelNode& n = code[id];
            if (total >= 0 && n.op == KernelOp::Array) total += clearing_iterations(code, n);
            if (total < 0 || (n.op != KernelOp::For && n.op != KernelOp::Branch)) return;
            int64_t inside = 0;
            for (RegionId inner : bodies(n)) {
                const int64_t edges = self(self, inner);
                inside = inside < 0 || edges < 0 ? -1 : inside + edges;
            }
            const RegionId body = n.as<BodyAttr>().region;
            const RangeId range = code[body].range;
            const int64_t trips = range ? code[range].max_trips : 0;
            if (total >= 0 && apart.contains(id)) total += 2;  // of the loop around it
            if (inside < 0 || trips < 0)
                total = -1;
            else if (!range)
                total += inside;
            else if (trips > 0 && inside + 1 > INT64_MAX / 4 / trips)
                total = -1;
            else
                total += trips * (inside + 1) + 1 + count_loops(code, body);
        };
        for (NodeId id : code[region_id].order) add(id);
        for (NodeId id : code[region_id].effects) add(id);
        return total;
    };
    // After the end of the last loop nothing is left to do.
    const int64_t total = count(count, kRoot);
    return total > 0 ? total - 1 : total;
}

}  // namespace firn
