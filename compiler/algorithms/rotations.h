// Jacobi's rotations of disjoint pairs; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

// Every index of n has a partner in each of `rotation_rounds(n)` rounds; after all rounds every
// index has met every other once (a round-robin tournament). In a round without a partner an index
// is its own.
Size rotation_rounds(const Size& n);
Tensor rotation_partner(const Tensor& of, const Tensor& round, const Size& n);

/// Rounds after which the matrix is diagonal to the type's last digits. Convergence is quadratic
/// once the rotations are small, which takes about log2(n) sweeps (G. Golub and C. Van Loan,
/// "Matrix Computations", 4th edition, section 8.5): 12 sweeps are enough for n to 1,000 and f64.
inline constexpr int kJacobiSweeps = 12;

/// What index k of a pair takes of itself, and of its partner.
struct Rotation {
    Tensor own, other;
};
/// The rotation that makes the element between the indices `low` and `high` of a symmetric 2 x 2
/// matrix 0: `first` at low, `last` at high, `between`. `is_low` says which of both asks, `alone`
/// that it has no partner.
Rotation jacobi_rotation(const Tensor& first, const Tensor& last, const Tensor& between,
                         const Tensor& is_low, const Tensor& alone);

}  // namespace firn
