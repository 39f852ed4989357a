// Eigenvalues of matrices without symmetry: one invocation takes one matrix.
#include "compiler/algorithms/complex.h"
#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/algorithms/rotations.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/kernel.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// The largest matrix that fits the private memory and the loop limits of every driver.
constexpr int kMostRows = 16;
/// Most iterations for one eigenvalue, which takes two or three.
constexpr int kSteps = 30;

/// A matrix of one invocation.
struct LocalMatrix {
    LocalMatrix(DType type, int n) : n(n), re(local(type, {n, n})), im(local(type, {n, n})) {}

    Complex operator()(const Tensor& i, const Tensor& j) { return {re(i, j), im(i, j)}; }
    void put(const Tensor& i, const Tensor& j, const Complex& z) {
        re(i, j) = z.re, im(i, j) = z.im;
    }
    /// f of every index along an axis.
    template <class F>
    void each(const F& f) const {
        for (Tensor k : loop(n)) f(k);
    }

    int n;
    Local re, im;
};

/// A rotation that takes (a, b) to (r, 0): rows p and q become conj(c) p + conj(s) q and c q - s p.
struct GivensRotation {
    Complex c, s;
};
GivensRotation rotation_of(const Complex& a, const Complex& b) {
    // Scales by the larger part, so that no square overflows or underflows.
    const Tensor size = max(max(abs(a.re), abs(a.im)), max(abs(b.re), abs(b.im)));
    const Tensor none = size == 0, scale = select(none, 1, size);
    const Complex x = a / scale, y = b / scale;
    const Tensor r = sqrt(squared_magnitude(x) + squared_magnitude(y));
    const Tensor over = select(none, 1, r);
    return {{select(none, 1, x.re / over), x.im / over}, y / over};
}

void rotate_columns(LocalMatrix& m, const Tensor& p, const Tensor& q, const GivensRotation& by) {
    for (int k = 0; k < m.n; ++k) {  // written out: devices stop an invocation that loops for long
        const Complex x = m(k, p), y = m(k, q);
        m.put(k, p, by.c * x + by.s * y);
        m.put(k, q, conj(by.c) * y - conj(by.s) * x);
    }
}

/// Applies a similarity rotation to the matrix, and to its basis `z`.
void rotate_both(LocalMatrix& h, LocalMatrix& z, const Tensor& p, const Tensor& q,
                 const GivensRotation& by) {
    for (int k = 0; k < h.n; ++k) {
        const Complex x = h(p, k), y = h(q, k);
        h.put(p, k, conj(by.c) * x + conj(by.s) * y);
        h.put(q, k, by.c * y - by.s * x);
    }
    rotate_columns(h, p, q, by);
    rotate_columns(z, p, q, by);
}

/// Reduces to zeros below the first subdiagonal.
void to_hessenberg(LocalMatrix& h, LocalMatrix& z) {
    for (Tensor k : loop(h.n - 2))
        for (Tensor i : loop(k + 2, h.n))
            rotate_both(h, z, k + 1, i, rotation_of(h(k + 1, k), h(i, k)));
}

/// The eigenvalue of the last 2 x 2 block that is nearer to its last element (J. Wilkinson).
Complex shift_of(LocalMatrix& h, const Tensor& last) {
    const Complex a = h(last - 1, last - 1), b = h(last - 1, last), c = h(last, last - 1),
                  d = h(last, last);
    const Complex half = (a - d) * 0.5f, root = sqrt(half * half + b * c);
    const Tensor same = half.re * root.re + half.im * root.im >= 0;
    const Complex sum = half + select(same, root, -root), product = b * c;
    const Tensor none = squared_magnitude(sum) == 0;
    return d - select(none, 0, product / select(none, 1, sum));
}

/// Reduces to an upper triangle (Schur's form): each iteration chases one shifted rotation down the
/// block that has not split yet.
void to_triangle(LocalMatrix& h, LocalMatrix& z, double epsilon) {
    Tensor last = h.n - 1, tried = 0;
    while_([&] { return last > 0; },
           [&] {
               const auto size = [&](const Complex& x) { return abs(x.re) + abs(x.im); };
               // The begin of the block: below it stands a subdiagonal element that is negligible.
               Tensor first = last;
               while_([&] { return first > 0; },
                      [&] {
                          const Tensor beside =
                              size(h(first - 1, first - 1)) + size(h(first, first));
                          if_(!(size(h(first, first - 1)) > epsilon * beside), [&] { break_(); });
                          first -= 1;
                      },
                      {.max_steps = h.n});
               if_(
                   first == last,
                   [&] {
                       if_(last > 0, [&] { h.put(last, last - 1, {0.0f * last, 0.0f * last}); });
                       last -= 1, tried = 0;
                   },
                   [&] {
                       tried += 1;
                       // Every tenth shift is another one, against cycles.
                       const Tensor odd = size(h(last, last - 1)) * 1.5f;
                       const Complex by =
                           select(tried % 10 == 0, Complex{odd, odd * 0}, shift_of(h, last));
                       Tensor k = first;
                       while_([&] { return k < last; },
                              [&] {
                                  const Tensor begins = k == first, before = max(k - 1, 0);
                                  const Complex a = select(begins, h(k, k) - by, h(k, before)),
                                                b = select(begins, h(k + 1, k), h(k + 1, before));
                                  rotate_both(h, z, k, k + 1, rotation_of(a, b));
                                  k += 1;
                              },
                              {.max_steps = h.n});
                   });
           },
           {.max_steps = kSteps * h.n});
}

/// Parts, vectors and below them the values as one tensor [batch, 2, n + 1, n]: a gradient's rule
/// has one value.
Tensor packed_eig(const Tensor& a, int n) {
    const Size count = a.size(0);
    const DType type = a.dtype();
    const double epsilon = epsilon_of(type);
    Tensor out = zeros({count, 2, n + 1, n}, type);
    kernel({count}, [&](Tensor matrix) {
        LocalMatrix h(type, n), z(type, n);
        h.each([&](const Tensor& i) {
            h.each([&](const Tensor& j) {
                const Tensor one = select(i == j, 1, 0).as(type);
                h.put(i, j, {a(matrix, i, j), one * 0});
                z.put(i, j, {one, one * 0});
            });
        });
        to_hessenberg(h, z);
        to_triangle(h, z, epsilon);
        Local re = local(type, n), im = local(type, n);
        h.each([&](const Tensor& k) {
            const Complex value = h(k, k);
            out(matrix, 0, n, k) = value.re, out(matrix, 1, n, k) = value.im;
            // The vector of the triangle, from the element k up.
            re(k) = 1, im(k) = 0;
            for (Tensor back : loop(k)) {
                const Tensor i = k - 1 - back;
                Complex sum{value.re * 0, value.re * 0};
                for (Tensor j : loop(i + 1, k + 1)) sum += h(i, j) * Complex{re(j), im(j)};
                const Complex away = value - h(i, i);
                // Equal values have the same vector: they are moved apart by a rounding step.
                const Tensor least = epsilon * max(abs(value), 1e-30f);
                const Complex x = sum / select(abs(away) < least, Complex{least, least * 0}, away);
                re(i) = x.re, im(i) = x.im;
            }
            // Scaled to length 1 with a real largest element, as LAPACK's.
            Tensor square = value.re * 0, most = square - 1;
            Complex largest{square + 1, square};
            const auto element = [&](const Tensor& i) {
                Complex sum{value.re * 0, value.re * 0};
                for (Tensor j : loop(k + 1)) sum += z(i, j) * Complex{re(j), im(j)};
                return sum;
            };
            h.each([&](const Tensor& i) {
                const Complex x = element(i);
                const Tensor own = squared_magnitude(x);
                square += own;
                if_(own > most, [&] { most = own, largest = x; });
            });
            const Complex turn = conj(largest) / (abs(largest) * sqrt(square));
            h.each([&](const Tensor& i) {
                const Complex x = element(i) * turn;
                out(matrix, 0, i, k) = x.re, out(matrix, 1, i, k) = x.im;
            });
        });
    });
    return out;
}

Tensor part_of(const Tensor& packed, int which) {
    return squeeze(slice(packed, {.axis = 1, .begin = which, .end = which + 1}), {1});
}
Complex values_of(const Tensor& packed, int n) {
    const auto row = [&](int which) {
        return squeeze(slice(part_of(packed, which), {.axis = 1, .begin = n}), {1});
    };
    return {row(0), row(1)};
}
Complex vectors_of(const Tensor& packed, int n) {
    const auto rows = [&](int which) {
        return slice(part_of(packed, which), {.axis = 1, .end = n});
    };
    return {rows(0), rows(1)};
}

Complex conjugate_transpose(const Complex& m) {
    return {transpose(m.re, -1, -2), -transpose(m.im, -1, -2)};
}
Complex complex_matmul(const Complex& a, const Complex& b) {
    return {matmul(a.re, b.re) - matmul(a.im, b.im), matmul(a.re, b.im) + matmul(a.im, b.re)};
}
/// x with m x = b, as real matrices of twice the size.
Complex complex_solve(const Complex& m, const Complex& b, int n) {
    const Tensor left = concat(
        {concat({m.re, -m.im}, {.axis = 2}), concat({m.im, m.re}, {.axis = 2})}, {.axis = 1});
    const Tensor x = solve(left, concat({b.re, b.im}, {.axis = 1}));
    return {slice(x, {.axis = 1, .end = n}), slice(x, {.axis = 1, .begin = n})};
}

/// Returns the gradient by a, given the gradient g by the packed values and vectors. With P = V^-1
/// dA V the values change by its diagonal, and the vectors by V (F o P), F[i, j] = 1 / (l[j] -
/// l[i]), and along themselves so that they keep length 1 and a real largest element.
Tensor eig_rule(const Tensor& y, const Tensor& g, int n) {
    const Complex v = vectors_of(y, n), l = values_of(y, n), of_l = values_of(g, n);
    const Tensor magnitude = squared_magnitude(v), row = unsqueeze(arange(n), 1);
    const Tensor is_largest = row == unsqueeze(argmax(magnitude, {.axis = 1}), 1);
    const Tensor largest = sum(select(is_largest, v.re, 0), {.axis = 1, .keep_dims = true});
    Complex of_v = vectors_of(g, n);
    const Complex along = conj(of_v) * v;
    const Tensor a = sum(along.re, {.axis = 1, .keep_dims = true}),
                 b = sum(along.im, {.axis = 1, .keep_dims = true});
    of_v = of_v - v * a;
    of_v.im = of_v.im + select(is_largest, b / largest, 0);
    const Complex m = complex_matmul(conjugate_transpose(v), of_v);
    const Complex apart = Complex{unsqueeze(l.re, 1), unsqueeze(l.im, 1)} -
                          Complex{unsqueeze(l.re, 2), unsqueeze(l.im, 2)};
    const Tensor equal = squared_magnitude(apart) == 0, diagonal = row == arange(n);
    const Complex shared = m * conj(1.0f / select(equal, 1.0f, apart));
    const Complex of_p{select(diagonal, unsqueeze(of_l.re, 1), select(equal, 0, shared.re)),
                       select(diagonal, unsqueeze(of_l.im, 1), select(equal, 0, shared.im))};
    return complex_solve(conjugate_transpose(v), complex_matmul(of_p, conjugate_transpose(v)), n)
        .re;
}

}  // namespace

Eig eig(const Operand& a) {
    LineScope at(a.line());
    const Matrices m = as_square_matrices("eig", a);
    if (!m.rows.is_constant() || m.rows.constant() > kMostRows)
        refuse("eig: the matrix is " + m.rows.text() + " by " + m.rows.text() +
               "; it takes matrices of a known size up to " + std::to_string(kMostRows) +
               " (eigh has no such limit, where the matrix is symmetric)");
    const int n = static_cast<int>(m.rows.constant());
    if (n == 0) {
        const Tensor none = zeros({m.values.size(0), 0}, m.values.dtype()),
                     square = unsqueeze(none, 2);
        return {{with_batch(none, m.batch), with_batch(none, m.batch)},
                {with_batch(square, m.batch), with_batch(square, m.batch)}};
    }
    const Tensor packed = custom_gradient(
        [n](const std::vector<Tensor>& xs) { return packed_eig(xs[0], n); }, {m.values},
        [n](const std::vector<Tensor>&, const Tensor& y, const Tensor& g) {
            return std::vector<Tensor>{eig_rule(y, g, n)};
        });
    const Complex values = values_of(packed, n), vectors = vectors_of(packed, n);
    return {{with_batch(values.re, m.batch), with_batch(values.im, m.batch)},
            {with_batch(vectors.re, m.batch), with_batch(vectors.im, m.batch)}};
}

}  // namespace firn
