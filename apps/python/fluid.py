"""Ink in water: incompressible flow around obstacles, stirred by the mouse.

The velocity is on a staggered grid: u in the middle of the left side of each cell, v in the middle of the upper side.
"""

import math
import pathlib
import typing

import firn as fn

PICTURE = pathlib.Path(__file__).parents[2] / "assets/fluid.png"
CALM = 0.5  # gradients of the curl well below this are noise, which confinement leaves alone

app = fn.App("fluid", help="Ink in water around obstacles: drag to push it.", headless_frames=240)
field = app.param("field", ["dye", "speed", "pressure", "vorticity"], help="field that is shown")
dt = app.param("dt", 1 / 60, min=0, max=0.05, unit="s", help="time step")
confinement = app.param("confinement", 2.0, min=0, max=30, help="vorticity confinement: keeps vortices alive")
velocity_loss = app.param("velocity_loss", 0.05, min=0, max=0.9, help="share of the velocity that is lost per second")
dye_loss = app.param("dye_loss", 0.02, min=0, max=0.9, help="share of the dye that is lost per second")
cycles = app.param("cycles", 2, min=0, max=8, help="multigrid cycles of the pressure solve")
sweeps = app.param("sweeps", 3, min=1, max=8, help="smoothing sweeps of the finest level")
radius = app.param("radius", 25.0, min=2, max=120, unit="cells", group="Brush")
ink = app.param("ink", 0.4, min=0, max=1, group="Brush", help="amount of dye that the brush adds")
script = app.param("script", True, help="plays a fixed stroke of the brush, until the mouse takes over")
stats = app.param("stats", False, help="print the divergence before and after the projection")


class Flow(typing.NamedTuple):
    u: fn.Tensor  # cells per second, f32[n, m] as all of these
    v: fn.Tensor
    pressure: fn.Tensor  # times dt
    dye: tuple  # red, green and blue


class Stroke(typing.NamedTuple):
    """A push along a line, in cells and cells per second."""

    line: tuple = (0.0, 0.0, 0.0, 0.0)  # from y, x to y, x
    radius: float = 1.0
    u: float = 0.0
    v: float = 0.0
    strength: float = 0.0
    ink: float = 0.0
    colour: tuple = (0.0, 0.0, 0.0)


class Level(typing.NamedTuple):
    """How open the left and the upper side of each cell are."""

    left: fn.Tensor
    upper: fn.Tensor


# ---- the pressure: multigrid cycles, which smooth on the way up ----


def pyramid(open_):
    i, j = fn.indices(open_.shape)
    levels = [Level(open_ * fn.zero(open_)[i, j - 1], open_ * fn.zero(open_)[i - 1, j])]
    while min(levels[-1].left.shape) > 3:
        left, upper = fn.zero(levels[-1].left), fn.zero(levels[-1].upper)
        i, j = fn.indices([(side + 1) // 2 for side in levels[-1].left.shape])
        coarse_left = 0.5 * (left[2 * i, 2 * j] + left[2 * i + 1, 2 * j])
        coarse_upper = 0.5 * (upper[2 * i, 2 * j] + upper[2 * i, 2 * j + 1])
        levels.append(Level(coarse_left, coarse_upper))
    return levels


def around(level, pressure):
    """The pressure of the neighbours summed through open sides, and how much of these is open."""
    i, j = fn.indices(pressure.shape)
    left, upper = level
    right, lower = fn.zero(left)[i, j + 1], fn.zero(upper)[i + 1, j]
    total = left * pressure[i, j - 1] + right * pressure[i, j + 1] + upper * pressure[i - 1, j]
    return total + lower * pressure[i + 1, j], left + right + upper + lower


@fn.function
def smooth(level, pressure, source, sweeps):
    """Jacobi sweeps whose weights together are a Chebyshev polynomial for most of the spectrum."""
    for sweep in fn.range(sweeps):
        total, openness = around(level, pressure)
        change = total - source - openness * pressure
        weight = 1 / (1.23 + 0.77 * fn.cos(math.pi * (sweep + 0.5) / sweeps))
        pressure = pressure + weight * change / fn.max(openness, 0.25)
    return pressure


def restricted(fine, coarse):
    """The sum of the four cells below each coarse one."""
    i, j = fn.indices(coarse.left.shape)
    read = fn.zero(fine)
    return read[2 * i, 2 * j] + read[2 * i, 2 * j + 1] + read[2 * i + 1, 2 * j] + read[2 * i + 1, 2 * j + 1]


def prolonged(error, coarse, fine):
    """Linear from the coarse cell of each cell towards its nearest two, as far as the way is open."""
    i, j = fn.indices(fine.left.shape)
    y, x, down, right = i // 2, j // 2, i % 2, j % 2
    read, upper, left = fn.zero(error), fn.zero(coarse.upper), fn.zero(coarse.left)
    here = error[y, x]
    along_y = upper[y + down, x] * (read[y + 2 * down - 1, x] - here)
    along_x = left[y, x + right] * (read[y, x + 2 * right - 1] - here)
    return here + 0.25 * (along_y + along_x)


def corrected(levels, depth, pressure, residual, source, sweeps):
    """The pressure, corrected by the levels below and smoothed."""
    level, coarse = levels[depth], levels[depth + 1]
    below = restricted(residual, coarse)
    error = fn.zeros(below.shape)
    if depth + 2 == len(levels):
        error = smooth(coarse, error, below, 2 * sweeps)
    else:
        error = corrected(levels, depth + 1, error, below, below, sweeps)
    if depth == 1:  # the levels below are cheap, and twice converges twice as fast
        error = cycle(levels, 2, error, below, sweeps)
    pressure = pressure + 1.04 * prolonged(error, coarse, level)
    return smooth(level, pressure, source, sweeps if depth < 2 else fn.max(sweeps - 1, 1))


def cycle(levels, depth, pressure, source, sweeps):
    if depth + 1 >= len(levels):
        return smooth(levels[-1], pressure, source, 2 * sweeps)
    total, openness = around(levels[depth], pressure)
    return corrected(levels, depth, pressure, source - total + openness * pressure, source, sweeps)


# ---- sampling between the elements of a field ----


def bilinear(read, y, x):
    top, left = fn.floor(y), fn.floor(x)
    i, j, s, t = top.astype(fn.i32), left.astype(fn.i32), y - top, x - left
    return fn.mix(fn.mix(read[i, j], read[i, j + 1], t), fn.mix(read[i + 1, j], read[i + 1, j + 1], t), s)


def catmull_rom(t):
    """The weights of four elements in a row, t behind the second."""
    return (
        t * (t * (1 - 0.5 * t) - 0.5),
        1 + t * t * (1.5 * t - 2.5),
        t * (0.5 + t * (2 - 1.5 * t)),
        t * t * (0.5 * t - 0.5),
    )


def bicubic(read, y, x):
    """A spline through the nearest sixteen elements, kept within the range of the nearest four."""
    top, left = fn.floor(y), fn.floor(x)
    i, j = top.astype(fn.i32), left.astype(fn.i32)
    of = [[read[i + a, j + b] for b in range(-1, 3)] for a in range(-1, 3)]
    down, across = catmull_rom(y - top), catmull_rom(x - left)
    rows = [sum(weight * value for weight, value in zip(across, row)) for row in of]
    value = sum(weight * row for weight, row in zip(down, rows))
    a, b, c, d = of[1][1], of[1][2], of[2][1], of[2][2]
    low, high = fn.min(fn.min(a, b), fn.min(c, d)), fn.max(fn.max(a, b), fn.max(c, d))
    return fn.clamp(value, low, high)


# ---- a step ----


def divergence(u, v):
    i, j = fn.indices(u.shape)
    return fn.zero(u)[i, j + 1] - u + fn.zero(v)[i + 1, j] - v


def vorticity(u, v, open_):
    """The curl at the upper left corner of every cell; 0 where an obstacle or the border touches it."""
    i, j = fn.indices(u.shape)
    inside = fn.zero(open_)
    all_open = inside[i, j] * inside[i - 1, j] * inside[i, j - 1] * inside[i - 1, j - 1]
    return all_open * (v - v[i, j - 1] - u + u[i - 1, j])


def speed(u, v):
    """In the middle of every cell."""
    i, j = fn.indices(u.shape)
    x, y = 0.5 * (u + fn.zero(u)[i, j + 1]), 0.5 * (v + fn.zero(v)[i + 1, j])
    return fn.sqrt(x * x + y * y)


def trace_back(u, v, y, x, v0, u0, dt):
    """Where the fluid at (y, x) was before, by the classical Runge-Kutta method."""

    def velocity(y, x):
        return bilinear(fn.zero(v), y, x - 0.5), bilinear(fn.zero(u), y - 0.5, x)

    v1, u1 = velocity(y - 0.5 * dt * v0, x - 0.5 * dt * u0)
    v2, u2 = velocity(y - 0.5 * dt * v1, x - 0.5 * dt * u1)
    v3, u3 = velocity(y - dt * v2, x - dt * u2)
    return y - dt / 6 * (v0 + 2 * (v1 + v2) + v3), x - dt / 6 * (u0 + 2 * (u1 + u2) + u3)


def confining(curl, confinement):
    """Forces across the gradient of |curl| on u and v, towards the middle of each whirl."""
    i, j = fn.indices(curl.shape)

    def strength(down, right):
        return fn.abs(curl[i + down, j + right])

    def share(y, x):
        return fn.sqrt(y * y + x * x) + CALM

    # Gradients between means of two do not see, and feed, ripples of one cell.
    y = 0.25 * (strength(2, 0) + strength(1, 0) - strength(0, 0) - strength(-1, 0))
    x = 0.25 * (strength(0, 1) - strength(0, -1) + strength(1, 1) - strength(1, -1))
    push_u = confinement * y / share(y, x) * 0.5 * (curl + curl[i + 1, j])
    y = 0.25 * (strength(1, 0) - strength(-1, 0) + strength(1, 1) - strength(-1, 1))
    x = 0.25 * (strength(0, 2) + strength(0, 1) - strength(0, 0) - strength(0, -1))
    return push_u, -confinement * x / share(y, x) * 0.5 * (curl + curl[i, j + 1])


def make_step(open_):
    """The step for a fluid between these obstacles; what the multigrid makes of them is computed once."""
    levels = pyramid(open_)

    @fn.jit
    def step(flow, stroke, dt, confinement, velocity_kept, dye_kept, cycles, sweeps):
        u, v, pressure, dye = flow
        i, j = fn.indices(u.shape)
        y, x = i.astype(fn.f32), j.astype(fn.f32)

        def brushed(value, to, strength, y, x):
            away = fn.squared_distance(y, x, stroke.line)
            return fn.mix(value, to, strength * fn.exp(-away / (stroke.radius * stroke.radius)))

        # Every quantity comes from where its place was before; the way of a side is between those of its two cells.
        in_middle = 0.5 * (v + fn.zero(v)[i + 1, j]), 0.5 * (u + fn.zero(u)[i, j + 1])
        from_y, from_x = trace_back(u, v, y + 0.5, x + 0.5, *in_middle, dt)
        way_y, way_x = from_y - y - 0.5, from_x - x - 0.5
        push_u, push_v = confining(vorticity(u, v, open_), confinement)
        side_y, side_x = (0.5 * (way + way[i, j - 1]) for way in (way_y, way_x))
        moved_u = bicubic(fn.zero(u), y + side_y, x + side_x) * velocity_kept + dt * push_u
        side_y, side_x = (0.5 * (way + way[i - 1, j]) for way in (way_y, way_x))
        moved_v = bicubic(fn.zero(v), y + side_y, x + side_x) * velocity_kept + dt * push_v
        moved_u = levels[0].left * brushed(moved_u, stroke.u, stroke.strength, y + 0.5, x)
        moved_v = levels[0].upper * brushed(moved_v, stroke.v, stroke.strength, y, x + 0.5)
        moved_dye = tuple(
            brushed(bicubic(each, from_y - 0.5, from_x - 0.5) * dye_kept, colour, stroke.ink, y + 0.5, x + 0.5)
            for each, colour in zip(dye, stroke.colour)
        )

        # The pressure whose gradient takes the divergence away, starting from that of the step before.
        before = divergence(moved_u, moved_v)
        for _ in fn.range(cycles):
            pressure = cycle(levels, 0, pressure, before, sweeps)
        free_u = moved_u - levels[0].left * (pressure - pressure[i, j - 1])
        free_v = moved_v - levels[0].upper * (pressure - pressure[i - 1, j])
        return Flow(free_u, free_v, pressure, moved_dye), before

    return step


# ---- the program ----


def obstacles(n, m):
    """Two discs and a slanted bar: 0 inside them, 1 where the fluid is."""
    unit = min(n, m)
    i, j = fn.indices((n, m))
    y, x = (i - 0.5 * n) / unit, (j - 0.5 * m) / unit

    def disc(cy, cx, radius):
        return fn.square(y - cy) + fn.square(x - cx) < radius * radius

    along, across = 0.94 * x + 0.34 * (y - 0.28), 0.94 * (y - 0.28) - 0.34 * x
    bar = (fn.abs(along) < 0.16) & (fn.abs(across) < 0.018)
    return fn.select(disc(-0.12, -0.42, 0.09) | disc(-0.05, 0.45, 0.11) | bar, 0.0, 1.0)


def ink_colour(turn):
    inks = [(0.95, 0.38, 0.27), (0.98, 0.72, 0.28), (0.97, 0.94, 0.88), (0.25, 0.72, 0.70), (0.80, 0.28, 0.55)]
    place = turn % 1 * len(inks)
    first, second = inks[int(place)], inks[(int(place) + 1) % len(inks)]
    return tuple(a + (b - a) * (place % 1) for a, b in zip(first, second))


def scripted(frame, n, m):
    """The stroke of a run that drives itself: two loops of different speed and changing colour."""
    time, per_second = frame * dt.value, 1 / max(dt.value, 1e-6)

    def place(time):
        return (0.5 + 0.30 * math.sin(2.3 * time + 0.6)) * n, (0.5 + 0.38 * math.sin(1.6 * time - 0.9)) * m

    (y0, x0), (y1, x1) = place(time), place(time + dt.value)
    u, v = (x1 - x0) * per_second, (y1 - y0) * per_second
    return Stroke((y0, x0, y1, x1), 0.04 * min(n, m), u, v, 0.5, 0.25, ink_colour(0.13 * time))


def stroke_of(mouse, frame):
    """The left button pushes along its path, in colours that change as it moves."""
    if not mouse.left.down:
        return Stroke()
    per_second = 1 / max(dt.value, 1e-6)
    u, v = mouse.dj * per_second, mouse.di * per_second
    return Stroke(fn.stroke_of(mouse), radius.value, u, v, 0.6, ink.value, ink_colour(0.004 * frame))


def show(window, flow, open_):
    if field == "dye":
        stone = fn.tensor([0.20, 0.21, 0.23])
        window.show(fn.mix(stone, fn.stack(flow.dye, axis=2), open_[:, :, None]))
    elif field == "speed":
        window.show(speed(flow.u, flow.v), fn.colormap.inferno)
    elif field == "pressure":
        window.show(open_ * (flow.pressure - fn.sum(open_ * flow.pressure) / fn.sum(open_)), fn.colormap.coolwarm)
    else:
        window.show(vorticity(flow.u, flow.v, open_), fn.colormap.icefire)


@app.run
def main(window):
    m, n = window.size()
    open_ = obstacles(n, m)
    step = make_step(open_)
    picture = fn.load_image(str(PICTURE))

    def start():
        dye = fn.resize(picture, n, m)
        return Flow(fn.zeros((n, m)), fn.zeros((n, m)), fn.zeros((n, m)), (dye[:, :, 0], dye[:, :, 1], dye[:, :, 2]))

    flow = start()
    while window.open():
        if window.reset():
            flow = start()
        if window.playing():
            if window.mouse().left.pressed:
                script.value = False
            stroke = scripted(window.frame(), n, m) if script else stroke_of(window.mouse(), window.frame())
            kept = (1 - velocity_loss) ** dt, (1 - dye_loss) ** dt
            flow, before = step(flow, stroke, dt, confinement, *kept, cycles, sweeps)
            if stats:
                after = divergence(flow.u, flow.v)
                print(f"divergence (rms) {fn.sqrt(fn.mean(before * before)).item():.3g} before, "
                      f"{fn.sqrt(fn.mean(after * after)).item():.3g} after")
        show(window, flow, open_)
