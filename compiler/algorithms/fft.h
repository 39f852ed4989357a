// Discrete Fourier transforms along one axis or several.
#pragma once
#include "compiler/algorithms/complex.h"
#include "compiler/frontend/movement.h"

namespace firn {

struct FftOptions {
    int axis = -1;
};
struct FftnOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};  // none: all
};

// X[k] = sum over j of x[j] exp(-2 pi i j k / n), and back with the other sign and a factor of 1 /
// n, as in numpy. Computed in the type of x, f32 or f64; integers, f16 and bf16 become f32. Sizes:
// up to 16 directly; powers of two by Pease's form of Cooley and Tukey, radix 4, in log4 n runs of
// one kernel; all others, up to 4194304, by Bluestein's convolution over the next power of two from
// 2 n - 1 on; of a symbol the call's size says which. L. Bluestein, "A linear filtering approach to
// the computation of discrete Fourier transform", 1970. M. Pease, "An adaptation of the fast
// Fourier transform for parallel processing", 1968.

Complex fft(const Complex& x, const FftOptions& options = {}, SourceLine line = here());
Complex fft(const Operand& x, const FftOptions& options = {});
Complex ifft(const Complex& x, const FftOptions& options = {}, SourceLine line = here());

/// The same along several axes, one after the other.
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

}  // namespace firn
