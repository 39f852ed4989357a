// Discrete Fourier transforms along one axis or several.
#pragma once
#include <optional>

#include "compiler/algorithms/complex.h"
#include "compiler/frontend/movement.h"

namespace firn {

/// The axis of a transform.
struct FftOptions {
    int axis = -1;
};
/// The axes of a transform.
struct FftnOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  ///< none: all
};

/// X[k] = sum over j of x[j] exp(-2 pi i j k / n), as numpy's fft. Computed in the type of x, f32
/// or f64; integers, f16 and bf16 become f32.
///
/// Sizes: up to 16 directly; powers of two by Stockham's form of Cooley and Tukey, a pass of radix
/// 2, 4 or 8 where it is needed and log16 n of radix 16; all others, up to 4194304, by Bluestein's
/// convolution over the next power of two from 2 n - 1 on; if the size is a symbol, the call
/// chooses among these. UserError: another size beyond 4194304, parts that differ in shape or type.
/// L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform",
/// 1970. N. Govindaraju et al., "High Performance Discrete Fourier Transforms on Graphics
/// Processors", 2008.
///
/// Examples: `fft(tensor({1, 1, 1, 1})).re` is `{4, 0, 0, 0}`,
/// `fft(tensor({0, 1, 0, 0})).im` is `{0, -1, 0, 1}`.
/// @{
Complex fft(const Complex& x, const FftOptions& options = {}, SourceLine line = here());
Complex fft(const Operand& x, const FftOptions& options = {});
/// @}

/// The inverse of fft: the other sign in the exponent, and a factor of 1 / n.
///
/// Example: `ifft(fft(tensor({1, 2, 3}))).re` is `{1, 2, 3}`.
Complex ifft(const Complex& x, const FftOptions& options = {}, SourceLine line = here());

/// The axis of a transform between real numbers and the half of their spectrum, and its length.
struct RfftOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = -1;
    /// Real numbers along the axis: rfft cuts x or puts zeros behind it, irfft gives so many. None:
    /// rfft takes all of x, irfft gives 2 (m - 1) of the m that there are.
    std::optional<Size> n = std::nullopt;
};
/// The transform of n real numbers, as numpy's rfft: X[0] .. X[n / 2], n / 2 + 1 in all; the other
/// elements of fft(x) are their conjugates in reverse order. Types are as for fft. UserError: no
/// numbers.
///
/// Examples: `rfft(tensor({1, 2, 3})).re` is `{6, -1.5}`,
/// `rfft(tensor({1, 2, 3}), {.n = 4}).im` is `{0, -2, 0}`.
Complex rfft(const Operand& x, const RfftOptions& options = {});
/// The inverse of rfft, as numpy's irfft: n real numbers from the first n / 2 + 1 of their
/// transform; missing ones count as 0. The imaginary parts of X[0], and of X[n / 2] where n is
/// even, are not read. An odd n is given: `irfft(rfft(x), {.n = x.size(0)})`. UserError: no
/// numbers.
///
/// Examples: `irfft(rfft(tensor({1, 2, 3, 4})))` is `{1, 2, 3, 4}`,
/// `irfft(rfft(tensor({1, 2, 3})), {.n = 3})` is `{1, 2, 3}`.
Tensor irfft(const Complex& x, const RfftOptions& options = {}, SourceLine line = here());

/// fft along several axes, one after the other, and ifftn as the inverse; the axes are named in the
/// options, or stand in braces.
///
/// Examples: `fftn(ones({2, 2})).re` is `{{4, 0}, {0, 0}}`, `fftn(ones({2, 2}), {0}).re` is
/// `{{2, 2}, {0, 0}}`, `ifftn(fftn(tensor({1, 2, 3, 4}, {2, 2}))).re` is `{{1, 2}, {3, 4}}`.
/// @{
Complex fftn(const Complex& x, const FftnOptions& options = {}, SourceLine line = here());
Complex fftn(const Operand& x, const FftnOptions& options = {});
Complex ifftn(const Complex& x, const FftnOptions& options = {}, SourceLine line = here());
inline Complex fftn(const Complex& x, const AxisList& axes, SourceLine line = here()) {
    return fftn(x, {.axis = axes.values}, line);
}
inline Complex fftn(const Operand& x, const AxisList& axes) {
    return fftn(x, {.axis = axes.values});
}
inline Complex ifftn(const Complex& x, const AxisList& axes, SourceLine line = here()) {
    return ifftn(x, {.axis = axes.values}, line);
}
/// @}

}  // namespace firn
