"""Compiled functions: specs, structures, symbols, jit, gradients, files, errors."""
import dataclasses
import gc
import os
import signal
import sys
import tempfile
import threading
import time
import typing
import unittest
import weakref

import numpy as np

import firn as fn


@dataclasses.dataclass
class State:
    u: fn.f32["n"]
    v: fn.f32["n"]


class Pair(typing.NamedTuple):
    a: fn.f32["n"]
    b: fn.f32["n"]


class Compile(unittest.TestCase):
    def test_annotations_are_specs(self):
        @fn.compile
        def axpy(a: fn.f32, x: fn.f32["n"], y: fn.f32["n"]):
            return a * x + y

        self.assertEqual(axpy(2, fn.tensor([1.0, 2.0]), fn.tensor([1.0, 1.0])).tolist(), [3, 5])
        self.assertEqual(axpy(2, np.ones(3, "f4"), [1.0, 2.0, 3.0]).tolist(), [3, 4, 5])
        self.assertEqual(axpy.__name__, "axpy")

    def test_specs_stand_behind_the_function_or_in_the_decorator(self):
        twice = fn.compile(lambda x: x * 2, fn.f32("n"))
        self.assertEqual(twice(fn.tensor([1.0])).tolist(), [2])

        @fn.compile(fn.i32("n"))
        def thrice(x):
            return x * 3

        self.assertEqual(thrice(fn.tensor([1, 2])).tolist(), [3, 6])

    def test_results_have_the_structure_that_was_returned(self):
        one = fn.tensor([1.0])
        self.assertIsInstance(fn.compile(lambda x: (x, x), fn.f32(1))(one), tuple)
        self.assertIsInstance(fn.compile(lambda x: [x, 2.0], fn.f32(1))(one), list)
        out = fn.compile(lambda x: {"a": x, "b": (x, [x])}, fn.f32(1))(one)
        self.assertEqual(out["b"][1][0].tolist(), [1])
        self.assertEqual(fn.compile(lambda x: (x,), fn.f32(1))(one)[0].tolist(), [1])
        self.assertEqual(fn.compile(lambda: fn.tensor([5.0]) * 2)().tolist(), [10])

    def test_dataclasses_and_named_tuples_are_arguments(self):
        @fn.compile
        def step(s: State, p: Pair):
            return State(s.u + p.a, s.v * p.b), p._replace(a=s.u)

        s, p = State(fn.tensor([1.0]), fn.tensor([2.0])), Pair(fn.tensor([3.0]), fn.tensor([4.0]))
        s2, p2 = step(s, p)
        self.assertIsInstance(s2, State)
        self.assertIsInstance(p2, Pair)
        self.assertEqual((s2.u.item(), s2.v.item(), p2.a.item()), (4, 8, 1))

    def test_names_and_defaults(self):
        @fn.compile
        def f(x: fn.f32["n"], y: fn.f32 = 3.0, scale=10.0):
            return (x + y) * scale

        x = fn.tensor([1.0])
        self.assertEqual(f(x, 2).tolist(), [30])
        self.assertEqual(f(y=1.0, x=x).tolist(), [20])
        self.assertEqual(f(x).tolist(), [40])
        with self.assertRaisesRegex(TypeError, "missing a required argument: 'x'"):
            f()

    def test_one_symbol_is_one_size(self):
        add = fn.compile(lambda a, b: a + b, fn.f32("n"), fn.f32("n"))
        self.assertEqual(add([1.0], [2.0]).tolist(), [3])
        with self.assertRaisesRegex(fn.UserError, "n"):
            add([1.0], [1.0, 2.0])

    def test_symbolic_sizes_are_computed_with(self):
        @fn.compile
        def f(x: fn.f32["n", "m"]):
            n, m = x.shape
            self.assertEqual(repr(n * 2 + m), "m + 2*n")
            with self.assertRaisesRegex(fn.UserError, r"symbolic and has no value .*test_functions.py"):
                range(n)
            return x.T + 0 * n

        self.assertEqual(f(np.zeros((2, 3), "f4")).shape, (3, 2))

    def test_a_size_beside_floats_and_tensors_is_one(self):
        f = fn.compile(lambda x: (x.shape[0] / 2 + x, 0.5 * x.shape[0] * x, x.shape[0] + x, x.shape[0] - 1.5), fn.f32("n"))
        a, b, c, d = f([1.0, 2.0])
        self.assertEqual((a.tolist(), b.tolist(), c.tolist(), d.item()), ([2, 3], [1, 2], [3, 4], 0.5))

    def test_state_is_changed_in_place(self):
        net = fn.Linear(1, 1, bias=False)
        net.weight.set(fn.tensor([[1.0]]))
        sgd = fn.SGD(net.parameters(), lr=0.1)

        @fn.compile(state=(net, sgd))
        def step(x: fn.f32["n", 1]):
            return sgd.step(fn.mean(fn.square(net(x))))

        self.assertEqual(step(fn.ones((4, 1))).item(), 1)
        self.assertAlmostEqual(net.weight.value().item(), 0.8, 6)
        with self.assertRaisesRegex(TypeError, "state is a module"):
            fn.compile(lambda: fn.tensor(1.0), state=3)

    def test_tensors_of_outside_keep_their_value(self):
        w = fn.tensor([1.0])
        f = fn.compile(lambda x: x + w, fn.f32(1))
        w[0] = 100
        self.assertEqual(f([1.0]).tolist(), [2])

    def test_mistakes_are_named(self):
        f = fn.compile(lambda x: x, fn.f32("n"))
        for args, error, said in [(([[1.0]],), fn.UserError, ""), ((fn.tensor([1]),), fn.UserError, ""), (("a",), TypeError, "argument"),
                                  (((fn.tensor([1.0]),),), fn.UserError, r"argument 0 is tuple\(\*\), and the function was compiled for a tensor"), ((), TypeError, "missing"), ((1, 2), TypeError, "too many")]:
            with self.subTest(args=str(args)), self.assertRaisesRegex(error, said):
                f(*args)
        with self.assertRaisesRegex(TypeError, "parameter 'x' of .* has no spec"):
            fn.compile(lambda x: x)
        with self.assertRaisesRegex(TypeError, "takes a function"):
            fn.compile(3)
        with self.assertRaisesRegex(TypeError, "is no spec"):
            fn.compile(lambda x: x, 3)

    def test_an_error_while_recording_leaves_nothing_open(self):
        def broken(x):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            fn.compile(broken, fn.f32("n"))
        self.assertFalse(fn.recording_now())
        self.assertEqual(fn.compile(lambda x: x + 1, fn.f32("n"))([1.0]).tolist(), [2])

    def test_what_was_recorded_cannot_be_used_outside(self):
        kept = []
        fn.compile(lambda x: kept.append(x) or x, fn.f32("n"))
        with self.assertRaises(fn.UserError):
            kept[0] + 1

    def test_a_function_in_another_becomes_part_of_it(self):
        inner = fn.compile(lambda x: x * 2, fn.f32("n"))
        outer = fn.compile(lambda x: inner(x + 1) + inner(x), fn.f32("n"))
        self.assertEqual(outer([1.0]).tolist(), [6])

    def test_donated_memory_is_gone(self):
        f = fn.compile(lambda x: x + 1, fn.f32("n"))
        x = fn.tensor([1.0]) * 1
        self.assertEqual(f(fn.donate(x)).tolist(), [2])
        with self.assertRaisesRegex(fn.UserError, "donated"):
            x.tolist()

    def test_if_on_a_tensor_says_what_to_write(self):
        def f(x):
            return bool(x[0] > 0)

        with self.assertRaisesRegex(TypeError, r"firn\.select.*test_functions.py"):
            fn.compile(f, fn.f32("n"))

    def test_explanations_name_lines_of_python(self):
        f = fn.compile(lambda x: fn.tensor([1.0]) + x, fn.f32("n"))
        f([1.0, 2.0])
        self.assertIn("test_functions.py", f.explain())


class Jit(unittest.TestCase):
    def test_it_compiles_for_each_kind_of_call(self):
        f = fn.jit(lambda x, y: x + y)
        self.assertEqual(f(fn.tensor([1.0]), 2).tolist(), [3])
        self.assertEqual(f(fn.tensor([1.0]), 3).tolist(), [4])
        self.assertEqual(f.shape_count, 1)
        self.assertEqual(f(fn.tensor([1]), fn.tensor([1, 2])).tolist(), [2, 3])
        self.assertEqual(f.shape_count, 2)

    def test_structures_are_kinds_too(self):
        f = fn.jit(lambda s: s[0] + 1 if isinstance(s, tuple) else s + 2)
        self.assertEqual(f((fn.tensor([1.0]),)).tolist(), [2])
        self.assertEqual(f(fn.tensor([1.0])).tolist(), [3])

    def test_methods_have_a_program_for_each_object(self):
        class Model:
            def __init__(self, w):
                self.w = fn.tensor([w])

            @fn.jit
            def __call__(self, x):
                return x * self.w

        a, b = Model(2.0), Model(3.0)
        x = fn.tensor([1.0])
        self.assertEqual((a(x).tolist(), b(x).tolist(), a(x).tolist()), ([2], [3], [2]))
        there = weakref.ref(a)
        del a
        gc.collect()
        self.assertIsNone(there())


class Gradients(unittest.TestCase):
    def test_grad_of_values_and_functions(self):
        x = fn.tensor([1.0, 2.0])
        y = (x * x * x)[0] + x[1]
        self.assertEqual(fn.grad(y, x).tolist(), [3, 1])
        value, gradient = fn.value_and_grad(lambda s: (s["a"] * s["b"])[0])({"a": x, "b": 2 * x})
        self.assertEqual(value.item(), 2)
        self.assertEqual(gradient["a"].tolist(), [2, 0])
        self.assertEqual(fn.grad(lambda x, k: (x * k)[0])(x, 5).tolist(), [5, 0])

    def test_products(self):
        x = fn.tensor([1.0, 2.0])
        y = x * x
        self.assertEqual(fn.vjp(y, x, fn.tensor([1.0, 10.0])).tolist(), [2, 40])
        self.assertEqual(fn.jvp(y, x, fn.tensor([1.0, 1.0])).tolist(), [2, 4])

    def test_vmap(self):
        x = fn.tensor([[1.0, 2.0], [3.0, 4.0]])
        f = fn.vmap(lambda row, k: row[0] * row[1] + k, in_axes=(0, None))
        self.assertEqual(f(x, 1.0).tolist(), [3, 13])

    def test_a_compiled_step_has_gradients(self):
        @fn.compile
        def step(w: fn.f32["n"], x: fn.f32["n"], rate: fn.f32):
            def loss(w):
                return ((w - x) * (w - x))[0]

            value, g = fn.value_and_grad(loss)(w)
            return w - rate * g, value

        w, loss = step([0.0], [1.0], 0.25)
        self.assertEqual((w.tolist(), loss.item()), ([0.5], 1))

    def test_an_unused_tensor_is_named(self):
        x, z = fn.tensor([1.0]), fn.tensor([1.0])
        with self.assertRaisesRegex(fn.UserError, "test_functions.py"):
            fn.grad((x * x)[0], z)
        self.assertEqual(fn.grad((x * x)[0], z, allow_unused=True).tolist(), [0])


class Files(unittest.TestCase):
    def test_a_saved_program_is_a_file(self):
        f = fn.compile(lambda x, k: x * k, fn.f32("n"), fn.f32())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.firn")
            fn.save_program(path, f, fn.tensor([1.0, 2.0]), 2.0, devices=["vulkan-least"], arguments=["x", "k"])
            self.assertGreater(os.path.getsize(path), 500)
            with self.assertRaisesRegex(fn.UserError, "no such device|device"):
                fn.save_program(path, f, fn.tensor([1.0]), 2.0, devices=["no such device"])


class Sessions(unittest.TestCase):
    def test_with_makes_a_session_current(self):
        with fn.Session.oracle() as session:
            self.assertFalse(session.compiles)
            self.assertEqual((fn.tensor([1]) + 1).tolist(), [2])
        self.assertTrue(fn.Session.current().compiles)

    def test_a_tensor_of_another_session_is_refused(self):
        x = fn.tensor([1.0])
        with fn.Session.oracle(), self.assertRaisesRegex(fn.UserError, "another session.*test_functions.py"):
            x + 1

    def test_a_tensor_moves_between_sessions(self):
        other = fn.Session.oracle()
        x = fn.tensor([1.0, 2.0])
        y = x.to(other)
        with other:
            y = y * 10
            self.assertEqual(y.tolist(), [10, 20])
        self.assertFalse(y.session.compiles)
        self.assertIs(x.add_from(y), x)
        self.assertEqual(x.tolist(), [11, 22])
        with self.assertRaisesRegex(fn.UserError, r"add_from: .*f32\[2\].*i32\[1\].*test_functions.py"):
            x.add_from(fn.tensor([1]))

    def test_threads_have_sessions_of_their_own(self):
        out = []

        def work():
            out.append((fn.tensor([1.0]) * 2).tolist())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(out, [[2]])

    def test_prints_come_to_python(self):
        lines = []
        with fn.Session.oracle() as session:
            session.on_print(lines.append)
            self.assertEqual(lines, [])


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_what_runs(self):
        f = fn.compile(lambda x: _long(x), fn.f32("n", "n"))
        x = fn.tensor(np.eye(512, dtype="f4"))
        f(x).numpy()
        begin = time.monotonic()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            while time.monotonic() < begin + 60:
                f(x).numpy()
        self.assertLess(time.monotonic(), begin + 30)
        self.assertEqual((fn.tensor([1.0]) + 1).tolist(), [2])


def _long(x):
    for _ in range(8):
        x = x @ x
    return x


class Lifetimes(unittest.TestCase):
    def test_calls_keep_neither_memory_nor_references(self):
        f = fn.compile(lambda x, k: (x * k, x), fn.f32("n"), fn.f32())
        x = fn.tensor([1.0, 2.0]) * 1
        x.numpy()
        for _ in range(100):
            f(x, 2.0)
        gc.collect()
        references, objects, nodes = sys.getrefcount(x), len(gc.get_objects()), fn.Session.current().node_count
        for _ in range(2000):
            f(x, 2.0)
        gc.collect()
        self.assertEqual(sys.getrefcount(x), references)
        self.assertLess(len(gc.get_objects()), objects + 50)
        self.assertLessEqual(fn.Session.current().node_count, nodes + 10)


if __name__ == "__main__":
    unittest.main()
