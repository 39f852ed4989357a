"""Tensors in Python: operators, indices, conversions and messages."""
import copy
import unittest

import numpy as np

import firn as fn


class Operators(unittest.TestCase):
    def check(self, tensor, expected):
        expected = np.asarray(expected)
        np.testing.assert_array_equal(tensor.numpy(), expected)
        self.assertEqual(tensor.shape, expected.shape)

    def test_numbers_take_the_type_of_tensors(self):
        self.assertEqual((fn.tensor([1.0]) * 2).dtype, fn.f32)
        self.assertEqual((2 + fn.tensor([1])).dtype, fn.i32)
        self.assertEqual((fn.tensor([1]) * 0.5).dtype, fn.f32)
        self.assertEqual((fn.tensor([1.0]) * np.float64(2)).dtype, fn.f32)
        self.assertEqual((np.int64(2) * fn.tensor([1])).dtype, fn.i32)

    def test_shapes_broadcast(self):
        self.check(fn.tensor([1, 2]) + fn.tensor([[10], [20]]), [[11, 12], [21, 22]])

    def test_integers_divide_as_in_python(self):
        a, b = np.array([7, -7, 7, -7, 6]), np.array([2, 2, -2, -2, 3])
        x, y = (fn.tensor(each.astype("i4")) for each in (a, b))
        self.check(x // y, a // b)
        self.check(x % y, a % b)
        self.check(x / y, (a / b).astype("f4"))
        self.check(-7 // y, -7 // b)

    def test_floats_divide_as_in_python(self):
        a, b = np.array([7.5, -7.5], "f4"), np.array([2, 2], "f4")
        self.check(fn.tensor(a) // b, a // b)
        self.check(fn.tensor(a) % b, a % b)

    def test_all_other_operators(self):
        x, y = fn.tensor([6, 3]), fn.tensor([3, 5])
        a, b = np.array([6, 3]), np.array([3, 5])
        self.check(x - y, a - b)
        self.check(x**2, a**2)
        self.check(2**x, 2**a)
        self.check(x & y, a & b)
        self.check(x | y, a | b)
        self.check(x ^ y, a ^ b)
        self.check(x << 1, a << 1)
        self.check(x >> 1, a >> 1)
        self.check(-x, -a)
        self.check(+x, a)
        self.check(~x, ~a)
        self.check(abs(-x), a)
        self.check(x < y, a < b)
        self.check(x <= y, a <= b)
        self.check(x > y, a > b)
        self.check(x >= 3, a >= 3)
        self.check(x == 3, a == 3)
        self.check(x != y, a != b)
        m = np.arange(6, dtype="f4").reshape(2, 3)
        self.check(fn.tensor(m) @ fn.tensor(m.T.copy()), m @ m.T)

    def test_arrays_of_numpy_on_either_side_give_tensors(self):
        x, a = fn.tensor([1.0, 2.0]), np.array([3, 4], "f4")
        for sum_ in (x + a, a + x):
            self.assertIsInstance(sum_, fn.Tensor)
            self.check(sum_, [4, 6])

    def test_augmented_assignment_rebinds(self):
        x = fn.tensor([1, 2])
        y = x
        x += 1
        self.check(x, [2, 3])
        self.check(y, [1, 2])

    def test_a_store_is_seen_by_all_names_and_no_copy(self):
        x = fn.tensor([1, 2])
        y, z, w = x, x.copy(), copy.deepcopy(x)
        x[0] = 9
        self.check(y, [9, 2])
        self.check(z, [1, 2])
        self.check(w, [1, 2])

    def test_tensors_are_keys_by_identity(self):
        x = fn.tensor([1])
        self.assertEqual({x: "a"}[x], "a")


class Indices(unittest.TestCase):
    def test_reads_are_numpys(self):
        a = np.arange(24).reshape(2, 3, 4).astype("i4")
        x = fn.tensor(a)
        for key in [0, -1, (1, 2), (0, -1, -1), slice(None), (slice(None), 1), (Ellipsis, 0), (0, Ellipsis, 1), None,
                    (slice(None), None, 1), (slice(None), slice(2, 0, -1)), (slice(None), slice(-2, None), slice(0, 99, 3)),
                    (slice(None), [2, 0]), (1, np.array([0, 2]))]:
            with self.subTest(key=key):
                np.testing.assert_array_equal(x[key].numpy(), a[key])

    def test_stores_are_numpys(self):
        a = np.arange(12).reshape(3, 4).astype("i4")
        for key, value in [(0, 7), ((slice(None), -1), [1, 2, 3]), ((slice(None, None, 2), slice(1, 3)), 5), ((Ellipsis, 0), 9),
                           ((2, 3), -1), (([0, 2], 1), 8), (slice(None), 3)]:
            with self.subTest(key=key):
                b, x = a.copy(), fn.tensor(a)
                b[key] = value
                x[key] = value
                np.testing.assert_array_equal(x.numpy(), b)

    def test_masks_choose_and_store(self):
        a = np.array([1.0, -2, 3, -4], "f4")
        x = fn.tensor(a)
        np.testing.assert_array_equal(x[x > 0].numpy(), a[a > 0])
        x[x < 0] = 0
        np.testing.assert_array_equal(x.numpy(), np.where(a < 0, 0, a))

    def test_tensors_as_indices_clamp_at_the_edge(self):
        x = fn.tensor([10, 11, 12])
        self.assertEqual(x[fn.tensor([-1, 9, 1])].tolist(), [10, 12, 11])

    def test_rows_are_iterated(self):
        self.assertEqual([row.tolist() for row in fn.tensor([[1, 2], [3, 4]])], [[1, 2], [3, 4]])
        self.assertEqual(len(fn.tensor([[1, 2]])), 1)

    def test_wrong_indices_are_named(self):
        x = fn.tensor([[1, 2, 3]])
        for key, error, said in [((0, 3), IndexError, "index 3 is outside of axis 1 of size 3"),
                                 (-2, IndexError, "index -2 is outside of axis 0 of size 1"),
                                 ((0, 0, 0), IndexError, "too many indices: the tensor has 2 axes"),
                                 (1.0, TypeError, "indices are integers, not floats"),
                                 (fn.tensor([1.0]), TypeError, "convert by .astype(firn.i32)"),
                                 (True, TypeError, "a mask is a tensor of bools"),
                                 ("a", TypeError, "an index is an int"),
                                 (slice(fn.tensor(1), None), TypeError, "a slice ends at ints")]:
            with self.subTest(key=str(key)), self.assertRaisesRegex(error, said.replace("(", r"\(").replace(")", r"\)").replace(".", r"\.")):
                x[key]


class Numbers(unittest.TestCase):
    def test_one_element_is_a_number(self):
        self.assertEqual(float(fn.tensor([2.5])), 2.5)
        self.assertEqual(int(fn.tensor(7)), 7)
        self.assertEqual([10, 20][fn.tensor(1)], 20)
        self.assertIs(fn.tensor(True).item(), True)
        self.assertEqual(fn.tensor(2**63, dtype=fn.u64).item(), 2**63)
        self.assertTrue(fn.tensor(3))
        self.assertFalse(fn.tensor([0.0]))

    def test_several_are_none(self):
        with self.assertRaisesRegex(fn.UserError, r"write firn\.any\(x\) or firn\.all\(x\) \(test_tensor.py:"):
            bool(fn.tensor([1, 2]))
        with self.assertRaisesRegex(fn.UserError, "test_tensor.py:"):
            float(fn.tensor([1, 2]))

    def test_errors_name_the_line_of_python(self):
        line = Numbers.test_errors_name_the_line_of_python.__code__.co_firstlineno + 3
        with self.assertRaisesRegex(fn.UserError, rf"\(test_tensor.py:{line}\)$"):
            fn.tensor([1, 2]) + fn.tensor([1, 2, 3])

    def test_operands_that_are_none_are_type_errors(self):
        for wrong in ("text", object(), None, 1j):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                fn.tensor([1]) + wrong

    def test_an_integer_beyond_64_bits_is_refused(self):
        with self.assertRaisesRegex(fn.UserError, "beyond 64 bits"):
            fn.tensor([1]) * 2**70


class Types(unittest.TestCase):
    def test_dtypes_have_several_names(self):
        for name in (fn.f32, "f32", "float32", np.float32, np.dtype("float32"), float):
            self.assertEqual(fn.tensor([1]).astype(name).dtype, fn.f32)
        self.assertEqual(fn.tensor([1.7]).astype(int).tolist(), [1])
        self.assertEqual(fn.f16.name, "f16")
        self.assertEqual(fn.bf16.itemsize, 2)

    def test_unknown_ones_are_listed(self):
        with self.assertRaisesRegex(TypeError, "there is no dtype 'complex64'; there are f32, f16"):
            fn.tensor([1]).astype(np.complex64)

    def test_specs_are_printed(self):
        self.assertEqual(repr(fn.f32["n", 4]), "f32[n, 4]")
        self.assertEqual(fn.f32("n", 4), fn.f32["n", 4])
        self.assertEqual(repr(fn.i32), "firn.i32")


if __name__ == "__main__":
    unittest.main()
