// Fields between their elements.
#pragma once
#include <firn/firn.h>

#include <array>

namespace firn::fluid {

/// Points in cell units, one per element.
struct Point {
    Tensor y, x;
};

/// `field` at a point given in its own indices, linear between the four nearest elements.
inline Tensor bilinear(const Reader& field, const Point& at) {
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
template <class Field>
Tensor bicubic(const Field& field, const Point& at) {
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
