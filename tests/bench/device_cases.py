#!/usr/bin/env python3
"""Times the cases of `firn_bench --section large` in what else there is on this machine: PyTorch as it is written first, by
torch.compile, and JAX by jax.jit; products of matrices are cuBLAS's where PyTorch runs on CUDA.

usage: device_cases.py [--smaller N] [--seconds N] [--device NAME] [--only CASE]

Prints a line for each: case,contestant,milliseconds. A fourth field, `apart`, says that it computes something less exact than
the case asks for (tf32). Lines that begin with # say what is there and what is not, and which cases were not run. Runs on the
CUDA device whose name has NAME in it, else on the first one, else on the CPU.
"""
import argparse
import os
import sys
import time

RUNS_AT_MOST, SECONDS_OF_A_CASE = 20, 3


def say(text):
    print("# " + " ".join(str(text).split()), flush=True)


def sizes(smaller):
    """The numbers of large_cases() in large_bench.cpp, by the same names."""
    count = (256 << 20) >> (2 * smaller)
    streams = f"{count >> 18}_mib" if count >= 256 << 10 else f"{count >> 8}_kib"

    def side(full):
        return full >> smaller

    out = {f"{name}_{streams}": (name, count) for name in ("axpy", "chain", "sum")}
    for full in (4096, 8192):
        out[f"matmul_{side(full)}"] = ("matmul", side(full))
        out[f"matmul_{side(full)}_f16"] = ("matmul_f16", side(full))
    out[f"n_body_{side(262144)}"] = ("n_body", side(262144))
    out[f"perceptron_step_{side(4096)}"] = ("perceptron", side(8192), side(4096))
    out[f"attention_step_{side(4096)}"] = ("attention", side(4096), side(1024), min(16, side(1024) // 4))
    return out


class Torch:
    """PyTorch's forms. `make` gives {contestant: function}, and which of them are apart."""

    def __init__(self, wanted):
        import torch

        self.torch = torch
        self.compiles = int(torch.__version__.split(".")[0]) >= 2
        self.device, self.where = "cpu", "the CPU"
        if torch.cuda.is_available():
            names = [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())]
            mine = [k for k, name in enumerate(names) if wanted and (wanted in name or name in wanted)]
            at = mine[0] if mine else 0
            self.device, self.where = f"cuda:{at}", names[at]
            torch.cuda.set_device(at)
            if wanted and not mine:
                say(f"PyTorch has no device '{wanted}', and runs on {names[at]}")
        else:
            torch.set_num_threads(os.cpu_count() or 1)
        self.cuda = self.device != "cpu"
        say(f"PyTorch {torch.__version__} on {self.where}")
        if not self.compiles:
            say("torch.compile is not there: it came with PyTorch 2")

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def free(self):
        if self.cuda:
            self.torch.cuda.empty_cache()
        if self.compiles:
            import torch._dynamo

            torch._dynamo.reset()

    def tensor(self, *shape, scale=1.0):
        return (self.torch.rand(*shape, device=self.device) * 2 - 1) * scale

    def both(self, function):
        forms = {"torch": function}
        if self.compiles:
            forms["torch.compile"] = self.torch.compile(function)
        return forms, set()

    def make(self, kind, *n):
        return getattr(self, kind)(*n)

    def axpy(self, count):
        x, y = self.tensor(count), self.tensor(count)
        forms, apart = self.both(lambda: 1.5 * x + y)
        forms["torch in place"] = lambda out=self.torch.empty_like(x): self.torch.add(y, x, alpha=1.5, out=out)
        return forms, apart

    def chain(self, count):
        x, torch = self.tensor(count).abs() + 0.5, self.torch
        return self.both(lambda: torch.clamp(torch.clamp(torch.abs(x * 1.5 + 0.25) - x * x, min=-1.0) * x, max=2.0))

    def sum(self, count):
        x = self.tensor(count)
        return self.both(lambda: self.torch.sum(x))

    def matmul(self, n):
        a, b, torch = self.tensor(n, n), self.tensor(n, n), self.torch
        name = "cuBLAS" if self.cuda else "torch"

        def by(tf32):
            def run():
                torch.backends.cuda.matmul.allow_tf32 = tf32
                return a @ b

            return run

        forms = {f"{name} f32": by(False)}
        if self.cuda:
            forms[f"{name} tf32"] = by(True)
        return forms, {f"{name} tf32"}

    def matmul_f16(self, n):
        a, b = self.tensor(n, n).half(), self.tensor(n, n).half()
        self.torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False  # sums in f32, as Firn's
        return {"cuBLAS f16" if self.cuda else "torch f16": lambda: a @ b}, set()

    def n_body(self, count):
        """As many bodies at once as fit: all pairs at once are terabytes."""
        p, mass, torch = self.tensor(count, 3), self.tensor(count).abs(), self.torch
        own = max(1, (64 << 20) // count) if self.cuda else 32

        def pull():
            parts = []
            for first in range(0, count, own):
                away = p[None] - p[first : first + own, None]
                square = (away * away).sum(2) + 0.0025
                parts.append(((mass / (square * square.sqrt()))[..., None] * away).sum(1))
            return torch.cat(parts)

        def part(mine, all_bodies, masses):
            away = all_bodies[None] - mine[:, None]
            square = (away * away).sum(2) + 0.0025
            return ((masses / (square * square.sqrt()))[..., None] * away).sum(1)

        forms = {"torch": pull}
        if self.compiles:
            fast = torch.compile(part)
            forms["torch.compile"] = lambda: torch.cat([fast(p[f : f + own], p, mass) for f in range(0, count, own)])
        return forms, set()

    def step(self, loss, weights):
        torch = self.torch
        for each in weights:
            each.requires_grad_(True)

        def run(function):
            def step():
                value = function()
                gradients = torch.autograd.grad(value, weights)
                with torch.no_grad():
                    return [w - 0.5 * g for w, g in zip(weights, gradients)]

            return step

        torch.backends.cuda.matmul.allow_tf32 = False
        forms = {"torch": run(loss)}
        if self.compiles:
            forms["torch.compile"] = run(torch.compile(loss))
        return forms, set()

    def perceptron(self, batch, width):
        import torch.nn.functional as F

        a, b, c = (self.tensor(width, width, scale=(6 / width) ** 0.5) for _ in range(3))
        x, y = self.tensor(batch, width), self.tensor(batch, width)
        return self.step(lambda: F.mse_loss(F.relu(F.relu(x @ a) @ b) @ c, y), [a, b, c])

    def attention(self, tokens, width, heads):
        import torch.nn.functional as F

        project, out = self.tensor(width, 3 * width, scale=(3 / width) ** 0.5), self.tensor(width, width, scale=(3 / width) ** 0.5)
        x, y = self.tensor(tokens, width), self.tensor(tokens, width)

        def attend(q, k, v):
            if self.compiles:
                return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
            return self.torch.softmax(q @ k.transpose(1, 2) * (width // heads) ** -0.5, -1) @ v

        def loss():
            q, k, v = ((x @ project)[:, i * width : (i + 1) * width].reshape(tokens, heads, -1).transpose(0, 1) for i in range(3))
            return F.mse_loss(x + attend(q, k, v).transpose(0, 1).reshape(tokens, width) @ out, y)

        return self.step(loss, [project, out])


class Jax:
    """JAX's forms, by jax.jit."""

    def __init__(self, wanted):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        self.jax, self.jnp = jax, jax.numpy
        devices = jax.devices()
        mine = [d for d in devices if wanted and wanted in getattr(d, "device_kind", "")] or devices
        jax.config.update("jax_default_device", mine[0])
        self.exact = jax.lax.Precision.HIGHEST  # else products of f32 are those of tf32
        say(f"JAX {jax.__version__} on {getattr(mine[0], 'device_kind', mine[0])}")

    def wait(self):
        self.jax.block_until_ready(self.last)

    def free(self):
        self.last = None
        self.jax.clear_caches()

    def tensor(self, *shape, scale=1.0):
        self.seed = getattr(self, "seed", 0) + 1
        return self.jax.random.uniform(self.jax.random.PRNGKey(self.seed), shape, minval=-scale, maxval=scale)

    def form(self, function, *args):
        fast = self.jax.jit(function)

        def run():
            self.last = fast(*args)
            return self.last

        return {"JAX": run}, set()

    def make(self, kind, *n):
        return getattr(self, kind)(*n)

    def axpy(self, count):
        return self.form(lambda x, y: 1.5 * x + y, self.tensor(count), self.tensor(count))

    def chain(self, count):
        jnp = self.jnp
        return self.form(
            lambda x: jnp.minimum(jnp.maximum(jnp.abs(x * 1.5 + 0.25) - x * x, -1.0) * x, 2.0), self.tensor(count)
        )

    def sum(self, count):
        return self.form(self.jnp.sum, self.tensor(count))

    def product(self, a, b):
        return self.jnp.matmul(a, b, precision=self.exact)

    def matmul(self, n):
        return self.form(self.product, self.tensor(n, n), self.tensor(n, n))

    def matmul_f16(self, n):
        half = self.jnp.float16
        return self.form(self.jnp.matmul, self.tensor(n, n).astype(half), self.tensor(n, n).astype(half))

    def n_body(self, count):
        lax, jnp = self.jax.lax, self.jnp

        def pull(p, mass):
            def of(at):
                away = p - at
                square = (away * away).sum(1) + 0.0025
                return ((mass / (square * jnp.sqrt(square)))[:, None] * away).sum(0)

            return lax.map(self.jax.vmap(of), p.reshape(-1, min(count, 256), 3))

        return self.form(pull, self.tensor(count, 3), self.tensor(count))

    def step(self, loss, weights, *args):
        def run(weights, *args):
            gradients = self.jax.grad(loss)(weights, *args)
            return [w - 0.5 * g for w, g in zip(weights, gradients)]

        return self.form(run, weights, *args)

    def perceptron(self, batch, width):
        jnp, at = self.jnp, self.product

        def loss(w, x, y):
            h = jnp.maximum(at(jnp.maximum(at(x, w[0]), 0), w[1]), 0)
            return ((at(h, w[2]) - y) ** 2).mean()

        weights = [self.tensor(width, width, scale=(6 / width) ** 0.5) for _ in range(3)]
        return self.step(loss, weights, self.tensor(batch, width), self.tensor(batch, width))

    def attention(self, tokens, width, heads):
        jnp, at = self.jnp, self.product

        def loss(w, x, y):
            q, k, v = (jnp.swapaxes(part.reshape(tokens, heads, -1), 0, 1) for part in jnp.split(at(x, w[0]), 3, axis=1))
            scores = self.jax.nn.softmax(at(q, jnp.swapaxes(k, 1, 2)) * (width // heads) ** -0.5, axis=-1)
            joined = jnp.swapaxes(at(scores, v), 0, 1).reshape(tokens, width)
            return ((x + at(joined, w[1]) - y) ** 2).mean()

        weights = [self.tensor(width, 3 * width, scale=(3 / width) ** 0.5), self.tensor(width, width, scale=(3 / width) ** 0.5)]
        return self.step(loss, weights, self.tensor(tokens, width), self.tensor(tokens, width))


def median_ms(run, wait):
    """Runs of a row share the wait for their end, as in firn_bench."""
    run(), wait()
    begin = time.perf_counter()
    run(), wait()
    once = time.perf_counter() - begin
    together = max(1, min(100, int(0.05 / max(once, 1e-5))))
    times, end = [once], time.perf_counter() + SECONDS_OF_A_CASE
    while len(times) < RUNS_AT_MOST and time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(together):
            run()
        wait()
        times.append((time.perf_counter() - begin) / together)
    return sorted(times)[len(times) // 2] * 1e3


def measure(side, case, kind):
    """One case by one library. What one of its forms cannot do, the others may."""
    try:
        forms, apart = side.make(*kind)
    except Exception as error:  # too little memory, or a library that lacks something
        say(f"{case}: {type(side).__name__} fails ({str(error)[:200]})")
        return
    for contestant, run in forms.items():
        try:
            ms = median_ms(run, side.wait)
            print(f"{case},{contestant},{ms:.4f}" + (",apart" if contestant in apart else ""), flush=True)
        except Exception as error:
            say(f"{case}: {contestant} fails ({str(error)[:200]})")
    forms.clear()
    try:
        side.free()
    except Exception as error:
        say(f"{type(side).__name__} frees nothing ({str(error)[:200]})")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--smaller", type=int, default=0)
    options.add_argument("--seconds", type=float, default=0)
    options.add_argument("--device", default="")
    options.add_argument("--only", default="")
    given = options.parse_args()
    begin, sides = time.perf_counter(), []
    for library, make in (("PyTorch", Torch), ("JAX", Jax)):
        try:
            sides.append(make(given.device))
        except Exception as error:
            say(f"{library} is not there: {str(error)[:200]}")
    left = []
    for case, kind in sizes(given.smaller).items():
        if given.only and not case.startswith(given.only):
            continue
        for side in sides:
            if given.seconds and time.perf_counter() - begin > given.seconds:
                left.append(f"{case} by {type(side).__name__}")
            else:
                measure(side, case, kind)
    if left:
        say("not run, no time was left: " + ", ".join(left))


main()
