// Fields between their elements.
#pragma once
#include <firn/firn.h>

#include <array>

namespace firn::fluid {

/// Points in cell units, one per element.
struct Point {
    Tensor y, x;
};

/// A field f32 [n, m] that is read where only the data says.
struct Field {
    enum class Outside : uint8_t { Edge, Zero };  // what is read there
    explicit Field(const Tensor& values, Outside outside = Outside::Edge)
        : values(values), outside(outside) {}

    Tensor values;
    Outside outside;
};

/// The elements of a square, row by row, and a place in it, from 0 to 1 between the elements in the
/// middle.
using Between = Callback<Tensor(const std::vector<Tensor>& elements, const Point& place)>;

/// Interpolates the field at a point in its own indices: `between` takes the `size` x `size`
/// elements around it. The gradient is the same in every run: it sums what comes back to an element
/// in integers, whose order does not matter.
inline Tensor sample(const Field& field, const Point& at, int size, const Between& between) {
    struct Square {
        Tensor row, column;  // of its first element
        Point place;
    };
    const bool zero_outside = field.outside == Field::Outside::Zero;
    const auto square_at = [=](const std::vector<Tensor>& xs) {
        const int before = size / 2 - 1;
        Tensor top = floor(xs[1]), left = floor(xs[2]);
        return Square{
            cast<int>(top) - before, cast<int>(left) - before, {xs[1] - top, xs[2] - left}};
    };
    const auto elements_of = [=](const Tensor& values, const Square& square) {
        std::vector<Tensor> out;
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b) {
                const Tensor i = square.row + a, j = square.column + b;
                out.push_back(zero_outside ? zero(values)(i, j) : values(i, j));
            }
        return out;
    };
    const auto value = [=](const std::vector<Tensor>& xs) {
        const Square square = square_at(xs);
        return between(elements_of(xs[0], square), square.place);
    };
    const auto gradient = [=](const std::vector<Tensor>& xs, const Tensor&,
                              const Tensor& cotangent) {
        // Units of gradients of 1e-13 leave room for sums up to 500,000.
        constexpr float kUnits = 0x1p44f;
        const Square square = square_at(xs);
        std::vector<Tensor> by = elements_of(xs[0], square);
        const Tensor made = between(by, square.place);
        by.insert(by.end(), {square.place.y, square.place.x});
        const std::vector<Tensor> parts = vjp(made, by, cotangent);
        const Size rows = xs[0].size(0), columns = xs[0].size(1);
        Tensor sums = zeros({rows, columns}, i64);
        for (int k = 0; k < size * size; ++k) {
            Tensor i = square.row + k / size, j = square.column + k % size;
            if (!zero_outside) i = clamp(i, 0, rows - 1), j = clamp(j, 0, columns - 1);
            scatter_add(sums(i, j), round(kUnits * parts[size_t(k)]).as(i64));
        }
        return std::vector{sums.as(f32) / kUnits, parts[parts.size() - 2], parts.back()};
    };
    const std::vector<Tensor> xs{field.values, at.y, at.x};
    if (!current_session().profile().wide_atomics) return value(xs);
    return custom_gradient(value, xs, gradient);
}

/// `field` at a point given in its own indices, linear between the four nearest elements.
inline Tensor bilinear(const Field& field, const Point& at) {
    return sample(field, at, 2, [](const std::vector<Tensor>& of, const Point& place) {
        return mix(mix(of[0], of[1], place.x), mix(of[2], of[3], place.x), place.y);
    });
}

/// The weights of four elements in a row, `t` behind the second.
inline std::array<Tensor, 4> catmull_rom(const Tensor& t) {
    return {t * (t * (1.0f - 0.5f * t) - 0.5f), 1.0f + t * t * (1.5f * t - 2.5f),
            t * (0.5f + t * (2.0f - 1.5f * t)), t * t * (0.5f * t - 0.5f)};
}

/// The sixteen elements of a square, each with the weight of its row and of its column.
inline Tensor weighted(const std::vector<Tensor>& of, const std::array<Tensor, 4>& down,
                       const std::array<Tensor, 4>& across) {
    const auto row = [&](size_t a) {
        return across[0] * of[4 * a] + across[1] * of[4 * a + 1] + across[2] * of[4 * a + 2] +
               across[3] * of[4 * a + 3];
    };
    return down[0] * row(0) + down[1] * row(1) + down[2] * row(2) + down[3] * row(3);
}

/// The Catmull-Rom spline through the sixteen nearest elements, kept within the range of the
/// nearest four: sharp, and without new extremes.
inline Tensor bicubic(const Field& field, const Point& at) {
    return sample(field, at, 4, [](const std::vector<Tensor>& of, const Point& place) {
        const Tensor value = weighted(of, catmull_rom(place.y), catmull_rom(place.x));
        const Tensor &a = of[5], &b = of[6], &c = of[9], &d = of[10];
        return clamp(value, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
    });
}

}  // namespace firn::fluid
