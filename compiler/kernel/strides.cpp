// How the indices of a lowered kernel's loads move with its ranges.
#include "compiler/kernel/strides.h"

#include <algorithm>

#include "compiler/kernel/place.h"

namespace firn {
namespace {

int last_grid_range(const KernelCode& code) {
    int x = -1;
    for (size_t r = 0; r < code.ranges.size(); ++r)
        if (code.ranges[r].kind == RangeKind::Grid) x = static_cast<int>(r);
    return x;
}

}  // namespace

Stride Strides::along(int id, int range) {
    if (auto at = known_.find({id, range}); at != known_.end()) return at->second;
    const Stride out = find(code_.nodes[id], range);
    known_.emplace(std::pair{id, range}, out);
    return out;
}

Stride Strides::find(const KernelNode& n, int range) {
    if (n.op == KernelOp::Range) return n.range == range ? Stride::One : Stride::None;
    if (n.op == KernelOp::For || n.op == KernelOp::Branch) return Stride::Other;
    Stride out = Stride::None;
    int moving = 0;
    for (int arg : n.args) {
        const Stride s = along(arg, range);
        moving += s != Stride::None;
        out = std::max(out, s);
    }
    const bool keeps = n.op == KernelOp::Add || n.op == KernelOp::Sub || n.op == KernelOp::Min ||
                       n.op == KernelOp::Max;
    return moving == 0 ? Stride::None : moving == 1 && keeps ? out : Stride::Other;
}

bool reads_in_turn(KernelCode code, int64_t lanes) {
    for (int effect : code.regions[0].effects)
        if (code.nodes[effect].op != KernelOp::Store) return false;
    place(code);
    const int x = last_grid_range(code);
    if (x < 0) return false;
    Strides strides(code);
    for (const KernelRegion& region : code.regions) {
        if (region.range < 0) continue;
        const int64_t turns = code.ranges[region.range].max_trips;
        if (turns >= 0 && turns < lanes) continue;
        for (int id : region.order) {
            const KernelNode& n = code.nodes[id];
            if (n.op != KernelOp::Load || code.buffers[n.buffer].dtype.bytes() != 4) continue;
            if (strides.along(n.args[0], region.range) == Stride::One &&
                strides.along(n.args[0], x) == Stride::None)
                return true;
        }
    }
    return false;
}

bool strides_far(KernelCode code) {
    place(code);
    Strides strides(code);
    bool far = false, near = false;
    for (const KernelRegion& region : code.regions) {
        if (region.range < 0) continue;
        for (int id : region.order) {
            if (code.nodes[id].op != KernelOp::Load) continue;
            const Stride stride = strides.along(code.nodes[id].args[0], region.range);
            far |= stride == Stride::Other;
            near |= stride == Stride::One;
        }
    }
    return far && !near;
}

bool walks_columns(KernelCode code) {
    place(code);
    Strides strides(code);
    const int x = last_grid_range(code);
    bool some = false;
    for (const KernelRegion& region : code.regions) {
        if (region.range < 0 || x < 0) continue;
        for (int id : region.order) {
            if (code.nodes[id].op != KernelOp::Load) continue;
            const int index = code.nodes[id].args[0];
            if (strides.along(index, region.range) != Stride::Other ||
                strides.along(index, x) != Stride::One)
                return false;
            some = true;
        }
    }
    return some;
}

}  // namespace firn
