"""A matrix product as a kernel by hand, with tiles in shared memory and registers, beside `a @ b`."""

import sys
import time

import numpy as np

import firn as fn

GROUP = 16  # invocations of a group along each axis
EACH = 4  # results of each invocation along each axis
TILE = GROUP * EACH


@fn.compile
def by_hand(a: fn.f32["n", "k"], b: fn.f32["k", "m"]):
    n, k = a.shape
    m = b.shape[1]
    c = fn.zeros((n, m))
    a_or_0, b_or_0 = fn.zero(a), fn.zero(b)  # 0 outside, so that any size does
    groups = fn.round_up(n, TILE) // EACH, fn.round_up(m, TILE) // EACH

    @fn.kernel(groups, group=(GROUP, GROUP))
    def _(i, j):
        a_tile, b_tile = fn.shared(fn.f32, (TILE, GROUP)), fn.shared(fn.f32, (GROUP, TILE))
        row, column = fn.local_index(0), fn.local_index(1)
        top, left = fn.group_index(0) * TILE, fn.group_index(1) * TILE
        sums = [[0.0] * EACH for _ in range(EACH)]  # carried by the loop, in registers
        for start in fn.range(0, k, GROUP):
            for part in range(0, TILE, GROUP):  # Python's loops are unrolled
                a_tile[row + part, column] = a_or_0[top + row + part, start + column]
                b_tile[row, column + part] = b_or_0[start + row, left + column + part]
            fn.barrier()
            for q in fn.range(GROUP):
                a_part = [a_tile[row + p * GROUP, q] for p in range(EACH)]
                b_part = [b_tile[q, column + p * GROUP] for p in range(EACH)]
                sums = [[sums[y][x] + a_part[y] * b_part[x] for x in range(EACH)] for y in range(EACH)]
            fn.barrier()
        for y in range(EACH):
            for x in range(EACH):
                c[top + row + y * GROUP, left + column + x * GROUP] = sums[y][x]

    return c


@fn.compile
def library(a: fn.f32["n", "k"], b: fn.f32["k", "m"]):
    return a @ b


def main(n=512):
    random = np.random.default_rng(1)
    a, b = (random.random((n, n), dtype=np.float32) for _ in range(2))
    for product in (by_hand, library):
        product(a, b).numpy()  # compiles
        begin = time.perf_counter()
        c = product(a, b).numpy()
        seconds = time.perf_counter() - begin
        error = abs(c - a @ b).max() / n
        print(f"{product.__name__}: {2e-9 * n**3 / seconds:.1f} GFLOP/s, largest error {error:.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
