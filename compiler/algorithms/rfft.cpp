// Real numbers and the half of their spectrum, by the transforms of complex numbers.
#include "compiler/algorithms/fft.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Returns the first `count` elements along the axis, padded with zeros.
Tensor first_along(const Tensor& x, int axis, const Size& count) {
    const Size there = x.size(axis);
    if (there == count) return x;
    const Tensor place = arange(count);
    Shape beside(x.shape().size() - static_cast<size_t>(axis), Size(1));
    beside[0] = count;
    const Tensor inside = reshape(place < Tensor(there), beside);
    return select(inside, take(x, place, {.axis = axis}), 0);
}

/// The length, which of a symbol the call decides.
Size checked_length(const char* what, const Size& n) {
    if (n.upper_bound() < 1)
        refuse(std::string(what) + ": the length is " + n.text() +
               "; give 1 or more real numbers, irfft's by {.n = ..}");
    return max(n, Size(0));
}

}  // namespace

Complex rfft(const Operand& x, const RfftOptions& options) {
    LineScope at(x.line());
    const int axis = checked_axis("rfft", options.axis, x.tensor().shape());
    const Size n = checked_length("rfft", options.n.value_or(Size(x.tensor().size(axis))));
    const Complex all = fft(first_along(x.tensor(), axis, n), {.axis = axis});
    const Size half = floor_div(n, Size(2)) + Size(1);
    return {slice(all.re, {.axis = axis, .end = half}), slice(all.im, {.axis = axis, .end = half})};
}

Tensor irfft(const Complex& x, const RfftOptions& options, SourceLine line) {
    LineScope at(line);
    if (x.re.shape() != x.im.shape())
        refuse("irfft: the real part is " + text(x.re.shape()) + " and the imaginary part " +
               text(x.im.shape()) + "; they must be alike");
    const int axis = checked_axis("irfft", options.axis, x.re.shape());
    const Size usual = Size(x.re.size(axis)) * Size(2) - Size(2);
    const Size n = checked_length("irfft", options.n.value_or(usual));
    const Size half = floor_div(n, Size(2)) + Size(1);
    const Tensor k = arange(n), away = min(k, Tensor(n) - k);
    Shape beside(x.re.shape().size() - static_cast<size_t>(axis), Size(1));
    beside[0] = n;
    const Tensor behind = reshape(k >= Tensor(half), beside);
    const auto whole = [&](const Tensor& part) {
        return take(first_along(part, axis, half), away, {.axis = axis});
    };
    const Tensor im = whole(x.im);
    return ifft(Complex{whole(x.re), select(behind, -im, im)}, {.axis = axis}).re;
}

}  // namespace firn
