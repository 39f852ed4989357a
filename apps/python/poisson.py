"""Poisson's equation by Gauss and Seidel's method with over-relaxation: two colours of points take turns."""

import firn as fn

HELP = "The potential of charges in a box, and how fast it is found."
app = fn.App("poisson", help=HELP, size=(720, 720), headless_frames=1)
steps = app.param("steps", 256, min=1, max=512, help="iterations of each frame")
relaxation = app.param("relaxation", 1.954, min=1, max=2, help="1: Gauss and Seidel's method; more goes beyond")
colours = app.param("colours", True, help="black points see the new red ones; off: all at once, as Jacobi's method")
side = app.param("side", 128, min=16, max=512, help="points along each side, from the next reset")


@fn.function
def relaxed(u, charge, relaxation, turn):
    """u where the points of the mask have moved to, or beyond, the mean of their neighbours."""
    i, j = fn.indices(u.shape)
    at = fn.zero(u)  # 0 outside: the walls
    mean = (at[i - 1, j] + at[i + 1, j] + at[i, j - 1] + at[i, j + 1] + charge) / 4
    return fn.select(turn, u + relaxation * (mean - u), u)


@fn.function
def residual(u, charge):
    i, j = fn.indices(u.shape)
    at = fn.zero(u)
    return fn.mean(abs(at[i - 1, j] + at[i + 1, j] + at[i, j - 1] + at[i, j + 1] - 4 * u + charge))


@fn.compile
def solve(charge: fn.f32["n", "m"], relaxation: fn.f32, colours: fn.boolean, steps: fn.i32):
    i, j = fn.indices(charge.shape)
    red = (i + j) % 2 == 0
    u = fn.zeros(charge.shape)
    history = fn.zeros((512,))
    for step in fn.range(fn.min(steps, 512)):
        if colours:
            u = relaxed(u, charge, relaxation, red)
            u = relaxed(u, charge, relaxation, ~red)
        else:
            u = relaxed(u, charge, 1, True)
        history[step] = fn.log10(residual(u, charge))
    return u, history


def charges(n):
    """One in the middle, and a pair of opposite signs."""
    charge = fn.zeros((n, n))
    charge[n // 2, n // 2] = 1
    charge[n // 4, n // 4], charge[n // 4, 3 * n // 4] = -1, 0.5
    return charge


def main(window):
    charge = charges(side.value)
    while window.open():
        if window.reset():
            charge = charges(side.value)
        u, history = solve(charge, relaxation, colours, steps)
        window.plot("log10 of the residual", history[: steps.value])
        window.show(u, fn.colormap.coolwarm, (-0.5, 0.5))
    print(f"residual {10 ** history[steps.value - 1].item():.3g} after {steps.value} iterations")


if __name__ == "__main__":
    app.run(main)
