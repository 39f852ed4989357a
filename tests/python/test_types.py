"""The types of the package, as mypy checks them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import firn as fn

PACKAGE = pathlib.Path(fn.__path__[0])

GOOD = '''
import firn as fn


class Net(fn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = fn.Linear(2, 16)
        self.last = fn.Linear(16, 1, bias=False, init=fn.he_uniform())

    def forward(self, x: fn.Tensor) -> fn.Tensor:
        return self.last(fn.relu(self.first(x)))


def train(net: Net, x: fn.Tensor, y: fn.Tensor) -> float:
    optimizer = fn.Adam(net.parameters(), lr=0.1)
    optimizer["lr"] = 0.2
    loss = fn.mse_loss(net.forward(x), y, reduction="mean")
    optimizer.step(loss)
    return float(loss)


def solve(a: fn.Tensor) -> fn.Tensor:
    q, r = fn.qr(a)
    u, s, vt = fn.svd(a @ a.T)
    z = fn.fft(a[0], axis=-1)
    i, j = fn.indices(a.shape)
    p = fn.vec3(1, 2, 3) * 2
    total = fn.sum(a, axis=(0, 1), keep_dims=True) + a.mean(-1) - 2 * a.max() + i + fn.abs(z)
    return fn.select(total > 0, total, q[0, 0] + r[0] + fn.dot(fn.vec3(p.x, 0, 1), fn.vec3(1)))


def double(u: fn.Tensor) -> fn.Tensor:
    return u * 2


step = fn.compile(double, fn.f32("n", "m"))
out = step(fn.zeros((2, 3)))
names: list[str] = [p.name for p in Net().parameters()]
size: int | fn.Size = fn.zeros(3).shape[0]
conv = fn.conv2d(fn.ones((1, 1, 3, 3)), fn.ones((1, 1, 2, 2)), stride=2, padding=(1, 1))
schedule: float = fn.cosine_decay(0.1, 100)(50)
'''

BAD = {
    'fn.sum(fn.zeros(3), keep_dims="yes")': 'expected "bool"',
    "fn.sum(fn.zeros(3), axes=0)": "Unexpected keyword argument",
    "fn.summ(fn.zeros(3))": 'has no attribute "summ"',
    "q, r, s = fn.qr(fn.eye(2))": "Need more than 2 values",
    "fn.Linear(2)": "No overload variant",
    "x: str = fn.sum(fn.zeros(3))": 'variable has type "str"',
}


def check(*args):
    """What mypy says; it finds the package by its folder."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, *args], capture_output=True,
                              text=True, env={"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"})
    return done.stdout + done.stderr


try:
    import mypy  # noqa: F401
except ImportError:
    mypy = None


@unittest.skipIf(mypy is None, "mypy is not installed")
class Types(unittest.TestCase):
    def check_program(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(text)
            return check("--strict", str(path))

    def test_a_program_has_no_errors(self):
        self.assertIn("Success", self.check_program(GOOD))

    def test_mistakes_are_errors(self):
        lines = "\n".join(BAD)
        said = self.check_program("import firn as fn\n" + lines + "\n")
        for number, message in enumerate(BAD.values(), 2):
            here = [line for line in said.splitlines() if f"program.py:{number}:" in line]
            self.assertTrue(any(message in line for line in here), f"{number}: {message}\n{said}")

    def test_the_package_has_no_errors(self):
        self.assertIn("Success", check("-p", "firn"))


if __name__ == "__main__":
    unittest.main()
