// What a mapped kernel binds.
#include "compiler/lower/bindings.h"

#include <algorithm>

#include "compiler/lower/place.h"

namespace firn {

void split_lonely_blocks(KernelCode& code) {
    place(code);
    std::vector<std::vector<int>> lanes(code.nodes.size());
    for (const KernelRegion& region : code.regions)
        for (int id : region.order)
            if (code.nodes[id].op == Op::Lane) lanes[code.nodes[id].args[0]].push_back(id);
    for (size_t block = 0; block < code.nodes.size(); ++block) {
        if (lanes[block].empty() || lanes[block].size() >= 3) continue;
        const KernelNode vector = code.nodes[block];
        const KernelBuffer wide = code.buffers[vector.index];
        int narrow = -1;
        for (size_t k = 0; k < code.buffers.size(); ++k)
            if (code.buffers[k].buffer == wide.buffer && code.buffers[k].form == wide.form &&
                code.buffers[k].width == 1 && !code.buffers[k].written)
                narrow = static_cast<int>(k);
        if (narrow < 0) {
            narrow = static_cast<int>(code.buffers.size());
            code.buffers.push_back(wide);
            code.buffers.back().width = 1;
        }
        for (int id : lanes[block]) {
            KernelNode& lane = code.nodes[id];
            lane.op = Op::Load;
            lane.index = narrow;
            lane.args = {lane.args[1]};
        }
    }
}

void drop_unused_buffers(KernelCode& code) {
    std::vector<int> renamed(code.buffers.size(), -1);
    std::vector<int> live;
    for (const KernelRegion& region : code.regions) {
        live.insert(live.end(), region.order.begin(), region.order.end());
        live.insert(live.end(), region.effects.begin(), region.effects.end());
    }
    auto names_buffer = [&](const KernelNode& n) {
        return n.op == Op::Load || (info(n.op).properties & kEffect);
    };
    for (int id : live)
        if (names_buffer(code.nodes[id])) renamed[code.nodes[id].index] = 0;
    std::vector<KernelBuffer> kept;
    for (size_t k = 0; k < renamed.size(); ++k)
        if (renamed[k] == 0) {
            renamed[k] = static_cast<int>(kept.size());
            kept.push_back(code.buffers[k]);
        }
    for (KernelNode& n : code.nodes)
        if (names_buffer(n)) n.index = std::max(0, renamed[n.index]);  // dead nodes name any
    code.buffers = std::move(kept);
}

}  // namespace firn
