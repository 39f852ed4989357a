"""Random numbers: hashes of counters, streams, distributions, and permutations that need no memory."""

import sys

import numpy as np

import firn as fn


@fn.compile
def hashes(n: fn.i32):
    """A hash of an index is a random number; a hash of that is another."""
    i = fn.arange(16) + n
    return fn.pcg(i), fn.pcgf(i), fn.pcgf(fn.pcg(i))


@fn.compile
def pi_by_chance(seed: fn.u32):
    """Every element has a generator of its own, which counts its draws in loops, too."""
    random = fn.Generator(fn.arange(10_000), seed)
    inside = 0
    for _ in fn.range(100):
        x, y = random.uniform(), random.uniform()
        inside = inside + (x * x + y * y < 1).astype(fn.f32)
    return 4 * fn.mean(inside) / 100


@fn.function
def shuffled(i, n, seed, rounds=16):
    """Where index i of n is moved: a permutation that each element computes by itself, as n > 1 cards are shuffled."""
    for k in range(rounds):
        key = (fn.pcg(seed + k) % n).astype(fn.i32)
        partner = (key - i + n) % n  # pairs i with partner, and partner with i
        coin = fn.pcg(fn.max(i, partner) * rounds + k ^ fn.pcg(seed)) & 1
        i = fn.select(coin == 1, partner, i)
    return i


@fn.compile
def permutation(i: fn.i32["n"], seed: fn.u32):
    return shuffled(i, i.shape[0], seed)


def main(n=100_000):
    for words in hashes(0):
        print(words)
    print("pi is about", pi_by_chance(1).item(), "and", pi_by_chance(2).item())
    # The same seed gives the same numbers on every device; streams of one seed are independent.
    x = fn.randn((n,), seed=7, stream=1).numpy()
    print(f"randn: mean {x.mean():.4f}, deviation {x.std():.4f}")
    dice = fn.randint(1, 7, (n,), seed=7).numpy()
    print("dice:", np.bincount(dice, minlength=7)[1:] / n)
    moved = permutation(np.arange(n, dtype=np.int32), 3).numpy()
    print("permutation:", moved, "each once" if len(np.unique(moved)) == n else "NOT each once")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
