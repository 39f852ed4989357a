#!/usr/bin/env python3
"""Times one case of firn_bench in PyTorch on the CPU, and prints the median's milliseconds.

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


def wave():
    u, v = torch.rand(1, 1, 1024, 1024), torch.rand(1, 1, 1024, 1024)

    def step():
        p = F.pad(u, (1, 1, 1, 1), mode="replicate")
        around = p[..., :-2, 1:-1] + p[..., 2:, 1:-1] + p[..., 1:-1, :-2] + p[..., 1:-1, 2:]
        speed = v + 0.1 * (around - 4 * u)
        return u + 0.1 * speed, speed

    return step


def jacobi():
    start = torch.rand(1, 1, 1024, 1024)

    def solve():
        u = start
        for _ in range(100):
            p = F.pad(u, (1, 1, 1, 1), mode="replicate")
            u = 0.25 * (p[..., :-2, 1:-1] + p[..., 2:, 1:-1] + p[..., 1:-1, :-2] + p[..., 1:-1, 2:])
        return u

    return solve


def chain():
    # Into memory that is there already, which is faster than the plain expression by a factor of ten.
    x = torch.rand(M16) + 0.5
    y, square = torch.empty_like(x), torch.empty_like(x)

    def run():
        torch.mul(x, 1.5, out=y)
        torch.mul(x, x, out=square)
        return y.add_(0.25).abs_().sub_(square).clamp_(min=-1.0).mul_(x).clamp_(max=2.0)

    return run


def gelu():
    x = torch.rand(M16) * 8 - 4
    y = torch.empty_like(x)
    # F.gelu takes no out=.
    return lambda: torch._C._nn.gelu(x, approximate="tanh", out=y)


def total():
    x = torch.rand(M16)
    return lambda: torch.sum(x)


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


def n_body():
    p, mass = torch.rand(8192, 3), torch.rand(8192)

    def pull():
        away = p[None] - p[:, None]
        square = (away * away).sum(2) + 0.0025
        return ((mass / (square * torch.sqrt(square)))[..., None] * away).sum(1)

    return pull


def scatter(places):
    def make():
        place, x = torch.randint(places, (4 << 20,)), torch.rand(4 << 20)
        return lambda: torch.zeros(places).scatter_add_(0, place, x)

    return make


def convolution(size, which):
    def make():
        x, g = torch.rand(8, 16, 64, 64), torch.rand(8, 32, 64, 64)
        w = torch.rand(32, 16, size, size)
        edge = size // 2
        if which == "gradient_of_input":
            return lambda: torch.nn.grad.conv2d_input(x.shape, w, g, padding=edge)
        if which == "gradient_of_weights":
            return lambda: torch.nn.grad.conv2d_weight(x, w.shape, g, padding=edge)
        return lambda: F.conv2d(x, w, padding=edge)

    return make


CASES = {
    "wave": wave,
    "jacobi": jacobi,
    "chain": chain,
    "gelu": gelu,
    "sum": total,
    "rowsum": of_matrix(lambda x: x.sum(1)),
    "colsum": of_matrix(lambda x: x.sum(0)),
    "softmax": of_matrix(lambda x: torch.softmax(x, 1)),
    "layernorm": layernorm,
    "n_body": n_body,
    "n_body_loop": n_body,
    "scatter_1k": scatter(1 << 10),
    "scatter_1M": scatter(1 << 20),
}
for n in (512, 1024, 2048):
    CASES[f"matmul_{n}"] = matmul(n, False)
    CASES[f"matmul_{n}_fused"] = matmul(n, True)
for size in (3, 5):
    for which in ("", "_gradient_of_input", "_gradient_of_weights"):
        CASES[f"conv{size}{which}"] = convolution(size, which[1:])


def main():
    torch.set_num_threads(os.cpu_count())  # Debian's default is 1
    if sys.argv[1:] == ["--version"]:
        print(f"{torch.__version__}, {torch.get_num_threads()} threads")
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] not in CASES:
        sys.exit(3)
    torch.manual_seed(1)
    with torch.no_grad():
        run = CASES[sys.argv[1]]()
        run()
        times, end = [], time.perf_counter() + 2
        while len(times) < 5 or (len(times) < 50 and time.perf_counter() < end):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
    print(sorted(times)[len(times) // 2] * 1e3)


main()
