#!/usr/bin/env python3
"""Writes what PyTorch gives into torch_expected.txt, which the tests read: run it where torch is (1.13). The form
is that of numpy_expected.txt."""
import os

import numpy as np
import torch
import torch.nn.functional as nn

F, I = np.float32, np.int32
lines = []


def array(kind, x):
    x = np.asarray(x)
    sizes = ",".join(map(str, x.shape)) or "-"
    name = {F: "f32", I: "i32"}[x.dtype.type]
    lines.append(" ".join([kind, name, sizes] + [format(v, ".9g" if name == "f32" else "d")
                                                 for v in x.ravel().tolist()]))


def case(name, inputs, *results):
    lines.append("case " + name)
    for x in inputs:
        array("in", x)
    for x in results:
        array("out", x.detach().numpy() if torch.is_tensor(x) else x)


def floats(*shape, low=-3, high=3, seed=1):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(F)


def sampled(name, x, grid, **options):
    """The value, and the gradients of its product with a third input."""
    x, grid = torch.tensor(x, requires_grad=True), torch.tensor(grid, requires_grad=True)
    y = nn.grid_sample(x, grid, **options)
    by = floats(*y.shape, seed=7)
    y.backward(torch.tensor(by))
    case(name, [x.detach().numpy(), grid.detach().numpy(), by], y, x.grad, grid.grad)


def grids():
    x, inside, far = floats(2, 2, 3, 4), floats(2, 2, 3, 2, low=-1.4, high=1.4), floats(2, 2, 2, 2, low=-6, high=6)
    # Centres, edges and corners.
    whole = np.stack(np.meshgrid(F([-1.5, -1, -0.5, 0, 1]), F([-1, 0.5])), -1)[None].astype(F)
    for mode in ["nearest", "bilinear", "bicubic"]:
        for padding in ["zeros", "border", "reflection"]:
            for corners in [False, True]:
                name = "grid_%s_%s_%s" % (mode, padding, "corners" if corners else "edges")
                options = dict(mode=mode, padding_mode=padding, align_corners=corners)
                sampled(name, x, inside, **options)
                if padding != "zeros":
                    sampled(name + "_far", x, far, **options)
                if corners:
                    sampled(name + "_one", floats(1, 1, 1, 1), whole, **options)
                sampled(name + "_whole", floats(1, 1, 4, 4), whole, **options)
                if mode != "bicubic" and not corners:
                    sampled(name + "_volume", floats(1, 1, 3, 2, 2), floats(1, 1, 2, 3, 3, low=-2, high=2), **options)


def keys(x, to):
    """Rows by Keys's kernel with a = -1/2 (PyTorch's bicubic has -3/4), the edge going on beyond it."""
    n, out = len(x), []
    for p in range(to):
        at = (p + 0.5) * n / to - 0.5
        low = int(np.floor(at))
        row = 0
        for k in range(low - 1, low + 3):
            d = abs(at - k)
            weight = (1.5 * d - 2.5) * d * d + 1 if d < 1 else ((-0.5 * d + 2.5) * d - 4) * d + 2 if d < 2 else 0
            row = row + weight * x[min(max(k, 0), n - 1)].astype(np.float64)
        out.append(row)
    return np.array(out)


def resized():
    """[rows, columns] of ours are [1, 1, rows, columns] there."""
    for rows, columns, to in [(4, 5, (7, 3)), (3, 3, (3, 3)), (6, 4, (2, 2)), (1, 5, (4, 10)), (5, 7, (1, 1))]:
        x = floats(rows, columns)
        of = torch.tensor(x)[None, None]
        name = "_%d_%d_to_%d_%d" % (rows, columns, *to)
        case("resize_nearest" + name, [x], nn.interpolate(of, to, mode="nearest-exact")[0, 0])
        case("resize_linear" + name, [x], nn.interpolate(of, to, mode="bilinear", align_corners=False)[0, 0])
        case("resize_cubic" + name, [x], keys(keys(x, to[0]).T, to[1]).T.astype(F))
        if rows % to[0] == 0 and columns % to[1] == 0:
            case("resize_area" + name, [x], nn.interpolate(of, to, mode="area")[0, 0])


grids()
resized()
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_expected.txt")
with open(path, "w") as out:
    out.write("\n".join(lines) + "\n")
