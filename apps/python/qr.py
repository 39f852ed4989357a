"""Gram and Schmidt's QR decomposition and the inverse of a matrix by hand, beside fn.qr and fn.inverse."""

import sys

import numpy as np

import firn as fn


@fn.function
def gram_schmidt(a):
    """q with orthonormal columns and the upper triangular r, with q @ r = a, by the modified form."""
    m, n = a.shape
    q, r = fn.zeros((m, n)), fn.zeros((n, n))
    for k in fn.range(n):
        length = fn.norm(a[:, k])
        q[:, k] = a[:, k] / length
        row = fn.select(fn.arange(n) > k, fn.sum(q[:, k, None] * a, axis=0), 0)
        r[k] = fn.select(fn.arange(n) == k, length, row)
        a = a - q[:, k, None] * row
    return q, r


@fn.function
def inverse_of_upper(r):
    """The inverse of an upper triangular matrix, row by row from the last."""
    n = r.shape[0]
    out = fn.zeros((n, n))
    for k in fn.range(n - 1, -1, -1):
        unit = (fn.arange(n) == k).astype(fn.f32)
        below = fn.select(fn.arange(n) > k, r[k], 0)
        out[k] = (unit - below @ out) / r[k, k]
    return out


@fn.compile
def decompose(a: fn.f32["n", "n"]):
    q, r = gram_schmidt(a)
    return q, r, inverse_of_upper(r) @ q.T


@fn.compile
def library(a: fn.f32["n", "n"]):
    q, r = fn.qr(a)
    return q, r, fn.inverse(a)


def main(n=32):
    a = np.random.default_rng(1).random((n, n), dtype=np.float32)
    for function in (decompose, library):
        q, r, inverse = (x.numpy() for x in function(a))
        wrong = {"q r": q @ r - a, "q' q": q.T @ q - np.eye(n), "a inverse": a @ inverse - np.eye(n)}
        print(f"{function.__name__}: errors of", ", ".join(f"{name} {abs(x).max():.1e}" for name, x in wrong.items()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
