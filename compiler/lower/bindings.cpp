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
        if (wide.space != MemorySpace::Bound) continue;
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

BindingForm read_form(const KernelBuffer& buffer, const DeviceProfile& profile) {
    const bool texel = !buffer.written && buffer.dtype.bytes() == 4 && profile.texel_loads &&
                       (!buffer.elements.is_constant() ||
                        buffer.elements.constant() <= static_cast<int64_t>(profile.max_texel_elements));
    return texel ? BindingForm::Texel : BindingForm::Storage;
}

namespace {

int64_t& of_form(BindingCount& count, const KernelBuffer& buffer, const DeviceProfile& profile) {
    return read_form(buffer, profile) == BindingForm::Texel ? count.texels : count.storage;
}

}  // namespace

void BindingCount::add(const KernelBuffer& buffer, const DeviceProfile& profile) {
    ++of_form(*this, buffer, profile);
}

void BindingCount::remove(const KernelBuffer& buffer, const DeviceProfile& profile) {
    --of_form(*this, buffer, profile);
}

bool BindingCount::fits(const DeviceProfile& profile) const {
    return texels <= profile.max_texel_buffers && storage <= profile.max_storage_buffers;
}

void join_widths(KernelCode& code, const DeviceProfile& profile) {
    BindingCount bound;
    for (const KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound)
            ++(b.form == BindingForm::Texel ? bound.texels : bound.storage);
    if (bound.fits(profile)) return;
    std::vector<bool> combines(code.buffers.size());
    for (const KernelNode& n : code.nodes)
        if (n.op == Op::Atomic) combines[static_cast<size_t>(n.index)] = true;
    std::vector<int> joined(code.buffers.size());
    for (size_t narrow = 0; narrow < joined.size(); ++narrow) {
        const KernelBuffer& a = code.buffers[narrow];
        const auto holds_it = [&](const KernelBuffer& b) {
            return b.buffer == a.buffer && b.form == a.form && b.written == a.written &&
                   b.width > a.width;
        };
        const auto wide = std::find_if(code.buffers.begin(), code.buffers.end(), holds_it);
        const bool joins =
            a.space == MemorySpace::Bound && !combines[narrow] && wide != code.buffers.end();
        joined[narrow] = static_cast<int>(joins ? wide - code.buffers.begin()
                                                : static_cast<std::ptrdiff_t>(narrow));
    }
    for (KernelNode& n : code.nodes)
        if (names_buffer(n.op)) n.index = joined[static_cast<size_t>(n.index)];
    drop_unused_buffers(code);
}

size_t bound_buffers(const KernelCode& code) {
    return static_cast<size_t>(std::count_if(code.buffers.begin(), code.buffers.end(), [](const KernelBuffer& b) {
        return b.space == MemorySpace::Bound;
    }));
}

int add_bound_buffer(KernelCode& code, const KernelBuffer& buffer) {
    const size_t place = bound_buffers(code);
    for (KernelNode& n : code.nodes)
        if (names_buffer(n.op) && static_cast<size_t>(n.index) >= place) ++n.index;
    code.buffers.insert(code.buffers.begin() + static_cast<std::ptrdiff_t>(place), buffer);
    return static_cast<int>(place);
}

void drop_unused_buffers(KernelCode& code) {
    std::vector<bool> used(code.buffers.size());
    std::vector<int> live;
    for (const KernelRegion& region : code.regions) {
        live.insert(live.end(), region.order.begin(), region.order.end());
        live.insert(live.end(), region.effects.begin(), region.effects.end());
    }
    for (int id : live)
        if (names_buffer(code.nodes[id].op)) used[static_cast<size_t>(code.nodes[id].index)] = true;
    std::vector<int> renamed(code.buffers.size(), 0);   // dead nodes name any
    std::vector<KernelBuffer> kept;
    for (const bool bound : {true, false})
        for (size_t k = 0; k < used.size(); ++k) {
            if (!used[k] || (code.buffers[k].space == MemorySpace::Bound) != bound) continue;
            renamed[k] = static_cast<int>(kept.size());
            kept.push_back(code.buffers[k]);
        }
    for (KernelNode& n : code.nodes)
        if (names_buffer(n.op)) n.index = renamed[static_cast<size_t>(n.index)];
    code.buffers = std::move(kept);
}

}  // namespace firn
