// Whole arrays in plain loops.
#include "tests/programs/arrays.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn::programs {

int64_t count_of(const Shape& shape) {
    int64_t out = 1;
    for (const int64_t size : shape) out *= size;
    return out;
}

int64_t flat(const Shape& shape, const std::vector<int64_t>& at) {
    int64_t out = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) out = out * shape[axis] + at[axis];
    return out;
}

Shape broadcast(const Shape& a, const Shape& b) {
    Shape out = a.size() >= b.size() ? a : b;
    const Shape& shorter = a.size() >= b.size() ? b : a;
    for (size_t k = 0; k < shorter.size(); ++k) {
        int64_t& size = out[out.size() - shorter.size() + k];
        if (size == 1) size = shorter[k];
        if (shorter[k] != 1 && shorter[k] != size) throw Unsuitable("shapes that do not broadcast");
    }
    return out;
}

Array expanded(const Array& x, const Shape& shape) {
    if (x.shape == shape) return x;
    if (broadcast(x.shape, shape) != shape) throw Unsuitable("a shape that cannot be expanded");
    const size_t lead = shape.size() - x.shape.size();
    std::vector<int64_t> own(x.shape.size());
    return made(x.dtype, shape, [&](const std::vector<int64_t>& at) {
        for (size_t k = 0; k < own.size(); ++k) own[k] = x.shape[k] == 1 ? 0 : at[lead + k];
        return x.elements[static_cast<size_t>(flat(x.shape, own))];
    });
}

Array converted(const Array& x, DType dtype) {
    Array out{dtype, x.shape, {}, false};
    for (const Number& each : x.elements) out.elements.push_back(converted(each, x.dtype, dtype));
    return out;
}

Array applied(Fn fn, const std::vector<Array>& operands) {
    std::vector<Operand> types;
    Shape shape;
    for (size_t k = 0; k < operands.size(); ++k) {
        shape = broadcast(shape, operands[k].shape);
        if (fn != Fn::Select || k > 0)
            types.push_back({operands[k].dtype, operands[k].weak,
                             operands[k].weak ? operands[k].elements.at(0).i : 0});
    }
    if (fn == Fn::Select && !operands[0].dtype.is_bool())
        throw Unsuitable("a condition that is no bool");
    const FnTypes of = types_of(fn, types);
    std::vector<Array> wide;
    for (size_t k = 0; k < operands.size(); ++k)
        wide.push_back(expanded(
            fn == Fn::Select && k == 0 ? operands[k] : converted(operands[k], of.operand), shape));
    Array out{of.result, shape, {}, false};
    for (size_t k = 0; k < wide[0].elements.size(); ++k) {
        if (fn == Fn::Select)
            out.elements.push_back(wide[wide[0].elements[k].i ? 1 : 2].elements[k]);
        else
            out.elements.push_back(applied(fn, of.operand, wide[0].elements[k],
                                           wide.size() > 1 ? wide[1].elements[k] : Number{}));
    }
    return out;
}

namespace {

/// The index that is read along an axis of size n; -1 outside.
int64_t inside(Edge edge, int64_t i, int64_t n) {
    switch (edge) {
        case Edge::Clamp: return std::clamp<int64_t>(i, 0, n - 1);
        case Edge::Wrap: return (i % n + n) % n;
        case Edge::Mirror: {
            const int64_t within = (i % (2 * n) + 2 * n) % (2 * n);
            return within < n ? within : 2 * n - 1 - within;
        }
        case Edge::Reflect: {
            const int64_t period = n == 1 ? 1 : 2 * n - 2;
            const int64_t within = (i % period + period) % period;
            return within < n ? within : period - within;
        }
        case Edge::Zero:
        case Edge::Fill: return i >= 0 && i < n ? i : -1;
    }
    return -1;
}

/// Places broadcast together (and with `also`), as i32.
std::vector<Array> met(const Array& x, const std::vector<Array>& places, Shape& lead) {
    if (places.empty() || places.size() > x.shape.size()) throw Unsuitable("a number of indices");
    for (const Array& place : places) {
        if (!place.dtype.is_integer()) throw Unsuitable("an index that is no integer");
        lead = broadcast(lead, place.shape);
    }
    std::vector<Array> out;
    for (const Array& place : places) out.push_back(expanded(converted(place, i32), lead));
    return out;
}

}  // namespace

Array read(const Array& x, const std::vector<Array>& places, Edge edge, double fill) {
    Shape lead;
    const std::vector<Array> indices = met(x, places, lead);
    Shape shape = lead;
    shape.insert(shape.end(), x.shape.begin() + static_cast<long>(places.size()), x.shape.end());
    const bool empty = count_of(x.shape) == 0;
    std::vector<int64_t> own(x.shape.size());
    return made(x.dtype, shape, [&](const std::vector<int64_t>& at) {
        if (empty && edge != Edge::Fill) return Number{};
        const auto position = static_cast<size_t>(
            flat(lead, {at.begin(), at.begin() + static_cast<long>(lead.size())}));
        for (size_t axis = 0; axis < own.size(); ++axis) {
            own[axis] = axis < indices.size()
                            ? inside(edge, indices[axis].elements[position].i, x.shape[axis])
                            : at[lead.size() + axis - indices.size()];
            if (own[axis] < 0 || empty) return number_of(edge == Edge::Fill ? fill : 0, x.dtype);
        }
        return x.elements[static_cast<size_t>(flat(x.shape, own))];
    });
}

Array stored(const Array& x, const std::vector<Array>& places, const Array& value,
             const Array& mask, Combine combine) {
    Shape lead = mask.shape;
    const std::vector<Array> indices = met(x, places, lead);
    Shape shape = lead;
    shape.insert(shape.end(), x.shape.begin() + static_cast<long>(places.size()), x.shape.end());
    const Array values = expanded(converted(value, x.dtype), shape), active = expanded(mask, lead);
    Array out = x;
    std::vector<int64_t> own(x.shape.size());
    size_t k = 0;
    made(x.dtype, shape, [&](const std::vector<int64_t>& at) {
        const Number& from = values.elements[k++];
        const auto position = static_cast<size_t>(
            flat(lead, {at.begin(), at.begin() + static_cast<long>(lead.size())}));
        bool takes_place = active.elements[position].i;
        for (size_t axis = 0; axis < own.size(); ++axis) {
            own[axis] = axis < indices.size()
                            ? inside(Edge::Zero, indices[axis].elements[position].i, x.shape[axis])
                            : at[lead.size() + axis - indices.size()];
            takes_place &= own[axis] >= 0;
        }
        if (!takes_place) return from;
        Number& to = out.elements[static_cast<size_t>(flat(x.shape, own))];
        static constexpr Fn kFunctions[] = {Fn::Add, Fn::Add, Fn::Add, Fn::Mul, Fn::Min,
                                            Fn::Max, Fn::And, Fn::Or,  Fn::Xor};
        to = combine == Combine::Last
                 ? from
                 : applied(kFunctions[static_cast<size_t>(combine)], x.dtype, to, from);
        return from;
    });
    return out;
}

namespace {

/// Where the extremes are among the elements that are reduced to each of `kept`, whose axes of 1
/// they lie along, in row-major order.
Array positions(const Array& x, bool largest, const Shape& kept) {
    Array out = made(i32, kept, [](const std::vector<int64_t>&) { return Number{}; });
    std::vector<Number> best(out.elements.size());
    std::vector<int64_t> count(out.elements.size());
    size_t k = 0;
    made(x.dtype, x.shape, [&](std::vector<int64_t> at) {
        for (size_t axis = 0; axis < at.size(); ++axis)
            if (kept[axis] == 1) at[axis] = 0;
        const auto to = static_cast<size_t>(flat(kept, at));
        const Number &each = x.elements[k++], old = best[to];
        const bool better =
            applied(Fn::Less, x.dtype, largest ? old : each, largest ? each : old).i;
        if (count[to] == 0 || (!std::isnan(old.f) && (std::isnan(each.f) || better)))
            best[to] = each, out.elements[to].i = count[to];
        ++count[to];
        return each;
    });
    return out;
}

}  // namespace

Array reduced(const Array& x, Fn fn, const std::vector<int>& axes, bool keep_dims) {
    const bool position = fn == Fn::Argmin || fn == Fn::Argmax;
    auto goes = [&](size_t axis) {
        return axes.empty() ||
               std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end();
    };
    Shape kept, shape;
    for (size_t axis = 0; axis < x.shape.size(); ++axis) {
        kept.push_back(goes(axis) ? 1 : x.shape[axis]);
        if (!goes(axis) || keep_dims) shape.push_back(kept.back());
        if (goes(axis) && x.shape[axis] == 0 &&
            (fn == Fn::Smallest || fn == Fn::Largest || position))
            throw Unsuitable("no extremum");
    }
    if (position) {
        Array out = positions(converted(x, computed_type(x.dtype)), fn == Fn::Argmax, kept);
        out.shape = shape;
        return out;
    }
    const DType dtype = reduced_type(fn, x.dtype),
                inner = (dtype == f16 || dtype == bf16) && (fn == Fn::Sum || fn == Fn::Prod)
                            ? f32
                            : dtype;
    const Array from = converted(x, inner);
    static constexpr Fn kFunctions[] = {Fn::Add, Fn::Mul, Fn::Min, Fn::Max, Fn::Or, Fn::And};
    const auto which = static_cast<size_t>(fn) - static_cast<size_t>(Fn::Sum);
    const bool extremum = fn == Fn::Smallest || fn == Fn::Largest;
    Array out = made(inner, kept, [&](const std::vector<int64_t>&) {
        return number_of(fn == Fn::Prod || fn == Fn::All, inner);
    });
    std::vector<bool> begun(out.elements.size(), !extremum);
    size_t k = 0;
    made(inner, x.shape, [&](std::vector<int64_t> at) {
        for (size_t axis = 0; axis < at.size(); ++axis)
            if (goes(axis)) at[axis] = 0;
        const auto to = static_cast<size_t>(flat(kept, at));
        const Number& each = from.elements[k++];
        out.elements[to] =
            begun[to] ? applied(kFunctions[which], inner, out.elements[to], each) : each;
        begun[to] = true;
        return each;
    });
    out.shape = shape;
    return converted(out, dtype);
}

Array permuted(const Array& x, const std::vector<int>& axes) {
    if (axes.size() != x.shape.size()) throw Unsuitable("axes");
    Shape shape;
    for (const int axis : axes) shape.push_back(x.shape.at(static_cast<size_t>(axis)));
    std::vector<int64_t> own(axes.size());
    return made(x.dtype, shape, [&](const std::vector<int64_t>& at) {
        for (size_t k = 0; k < axes.size(); ++k) own[static_cast<size_t>(axes[k])] = at[k];
        return x.elements[static_cast<size_t>(flat(x.shape, own))];
    });
}

Array sliced(const Array& x, int along, const std::array<int64_t, 3>& range) {
    const auto axis = static_cast<size_t>(along);
    if (axis >= x.shape.size()) throw Unsuitable("an axis");
    const int64_t n = x.shape[axis], begin = std::min(range[0], n),
                  length = std::max<int64_t>(0, std::min(range[1], n) - begin);
    const int64_t by = std::abs(range[2]), first = range[2] > 0 ? begin : begin + length - 1;
    Shape shape = x.shape;
    shape[axis] = (length + by - 1) / by;
    return made(x.dtype, shape, [&](std::vector<int64_t> at) {
        at[axis] = first + range[2] * at[axis];
        return x.elements[static_cast<size_t>(flat(x.shape, at))];
    });
}

Array flipped(const Array& x, int axis) {
    if (static_cast<size_t>(axis) >= x.shape.size()) throw Unsuitable("an axis");
    return sliced(x, axis, {0, x.shape[static_cast<size_t>(axis)], -1});
}

Array rolled(const Array& x, const Array& shift, int axis) {
    if (!shift.shape.empty() || !shift.dtype.is_integer())
        throw Unsuitable("a shift that is no integer");
    if (axis < 0) {
        Array line = x;
        line.shape = {count_of(x.shape)};
        line = rolled(line, shift, 0);
        line.shape = x.shape;
        return line;
    }
    const auto along = static_cast<size_t>(axis);
    if (along >= x.shape.size()) throw Unsuitable("an axis");
    const int64_t by = converted(shift.elements[0], shift.dtype, i32).i;
    return made(x.dtype, x.shape, [&](std::vector<int64_t> at) {
        at[along] = inside(Edge::Wrap, at[along] - by, x.shape[along]);
        return x.elements[static_cast<size_t>(flat(x.shape, at))];
    });
}

Array concatenated(const std::vector<Array>& parts, int axis) {
    const auto along = static_cast<size_t>(axis);
    Shape shape = parts.at(0).shape;
    DType dtype = parts[0].dtype;
    if (along >= shape.size()) throw Unsuitable("an axis");
    shape[along] = 0;
    for (const Array& part : parts) {
        Shape own = part.shape;
        if (own.size() != shape.size()) throw Unsuitable("parts of different shapes");
        shape[along] += std::exchange(own[along], shape[along]);
        if (own != shape && (own[along] = shape[along], own != shape))
            throw Unsuitable("parts of different shapes");
        dtype = joined(dtype, part.dtype);
    }
    return made(dtype, shape, [&](std::vector<int64_t> at) {
        size_t k = 0;
        for (; at[along] >= parts[k].shape[along]; ++k) at[along] -= parts[k].shape[along];
        return converted(parts[k].elements[static_cast<size_t>(flat(parts[k].shape, at))],
                         parts[k].dtype, dtype);
    });
}

Array stacked(std::vector<Array> parts, int axis) {
    for (Array& part : parts) part.shape.insert(part.shape.begin() + axis, 1);
    return concatenated(parts, axis);
}

}  // namespace firn::programs
