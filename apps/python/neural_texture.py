"""A picture as a small grid of features and a network that reads colours from it, both learned while one watches."""

import firn as fn

FEATURES = 16

HELP = "A grid of features and a small network learn a picture."
app = fn.App("neural_texture", help=HELP, size=(768, 768), headless_frames=60)
rate = app.param("rate", 0.005, min=1e-5, max=0.1, log=True, help="learning rate")
steps = app.param("steps", 20, min=0, max=200, help="training steps of each frame")
batch = app.param("batch", 1024, min=64, max=16384, help="points of each step, from the next reset")
side = app.param("side", 32, min=4, max=128, help="side of the grid, from the next reset")
file = app.option("picture", help="PNG or JPEG to learn; else a star")


class Texture(fn.Module):
    def __init__(self, side):
        super().__init__()
        self.grid = self.add_parameter("grid", (side, side, FEATURES), fn.uniform_init(-0.1, 0.1))
        self.layers = [fn.Linear(FEATURES, 16), fn.Linear(16, 16), fn.Linear(16, 3)]

    def forward(self, y, x):
        """Colours [..., 3] at places from 0 to 1."""
        grid = self.grid.value()
        # Eight bits for a feature. The rounding has no gradient, so that of the value itself is taken.
        bytes_ = fn.round(127 * fn.clamp(grid, -1, 1)) / 127
        grid = fn.straight_through(bytes_, fn.clamp(grid, -1, 1))
        channel = fn.arange(FEATURES)
        # A quarter of the features each stand at the points, beside, below, and between them.
        shift_y, shift_x = 0.5 * (channel // 4 % 2), 0.5 * (channel // 8)
        side = grid.shape[0]
        y, x = y[..., None] * (side - 2) + shift_y, x[..., None] * (side - 2) + shift_x
        i, j = fn.floor(y), fn.floor(x)
        y, x = fn.smoothstep(0, 1, y - i), fn.smoothstep(0, 1, x - j)
        i, j = i.astype(fn.i32), j.astype(fn.i32)
        above = fn.mix(grid[i, j, channel], grid[i, j + 1, channel], x)
        below = fn.mix(grid[i + 1, j, channel], grid[i + 1, j + 1, channel], x)
        features = fn.mix(above, below, y)
        for layer in self.layers[:-1]:
            features = fn.gelu(layer(features))
        return self.layers[-1](features)


def star(n, points=7):
    """The distance from the edge of a star, in bands of colour."""
    i, j = fn.indices((n, n))
    y, x = 2 * (i + 0.5) / n - 1, 2 * (j + 0.5) / n - 1
    radius, turn = fn.hypot(x, y), fn.atan2(y, x)
    distance = radius - 0.5 - 0.25 * fn.cos(points * turn)
    bands = 0.75 + 0.25 * fn.cos(60 * distance)
    inside = fn.smoothstep(0.01, -0.01, distance)
    return fn.stack([fn.mix(low, high, inside) * bands for low, high in ((0.1, 1.0), (0.3, 0.7), (0.6, 0.2))], axis=2)


class Training:
    def __init__(self, picture, side, batch, seed):
        self.texture = Texture(side)
        self.texture.reset(seed)
        self.adam = fn.Adam(self.texture.parameters(), beta2=0.99)
        self.picture, self.seed = picture, seed
        n, m = picture.shape[:2]

        @fn.compile(state=(self.texture, self.adam))
        def step(picture: fn.f32[n, m, 3], seed: fn.u32, stream: fn.i32):
            y, x = fn.rand((2, batch), seed=seed, stream=stream)
            colour = picture[(y * n).astype(fn.i32), (x * m).astype(fn.i32)]
            return self.adam.step(fn.mse_loss(self.texture(y, x), colour))

        @fn.compile(state=self.texture)
        def render():
            i, j = fn.indices((n, m))
            return fn.clamp(self.texture((i + 0.5) / n, (j + 0.5) / m), 0, 1)

        self.step, self.render = step, render
        self.count = 0

    def advance(self, rate):
        self.adam["lr"] = rate
        self.count += 1
        return self.step(self.picture, self.seed, self.count)


def main(window):
    def start():
        return Training(fn.load_image(str(file)) if file else star(256), side.value, batch.value, app.seed())

    training = start()
    while window.open():
        if window.reset():
            training = start()
        if window.playing():
            for _ in range(steps.value):
                loss = training.advance(rate.value)
            if steps.value:
                window.plot("loss", loss, log=True)
        window.show(training.render())
    print(f"{training.count} steps: mean square error {fn.mse_loss(training.render(), training.picture).item():.5f}")


if __name__ == "__main__":
    app.run(main)
