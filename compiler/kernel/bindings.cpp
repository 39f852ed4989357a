// Chooses the bindings of a mapped kernel.
#include "compiler/kernel/bindings.h"

#include <algorithm>

#include "compiler/kernel/place.h"
#include "compiler/target/target.h"

namespace firn {

void scalarise_underused_vectors(KernelCode& code, size_t least, const DeviceProfile& profile,
                                 const SymbolFacts& facts) {
    place_apart(code);
    ByNode<std::vector<NodeId>> lanes(code.nodes.size());
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order)
            if (code[id].op == KernelOp::Lane) lanes[code[id].args[0]].push_back(id);
    for (NodeId block : code.nodes.ids()) {
        if (lanes[block].empty() || lanes[block].size() >= least) continue;
        const KernelBuffer wide = code.buffers[code[block].as<AccessAttr>().buffer];
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
        for (NodeId id : lanes[block]) {
            KernelNode& lane = code[id];
            lane.op = KernelOp::Load;
            lane.attr = AccessAttr{.buffer = narrow};
            lane.args = {lane.args[1]};
        }
    }
}

bool is_within(const AssumedSize& size, const SymbolFacts& facts) {
    const int64_t count =
        facts.bindable ? size.size.lower_bound() : size.size.upper_bound(facts.largest);
    return count <= size.most;
}

BindingForm binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                         const SymbolFacts& facts) {
    return target_of(profile).binding_form(buffer, profile, facts);
}

void bind(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts) {
    for (KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) b.form = binding_form(b, profile, facts);
}

AssumedSize assumed_size(const KernelBuffer& buffer, const DeviceProfile& profile) {
    return target_of(profile).limited_size(buffer, buffer.form, profile);
}

void BindingCount::add(const KernelBuffer& buffer, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    ++(*this)[binding_form(buffer, profile, facts)];
}

void BindingCount::remove(const KernelBuffer& buffer, const DeviceProfile& profile,
                          const SymbolFacts& facts) {
    --(*this)[binding_form(buffer, profile, facts)];
}

bool BindingCount::fits(const DeviceProfile& profile) const {
    for (size_t form = 0; form < kBindingForms; ++form)
        if (of[form] > target_of(profile).most_bindings(BindingForm(form), profile)) return false;
    return true;
}

bool takes_any_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                    const SymbolFacts& facts) {
    for (size_t form = 0; form < kBindingForms; ++form) {
        if (target_of(profile).most_bindings(BindingForm(form), profile) == 0) continue;
        const AssumedSize size =
            target_of(profile).limited_size(buffer, BindingForm(form), profile);
        if (size.size.upper_bound(facts.largest) > size.most) return false;
    }
    return true;
}

namespace {

/// Counts the bindings of a mapped kernel, with that of the sizes that the device computes.
BindingCount bound_by(const KernelCode& code) {
    BindingCount bound;
    for (const KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) ++bound[b.form];
    const auto on_device = [](const Size& size) { return !data_symbols(size).empty(); };
    bound[BindingForm::Storage] +=
        std::any_of(code.groups.begin(), code.groups.end(), on_device) ||
        std::any_of(code.params.begin(), code.params.end(),
                    [&](const ParamInfo& p) { return p.scalar < 0 && on_device(p.size); });
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
    const Target& target = target_of(profile);
    for (const BindingForm from : {BindingForm::View, BindingForm::Storage}) {
        const BindingForm to = target.instead_of(from, profile);
        int64_t excess = bound_by(code)[from] - target.most_bindings(from, profile);
        if (to == from) continue;
        for (KernelBuffer* b : smallest)
            if (excess > 0 && b->form == from &&
                is_within(target.limited_size(*b, to, profile), facts))
                b->form = to, --excess;
    }
}

void join_widths(KernelCode& code, const DeviceProfile& profile) {
    if (bound_by(code).fits(profile)) return;
    std::vector<bool> combines(code.buffers.size());
    for (const KernelNode& n : code.nodes)
        if (n.op == KernelOp::Atomic)
            combines[static_cast<size_t>(n.as<AccessAttr>().buffer)] = true;
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
        if (auto* access = n.get_if<AccessAttr>())
            access->buffer = joined[static_cast<size_t>(access->buffer)];
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
        if (auto* access = n.get_if<AccessAttr>();
            access && static_cast<size_t>(access->buffer) >= place)
            ++access->buffer;
    code.buffers.insert(code.buffers.begin() + static_cast<std::ptrdiff_t>(place), buffer);
    return static_cast<int>(place);
}

void drop_unused_buffers(KernelCode& code) {
    std::vector<bool> used(code.buffers.size());
    std::vector<NodeId> live;
    for (const KernelRegion& region : code.regions) {
        live.insert(live.end(), region.order.begin(), region.order.end());
        live.insert(live.end(), region.effects.begin(), region.effects.end());
    }
    for (NodeId id : live)
        if (const auto* access = code[id].get_if<AccessAttr>())
            used[static_cast<size_t>(access->buffer)] = true;
    std::vector<int> renamed(code.buffers.size(), 0);  // dead nodes name any
    std::vector<KernelBuffer> kept;
    for (const bool bound : {true, false})
        for (size_t k = 0; k < used.size(); ++k) {
            if (!used[k] || (code.buffers[k].space == MemorySpace::Bound) != bound) continue;
            renamed[k] = static_cast<int>(kept.size());
            kept.push_back(code.buffers[k]);
        }
    for (KernelNode& n : code.nodes)
        if (auto* access = n.get_if<AccessAttr>())
            access->buffer = renamed[static_cast<size_t>(access->buffer)];
    code.buffers = std::move(kept);
}

}  // namespace firn
