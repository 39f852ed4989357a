// Interchanges a nest of two loops.
#include "compiler/mapping/before/interchange_loops.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compiler/kernel/place.h"
#include "compiler/mapping/before/grid_dimensions.h"
#include "compiler/mapping/choice/tile_model.h"
#include "compiler/mapping/walk/loops_of_lanes.h"

namespace firn {
namespace {

/// Returns whether the trip count is known before the nest begins.
bool has_own_trips(const KernelCode& code, const KernelRegion& body) {
    const KernelOp op = code[code[body.range].extent_node].op;
    return !body.alive && (op == KernelOp::Constant || op == KernelOp::Param);
}

/// Returns the loop that is all of the body of `outer`, if the two may be interchanged, or none.
NodeId turnable(const KernelCode& code, NodeId outer) {
    const KernelNode& n = code[outer];
    if (n.op != KernelOp::For || !has_own_trips(code, code[n.as<BodyAttr>().region])) return {};
    const NodeId inner = handed_through(code, outer);
    if (!inner) return {};
    const KernelRegion& body = code[code[inner].as<BodyAttr>().region];
    if (!has_own_trips(code, body) || !body.effects.empty()) return {};
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(code, body, k)) return {};
    return inner;
}

bool has_windows(const KernelCode& code) { return TileModel(code, false).has_windows(); }

}  // namespace

KernelCode interchange_loops(KernelCode code, const DeviceProfile& profile,
                             const SymbolFacts& facts, ChooseMapping choose) {
    for (NodeId id : code.nodes.ids()) {
        const NodeId inner = turnable(code, id);
        if (!inner || has_windows(code)) continue;
        KernelCode turned = code;
        KernelRegion &around = turned[turned[id].as<BodyAttr>().region],
                     &body = turned[turned[inner].as<BodyAttr>().region];
        std::swap(around.range, body.range);
        const int64_t trips = turned[body.range].max_trips;
        if (trips < 1 || !has_windows(turned)) continue;
        const Mapping mapping = mapping_of_lowered(turned, profile, facts, choose);
        if (mapping.lanes == 1 && mapping.written_out >= trips) code = std::move(turned);
    }
    return code;
}

}  // namespace firn
