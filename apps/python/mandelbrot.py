"""The Mandelbrot set: drag to move, the wheel zooms; a view that stays gets sharper."""

import math

import firn as fn

FAR = 256.0  # where a point counts as escaped; larger is smoother

app = fn.App("mandelbrot", help="The Mandelbrot set: drag to move, the wheel zooms.", headless_frames=16)
x = app.param("x", -0.7454, min=-2.5, max=1.5, help="x of the centre")
y = app.param("y", 0.1316, min=-1.5, max=1.5, help="y of the centre")
zoom = app.param("zoom", 8.5, min=-1, max=14, help="zoom in powers of two; f32 is exact up to about 14")
limit = app.param("limit", 400, min=16, max=4000, help="iterations after which a point counts as inside")
power = app.param("power", 2, min=2, max=9, help="power in z -> z^power + c")


def power_of(z, n):
    """A complex number to the power of n, by squares and products."""
    if n == 1:
        return z
    half = power_of(z, n // 2)
    squared = fn.vec2(half.x * half.x - half.y * half.y, 2 * half.x * half.y)
    if n % 2 == 0:
        return squared
    return fn.vec2(squared.x * z.x - squared.y * z.y, squared.x * z.y + squared.y * z.x)


@fn.function
def escape_time(c, limit, power):
    """Iterations until z -> z^power + c leaves the circle, with a fraction that makes it smooth; 0 inside."""
    z, steps = c, 0.0
    for _ in fn.range(fn.min(limit, 20000)):
        if fn.dot(z, z) > FAR:
            break
        z = power_of(z, power) + c
        steps += 1.0
    far = fn.dot(z, z)
    beyond = fn.log2(0.5 * fn.log2(fn.max(far, FAR)))
    return fn.select(far > FAR, steps + 2 - beyond / math.log2(power), 0.0)


def palette(time):
    """Deep blue, white and gold in alternation; the set itself is black."""
    phase = 0.25 + 0.5 * fn.log2(time + 2)
    waves = [0.5 - 0.5 * fn.cos(2 * math.pi * (phase - shift)) for shift in (0.0, 0.10, 0.22)]
    return fn.stack([fn.select(time > 0, wave * (0.35 + 0.65 * wave), 0.0) for wave in waves], axis=2)


# The power is part of the program: another one is compiled while this one draws on.
@fn.structural(power)
def add_sample(power):
    @fn.compile
    def sample(total: fn.f32["h", "w", 3], x: fn.f32, y: fn.f32, scale: fn.f32, limit: fn.i32, frame: fn.f32):
        """Adds one sample of every pixel, each frame somewhere else inside it."""
        h, w, _ = total.shape
        i, j = fn.indices((h, w))
        di, dj = fn.frac(frame * 0.7548777), fn.frac(frame * 0.5698403)
        c = fn.vec2(x + scale * (j + dj - 0.5 * w), y - scale * (i + di - 0.5 * h))
        return total + palette(escape_time(c, limit, power))

    return sample


def move(window):
    """Follows the mouse; returns the size of a pixel."""
    mouse = window.mouse()
    width, height = window.pixels()
    scale = 3 * 2**-zoom / height
    if mouse.left.down:
        x.value -= scale * mouse.dj
        y.value += scale * mouse.di
    if mouse.inside and mouse.wheel:
        before = scale
        zoom.value += 0.25 * mouse.wheel
        scale = 3 * 2**-zoom / height
        x.value += (before - scale) * (mouse.j - 0.5 * width)  # the point under the mouse stays there
        y.value -= (before - scale) * (mouse.i - 0.5 * height)
    return scale


@app.run
def main(window):
    shown, samples = None, 0
    while window.open():
        scale = move(window)
        width, height = window.pixels()
        view = x.value, y.value, zoom.value, limit.value, width, height, power.value, add_sample.compiling
        if window.reset() or view != shown:
            total, samples, shown = fn.zeros((height, width, 3)), 0, view
        if window.playing() or samples == 0:
            total = add_sample(total, x, y, scale, limit, samples)
            samples += 1
        window.show(total / samples)
