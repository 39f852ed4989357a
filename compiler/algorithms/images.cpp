// A filter along one axis is a sum of elements read by index, each with its weight.
#include "compiler/algorithms/images.h"

#include <cmath>

#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// The source places of a result's elements along an axis, and their weights: both [size, taps].
struct Taps {
    Tensor places, weights;
};

void check_picture(const char* what, const Tensor& x) {
    const Shape shape = x.shape();
    if (shape.size() < 2 || shape[0].is(0) || shape[1].is(0))
        refuse(std::string(what) + ": x is " + text(shape) +
               "; a picture is [rows, columns, ..] and has elements");
}

/// The picture in a float type.
Tensor as_real_picture(const char* what, const Operand& x) {
    check_picture(what, x.tensor());
    return x.tensor().dtype().is_float() ? x.tensor() : x.tensor().as(f32);
}

Tensor filtered(const Tensor& x, const Taps& taps, int axis) {
    Shape beside = taps.weights.shape();
    beside.resize(x.shape().size() + 1 - static_cast<size_t>(axis), Size(1));
    const Tensor weights = reshape(taps.weights.as(x.dtype()), beside);
    return sum(take(x, taps.places, {.axis = axis}) * weights, {.axis = axis + 1});
}

/// Keys's convolution kernel at a distance up to 2.
Tensor cubic_weight(const Tensor& d) {
    const Tensor near = (1.5f * d - 2.5f) * d * d + 1, far = ((-0.5f * d + 2.5f) * d - 4) * d + 2;
    return select(d < 1, near, select(d < 2, far, 0));
}

Taps taps_between(const Size& from, const Size& to, int count) {
    const auto [p, k] = indices<2>(Shape{to, Size(count)});
    const Tensor centre = (p.as(f32) + 0.5f) * Tensor(from).as(f32) / Tensor(to).as(f32) - 0.5f;
    const Tensor first = floor(centre) - (count / 2 - 1), place = first + k.as(f32);
    const Tensor distance = abs(centre - place);
    return {place.as(i32), count == 2 ? 1 - distance : cubic_weight(distance)};
}

/// Computes in units of 1 / (from * to), in which the edges of both kinds of pixels are integers.
Taps taps_of_area(const Size& from, const Size& to) {
    const Size most = floor_div(from + to - Size(1), to) + Size(1);
    const auto [p, k] = indices<2>(Shape{to, most});
    const Tensor begin = p * from, end = begin + from, place = begin / to + k;
    const Tensor covered = min(end, (place + 1) * to) - max(begin, place * to);
    return {place, max(covered, 0).as(f32) / Tensor(from).as(f32)};
}

Tensor resized(const Tensor& x, int axis, const Size& size, ResizeMode mode) {
    const Size from = x.size(axis);
    switch (mode) {
        case ResizeMode::Nearest: {
            const Tensor centre = 2 * arange(size) + 1;
            return take(x, centre * from / (2 * size), {.axis = axis});
        }
        case ResizeMode::Linear: return filtered(x, taps_between(from, size, 2), axis);
        case ResizeMode::Cubic: return filtered(x, taps_between(from, size, 4), axis);
        case ResizeMode::Area: return filtered(x, taps_of_area(from, size), axis);
    }
    refuse("resize: there is no such mode");
}

Tensor blurred(const Tensor& x, int axis, const Tensor& sigma, int radius) {
    const auto [p, k] = indices<2>(Shape{x.size(axis), Size(2 * radius + 1)});
    const Tensor away = (arange(2 * radius + 1) - radius).as(f32), ratio = away / sigma;
    const Tensor weights = select(away == 0, 1, exp(-0.5f * ratio * ratio));
    return filtered(x, {p + k - radius, expand(weights / sum(weights), p.shape())}, axis);
}

void put_in_order(Tensor& low, Tensor& high) {
    const Tensor less = min(low, high);
    high = max(low, high);
    low = less;
}

/// Sorts by Batcher's odd-even merge sort as comparisons of pairs: K. Batcher, "Sorting Networks
/// and Their Applications", 1968. Comparisons without a use are dropped.
void sort_in_registers(std::vector<Tensor>& xs) {
    const size_t n = xs.size();
    for (size_t p = 1; p < n; p *= 2)
        for (size_t k = p; k > 0; k /= 2)
            for (size_t j = k % p; j + k < n; j += 2 * k)
                for (size_t i = 0; i < std::min(k, n - j - k); ++i)
                    if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
                        put_in_order(xs[i + j], xs[i + j + k]);
}

}  // namespace

Tensor resize(const Operand& x, const Size& rows, const Size& columns,
              const ResizeOptions& options) {
    LineScope at(x.line());
    const bool keeps = options.mode == ResizeMode::Nearest;
    if (keeps) check_picture("resize", x.tensor());
    if (rows.upper_bound() < 1 || columns.upper_bound() < 1)
        refuse("resize: to " + rows.text() + " rows and " + columns.text() +
               " columns; give 1 or more");
    const Tensor picture = keeps ? x.tensor() : as_real_picture("resize", x);
    return resized(resized(picture, 0, rows, options.mode), 1, columns, options.mode);
}

Tensor gaussian_blur(const Operand& x, const Operand& sigma, int radius) {
    LineScope at(x.line());
    const Tensor picture = as_real_picture("gaussian_blur", x);
    if (sigma.tensor().rank() != 0 || radius < 0)
        refuse("gaussian_blur: sigma is " + text(sigma.tensor().shape()) + " and the radius " +
               std::to_string(radius) + "; sigma is one number, the radius 0 or more");
    const Tensor width = sigma.tensor().as(f32);
    return blurred(blurred(picture, 0, width, radius), 1, width, radius);
}

Tensor gaussian_blur(const Operand& x, float sigma) {
    LineScope at(x.line());
    if (!(sigma >= 0 && sigma < 0x1p28f))  // twice 4 sigma is a size
        refuse("gaussian_blur: sigma is " + std::to_string(sigma) +
               "; give 0 or more pixels, and less than 2^28");
    return gaussian_blur(x, Tensor(sigma), static_cast<int>(std::lround(4 * sigma)));
}

Tensor median_filter(const Operand& x, const PerAxis<2>& window) {
    LineScope at(x.line());
    check_picture("median_filter", x.tensor());
    const Size &rows = window.values[0], &columns = window.values[1], count = rows * columns;
    if (!count.is_constant() || rows.upper_bound() < 1 || columns.upper_bound() < 1 ||
        count.constant() > 49)
        refuse("median_filter: a window of " + rows.text() + " by " + columns.text() +
               "; it has 1 to 49 elements, all compared in registers");
    const Tensor row = arange(x.tensor().size(0)), column = arange(x.tensor().size(1));
    std::vector<Tensor> seen;
    for (int i = 0; i < rows.constant(); ++i)
        for (int j = 0; j < columns.constant(); ++j)
            seen.push_back(
                take(take(x, row + (i - static_cast<int>(rows.constant()) / 2), {.axis = 0}),
                     column + (j - static_cast<int>(columns.constant()) / 2), {.axis = 1}));
    sort_in_registers(seen);
    return seen[seen.size() / 2];
}

}  // namespace firn
