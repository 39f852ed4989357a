"""Control flow over tensors: what rewritten functions and the forms by `with` record, and what they refuse."""

import ast
import dataclasses
import functools
import importlib.util
import linecache
import multiprocessing
import os
import sys
import tempfile
import typing
import unittest

import numpy as np

import firn as fn


def line(offset=0):
    """The line of the caller."""
    return sys._getframe(1).f_lineno + offset


def values(x):
    return np.asarray(x).tolist()


@dataclasses.dataclass
class State:
    u: typing.Any
    v: typing.Any


class Pair(typing.NamedTuple):
    a: typing.Any
    b: typing.Any


class ControlTest(unittest.TestCase):
    def setUp(self):
        self.session = fn.Session.interpreter()
        self.session.__enter__()
        self.addCleanup(self.session.__exit__, None, None, None)

    def run_jit(self, function, *args):
        return fn.jit(function)(*args)

    def gives(self, function, args, expected):
        args = [fn.tensor(each) if isinstance(each, list) else each for each in args]
        result = self.run_jit(function, *args)
        flat = values(result) if isinstance(result, fn.Tensor) else [values(each) for each in result]
        self.assertEqual(flat, expected)

    def refuses(self, function, args, *parts, error=fn.UserError):
        args = [fn.tensor(each) if isinstance(each, list) else each for each in args]
        with self.assertRaises(error) as caught:
            self.run_jit(function, *args)
        for part in parts:
            self.assertIn(part, str(caught.exception))


class Loops(ControlTest):
    def test_a_name_is_carried(self):
        def f(x):
            for _ in fn.range(5):
                x = x * 2
            return x

        self.gives(f, [[1, 3]], [32, 96])

    def test_the_old_value_survives(self):
        def f(x):
            old = x
            for _ in fn.range(3):
                x += 1
            return old, x

        self.gives(f, [[1]], [[1], [4]])

    def test_two_names_swap(self):
        def f(a, b):
            for _ in fn.range(3):
                a, b = b, a + b
            return a, b

        self.gives(f, [[0], [1]], [[2], [3]])

    def test_the_index_counts(self):
        def f(x):
            for i in fn.range(2, 9, 3):
                x = x * 10 + i
            for i in fn.range(3, 0, -1):
                x = x * 10 + i
            return x

        self.gives(f, [[0]], [258321])

    def test_a_bound_may_be_a_tensor(self):
        def f(x, n):
            for i in fn.range(n):
                x = x + i
            return x

        self.gives(f, [[0], 4], [6])

    def test_no_iteration_leaves_everything(self):
        def f(x):
            for _ in fn.range(0):
                x = x * 0
            return x

        self.gives(f, [[7]], [7])

    def test_loops_nest(self):
        def f(x):
            for i in fn.range(3):
                for j in fn.range(i):
                    x = x + 10 * i + j
            return x

        self.gives(f, [[0]], [51])

    def test_a_loop_over_a_list_is_pythons(self):
        def f(x):
            for k in [1, 2, 3]:
                x = x * 10 + k
            else:
                x = x * 10
            return x

        self.gives(f, [[0]], [1230])

    def test_a_name_of_an_iteration_is_not_carried(self):
        def f(x):
            for i in fn.range(2):
                t = x + i
                x = t * 2
            for i in fn.range(2):
                t = i * 1.0
                x = x + 1
            return x

        self.gives(f, [[1]], [8])

    def test_a_name_of_an_iteration_is_refused_behind_the_loop(self):
        def f(x):
            for i in fn.range(3):
                t = x + i
            return t

        self.refuses(f, [[1]], "'t'", "only inside of the loop", f"test_control.py:{line(-2)}")

    def test_the_index_is_refused_behind_the_loop(self):
        def f(x):
            for i in fn.range(3):
                x = x + i
            return x + i

        self.refuses(f, [[1]], "'i'", f"test_control.py:{line(-2)}")

    def test_a_recorded_loop_has_no_else(self):
        def f(x):
            for i in fn.range(3):
                x = x + i
            else:
                x = x + 1
            return x

        self.refuses(f, [[1]], "no else", f"test_control.py:{line(-6)}")

    def test_while_over_a_tensor(self):
        def f(x):
            n = 0
            while x > 1:
                x = x * 0.5
                n += 1
            return x, n

        self.gives(f, [10.0], [0.625, 4])

    def test_while_over_elements(self):
        def f(x):
            while x > 1:
                x = x * 0.5
            return x

        self.gives(f, [[10.0, 3.0]], [0.625, 0.75])

    def test_while_over_pythons_values_is_pythons(self):
        def f(x):
            k = 0
            while k < 3:
                x = x + k
                k += 1
            return x

        self.gives(f, [[1]], [4])

    def test_a_condition_may_assign(self):
        def f(x):
            total = 0
            while (x := x - 1) > 0:
                total = total + x
            return total, x

        self.gives(f, [4], [6, 0])

    def test_a_condition_is_recorded_once(self):
        calls = []

        def small(x):
            calls.append(1)
            return x < 100

        def f(x):
            while small(x):
                x = x * 2
            return x

        self.gives(f, [3], 192)
        self.assertLessEqual(len(calls), 2)


class Branches(ControlTest):
    def test_both_sides_assign(self):
        def f(x):
            if x > 2:
                y = x * 10
            else:
                y = -x
            return y

        self.gives(f, [3], 30)
        self.gives(f, [1], -1)

    def test_one_side_keeps_the_value(self):
        def f(x):
            if x > 2:
                x = x * 10
            return x

        self.gives(f, [3], 30)
        self.gives(f, [1], 1)

    def test_elif(self):
        def f(x):
            if x < 0:
                s = -1
            elif x == 0:
                s = 0
            else:
                s = 1
            return s

        self.assertEqual([values(self.run_jit(f, x)) for x in (-5, 0, 7)], [-1, 0, 1])

    def test_a_condition_of_pythons_runs_one_side(self):
        def f(x, flag=True):
            if flag:
                return x
            raise ValueError

        self.gives(f, [[1]], [1])

    def test_a_mask_chooses_by_element(self):
        def f(x):
            if x < 0:
                x = -x
            else:
                x = 10 * x
            return x

        self.gives(f, [[-1.0, 2.0]], [1.0, 20.0])

    def test_a_number_becomes_a_tensor(self):
        def f(x):
            n = 3
            if x > 0:
                n = x * 0.5
            return n

        self.gives(f, [1.0], 0.5)
        self.gives(f, [-1.0], 3.0)

    def test_a_number_stays_one_where_it_is_not_assigned(self):
        def f(x, never=False):
            n = 3
            if x > 0:
                if never:
                    n = 4
                x = x + 1
            return fn.Tensor([1, 2, 3, 4])[:n] * x

        self.gives(f, [1], [2, 4, 6])

    def test_one_side_only_is_refused_where_it_is_used(self):
        def f(x):
            if x > 0:
                y = x
            return y

        self.refuses(f, [1], "'y'", "one branch only", f"test_control.py:{line(-4)}", f"test_control.py:{line(-2)}")

    def test_one_side_only_is_allowed_where_it_is_not_used(self):
        def f(x):
            if x > 0:
                y = x
                x = y + 1
            return x

        self.gives(f, [1], 2)

    def test_none_is_refused(self):
        def f(x):
            y = None
            if x > 0:
                y = x
            return y

        self.refuses(f, [1], "'y' is None", f"test_control.py:{line(-3)}")

    def test_a_value_that_is_not_used_may_be_of_a_scope_that_has_ended(self):
        def f(x):
            y = x
            for i in fn.range(3):
                if x > 5:
                    y = x + 1
                if x > 2:
                    y = x
                else:
                    y = -2 * x
                x = x + y
            return x, y

        self.gives(f, [3], [24, 12])
        self.gives(f, [1], [-1, -2])

    def test_conditional_expression(self):
        def f(x):
            a = x if x > 2 else -x
            b, c = (x, 1) if x > 2 else (2, x)
            return a, b, c

        self.gives(f, [[1, 3]], [[-1, 3], [2, 3], [1, 1]])

    def test_and_or_not(self):
        def f(x):
            inside = x > 1 and x < 4
            return inside or x == 9, not inside

        self.gives(f, [[1, 2, 9]], [[False, True, True], [True, False, True]])

    def test_chained_comparison(self):
        def f(x):
            return 1 < x <= 3 != x

        self.gives(f, [[1, 2, 3]], [False, True, False])

    def test_and_of_numbers_is_refused(self):
        def f(x):
            return x and x > 1

        self.refuses(f, [[1]], "bools", f"test_control.py:{line(-2)}")

    def test_match_of_pythons_values(self):
        def f(x, kind="b"):
            match kind:
                case "a":
                    x = x + 1
                case other:
                    x = x * 10
            return x

        self.gives(f, [[2]], [20])


class Jumps(ControlTest):
    def test_break_under_a_condition(self):
        def f(x):
            for _ in fn.range(10):
                if x > 100:
                    break
                x = x * 2
            return x

        self.gives(f, [[1, 50]], [128, 200])

    def test_continue_under_a_condition(self):
        def f(odd):
            for i in fn.range(6):
                if i % 2 == 0:
                    continue
                odd = odd + i
            return odd

        self.gives(f, [[0]], [9])

    def test_while_until_break(self):
        def f(x):
            while fn.Tensor(True):
                x = x * 2
                if x > 100:
                    break
            return x

        self.gives(f, [3], 192)

    def test_break_in_else(self):
        def f(x):
            n = 0
            while True if isinstance(x, int) else x > 0:
                if x > 3:
                    x = x - 2
                else:
                    break
                n = n + 1
            return x, n

        self.gives(f, [8], [2, 3])

    def test_break_without_a_condition(self):
        def f(x, once=True):
            for i in fn.range(10):
                x = x + 1
                if once:
                    break
                x = x + undefined
            return x

        self.gives(f, [[1]], [2])

    def test_break_leaves_the_innermost_loop(self):
        def f(x):
            for i in fn.range(3):
                for j in fn.range(10):
                    if j == i:
                        break
                    x = x + 1
                x = x + 100
            return x

        self.gives(f, [[0]], [303])

    def test_break_of_a_loop_of_pythons_under_a_tensor_is_refused(self):
        def f(x):
            for k in [1, 2]:
                if x > 0:
                    break
            return x

        self.refuses(f, [1], "break", "loop of Python's", f"test_control.py:{line(-3)}")

    def test_break_of_a_loop_of_pythons_in_a_recorded_one(self):
        def f(x):
            for i in fn.range(2):
                for k in [1, 2, 3]:
                    if k == 3:
                        break
                    if k == 1:
                        continue
                    x = x + k
            return x

        self.gives(f, [[0]], [4])

    def test_early_return(self):
        def f(x):
            if x > 10:
                return x
            x = x * 2
            if x > 10:
                return -x
            return x * 100

        self.assertEqual([values(self.run_jit(f, x)) for x in (11, 6, 1)], [11, -12, 200])

    def test_return_in_both_sides(self):
        def f(x):
            if x > 10:
                return x, 1
            else:
                return -x, 0

        self.gives(f, [11], [11, 1])
        self.gives(f, [1], [-1, 0])

    def test_return_on_some_paths_of_a_side(self):
        def f(x):
            if x > 0:
                if x > 10:
                    return x
                x = x + 1
            x = x * 2
            return x

        self.assertEqual([values(self.run_jit(f, x)) for x in (20, 5, -3)], [20, 12, -6])

    def test_return_joins_types(self):
        def f(x):
            if x > 0:
                return 1
            return x * 0.5

        self.gives(f, [-3.0], -1.5)
        self.gives(f, [3.0], 1.0)

    def test_a_path_without_return_is_refused(self):
        def f(x):
            if x > 0:
                return x

        self.refuses(f, [1], "returns", "None", "test_control.py")

    def test_return_in_a_recorded_loop_is_refused(self):
        def f(x):
            for i in fn.range(3):
                if x > 1:
                    return x
            return x

        self.refuses(f, [1], "return", "recorded loop", f"test_control.py:{line(-3)}")

    def test_return_in_the_else_of_a_loop_is_refused(self):
        def f(x):
            for k in [1, 2]:
                x = x + 1
            else:
                if x > 1:
                    return x
            return -x

        self.refuses(f, [1], "return", f"test_control.py:{line(-3)}")

    def test_return_in_a_loop_of_pythons(self):
        def f(x):
            for k in [1, 2]:
                if k == 2:
                    return x * k
            return x

        self.gives(f, [[3]], [6])


class Carried(ControlTest):
    def test_an_integer_becomes_a_float(self):
        def f(x):
            total = 0
            for i in fn.range(3):
                total = total + x[i]
            return total

        self.gives(f, [[0.5, 1.0, 2.0]], 3.5)

    def test_an_integer_of_an_outer_loop_becomes_a_float(self):
        def f(x):
            total = 0
            for i in fn.range(3):
                for j in fn.range(2):
                    if j == 1:
                        total = total + x[i]
            return total

        self.gives(f, [[0.5, 1.0, 2.0]], 3.5)

    def test_an_integer_becomes_a_float_in_a_later_scope(self):
        def f(x):
            n = 0
            if x > 1:
                n = 4
            for i in fn.range(2):
                n = n + 0.5
            if x > 2:
                n = n * x
            return n

        self.gives(f, [2.0], 5.0)
        self.gives(f, [3.0], 15.0)
        self.gives(f, [1.0], 1.0)

    def test_a_tensor_keeps_its_type(self):
        def f(x):
            for i in fn.range(3):
                x = x * 0.5
            return x

        self.refuses(f, [[1]], "i32", "f32", f"test_control.py:{line(-3)}")

    def test_a_flag(self):
        def f(x):
            found = False
            for i in fn.range(3):
                if x[i] == 5:
                    found = True
            return found

        self.gives(f, [[1, 5, 2]], True)
        self.gives(f, [[1, 4, 2]], False)

    def test_structures(self):
        def f(x):
            pair, state, parts, named = (x, 0), State(x, x), [x, {"k": x}], Pair(x, 1)
            for i in fn.range(2):
                pair = pair[1] + 1, pair[0]
                state = State(state.v, state.u + 1)
                parts = [parts[1]["k"] + 1, {"k": parts[0]}]
                named = named._replace(b=named.b + i)
            return pair[0], state.u, parts[0], named.b

        self.gives(f, [10], [11, 11, 11, 2])

    def test_another_structure_is_refused(self):
        def f(x):
            pair = x, x
            for i in fn.range(2):
                pair = x, x, x
            return pair

        self.refuses(f, [1], "'pair'", "tuple", "structure", f"test_control.py:{line(-3)}")

    def test_an_attribute_is_carried(self):
        def f(x):
            s = State(x, 0)
            for i in fn.range(3):
                s.u = s.u + 1
                s.v += i
            return s.u, s.v

        self.gives(f, [5], [8, 3])

    def test_an_attribute_of_an_object_that_is_bound_anew(self):
        def f(x):
            s = State(x, x)
            for i in fn.range(3):
                s = State(s.v, s.u)
                s.u = s.u + 1
            return s.u, s.v

        self.gives(f, [0], [2, 1])

    def test_an_attribute_in_a_branch(self):
        def f(x):
            s = State(x, None)
            if x > 3:
                s.u = x * 10
            else:
                s.u = x - 1
            return s.u

        self.gives(f, [5], 50)
        self.gives(f, [1], 0)

    def test_an_attribute_by_a_method(self):
        class Model:
            def __init__(self, u):
                self.u = u

            @fn.function
            def step(self, i):
                if self.u < 100:
                    self.u = self.u * 2 + i

            @fn.function
            def run(self):
                for i in fn.range(3):
                    self.u = self.u + 0
                    self.step(i)

        def f(x):
            model = Model(x)
            model.run()
            return model.u

        self.gives(f, [1], 12)

    def test_an_attribute_by_a_method_alone_is_refused(self):
        class Model:
            def __init__(self, u):
                self.u = u

            def step(self):
                self.u = self.u + 1

        def f(x):
            model = Model(x)
            for i in fn.range(3):
                model.step()
            return model.u

        self.refuses(f, [1], "model.u", "the loop at", f"test_control.py:{line(-4)}")

    def test_an_attribute_of_a_global_by_a_function_is_refused(self):
        global some_model
        some_model = State(0, 0)

        def step():
            some_model.u = some_model.u + 1

        def f(x):
            for i in fn.range(3):
                step()
                x = x + some_model.u
            return x

        self.refuses(f, [1], "some_model.u", f"test_control.py:{line(-5)}")

    def test_a_list_that_grows_is_refused(self):
        def f(x):
            out = []
            for i in fn.range(3):
                out.append(x + i)
            return out[0]

        self.refuses(f, [1], "out", "other elements", f"test_control.py:{line(-4)}")

    def test_a_store_to_a_dict_is_refused(self):
        def f(x):
            out = {"a": x}
            for i in fn.range(3):
                out["a"] = out["a"] + i
            return out["a"]

        self.refuses(f, [1], "out['a']", f"test_control.py:{line(-4)}")

    def test_a_store_by_index(self):
        def f(x):
            for i in fn.range(3):
                x[i] = x[i] + i
            return x

        self.gives(f, [[5, 5, 5, 5]], [5, 6, 7, 5])

    def test_a_store_under_a_condition(self):
        def f(x):
            for i in fn.range(4):
                if x[i] > 2:
                    x[i] = 0
            return x

        self.gives(f, [[1, 3, 2, 5]], [1, 0, 2, 0])

    def test_a_store_to_a_name_that_is_bound_anew(self):
        def f(x):
            for i in fn.range(3):
                x = x + 1
                if i == 1:
                    x[0] = 100
                x[i] += 10
            return x

        self.gives(f, [[0, 0, 0]], [101, 13, 13])

    def test_a_store_is_seen_by_another_name(self):
        def f(x):
            y = x
            for i in fn.range(3):
                x[i] = i
            return y

        self.gives(f, [[7, 7, 7]], [0, 1, 2])

    def test_a_store_to_a_tensor_of_two_names_that_is_bound_anew_is_refused(self):
        def f(x):
            y = x
            for i in fn.range(3):
                x[i] = i
                x = x + 1
            return x, y

        self.refuses(f, [[7, 7, 7]], "'x'", "y is the same tensor", f"test_control.py:{line(-5)}")

    def test_another_name_of_a_tensor_that_is_stored_to_is_refused(self):
        def f(x):
            y = x * 1
            for i in fn.range(3):
                y = x
                x[i] = 5
            return x, y

        self.refuses(f, [[7, 7, 7]], "x.copy()", f"test_control.py:{line(-4)}")

    def test_a_store_before_break(self):
        def f(x):
            y = x * 1
            for i in fn.range(5):
                y = y + 1
                y[i] = 50
                if i == 2:
                    break
            return y

        self.gives(f, [[0, 0, 0, 0]], [52, 51, 50, 3])

    def test_a_name_that_a_comprehension_binds(self):
        def f(x):
            last = x
            for i in fn.range(3):
                sums = [last := last + k for k in (1, 2)]
            return last

        self.gives(f, [[0]], [9])


class Functions(ControlTest):
    def test_marks_of_other_libraries_on_trees_are_left_alone(self):
        def f(x):
            for _ in fn.range(2):
                x = x * 3
            return x

        # Tracebacks of IPython give nodes a parent, and ast.Load() is one object for all trees.
        name = ast.parse("x").body[0].value
        self.addCleanup(delattr, name.ctx, "parent")
        name.ctx.parent = name
        self.gives(f, [[1]], [9])

    def test_closures_defaults_and_keywords(self):
        scale = 3

        def f(x, n=2, *, m=1):
            for i in fn.range(n):
                x = x * scale + m
            return x

        scale = 10
        rewritten = fn.function(f)
        self.assertEqual(values(rewritten(fn.tensor([1]), m=2)), [122])
        self.assertEqual(rewritten.__defaults__, (2,))
        self.assertEqual(rewritten.__name__, "f")

    def test_methods_private_names_and_super(self):
        class Base:
            def start(self):
                return 1

        class Model(Base):
            def __init__(self):
                self.__k = 2

            @fn.function
            def run(self, x):
                for i in fn.range(super().start() + 2):
                    x = x * self.__k
                return x

        self.assertEqual(values(Model().run(fn.tensor([1]))), [8])

    def test_decorators_around(self):
        def twice(f):
            @functools.wraps(f)
            def wrapper(x):
                return f(f(x))

            return wrapper

        @twice
        @fn.function
        @twice
        def f(x):
            if x < 100:
                x = x * 2
            return x

        self.assertEqual(values(f(fn.tensor(1))), 16)

    def test_functions_in_functions(self):
        def f(x):
            def clamp(y, most=10):
                if y > most:
                    return 0 * y + most
                return y

            for i in fn.range(3):
                x = clamp(x * 2)
            return x

        self.gives(f, [3], 10)

    def test_decorated_functions_in_functions(self):
        def f(x):
            @fn.function
            def plain(y):
                return fn.Tensor(y) + 1

            @fn.function
            def deciding(y):
                return plain(y) if y < 10 else y

            for i in fn.range(3):
                x = deciding(x)
            return x

        self.gives(f, [[8]], [10])

    def test_static_and_class_methods(self):
        class Model:
            @staticmethod
            @fn.function
            def up(x):
                if x > 0:
                    x = x + 1
                return x

            @fn.function
            @classmethod
            def down(cls, x):
                if x > 0:
                    x = x - 1
                return x

        self.assertEqual(values(Model.up(fn.tensor(1))), 2)
        self.assertEqual(values(Model.down(fn.tensor(1))), 0)

    def test_errors_carry_the_line(self):
        def f(x):
            for i in fn.range(3):
                x = x + fn.tensor([1, 2, 3])
            return x

        self.refuses(f, [[1, 2]], f"test_control.py:{line(-3)}")

    def test_exceptions_carry_the_line(self):
        def f(x):
            for i in fn.range(3):
                if x > 0:
                    raise KeyError("mine")
            return x

        try:
            self.run_jit(f, 1)
        except KeyError as error:
            trace = error.__traceback__
            while trace.tb_next:
                trace = trace.tb_next
            self.assertEqual(trace.tb_lineno, line(-9))
        else:
            self.fail("no exception")

    def test_a_name_without_a_value_is_pythons_error(self):
        def f(x, flag=False):
            if flag:
                y = x
            return y

        self.refuses(f, [1], "'y'", error=UnboundLocalError)

    def test_an_undecorated_function_says_what_to_do(self):
        def helper(x):
            if x > 0:
                return x
            return -x

        self.refuses(lambda x: helper(x), [1], "firn.function", f"test_control.py:{line(-4)}", error=TypeError)

    def load(self, text, name="made"):
        path = os.path.join(self.folder, name + ".py")
        with open(path, "w") as file:
            file.write(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return path, module

    def test_a_file_that_has_changed_is_refused(self):
        with tempfile.TemporaryDirectory() as self.folder:
            text = "import firn as fn\ndef f(x):\n    for i in fn.range(3):\n        x = x + 1\n    return x\n"
            path, module = self.load(text)
            for changed in (text.replace("+ 1", "+ 2"), "\n" + text, text.replace("x = x + 1", "y = x + 1")):
                with open(path, "w") as file:
                    file.write(changed)
                with self.assertRaises(fn.UserError) as caught:
                    fn.function(module.f)
                self.assertIn("changed", str(caught.exception))
            with open(path, "w") as file:
                file.write(text)
            self.assertEqual(values(fn.function(module.f)(fn.tensor([1]))), [4])

    def test_a_file_with_future_annotations(self):
        with tempfile.TemporaryDirectory() as self.folder:
            text = (
                "from __future__ import annotations\nimport firn as fn\n"
                "@fn.function\ndef f(x: Unknown):\n    y: Unknown = x\n    for i in fn.range(3):\n"
                "        y = y + 1\n    return y\n"
            )
            _, module = self.load(text, "annotated")
            self.assertEqual(values(module.f(fn.tensor([1]))), [4])

    def test_without_source_a_function_stays_as_it_is(self):
        names = {"fn": fn}
        exec("def f(x):\n    if x > 0:\n        x = x + 1\n    return x\n", names)
        self.assertIs(fn.function(names["f"]), names["f"])

    def test_source_of_a_notebook(self):
        text = "def f(x):\n    for i in fn.range(3):\n        x = x + 1\n    return x\n"
        linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
        names = {"fn": fn}
        exec(compile(text, "<cell 1>", "exec"), names)
        self.assertEqual(values(fn.function(names["f"])(fn.tensor([1]))), [4])

    def test_lambdas(self):
        most = 3
        low, high = (lambda x: x if x < most else most), (lambda x: x if most < x < 10 and not x == 5 else 0)
        self.assertEqual(values(fn.jit(low)(fn.tensor([1, 5]))), [1, 3])
        self.assertEqual(values(fn.jit(high)(fn.tensor([1, 5, 7, 12]))), [0, 0, 7, 0])

    def test_it_is_rewritten_once(self):
        def f(x):
            if x > 0:
                x = x + 1
            return x

        once = fn.function(f)
        self.assertIs(fn.function(once), once)


class Refused(ControlTest):
    def test_generators(self):
        def f(x):
            yield x

        with self.assertRaises(fn.UserError) as caught:
            fn.jit(f)
        self.assertIn("generator", str(caught.exception))
        self.assertIn(f"test_control.py:{line(-6)}", str(caught.exception))

    def test_async_functions(self):
        async def f(x):
            return x

        with self.assertRaises(fn.UserError) as caught:
            fn.jit(f)
        self.assertIn("async", str(caught.exception))

    def test_globals(self):
        def f(x):
            global some_global
            for i in fn.range(3):
                some_global = x
            return x

        self.refuses(f, [1], "global", "some_global", f"test_control.py:{line(-3)}")

    def test_nonlocals(self):
        kept = 0

        def f(x):
            nonlocal kept
            if x > 0:
                kept = x
            return x

        self.refuses(f, [1], "nonlocal", "kept", f"test_control.py:{line(-3)}")

    def test_nonlocals_of_a_function_that_is_called_in_a_loop(self):
        def f(x):
            total = x

            def add(y):
                nonlocal total
                total = total + y

            for i in fn.range(3):
                add(i)
            return total

        self.refuses(f, [1], "nonlocal", "total", f"test_control.py:{line(-6)}")

    def test_del(self):
        def f(x):
            y = x
            for i in fn.range(3):
                del y
            return x

        self.refuses(f, [1], "'y'", "deleted", f"test_control.py:{line(-3)}")

    def test_comprehensions(self):
        def f(x):
            return [x + i for i in fn.range(3)]

        self.refuses(f, [1], "comprehension", f"test_control.py:{line(-2)}")

    def test_recursion(self):
        @fn.function
        def f(x):
            if x > 0:
                return f(x - 1)
            return x

        self.refuses(f, [3], "calls itself", "test_control.py")

    def test_recursion_over_pythons_values(self):
        @fn.function
        def f(x, n=3):
            if n == 0:
                return x
            return f(x * 2, n - 1)

        self.gives(f, [[1]], [8])

    def test_an_exception_discards_the_loop(self):
        def f(x, fails):
            for i in fn.range(3):
                x = x + 1
                if fails:
                    raise KeyError("mine")
            return x

        step = fn.function(f)
        x = fn.tensor([1])
        with self.assertRaises(KeyError):
            step(x, True)
        self.assertFalse(fn.recording_now())
        self.assertEqual(values(step(x, False)), [4])

    def test_an_exception_that_is_caught_inside(self):
        def f(x):
            y = x
            try:
                for i in fn.range(3):
                    y = y + 1
                    if i > 1:
                        raise KeyError("mine")
            except KeyError:
                for i in fn.range(2):
                    x = x * 10
            return x

        self.gives(f, [[1]], [100])

    def test_an_exception_restores_attributes(self):
        s = State(fn.tensor([1]), None)

        @fn.function
        def f():
            for i in fn.range(3):
                s.u = s.u + 1
                raise KeyError("mine")

        with self.assertRaises(KeyError):
            f()
        self.assertEqual(values(s.u), [1])

    def test_a_range_without_rewriting(self):
        with self.assertRaises(fn.UserError) as caught:
            for i in fn.range(3):
                pass
        self.assertIn("fn.function", str(caught.exception).replace("firn.", "fn."))

    def test_bad_bounds(self):
        def f(x):
            for i in fn.range(2.5):
                x = x + 1
            return x

        self.refuses(f, [1], "integer", f"test_control.py:{line(-4)}")

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        x = fn.tensor([1, 2])
        values(x + 1)

        def child(out):
            try:
                out.put(values(fn.jit(lambda y: y + 1)(fn.tensor([1]))))
            except Exception as error:
                out.put(str(error))

        context = multiprocessing.get_context("fork")
        out = context.Queue()
        process = context.Process(target=child, args=(out,))
        process.start()
        self.assertEqual(out.get(timeout=60), [2])
        process.join()


class With(ControlTest):
    def test_a_loop(self):
        x = fn.tensor([1])
        with fn.loop(5) as i:
            x[...] = x * 2 + i
        self.assertEqual(values(x), [58])

    def test_assign(self):
        x = fn.tensor([1])
        with fn.loop(5):
            x.assign(x * 2)
        self.assertEqual(values(x), [32])

    def test_if_and_else(self):
        for start, expected in ((1, -1), (5, 50)):
            x = fn.tensor(start)
            with fn.if_(x > 3):
                x.assign(x * 10)
            with fn.else_():
                x.assign(-x)
            self.assertEqual(values(x), expected)

    def test_else_needs_an_if(self):
        with self.assertRaises(fn.UserError) as caught:
            with fn.else_():
                pass
        self.assertIn("firn.if_", str(caught.exception))

    def test_while(self):
        x = fn.tensor(10.0)
        with fn.while_(lambda: x > 1):
            x.assign(x * 0.5)
        self.assertEqual(values(x), 0.625)

    def test_break(self):
        x = fn.tensor([1, 50])
        with fn.loop(10):
            with fn.if_(x > 100):
                fn.break_()
            x.assign(x * 2)
        self.assertEqual(values(x), [128, 200])

    def test_a_name_that_is_bound_anew_is_refused(self):
        x = fn.tensor([1])
        with self.assertRaises(fn.UserError) as caught:
            with fn.loop(5):
                y = x + 1
                x = y * 2
        self.assertIn("'x'", str(caught.exception))
        self.assertIn(f"test_control.py:{line(-2)}", str(caught.exception))
        self.assertFalse(fn.recording_now())

    def test_a_name_of_a_loop_before_is_free(self):
        x = fn.tensor([1])
        for _ in range(2):
            with fn.loop(2):
                y = x + 1
                x[...] = y
        self.assertEqual(values(x), [5])

    def test_a_number_that_is_counted_is_refused(self):
        n = 0
        with self.assertRaises(fn.UserError) as caught:
            with fn.loop(5):
                n += 1
        self.assertIn("'n'", str(caught.exception))

    def test_an_exception_discards(self):
        x = fn.tensor([1])
        with self.assertRaises(KeyError):
            with fn.loop(5):
                x.assign(x + 1)
                raise KeyError
        self.assertEqual(values(x), [1])


class Kernels(ControlTest):
    def test_a_decorator(self):
        x, c = fn.tensor([1, 2, 3]), fn.Tensor([0, 0, 0])

        @fn.kernel(3)
        def _(i):
            if x[i] > 1:
                c[i] = 10 * x[2 - i]

        self.assertEqual(values(c), [0, 20, 10])

    def test_with(self):
        c = fn.Tensor([[0, 0], [0, 0]])
        with fn.kernel((2, 2)) as (i, j):
            c[i, j] = 10 * i + j
        self.assertEqual(values(c), [[0, 1], [10, 11]])

    def test_arguments(self):
        @fn.kernel
        def add(i, a, b, c):
            total = 0
            for k in fn.range(2):
                total = total + a[i] + k * b[i]
            c[i] = total

        c = fn.Tensor([0, 0])
        add(2, fn.tensor([1, 2]), fn.tensor([10, 20]), c)
        self.assertEqual(values(c), [12, 24])

    def test_shared_memory(self):
        x, sums = fn.tensor(list(range(8))), fn.Tensor([0, 0])

        @fn.kernel(8, group=4)
        def _(i):
            part, at = fn.shared(fn.i32, 4), fn.local_index()
            part[at] = x[i]
            fn.barrier()
            half = 2
            while half > 0:
                if at < half:
                    part[at] = part[at] + part[at + half]
                fn.barrier()
                half //= 2
            if at == 0:
                sums[fn.group_index(0)] = part[0]

        self.assertEqual(values(sums), [6, 22])

    def test_local_memory(self):
        c = fn.Tensor([0, 0, 0])

        @fn.kernel(3)
        def _(i):
            powers = fn.local(fn.i32, 4)
            powers[0] = 1
            for k in fn.range(1, 4):
                powers[k] = powers[k - 1] * i
            c[i] = powers[3]

        self.assertEqual(values(c), [0, 1, 8])

    def test_elements_of_an_invocation_alone(self):
        x, c = fn.tensor([5, 7, 2, 1]), fn.Tensor([0, 0])

        @fn.kernel(2, group=2)
        def _(i):
            s, partner = fn.shared(fn.i32, 4), i ^ 2
            s[i], s[partner] = x[i], x[partner]
            c[i] = fn.own(s)[i] - fn.own(s)[partner]

        self.assertEqual(values(c), [3, 6])

    def test_trip_counts_of_invocations(self):
        start, v, rows = fn.tensor([0, 2, 2, 5]), fn.tensor([1, 2, 3, 4, 5]), fn.Tensor([0, 0, 0])

        @fn.kernel(3)
        def _(k):
            s = 0
            for e in fn.range(start[k], start[k + 1]):
                s = s + v[e]
            rows[k] = s

        self.assertEqual(values(rows), [3, 0, 12])

    def test_early_return_of_an_invocation(self):
        c = fn.Tensor([0, 0, 0])

        @fn.kernel(3)
        def _(k):
            if k == 1:
                return
            c[k] = 5

        self.assertEqual(values(c), [5, 0, 5])

    def test_a_whole_assignment_from_outside_is_refused(self):
        def f(c):
            for _ in fn.range(2):
                with fn.kernel(3) as i:
                    c[i] = 1
                    c = c + 1
            return c

        self.refuses(f, [[0, 0, 0]], "kernel", f"test_control.py:{line(-3)}")


if __name__ == "__main__":
    unittest.main()
