"""The examples of apps/python that compute and learn, and the page for those who come from TensorFrost."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import firn as fn

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "apps", "python")
PAGE = os.path.join(ROOT, "engine", "python", "from_tensorfrost.md")

sys.path.insert(0, EXAMPLES)


def run(name, *arguments):
    """Runs an example headless, and returns its text and its picture."""
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "picture.png")
        shared = ["--headless", "--out", picture, "--seed", "1"]
        command = [sys.executable, os.path.join(EXAMPLES, name), *shared, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if ended.returncode:
            raise AssertionError(f"{' '.join(command)} ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout, fn.load_image(picture).numpy()


def number(pattern, text):
    return float(re.search(pattern, text).group(1))


class Algorithms(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def test_sorts(self):
        import sorting

        for n in (1, 2, 7, 64, 1000):
            keys = self.random.integers(-50, 50, n, dtype="i4") * 40_000_000
            for sort in (sorting.bitonic_sort, sorting.radix_sort, sorting.library_sort):
                with self.subTest(sort=sort.__name__, n=n):
                    ordered, places = (x.numpy() for x in sort(keys, np.arange(n, dtype="i4")))
                    np.testing.assert_array_equal(ordered, np.sort(keys))
                    np.testing.assert_array_equal(np.sort(places), np.arange(n))
                    np.testing.assert_array_equal(keys[places], ordered)
                    if sort is not sorting.bitonic_sort:  # the others keep the order of equal keys
                        np.testing.assert_array_equal(places, np.argsort(keys, kind="stable"))

    def test_prefix_sums(self):
        import scan

        for n in (1, 255, 256, 257, 70_000):
            x = self.random.integers(-9, 9, n, dtype="i4")
            for function in (scan.scan, scan.library_scan):
                with self.subTest(function=function.__name__, n=n):
                    np.testing.assert_array_equal(function(x).numpy(), np.cumsum(x))

    def test_matrix_products(self):
        import matrix_product

        for n, k, m in ((64, 64, 64), (1, 1, 1), (65, 17, 130)):
            a, b = self.random.random((n, k), "f4"), self.random.random((k, m), "f4")
            for product in (matrix_product.by_hand, matrix_product.library):
                with self.subTest(product=product.__name__, n=n, k=k, m=m):
                    np.testing.assert_allclose(product(a, b).numpy(), a @ b, rtol=1e-5)

    def test_decompositions(self):
        import qr

        a = self.random.random((12, 12), "f4") + np.eye(12, dtype="f4")
        for function in (qr.decompose, qr.library):
            with self.subTest(function=function.__name__):
                q, r, inverse = (x.numpy() for x in function(a))
                np.testing.assert_allclose(q @ r, a, atol=1e-5)
                np.testing.assert_allclose(q.T @ q, np.eye(12), atol=1e-4)
                np.testing.assert_allclose(r, np.triu(r), atol=1e-6)
                np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-3, atol=1e-3)

    def test_fourier_transforms(self):
        import fft

        z = self.random.standard_normal((3, fft.ROW)) + 1j * self.random.standard_normal((3, fft.ROW))
        z = z.astype("c8")
        transform = fn.jit(fft.transform)
        for function in (transform, fft.transform_rows):
            with self.subTest(function=function.__name__):
                got = function(fn.Complex(fn.tensor(z.real), fn.tensor(z.imag)))
                np.testing.assert_allclose(got.re.numpy() + 1j * got.im.numpy(), np.fft.fft(z), rtol=1e-4, atol=1e-3)

    def test_a_filter_that_keeps_all_gives_the_picture(self):
        import fft

        picture = fft.rings(64)
        kept, _ = fft.filtered(picture, 1e6, False)
        np.testing.assert_allclose(kept.numpy(), picture.numpy(), atol=1e-5)
        rest, _ = fft.filtered(picture, 1e6, True)
        np.testing.assert_allclose(rest.numpy(), 0, atol=1e-5)

    def test_random_numbers(self):
        import random_numbers

        words, floats, _ = random_numbers.hashes(0)
        self.assertEqual(words[0].item(), 129708002)
        self.assertAlmostEqual(floats[0].item(), 129708002 / 2**32, places=6)
        self.assertAlmostEqual(random_numbers.pi_by_chance(1).item(), np.pi, delta=0.01)
        for n in (2, 3, 1000):
            moved = random_numbers.permutation(np.arange(n, dtype="i4"), 3).numpy()
            np.testing.assert_array_equal(np.sort(moved), np.arange(n))
        self.assertLess(abs(np.corrcoef(np.arange(n), moved)[0, 1]), 0.1)


class Windows(unittest.TestCase):
    def test_poisson_solves_its_equation(self):
        text, picture = run("poisson.py", "--set", "side=64", "--set", "relaxation=1.9")
        self.assertLess(number("residual ([^ ]+)", text), 1e-6)
        self.assertGreater(picture.std(), 0.02)

    def test_poisson_runs_without_a_message_of_validation(self):
        run("poisson.py", "--set", "side=32", "--set", "steps=16", "--device", "0", "--validate")

    def test_colours_that_take_turns_are_faster(self):
        flags = ["--set", "side=32", "--set", "relaxation=1", "--set"]
        both = [run("poisson.py", *flags, f"colours={each}")[0] for each in ("true", "false")]
        self.assertLess(*(number("residual ([^ ]+)", each) for each in both))

    def test_fft(self):
        _, picture = run("fft.py")
        self.assertGreater(picture.std(), 0.05)

    def test_mnist_learns(self):
        text, picture = run("mnist.py", "--frames", "20", "--set", "steps=10")
        self.assertGreater(number(r"([\d.]+)%", text), 80)

    def test_neural_texture_learns(self):
        text, picture = run("neural_texture.py", "--frames", "10", "--set", "steps=20")
        self.assertLess(number(r"error ([\d.]+)", text), 0.03)
        self.assertGreater(picture.std(), 0.1)

    def test_neural_ca_learns(self):
        import neural_ca

        training = neural_ca.Training(neural_ca.flower(), 1)

        def distance():
            grown = training.grow(neural_ca.seeds(1), 24, 1, 0)
            return neural_ca.distances(grown, training.target).item()

        before = distance()
        for _ in range(10):
            training.advance(neural_ca.rate.value)
        self.assertLess(distance(), 0.6 * before)

    def test_neural_ca_shows_its_cells(self):
        text, picture = run("neural_ca.py", "--frames", "2")
        self.assertIn("2 steps: distance", text)
        self.assertLess(picture.min(), 0.5)

    def test_the_energy_of_hydrogen(self):
        text, _ = run("variational_monte_carlo.py", "--frames", "60", "--set", "system=H", "--set", "walkers=256")
        self.assertAlmostEqual(number("H: (-[\\d.]+)", text), -0.5, delta=0.02)


class Page(unittest.TestCase):
    def test_every_name_is_there(self):
        with open(PAGE) as file:
            names = set(re.findall(r"\bfn\.([a-zA-Z_]\w*)", file.read()))
        self.assertGreater(len(names), 60)
        self.assertEqual(sorted(name for name in names if not hasattr(fn, name)), [])

    def test_every_block_runs(self):
        with open(PAGE) as file:
            lines = file.read().splitlines()
        blocks, begin = [], None
        for k, line in enumerate(lines):
            if line == "```python":
                begin = k + 1
            elif line == "```" and begin is not None:
                blocks.append((begin, lines[begin:k]))
                begin = None
        self.assertGreater(len(blocks), 6)
        for begin, block in blocks:
            with self.subTest(line=begin + 1), tempfile.TemporaryDirectory() as folder:
                # A file, since what is compiled is rewritten from its source.
                path = os.path.join(folder, "block.py")
                text = "\n".join(["import firn as fn; import numpy as np", *block]) + "\n"
                with open(path, "w") as file:
                    file.write(text)
                exec(compile(text, path, "exec"), {"__name__": "block"})


if __name__ == "__main__":
    unittest.main()
