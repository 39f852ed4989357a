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
    const KernelOp op = code.nodes[code.ranges[body.range].extent_node].op;
    return body.alive < 0 && (op == KernelOp::Constant || op == KernelOp::Param);
}

/// Returns the loop that is all of the body of `outer`, if the two may be interchanged; -1: there
/// is none.
int turnable(const KernelCode& code, int outer) {
    const KernelNode& n = code.nodes[outer];
    if (n.op != KernelOp::For || !has_own_trips(code, code.regions[n.region])) return -1;
    const int inner = handed_through(code, outer);
    if (inner < 0) return -1;
    const KernelRegion& body = code.regions[code.nodes[inner].region];
    if (!has_own_trips(code, body) || !body.effects.empty()) return -1;
    for (size_t k = 0; k < body.yields.size(); ++k)
        if (!gathered_term(code, body, k)) return -1;
    return inner;
}

bool has_windows(const KernelCode& code) { return TileModel(code, false).has_windows(); }

}  // namespace

KernelCode interchange_loops(KernelCode code, const DeviceProfile& profile,
                             const SymbolFacts& facts, ChooseMapping choose) {
    for (size_t id = 0; id < code.nodes.size(); ++id) {
        const int inner = turnable(code, static_cast<int>(id));
        if (inner < 0 || has_windows(code)) continue;
        KernelCode turned = code;
        std::swap(turned.regions[turned.nodes[id].region].range,
                  turned.regions[turned.nodes[inner].region].range);
        const int64_t trips =
            turned.ranges[turned.regions[turned.nodes[inner].region].range].max_trips;
        if (trips < 1 || !has_windows(turned)) continue;
        const Mapping mapping = mapping_of_lowered(turned, profile, facts, choose);
        if (mapping.lanes == 1 && mapping.written_out >= trips) code = std::move(turned);
    }
    return code;
}

}  // namespace firn
