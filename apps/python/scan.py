"""Prefix sums by hand beside fn.cumsum: groups sum in shared memory, and their totals are summed in turn."""

import sys
import time

import numpy as np

import firn as fn

GROUP = 256


@fn.function
def sums_of_groups(x):
    """The running sums inside of each group of elements, and the total of each group."""
    n = x.shape[0]
    sums = fn.zeros((n,), x.dtype)
    totals = fn.zeros((fn.round_up(n, GROUP) // GROUP,), x.dtype)

    @fn.kernel((n,), group=(GROUP,))
    def _(i):
        shared = fn.shared(x.dtype, (2, GROUP))  # one half is read while the other is written
        lane = fn.local_index(0)
        shared[0, lane] = fn.select(i < n, x[i], 0)
        side = 0
        distance = 1
        while distance < GROUP:
            fn.barrier()
            left = fn.select(lane >= distance, shared[side, lane - distance], 0)
            shared[1 - side, lane] = shared[side, lane] + left
            side, distance = 1 - side, 2 * distance
        fn.barrier()
        sums[i] = shared[side, lane]
        if lane == GROUP - 1:
            totals[fn.group_index(0)] = shared[side, lane]

    return sums, totals


@fn.compile
def scan(x: fn.i32["n"]):
    sums, totals = sums_of_groups(x)
    above, above_totals = sums_of_groups(totals)  # enough for GROUP cubed elements
    above += (fn.cumsum(above_totals) - above_totals)[fn.arange(above.shape[0]) // GROUP]
    return sums + (above - totals)[fn.arange(x.shape[0]) // GROUP]


@fn.compile
def library_scan(x: fn.i32["n"]):
    return fn.cumsum(x)


def main(n=1_000_000):
    x = np.random.default_rng(1).integers(0, 10, n, dtype=np.int32)
    for function in (scan, library_scan):
        function(x).numpy()  # compiles
        begin = time.perf_counter()
        sums = function(x).numpy()
        ms = 1000 * (time.perf_counter() - begin)
        print(f"{function.__name__}: {n} elements in {ms:.1f} ms, largest error {abs(sums - np.cumsum(x)).max()}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
