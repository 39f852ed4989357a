// Jacobi's rotations of disjoint pairs; internal.
#pragma once
#include "compiler/frontend/control.h"

namespace firn {

// Every index of n has a partner in each of `rotation_rounds(n)` rounds; after all rounds every
// index was the partner of every other once (a round-robin tournament). In a round without a
// partner an index is its own.
Size rotation_rounds(const Size& n);
Tensor rotation_partner(const Tensor& of, const Tensor& round, const Size& n);

/// The factors of index k of a pair for itself and for its partner.
struct Rotation {
    Tensor own, other;
    Tensor turns;  // bool: the element between both was large enough to be worth it
};
struct RotationPair {
    Tensor first, last;  // the diagonal elements at the lower and the higher index
    Tensor between;
    Tensor tolerance;  // a magnitude of `between` that counts as 0
    Tensor is_low;     // the index is the lower one of the pair
    Tensor alone;      // whether it has no partner
};
/// The rotation that makes the element between two indices of a symmetric 2 x 2 matrix 0.
Rotation jacobi_rotation(const RotationPair& pair);

/// Sweeps through all rounds until a sweep rotates no pair. `round(k)` returns which indices were
/// rotated, of shape `indices`. A sweep squares the remaining off-diagonal part once it is small,
/// which takes about log2(n) sweeps (G. Golub and C. Van Loan, "Matrix Computations", 4th edition,
/// section 8.5); 60 are never needed, and end the sweeps if rounding keeps rotating the last
/// digits.
void jacobi_sweeps(const Shape& indices, const Callback<Tensor(const Tensor&)>& round);

/// The distance from 1 to the next number of a float type.
inline double epsilon_of(DType type) { return type == f64 ? 0x1p-52 : 0x1p-23; }

}  // namespace firn
