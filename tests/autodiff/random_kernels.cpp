// Random kernels by hand over floats: reads, loops, arrays and atomics of one invocation.
#include "tests/autodiff/random_function.h"

namespace firn {
namespace {

template <class Reader>
Tensor read_with(const Reader& reader, const Tensors& at) {
    return at.size() == 1 ? Tensor(reader(at[0])) : Tensor(reader(at[0], at[1]));
}

Access place_of(Tensor& to, const Tensors& at) {
    return at.size() == 1 ? to(at[0]) : to(at[0], at[1]);
}

}  // namespace

void RandomFunction::by_hand() {
    const int count = 1 + dice_.below(4);
    note_kernels(count);
    for (int k = 0; k < count; ++k) {
        store_from_kernel();
        if (k + 1 < count && dice_.chance(40)) assign();
    }
}

/// Each invocation stores at places of its own, or adds.
void RandomFunction::store_from_kernel() {
    std::vector<size_t> all;
    for (size_t k = 0; k < variables_.size(); ++k)
        if (!variables_[k].shape.empty()) all.push_back(k);
    Tensor& to = variables_[dice_.of(all)].value;
    Tensor& other = variables_[dice_.of(all)].value;
    const bool grouped = dice_.chance(40), both = dice_.chance(30) && &to != &other;
    if (contents) contents->grouped_kernel |= grouped;
    Shape grid = main_;
    if (dice_.chance(20)) grid.back() += 1 + dice_.below(3);
    const auto store = [&](const Tensors& at) {
        const Tensor value = store_by(to, at);
        if (both) place_of(other, turned(at)) = 0.8f * value;
    };
    if (main_.size() == 2) {
        const std::vector<int> group = grouped ? std::vector<int>{4, 2} : std::vector<int>{};
        return kernel(grid, {.group = group}, [&](Tensor i, Tensor j) { store({i, j}); });
    }
    grouped_ = grouped;
    const std::vector<int> group = grouped ? std::vector<int>{4} : std::vector<int>{};
    kernel(grid, {.group = group}, [&](Tensor i) { store({i}); });
    grouped_ = false;
}

/// The place at the other end of the first axis.
Tensors RandomFunction::turned(const Tensors& at) const {
    Tensors out = at;
    out[0] = Tensor(main_[0]) - 1 - at[0];
    return out;
}

/// Near the invocation's own element.
Tensor RandomFunction::read_by(const Tensors& at) {
    const FloatVariable from = dice_.of(variables_);
    if (from.shape.empty()) return from.value + 0.0f * at[0].as(dtype_);
    Tensors places;
    for (const Tensor& own : at) places.push_back(own + (dice_.below(5) - 2));
    switch (dice_.below(5)) {
        case 0: return read_with(from.value, places);
        case 1: return read_with(wrap(from.value), places);
        case 2: return read_with(mirror(from.value), places);
        case 3: return read_with(zero(from.value), at);
        default: return read_with(fill(from.value, 0.7f), places);
    }
}

Tensor RandomFunction::value_by(const Tensors& at, int depth) {
    const int kind = depth <= 0 ? 0 : dice_.below(100);
    if (kind < 20) return read_by(at);
    if (kind < 45) return unary(value_by(at, depth - 1));
    if (kind < 70) {
        const Tensor a = value_by(at, depth - 1);
        return binary(a, value_by(at, depth - 1));
    }
    if (kind < 80) {
        const Tensor a = value_by(at, depth - 1), test = read_by(at);
        return select(test > 0.13f, a, value_by(at, depth - 1));
    }
    if (kind < 92 || !grouped_) return walked_by(at);
    return swapped_in_group(at);
}

/// Walks by a loop that some invocations may leave early, or by a private array.
Tensor RandomFunction::walked_by(const Tensors& at) {
    Tensor out = value_by(at, 1);
    const Tensor more = value_by(at, 1), limit = read_by(at);
    if (dice_.chance(30)) {
        Local kept = local(dtype_, 3);
        for (Tensor k : loop(3)) kept(k) = tamed(out * more + 0.3f * k.as(dtype_));
        for (Tensor k : loop(3)) out = tamed(out + kept(2 - k));
        return out;
    }
    const bool leaves = dice_.chance(50);
    for (Tensor k : loop(1 + dice_.below(3))) {
        if (leaves) if_(out > limit + 0.9f, [] { break_(); });
        out = tamed(out * more + 0.2f * k.as(dtype_));
    }
    return out;
}

/// Reads another invocation's value of the group through a shared array.
Tensor RandomFunction::swapped_in_group(const Tensors& at) {
    Shared row = shared(dtype_, 4);
    row(local_index(0)) = value_by(at, 1);
    barrier();
    return row((local_index(0) + 1) % 4);
}

/// Stores a value.
Tensor RandomFunction::store_by(Tensor& to, const Tensors& at) {
    const Tensor value = tamed(value_by(at, 3));
    switch (dice_.below(7)) {
        case 0: place_of(to, turned(at)) = value; break;
        case 1: {
            Tensors met = at;
            met[0] = at[0] / 2;
            atomic_add(place_of(to, met), 0.3f * value);
            break;
        }
        case 2: {
            const Tensor test = read_by(at);
            if_(test > 0.05f, [&] { place_of(to, at) = value; });
            break;
        }
        case 3: {
            place_of(to, at) = value;
            place_of(to, at) = sin(read_with(to, at)) + 0.2f * value;
            break;
        }
        default: place_of(to, at) = value;
    }
    return value;
}

}  // namespace firn
