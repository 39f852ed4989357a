"""The rows of tests/habits/numpy_rows.def from Python: numpy's own text over tensors, or how it is written here."""
import pathlib
import re
import unittest

import numpy as np

import firn as fn

ROW = re.compile(r'^(ROW|STORE)\("((?:[^"\\]|\\.)*)"', re.M)
ROWS = ROW.findall((pathlib.Path(__file__).parents[1] / "habits/numpy_rows.def").read_text())

# Rows that read otherwise with firn in place of numpy.
OTHERWISE = {
    'np.argwhere(m)': 'fn.nonzero(m)',
    'np.take_along_axis(v, np.array([7, 0, 0]), 0)': 'fn.gather(v, [7, 0, 0], axis=0)',
    "np.pad(v, 2, mode='reflect')[:4]": "fn.pad(v, 'Reflect', before=[2], after=[2])[:4]",
    "np.pad(v, 2, mode='symmetric')[:4]": 'fn.mirror(v)[fn.arange(4) - 2]',
    "np.pad(v, 2, mode='wrap')[:4]": 'fn.wrap(v)[fn.arange(4) - 2]',
    'np.add.at(x, [0, 0], 1)': 'fn.scatter_add(x, fn.tensor([0, 0]), 1.0)',
    'np.maximum.at(x, i, 1)': 'fn.scatter_max(x, i, 1.0)',
    'np.maximum(b, w[:4])': 'fn.max(b, w[:4])',
    'np.arctan2(b, 1)': 'fn.atan2(b, 1)',
    'b.astype(np.int32)': 'b.astype(fn.i32)',
    'b.sum(axis=1, keepdims=True)': 'b.sum(axis=1, keep_dims=True)',
    'v.var(ddof=1)': 'v.var(correction=1)',
    'np.linalg.norm(v)': 'fn.norm(v)',
    'np.bincount(a.ravel() % 3)': 'fn.bincount(a.ravel() % 3, 3)',
    'np.swapaxes(a, 0, 1)': 'fn.transpose(a, 0, 1)',
    'np.expand_dims(a, 1)': 'fn.unsqueeze(a, 1)',
    'np.broadcast_to(i, (3, 2))': 'fn.expand(i, (3, 2))',
    'np.concatenate([a, a], axis=1)': 'fn.concat([a, a], axis=1)',
    'np.split(v, [3, 5])[1]': 'fn.split_at(v, [3, 5])[1]',
    'np.isfinite(np.log(v - 1))': 'fn.is_finite(fn.log(v - 1))',
    'np.pad(v, (1, 2))': 'fn.pad(v, before=[1], after=[2])',
    'np.array([1.5, 2])': 'fn.tensor([1.5, 2])',
    'np.meshgrid(i, v[:3])[1]': 'fn.meshgrid([i.astype(fn.f32), v[:3]])[1]',
    "np.argsort(v, kind='stable')": 'fn.argsort(v)',
    'np.dot(v, w)': 'fn.sum(v * w)',
    'np.linalg.solve(q, [1, 2])': 'fn.solve(q, [1.0, 2.0])',
    'np.linalg.inv(q)': 'fn.inverse(q)',
    'np.linalg.pinv(q)': 'fn.pinv(q)',
    'np.linalg.lstsq(q, [1, 2], rcond=None)[0]': 'fn.lstsq(q, [1.0, 2.0])',
    'np.linalg.eigh(q)[0]': 'fn.eigh(q).values',
    'np.linalg.svd(q)[1]': 'fn.svd(q).s',
    'np.linalg.matrix_rank(q)': 'fn.matrix_rank(q)',
    'np.linalg.slogdet(q)[1]': 'fn.slogdet(q).logabsdet',
    'np.linalg.det(q)': 'fn.determinant(q)',
    'np.linalg.matrix_power(q, 3)': 'fn.matrix_power(q, 3)',
    'np.sort(np.linalg.eigvals(q).real)': 'fn.sort(fn.eig(q).values.re)',
    'np.abs(np.fft.fft(v)) ** 2': 'fn.squared_magnitude(fn.fft(v))',
    'np.abs(np.fft.fft(v))': 'fn.abs(fn.fft(v))',
    'np.abs(np.fft.rfft(v))': 'fn.abs(fn.rfft(v))',
    'np.fft.irfft(np.fft.rfft(v))': 'fn.irfft(fn.rfft(v))',
    'np.real(np.exp(1j * w))': 'fn.exp(fn.Complex(w * 0, w)).re',
    'np.angle(1 + 1j * w)': 'fn.angle(fn.Complex(w * 0 + 1, w))',
    'np.imag(np.sqrt(-1 + 1j * w))': 'fn.sqrt(fn.Complex(w * 0 - 1, w)).im',
    'np.real(np.fft.ifft(np.fft.fft(v) * np.fft.fft(w)))': 'fn.ifft(fn.fft(v) * fn.fft(w)).re',
    'np.nansum(np.where(v > 3, np.nan, v))': "fn.nansum(fn.select(v > 3, float('nan'), v))",
    'np.nanmean(np.where(v > 3, np.nan, v))': "fn.nanmean(fn.select(v > 3, float('nan'), v))",
    'np.arcsinh(v)': 'fn.asinh(v)',
    "np.pad(v, 2, mode='reflect')": "fn.pad(v, 'Reflect', before=[2], after=[2])",
    'np.nan_to_num(np.where(v > 3, np.inf, v), posinf=7)': "fn.nan_to_num(fn.select(v > 3, float('inf'), v), posinf=7)",
    'v.astype(np.uint8)': 'v.astype(fn.u8)',
    '(v * 300).astype(np.int64).astype(np.int16)': '(v * 300).astype(fn.i64).astype(fn.i16)',
}


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
