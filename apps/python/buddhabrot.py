"""The Buddhabrot: the orbits of points that leave the Mandelbrot set, gathered over many frames."""

import firn as fn

ORBITS, TRIES, PART = 8192, 64, 16  # per frame; per orbit; steps at once

app = fn.App("buddhabrot", help="The density of orbits that escape from the Mandelbrot set.", size=(1000, 1000))
limit = app.param("limit", 720, min=50, max=900, help="iterations of the longest orbits")
exposure = app.param("exposure", 1.0, min=0.1, max=10, log=True)


def step(z, c):
    return fn.vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c


def gone(z):
    return fn.dot(z, z) > 16


@fn.function
def find_starts(seed, limit):
    """The first random points whose orbits leave before the limit, and the iterations that they take; 0: none."""
    c = fn.vec2(fn.zeros(ORBITS))
    iterations = fn.zeros(ORBITS, fn.i32)
    random = fn.Generator(fn.arange(ORBITS), seed)
    for _ in fn.range(TRIES):
        c = fn.vec2(4 * random.uniform() - 2.5, 3 * random.uniform() - 1.5)
        z = c
        iterations = fn.zeros(ORBITS, fn.i32)
        for _ in fn.range(fn.min(limit, 900)):
            z = step(z, c)
            iterations += 1
            if gone(z):
                break
        iterations = fn.select(gone(z) & (iterations > 5), iterations, 0)
        if iterations > 0:
            break
    return c, iterations


@fn.compile
def gather(hits: fn.f32["h", "w", 3], limit: fn.i32, parts: fn.i32, seed: fn.i32):
    """Adds orbits to three layers: of short, longer and the longest ones."""
    h, w, _ = hits.shape
    c, iterations = find_starts(seed, limit)
    z = c
    n, k = fn.indices((ORBITS, PART))
    c_n, last = fn.vec2(c.x[n], c.y[n]), iterations[n]
    layer = (last > limit // 40).astype(fn.i32) + (last > limit // 6).astype(fn.i32)
    scale = h / 3
    for part in fn.range(parts):
        at = fn.vec2(z.x[n], z.y[n])
        for t in fn.range(PART):
            if t < k:
                at = step(at, c_n)
        # The picture stands upright: the real axis goes down.
        i = fn.floor((at.x + 2.05) * scale).astype(fn.i32)
        j = fn.floor(at.y * scale + 0.5 * w).astype(fn.i32)
        if part * PART + k < last:
            fn.scatter_add(hits, (i, j, layer), 1.0)
        for t in fn.range(PART):
            z = step(z, c)
    return hits


@fn.compile
def develop(hits: fn.f32["h", "w", 3], exposure: fn.f32):
    light = 0.3 * exposure * hits / (fn.mean(hits, axis=(0, 1)) + 1e-6)
    x = light @ fn.tensor([[0.04, 0.10, 0.34], [0.03, 0.22, 0.20], [0.60, 0.30, 0.09]])  # colours of the layers
    return fn.sqrt(x * (x + 0.6) / (x * (x + 0.9) + 1))


@app.run
def main(window):
    shown = None
    for frame in window:
        view = limit.value, window.pixels()
        anew = window.reset() or view != shown
        if anew:
            shown = view
            hits = fn.zeros((window.pixels().height, window.pixels().width, 3))
        if anew or window.playing():
            hits = gather(hits, limit, limit // PART + 1, app.seed() + frame)
        window.show(develop(hits, exposure))
