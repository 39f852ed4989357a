"""Random programs mean to Firn what they mean to Python over numpy.

FIRN_PYTHON_PROGRAMS is their number and FIRN_PYTHON_SEED the first seed.
"""

import linecache
import os
import unittest

import numpy as np

import firn as fn
import random_programs
from firn import recording, rewriting

COUNT = int(os.environ.get("FIRN_PYTHON_PROGRAMS", 200))
SEED = int(os.environ.get("FIRN_PYTHON_SEED", 1))
EVERY = 10  # so many programs share a session, and one of them runs as native code


class Box:
    def __init__(self, u, v):
        self.u, self.v = u, v


class Array(np.ndarray):
    """numpy's array with the assignments of Firn: `x += 1` binds x anew, and slices are values."""

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return found.copy() if isinstance(index, slice) else found

    __iadd__ = __isub__ = None


def array(numbers):
    made = np.array(numbers, dtype=np.int64 if isinstance(numbers[0], int) else np.float64)
    return made.view(Array)


def load(text, seed, names):
    file = f"<program {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names["program"]


def of_python(text, seed, arguments):
    names = {"Box": Box, "loop_range": range, "select": np.where}
    given = [array(each) if isinstance(each, list) else each for each in arguments]
    return load(text, seed, names)(*given)


def of_firn(text, seed, arguments, session):
    names = {"Box": Box, "loop_range": fn.range, "select": fn._firn._choose}
    with session:
        program = fn.jit(load(text, seed, names))
        given = [fn.tensor(each) if isinstance(each, list) else each for each in arguments]
        return [np.asarray(each) for each in program(*given)]


def difference(seed, session):
    """What a program gives to Python and to Firn, where that differs; else None."""
    text, arguments = random_programs.program(seed), random_programs.arguments(seed)
    expected = [np.asarray(each, dtype=np.float64) for each in of_python(text, seed, arguments)]
    try:
        found = of_firn(text, seed, arguments, session)
    except Exception as error:
        return f"program {seed} is refused: {error}\n{text}{arguments}"
    if all(np.array_equal(a, np.asarray(b, dtype=np.float64)) for a, b in zip(expected, found)):
        return None
    return f"program {seed}: {expected} of Python, {found} of Firn\n{text}{arguments}"


class RandomProgramsTest(unittest.TestCase):
    def test_programs(self):
        for begin in range(SEED, SEED + COUNT, EVERY):
            sessions = [fn.Session.oracle(), fn.Session.interpreter()]
            native = fn.Session(device="cpu")
            for seed in range(begin, min(begin + EVERY, SEED + COUNT)):
                session = native if seed == begin else sessions[seed % 2]
                found = difference(seed, session)
                self.assertIsNone(found, found)

    def finds(self, place, name, changed):
        """Plants a fault, and looks for a program that it changes."""
        kept = place.__dict__[name]
        setattr(place, name, changed(kept))
        rewriting._rewritten.clear()
        try:
            session = fn.Session.oracle()
            found = next((seed for seed in range(1, 121) if difference(seed, session)), None)
        finally:
            setattr(place, name, kept)
            rewriting._rewritten.clear()
        self.assertIsNotNone(found)
        self.assertIsNone(difference(found, session))

    def test_a_carrier_that_is_dropped_is_found(self):
        def dropped(needed):
            return lambda self, statement: frozenset(sorted(needed(self, statement) - {"i1"}))

        self.finds(rewriting.Liveness, "needed", dropped)

    def test_sides_that_are_swapped_are_found(self):
        def swapped(make):
            def branch(self, condition, *more):
                return make(self, recording.not_(condition) if isinstance(condition, fn.Tensor) else condition, *more)

            return branch

        self.finds(recording.Frame, "branch", swapped)

    def test_continue_as_break_is_found(self):
        def broken(leave):
            return lambda self, loop, what, *more: leave(self, loop, "break" if loop.recorded else what, *more)

        self.finds(recording.Frame, "leave", broken)

    def test_a_store_that_is_not_carried_is_found(self):
        def kept(sync):
            return lambda self, value: value if type(value) is fn.Tensor else sync(self, value)

        self.finds(recording.Held, "sync", kept)

    def test_a_second_side_that_begins_as_the_first_ended_is_found(self):
        def otherwise(end):
            def without_names(self, values):
                out = end(self, values)
                self.values = list(values)
                return out

            return without_names

        self.finds(recording.Branch, "otherwise", otherwise)


if __name__ == "__main__":
    unittest.main()
