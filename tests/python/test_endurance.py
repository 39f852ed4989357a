"""Calls of every kind leave nothing behind: references, objects, nodes and memory stay as they are.

FIRN_PYTHON_ROUNDS is the number of calls of each kind.
"""
import gc
import os
import sys
import unittest

import numpy as np

import firn as fn

ROUNDS = int(os.environ.get("FIRN_PYTHON_ROUNDS", 1000))


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Endurance(unittest.TestCase):
    def setUp(self):
        self.x = fn.tensor(np.linspace(0.1, 1.0, 64, dtype="f4").reshape(8, 8))
        self.y = self.x * 2
        fn.realize(self.x, self.y)

    def check(self, body):
        """Runs `body` and compares what is there before and after; the first calls may fill caches."""

        def state():
            gc.collect()
            return {
                "references": sys.getrefcount(self.x) + sys.getrefcount(self.y),
                "objects": len(gc.get_objects()),
                "blocks": sys.getallocatedblocks(),
                "nodes": fn.Session.current().node_count,
                "bytes": resident(),
            }

        for _ in range(max(ROUNDS // 10, 200)):
            body()
        before = state()
        for _ in range(ROUNDS):
            body()
        after = state()
        grown = {name: after[name] - before[name] for name in before}
        if ROUNDS > 10000:
            print(self._testMethodName, grown, flush=True)
        self.assertEqual(grown["references"], 0)
        # Less than one in a hundred calls, beside what the interpreter keeps now and then.
        self.assertLess(grown["objects"], 20 + ROUNDS // 1000)
        self.assertLess(grown["blocks"], 100 + ROUNDS // 1000)
        self.assertLess(grown["nodes"], 20)
        self.assertLess(grown["bytes"], (4 << 20) + 20 * ROUNDS)

    def test_compiled_calls(self):
        @fn.compile
        def step(x: fn.f32["n", "m"], y: fn.f32["n", "m"], s: fn.f32):
            return x * y + s, {"sum": fn.sum(x)}

        self.check(lambda: step(self.x, self.y, 0.5))
        step.finish_compiling()

    def test_calls_that_give_their_argument_away(self):
        step = fn.compile(lambda x: x * 1.01, fn.f32("n", "m"))
        u = self.x + 0

        def body():
            nonlocal u
            u = step(fn.donate(u))

        self.check(body)

    def test_jit_calls(self):
        @fn.jit
        def step(x, y):
            for _ in fn.range(3):
                x = x * y
            return [x, y]

        self.check(lambda: step(self.x, self.y))

    def test_operations(self):
        self.check(lambda: (self.x[1:, :] + self.y[:-1] * 0.5).numpy())

    def test_operations_that_are_never_computed(self):
        self.check(lambda: fn.sum(fn.exp(self.x) @ self.y))

    def test_gradients(self):
        def body():
            loss = fn.sum(fn.square(self.x * self.y))
            fn.grad(loss, [self.x, self.y])[0].numpy()

        self.check(body)

    def test_arrays_of_numpy(self):
        data = np.ones((8, 8), "f4")
        count = sys.getrefcount(data)
        self.check(lambda: np.asarray(fn.tensor(data) + 1).sum())
        self.assertEqual(sys.getrefcount(data), count)

    def test_dlpack(self):
        data = np.ones((8, 8), "f4")  # numpy gives no array away that is read only
        count = sys.getrefcount(data)
        self.check(lambda: fn.from_dlpack(data).tolist() + np.from_dlpack(self.x).tolist())
        self.assertEqual(sys.getrefcount(data), count)

    def test_errors_in_recorded_loops(self):
        @fn.jit
        def fails(x):
            for _ in fn.range(4):
                x = x + 1
                raise KeyError("inside")
            return x

        def body():
            try:
                fails(self.x)
            except KeyError:
                pass

        self.check(body)

    def test_errors_of_calls(self):
        step = fn.compile(lambda x, y: x + y, fn.f32("n", "n"), fn.f32("n", "n"))
        wrong = fn.ones((3, 4))

        def body():
            try:
                step(self.x, wrong)
            except fn.UserError:
                pass

        self.check(body)


if __name__ == "__main__":
    unittest.main()
