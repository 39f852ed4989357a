// Index arithmetic in row-major order, one element after the other.
#include "compiler/ir/interpret_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate.h"

namespace firn {

int64_t HostTensor::elements() const {
    int64_t count = 1;
    for (int64_t n : shape) count *= n;
    return count;
}

Scalar HostTensor::at(int64_t flat) const {
    return load_scalar(dtype, data.data() + flat * dtype.bytes());
}
void HostTensor::set(int64_t flat, const Scalar& value) {
    store_scalar(value, data.data() + flat * dtype.bytes());
}

HostTensor HostTensor::make(DType dtype, std::vector<int64_t> shape) {
    HostTensor out;
    out.dtype = dtype;
    for (int64_t& n : shape) n = std::max<int64_t>(n, 0);
    out.shape = std::move(shape);
    out.data.resize(static_cast<size_t>(out.elements() * dtype.bytes()));
    return out;
}

namespace {

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t k = shape.size(); k-- > 0; stride *= shape[k]) strides[k] = stride;
    return strides;
}

/// Calls f(position) for every index of `shape` in row-major order, where position is
/// base + sum of index x stride.
template <class F>
void for_each_position(const std::vector<int64_t>& shape, int64_t base,
                       const std::vector<int64_t>& strides, const F& f) {
    for (int64_t n : shape)
        if (n <= 0) return;
    std::vector<int64_t> index(shape.size(), 0);
    for (int64_t position = base;;) {
        f(position);
        size_t axis = shape.size();
        while (axis > 0) {
            --axis;
            position += strides[axis];
            if (++index[axis] < shape[axis]) break;
            position -= strides[axis] * shape[axis];
            index[axis] = 0;
            if (axis == 0) return;
        }
        if (shape.empty()) return;
    }
}

void copy_element(HostTensor& to, int64_t to_flat, const HostTensor& from, int64_t from_flat) {
    std::byte* target = to.data.data() + to_flat * to.dtype.bytes();
    const std::byte* source = from.data.data() + from_flat * to.dtype.bytes();
    if (to.dtype.bytes() == 4)
        std::memcpy(target, source, 4);
    else
        std::memcpy(target, source, static_cast<size_t>(to.dtype.bytes()));
}

HostTensor strided_copy(const HostTensor& x, std::vector<int64_t> shape, int64_t base,
                        const std::vector<int64_t>& strides) {
    HostTensor out = HostTensor::make(x.dtype, std::move(shape));
    int64_t flat = 0;
    for_each_position(out.shape, base, strides,
                      [&](int64_t position) { copy_element(out, flat++, x, position); });
    return out;
}

int32_t index_at(const HostTensor& indices, int64_t flat) {
    int32_t value;
    std::memcpy(&value, indices.data.data() + 4 * flat, 4);
    return value;
}

}  // namespace

HostTensor filled(const Scalar& value, std::vector<int64_t> shape) {
    HostTensor out = HostTensor::make(value.dtype, std::move(shape));
    for (int64_t k = 0, n = out.elements(); k < n; ++k) out.set(k, value);
    return out;
}

HostTensor expanded(const HostTensor& x, const std::vector<int64_t>& shape) {
    std::vector<int64_t> own = row_major_strides(x.shape), strides(shape.size(), 0);
    size_t offset = shape.size() - x.shape.size();
    for (size_t k = 0; k < x.shape.size(); ++k) {
        ensure(x.shape[k] == 1 || x.shape[k] == shape[offset + k],
               "an Expand repeats a size that is not 1");
        if (x.shape[k] != 1) strides[offset + k] = own[k];
    }
    return strided_copy(x, shape, 0, strides);
}

HostTensor permuted(const HostTensor& x, const std::vector<int>& axes) {
    std::vector<int64_t> own = row_major_strides(x.shape), shape, strides;
    for (int axis : axes) {
        shape.push_back(x.shape[static_cast<size_t>(axis)]);
        strides.push_back(own[static_cast<size_t>(axis)]);
    }
    return strided_copy(x, shape, 0, strides);
}

HostTensor sliced(const HostTensor& x, const std::vector<int64_t>& begin,
                  const std::vector<int64_t>& extent, const std::vector<int64_t>& step) {
    std::vector<int64_t> strides = row_major_strides(x.shape);
    int64_t base = 0;
    bool empty = std::any_of(extent.begin(), extent.end(), [](int64_t n) { return n <= 0; });
    for (size_t k = 0; k < strides.size(); ++k) {
        int64_t last = begin[k] + step[k] * (extent[k] - 1);
        ensure(empty || (std::min(begin[k], last) >= 0 && std::max(begin[k], last) < x.shape[k]),
               "a Slice leaves its input");
        base += begin[k] * strides[k];
        strides[k] *= step[k];
    }
    return strided_copy(x, extent, base, strides);
}

HostTensor padded(const HostTensor& x, const std::vector<int64_t>& before,
                  const std::vector<int64_t>& shape, const Scalar& value) {
    HostTensor out = filled(value, shape);
    std::vector<int64_t> strides = row_major_strides(shape);
    int64_t base = 0, flat = 0;
    for (size_t k = 0; k < shape.size(); ++k) base += before[k] * strides[k];
    for_each_position(x.shape, base, strides,
                      [&](int64_t position) { copy_element(out, position, x, flat++); });
    return out;
}

HostTensor index_along(const std::vector<int64_t>& shape, int axis) {
    HostTensor out = HostTensor::make(i32, shape);
    std::vector<int64_t> strides(shape.size(), 0);
    strides[static_cast<size_t>(axis)] = 1;
    int64_t flat = 0;
    for_each_position(out.shape, 0, strides,
                      [&](int64_t position) { out.set(flat++, scalar_int(position)); });
    return out;
}

HostTensor gathered(const HostTensor& x, std::span<const HostTensor* const> indices,
                    const std::vector<int64_t>& shape, const GatherAttr& attr) {
    HostTensor out = HostTensor::make(x.dtype, shape);
    std::vector<int64_t> strides = row_major_strides(x.shape);
    for (int64_t flat = 0, n = out.elements(); flat < n; ++flat) {
        int64_t position = 0;
        bool fill = false, empty = false;
        for (size_t axis = 0; axis < indices.size(); ++axis) {
            int64_t asked = index_at(*indices[axis], flat), size = x.shape[axis];
            int64_t read = bounded_index(attr.modes[axis], asked, size);
            if (read < 0 || read >= size) {
                if (size > 0 && attr.modes[axis] == Bounds::Unchecked)
                    throw UserError("unchecked read: index " + std::to_string(asked) + " of axis " +
                                    std::to_string(axis) + " is outside its size " +
                                    std::to_string(size) + "; choose a bounds mode for this read");
                (attr.modes[axis] == Bounds::Constant ? fill : empty) = true;
                continue;
            }
            position += read * strides[axis];
        }
        // An empty tensor has nothing to clamp or wrap to: reading it gives 0, which `out` is
        // already.
        if (fill)
            out.set(flat, attr.fill);
        else if (!empty)
            copy_element(out, flat, x, position);
    }
    return out;
}

namespace {

/// Stores position after position; `visit(flat, position)` before each that is inside.
template <class Visit>
HostTensor stored(const HostTensor& target, const HostTensor& values,
                  std::span<const HostTensor* const> indices, const ScatterAttr& attr,
                  const Visit& visit) {
    HostTensor out = target;
    const ScatterOp op = attr.op;
    std::vector<bool> taken(static_cast<size_t>(attr.unique ? out.elements() : 0));
    int64_t count = 0;
    std::vector<int64_t> strides = row_major_strides(out.shape);
    for (int64_t flat = 0, n = values.elements(); flat < n; ++flat) {
        int64_t position = 0;
        bool inside = true;
        for (size_t axis = 0; axis < indices.size(); ++axis) {
            int64_t asked = index_at(*indices[axis], flat);
            inside &= asked >= 0 && asked < out.shape[axis];
            position += asked * strides[axis];
        }
        if (!inside) continue;
        if (attr.unique && taken[static_cast<size_t>(position)])
            throw UserError(
                "store: it promises that no two positions have the same index, but two have that "
                "of element " +
                std::to_string(position) + " (row-major); leave the promise out");
        if (attr.unique) taken[static_cast<size_t>(position)] = true;
        ++count;
        visit(out, flat, position);
        if (op == ScatterOp::Last) {
            copy_element(out, position, values, flat);
            continue;
        }
        const Scalar operands[] = {out.at(position), values.at(flat)};
        out.set(position, evaluate(combining_op(op), out.dtype, operands));
    }
    if (attr.complete && count < out.elements())
        throw UserError("store: it promises a permutation, and stores to " + std::to_string(count) +
                        " of " + std::to_string(out.elements()) +
                        " elements; leave the promise out");
    return out;
}

HostTensor converted(const HostTensor& x, DType type) {
    HostTensor out = HostTensor::make(type, x.shape);
    for (int64_t k = 0, n = out.elements(); k < n; ++k) out.set(k, x.at(k).to(type));
    return out;
}

}  // namespace

HostTensor scattered(const HostTensor& target, const HostTensor& values,
                     std::span<const HostTensor* const> indices, const ScatterAttr& attr) {
    const auto store = [&](const HostTensor& to, const HostTensor& of) {
        return stored(to, of, indices, attr, [](const HostTensor&, int64_t, int64_t) {});
    };
    // Does as kernels do (settle_stores): combines colliding halves in f32, and rounds once.
    const DType type = target.dtype;
    if (!type.is_half() || attr.by_hand || attr.op == ScatterOp::Last) return store(target, values);
    return converted(store(converted(target, f32), converted(values, f32)), type);
}

HostTensor fetched(const HostTensor& target, const HostTensor& values,
                   std::span<const HostTensor* const> indices, const ScatterAttr& attr) {
    HostTensor out = filled(scalar_int(0).to(target.dtype), values.shape);
    stored(target, values, indices, attr,
           [&](const HostTensor& now, int64_t flat, int64_t position) {
               copy_element(out, flat, now, position);
           });
    return out;
}

HostTensor exchanged(const HostTensor& x, const HostTensor* lane, const SubgroupAttr& attr) {
    // Elements by group and by their place in it.
    const size_t rank = x.shape.size();
    int64_t members = 1;
    for (uint32_t g : attr.group) members *= g;
    std::map<int64_t, std::vector<int64_t>> groups;
    for (int64_t flat = 0, n = x.elements(); flat < n; ++flat) {
        int64_t rest = flat, group = 0, place = 0, group_stride = 1, place_stride = 1;
        for (size_t axis = rank; axis-- > 0;) {
            const int64_t index = rest % x.shape[axis], width = attr.group[axis];
            rest /= x.shape[axis];
            group += index / width * group_stride;
            place += index % width * place_stride;
            group_stride *= (x.shape[axis] + width - 1) / width;
            place_stride *= width;
        }
        std::vector<int64_t>& elements = groups[group];
        elements.resize(static_cast<size_t>(members), -1);
        elements[static_cast<size_t>(place)] = flat;
    }
    HostTensor out = x;
    const int64_t lanes = attr.lanes;
    for (const auto& [group, elements] : groups) {
        for (int64_t first = 0; first < members; first += lanes) {
            auto value = [&](int64_t l) { return x.at(elements[static_cast<size_t>(first + l)]); };
            Scalar all = reduce_identity(attr.combine, x.dtype);
            for (int64_t l = 0; l < lanes; ++l) {
                const int64_t at = elements[static_cast<size_t>(first + l)];
                if (attr.op == SubgroupOp::Shuffle) {
                    const int64_t from = ((lane->at(at).i % lanes) + lanes) % lanes;
                    out.set(at, value(from));
                    continue;
                }
                all = evaluate_reduce(attr.combine, all, value(l));
                if (attr.op == SubgroupOp::Scan) out.set(at, all);
            }
            if (attr.op == SubgroupOp::Reduce)
                for (int64_t l = 0; l < lanes; ++l)
                    out.set(elements[static_cast<size_t>(first + l)], all);
        }
    }
    return out;
}

namespace {

/// Returns the positions of the extremes along an axis.
HostTensor positions(const HostTensor& x, Op step, size_t axis) {
    std::vector<int64_t> kept = x.shape;
    kept.erase(kept.begin() + static_cast<long>(axis));
    const int64_t n = x.shape[axis], stride = row_major_strides(x.shape)[axis];
    const auto is_better = [&](Scalar a, Scalar b) {
        if (std::isnan(b.f) || std::isnan(a.f)) return !std::isnan(b.f);
        if (step == Op::Max) std::swap(a, b);
        return evaluate(Op::Less, boolean, std::array{a, b}).i != 0;
    };
    HostTensor out = filled(scalar_int(0), kept);
    for (int64_t k = 0; k < out.elements(); ++k) {
        const int64_t first = k / stride * stride * n + k % stride;
        int64_t best = 0;
        for (int64_t i = 1; i < n; ++i)
            if (is_better(x.at(first + i * stride), x.at(first + best * stride))) best = i;
        out.set(k, scalar_int(best));
    }
    return out;
}

}  // namespace

HostTensor reduced(const HostTensor& x, ReduceOp op, const std::vector<int>& axes) {
    const Monoid& by = monoid(op);
    if (by.position_of) return positions(x, by.step, static_cast<size_t>(axes[0]));
    std::vector<int64_t> kept, strides(x.shape.size(), 0);
    for (size_t axis = 0; axis < x.shape.size(); ++axis)
        if (!std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)))
            kept.push_back(x.shape[axis]);
    std::vector<int64_t> own = row_major_strides(kept);
    for (size_t axis = 0, k = 0; axis < x.shape.size(); ++axis)
        if (!std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)))
            strides[axis] = own[k++];

    bool accumulates = op == ReduceOp::Sum || op == ReduceOp::Prod;
    DType inside = accumulates && x.dtype.is_half() ? f32 : x.dtype;
    HostTensor sums = filled(reduce_identity(op, inside), kept);
    int64_t flat = 0;
    if (op == ReduceOp::Sum && x.dtype == f32) {
        for_each_position(x.shape, 0, strides, [&](int64_t position) {
            float sum, value;
            std::memcpy(&sum, sums.data.data() + 4 * position, 4);
            std::memcpy(&value, x.data.data() + 4 * flat++, 4);
            sum += value;
            std::memcpy(sums.data.data() + 4 * position, &sum, 4);
        });
        return sums;
    }
    for_each_position(x.shape, 0, strides, [&](int64_t position) {
        sums.set(position, evaluate_reduce(op, sums.at(position), x.at(flat++).to(inside)));
    });
    if (inside == x.dtype) return sums;
    HostTensor out = HostTensor::make(x.dtype, kept);
    for (int64_t k = 0, n = out.elements(); k < n; ++k) out.set(k, sums.at(k).to(x.dtype));
    return out;
}

}  // namespace firn
