// Factorisations of matrices and their uses.
#pragma once
#include <optional>

#include "compiler/algorithms/complex.h"
#include "compiler/frontend/movement.h"

namespace firn {

/// The triangle that is read, and whether its diagonal is.
struct TriangularOptions {
    bool lower = true;  ///< false: the upper triangle is read
    bool unit = false;  ///< the diagonal counts as 1 and is not read
};
/// Returns x with a x = b, for a triangular [.., n, n] and b [.., n, k]; or b [n] if a has no
/// batch. The other triangle is not read.
///
/// Here and for the factorisations below, matrices are the last two axes; leading axes are a batch.
/// Integers, f16 and bf16 are computed in f32. Each is a loop over columns with a few kernels per
/// iteration, in the textbook order: G. Golub and C. Van Loan, "Matrix Computations", 4th edition,
/// chapters 3 to 5. Axes that do not fit are UserErrors; a matrix that has no such factorisation
/// gives nan or infinity, never an error.
///
/// Examples: after `Tensor a = tensor({2.0f, 7.0f, 1.0f, 4.0f}, {2, 2});`
/// `solve_triangular(a, tensor({2.0f, 9.0f}))` is `{1, 2}`,
/// `solve_triangular(a, tensor({9.0f, 4.0f}), {.lower = false})` is `{1, 1}`.
Tensor solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options = {});

/// The lower triangular l with l transpose(l) = a, for a symmetric and positive definite; only its
/// lower triangle is read. nan from the first column on where a is not positive definite. Batches
/// and types are as for solve_triangular.
///
/// Examples: `cholesky(tensor({4.0f, 2.0f, 2.0f, 5.0f}, {2, 2}))` is `{{2, 0}, {1, 2}}`,
/// `cholesky(tensor({1.0f, 2.0f, 2.0f, 1.0f}, {2, 2}))` is `{{1, 0}, {2, nan}}`.
Tensor cholesky(const Operand& a);

/// The result of `lu`: two triangles, and the order of the rows.
struct Lu {
    Tensor lu;           ///< l, with 1 on its diagonal, below the diagonal, and u on and above it
    Tensor permutation;  ///< i32 [.., n]: row i of l u is row permutation[i] of a
    Tensor sign;         ///< [..], 1 or -1: the permutation's sign, in the type of lu
};
/// Gaussian elimination with partial pivoting, for a [.., n, n]. Batches and types are as for
/// solve_triangular.
///
/// Example: after `Lu f = lu(tensor({0.0f, 2.0f, 1.0f, 3.0f}, {2, 2}));` `f.lu` is
/// `{{1, 3}, {0, 2}}`, `f.permutation` is `{1, 0}` and `f.sign` is `-1`.
Lu lu(const Operand& a);
/// x with a x = b by `lu`, for a [.., n, n] and b [.., n, k]; or b [n] where a has no batch.
///
/// Example: `solve(tensor({2.0f, 1.0f, 1.0f, 3.0f}, {2, 2}), tensor({5.0f, 10.0f}))` is `{1, 3}`.
Tensor solve(const Operand& a, const Operand& b);
/// The inverse of a [.., n, n]; nan or infinite where there is none.
///
/// Example: `inverse(tensor({1, 2, 3, 4}, {2, 2}))` is `{{-2, 1}, {1.5, -0.5}}`.
Tensor inverse(const Operand& a);
/// The determinant, [..], of a [.., n, n], by `lu`.
///
/// Example: `determinant(tensor({1, 2, 3, 4}, {2, 2}))` is `-2`.
Tensor determinant(const Operand& a);
/// The logarithm of the determinant's magnitude, [..], which does not overflow; -inf where that
/// is 0.
///
/// Example: `log_determinant(tensor({1, 2, 3, 4}, {2, 2}))` is `0.69315`.
Tensor log_determinant(const Operand& a);
/// The result of `slogdet`: sign and logarithm of the absolute value of a determinant.
struct Slogdet {
    Tensor sign;       ///< [..]: -1, 0 or 1; 0 where the matrix is singular
    Tensor logabsdet;  ///< [..]: as log_determinant, -inf where the matrix is singular
};
/// The determinant as sign * exp(logabsdet), as numpy's slogdet, from one factorisation. The
/// gradient of logabsdet is the transposed inverse; that of the sign is 0.
///
/// Example: after `Slogdet d = slogdet(tensor({1, 2, 3, 4}, {2, 2}));` `d.sign` is `-1`,
/// `d.logabsdet` is `0.69315`.
Slogdet slogdet(const Operand& a);

/// The result of `qr`.
struct Qr {
    Tensor q;  ///< [.., m, k] with orthonormal columns
    Tensor r;  ///< [.., k, n], upper triangular; k = min(m, n)
};
/// a = q r by Householder's reflections, for a [.., m, n]. The diagonal of r may be negative, as in
/// numpy. Batches and types are as for solve_triangular.
///
/// Example: after `Qr f = qr(tensor({3.0f, 1.0f, 4.0f, 2.0f}, {2, 2}));` `matmul(f.q, f.r)` is
/// `{{3, 1}, {4, 2}}` and `abs(f.r(0, 0))` is `5`.
Qr qr(const Operand& a);

/// The result of `eigh`.
struct Eigh {
    Tensor values;   ///< [.., n], ascending
    Tensor vectors;  ///< [.., n, n]: column k belongs to value k; orthonormal, of either sign
};
/// Eigenvalues and eigenvectors of a symmetric [.., n, n], of which only the lower triangle is
/// read, as numpy's eigh. Jacobi's rotations, n / 2 disjoint ones at a time (R. Brent and F. Luk,
/// "The Solution of Singular-Value and Symmetric Eigenvalue Problems on Multiprocessor Arrays",
/// 1985). Vectors of equal values are any basis: a gradient through that choice is 0.
///
/// Example: after `Eigh f = eigh(tensor({2.0f, 1.0f, 1.0f, 2.0f}, {2, 2}));` `f.values` is
/// `{1, 3}` and `abs(f.vectors(0))` is `{0.70711, 0.70711}`.
Eigh eigh(const Operand& a);

/// The result of `eig`.
struct Eig {
    /// [.., n], in no order.
    Complex values;
    /// [.., n, n]: column k belongs to value k; length 1, the largest element real.
    Complex vectors;
};
/// Eigenvalues and eigenvectors of any [.., n, n] of a known size n up to 16, as numpy's eig; a
/// larger or symbolic one is a UserError. Each matrix is taken by one invocation: Hessenberg's form
/// by rotations, Schur's by shifted ones (G. Golub and C. Van Loan, chapter 7), and the vectors of
/// the triangle. Without a full set of vectors some are equal; gradients through the vectors of
/// equal values are 0.
///
/// Example: `sort(eig(tensor({0.0f, -1.0f, 1.0f, 0.0f}, {2, 2})).values.im)` is `{-1, 1}`.
Eig eig(const Operand& a);

/// The result of `svd`.
struct Svd {
    Tensor u;   ///< [.., m, k] with orthonormal columns; k = min(m, n)
    Tensor s;   ///< [.., k], descending, 0 or more
    Tensor vt;  ///< [.., k, n] with orthonormal rows
};
/// The thin singular value decomposition a = u diag(s) vt of [.., m, n], as numpy's svd without
/// full matrices. Jacobi's rotations of columns (M. Hestenes, 1958). The vectors of equal or zero
/// singular values are any basis: a gradient through that choice is 0.
///
/// Example: after `Svd f = svd(tensor({0.0f, 3.0f, -4.0f, 0.0f}, {2, 2}));` `f.s` is `{4, 3}` and
/// `matmul(f.u * f.s, f.vt)` is `{{0, 3}, {-4, 0}}`.
Svd svd(const Operand& a);

/// The singular values that count.
struct RankOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Singular values up to this, relative to the largest, count as 0; none: max(m, n) times the
    /// type's epsilon.
    std::optional<double> tolerance = std::nullopt;
};
/// The Moore-Penrose inverse [.., n, m] of [.., m, n].
///
/// Example: `pinv(tensor({1.0f, 2.0f}, {2, 1}))` is `{{0.2, 0.4}}`.
Tensor pinv(const Operand& a, const RankOptions& options = {});
/// The x of least norm among those with the least |a x - b|, for a [.., m, n] and b [.., m, k]; or
/// b [m] where a has no batch.
///
/// Example: after `Tensor a = vander(tensor({0.0f, 1.0f, 2.0f}), 2);`
/// `lstsq(a, tensor({1.0f, 3.0f, 4.0f}))` is `{1.5, 1.16667}`.
Tensor lstsq(const Operand& a, const Operand& b, const RankOptions& options = {});
/// Counts the singular values that are not 0, i32 [..].
///
/// Examples: `matrix_rank(ones({3, 2}))` is `1`,
/// `matrix_rank(diag(tensor({1.0f, 0.01f})), {.tolerance = 0.1})` is `1`.
Tensor matrix_rank(const Operand& a, const RankOptions& options = {});

/// The exponential of [.., n, n], the sum of a^k / k! over all k from 0 on. A quotient of
/// polynomials at a / 2^s, squared s times: N. Higham, "The Scaling and Squaring Method for the
/// Matrix Exponential Revisited", 2005.
///
/// Example: `expm(tensor({0.0f, 1.0f, 0.0f, 0.0f}, {2, 2}))` is `{{1, 1}, {0, 1}}`.
Tensor expm(const Operand& a);

}  // namespace firn
