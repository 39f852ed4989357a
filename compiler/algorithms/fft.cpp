// Pease's transform for powers of two, and Bluestein's for the rest.
#include "compiler/algorithms/fft.h"

#include <numbers>

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/rows.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

constexpr int64_t kDirect = 16;             // sizes up to this are summed directly
constexpr int64_t kLongestChirp = 1 << 22;  // beyond, squares of indices leave 32 bits

enum class Direction : int8_t { Forward = -1, Backward = 1 };

/// exp(2 pi i turns) in a float type, forward with the other sign.
Complex unit(const Tensor& turns, Direction direction) {
    Tensor angle = turns * (2 * std::numbers::pi * static_cast<int>(direction));
    return {cos(angle), sin(angle)};
}

/// A part of a turn, from integers: rounded once.
Tensor part(const Tensor& numerator, const Tensor& denominator, DType type) {
    return numerator.as(type) / denominator.as(type);
}

/// The sum itself, for the last of two axes.
Complex transform_directly(const Complex& x, Direction direction) {
    Tensor n = x.re.size(1), k = unsqueeze(arange(x.re.size(1)), 1), j = arange(x.re.size(1));
    Complex w = unit(part(k * j % n, n, x.re.dtype()), direction);
    Complex terms = Complex{unsqueeze(x.re, 1), unsqueeze(x.im, 1)} * w;
    return {sum(terms.re, {.axis = 2}), sum(terms.im, {.axis = 2})};
}

/// Elements of the last of two axes.
Complex read(const Complex& x, const Tensor& row, const Tensor& j) {
    return {unchecked(x.re)(row, j), unchecked(x.im)(row, j)};
}

/// Where element o of the first pass comes from: the digits that the passes take, first to last,
/// are those of o from the lowest on and those of the input from the highest on. The first digit is
/// a bit where the exponent is odd; all others have two.
Tensor reversed_digits(const Tensor& o, const Size& exponent) {
    Tensor odd = Tensor(mod(exponent, 2)), x = (o >> odd).as(u32);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    x = (x >> 16) | (x << 16);
    Tensor unused = 32 - 2 * Tensor(floor_div(exponent, 2)), pairs = (x >> unused.as(u32)).as(i32);
    return pairs | ((o & odd) << (Tensor(exponent) - 1));
}

/// The parts side by side on the last of two axes, which they fill where a transform runs at all.
Complex joined(const std::vector<Complex>& parts, const Size& n) {
    std::vector<Tensor> re, im;
    for (const Complex& part : parts) re.push_back(part.re), im.push_back(part.im);
    Complex all{concat(re, {.axis = 1}), concat(im, {.axis = 1})};
    if (all.re.size(1) == n) return all;
    auto [row, o] = indices<2>(Shape{all.re.size(0), n});
    return read(all, row, o);
}

/// n = 2^exponent elements on the last of two axes, after Pease (1968): all passes read neighbours
/// and write to as many equal parts. Before a pass, `done` elements are transformed together, which
/// stand n / done apart; a pass of radix r joins r such runs.
Complex transform_power_of_two(Complex x, const Size& n, const Size& exponent,
                               Direction direction) {
    const DType type = x.re.dtype();
    auto [all_rows, o] = indices<2>(Shape{x.re.size(0), n});
    x = read(x, all_rows, reversed_digits(o, exponent));
    for (Tensor once : loop(mod(exponent, 2))) {
        auto [row, j] = indices<2>(Shape{x.re.size(0), floor_div(n, 2)});
        Complex a = read(x, row, 2 * j), b = read(x, row, 2 * j + 1);
        Complex made = joined({a + b, a - b}, n);
        x.re = made.re;
        x.im = made.im;
    }
    Tensor shift = Tensor(mod(exponent, 2));
    for (Tensor pass : loop(floor_div(exponent, 2))) {
        auto [row, j] = indices<2>(Shape{x.re.size(0), floor_div(n, 4)});
        Tensor level = shift + 2 * pass;  // done = 2^level
        Tensor k = j >> (Tensor(exponent) - 2 - level);
        Complex w = unit(part(k, 4 << level, type), direction), w2 = w * w;
        Complex a = read(x, row, 4 * j), b = read(x, row, 4 * j + 1) * w,
                c = read(x, row, 4 * j + 2) * w2, d = read(x, row, 4 * j + 3) * (w * w2);
        // A quarter of a turn.
        const auto turned = [&](const Complex& y) {
            return direction == Direction::Forward ? Complex{y.im, -y.re} : Complex{-y.im, y.re};
        };
        Complex even = a + c, odd = b + d, other = a - c, rest = turned(b - d);
        Complex made = joined({even + odd, other + rest, even - odd, other - rest}, n);
        x.re = made.re;
        x.im = made.im;
    }
    return x;
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
    // As many passes as the largest size takes, where only the device knows the size.
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

/// A size that is known at the call takes one of two ways there, each a loop that runs once or not
/// at all. What a way takes is what its loop carries, so that none of it is computed before.
Complex transform_either_way(Complex x, const Size& n, Direction direction) {
    const Size power = Size(1) - min(power_of_two_from(n) - n, Size(1));
    const auto either = [&](const Size& times, const auto& way) {
        for (Tensor once : loop(times)) {
            const Complex made = way(Complex{x.re, x.im});
            x.re = made.re;
            x.im = made.im;
        }
    };
    either(power, [&](const Complex& own) {
        return transform_power_of_two(own, n, log2_from(n), direction);
    });
    either(Size(1) - power,
           [&](const Complex& own) { return transform_by_convolution(own, n, direction); });
    return x;
}

Complex transform(const char* what, const Complex& x, int axis, Direction direction) {
    Rows re = rows_along(what, x.re, axis), im = rows_along(what, x.im, axis);
    Complex rows{re.values, im.values};
    const Size& n = re.n;
    if (n.is_constant() && n.constant() <= kDirect)
        rows = transform_directly(rows, direction);
    else if (n.is_constant() && is_power_of_two(n.constant()))
        rows = transform_power_of_two(rows, n, log2_from(n), direction);
    else if (n.lower_bound() > kLongestChirp)
        refuse(std::string(what) + ": the size " + n.text() + " is no power of two and above " +
               std::to_string(kLongestChirp) + "; pad x with zeros to a power of two");
    else if (n.is_constant() || !data_symbols(n).empty())
        rows = transform_by_convolution(rows, n, direction);
    else
        rows = transform_either_way(rows, n, direction);
    if (direction == Direction::Backward) rows = rows * (1 / Tensor(n).as(rows.re.dtype()));
    return {from_rows(rows.re, re), from_rows(rows.im, im)};
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

Complex along_all(const char* what, Complex x, const Axes& axes, Direction direction) {
    std::vector<int> all = axes.values;
    if (all.empty())
        for (int axis = 0; axis < x.re.rank(); ++axis) all.push_back(axis);
    for (int axis : all) x = transform(what, x, axis, direction);
    return x;
}

}  // namespace

Complex fft(const Complex& x, const FftOptions& options, SourceLine line) {
    LineScope at(line);
    return transform("fft", checked("fft", x), options.axis, Direction::Forward);
}
Complex fft(const Operand& x, const FftOptions& options) {
    LineScope at(x.line());
    return fft(real(x), options);
}
Complex ifft(const Complex& x, const FftOptions& options, SourceLine line) {
    LineScope at(line);
    return transform("ifft", checked("ifft", x), options.axis, Direction::Backward);
}
Complex fftn(const Complex& x, const FftnOptions& options, SourceLine line) {
    LineScope at(line);
    return along_all("fftn", checked("fftn", x), options.axis, Direction::Forward);
}
Complex fftn(const Operand& x, const FftnOptions& options) {
    LineScope at(x.line());
    return fftn(real(x), options);
}
Complex ifftn(const Complex& x, const FftnOptions& options, SourceLine line) {
    LineScope at(line);
    return along_all("ifftn", checked("ifftn", x), options.axis, Direction::Backward);
}

}  // namespace firn
