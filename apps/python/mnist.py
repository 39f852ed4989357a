"""A small network learns to read digits, of MNIST's files or drawn by this program, and then reads one's own."""

import numpy as np

import firn as fn

SIDE = 28

HELP = "A network learns to read digits: draw one (the right button clears)."
app = fn.App("mnist", help=HELP, size=(560, 560), headless_frames=20)
rate = app.param("rate", 0.05, min=1e-4, max=1, log=True, help="learning rate")
steps = app.param("steps", 10, min=0, max=100, help="training steps of each frame")
folder = app.option("data", help="folder with the four IDX files of MNIST, unpacked")

# The strokes of each digit as points of a grid, four wide and seven high.
STROKES = [
    "10 30 41 45 36 16 05 01 10",
    "11 20 26",
    "01 10 30 41 42 06 46",
    "00 40 23 33 45 36 16 05",
    "36 30 04 44",
    "40 00 03 33 44 45 36 16 05",
    "30 11 04 06 36 45 44 33 04",
    "00 40 41 16",
    "13 02 01 10 30 41 42 33 13 04 05 16 36 45 44 33",
    "42 13 02 01 10 30 41 43 26",
]


def drawn_digits(count, seed):
    """Digits by strokes, turned, slanted, stretched and thickened by chance: u8 [count, 28, 28], and their labels."""
    longest = max(len(each.split()) for each in STROKES)
    points = [[(int(p[0]) / 4, int(p[1]) / 6) for p in each.split()] for each in STROKES]
    table = np.array([each + each[-1:] * (longest - len(each)) for each in points], "f4") - 0.5

    @fn.compile
    def draw(lane: fn.i32["n"], table: fn.f32[10, longest, 2], seed: fn.u32):
        n = lane.shape[0]
        label = fn.randint(0, 10, (n,), seed=seed, stream=0)
        points = table[label] + 0.03 * fn.randn((n, longest, 2), seed=seed, stream=1)
        turn, slant, wide, high, right, down = (0.12 * fn.randn((n, 1), seed=seed, stream=k) for k in range(2, 8))
        x, y = points[..., 0] + slant * points[..., 1], points[..., 1]
        x, y = 11 * (1 + wide) * x, 18 * (1 + high) * y
        x, y = x * fn.cos(turn) - y * fn.sin(turn), x * fn.sin(turn) + y * fn.cos(turn)
        x, y = x + SIDE / 2 + 8 * right, y + SIDE / 2 + 8 * down
        # The distance from each pixel to the nearest stroke.
        x, y = x[:, None, None], y[:, None, None]
        i, j = fn.indices((SIDE, SIDE))
        px, py = j[None, ..., None] + 0.5 - x[..., :-1], i[None, ..., None] + 0.5 - y[..., :-1]
        dx, dy = x[..., 1:] - x[..., :-1], y[..., 1:] - y[..., :-1]
        share = fn.clamp((px * dx + py * dy) / (dx * dx + dy * dy + 1e-6), 0, 1)
        distance = fn.sqrt(fn.min(fn.square(px - share * dx) + fn.square(py - share * dy), axis=3))
        thick = 0.8 + 0.6 * fn.rand((n, 1, 1), seed=seed, stream=8)
        ink = fn.clamp(thick + 0.5 - distance, 0, 1) + 0.08 * fn.randn((n, SIDE, SIDE), seed=seed, stream=9)
        return (255 * fn.clamp(ink, 0, 1)).astype(fn.u8), label

    return draw(np.arange(count, dtype=np.int32), table, seed)


def load_digits(folder, name):
    images = fn.load_idx(f"{folder}/{name}-images-idx3-ubyte")
    return images, fn.load_idx(f"{folder}/{name}-labels-idx1-ubyte").astype(fn.i32)


class Net(fn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.layers = [fn.Linear(SIDE * SIDE, hidden), fn.Linear(hidden, hidden), fn.Linear(hidden, 10)]

    def forward(self, images):
        x = fn.reshape(images.astype(fn.f32) / 255, (-1, SIDE * SIDE))
        for layer in self.layers[:-1]:
            x = fn.leaky_relu(layer(x))
        return self.layers[-1](x)


class Training:
    def __init__(self, images, labels, seed, batch=128):
        self.net = net = Net()
        net.reset(seed)
        self.sgd = sgd = fn.SGD(net.parameters(), momentum=0.9)
        self.images, self.labels = images, labels
        self.batches = fn.Batches(images.shape[0], batch, seed=seed)

        # Forward, backward and update are one program, which changes the parameters in place.
        @fn.compile(state=(net, sgd))
        def step(images: fn.u8["n", SIDE, SIDE], labels: fn.i32["n"], chosen: fn.i32["batch"]):
            return sgd.step(fn.cross_entropy(net(images[chosen]), labels[chosen], check_labels=False))

        @fn.compile(state=net)
        def read(images: fn.u8["n", SIDE, SIDE]):
            return fn.softmax(net(images))

        self.step, self.read = step, read

    def advance(self, rate):
        self.sgd["lr"] = rate
        return self.step(self.images, self.labels, self.batches.next())

    def accuracy(self, images, labels):
        return fn.mean((fn.argmax(self.read(images), axis=1) == labels).astype(fn.f32)).item()


def brushed(pad, mouse):
    """The pad where the mouse draws."""
    if mouse.right.pressed:
        return fn.zeros(pad.shape, fn.u8)
    if not (mouse.left.down and mouse.inside):
        return pad
    i, j = fn.indices(pad.shape)
    ink = 255 * fn.exp(-fn.square(i + 0.5 - mouse.i) - fn.square(j + 0.5 - mouse.j))
    return fn.max(pad.astype(fn.f32), ink).astype(fn.u8)


def main(window):
    if folder:
        train, test = (load_digits(folder, name) for name in ("train", "t10k"))
    else:
        train, test = drawn_digits(12_000, app.seed()), drawn_digits(2_000, app.seed() + 1)
    training = Training(*train, app.seed())
    pad = test[0][0]
    window.menu_by_right_click(False)
    while window.open():
        if window.reset():
            training = Training(*train, app.seed())
        pad = brushed(pad, window.mouse())
        if window.playing() and steps.value and not window.mouse().left.down:
            for _ in range(steps.value):
                loss = training.advance(rate.value)
            window.plot("loss", loss, log=True)
        chances = training.read(pad[None])[0]
        window.gui().bars("read as", chances.tolist())
        window.gui().text("digit", str(fn.argmax(chances).item()))
        window.show(pad.astype(fn.f32) / 255, smooth=False)
    right = 100 * training.accuracy(*test)
    print(f"{training.batches.position()} steps: {right:.1f}% of the test's digits are read right")


if __name__ == "__main__":
    app.run(main)
