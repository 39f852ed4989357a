// Fields between their elements.
#pragma once
#include <firn/firn.h>

#include <array>

namespace firn::fluid {

/// Points in cell units, one per element.
struct Point {
    Tensor y, x;
};

/// A field f32 [n, m] whose elements are read where only the data says, with a gradient that is the
/// same in every run: what comes back to one element is summed in integers, of which the order does
/// not matter.
class Field {
  public:
    enum class Outside : uint8_t { Edge, Zero };  // what is read there
    explicit Field(const Tensor& values, Outside outside = Outside::Edge)
        : values_(values), outside_(outside) {}

    Tensor operator()(const Tensor& i, const Tensor& j) const {
        // Units of gradients of 1e-13 leave room for sums up to 500,000.
        constexpr float kUnits = 0x1p44f;
        const bool zero_outside = outside_ == Outside::Zero;
        const auto read = [=](const std::vector<Tensor>& xs) {
            return zero_outside ? zero(xs[0])(xs[1], xs[2]) : xs[0](xs[1], xs[2]);
        };
        const auto gradient = [=](const std::vector<Tensor>& xs, const Tensor&,
                                  const Tensor& cotangent) {
            const Size rows = xs[0].size(0), columns = xs[0].size(1);
            const Tensor row = zero_outside ? xs[1] : clamp(xs[1], 0, rows - 1),
                         column = zero_outside ? xs[2] : clamp(xs[2], 0, columns - 1);
            Tensor sums = zeros({rows, columns}, i64);
            scatter_add(sums(row, column), round(kUnits * cotangent).as(i64));
            return std::vector{sums.as(f32) / kUnits, zeros(xs[1].shape(), i32),
                               zeros(xs[2].shape(), i32)};
        };
        if (!current_session().profile().wide_atomics) return read({values_, i, j});
        return custom_gradient(read, {values_, i, j}, gradient);
    }

  private:
    Tensor values_;
    Outside outside_;
};

/// `field` at a point given in its own indices, linear between the four nearest elements.
inline Tensor bilinear(const Field& field, const Point& at) {
    Tensor top = floor(at.y), left = floor(at.x);
    Tensor i = cast<int>(top), j = cast<int>(left), s = at.y - top, t = at.x - left;
    return mix(mix(field(i, j), field(i, j + 1), t), mix(field(i + 1, j), field(i + 1, j + 1), t),
               s);
}

/// The weights of four elements in a row, `t` behind the second.
inline std::array<Tensor, 4> catmull_rom(const Tensor& t) {
    return {t * (t * (1.0f - 0.5f * t) - 0.5f), 1.0f + t * t * (1.5f * t - 2.5f),
            t * (0.5f + t * (2.0f - 1.5f * t)), t * t * (0.5f * t - 0.5f)};
}

/// The Catmull-Rom spline through the sixteen nearest elements, kept within the range of the
/// nearest four: sharp, and without new extremes.
inline Tensor bicubic(const Field& field, const Point& at) {
    Tensor top = floor(at.y), left = floor(at.x);
    Tensor i = cast<int>(top), j = cast<int>(left);
    std::array<Tensor, 4> down = catmull_rom(at.y - top), across = catmull_rom(at.x - left);
    auto between = [](const std::array<Tensor, 4>& weights, auto&& of) {
        return weights[0] * of(-1) + weights[1] * of(0) + weights[2] * of(1) + weights[3] * of(2);
    };
    Tensor value = between(
        down, [&](int a) { return between(across, [&](int b) { return field(i + a, j + b); }); });
    Tensor a = field(i, j), b = field(i, j + 1), c = field(i + 1, j), d = field(i + 1, j + 1);
    return clamp(value, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}

}  // namespace firn::fluid
