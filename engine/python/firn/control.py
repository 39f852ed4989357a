"""Control flow over tensors: plain Python in rewritten functions, and `with` where there is no source.

    @fn.function                       # also by fn.compile, fn.jit, fn.kernel
    def f(x):
        for i in fn.range(10):
            if x > 1:
                x = x / 2
        return x
"""
# mypy: ignore-errors

from __future__ import annotations

from . import _firn
from .recording import Range, Watch, fail, state, user_frame
from .trees import flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from ._firn import Size, Tensor

    F = TypeVar("F", bound=Callable[..., Any])
    Bound = int | Size | Tensor

break_, continue_ = _firn.break_, _firn.continue_


def rewrite(function: F) -> F:
    """The function with its loops and branches over tensors recorded; see rewriting.py."""
    if isinstance(function, type(rewrite)):
        if getattr(function, "_firn_rewritten", False):
            return function
        from .rewriting import rewrite_function

        return rewrite_function(function)
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(rewrite(function.__func__))
    if type(function).__name__ == "method" and hasattr(function, "__func__"):
        return type(function)(rewrite(function.__func__), function.__self__)
    if type(function).__name__ == "partial" and type(function).__module__ == "functools":
        return type(function)(rewrite(function.func), *function.args, **function.keywords)
    if not callable(function):
        raise TypeError(f"firn.function takes a function, and this is {type(function).__name__}")
    return function


def function(function: F) -> F:
    """Decorates a function that is called while others are recorded: its `for` over firn.range, and its `while`, `if`,
    `and`, `or`, `not` and conditional expressions over tensors are recorded; over Python's values they stay Python's.

    Names that a recorded scope assigns are carried, as are attributes. What cannot be recorded is a UserError with its
    line, such as return in a recorded loop.
    """
    return rewrite(function)


def range(begin: Bound, end: Bound | None = None, step: Bound = 1, *, checkpoint: int = 0) -> Range:
    """The iterations of a recorded loop: `for i in fn.range(n)`, with i from 0 to n - 1, or as Python's range.

    Bounds are ints, sizes or tensors of one integer. `checkpoint`: a gradient keeps the carried values of every so many
    iterations and recomputes those between; 0 chooses.
    """
    return Range(0, begin, step, checkpoint) if end is None else Range(begin, end, step, checkpoint)


# ---- the forms by `with` --------------------------------------------------------------------------------------------


class _Form:
    """A recorded scope that `with` opens and closes. Names of the function are not carried: a tensor is changed by
    `x.assign(v)` or `x[...] = v`, and a name that is bound to something else is refused."""

    what = "loop"
    can_retry = False

    def __enter__(self):
        frame = user_frame()
        state.last_if = None
        self.line = _firn._line_text()
        self.place = frame.f_code, frame.f_lasti
        self.watch = Watch(frame)
        self.scope = self.open()
        state.stack.append(self)
        return self.value()

    def __exit__(self, kind, error, trace):
        state.stack.remove(self)
        if kind is not None:
            self.scope.discard()
            return False
        try:
            self.check(user_frame())
        except BaseException:
            self.scope.discard()
            raise
        self.close()
        return False

    def value(self):
        return None

    def close(self):
        self.scope.close()

    def check(self, frame):
        for name, value in frame.f_locals.items():
            before = self.watch.names.get(name, value)
            if value is before or not (_holds_tensors(before) or _holds_tensors(value) or _changed(before, value)):
                continue
            if isinstance(before, _firn.Tensor) and _firn._has_ended(before):
                continue  # of a loop or branch before
            line = _line_of_store(frame, self.place, name)
            raise _firn.UserError(
                f"'{name}' is bound to another value in the {self.what} at {self.line}, which is recorded once and "
                f"carries no names: change the tensor by {name}.assign(value) or {name}[...] = value, or decorate the "
                f"function with @firn.function and write for, while and if ({line})"
            )
        self.watch.check(f"the {self.what} at {self.line}", ())


def _holds_tensors(value):
    return any(isinstance(leaf, _firn.Tensor) for leaf in flatten(value)[0])


def _changed(before, after):
    return isinstance(before, (int, float)) and isinstance(after, (int, float)) and before != after


def _line_of_store(frame, place, name):
    """The line of the first assignment to a name behind a `with`."""
    import dis

    code, begin = place
    line = frame.f_lineno
    current = None
    for each in dis.get_instructions(code):
        if each.starts_line is not None:
            current = each.starts_line if type(each.starts_line) is int else current
        if begin < each.offset <= frame.f_lasti and each.opname.startswith("STORE") and each.argval == name:
            line = current
            break
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{line}"


class _LoopForm(_Form):
    def __init__(self, range_):
        self.range = range_

    def open(self):
        each = self.range
        return _firn._Loop(each.begin, each.end, each.step, each.checkpoint)

    def value(self):
        return self.scope.index()


def loop(begin: Bound, end: Bound | None = None, step: Bound = 1, *, checkpoint: int = 0) -> _LoopForm:
    """`with fn.loop(n) as i:` records a loop where there is no source to rewrite; bounds are those of fn.range.

    A tensor from outside is carried where it is changed by `x.assign(v)` or `x[...] = v`; a name that is bound to
    another value is a UserError with its line. fn.break_() and fn.continue_() leave it.
    """
    return _LoopForm(range(begin, end, step, checkpoint=checkpoint))


class _WhileForm(_Form):
    def __init__(self, condition, max_steps):
        if not callable(condition):
            raise TypeError("firn.while_ takes a function that gives the condition: firn.while_(lambda: x < 3)")
        self.condition, self.max_steps = condition, max_steps

    def open(self):
        scope = _firn._While(self.max_steps)
        try:
            condition = self.condition()
            scope.test(condition if isinstance(condition, _firn.Tensor) else _firn.Tensor(bool(condition)))
        except BaseException:
            scope.discard()
            raise
        return scope


def while_(condition: Callable[[], Any], max_steps: int | None = None) -> _WhileForm:
    """`with fn.while_(lambda: x > 1):` records a loop that runs while the condition holds, which is evaluated before
    every iteration; see fn.loop. It ends after max_steps iterations, where that is given."""
    return _WhileForm(condition, max_steps)


class _IfForm(_Form):
    what = "branch"

    def __init__(self, condition):
        self.condition = condition if isinstance(condition, _firn.Tensor) else _firn.Tensor(bool(condition))

    def open(self):
        return _firn._Branch(self.condition)

    def close(self):
        self.scope.otherwise()
        self.scope.close()
        frame = user_frame()
        state.last_if = (id(frame), frame.f_code), _firn._current_scope(), self.condition


class _ElseForm(_IfForm):
    def __init__(self):
        last, frame = state.last_if, user_frame()
        if last is None or last[0] != (id(frame), frame.f_code) or last[1] != _firn._current_scope():
            fail("firn.else_ stands behind `with firn.if_(condition):`, in the same function and loop")
        super().__init__(_firn._not(last[2]))


def if_(condition: Tensor | bool) -> _IfForm:
    """`with fn.if_(c):` records a branch where there is no source to rewrite; `with fn.else_():` behind it is the other
    side. A condition with a shape masks: elements for which it does not hold keep their values. See fn.loop."""
    return _IfForm(condition)


def else_() -> _ElseForm:
    """The other side of the `with fn.if_(c):` before it."""
    return _ElseForm()


# ---- kernels by hand ------------------------------------------------------------------------------------------------


class _KernelForm(_Form):
    what = "kernel"

    def __init__(self, shape, group):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.group = [] if group is None else list(group) if isinstance(group, (tuple, list)) else [group]

    def open(self):
        return _firn._Kernel(self.shape, self.group)

    def check(self, frame):
        pass  # its names are those of one invocation

    def indices(self):
        return tuple(self.scope.index(axis) for axis, _ in enumerate(self.shape))

    def value(self):
        indices = self.indices()
        return indices if len(indices) > 1 else indices[0]

    def __call__(self, body, *args):
        """Records the kernel with a function as its body, which is given the indices."""
        body = rewrite(body)
        self.scope = _firn._Kernel(self.shape, self.group)
        state.stack.append(self)
        try:
            body(*self.indices(), *args)
        except BaseException:
            self.scope.discard()
            raise
        finally:
            state.stack.remove(self)
        self.scope.close()


def kernel(shape: Any, group: int | Sequence[int] | None = None) -> Any:
    """A kernel by hand: one dispatch that runs a body once for each index of a shape of one to three axes.

        @fn.kernel((n, k), group=(16, 16))
        def _(i, j):
            tile = fn.shared(fn.f32, (16, 16))
            ...
            c[i, j] = total

    records it where the function stands, and `with fn.kernel(n) as i:` without a function. `@fn.kernel` alone decorates
    a function whose first parameters are the indices: `add((n,), a, b, group=64)` records it for these arguments.

    A tensor from outside is only written by index, c[i, j] = v, or by an atomic. With a group, whole groups run, which
    have shared memory and barriers; without one exactly the shape runs.
    """
    if not callable(shape):
        return _KernelForm(shape, group)
    body = rewrite(shape)

    def record(shape, *args, group=None):
        _KernelForm(shape, group)(body, *args)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(record, name, getattr(body, name, None))
    record.__wrapped__ = body
    return record
