"""Waves on a membrane: one fused kernel per step, shown straight from device memory."""

import firn as fn

app = fn.App("wave", help="Waves on a membrane.", headless_frames=400)
dt = app.param("dt", 0.4, min=0, max=0.5, help="time step")


# Shapes may be symbolic: one compiled program serves every n, m.
@fn.compile
def wave(u: fn.f32["n", "m"], v: fn.f32["n", "m"], dt: fn.f32):
    i, j = fn.indices(u.shape)
    v = v + dt * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u)
    return u + dt * v, v


def start(width, height):
    i, j = fn.indices((height, width))
    drop = fn.exp(-0.01 * (fn.square(i - height // 2) + fn.square(j - width // 2)))
    return drop, fn.zeros((height, width))


@app.run
def main(window):
    u, v = start(*window.size())
    while window.open():
        if window.reset():  # fits another size of the window
            u, v = start(*window.size())
        if window.playing():  # a pause stops time, and nothing else
            u, v = wave(u, v, dt)  # dt is an argument: a change compiles nothing
        window.show(u, fn.colormap.viridis)
