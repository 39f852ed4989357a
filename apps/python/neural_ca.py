"""Cells learn a rule by which one of them grows into a picture, and which heals it: wound them with the mouse."""

import firn as fn

CHANNELS = 12  # red, green, blue, and how much a cell lives; what the others mean is learned
SIDE, BATCH, POOL = 24, 4, 64

HELP = "Cells learn to grow a picture: the left button wounds them, the right one plants."
app = fn.App("neural_ca", help=HELP, size=(640, 640), headless_frames=300)
rate = app.param("rate", 6e-3, min=1e-5, max=1e-1, log=True, help="learning rate")
train = app.param("train", True, help="train the rule (off: only run it)")
radius = app.param("radius", 5.0, min=1, max=20, help="radius of the mouse's wounds, in cells")


class Rule(fn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.perceive = fn.Linear(3 * CHANNELS, hidden, init=fn.he_normal())
        self.change = fn.Linear(hidden, CHANNELS, bias=False, init=fn.constant_init(0))  # nothing changes at first

    def forward(self, cells, chance):
        """The next state of [batch, n, m, CHANNELS]: a cell sees itself and the slopes around it; half of all act."""
        b, i, j, c = fn.indices(cells.shape)
        at = fn.zero(cells)
        around = [[at[b, i + y, j + x, c] for x in (-1, 0, 1)] for y in (-1, 0, 1)]
        down = sum(w * (around[2][x] - around[0][x]) for x, w in enumerate((1, 2, 1))) / 8
        right = sum(w * (around[y][2] - around[y][0]) for y, w in enumerate((1, 2, 1))) / 8
        seen = fn.reshape(fn.concat([cells, right, down], axis=3), (-1, 3 * CHANNELS))
        change = fn.reshape(self.change(fn.relu(self.perceive(seen))), cells.shape)
        after = cells + fn.select(chance < 0.5, change, 0)
        return fn.select(near_life(cells) & near_life(after), after, 0)


@fn.function
def near_life(cells):
    """Whether a cell or one of its neighbours lives, [batch, n, m, 1]."""
    b, i, j, c = fn.indices((*cells.shape[:3], 1))
    at = fn.zero(cells)
    most = at[b, i, j, 3 + c]
    for y in (-1, 0, 1):
        for x in (-1, 0, 1):
            most = fn.max(most, at[b, i + y, j + x, 3 + c])
    return most > 0.1


@fn.function
def grown(rule, cells, steps, seed, stream):
    for k in fn.range(fn.min(steps, 96)):
        cells = rule(cells, fn.rand((*cells.shape[:3], 1), seed=seed, stream=stream + k))
    return cells


def seeds(count):
    b, i, j, c = fn.indices((count, SIDE, SIDE, CHANNELS))
    return fn.select((i == SIDE // 2) & (j == SIDE // 2) & (c >= 3), 1.0, 0.0)


@fn.function
def wounded(cells, y, x, radius):
    b, i, j, c = fn.indices(cells.shape)
    return fn.select(fn.square(i + 0.5 - y) + fn.square(j + 0.5 - x) < fn.square(radius), 0, cells)


def flower():
    """Red, green, blue and cover, [SIDE, SIDE, 4]; every pixel is the mean of 4 x 4 points."""
    i, j, a, b = fn.indices((SIDE, SIDE, 4, 4))
    y, x = 2 * (4 * i + a + 0.5) / (4 * SIDE) - 1, 2 * (4 * j + b + 0.5) / (4 * SIDE) - 1
    petals = fn.hypot(x, y) < 0.55 + 0.2 * fn.cos(6 * fn.atan2(y, x))
    middle = fn.hypot(x, y) < 0.22
    channels = [fn.select(middle, inner, outer) for inner, outer in ((0.98, 0.85), (0.8, 0.2), (0.1, 0.5), (1.0, 1.0))]
    return fn.stack([fn.mean(fn.select(petals, each, 0), axis=(2, 3)) for each in channels], axis=2)


def distances(cells, target):
    return fn.mean(fn.square(cells[..., :4] - target), axis=(1, 2, 3))


class Training:
    """Growth starts from a pool of earlier results, so that the rule learns to keep a picture, too."""

    def __init__(self, target, seed):
        self.rule = rule = Rule()
        rule.reset(seed)
        self.adam = adam = fn.Adam(rule.parameters())
        adam.clip_each_norm(1e-3)  # all have one length: they grow with the steps that they go through
        self.pool, self.target, self.seed, self.count = seeds(POOL), target, seed, 0
        self.batches = fn.Batches(POOL, BATCH, seed=seed)

        @fn.compile(state=(rule, adam))
        def step(
            pool: fn.f32[POOL, SIDE, SIDE, CHANNELS],
            target: fn.f32[SIDE, SIDE, 4],
            chosen: fn.i32[BATCH],
            steps: fn.i32,
            seed: fn.u32,
            stream: fn.i32,
        ):
            before = pool[chosen]
            # The worst begins anew, and the best is wounded if it is a picture already.
            distance = distances(before, target)
            place = 0.2 * SIDE + 0.6 * SIDE * fn.rand((2,), seed=seed, stream=stream)
            k = fn.arange(BATCH)[:, None, None, None]
            ripe = (k == fn.argmin(distance)) & (fn.min(distance) < 0.3 * fn.mean(fn.square(target)))
            before = fn.select(ripe, wounded(before, place[0], place[1], SIDE / 5), before)
            before = fn.select(k == fn.argmax(distance), seeds(BATCH), before)
            after = grown(rule, before, steps, seed, stream + 1)
            loss = adam.step(fn.mean(distances(after, target)))
            pool[chosen] = fn.stop_gradient(after)
            return pool, loss

        @fn.compile(state=rule)
        def grow(cells: fn.f32["n", SIDE, SIDE, CHANNELS], steps: fn.i32, seed: fn.u32, stream: fn.i32):
            return grown(rule, cells, steps, seed, stream)

        self.step, self.grow = step, grow

    def advance(self, rate):
        self.adam["lr"] = rate * 0.5 ** (self.count / 800)
        self.count += 1
        steps = min(48 + self.count * 7 % 17, 24 + self.count // 12)  # fewer at first: their gradients are surer
        chosen, stream = self.batches.next(), 1000 * self.count
        self.pool, loss = self.step(fn.donate(self.pool), self.target, chosen, steps, self.seed, stream)
        return loss


def on_white(cells):
    return fn.clamp(1 - fn.clamp(cells[..., 3:4], 0, 1) + cells[..., :3], 0, 1)


def main(window):
    training = Training(flower(), app.seed())
    cells, age = seeds(1), 0
    window.menu_by_right_click(False)
    while window.open():
        mouse = window.mouse()
        if window.reset():
            training = Training(flower(), app.seed())
        if mouse.right.pressed or window.reset() or (train.value and age > 160):
            cells, age = seeds(1), 0
        if mouse.left.down and mouse.inside:
            cells = wounded(cells, mouse.i, mouse.j, radius.value)
        elif window.playing() and train.value:
            loss = training.advance(rate.value)
            window.plot("loss", loss, log=True)
        if window.playing():
            cells, age = training.grow(cells, 2, app.seed(), 10**6 + age), age + 2
        window.show(on_white(cells[0]), smooth=False)
    grown_from_seed = training.grow(seeds(1), 64, app.seed(), 0)
    distance = distances(grown_from_seed, training.target).item()
    print(f"{training.count} steps: distance {distance:.4f} from the picture")


if __name__ == "__main__":
    app.run(main)
