"""Elements in and out: lists, numpy, the buffer protocol, DLPack."""
import array
import ctypes
import gc
import unittest
import weakref

import numpy as np

import firn as fn


class In(unittest.TestCase):
    def test_lists_give_the_narrowest_usual_type(self):
        for data, dtype in [([1, 2], fn.i32), ([1, 2.5], fn.f32), ([True, False], fn.boolean), ([1, 2**40], fn.i64), ([2**63], fn.u64), (3, fn.i32),
                            (0.5, fn.f32), ([[1], [2]], fn.i32), ([], fn.f32), (range(3), fn.i32)]:
            with self.subTest(data=data):
                x = fn.tensor(data)
                self.assertEqual(x.dtype, dtype)
                self.assertEqual(x.tolist(), data if not isinstance(data, range) else [0, 1, 2])

    def test_a_list_of_tensors_is_their_stack(self):
        self.assertEqual(fn.tensor([fn.tensor([1, 2]), [3, 4]]).tolist(), [[1, 2], [3, 4]])

    def test_ragged_lists_are_refused(self):
        for data in ([[1, 2], [3]], [[1], 2], [1, [2]]):
            with self.subTest(data=data), self.assertRaisesRegex(fn.UserError, "ragged"):
                fn.tensor(data)

    def test_text_is_refused(self):
        for data in ("abc", ["a"], b"abc", {1: 2}, object()):
            with self.subTest(data=data), self.assertRaises(TypeError):
                fn.tensor(data)

    def test_arrays_of_every_type_keep_it(self):
        for name in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]:
            a = np.array([[0, 1, 2], [3, 4, 5]]).astype(name)
            with self.subTest(name=name):
                x = fn.tensor(a)
                self.assertEqual(x.dtype, fn.boolean if name == "?" else a.dtype)
                np.testing.assert_array_equal(x.numpy(), a)
                self.assertEqual(x.numpy().dtype, a.dtype)

    def test_strided_reversed_and_swapped_arrays_are_converted(self):
        a = np.arange(24, dtype="f4").reshape(4, 6)
        for name, b in {"strided": a[:, ::2], "reversed": a[::-1], "transposed": a.T, "big endian": a.astype(">f4"), "big i8": a.astype(">i8"),
                        "fortran": np.asfortranarray(a), "broadcast": np.broadcast_to(a[0], (3, 6)), "bool": (a > 3)[:, ::2]}.items():
            with self.subTest(name=name):
                np.testing.assert_array_equal(fn.tensor(b).numpy(), b)

    def test_what_has_no_type_is_refused_by_name(self):
        for a in (np.array([1j]), np.array(["a"]), np.array([object()]), np.zeros(1, dtype=[("a", "i4")])):
            with self.subTest(dtype=a.dtype), self.assertRaises(TypeError) as caught:
                fn.tensor(a)
            self.assertIn("test_arrays.py", str(caught.exception))

    def test_other_buffers_are_read(self):
        self.assertEqual(fn.tensor(array.array("h", [1, -2])).dtype, fn.i16)
        self.assertEqual(fn.tensor(memoryview(bytes([1, 2]))).tolist(), [1, 2])

    def test_sizes_of_zero_and_no_axes(self):
        self.assertEqual(fn.tensor(np.zeros((0, 3), "f4")).shape, (0, 3))
        self.assertEqual(fn.tensor(np.float32(2)).shape, ())
        self.assertEqual(fn.tensor(np.array(2.0)).item(), 2.0)

    def test_the_elements_are_copied(self):
        a = np.array([1.0], "f4")
        x = fn.tensor(a)
        a[0] = 5
        self.assertEqual(x.tolist(), [1])


class Out(unittest.TestCase):
    def test_an_array_of_numpy_needs_no_copy_and_cannot_be_written(self):
        x = fn.tensor([1.0, 2.0]) * 2
        a, b = x.numpy(), np.asarray(x)
        self.assertEqual(a.__array_interface__["data"][0], b.__array_interface__["data"][0])
        with self.assertRaises(ValueError):
            a[0] = 1
        with self.assertRaisesRegex(TypeError, "not writable"):
            (ctypes.c_char * 4).from_buffer(x)

    def test_it_outlives_the_tensor_and_its_versions(self):
        x = fn.tensor(np.arange(1000, dtype="f4"))
        a = x.numpy()
        x[:] = -1
        self.assertEqual(a[999], 999)
        del x
        gc.collect()
        for _ in range(20):
            fn.tensor(np.zeros(1000, "f4")) + 1  # would take the memory if it were free
        np.testing.assert_array_equal(a, np.arange(1000))

    def test_array_takes_a_dtype_and_a_copy(self):
        x = fn.tensor([1, 2])
        self.assertEqual(np.array(x, dtype="f8").dtype, np.float64)
        own = np.array(x)
        own[0] = 7
        self.assertEqual(x.tolist(), [1, 2])

    def test_bf16_becomes_float32(self):
        self.assertEqual(fn.tensor([1.5]).astype(fn.bf16).numpy().dtype, np.float32)
        with self.assertRaises(BufferError):
            memoryview(fn.tensor([1.5]).astype(fn.bf16))

    def test_numpys_functions_take_tensors(self):
        self.assertEqual(np.sum(fn.tensor([1, 2]).numpy()), 3)
        np.testing.assert_allclose(np.sin(np.asarray(fn.tensor([1.0]))), [np.sin(1)], rtol=1e-6)


class DLPack(unittest.TestCase):
    def test_numpy_takes_and_gives(self):
        x = fn.tensor([[1.0, 2.0], [3.0, 4.0]])
        a = np.from_dlpack(x)
        np.testing.assert_array_equal(a, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(fn.from_dlpack(np.arange(6.0).reshape(2, 3).T).numpy(), np.arange(6.0).reshape(2, 3).T)

    def test_torch_takes_and_gives(self):
        try:
            import torch
        except ImportError:
            self.skipTest("needs python3-torch")
        x = fn.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertTrue(torch.equal(torch.from_dlpack(x), torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
        t = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3).T
        y = fn.from_dlpack(t)
        self.assertEqual(y.dtype, fn.bf16)
        self.assertEqual(y.tolist(), t.tolist())

    def test_a_capsule_that_nobody_takes_frees_its_memory(self):
        for _ in range(100):
            fn.tensor([1.0]).__dlpack__()

    def test_the_memory_lives_as_long_as_the_consumer(self):
        x = fn.tensor(np.arange(1000, dtype="f4"))
        a = np.from_dlpack(x)
        del x
        gc.collect()
        for _ in range(20):
            fn.tensor(np.zeros(1000, "f4")) + 1
        np.testing.assert_array_equal(a, np.arange(1000))

    def test_the_host_has_no_streams(self):
        with self.assertRaisesRegex(fn.UserError, "has no streams"):
            fn.tensor([1]).__dlpack__(stream=1)

    def test_another_device_is_refused(self):
        class OnGpu:
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self, stream=None):
                raise AssertionError("not asked for")

        with self.assertRaisesRegex(fn.UserError, "another device"):
            fn.tensor(OnGpu())


class Lifetimes(unittest.TestCase):
    def test_no_reference_is_kept(self):
        class Data(list):
            pass

        data = Data([1.0, 2.0])
        there = weakref.ref(data)
        x = fn.tensor(data)
        del data
        self.assertIsNone(there())
        self.assertEqual(x.tolist(), [1, 2])


if __name__ == "__main__":
    unittest.main()
