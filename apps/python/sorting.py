"""Two sorts by hand beside fn.sort: a bitonic network, and a radix sort that takes four bits at a time."""

import sys
import time

import numpy as np

import firn as fn


@fn.compile
def bitonic_sort(keys: fn.i32["n"], values: fn.i32["n"]):
    n = keys.shape[0]
    place = fn.arange(n)
    run = fn.tensor(2)
    while run < 2 * n:  # merges sorted runs of run / 2 elements
        distance = run // 2
        mask = run - 1  # at first each element meets its mirror image in the run, then one at a distance
        while distance > 0:
            other = place ^ mask
            key, value = keys[other], values[other]
            swap = (other < n) & fn.select(place < other, key < keys, key > keys)
            keys, values = fn.select(swap, key, keys), fn.select(swap, value, values)
            distance = distance // 2
            mask = distance
        run = 2 * run
    return keys, values


@fn.compile
def radix_sort(keys: fn.i32["n"], values: fn.i32["n"]):
    bits = keys.astype(fn.u32) ^ 0x80000000  # negative keys come first
    for shift in fn.range(0, 32, 4):
        digit = ((bits >> shift) & 15).astype(fn.i32)
        is_digit = (digit[:, None] == fn.arange(16)).astype(fn.i32)  # [n, 16]
        smaller = fn.cumsum(fn.sum(is_digit, axis=0), exclusive=True)
        before = fn.cumsum(is_digit, axis=0, exclusive=True)  # equal digits keep their order
        place = smaller[digit] + before[fn.arange(digit.shape[0]), digit]
        bits[place] = bits  # a store reads the version before it
        values[place] = values
    return (bits ^ 0x80000000).astype(fn.i32), values


@fn.compile
def library_sort(keys: fn.i32["n"], values: fn.i32["n"]):
    order = fn.argsort(keys)
    return keys[order], values[order]


def main(n=100_000):
    random = np.random.default_rng(1)
    keys = random.integers(-(2**31), 2**31, n, dtype=np.int32)
    values = np.arange(n, dtype=np.int32)
    for sort in (bitonic_sort, radix_sort, library_sort):
        sort(keys, values)[0].numpy()  # compiles
        begin = time.perf_counter()
        sorted_keys, moved = (x.numpy() for x in sort(keys, values))
        ms = 1000 * (time.perf_counter() - begin)
        right = np.array_equal(sorted_keys, np.sort(keys)) and np.array_equal(keys[moved], sorted_keys)
        print(f"{sort.__name__}: {n} keys in {ms:.1f} ms, {'right' if right else 'WRONG'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
