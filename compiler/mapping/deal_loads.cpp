// Loads of what all lanes of a subgroup read.
#include "compiler/mapping/deal_loads.h"

#include <algorithm>

#include "compiler/kernel/place.h"

namespace firn {

bool SameInSubgroup::operator()(int id) {
    if (known_.size() <= static_cast<size_t>(id)) known_.resize(static_cast<size_t>(id) + 1, -1);
    if (known_[static_cast<size_t>(id)] >= 0) return known_[static_cast<size_t>(id)];
    const KernelNode& n = b_.node(id);
    bool same = true;
    switch (n.op) {
        case KernelOp::Range: {
            const Range& range = b_.code().ranges[static_cast<size_t>(n.range)];
            same =
                range.kind == RangeKind::Group || range.kind == RangeKind::Serial || range.dim > 0;
            break;
        }
        case KernelOp::RegionArg:
        case KernelOp::Result:
        case KernelOp::For:
        case KernelOp::Branch: same = false; break;
        default:
            for (int arg : n.args) same = same && (*this)(arg);
    }
    known_[static_cast<size_t>(id)] = same;
    return same;
}

void SameInSubgroup::mark(int id, bool same) {
    if (known_.size() <= static_cast<size_t>(id)) known_.resize(static_cast<size_t>(id) + 1, -1);
    known_[static_cast<size_t>(id)] = same;
}

/// Of what a load of bound memory gives.
static bool is_plain_load(const KernelCode& code, int shuffle) {
    const KernelNode& source =
        code.nodes[static_cast<size_t>(code.nodes[static_cast<size_t>(shuffle)].args[0])];
    return source.op == KernelOp::Load && !source.pinned;
}

void undo_lonely_shuffles(KernelCode& code, uint32_t lanes) {
    place_apart(code);
    std::vector<std::vector<int>> taken(code.nodes.size());
    for (const KernelRegion& region : code.regions)
        for (int id : region.order)
            if (code.nodes[static_cast<size_t>(id)].op == KernelOp::SubgroupShuffle &&
                is_plain_load(code, id))
                taken[static_cast<size_t>(code.nodes[static_cast<size_t>(id)].args[0])].push_back(
                    id);
    for (size_t load = 0; load < taken.size(); ++load) {
        if (taken[load].size() * 2 >= lanes) continue;
        for (int id : taken[load]) {
            KernelNode& n = code.nodes[static_cast<size_t>(id)];
            n.op = KernelOp::Load;
            n.buffer = code.nodes[load].buffer;
            n.args = {n.args[1]};
        }
    }
}

}  // namespace firn
