// Finds how the indices of a lowered kernel's loads move with its ranges.
#include "compiler/kernel/strides.h"

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"

namespace firn {

RangeId last_grid_range(const KernelCode& code) {
    RangeId x;
    for (RangeId range : code.ranges.ids())
        if (code[range].kind == RangeKind::Grid) x = range;
    return x;
}

namespace {

/// The index moves along the loop's range alone: everything else that it depends on moves it by
/// whole rounds of the lanes, so that each lane knows its element of a round.
bool walks_in_rounds(const IndexForm& index, RangeId range, int64_t lanes) {
    const Size& offset = index.sum.offset;
    if (!index.is_sum() || !(offset.is_constant() || offset.divisor() % lanes == 0)) return false;
    for (const auto& [other, step] : index.sum.terms)
        if (other != range && step.divisor() % lanes != 0) return false;
    return true;
}

}  // namespace

bool reads_in_sequence(KernelCode code, int64_t lanes) {
    for (NodeId effect : code[kRoot].effects)
        if (code[effect].op != KernelOp::Store) return false;
    place(code);
    const RangeId x = last_grid_range(code);
    if (!x) return false;
    IndexForms forms(code);
    for (const KernelRegion& region : code.regions) {
        if (!region.range) continue;
        const int64_t iterations = code[region.range].max_trips;
        if (iterations >= 0 && iterations < lanes) continue;
        for (NodeId id : region.order) {
            const KernelNode& n = code[id];
            if (n.op != KernelOp::Load ||
                code.buffers[n.as<AccessAttr>().buffer].dtype.bytes() != 4)
                continue;
            const IndexForm& index = forms.of(n.args[0]);
            if (stride(index, region.range) == Stride::One && stride(index, x) == Stride::None &&
                walks_in_rounds(index, region.range, lanes))
                return true;
        }
    }
    return false;
}

bool strides_far(KernelCode code) {
    place(code);
    IndexForms forms(code);
    bool far = false, near = false;
    for (const KernelRegion& region : code.regions) {
        if (!region.range) continue;
        for (NodeId id : region.order) {
            if (code[id].op != KernelOp::Load) continue;
            const Stride along = stride(forms.of(code[id].args[0]), region.range);
            far |= along == Stride::Other;
            near |= along == Stride::One;
        }
    }
    return far && !near;
}

bool walks_columns(KernelCode code) {
    place(code);
    IndexForms forms(code);
    const RangeId x = last_grid_range(code);
    bool some = false;
    for (const KernelRegion& region : code.regions) {
        if (!region.range || !x) continue;
        for (NodeId id : region.order) {
            if (code[id].op != KernelOp::Load) continue;
            const IndexForm& index = forms.of(code[id].args[0]);
            if (stride(index, region.range) != Stride::Other || stride(index, x) != Stride::One)
                return false;
            some = true;
        }
    }
    return some;
}

}  // namespace firn
