"""The rows of tests/habits/numpy_rows.def from Python: numpy's own text over tensors, or how it is written here."""
import pathlib
import re
import unittest

import numpy as np

import firn as fn

ROW = re.compile(r'^(ROW|STORE)\("((?:[^"\\]|\\.)*)"', re.M)
ROWS = ROW.findall((pathlib.Path(__file__).parents[1] / "habits/numpy_rows.def").read_text())

# Rows that read otherwise with firn in place of numpy.
OTHERWISE = {}


def arrays():
    a = np.arange(12).reshape(3, 4)
    b = (a / 4 - 1).astype(np.float32)
    return {"a": a, "b": b, "x": b.copy(), "m": a % 3 == 0, "i": np.array([2, 0]),
            "v": np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32), "w": np.arange(8, dtype=np.float32) / 8,
            "q": np.array([[4, 1], [2, 3]], np.float32)}


def tensors():
    out = {name: fn.tensor(array) for name, array in arrays().items()}
    for name in ("a", "i"):
        out[name] = out[name].astype(fn.i32)
    return out


def result(kind, text, scope):
    if kind == "ROW":
        return np.asarray(eval(text, scope))
    exec(text, scope)
    return np.asarray(scope["x"])


class NumpyRows(unittest.TestCase):
    def test_every_row_gives_what_numpy_gives(self):
        self.assertGreater(len(ROWS), 150)
        for kind, text in ROWS:
            with self.subTest(numpy=text, firn=OTHERWISE.get(text, text)):
                expected = result(kind, text, {"np": np, **arrays()})
                got = result(kind, OTHERWISE.get(text, text), {"np": fn, "fn": fn, **tensors()})
                self.assertEqual(got.shape, expected.shape)
                np.testing.assert_allclose(got.astype("f8"), expected.astype("f8"), rtol=2e-5, atol=2e-6)

    def test_no_entry_is_left_over(self):
        self.assertEqual(set(OTHERWISE) - {text for _, text in ROWS}, set())


if __name__ == "__main__":
    unittest.main()
