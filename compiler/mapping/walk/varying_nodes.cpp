// Finds the nodes that differ between the copies of a kernel's body in one invocation.
#include "compiler/mapping/walk/varying_nodes.h"

#include <algorithm>

namespace firn {
namespace {

/// The nodes, ranges and regions that are known to vary so far.
struct Varying {
    const KernelCode& from;
    ByNode<bool> nodes;
    ByRange<bool> ranges;
    ByRegion<bool> regions;

    bool any(const std::vector<NodeId>& ids) const {
        return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return nodes[id]; });
    }

    bool body_varies(const KernelRegion& body) const {
        if (any(body.yields) || any(body.effects) || (body.alive && nodes[body.alive])) return true;
        return body.range && nodes[from[body.range].extent_node];
    }

    bool node_varies(const KernelNode& n) const {
        if (const auto* range = n.get_if<RangeId>()) return ranges[*range];
        if (const auto* carried = n.get_if<CarriedAttr>()) return regions[carried->region];
        if (any(n.args)) return true;
        for (RegionId body : bodies(n))
            if (body_varies(from[body])) return true;
        return false;
    }

    void mark(NodeId id) {
        nodes[id] = true;
        const KernelNode& n = from[id];
        if (n.op != KernelOp::For) return;
        const RegionId body = n.as<BodyAttr>().region;
        regions[body] = true;
        ranges[from[body].range] = true;
    }
};

}  // namespace

ByNode<bool> varying_nodes(const KernelCode& from, const std::vector<RangeId>& grid,
                           const std::vector<GridCopy>& copies) {
    Varying varying{from, ByNode<bool>(from.nodes.size()), ByRange<bool>(from.ranges.size()),
                    ByRegion<bool>(from.regions.size())};
    for (size_t d = 0; d < grid.size(); ++d)
        for (const GridCopy& copy : copies)
            if (copy.index[d] != copies[0].index[d]) varying.ranges[grid[d]] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId id : from.nodes.ids()) {
            if (varying.nodes[id] || !varying.node_varies(from[id])) continue;
            varying.mark(id);
            changed = true;
        }
    }
    return std::move(varying.nodes);
}

}  // namespace firn
