"""Runs waves by a saved program from Python, on a device of Firn's own, beside the same by numpy.

usage: python_host.py libfirn_runtime.so.1 wave.firn"""
import ctypes as c
import sys

import numpy as np


class Shape(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("extents", c.c_int64 * 8)]


class Binding(c.Structure):
    _fields_ = [("buffer", c.c_void_p), ("image", c.c_void_p), ("offset", c.c_uint64), ("bytes", c.c_uint64)]


if len(sys.argv) != 3:
    sys.exit(__doc__)
firn = c.CDLL(sys.argv[1])
firn.firn_message.restype = firn.firn_context_device.restype = firn.firn_code_name.restype = c.c_char_p
firn.firn_message.argtypes = firn.firn_context_device.argtypes = [c.c_void_p]
firn.firn_buffer_release.restype = firn.firn_call_release.restype = firn.firn_program_release.restype = None
context, program, call = c.c_void_p(), c.c_void_p(), c.c_void_p()
text = c.create_string_buffer(512)


def check(code):
    if code != 0:
        why = firn.firn_message(context) if context else text.value
        sys.exit(f"python_host: {firn.firn_code_name(code).decode()}: {why.decode()}")


def buffer_of(array):
    buffer = c.c_void_p()
    check(firn.firn_buffer_create(context, c.c_uint64(array.nbytes), c.byref(buffer)))
    check(firn.firn_buffer_write(buffer, c.c_uint64(0), array.ctypes.data_as(c.c_void_p), c.c_size_t(array.nbytes)))
    return buffer


check(firn.firn_context_create_own(None, c.byref(context), text, c.c_size_t(len(text))))
print("device:", firn.firn_context_device(context).decode())
with open(sys.argv[2], "rb") as file:
    data = file.read()
check(firn.firn_program_load(context, data, c.c_size_t(len(data)), c.byref(program)))

n, m, dt, steps = 96, 160, 0.3, 100
i, j = np.indices((n, m), dtype=np.float32)
u = np.exp(-np.float32(0.01) * ((i - n // 2) ** 2 + (j - m // 2) ** 2))  # a drop
v = np.zeros_like(u)
shapes = (Shape * 3)(*[Shape(2, (n, m)), Shape(2, (n, m)), Shape()])  # u, v, and the number dt
check(firn.firn_call_create(program, shapes, 3, c.byref(call)))
check(firn.firn_call_set_parameter(call, 0, c.byref(c.c_double(dt)), 1))
sides = [[buffer_of(u), buffer_of(v)], [buffer_of(u), buffer_of(v)]]
for step in range(steps):  # the results of a step are the arguments of the next one
    a, b = sides[step % 2], sides[1 - step % 2]
    arguments, results = (Binding * 3)(Binding(a[0]), Binding(a[1])), (Binding * 2)(Binding(b[0]), Binding(b[1]))
    check(firn.firn_call_bind(call, arguments, 3, results, 2, None))
    check(firn.firn_submit(call, None, None))
seen = np.empty_like(u)
check(firn.firn_buffer_read(sides[steps % 2][0], c.c_uint64(0), seen.ctypes.data_as(c.c_void_p), c.c_size_t(seen.nbytes)))

firn.firn_call_release(call)
for buffer in sides[0] + sides[1]:
    firn.firn_buffer_release(buffer)
firn.firn_program_release(program)
check(firn.firn_context_destroy(context))

for step in range(steps):  # beyond an edge is the element at the edge
    p = np.pad(u, 1, mode="edge")
    v = v + np.float32(dt) * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
    u = u + np.float32(dt) * v
print(f"sum of squares {np.sum(seen.astype(np.float64) ** 2):.6f}, by numpy {np.sum(u.astype(np.float64) ** 2):.6f}")
print(f"largest difference {np.max(np.abs(seen - u)):.2g}")
sys.exit(0 if np.allclose(seen, u, rtol=0, atol=1e-5) else "python_host: Firn and numpy differ")
