// Transposes reads at the own index plus an offset.
#include "compiler/autodiff/shifted_reads.h"

#include <algorithm>

#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

constexpr int64_t kMostAtEdge = 8;  // elements beyond an edge that are added up one by one

/// The indices at which a Gather reads one axis of its source: offset + the index along `axis` of
/// its result, which has `extent` indices (axis -1: only offset).
struct Shift {
    int axis = -1;
    Size extent = Size(1), offset;
    Bounds mode = Bounds::Constant;
};

bool is_below(const Size& a, const Size& b) { return (b - a).lower_bound() > 0; }
bool is_inside(const Shift& shift, const Size& source) {
    return shift.offset.lower_bound() >= 0 && !is_below(source, shift.offset + shift.extent) &&
           (source - shift.offset - shift.extent).lower_bound() >= 0;
}

/// Returns the shift with its mode simplified; nothing if there is no rule for it.
std::optional<Shift> simplified(Shift shift, const Size& source) {
    if (shift.mode == Bounds::Unchecked || is_inside(shift, source)) shift.mode = Bounds::Constant;
    if (shift.mode == Bounds::Constant) return shift;
    if (!(shift.extent == source)) return std::nullopt;
    if (shift.mode == Bounds::Wrap) return shift;
    if (!shift.offset.is_constant()) return std::nullopt;
    const int64_t by = std::abs(shift.offset.constant());
    // A mirror meets elements again if the axis is shorter than that.
    const int64_t reach = shift.mode == Bounds::Reflect ? by + 1 : by;
    const bool may_meet = (shift.mode == Bounds::Mirror || shift.mode == Bounds::Reflect) &&
                          (source - Size(reach)).lower_bound() < 0;
    return by <= kMostAtEdge && !may_meet ? std::optional(shift) : std::nullopt;
}

std::optional<std::vector<Shift>> shifts_of(const Node& gather) {
    const Shape& source = gather.inputs[0]->shape;
    std::vector<Shift> out;
    std::vector<bool> used(gather.shape.size(), false);
    for (size_t k = 0; k < source.size(); ++k) {
        const auto index = affine_index(*gather.inputs[k + 1]);
        if (!index) return std::nullopt;
        Shift shift{index->axis, Size(1), index->offset, gather.as<GatherAttr>().modes[k]};
        if (shift.axis >= 0) {
            const auto axis = static_cast<size_t>(shift.axis);
            if (used[axis]) return std::nullopt;
            used[axis] = true;
            shift.extent = gather.shape[axis];
        }
        const auto simple = simplified(shift, source[k]);
        if (!simple) return std::nullopt;
        out.push_back(*simple);
    }
    return out;
}

/// g with the axes of the source in their order, with one index where the source was read at a
/// number; elements that were read several times are summed.
Ref aligned(ReverseRun& run, const std::vector<Shift>& shifts, Ref g) {
    std::vector<int> repeated, order;
    Shape shape;
    for (int axis = 0; axis < g->rank(); ++axis)
        if (std::none_of(shifts.begin(), shifts.end(),
                         [&](const Shift& s) { return s.axis == axis; }))
            repeated.push_back(axis);
    for (const Shift& shift : shifts) {
        shape.push_back(shift.extent);
        if (shift.axis < 0) continue;
        const auto before = std::count_if(repeated.begin(), repeated.end(),
                                          [&](int axis) { return axis < shift.axis; });
        order.push_back(shift.axis - static_cast<int>(before));
    }
    if (!repeated.empty()) g = reduce(run.b, ReduceOp::Sum, g, repeated, false);
    return reshape(run.b, permute(run.b, g, order), shape);
}

/// One axis of g, and the indices of the cotangent that is made of it.
struct Along {
    ReverseRun& run;
    const Ref& g;
    Shape shape;  // of what is made
    int axis;

    Ref own() const { return index(run.b, shape, axis); }
    Ref number(const Size& size) const { return size_value(run.b, size); }
    Ref zero() const { return constant(run.b, scalar_float(0, g->dtype)); }
    Ref read(const Ref& at, Bounds mode) const {
        std::vector<Ref> indices;
        std::vector<Bounds> modes(shape.size(), Bounds::Clamp);
        for (int k = 0; k < static_cast<int>(shape.size()); ++k)
            indices.push_back(k == axis ? at : index(run.b, shape, k));
        modes[static_cast<size_t>(axis)] = mode;
        return gather(run.b, g, indices, modes, scalar_float(0, g->dtype));
    }
    /// Returns the element at one position of the axis, repeated along the axis and computed once.
    Ref repeated(const Size& position) const {
        Shape once = shape;
        once[static_cast<size_t>(axis)] = 1;
        std::vector<Ref> indices;
        for (int k = 0; k < static_cast<int>(shape.size()); ++k)
            indices.push_back(k == axis ? expand(run.b, number(position), once)
                                        : index(run.b, once, k));
        const std::vector<Bounds> modes(shape.size(), Bounds::Clamp);
        return expand(run.b, gather(run.b, g, indices, modes, scalar_float(0, g->dtype)), shape);
    }
    Ref where(const Ref& condition, const Ref& value) const {
        return elementwise(run.b, Op::Select, {condition, value, zero()});
    }
};

/// The parts of g that were read beyond an edge, at the elements that were read instead. `source`:
/// the source's number of elements.
Ref from_beyond(const Along& along, const Shift& shift, const Size& source) {
    const Builder& b = along.run.b;
    const int64_t by = shift.offset.constant(), count = std::abs(by);
    Ref out;
    const auto add = [&](const Ref& part) {
        out = out ? elementwise(b, Op::Add, {out, part}) : part;
    };
    for (int64_t k = 0; k < count; ++k) {
        // Position k from the edge, which was read at count - k beyond it.
        const Size position = by < 0 ? Size(k) : source - Size(1 + k);
        const Size distance = shift.mode == Bounds::Clamp     ? Size(0)
                              : shift.mode == Bounds::Reflect ? Size(count - k)
                                                              : Size(count - 1 - k);
        const Size element = by < 0 ? distance : source - Size(1) - distance;
        Ref here = elementwise(b, Op::Equal, {along.own(), along.number(element)});
        if ((source - Size(k)).lower_bound() < 1)  // there may be no such position
            here = elementwise(
                b, Op::And,
                {here, elementwise(b, Op::Less, {along.number(Size(k)), along.number(source)})});
        add(along.where(here, along.repeated(position)));
    }
    return out;
}

Ref transposed(ReverseRun& run, const Ref& g, const Shift& shift, const Size& source, int axis) {
    if (shift.offset.is(0) && shift.extent == source) return g;
    Along along{run, g, g->shape, axis};
    along.shape[static_cast<size_t>(axis)] = source;
    const Ref at = elementwise(run.b, Op::Sub, {along.own(), along.number(shift.offset)});
    const Ref inside = along.read(at, shift.mode == Bounds::Wrap ? Bounds::Wrap : Bounds::Constant);
    if (shift.mode == Bounds::Constant || shift.mode == Bounds::Wrap) return inside;
    return elementwise(run.b, Op::Add, {inside, from_beyond(along, shift, source)});
}

}  // namespace

std::optional<Ref> reverse_shifted_read(ReverseRun& run, const Node& gather, const Ref& g) {
    const auto shifts = shifts_of(gather);
    if (!shifts) return std::nullopt;
    Ref out = aligned(run, *shifts, g);
    const Shape& source = gather.inputs[0]->shape;
    for (size_t k = 0; k < source.size(); ++k)
        out = transposed(run, out, (*shifts)[k], source[k], static_cast<int>(k));
    return out;
}

}  // namespace firn
