// Chooses the bindings of a mapped kernel.
#include "compiler/kernel/bindings.h"

#include <algorithm>

#include "compiler/kernel/place.h"

namespace firn {

void scalarise_underused_vectors(KernelCode& code, size_t least, const DeviceProfile& profile,
                                 const SymbolFacts& facts) {
    place_apart(code);
    std::vector<std::vector<int>> lanes(code.nodes.size());
    for (const KernelRegion& region : code.regions)
        for (int id : region.order)
            if (code.nodes[id].op == KernelOp::Lane) lanes[code.nodes[id].args[0]].push_back(id);
    for (size_t block = 0; block < code.nodes.size(); ++block) {
        if (lanes[block].empty() || lanes[block].size() >= least) continue;
        const KernelNode vector = code.nodes[block];
        const KernelBuffer wide = code.buffers[vector.buffer];
        if (wide.space != MemorySpace::Bound) continue;
        int narrow = -1;
        for (size_t k = 0; k < code.buffers.size(); ++k)
            if (code.buffers[k].buffer == wide.buffer && code.buffers[k].width == 1 &&
                !code.buffers[k].written && code.buffers[k].space == MemorySpace::Bound)
                narrow = static_cast<int>(k);
        if (narrow < 0) {
            narrow = static_cast<int>(code.buffers.size());
            code.buffers.push_back(wide);
            code.buffers.back().width = 1;
            code.buffers.back().form = binding_form(code.buffers.back(), profile, facts);
        }
        for (int id : lanes[block]) {
            KernelNode& lane = code.nodes[id];
            lane.op = KernelOp::Load;
            lane.buffer = narrow;
            lane.args = {lane.args[1]};
        }
    }
}

namespace {

/// Returns the size that the device limits in a binding of the form, and its limit. If only the
/// device knows how much is in a buffer, the size is the room that the call makes for it.
AssumedSize counted(const KernelBuffer& buffer, BindingForm form, const DeviceProfile& profile) {
    if (form == BindingForm::Address) return {Size(0), 0};
    const Size bytes =
        ceil_div(largest(buffer.elements) * Size(buffer.dtype.bytes()), 16) * Size(16);
    if (form == BindingForm::Storage)
        return {bytes, static_cast<int64_t>(profile.max_storage_range)};
    return {floor_div(bytes, Size(buffer.dtype.bytes() * buffer.width)),
            static_cast<int64_t>(profile.max_texel_elements)};
}

bool takes(const KernelBuffer& buffer, BindingForm form, const DeviceProfile& profile,
           const SymbolFacts& facts) {
    const AssumedSize size = counted(buffer, form, profile);
    const int64_t count =
        facts.bindable ? size.size.lower_bound() : size.size.upper_bound(facts.largest);
    return count <= size.most;
}

}  // namespace

BindingForm binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                         const SymbolFacts& facts) {
    const bool texels = !buffer.written && buffer.dtype.bytes() == 4 && profile.texel_loads;
    if (texels && takes(buffer, BindingForm::Texel, profile, facts)) return BindingForm::Texel;
    const bool by_address =
        profile.buffer_addresses && !takes(buffer, BindingForm::Storage, profile, facts);
    return by_address ? BindingForm::Address : BindingForm::Storage;
}

void bind(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts) {
    for (KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) b.form = binding_form(b, profile, facts);
}

AssumedSize assumed_size(const KernelBuffer& buffer, const DeviceProfile& profile) {
    return counted(buffer, buffer.form, profile);
}

namespace {

void count_form(BindingCount& count, BindingForm form, int64_t by) {
    if (form == BindingForm::Texel) count.texels += by;
    if (form == BindingForm::Storage) count.storage += by;
}

}  // namespace

void BindingCount::add(const KernelBuffer& buffer, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    count_form(*this, binding_form(buffer, profile, facts), 1);
}

void BindingCount::remove(const KernelBuffer& buffer, const DeviceProfile& profile,
                          const SymbolFacts& facts) {
    count_form(*this, binding_form(buffer, profile, facts), -1);
}

bool BindingCount::fits(const DeviceProfile& profile) const {
    return texels <= profile.max_texel_buffers && storage <= profile.max_storage_buffers;
}

namespace {

/// Counts the bindings of a mapped kernel, with that of the sizes that the device computes.
BindingCount bound_by(const KernelCode& code) {
    BindingCount bound;
    for (const KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) count_form(bound, b.form, 1);
    const auto on_device = [](const Size& size) { return !data_symbols(size).empty(); };
    bound.storage += std::any_of(code.groups.begin(), code.groups.end(), on_device) ||
                     std::any_of(code.params.begin(), code.params.end(), [&](const ParamInfo& p) {
                         return p.scalar < 0 && on_device(p.size);
                     });
    return bound;
}

}  // namespace

void use_other_forms(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts) {
    std::vector<KernelBuffer*> smallest;
    for (KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) smallest.push_back(&b);
    const auto most = [&](const KernelBuffer* b) { return b->elements.upper_bound(facts.largest); };
    std::stable_sort(smallest.begin(), smallest.end(),
                     [&](const auto* a, const auto* b) { return most(a) < most(b); });
    const auto rebind = [&](BindingForm from, BindingForm to, int64_t excess) {
        for (KernelBuffer* b : smallest)
            if (excess > 0 && b->form == from && takes(*b, to, profile, facts))
                b->form = to, --excess;
    };
    rebind(BindingForm::Texel, BindingForm::Storage,
           bound_by(code).texels - profile.max_texel_buffers);
    if (profile.buffer_addresses)
        rebind(BindingForm::Storage, BindingForm::Address,
               bound_by(code).storage - profile.max_storage_buffers);
}

void join_widths(KernelCode& code, const DeviceProfile& profile) {
    if (bound_by(code).fits(profile)) return;
    std::vector<bool> combines(code.buffers.size());
    for (const KernelNode& n : code.nodes)
        if (n.op == KernelOp::Atomic) combines[static_cast<size_t>(n.buffer)] = true;
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
        if (names_buffer(n.op)) n.buffer = joined[static_cast<size_t>(n.buffer)];
    drop_unused_buffers(code);
}

size_t bound_buffers(const KernelCode& code) {
    return static_cast<size_t>(
        std::count_if(code.buffers.begin(), code.buffers.end(),
                      [](const KernelBuffer& b) { return b.space == MemorySpace::Bound; }));
}

int add_bound_buffer(KernelCode& code, const KernelBuffer& buffer) {
    const size_t place = bound_buffers(code);
    for (KernelNode& n : code.nodes)
        if (names_buffer(n.op) && static_cast<size_t>(n.buffer) >= place) ++n.buffer;
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
        if (names_buffer(code.nodes[id].op))
            used[static_cast<size_t>(code.nodes[id].buffer)] = true;
    std::vector<int> renamed(code.buffers.size(), 0);  // dead nodes name any
    std::vector<KernelBuffer> kept;
    for (const bool bound : {true, false})
        for (size_t k = 0; k < used.size(); ++k) {
            if (!used[k] || (code.buffers[k].space == MemorySpace::Bound) != bound) continue;
            renamed[k] = static_cast<int>(kept.size());
            kept.push_back(code.buffers[k]);
        }
    for (KernelNode& n : code.nodes)
        if (names_buffer(n.op)) n.buffer = renamed[static_cast<size_t>(n.buffer)];
    code.buffers = std::move(kept);
}

}  // namespace firn
