// Finds the nodes that differ between the copies of a kernel's body in one invocation.
#include "compiler/mapping/walk/varying_nodes.h"

#include <algorithm>

namespace firn {
namespace {

/// The nodes, ranges and regions that are known to vary so far.
struct Varying {
    const KernelCode& from;
    std::vector<bool> nodes, ranges, regions;

    bool any(const std::vector<int>& ids) const {
        return std::any_of(ids.begin(), ids.end(), [&](int id) { return nodes[id]; });
    }

    bool body_varies(const KernelRegion& body) const {
        if (any(body.yields) || any(body.effects) || (body.alive >= 0 && nodes[body.alive]))
            return true;
        return body.range >= 0 && nodes[from.ranges[body.range].extent_node];
    }

    bool node_varies(const KernelNode& n) const {
        if (n.op == KernelOp::Range) return ranges[n.range];
        if (n.op == KernelOp::RegionArg) return regions[n.region];
        if (any(n.args)) return true;
        if (n.op != KernelOp::For && n.op != KernelOp::Branch) return false;
        for (int body : {n.region, n.else_region})
            if (body >= 0 && body_varies(from.regions[body])) return true;
        return false;
    }

    void mark(size_t id) {
        nodes[id] = true;
        const KernelNode& n = from.nodes[id];
        if (n.op != KernelOp::For) return;
        regions[n.region] = true;
        ranges[from.regions[n.region].range] = true;
    }
};

}  // namespace

std::vector<bool> varying_nodes(const KernelCode& from, const std::vector<int>& grid,
                                const std::vector<GridCopy>& copies) {
    Varying varying{from, std::vector<bool>(from.nodes.size(), false),
                    std::vector<bool>(from.ranges.size(), false),
                    std::vector<bool>(from.regions.size(), false)};
    for (size_t d = 0; d < grid.size(); ++d)
        for (const GridCopy& copy : copies)
            if (copy.index[d] != copies[0].index[d]) varying.ranges[grid[d]] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t id = 0; id < from.nodes.size(); ++id) {
            if (varying.nodes[id] || !varying.node_varies(from.nodes[id])) continue;
            varying.mark(id);
            changed = true;
        }
    }
    return std::move(varying.nodes);
}

}  // namespace firn
