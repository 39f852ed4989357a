#!/usr/bin/env python3
"""Values, gradients and gradients of gradients of random functions, beside PyTorch's in f64.

usage: torch_expressions.py FILE

FILE is what firn_bench_gradients --expressions writes: of each function its lines in Python, its
arguments, and what Firn found. Ends with 1 where something differs by more than 1e-8, relative to the
largest number of its kind, and says which functions do; with 3 where PyTorch cannot be imported.
"""
import sys

SHAPE, MOST = (3, 4), 1e-8


def read(path):
    functions, lines = [], None
    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("function "):
            functions.append({"seed": line.split()[1], "python": "", "x": [], "y": [], "first": [], "second": []})
            lines = functions[-1]
        elif line == "end":
            lines = None
        elif lines is not None:
            lines["python"] += line + "\n"
        else:
            name, *numbers = line.split()
            functions[-1][name].append([float(n) for n in numbers])
    return functions


def check(torch, function):
    x = [torch.tensor(v, dtype=torch.float64).reshape(SHAPE).requires_grad_(True) for v in function["x"]]
    names = {"torch": torch, "x0": x[0], "x1": x[1]}
    exec(function["python"], names)

    def gradients(of):
        made = torch.autograd.grad(of, x, create_graph=True, allow_unused=True) if of.requires_grad else [None] * 2
        return [torch.zeros(SHAPE, dtype=torch.float64) if g is None else g for g in made]

    first = gradients(names["y"])
    second = gradients((first[0] * torch.sin(first[1])).sum() + (first[1] * first[1]).sum())
    worst = 0
    for kind, expected in (("y", [names["y"]]), ("first", first), ("second", second)):
        for own, theirs in zip(function[kind], expected):
            theirs = theirs.detach().reshape(-1)
            scale = max(1.0, theirs.abs().max().item())
            difference = (torch.tensor(own, dtype=torch.float64) - theirs).abs().max().item() / scale
            worst = max(worst, difference if difference == difference else float("inf"))
    return worst


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        import torch
    except ImportError:
        print("PyTorch: python3 cannot import torch, so nothing was compared")
        sys.exit(3)
    functions, worst, bad = read(sys.argv[1]), 0.0, []
    for function in functions:
        difference = check(torch, function)
        worst = max(worst, difference)
        if not difference <= MOST:
            bad.append(function["seed"])
    print(f"{len(functions)} functions beside PyTorch: the largest difference is {worst:.1e}; beyond {MOST}: {len(bad)}")
    if bad:
        print("seeds: " + " ".join(bad[:20]))
        sys.exit(1)


main()
