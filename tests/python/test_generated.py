"""Functions, options, named tuples, vectors, modules and optimizers, which are made from the reference of C++."""
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import firn as fn


def run(f, *args):
    """The message of the error that a call raises."""
    try:
        f(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


class Options(unittest.TestCase):
    def test_options_are_arguments(self):
        x = fn.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(fn.sum(x).item(), 10)
        self.assertEqual(fn.sum(x, 0).tolist(), [4, 6])
        self.assertEqual(fn.sum(x, axis=-1, keep_dims=True).tolist(), [[3], [7]])
        self.assertEqual(fn.sum(x, (0, 1)).item(), 10)
        self.assertEqual(fn.sum(x, None).item(), 10)

    def test_none_is_a_value_where_cpp_has_it(self):
        x = fn.tensor([[3, 1], [2, 0]])
        self.assertEqual(fn.sort(x).tolist(), [[1, 3], [0, 2]])
        self.assertEqual(fn.sort(x, axis=None).tolist(), [0, 1, 2, 3])

    def test_tensors_of_options_take_numbers(self):
        x = fn.tensor([1.0, 2.0])
        self.assertEqual(fn.pad(x, before=[1], after=[1]).tolist(), [0, 1, 2, 0])
        self.assertEqual(fn.pad(x, before=[1], after=[0], value=9).tolist(), [9, 1, 2])
        self.assertTrue(bool(fn.all(fn.rand(4, seed=7) == fn.rand(4, seed=fn.tensor(7)))))

    def test_per_axis_options_take_one_number_or_several(self):
        x, w = fn.ones((1, 1, 3, 3)), fn.ones((1, 1, 2, 2))
        self.assertEqual(fn.conv2d(x, w, stride=2, padding=1).tolist(),
                         fn.conv2d(x, w, stride=(2, 2), padding=[1, 1]).tolist())
        self.assertIn("incompatible", run(lambda: fn.conv2d(x, w, stride=(1, 2, 3))))

    def test_enumerations_have_names(self):
        a, b = fn.tensor([1.0, 3.0]), fn.tensor([0.0, 0.0])
        self.assertEqual(fn.l1_loss(a, b, fn.Reduction.Sum).item(), 4)
        self.assertEqual(fn.l1_loss(a, b, reduction="mean").item(), 2)
        self.assertEqual(fn.l1_loss(a, b, reduction="none").tolist(), [1, 3])
        self.assertEqual(run(lambda: fn.l1_loss(a, b, reduction="men")),
                         "UserError: Reduction is one of 'mean', 'sum', 'none', and not 'men'")

    def test_dtypes_have_names(self):
        self.assertEqual(fn.zeros(2, "f16").dtype, fn.f16)
        self.assertEqual(fn.zeros(2, dtype=fn.i32).dtype, fn.i32)
        self.assertIn("there is no dtype 'f33'", run(lambda: fn.zeros(2, "f33")))

    def test_wrong_arguments_are_type_errors(self):
        self.assertIn("TypeError", run(lambda: fn.sum("a")))
        self.assertIn("TypeError", run(lambda: fn.sum(fn.zeros(2), axes=0)))
        self.assertIn("TypeError: pow of numbers alone", run(lambda: fn.pow(2, 3)))

    def test_errors_have_the_line_of_python(self):
        self.assertIn("(test_generated.py:", run(lambda: fn.matmul(fn.zeros((2, 2)), fn.zeros((3, 3)))))
        self.assertIn("(test_generated.py:", run(lambda: fn.load_npy("/nowhere.npy")))
        self.assertIn("(test_generated.py:", run(lambda: fn.Linear(0, 1)))


    def test_defaults_are_those_of_cpp(self):
        self.assertEqual(fn.Adam(Net().parameters())["eps"], fn.tensor(1e-8).item())
        self.assertEqual(fn.leaky_relu([-1.0]).item(), fn.tensor(-0.01).item())
        self.assertEqual(fn.one_hot([1], 2).dtype, fn.f32)

    def test_defaults_do_not_depend_on_the_locale(self):
        """A decimal comma, in a process whose numbers are written so before the module is loaded."""
        found = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
        commas = [name for name in found if name.startswith(("de_", "fr_", "it_", "nl_", "pl_"))]
        if not commas:
            self.skipTest("no locale with a decimal comma is installed")
        program = (f"import locale; locale.setlocale(locale.LC_ALL, {commas[0]!r}); import firn as fn; "
                   "print(fn.leaky_relu([-1.0]).item() < 0)")
        out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
        self.assertEqual(out, "True\n")


class Overloads(unittest.TestCase):
    def test_two_operands_of_max_are_compared(self):
        x = fn.tensor([[1.0, 5.0], [3.0, 4.0]])
        self.assertEqual(fn.max(x, 4).tolist(), [[4, 5], [4, 4]])
        self.assertEqual(fn.max(x, axis=0).tolist(), [3, 5])
        self.assertEqual(x.max(0).tolist(), [3, 5])
        self.assertEqual(fn.min(3, 4), 3)

    def test_ranges_of_ints_and_floats(self):
        self.assertEqual(fn.arange(3).tolist(), [0, 1, 2])
        self.assertEqual(fn.arange(2, 9, 3).tolist(), [2, 5, 8])
        self.assertEqual(fn.arange(0, 1, 0.5).tolist(), [0, 0.5])
        self.assertEqual(fn.arange(3).dtype, fn.i32)

    def test_one_shift_or_several(self):
        x = fn.tensor([[1, 2, 3], [4, 5, 6]])
        self.assertEqual(fn.roll(x, 1, axis=1).tolist(), [[3, 1, 2], [6, 4, 5]])
        self.assertEqual(fn.roll(x, [1, -2], (0, 1)).tolist(), [[6, 4, 5], [3, 1, 2]])

    def test_lists_of_tensors(self):
        x = fn.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(fn.einsum("ij,j->i", x, [1.0, 10.0]).tolist(), [21, 43])
        self.assertEqual(fn.einsum("ij,jk->ik", [x, x]).tolist(), [[7, 10], [15, 22]])
        self.assertEqual(fn.concat([x, x], axis=1).shape, (2, 4))
        self.assertEqual([part.tolist() for part in fn.meshgrid([[1, 2], [3]])], [[[1, 2]], [[3, 3]]])

    def test_axes_or_weights(self):
        x = fn.tensor([1.0, 3.0])
        self.assertEqual(fn.average(x, 0).item(), 2)
        self.assertEqual(fn.average(x, [3.0, 1.0]).item(), 1.5)
        self.assertEqual(fn.cov(x, x).shape, (2, 2))

    def test_indices_of_any_rank(self):
        i, j = fn.indices((2, 3))
        self.assertEqual((10 * i + j).tolist(), [[0, 1, 2], [10, 11, 12]])
        self.assertEqual(fn.index(fn.zeros(3), 0).tolist(), [0, 1, 2])


class Results(unittest.TestCase):
    def test_results_of_several_parts_are_named_tuples(self):
        out = fn.topk(fn.tensor([1, 3, 2]), 2)
        values, indices = out
        self.assertEqual((values.tolist(), out.indices.tolist()), ([3, 2], [1, 2]))
        self.assertEqual(fn.TopK._fields, ("values", "indices"))
        self.assertIsInstance(out, fn.TopK)

    def test_the_result_of_a_check_is_true_or_false(self):
        self.assertTrue(fn.check_gradients(lambda x: fn.sum(x * x), [fn.tensor([1.0, 2.0])]))
        self.assertFalse(fn.GradientCheck(agree=False, worst=1.0, where=""))

    def test_structs_are_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "mesh.ply")
            fn.save_ply(path, fn.Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 2]]))
            mesh = fn.load_ply(path)
            self.assertEqual(mesh.positions.shape, (3, 3))
            self.assertIsNone(mesh.normals)
            self.assertEqual(fn.bounding_box(mesh.positions).upper.tolist(), [1, 1, 0])

    def test_files_of_names_are_dicts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "both.npz")
            fn.save_npz(path, {"a": [1.0, 2.0], "b": fn.ones(3)})
            self.assertEqual(list(fn.load_npz(path)), ["a", "b"])
            self.assertEqual(fn.load_npz(path, "a").tolist(), [1, 2])

    def test_named_tuples_flow_through_compiled_functions(self):
        @fn.compile
        def decompose(a: fn.f32[2, 2]):
            return fn.qr(a)

        out = decompose([[1.0, 0.0], [0.0, 2.0]])
        self.assertIsInstance(out, fn.Qr)
        self.assertEqual((out.q @ out.r).tolist(), [[1, 0], [0, 2]])


class Vectors(unittest.TestCase):
    def values(self, vector):
        return [x.item() for x in vector]

    def test_vectors_are_made_of_parts(self):
        self.assertEqual(self.values(fn.vec3(1, 2, 3)), [1, 2, 3])
        self.assertEqual(self.values(fn.vec4(fn.vec2(1, 2), 3, 4)), [1, 2, 3, 4])
        self.assertEqual(self.values(fn.vec3(7)), [7, 7, 7])
        self.assertEqual(self.values(fn.vec2(fn.vec3(1, 2, 3))), [1, 2])
        self.assertEqual(fn.ivec2(1.0, 2).x.dtype, fn.i32)
        self.assertIn("vec3: the parts have 2 components, and not 3", run(lambda: fn.vec3(1, 2)))

    def test_operators_go_component_by_component(self):
        p, x = fn.vec3(1, 2, 3), fn.tensor(2.0)
        self.assertEqual(self.values(p * 2 + fn.vec3(1)), [3, 5, 7])
        self.assertEqual(self.values(x * p), [2, 4, 6])
        self.assertEqual(self.values(1 / fn.vec2(2, 4)), [0.5, 0.25])
        self.assertEqual(self.values(-p % 2), [1, 0, 1])
        self.assertEqual(self.values(fn.ivec2(5, 7) // 2), [2, 3])
        self.assertTrue(bool(p == fn.vec3(1, 2, 3)))
        self.assertTrue(bool(p != fn.vec3(1, 2, 4)))
        self.assertIn("TypeError", run(lambda: p + fn.vec2(1)))
        self.assertIn("vectors have no order", run(lambda: p < p))

    def test_letters_are_components(self):
        p = fn.vec4(1, 2, 3, 4)
        self.assertEqual(self.values(p.wzyx), [4, 3, 2, 1])
        self.assertEqual(self.values(p.rgb), [1, 2, 3])
        self.assertEqual(p.z.item(), 3)
        self.assertIn("has no component or attribute 'w'", run(lambda: fn.vec3(1).w))

    def test_functions_take_vectors(self):
        p = fn.vec3(1, 2, 3)
        self.assertEqual(fn.length(fn.vec2(3, 4)).item(), 5)
        self.assertEqual(self.values(fn.cross(fn.vec3(1, 0, 0), fn.vec3(0, 2, 0))), [0, 0, 2])
        self.assertEqual(self.values(fn.max(p, 2)), [2, 2, 3])
        self.assertEqual(self.values(fn.clamp(p, 1.5, 2.5)), [1.5, 2, 2.5])
        self.assertEqual(self.values(fn.sqrt(fn.vec2(4, 9))), [2, 3])
        self.assertEqual(self.values(fn.lessThan(p, 2)), [True, False, False])
        self.assertEqual(self.values(fn.select(fn.lessThan(p, 2), 0, p)), [0, 2, 3])
        self.assertTrue(bool(fn.any(fn.lessThan(p, 2))))
        self.assertEqual(fn.stack(p).tolist(), [1, 2, 3])
        self.assertEqual(self.values(fn.vec3_of(fn.tensor([1.0, 2.0, 3.0]))), [1, 2, 3])

    def test_matrices(self):
        m = fn.mat2(1, 2, 3, 4)
        self.assertEqual(fn.stack(m).tolist(), [[1, 3], [2, 4]])
        self.assertEqual(self.values(m * fn.vec2(1, 1)), [4, 6])
        self.assertEqual(self.values(fn.vec2(1, 1) * m), [3, 7])
        self.assertEqual(fn.stack(m * fn.mat2(1.0)).tolist(), [[1, 3], [2, 4]])
        self.assertEqual(fn.determinant(m).item(), -2)
        self.assertEqual(self.values(fn.look_at(fn.vec3(0, 0, 1), fn.vec3(0), fn.vec3(0, 1, 0)) * fn.vec4(0, 0, 0, 1)),
                         [0, 0, -1, 1])

    def test_vectors_flow_through_compiled_functions(self):
        @fn.compile
        def shade(x: fn.f32["n"]):
            p = fn.vec3(x, 1, 2)
            for k in fn.range(3):
                p = p * 2 + fn.vec3(k)
            return p

        self.assertEqual(shade([1.0, 2.0]).x.tolist(), [12, 20])

    def test_complex_numbers(self):
        z = fn.Complex(fn.tensor([3.0, 0.0]), fn.tensor([4.0, 1.0]))
        self.assertEqual((z * z).re.tolist(), [-7, -1])
        self.assertEqual((2 - z).im.tolist(), [-4, -1])
        self.assertEqual((z * 1j).re.tolist(), [-4, -1])
        self.assertEqual(fn.abs(z).tolist(), [5, 1])
        self.assertEqual(abs(z).tolist(), [5, 1])
        self.assertAlmostEqual(fn.pow(fn.Complex(0.0, 1.0), 2).re.item(), -1, 5)
        self.assertEqual(fn.irfft(fn.rfft([1.0, 2.0, 3.0, 4.0])).tolist(), [1, 2, 3, 4])

    def test_quaternions(self):
        about_z = fn.axis_angle(fn.vec3(0, 0, 1), math.pi / 2)
        self.assertAlmostEqual(fn.rotate(about_z * about_z, fn.vec3(1, 0, 0)).x.item(), -1, 5)


class Reads(unittest.TestCase):
    def test_readers_take_brackets(self):
        x = fn.tensor([1, 2, 3])
        self.assertEqual(fn.wrap(x)[[-1, 3, 7]].tolist(), [3, 1, 2])
        self.assertEqual(fn.wrap(x)[-1].item(), 3)
        self.assertEqual(fn.zero(x)[-1].item(), 0)
        self.assertEqual(fn.fill(x, 9)[5].item(), 9)

    def test_combining_stores_change_the_tensor(self):
        x = fn.zeros(3, fn.i32)
        fn.scatter_add(x, fn.tensor([0, 0, 2]), 1)
        self.assertEqual(x.tolist(), [2, 0, 1])
        fn.scatter_max(x, 1, 7)
        self.assertEqual(x.tolist(), [2, 7, 1])

    def test_atomics_combine_in_kernels(self):
        bins, x = fn.zeros(4, fn.i32), fn.tensor([1, 2, 2])

        @fn.kernel(3)
        def _(i):
            fn.atomic_add(bins, x[i], 1)

        self.assertEqual(bins.tolist(), [0, 1, 2, 0])


class Net(fn.Module):
    def __init__(self):
        super().__init__()
        self.first = fn.Linear(2, 8)
        self.rest = [fn.Linear(8, 8), fn.Linear(8, 1)]
        self.scale = self.add_parameter("scale", 1, fn.constant_init(1))

    def forward(self, x):
        for layer in (self.first, *self.rest[:-1]):
            x = fn.relu(layer(x))
        return self.rest[-1](x) * self.scale.value()


class Learning(unittest.TestCase):
    def test_attributes_are_parts_of_a_module(self):
        self.assertEqual([p.name for p in Net().parameters()],
                         ["first.weight", "first.bias", "rest.0.weight", "rest.0.bias", "rest.1.weight",
                          "rest.1.bias", "scale"])

    def test_add_gives_the_part_back(self):
        class Two(fn.Module):
            def __init__(self):
                super().__init__()
                self.one = self.add("one", fn.Linear(1, 1))

        self.assertEqual([name for name, _ in Two().variables()], ["one.weight", "one.bias"])

    def test_a_name_is_used_once(self):
        net = Net()

        def again():
            net.first = fn.Linear(2, 8)

        self.assertIn("UserError", run(again))

    def test_sequences_call_their_parts(self):
        net = fn.Sequential(fn.Linear(2, 16), fn.relu, fn.Linear(16, 1))
        self.assertEqual([p.name for p in net.parameters()], ["0.weight", "0.bias", "2.weight", "2.bias"])
        self.assertEqual(net(fn.ones((5, 2))).shape, (5, 1))
        self.assertEqual(len(net), 3)

    def test_a_step_lowers_the_loss(self):
        net, x = Net(), fn.rand((32, 2), seed=1)
        net.reset(3)
        y = x[:, :1] - x[:, 1:]
        optimizer = fn.Adam(net.parameters(), lr=0.01)
        losses = [optimizer.step(fn.mse_loss(net(x), y)).item() for _ in range(20)]
        self.assertLess(losses[-1], losses[0] / 2)
        self.assertEqual(optimizer.steps(), 20)

    def test_numbers_of_optimizers_have_names(self):
        optimizer = fn.SGD(Net().parameters(), momentum=0.5)
        self.assertEqual(optimizer["momentum"], 0.5)
        optimizer["lr"] = 0.25
        self.assertEqual(optimizer["lr"], 0.25)
        self.assertIn("UserError", run(lambda: optimizer["rate"]))

    def test_rules_are_functions(self):
        w = fn.Variable(1, fn.constant_init(1), True)

        def rule(u):
            u.state[0] = u.state[0] * 0.5 + u.gradient
            u.parameter = u.parameter - u.number("lr") * u.state[0]

        optimizer = fn.Optimizer([("w", w)], fn.UpdateRule(rule, state=["momentum"]), [fn.Number("lr", 0.1)])
        for _ in range(2):
            optimizer.step(fn.square(w.value()))
        self.assertAlmostEqual(w.value().item(), 0.8 - 0.1 * (1 + 1.6), 5)

    def test_initialisers_are_functions(self):
        layer = fn.Linear(2, 3, init=lambda shape, seed, stream: fn.full(shape, 0.5))
        self.assertEqual(layer.weight.value().tolist(), [[0.5, 0.5]] * 3)
        self.assertEqual(fn.constant_init(2)((2,)).tolist(), [2, 2])

    def test_schedules_are_functions(self):
        self.assertEqual(fn.warmup(10, lambda step: 4.0)(5), 2)
        self.assertAlmostEqual(fn.step_decay(1.0, 10)(25), 0.01, 6)

    def test_states_are_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "state.safetensors")
            one, two = Net(), Net()
            one.reset(1), two.reset(2)
            fn.save_state(path, one)
            fn.load_state(path, two)
            self.assertEqual(one.first.weight.value().tolist(), two.first.weight.value().tolist())
            both = fn.State(one, fn.SGD(one.parameters()))
            self.assertEqual([name for name, _ in both.numbers],
                             ["optimizer.lr", "optimizer.momentum", "optimizer.weight_decay"])

    def test_gradients_of_ones_own(self):
        def rule(xs, y, cotangent):
            return [cotangent * 10]

        x = fn.tensor([1.0, 2.0])
        y = fn.custom_gradient(lambda a: a * 2, [x], rule)
        self.assertEqual(fn.grad(fn.sum(y), x).tolist(), [10, 10])

    def test_batches_read_ahead(self):
        def read(k):
            if k == 2:
                raise KeyError("no more")
            return [fn.StoredTensor("", fn.u8, [1], bytes([k]))]

        batches = fn.Prefetch(read)
        self.assertEqual([batches.next()[0].tolist() for _ in range(2)], [[0], [1]])
        self.assertIn("no more", run(batches.next))

    def test_an_exception_of_a_function_comes_out(self):
        def fails(x):
            raise KeyError("inside")

        self.assertIn("KeyError: 'inside'", run(lambda: fn.check_gradients(fails, [fn.tensor([1.0])])))

    def test_modules_that_refer_to_one_another_are_collected(self):
        import gc
        import weakref

        net = Net()
        sequence = fn.Sequential(fn.relu, fn.relu)
        sequence.itself = lambda: sequence
        seen = weakref.ref(net)
        del net, sequence
        gc.collect()
        self.assertIsNone(seen())


if __name__ == "__main__":
    unittest.main()
