// Loops that reach memory of an invocation's own by the number of their iteration.
#include "compiler/mapping/behind/write_out_own.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Notes the ranges on which a value depends; returns false if it depends on anything else.
bool depends_on_ranges(const KernelCode& code, NodeId id, std::set<RangeId>& ranges) {
    const KernelNode& n = code[id];
    if (n.op == KernelOp::Constant) return true;
    if (const auto* range = n.get_if<RangeId>()) {
        ranges.insert(*range);
        return true;
    }
    return is_elementwise(n.op) && std::all_of(n.args.begin(), n.args.end(), [&](NodeId arg) {
               return depends_on_ranges(code, arg, ranges);
           });
}

/// The trip counts of loops that can be written out, by their ranges.
std::map<RangeId, int64_t> constant_trips(const KernelCode& code) {
    std::map<RangeId, int64_t> out;
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::For) continue;
        const KernelRegion& body = code[n.as<BodyAttr>().region];
        const KernelNode& trips = code[code[body.range].extent_node];
        if (!body.alive && trips.op == KernelOp::Constant) out[body.range] = trips.as<Scalar>().i;
    }
    return out;
}

/// Nodes of a region where the iterations of some ranges stand one after the other.
int64_t written_nodes(const KernelCode& code, RegionId region, const std::set<RangeId>& ranges,
                      const std::map<RangeId, int64_t>& trips) {
    int64_t out = 0;
    const KernelRegion& body = code[region];
    for (const std::vector<NodeId>* list : {&body.order, &body.effects})
        for (NodeId id : *list) {
            ++out;
            for (RegionId inner : bodies(code[id])) {
                const RangeId range = code[inner].range;
                out += written_nodes(code, inner, ranges, trips) *
                       (ranges.contains(range) ? trips.at(range) : 1);
            }
        }
    return out;
}

}  // namespace

void write_out_own(KernelCode& code, const DeviceProfile& profile) {
    if (!rules_of(profile).unrolls_on) return;
    std::map<int, std::set<RangeId>> ranges_of;  // by buffer
    std::set<int> reached_otherwise;
    for (const KernelNode& n : code.nodes) {
        const auto* access = n.get_if<AccessAttr>();
        if (!access || n.op == KernelOp::Array ||
            code.buffers[access->buffer].space != MemorySpace::Private)
            continue;
        if (!depends_on_ranges(code, n.args[0], ranges_of[access->buffer]))
            reached_otherwise.insert(access->buffer);
    }
    if (ranges_of.empty()) return;
    const std::map<RangeId, int64_t> trips = constant_trips(code);
    std::set<RangeId> written;
    for (const auto& [buffer, ranges] : ranges_of) {
        const bool constant = std::all_of(ranges.begin(), ranges.end(),
                                          [&](RangeId range) { return trips.contains(range); });
        if (!constant || reached_otherwise.contains(buffer)) continue;
        std::set<RangeId> more = written;
        more.insert(ranges.begin(), ranges.end());
        if (written_nodes(code, kRoot, more, trips) <= costs::kWholeBudget) written = more;
    }
    for (RangeId range : written) code[range].written_out = true;
}

}  // namespace firn
