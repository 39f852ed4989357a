// Factorisations of matrices and what they solve.
#pragma once
#include <optional>

#include "compiler/algorithms/complex.h"
#include "compiler/frontend/movement.h"

namespace firn {

// Matrices are the last two axes; leading axes are a batch. Integers, f16 and bf16 are computed in
// f32. Each is a loop over columns with a few kernels a turn, in the textbook order: G. Golub and
// C. Van Loan, "Matrix Computations", 4th edition, chapters 3 to 5. Axes that do not fit are
// UserErrors; a matrix that has no such factorisation gives nan or infinity, never an error.

struct TriangularOptions {
    bool lower = true;  // false: the upper triangle is read
    bool unit = false;  // the diagonal counts as 1 and is not read
};
/// x with a x = b, for a triangular [.., n, n] and b [.., n, k]; or b [n] where a has no batch. The
/// other triangle is not read.
Tensor solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options = {});

/// The lower triangular l with l transpose(l) = a, for a symmetric and positive definite; only its
/// lower triangle is read. nan from the first column on where a is not positive definite.
Tensor cholesky(const Operand& a);

struct Lu {
    Tensor lu;           // l below the diagonal, whose own diagonal is 1, and u on and above it
    Tensor permutation;  // i32 [.., n]: row i of l u is row permutation[i] of a
    Tensor sign;         // [..], 1 or -1: the permutation's sign, in the type of lu
};
/// Gaussian elimination with partial pivoting, for a [.., n, n].
Lu lu(const Operand& a);
/// x with a x = b by `lu`, for a [.., n, n] and b [.., n, k]; or b [n] where a has no batch.
Tensor solve(const Operand& a, const Operand& b);
/// The inverse of a [.., n, n].
Tensor inverse(const Operand& a);
/// The determinant of a [.., n, n], and the logarithm of its magnitude, which does not overflow.
Tensor determinant(const Operand& a);
Tensor log_determinant(const Operand& a);

struct Qr {
    Tensor q;  // [.., m, k] with orthonormal columns
    Tensor r;  // [.., k, n], upper triangular; k = min(m, n)
};
/// a = q r by Householder's reflections, for a [.., m, n]. The diagonal of r may be negative, as in
/// numpy.
Qr qr(const Operand& a);

struct Eigh {
    Tensor values;   // [.., n], ascending
    Tensor vectors;  // [.., n, n]: column k belongs to value k; orthonormal, of either sign
};
/// Eigenvalues and eigenvectors of a symmetric [.., n, n], of which only the lower triangle is
/// read, as numpy's eigh. Jacobi's rotations, n / 2 disjoint ones at a time (R. Brent and F. Luk,
/// "The Solution of Singular-Value and Symmetric Eigenvalue Problems on Multiprocessor Arrays",
/// 1985). Vectors of equal values are any basis: what depends on the choice has gradient 0.
Eigh eigh(const Operand& a);

struct Eig {
    Complex values;   // [.., n], in no order
    Complex vectors;  // [.., n, n]: column k belongs to value k; length 1, the largest element real
};
/// Eigenvalues and eigenvectors of any [.., n, n] of a known size n up to 16, as numpy's eig; a
/// larger or symbolic one is a UserError. Each matrix is taken by one invocation: Hessenberg's form
/// by rotations, Schur's by shifted ones (G. Golub and C. Van Loan, chapter 7), and the vectors of
/// the triangle. Without a full set of vectors some come out equal; what
/// depends on the vectors of equal values has gradient 0.
Eig eig(const Operand& a);

struct Svd {
    Tensor u;   // [.., m, k] with orthonormal columns; k = min(m, n)
    Tensor s;   // [.., k], descending, 0 or more
    Tensor vt;  // [.., k, n] with orthonormal rows
};
/// The thin singular value decomposition a = u diag(s) vt of [.., m, n], as numpy's svd without
/// full matrices. Jacobi's rotations of columns (M. Hestenes, 1958). Of equal or zero singular
/// values the vectors are any basis: what depends on the choice has gradient 0.
Svd svd(const Operand& a);

struct RankOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Singular values up to this, relative to the largest, count as 0; none: max(m, n) times the
    /// type's epsilon.
    std::optional<double> tolerance = std::nullopt;
};
/// The Moore-Penrose inverse [.., n, m] of [.., m, n].
Tensor pinv(const Operand& a, const RankOptions& options = {});
/// The x of least norm among those with the least |a x - b|, for a [.., m, n] and b [.., m, k]; or
/// b [m] where a has no batch.
Tensor lstsq(const Operand& a, const Operand& b, const RankOptions& options = {});
/// How many singular values are not 0, i32 [..].
Tensor matrix_rank(const Operand& a, const RankOptions& options = {});

/// The exponential of [.., n, n], 1 + a + a a / 2 + ..: a quotient of polynomials at a / 2^s,
/// squared s times (N. Higham, "The Scaling and Squaring Method for the Matrix Exponential
/// Revisited", 2005).
Tensor expm(const Operand& a);

}  // namespace firn
