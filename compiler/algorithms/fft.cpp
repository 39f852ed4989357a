// Stockham's transform for powers of two, and Bluestein's for other sizes.
#include "compiler/algorithms/fft.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "compiler/algorithms/either_way.h"
#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/rows.h"
#include "compiler/algorithms/unset.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/kernel.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

constexpr int64_t kDirect = 16;             // sizes up to this are summed directly
constexpr int64_t kLongestChirp = 1 << 22;  // beyond, squares of indices leave 32 bits

enum class Direction : int8_t { Forward = -1, Backward = 1 };

/// Returns exp(2 pi i turns) in a float type; with the other sign for Forward.
Complex unit(const Tensor& turns, Direction direction) {
    Tensor angle = turns * (2 * std::numbers::pi * static_cast<int>(direction));
    return {cos(angle), sin(angle)};
}

/// Returns a fraction of a full angle, from integers, rounded once.
Tensor part(const Tensor& numerator, const Tensor& denominator, DType type) {
    return numerator.as(type) / denominator.as(type);
}

/// The sum itself, for the last of two axes.
Complex transform_directly(const Complex& x, const Size&, Direction direction) {
    Tensor n = x.re.size(1), k = unsqueeze(arange(x.re.size(1)), 1), j = arange(x.re.size(1));
    Complex w = unit(part(k * j % n, n, x.re.dtype()), direction);
    Complex terms = Complex{unsqueeze(x.re, 1), unsqueeze(x.im, 1)} * w;
    return {sum(terms.re, {.axis = 2}), sum(terms.im, {.axis = 2})};
}

/// Multiplies by a quarter turn.
Complex turned(const Complex& y, Direction direction) {
    return direction == Direction::Forward ? Complex{y.im, -y.re} : Complex{-y.im, y.re};
}

/// The transform of 2, 4, 8 or 16 values, written out after Cooley and Tukey.
std::vector<Complex> transformed(const std::vector<Complex>& x, Direction direction) {
    const size_t n = x.size(), half = n / 2;
    if (n == 1) return x;
    std::vector<Complex> even, odd, out(n);
    for (size_t k = 0; k < n; k += 2) even.push_back(x[k]), odd.push_back(x[k + 1]);
    even = transformed(even, direction), odd = transformed(odd, direction);
    for (size_t k = 0; k < half; ++k) {
        const double angle = static_cast<int>(direction) * 2 * std::numbers::pi *
                             static_cast<double>(k) / static_cast<double>(n);
        const double c = std::cos(angle), s = std::sin(angle);
        const Complex& z = odd[k];
        const Complex y = k == 0       ? z
                          : 4 * k == n ? turned(z, direction)
                                       : Complex{z.re * c - z.im * s, z.re * s + z.im * c};
        out[k] = even[k] + y, out[k + half] = even[k] - y;
    }
    return out;
}

/// Returns w^1 to w^(count - 1), each as a product of two powers of half its exponent; element 0 is
/// not used.
std::vector<Complex> powers(const Complex& w, size_t count) {
    std::vector<Complex> out{Complex{}, w};
    for (size_t k = 2; k < count; ++k) out.push_back(out[k / 2] * out[k - k / 2]);
    return out;
}

constexpr int kPassBits = 4;  // of the radix of all passes but the first, which has 1 to as many
/// Invocations of a pass: as many as every Vulkan device launches in groups of 64; the others run
/// one after the other.
constexpr int64_t kMostAtOnce = 65535 * 64;

/// Numbers [outer, n, inner] in flat tensors, to be transformed along n = 2^exponent.
struct Lines {
    Complex x;
    Size outer, n, exponent, inner;
};

Complex reshaped(const Complex& x, const Shape& shape) {
    return {reshape(x.re, shape), reshape(x.im, shape)};
}
Complex flat(const Complex& x) { return reshaped(x, {element_count(x.re.shape())}); }

/// The `radix` values of a line that become neighbours of one another, from place q on.
struct Taken {
    std::vector<Complex> values;
    Tensor place, step;  // where the results go
};

/// Reads the elements of a butterfly, of which `done` were transformed together; null: one by one.
Taken taken(const Lines& lines, const Tensor& line, const Tensor& q, size_t radix,
            const Tensor* done, Direction direction) {
    const Size apart = floor_div(lines.n, Size(static_cast<int64_t>(radix))) * lines.inner;
    const Tensor inner(lines.inner);
    const int count = static_cast<int>(radix);
    Taken out;
    for (int k = 0; k < count; ++k) {
        const Tensor at = line + q + k * apart;
        out.values.push_back({unchecked(lines.x.re)(at), unchecked(lines.x.im)(at)});
    }
    const Tensor j = q / inner, beside = q - j * inner;
    const Tensor behind = done ? j & (*done - 1) : Tensor(0);
    if (done) {
        const Complex turn = unit(part(behind, count * *done, lines.x.re.dtype()), direction);
        const std::vector<Complex> w = powers(turn, radix);
        for (size_t k = 1; k < radix; ++k) out.values[k] = out.values[k] * w[k];
    }
    out.place = line + ((j - behind) * count + behind) * inner + beside;
    out.step = done ? *done * inner : inner;
    return out;
}

/// A pass of radix 2^bits: where `done` elements are transformed together, radix times as many are
/// behind it. Without `done` it is the first.
Complex pass(const Lines& lines, int bits, const Tensor* done, Direction direction) {
    const size_t radix = size_t{1} << bits;
    const Size apart = floor_div(lines.n, Size(static_cast<int64_t>(radix))) * lines.inner,
               all = lines.outer * apart, at_once = max(min(all, kMostAtOnce), 1);
    Complex to{unset_like(lines.x.re), unset_like(lines.x.im)};
    const auto transform_one = [&](const Tensor& row, const Tensor& q) {
        const Taken of = taken(lines, row * (lines.n * lines.inner), q, radix, done, direction);
        const std::vector<Complex> made = transformed(of.values, direction);
        for (size_t k = 0; k < radix; ++k) {
            const Tensor place = of.place + static_cast<int>(k) * of.step;
            store(to.re(place), made[k].re, {.permutation = true});
            store(to.im(place), made[k].im, {.permutation = true});
        }
    };
    kernel({at_once}, [&](const Tensor& first) {
        for (Tensor iteration : loop(ceil_div(all, at_once))) {
            const Tensor one = first + iteration * at_once, row = one / apart;
            if_(one < all, [&] { transform_one(row, one - row * apart); });
        }
    });
    return to;
}

/// Transforms by Stockham's method, as N. Govindaraju et al. have it, "High Performance Discrete
/// Fourier Transforms on Graphics Processors", 2008: it needs no bit reversal. `ends`: the last
/// pass is a kernel of its own, which stores only the part that is read.
Complex transform_lines(Lines lines, Direction direction, bool ends = false) {
    Complex& x = lines.x;
    // Every pass takes kPassBits except for the first, which takes the remainder: 1 to as many. A
    // line of one element has no pass.
    const Size passes = floor_div(lines.exponent + (kPassBits - 1), kPassBits),
               first = lines.exponent - kPassBits * max(passes - 1, 0), above = max(first - 1, 0),
               low = mod(above, 2), high = floor_div(above, 2), some = min(passes, 1);
    const Size runs[kPassBits] = {some * (Size(1) - low) * (Size(1) - high), low * (Size(1) - high),
                                  (Size(1) - low) * high, low * high};
    for (int bits = 1; bits <= kPassBits; ++bits)
        for (Tensor once : loop(runs[bits - 1])) x = pass(lines, bits, nullptr, direction);
    const auto pass_after = [&](const Tensor& number) {
        const Tensor done = 1 << (Tensor(first) + kPassBits * number);
        x = pass(lines, kPassBits, &done, direction);
    };
    const Size others = max(passes - 1, 0), apart = ends ? min(others, 1) : Size(0);
    for (Tensor number : loop(others - apart)) pass_after(number);
    for (Tensor once : loop(apart)) pass_after(others - 1);
    return x;
}

/// n = 2^exponent elements on the last of two axes.
Complex transform_power_of_two(const Complex& x, const Size& n, const Size& exponent,
                               Direction direction) {
    const Shape shape = x.re.shape();
    return reshaped(transform_lines({flat(x), shape[0], n, exponent, 1}, direction), shape);
}

/// j^2 mod 2 n without leaving 32 bits: j is taken by digits of 8 bits.
Tensor square_mod(const Tensor& j, const Tensor& modulus) {
    Tensor x = j.as(u32), m = modulus.as(u32);
    Tensor out = (x * (x >> 16)) % m;
    out = (out * 256u + x * ((x >> 8) & 255u)) % m;
    return ((out * 256u + x * (x & 255u)) % m).as(i32);
}

/// Any size as a convolution: j k = (j^2 + k^2 - (k - j)^2) / 2.
Complex transform_by_convolution(const Complex& x, const Size& n, Direction direction) {
    // If only the device knows the size, there are as many passes as for the largest size.
    Size least = largest(n) * Size(2) - Size(1), m = power_of_two_from(least),
         exponent = log2_from(least);
    DType type = x.re.dtype();
    Tensor twice = Tensor(n * Size(2));
    auto chirp = [&](const Tensor& j) {
        return unit(part(square_mod(j, twice), twice, type), direction);
    };
    auto padded = [&](const Complex& y) {
        PadOptions after{.after = {0, m - n}};
        return Complex{pad(y.re, after), pad(y.im, after)};
    };
    Complex w = chirp(arange(n));
    Complex a = transform_power_of_two(padded(x * w), m, exponent, Direction::Forward);
    // The chirp runs over -(n - 1) .. n - 1, around the end of the period.
    Tensor j = unsqueeze(arange(m), 0), away = min(j, Tensor(m) - j);
    Complex around = conj(chirp(away));
    around = {select(away < n, around.re, 0), select(away < n, around.im, 0)};
    Complex b = transform_power_of_two(around, m, exponent, Direction::Forward);
    Complex c = transform_power_of_two(a * b, m, exponent, Direction::Backward);
    auto [row, k] = indices<2>(Shape{x.re.size(0), n});
    auto first = [&](const Tensor& y) { return y(row, k) / Tensor(m).as(type); };
    return Complex{first(c.re), first(c.im)} * w;
}

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

/// Transforms along an axis whose size is a power of two, without moving it.
Complex transform_in_place(const Complex& x, int axis, Direction direction, bool ends) {
    const Shape shape = x.re.shape();
    const auto at = shape.begin() + axis;
    const Size outer = element_count(Shape(shape.begin(), at)),
               inner = element_count(Shape(at + 1, shape.end()));
    const Lines lines{flat(x), outer, *at, log2_from(*at), inner};
    return reshaped(transform_lines(lines, direction, ends), shape);
}

/// Each row by one of the ways that take rows.
using RowsWay = Complex (*)(const Complex& rows, const Size& n, Direction direction);
Complex transform_rows(const Complex& x, int axis, Direction direction, RowsWay way) {
    const Rows re = rows_along("fft", x.re, axis), im = rows_along("fft", x.im, axis);
    const Complex made = way({re.values, im.values}, re.n, direction);
    return {from_rows(made.re, re), from_rows(made.im, im)};
}

/// A size that is known at the call is a power of two there, or is none.
Complex transform_either_way(const Complex& x, int axis, Direction direction, bool ends) {
    const Size n = x.re.size(axis), power = Size(1) - min(power_of_two_from(n) - n, Size(1));
    return either_way(
        power, x, [&](const Complex& y) { return transform_in_place(y, axis, direction, ends); },
        [&](const Complex& y) {
            return transform_rows(y, axis, direction, transform_by_convolution);
        });
}

/// Transforms without the factor of the inverse. `ends`: see transform_lines.
Complex transform(const char* what, const Complex& x, int axis, Direction direction, bool ends) {
    const Size n = x.re.size(axis);
    if (n.is_constant() && n.constant() <= kDirect)
        return transform_rows(x, axis, direction, transform_directly);
    if (n.is_constant() && is_power_of_two(n.constant()))
        return transform_in_place(x, axis, direction, ends);
    if (n.lower_bound() > kLongestChirp)
        refuse(std::string(what) + ": the size " + n.text() + " is no power of two and above " +
               std::to_string(kLongestChirp) + "; pad x with zeros to a power of two");
    if (n.is_constant() || !data_symbols(n).empty())
        return transform_rows(x, axis, direction, transform_by_convolution);
    return transform_either_way(x, axis, direction, ends);
}

/// x in a float type that transforms are computed in.
Complex checked(const char* what, const Complex& x) {
    if (x.re.shape() != x.im.shape() || x.re.dtype() != x.im.dtype())
        refuse(std::string(what) + ": the real part is " + x.re.dtype().name() +
               text(x.re.shape()) + " and the imaginary part is " + x.im.dtype().name() +
               text(x.im.shape()) + "; they must be alike");
    DType type = x.re.dtype() == f64 ? f64 : f32;
    return {x.re.as(type), x.im.as(type)};
}

Complex real(const Operand& x) {
    return {x.tensor(), zeros(x.tensor().shape(), x.tensor().dtype())};
}

/// The factor of the way back, where the first pass reads: behind the last one it would be a kernel
/// of its own.
Complex over_count(const Complex& x, const std::vector<int>& axes) {
    Size all = 1;
    for (int axis : axes) all = all * x.re.size(axis);
    const Tensor factor = 1 / Tensor(all).as(x.re.dtype());
    return {x.re * factor, x.im * factor};
}

/// Packs x as one tensor, whose gradient has a rule.
Tensor pack(const Complex& x) { return stack({x.re, x.im}); }
Complex unpack(const Tensor& parts) { return {parts(0), parts(1)}; }

/// Applies the transform as a linear function, whose gradient is the transform in the other
/// direction; without the factor.
Complex transform_all(const char* what, const Complex& x, const std::vector<int>& axes,
                      Direction direction) {
    const Direction other =
        direction == Direction::Forward ? Direction::Backward : Direction::Forward;
    const auto packed = [=](const Tensor& parts, Direction way) {
        return pack(transform_all(what, unpack(parts), axes, way));
    };
    return unpack(custom_gradient(
        [=](const std::vector<Tensor>& xs) {
            Complex y = unpack(xs[0]);
            // The way back often ends in real numbers.
            for (size_t k = 0; k < axes.size(); ++k)
                y = transform(what, y, axes[k], direction,
                              direction == Direction::Backward && k + 1 == axes.size());
            return pack(y);
        },
        {pack(x)},
        {.reverse = [=](const std::vector<Tensor>&, const Tensor&,
                        const Tensor& g) { return std::vector<Tensor>{packed(g, other)}; },
         .forward = [=](const std::vector<Tensor>&, const Tensor&,
                        const std::vector<Tensor>& by) { return packed(by[0], direction); }}));
}

Complex along(const char* what, const Complex& x, const std::vector<int>& asked,
              Direction direction) {
    std::vector<int> axes;
    for (int axis : asked) axes.push_back(checked_axis(what, axis, x.re.shape()));
    return transform_all(what, direction == Direction::Backward ? over_count(x, axes) : x, axes,
                         direction);
}

std::vector<int> axes_of(const Complex& x, const Axes& axes) {
    std::vector<int> all = axes.values;
    if (all.empty())
        for (int axis = 0; axis < x.re.rank(); ++axis) all.push_back(axis);
    return all;
}

}  // namespace

Complex fft(const Complex& x, const FftOptions& options, SourceLine line) {
    LineScope at(line);
    return along("fft", checked("fft", x), {options.axis}, Direction::Forward);
}
Complex fft(const Operand& x, const FftOptions& options) {
    LineScope at(x.line());
    return fft(real(x), options);
}
Complex ifft(const Complex& x, const FftOptions& options, SourceLine line) {
    LineScope at(line);
    return along("ifft", checked("ifft", x), {options.axis}, Direction::Backward);
}
Complex fftn(const Complex& x, const FftnOptions& options, SourceLine line) {
    LineScope at(line);
    return along("fftn", checked("fftn", x), axes_of(x, options.axis), Direction::Forward);
}
Complex fftn(const Operand& x, const FftnOptions& options) {
    LineScope at(x.line());
    return fftn(real(x), options);
}
Complex ifftn(const Complex& x, const FftnOptions& options, SourceLine line) {
    LineScope at(line);
    return along("ifftn", checked("ifftn", x), axes_of(x, options.axis), Direction::Backward);
}

}  // namespace firn
