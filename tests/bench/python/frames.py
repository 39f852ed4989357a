#!/usr/bin/python3
"""Frames a second of small frame loops in Firn beside PyTorch and TensorFrost, in turns.

usage: PYTHONPATH=build/python frames.py [ROUNDS]

Each side is a process of its own, which lives all the time and has all processors; a round measures half a second of
frames on each, one side after the other, and reads a value at its end. The table has the medians of the rounds. Before
that the states after 20 frames are compared. A side that is not installed is left out, and named: PyTorch is Debian's
python3-torch, TensorFrost is found by PYTHONPATH. PyTorch runs each loop as it is written and by torch.jit.trace, both
with one thread and with one for each processor, and the fastest counts. Products of PyTorch are those of the BLAS that
the system has: libopenblas0-pthread is the fast one of Debian's.
"""
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SIDES = ("firn", "torch", "tensorfrost")
SIZE = 256  # of the grids
BODIES = 1024
BATCH, INPUTS, HIDDEN, OUTPUTS = 64, 784, 64, 10


# ---- the states that all sides begin with ----


def wave_start():
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype("f4")
    return [np.exp(-0.01 * ((x - 100) ** 2 + (y - 128) ** 2)).astype("f4"), np.zeros((SIZE, SIZE), "f4")]


def reaction_start():
    a, b = np.ones((SIZE, SIZE), "f4"), np.zeros((SIZE, SIZE), "f4")
    b[100:140, 90:150] = 0.5
    a[100:140, 90:150] = 0.5
    return [a, b]


def bodies_start():
    random = np.random.default_rng(1)
    return [random.normal(size=(BODIES, 3)).astype("f4"), np.zeros((BODIES, 3), "f4")]


def perceptron_start():
    random = np.random.default_rng(2)
    shapes = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, OUTPUTS), (OUTPUTS,)]
    return [(0.05 * random.normal(size=shape)).astype("f4") for shape in shapes]


def perceptron_data():
    random = np.random.default_rng(3)
    return [random.random((BATCH, INPUTS), "f4"), random.random((BATCH, OUTPUTS), "f4")]


CASES = {
    "wave": (f"wave, {SIZE} x {SIZE}", wave_start),
    "reaction": (f"reaction and diffusion, {SIZE} x {SIZE}", reaction_start),
    "bodies": (f"gravity, {BODIES} bodies", bodies_start),
    "perceptron": (f"perceptron, {INPUTS}-{HIDDEN}-{OUTPUTS}, batch of {BATCH}, a step", perceptron_start),
}


# ---- the sides: their ways, each {case: step}; what makes tensors and arrays; what ends a warm-up; what begins a way ----


def firn_side():
    import firn as fn

    def laplacian(u):
        i, j = fn.indices(u.shape)
        return u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u

    grid, bodies = fn.f32("n", "m"), fn.f32("n", 3)

    @fn.compile(grid, grid)
    def wave(u, v):
        v = v + 0.1 * laplacian(u)
        return u + 0.1 * v, v

    @fn.compile(grid, grid)
    def reaction(a, b):
        rate = a * b * b
        return a + 0.2 * laplacian(a) - rate + 0.04 * (1 - a), b + 0.1 * laplacian(b) + rate - 0.1 * b

    @fn.compile(bodies, bodies)
    def gravity(x, v):
        d = x[None, :, :] - x[:, None, :]
        near = fn.sum(d * d, axis=2) + 0.01
        v = v + 0.00001 * fn.sum(d * (near**-1.5)[:, :, None], axis=1)
        return x + 0.01 * v, v

    @fn.compile(*(fn.f32(*each.shape) for each in perceptron_start() + perceptron_data()))
    def learn(w1, b1, w2, b2, x, t):
        y = fn.tanh(x @ w1 + b1) @ w2 + b2
        weights = [w1, b1, w2, b2]
        slopes = fn.grad(fn.mean(fn.square(y - t)), weights)
        return [w - 0.1 * slope for w, slope in zip(weights, slopes)]

    x, t = (fn.tensor(each) for each in perceptron_data())
    steps = {
        "wave": lambda u, v: wave(fn.donate(u), fn.donate(v)),
        "reaction": lambda a, b: reaction(fn.donate(a), fn.donate(b)),
        "bodies": lambda p, v: gravity(fn.donate(p), fn.donate(v)),
        "perceptron": lambda *weights: learn(*(fn.donate(w) for w in weights), x, t),
    }

    def finish():
        wave.finish_compiling()

    return [steps], fn.tensor, lambda x: x.numpy(), finish, lambda way: None


def torch_side():
    import torch

    def laplacian(u):
        p = torch.nn.functional.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u

    def wave(u, v):
        v = v + 0.1 * laplacian(u)
        return u + 0.1 * v, v

    def reaction(a, b):
        rate = a * b * b
        return a + 0.2 * laplacian(a) - rate + 0.04 * (1 - a), b + 0.1 * laplacian(b) + rate - 0.1 * b

    def gravity(x, v):
        d = x[None, :, :] - x[:, None, :]
        near = torch.sum(d * d, dim=2) + 0.01
        v = v + 0.00001 * torch.sum(d * (near**-1.5)[:, :, None], dim=1)
        return x + 0.01 * v, v

    x, t = (torch.from_numpy(each) for each in perceptron_data())

    def learner(loss_of):
        def learn(*weights):
            weights = [w.requires_grad_() for w in weights]
            slopes = torch.autograd.grad(loss_of(x, t, *weights), weights)
            with torch.no_grad():
                return [w.sub_(slope, alpha=0.1) for w, slope in zip(weights, slopes)]

        return learn

    def loss(x, t, w1, b1, w2, b2):
        return torch.mean(torch.square(torch.tanh(x @ w1 + b1) @ w2 + b2 - t))

    def traced(function, *arguments):
        return torch.jit.trace(function, [torch.from_numpy(each) for each in arguments])

    as_written = {"wave": wave, "reaction": reaction, "bodies": gravity, "perceptron": learner(loss)}
    by_trace = {
        "wave": traced(wave, *wave_start()),
        "reaction": traced(reaction, *reaction_start()),
        "bodies": traced(gravity, *bodies_start()),
        "perceptron": learner(traced(loss, *perceptron_data(), *perceptron_start())),
    }
    torch.set_flush_denormal(True)
    ways = [as_written, by_trace, as_written, by_trace]

    def begin(way):
        torch.set_num_threads(1 if way < 2 else os.cpu_count())

    return ways, lambda a: torch.from_numpy(a.copy()), lambda x: x.detach().numpy(), lambda: None, begin


def tensorfrost_side():
    import TensorFrost as tf

    tf.initialize(tf.cpu, "-O3 -march=native -ffast-math -fopenmp")

    def laplacian(u):
        i, j = u.indices
        return u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - u * 4.0

    def wave():
        u = tf.input([-1, -1], tf.float32)
        v = tf.input(u.shape, tf.float32)
        v = v + 0.1 * laplacian(u)
        return u + 0.1 * v, v

    def reaction():
        a = tf.input([-1, -1], tf.float32)
        b = tf.input(a.shape, tf.float32)
        rate = a * b * b
        return a + 0.2 * laplacian(a) - rate + 0.04 * (1.0 - a), b + 0.1 * laplacian(b) + rate - 0.1 * b

    def gravity():
        x = tf.input([-1, 3], tf.float32)
        n = x.shape[0]
        v = tf.input([n, 3], tf.float32)
        i, j, k = tf.indices([n, n, 3])
        d = x[j, k] - x[i, k]
        near = tf.sum(d * d) + 0.01
        near = near * tf.sqrt(near)
        v = v + 0.00001 * tf.sum(d / tf.unsqueeze(near), axis=1)
        return x + 0.01 * v, v

    def learn():
        w1 = tf.input([INPUTS, HIDDEN], tf.float32)
        b1 = tf.input([HIDDEN], tf.float32)
        w2 = tf.input([HIDDEN, OUTPUTS], tf.float32)
        b2 = tf.input([OUTPUTS], tf.float32)
        x = tf.input([BATCH, INPUTS], tf.float32)
        t = tf.input([BATCH, OUTPUTS], tf.float32)
        h = tf.tanh(x @ w1 + b1)
        dy = (h @ w2 + b2 - t) * (2.0 / (BATCH * OUTPUTS))
        dh = (dy @ tf.transpose(w2)) * (1.0 - h * h)
        # By hand: its tf.grad of this loss ends in an error of its fusion (0.7.4).
        slopes = [tf.transpose(x) @ dh, tf.sum(dh, axis=0), tf.transpose(h) @ dy, tf.sum(dy, axis=0)]
        return [w - 0.1 * slope for w, slope in zip((w1, b1, w2, b2), slopes)]

    data = [tf.tensor(each) for each in perceptron_data()]
    steps = {"wave": tf.compile(wave), "reaction": tf.compile(reaction), "bodies": tf.compile(gravity)}
    program = tf.compile(learn)
    steps["perceptron"] = lambda *weights: program(*weights, *data)
    return [steps], tf.tensor, lambda x: x.numpy, lambda: None, lambda way: None


# ---- one process a side ----


def serve(side):
    """Answers on stdout: `ready WAYS`, then for each `CASE WAY SECONDS` its frames a second, and for `CASE WAY` a file."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print
    try:
        ways, tensor, array, finish, start = globals()[side + "_side"]()
    except ImportError as error:
        print("absent", str(error).replace("\n", " "), file=out, flush=True)
        return
    print("ready", len(ways), file=out, flush=True)
    states = {}
    for line in sys.stdin:
        name, way, what = line.split()
        step = ways[int(way)][name]
        start(int(way))
        if what.endswith(".npz"):
            state = [tensor(each) for each in CASES[name][1]()]
            for _ in range(20):
                state = step(*state)
            np.savez(what, *(array(each) for each in state))
            finish()
            states[name, way] = state
            print(0, file=out, flush=True)
            continue
        state, count, begin = states[name, way], 0, time.perf_counter()
        while time.perf_counter() < begin + float(what):
            for _ in range(10):
                state = step(*state)
            array(state[0])
            count += 10
        states[name, way] = state
        print(count / (time.perf_counter() - begin), file=out, flush=True)


class Side:
    def __init__(self, name):
        words = [sys.executable, __file__, "--side", name]
        self.program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        word, rest = self.program.stdout.readline().strip().split(" ", 1)
        self.ways = int(rest) if word == "ready" else 0
        if not self.ways:
            print(f"{name} is not installed: {rest}")

    def ask(self, *words):
        print(*words, file=self.program.stdin, flush=True)
        return float(self.program.stdout.readline())


def compare(name, sides, folder):
    """Raises AssertionError where a state after 20 frames differs from Firn's by more than rounding."""
    states = []
    for side, process in sides.items():
        for way in range(process.ways):
            file = f"{folder}/{side}_{way}.npz"
            process.ask(name, way, file)
            states.append([*np.load(file).values()])
    for other in states[1:]:
        for a, b in zip(states[0], other):
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


def main():
    import tempfile

    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    sides = {name: Side(name) for name in SIDES}
    sides = {name: process for name, process in sides.items() if process.ways}
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print("| frames a second | " + " | ".join(sides) + " | Firn / the best other |")
    print("|---" * (len(sides) + 2) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (title, _) in CASES.items():
            compare(name, sides, folder)
            taken = {(side, way): [] for side, process in sides.items() for way in range(process.ways)}
            for _ in range(rounds):
                for (side, way), rates in taken.items():
                    rates.append(sides[side].ask(name, way, 0.5))
            best = {side: max(statistics.median(taken[side, way]) for way in range(process.ways)) for side, process in sides.items()}
            others = [rate for side, rate in best.items() if side != "firn"]
            ratio = f"{best['firn'] / max(others):.2f}" if others else ""
            print(f"| {title} | " + " | ".join(f"{rate:.0f}" for rate in best.values()) + f" | {ratio} |", flush=True)


if sys.argv[1:2] == ["--side"]:
    serve(sys.argv[2])
else:
    main()
