#!/usr/bin/env python3
"""Times one case of firn_bench in PyTorch on the CPU, and prints the medians' milliseconds: as one writes it first, and in
the fastest form that is known here.

usage: torch_cases.py CASE | --version

firn_bench calls it where python3 can import torch (Debian: apt install python3-torch). Ends with 3 for
a case that has no form here: those that are not tensor programs in PyTorch's sense.
"""
import os
import sys
import time

import torch
import torch.nn.functional as F

M16 = 16 << 20
ROWS = 4096


def neighbours(p):
    return p[..., :-2, 1:-1] + p[..., 2:, 1:-1] + p[..., 1:-1, :-2] + p[..., 1:-1, 2:]


def neighbours_by_convolution(p, weights=torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])[None, None]):
    return F.conv2d(p, weights)


def wave(around):
    def make():
        u, v = torch.rand(1, 1, 1024, 1024), torch.rand(1, 1, 1024, 1024)

        def step():
            speed = v + 0.1 * (around(F.pad(u, (1, 1, 1, 1), mode="replicate")) - 4 * u)
            return u + 0.1 * speed, speed

        return step

    return make


def jacobi(around):
    def make():
        start = torch.rand(1, 1, 1024, 1024)

        def solve():
            u = start
            for _ in range(100):
                u = 0.25 * around(F.pad(u, (1, 1, 1, 1), mode="replicate"))
            return u

        return solve

    return make


def chain():
    x = torch.rand(M16) + 0.5
    return lambda: torch.clamp(torch.clamp(torch.abs(x * 1.5 + 0.25) - x * x, min=-1.0) * x, max=2.0)


def chain_in_place():
    x = torch.rand(M16) + 0.5
    y, square = torch.empty_like(x), torch.empty_like(x)

    def run():
        torch.mul(x, 1.5, out=y)
        torch.mul(x, x, out=square)
        return y.add_(0.25).abs_().sub_(square).clamp_(min=-1.0).mul_(x).clamp_(max=2.0)

    return run


def gelu():
    x = torch.rand(M16) * 8 - 4
    return lambda: F.gelu(x, approximate="tanh")


def gelu_in_place():
    x = torch.rand(M16) * 8 - 4
    y = torch.empty_like(x)
    # F.gelu takes no out=.
    return lambda: torch._C._nn.gelu(x, approximate="tanh", out=y)


def total():
    x = torch.rand(M16)
    return lambda: torch.sum(x)


def of(count, function, dtype=torch.float32):
    def make():
        x = torch.rand(count, dtype=dtype)
        return lambda: function(x)

    return make


def of_matrix(function):
    def make():
        x = torch.rand(ROWS, ROWS)
        return lambda: function(x)

    return make


def layernorm():
    x, gain, bias = torch.rand(ROWS, ROWS), torch.rand(ROWS), torch.rand(ROWS)
    return lambda: F.layer_norm(x, (ROWS,), gain, bias)


def matmul(n, fused):
    def make():
        a, b, bias = torch.rand(n, n), torch.rand(n, n), torch.rand(n)
        if fused:
            return lambda: F.relu(F.gelu(a, approximate="tanh") @ b + bias)
        return lambda: a @ b

    return make


def product(a_shape, b_shape, a_transposed=False, b_transposed=False):
    def make():
        a, b = torch.rand(a_shape), torch.rand(b_shape)
        return lambda: (a.mT if a_transposed else a) @ (b.mT if b_transposed else b)

    return make


def matmul_fused_in_place(n):
    def make():
        a, b, bias = torch.rand(n, n), torch.rand(n, n), torch.rand(n)
        return lambda: torch.addmm(bias, F.gelu(a, approximate="tanh"), b).relu_()

    return make


def n_body():
    p, mass = torch.rand(8192, 3), torch.rand(8192)

    def pull():
        away = p[None] - p[:, None]
        square = (away * away).sum(2) + 0.0025
        return ((mass / (square * torch.sqrt(square)))[..., None] * away).sum(1)

    return pull


def n_body_in_chunks():
    """Three vectors, and as many bodies at once as stay in the cache."""
    p, mass = torch.rand(3, 8192), torch.rand(8192)

    def pull():
        out = torch.empty_like(p)
        for first in range(0, 8192, 32):
            own = slice(first, first + 32)
            away = [p[k][None] - p[k][own, None] for k in range(3)]
            square = (away[0] * away[0]).addcmul_(away[1], away[1]).addcmul_(away[2], away[2]).add_(0.0025)
            weight = mass / square.mul_(square.sqrt())
            for k in range(3):
                out[k, own] = (weight * away[k]).sum(1)
        return out

    return pull


def scatter(places):
    def make():
        place, x = torch.randint(places, (4 << 20,)), torch.rand(4 << 20)
        return lambda: torch.zeros(places).scatter_add_(0, place, x)

    return make


def scatter_by_index_add(places):
    def make():
        place, x = torch.randint(places, (4 << 20,)), torch.rand(4 << 20)
        return lambda: torch.zeros(places).index_add_(0, place, x)

    return make


def scatter_by_bincount(places):
    def make():
        place, x = torch.randint(places, (4 << 20,)), torch.rand(4 << 20)
        return lambda: torch.bincount(place, x, places)

    return make


def strided_convolution(layout):
    def make():
        x, w = torch.rand(8, 16, 64, 64), torch.rand(32, 16, 3, 3)
        x, w = x.to(memory_format=layout), w.to(memory_format=layout)
        return lambda: F.conv2d(x, w, stride=2, padding=1)

    return make


def convolution(size, which, layout=torch.contiguous_format):
    def make():
        x, g = torch.rand(8, 16, 64, 64), torch.rand(8, 32, 64, 64)
        w = torch.rand(32, 16, size, size)
        x, g, w = (t.to(memory_format=layout) for t in (x, g, w))
        edge = size // 2
        if which == "gradient_of_input":
            return lambda: torch.nn.grad.conv2d_input(x.shape, w, g, padding=edge)
        if which == "gradient_of_weights":
            return lambda: torch.nn.grad.conv2d_weight(x, w.shape, g, padding=edge)
        return lambda: F.conv2d(x, w, padding=edge)

    return make


# Of each case first what one writes first, then what may be faster.
CASES = {
    "wave": [wave(neighbours), wave(neighbours_by_convolution)],
    "jacobi": [jacobi(neighbours), jacobi(neighbours_by_convolution)],
    "chain": [chain, chain_in_place],
    "gelu": [gelu, gelu_in_place],
    "sum": [total],
    "scan": [of(M16, lambda x: torch.cumsum(x, 0))],
    "sort": [of(1 << 20, lambda x: torch.sort(x)[0])],
    "fft_1M": [of(1 << 20, torch.fft.fft, torch.complex64)],
    "rowsum": [of_matrix(lambda x: x.sum(1)), of_matrix(lambda x: x @ torch.ones(ROWS))],
    "colsum": [of_matrix(lambda x: x.sum(0)), of_matrix(lambda x: torch.ones(ROWS) @ x)],
    "softmax": [of_matrix(lambda x: torch.softmax(x, 1))],
    "layernorm": [layernorm],
    "n_body": [n_body, n_body_in_chunks],
    "n_body_loop": [n_body, n_body_in_chunks],
}
for name, places in (("scatter_1k", 1 << 10), ("scatter_1M", 1 << 20)):
    CASES[name] = [form(places) for form in (scatter, scatter_by_index_add, scatter_by_bincount)]
for n in (512, 1024, 2048):
    CASES[f"matmul_{n}"] = [matmul(n, False)]
    CASES[f"matmul_{n}_fused"] = [matmul(n, True), matmul_fused_in_place(n)]
CASES["matmul_a_transposed"] = [product((1024, 1024), (1024, 1024), a_transposed=True)]
CASES["matmul_b_transposed"] = [product((1024, 1024), (1024, 1024), b_transposed=True)]
CASES["matmul_odd"] = [product((1000, 777), (777, 333))]
CASES["matmul_batch"] = [product((64, 128, 128), (64, 128, 128))]
CASES["conv3_strided"] = [strided_convolution(layout) for layout in (torch.contiguous_format, torch.channels_last)]
for size in (3, 5):
    for which in ("", "_gradient_of_input", "_gradient_of_weights"):
        layouts = (torch.contiguous_format, torch.channels_last)
        CASES[f"conv{size}{which}"] = [convolution(size, which[1:], layout) for layout in layouts]


def blas():
    """The library that multiplies matrices: Debian's torch links whichever libblas.so.3 is chosen."""
    torch.rand(8, 8) @ torch.rand(8, 8)
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "blas" in line}
    if any("openblas" in file for file in files):
        return "OpenBLAS"
    return "a reference BLAS, which is slow (Debian: apt install libopenblas0-pthread)"


def median_ms(make):
    torch.manual_seed(1)
    with torch.no_grad():
        run = make()
        run()
        times, end = [], time.perf_counter() + 2
        while len(times) < 5 or (len(times) < 50 and time.perf_counter() < end):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2] * 1e3


def main():
    torch.set_num_threads(os.cpu_count())  # Debian's default is 1
    if sys.argv[1:] == ["--version"]:
        print(f"{torch.__version__}, {torch.get_num_threads()} threads, {blas()}")
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] not in CASES:
        sys.exit(3)
    times = [median_ms(make) for make in CASES[sys.argv[1]]]
    print(times[0], min(times))


main()
