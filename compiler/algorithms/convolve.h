// Convolutions of two vectors, as of sequences.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The part of a convolution of n and m elements that is returned.
enum class ConvolveMode : uint8_t {
    Full,   ///< wherever both overlap: n + m - 1
    Same,   ///< the middle of that: max(n, m)
    Valid,  ///< where the shorter lies inside the longer: max(n, m) - min(n, m) + 1
};
/// out[k] = sum over j of a[k - j] v[j], as numpy's convolve; a is [n], v is [m]. Each element is
/// one sum over the shorter (over v, where sizes are symbols); if both are long, see fft. UserError
/// if one has no elements. For batches and channels, see conv1d.
///
/// Examples: `convolve(tensor({1, 2, 3}), tensor({1, 10}))` is `{1, 12, 23, 30}`,
/// `convolve(tensor({1, 2, 3}), tensor({1, 10}), ConvolveMode::Valid)` is `{12, 23}`.
Tensor convolve(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::Full);
/// out[k] = sum over j of a[k + j] v[j], as numpy's correlate: `v` is not mirrored.
///
/// Examples: `correlate(tensor({1, 2, 3}), tensor({1, 10}))` is `{21, 32}`,
/// `correlate(tensor({1, 2, 3}), tensor({1, 10}), ConvolveMode::Full)` is `{10, 21, 32, 3}`.
Tensor correlate(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::Valid);

}  // namespace firn
