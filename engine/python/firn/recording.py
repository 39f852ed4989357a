"""What rewritten functions call while they run: loops and branches that decide by the type of their condition whether
they are Python's or recorded, and the values that names carry through recorded ones. See rewriting.py for the calls."""
# mypy: ignore-errors

from __future__ import annotations

import sys
from _thread import _local
from _weakref import ref

from . import _firn
from .trees import build, flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

Tensor = _firn.Tensor


class _Unbound:
    """The value of a name that has none."""

    __slots__ = ()

    def __repr__(self):
        return "<no value>"


UNBOUND = _Unbound()


class Lost:
    """The value of a name that a recorded scope has left without one, and why."""

    __slots__ = ("why",)

    def __init__(self, why):
        self.why = why


class Retry(BaseException):
    """A loop is recorded again, because a number that it carries takes values of another kind."""

    def __init__(self, loop, key, leaf, dtype):
        self.loop, self.key, self.leaf, self.dtype = loop, key, leaf, dtype


class _State(_local):
    """Of each thread: the recorded scopes that are open, and the attributes that they carry."""

    last_if = None  # the frame, the scope and the condition of the `with firn.if_` before

    def __init__(self):
        self.stack = []
        self.places = {}


state = _State()


def fail(message: str) -> NoReturn:
    raise _firn.UserError(f"{message} ({_firn._line_text()})")


def reach(get):
    """What an attribute belongs to, where there is such a thing already."""
    try:
        return get()
    except (AttributeError, NameError):
        return UNBOUND


def user_frame():
    """The innermost frame outside of the package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame


def load(value, name):
    """The value of a name that may have none."""
    if value is UNBOUND:
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
    if type(value) is Lost:
        fail(f"{_RETURNED if name == '_firn_ret' else repr(name)} is not there on every path: {value.why}")
    return value


def is_number(value):
    """Whether it becomes a tensor where it changes in a recorded scope."""
    if isinstance(value, (int, float, _firn.Size)):
        return True
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


_of_numbers = {}  # by id: tensors that names have, which began as numbers of Python


def _note_number(tensor):
    key = id(tensor)
    _of_numbers[key] = ref(tensor, lambda _: _of_numbers.pop(key, None))
    return tensor


def _is_weak(value):
    """Whether it may take values of floats where it is an integer, as a name of a number of Python may."""
    if type(value) is Tensor:
        return id(value) in _of_numbers
    return isinstance(value, (int, float, _firn.Size))


def _same(a, b):
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def _has_ended(value):
    return any(type(leaf) is Tensor and _firn._has_ended(leaf) for leaf in flatten(value)[0])


def _shown(value):
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype!r}"
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


# ---- what a name carries --------------------------------------------------------------------------------------------


class _Later:
    """A number before a branch, which becomes a tensor once one of its sides assigns another value."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class _Fixed:
    """What is no tensor and no number; it must stay as it is."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


_RETURNED = "the value that the function returns"
_NOTHING = object()  # the structure of a name that has had no value yet


class Held:
    """The carriers of one name, for the scope that made them and those in it."""

    __slots__ = ("key", "name", "owner", "home", "tree", "leaves", "weak", "bound", "version", "starts_as_zeros")

    def __init__(self, key, name, owner, home, value, later, types=None):
        self.key, self.name, self.owner, self.home = key, name, owner, home
        self.bound = value
        self.version = 0
        self.starts_as_zeros = False
        if value is UNBOUND or type(value) is Lost:
            self.tree, self.leaves, self.weak = _NOTHING, [], []
            return
        leaves, self.tree = ([value], None) if type(value) is Tensor else flatten(value)
        self.weak = [_is_weak(leaf) for leaf in leaves]
        self.leaves = []
        for k, leaf in enumerate(leaves):
            if type(leaf) is Tensor:
                dtype = types.get((key, k)) if types else None
                self.leaves.append(_firn._Carrier(leaf if dtype is None else leaf.astype(dtype), home))
            elif not is_number(leaf):
                self.leaves.append(_Fixed(leaf))
            elif later:
                self.leaves.append(_Later(leaf))
            else:
                dtype = types.get((key, k)) if types else None
                self.leaves.append(_firn._Carrier(_number(leaf, dtype), home))

    # ---- assigning

    def assign(self, value):
        """Carries a value; returns the object that the name is bound to then."""
        self.version += 1
        if type(value) is Tensor and self.tree is None:
            carrier = self.leaves[0]
            if type(carrier) is _firn._Carrier and not self.weak[0]:
                self.bound = bound = carrier.assign(value)
                return bound
        leaves, tree = ([value], None) if type(value) is Tensor else flatten(value)
        if self.tree is _NOTHING:
            self.tree = tree
            self.weak = [_is_weak(leaf) for leaf in leaves]
            self.leaves = [self._first(leaf) for leaf in leaves]
        elif self.tree != tree:
            fail(
                f"{self.name} is assigned {_structure(tree, leaves)} in a recorded loop or branch, and was "
                f"{_structure(self.tree, None)}: it must keep its structure"
            )
        out = [self._assign_leaf(k, leaf) for k, leaf in enumerate(leaves)]
        if all(a is b for a, b in zip(out, leaves)):
            self.bound = value
        else:
            self.bound = build(tree, out)
        return self.bound

    def _first(self, leaf):
        """The carrier of a leaf that had no value."""
        if type(leaf) is not Tensor and not is_number(leaf):
            return _Fixed(leaf)
        start = None
        if self.starts_as_zeros:
            start = _firn._zeros_like(leaf if type(leaf) is Tensor else _firn.Tensor(leaf))
        return _firn._Carrier(start, self.home)

    def _assign_leaf(self, k, leaf):
        carrier = self.leaves[k]
        tensor = type(leaf) is Tensor or is_number(leaf)
        if type(carrier) is _Fixed:
            if tensor or not _same(carrier.value, leaf):
                fail(
                    f"{self.name} is {_shown(carrier.value)} and is assigned {_shown(leaf)} in a recorded loop or "
                    "branch, where only tensors and numbers change; start it with a tensor or a number"
                )
            return leaf
        if not tensor:
            fail(
                f"{self.name} is a tensor or a number and is assigned {_shown(leaf)} in a recorded loop or branch; "
                "it must stay a tensor"
            )
        if type(carrier) is _Later:
            carrier = self._made(k, leaf)
        if self.weak[k] and not carrier.takes(leaf):
            self._widen(k, leaf)
            carrier = self.leaves[k]
        return carrier.assign(leaf)

    def _made(self, k, leaf):
        """The carrier of a number that is assigned for the first time."""
        number = self.leaves[k].value
        start = _number(number, None)
        dtype = leaf.dtype if type(leaf) is Tensor else None
        made = _firn._Carrier(start, self.home)
        if not made.takes(leaf):
            made = _firn._Carrier(_number(number, dtype or _dtype_of(leaf)), self.home)
        self.leaves[k] = made
        return made

    def _widen(self, k, leaf):
        """Makes a carrier that began as an integer one of floats."""
        dtype = leaf.dtype if type(leaf) is Tensor else _dtype_of(leaf)
        inside = state.stack[state.stack.index(self.owner) :]
        for scope in inside:
            if scope.can_retry:
                raise Retry(scope, self.key, k, dtype)
            if not isinstance(scope, Branch):
                fail(f"{self.name} starts as an integer and is assigned {dtype!r}; start it as a number such as 0.0")
        self._widen_to(k, dtype)

    def _widen_to(self, k, dtype):
        branches = state.stack[state.stack.index(self.owner) :]
        self.leaves[k] = self.leaves[k].astype(dtype, [each.scope for each in branches if each.scope is not None])

    def settle_as(self, types):
        """Makes tensors of numbers, for a loop that may assign them."""
        for k, carrier in enumerate(self.leaves):
            dtype = types.get((self.key, k))
            if type(carrier) is _Later:
                self.leaves[k] = _firn._Carrier(_number(carrier.value, dtype), self.home)
            elif dtype is not None:
                self._widen_to(k, dtype)

    # ---- reading

    def read(self):
        """The value in the current scope, to which the name is bound."""
        self.bound = self._read()
        return self.bound

    def _read(self):
        if self.tree is _NOTHING:
            return UNBOUND
        out = []
        for carrier, weak in zip(self.leaves, self.weak):
            if type(carrier) is not _firn._Carrier:
                out.append(carrier.value)
            elif carrier.has_value:
                out.append(_note_number(carrier.read()) if weak else carrier.read())
            elif carrier.lost:
                return Lost(carrier.lost)
            else:
                return UNBOUND
        return build(self.tree, out)

    def sync(self, value):
        """Carries what has been stored to the object that the name is bound to, and values that it was given
        otherwise than by an assignment that rewriting knows."""
        if value is UNBOUND or type(value) is Lost:
            return value
        if value is not self.bound:
            return self.assign(value)
        if type(value) is Tensor:
            carrier = self.leaves[0]
            if type(carrier) is _firn._Carrier and not carrier.holds(value):
                return self.assign(value)
            return value
        leaves, tree = flatten(value)
        if tree is None and not self.leaves:
            return value
        if tree != self.tree:
            return self.assign(value)
        for carrier, leaf in zip(self.leaves, leaves):
            if type(carrier) is _firn._Carrier:
                if type(leaf) is not Tensor or not carrier.holds(leaf):
                    if type(leaf) is Tensor or not _is_weak(leaf):
                        return self.assign(value)
            elif carrier.value is not leaf:
                return self.assign(value)
        return value


def _number(value, dtype):
    return _firn.Tensor(value) if dtype is None else _firn.Tensor(value, dtype)


def _dtype_of(number):
    return _firn.Tensor(number).dtype


def _structure(tree, leaves):
    if tree is _NOTHING:
        return "without a value"
    if tree is None:
        return "a single value" if leaves is None else _shown(leaves[0])
    return str(tree)


# ---- what must not change unnoticed ---------------------------------------------------------------------------------

_PLAIN = (Tensor, int, float, complex, str, bytes, type(None), type, type(sys), type(fail), type(len))
_MOST_WATCHED = 5000


class Watch:
    """Lists, dicts and objects that a function can reach by its names, as they are when a recorded scope begins."""

    __slots__ = ("kept", "seen", "names")

    def __init__(self, frame):
        self.names = {name: value for name, value in frame.f_locals.items() if not name.startswith("_firn_")}
        self.kept = []
        self.seen = set()
        for name, value in self.names.items():
            self.scan(name, value, 0)
        if frame.f_globals is not frame.f_locals:
            for name in frame.f_code.co_names:
                self.scan(name, frame.f_globals.get(name), 0)

    def scan(self, path, value, depth):
        if isinstance(value, _PLAIN) or depth > 8 or len(self.kept) > _MOST_WATCHED or id(value) in self.seen:
            return
        kind = type(value)
        if kind is list:
            if len(value) > _MOST_WATCHED:
                return
            self.seen.add(id(value))
            self.kept.append((path, value, list(value), None))
            for k, each in enumerate(value):
                self.scan(f"{path}[{k}]", each, depth + 1)
        elif kind is tuple:
            for k, each in enumerate(value):
                self.scan(f"{path}[{k}]", each, depth + 1)
        elif kind is dict:
            self.seen.add(id(value))
            self.kept.append((path, value, dict(value), None))
            for k, each in list(value.items()):
                self.scan(f"{path}[{k!r}]", each, depth + 1)
        elif kind.__module__.split(".")[0] not in ("firn", "numpy", "builtins"):
            members = getattr(value, "__dict__", None)
            if type(members) is dict:
                self.seen.add(id(value))
                self.kept.append((path, members, dict(members), value))
                for k, each in list(members.items()):
                    self.scan(f"{path}.{k}", each, depth + 1)

    def check(self, what, carried):
        """Refuses changes that the scope has recorded once, as if it had not been a loop or branch."""
        for path, now, before, owner in self.kept:
            if type(now) is list:
                if len(now) != len(before):
                    if any(_counts(each) for each in now[len(before) :]) or len(now) < len(before):
                        fail(f"{path} was given other elements in {what}; {_ADVICE}")
                    continue
                changed = [k for k in range(len(now)) if now[k] is not before[k]]
                if any(_counts(now[k]) or _counts(before[k]) for k in changed):
                    fail(f"{path}[{changed[0]}] was assigned in {what}; {_ADVICE}")
                continue
            for key, value in now.items():
                old = before.get(key, UNBOUND)
                if value is old or (owner is not None and (id(owner), key) in carried):
                    continue
                if not (_counts(value) or _counts(old)) or (not isinstance(value, Tensor) and _same(value, old)):
                    continue
                place = f"{path}[{key!r}]" if owner is None else f"{path}.{key}"
                fail(f"{place} was assigned in {what}; {_ADVICE}")


_ADVICE = (
    "a recorded scope carries names, and attributes that it assigns itself: assign those there, or return the value "
    "from the function that computes it"
)


def _counts(value):
    return isinstance(value, (Tensor, int, float))


# ---- recorded scopes ------------------------------------------------------------------------------------------------


class _Recorded:
    """A recorded scope of a rewritten function: the names that it carries, before and in it."""

    recorded = True
    can_retry = False
    what = "the branch"

    def __init__(self, frame, spec, values, objects):
        self.frame, self.spec = frame, spec
        self.values = values
        self.objects = objects
        self.scope = None
        self.owned, self.before, self.places = [], [], []

    def enter(self, values, later, types=None):
        """Makes carriers, outside of the scope."""
        frame, spec = self.frame, self.spec
        for what, name, line in spec.refused:
            place = f"{frame.file}:{line}"
            raise _firn.UserError(f"{what} '{name}' is assigned in a recorded scope ({place}): {_REFUSED[what]}")
        held = frame.held
        home = _firn._current_scope()
        if spec.idle:  # they may have values of scopes that have ended
            values = [
                UNBOUND if key in spec.idle and _has_ended(value) else value for key, value in zip(spec.keys, values)
            ]
        frame.sync(spec.keys[: spec.carried], values)
        frame.stack.append(self)
        state.stack.append(self)
        self.owned, self.before, self.places = [], [], []
        self.watch = Watch(user_frame())
        for number, (key, value) in enumerate(zip(spec.keys, values)):
            carried = held.get(key)
            if carried is None:
                if number >= spec.carried or (not later and (value is UNBOUND or type(value) is Lost)):
                    self.before.append((None, value, 0))
                    continue
                shown = _RETURNED if key == "_firn_ret" else f"'{key}'"
                carried = held[key] = Held(key, shown, self, home, value, later, types)
                carried.starts_as_zeros = key == spec.returned
                self.owned.append(key)
            elif not later:
                carried.settle_as(types)
            self.before.append((carried, value, carried.version))
        for (path, attribute), base in zip(spec.places, self.objects):
            if base is UNBOUND or type(base) is Lost:
                continue
            place = (id(base), attribute)
            value = getattr(base, attribute, UNBOUND)
            carried = state.places.get(place)
            owned = carried is None
            if owned:
                carried = Held(place, f"{path}.{attribute}", self, home, value, later, types)
                state.places[place] = carried
            else:
                bound = carried.sync(value)
                if bound is not value:
                    setattr(base, attribute, bound)
                    value = bound
                if not later:
                    carried.settle_as(types)
            self.places.append((place, base, attribute, carried, value, carried.version, owned))

    def sync(self, values):
        """Carries what was stored to the objects, before the scope or a side of it ends."""
        self.frame.sync(self.spec.keys[: self.spec.carried], values)
        for place, base, attribute, carried, *_ in self.places:
            value = getattr(base, attribute, UNBOUND)
            bound = carried.sync(value)
            if bound is not value:
                setattr(base, attribute, bound)

    def read_places(self, only_changed):
        for place, base, attribute, carried, before, version, owned in self.places:
            if only_changed and carried.version == version:
                carried.bound = before
                if before is not UNBOUND:
                    setattr(base, attribute, before)
                continue
            value = carried.read()
            if value is UNBOUND:
                if hasattr(base, attribute):
                    delattr(base, attribute)
            elif type(value) is Lost:
                fail(f"{carried.name} has no value after {self.what}: {value.why}")
            else:
                setattr(base, attribute, value)

    def pop(self):
        stack = self.frame.stack
        if not stack or stack[-1] is not self:
            raise RuntimeError("recorded scopes end in the order in which they began")
        stack.pop()
        state.stack.remove(self)

    def leave(self, current):
        """Ends the scope for the names: their values after it."""
        values = []
        for key, (carried, before, version), now in zip(self.spec.keys, self.before, current or self.before):
            if carried is None:
                lost = self.can_retry and current and now is not UNBOUND and now is not before
                values.append(Lost(self.lost()) if lost else before)
            elif carried.version == version:
                carried.bound = before
                values.append(before)
            else:
                values.append(carried.read())
        for key in self.owned:
            self.frame.held.pop(key, None)
        carried = set(state.places)
        self.read_places(only_changed=True)
        self.drop_places()
        self.watch.check(self.what, carried)
        self.values = values

    def drop_places(self):
        for place, *_, owned in self.places:
            if owned:
                state.places.pop(place, None)

    def discard(self):
        """After an exception: attributes are as they were."""
        if self.scope is not None:
            self.scope.discard()
        state.stack.remove(self)
        for key in self.owned:
            self.frame.held.pop(key, None)
        for place, base, attribute, carried, before, version, owned in self.places:
            if before is not UNBOUND:
                setattr(base, attribute, before)
        self.drop_places()


_REFUSED = {
    "the global name": "that would happen once, while recording; return the value instead",
    "the nonlocal name": "that would happen once, while recording; return the value instead",
    "the name": "it cannot be deleted there",
}


class Branch(_Recorded):
    """An `if` whose condition is a tensor."""

    then = True

    def __init__(self, frame, spec, condition, values, objects):
        super().__init__(frame, spec, values, objects)
        self.what = f"the branch at {_firn._line_text()}"
        self.second = False
        self.enter(values, later=True)
        self.scope = _firn._Branch(condition)

    def otherwise(self, values):
        if values is not None:
            self.sync(values)
        self.scope.otherwise()
        self.second = True
        masks = self.scope.masks
        out = []
        for carried, before, version in self.before:
            if carried is None:
                out.append(before)
            elif not masks or carried.version == version:
                carried.bound = before
                out.append(before)
            else:
                out.append(carried.read())
        self.values = out
        for place, base, attribute, carried, before, version, owned in self.places:
            if masks and carried.version != version:
                before = carried.read()
            carried.bound = before
            if before is UNBOUND:
                if hasattr(base, attribute):
                    delattr(base, attribute)
            else:
                setattr(base, attribute, before)
        return True

    def merge(self, values):
        if values is not None:
            self.sync(values)
        if not self.second:
            self.scope.otherwise()
        self.pop()
        self.scope.close()
        self.leave(values)
        return True


class _Decided:
    """An `if` whose condition is Python's."""

    __slots__ = ("then",)
    recorded = False

    def __init__(self, then):
        self.then = then

    def otherwise(self, values):
        return not self.then

    def merge(self, values):
        return False


TAKEN, NOT_TAKEN = _Decided(True), _Decided(False)


class _RecordedLoop(_Recorded):
    can_retry = True

    def __init__(self, frame, spec, values, objects):
        super().__init__(frame, spec, values, objects)
        self.types = {}
        self.start = values
        self.last = values

    def begin(self):
        if self.spec.has_else:
            fail("a recorded loop has no else; write what follows behind the loop")
        self.what = f"the loop at {_firn._line_text()}"
        self.enter(self.start, later=False, types=self.types)
        self.refuse_shared()
        self.scope = self.make()
        self.values = [
            before if carried is None else carried.read() for carried, before, version in self.before
        ]
        for place, base, attribute, carried, before, version, owned in self.places:
            value = carried.read()
            if value is not UNBOUND and type(value) is not Lost:
                setattr(base, attribute, value)

    def refuse_shared(self):
        """Refuses stores to a tensor that is bound anew too and has another name, which would see the first ones."""
        for name, value in zip(self.spec.keys, self.start):
            if name not in self.spec.stored or type(value) is not Tensor:
                continue
            others = [other for other in self.spec.live if other != name and self.watch.names.get(other) is value]
            for path, now, before, owner in self.watch.kept:
                for key, each in enumerate(now) if type(now) is list else now.items():
                    if each is value:
                        others.append(f"{path}[{key!r}]" if owner is None else f"{path}.{key}")
            if others:
                fail(
                    f"'{name}' is stored to by index and bound anew in {self.what}, and {others[0]} is the same "
                    f"tensor: write {name} = {name}.copy() before the loop, or store to a tensor that is not bound anew"
                )

    def end(self, values):
        """The end of the body."""
        if values is not None:
            self.sync(values)
            self.last = values

    def leave_by(self, what, spec, values):
        """break and continue: 2 if the rest of the body is skipped, 0 if it goes on for other elements."""
        self.frame.sync(spec.keys, values)
        for scope in self.frame.stack[self.frame.stack.index(self) :]:
            for place, base, attribute, carried, *_ in scope.places:
                setattr(base, attribute, carried.sync(getattr(base, attribute, UNBOUND)))
        if what == "break":
            _firn.break_()
        else:
            _firn.continue_()
        if self.frame.stack[-1] is not self:
            return 0
        self.last = self.of_spec(spec, values)
        return 2

    def of_spec(self, spec, values):
        given = dict(zip(spec.keys, values))
        return [given.get(key, UNBOUND) for key in self.spec.keys]

    def close(self):
        self.pop()
        self.scope.close()
        self.leave(self.last)

    def retry(self):
        """Records the body again, with a number as another type; for an `except` clause."""
        error = sys.exc_info()[1]
        if error.loop is not self:
            raise
        self.types[error.key, error.leaf] = error.dtype
        self.frame.unwind(self.frame.stack.index(self))
        self.scope = None
        self.phase = 0

    def lost(self):
        return f"it was assigned only inside of {self.what}, which may take no iteration; give it a value before"


class ForLoop(_RecordedLoop):
    """`for i in firn.range(...)`."""

    def __init__(self, frame, spec, range_, values, objects):
        super().__init__(frame, spec, values, objects)
        self.range = range_
        self.phase = 0

    def make(self):
        return _firn._Loop(self.range.begin, self.range.end, self.range.step, self.range.checkpoint)

    def __iter__(self):
        return self

    def __next__(self):
        if self.phase == 0:
            self.phase = 1
            self.begin()
            return self.scope.index()
        if self.phase == 1:
            self.phase = 2
            self.close()
        raise StopIteration


class PythonLoop:
    """`for` over anything else."""

    __slots__ = ("frame", "iterable", "depth")
    recorded = False

    def __init__(self, frame, iterable):
        self.frame, self.iterable, self.depth = frame, iterable, len(frame.stack)

    def __iter__(self):
        return iter(self.iterable)

    def end(self, values):
        pass

    def retry(self):
        raise

    def leave_by(self, what, spec, values):
        return _leave_python(self.frame, self.depth, what)


def _leave_python(frame, depth, what):
    if len(frame.stack) > depth:
        fail(
            f"{what} stands under a condition that is a tensor, in a loop of Python's, which runs while recording; "
            "loop over firn.range(n), or with a `while` whose condition is a tensor, as `while firn.Tensor(True):` is"
        )
    return 1 if what == "break" else 2


class WhileLoop(_RecordedLoop):
    """A `while`: Python's as long as its condition is Python's, recorded from the first tensor on."""

    def __init__(self, frame, spec, objects):
        super().__init__(frame, spec, (), objects)
        self.recorded = False
        self.phase = None  # None: Python's; 0: to be recorded; 1: being recorded; 2: over
        self.depth = len(frame.stack)

    def make(self):
        return _firn._While(self.limit)

    limit = None

    def next(self, values):
        if self.phase is None:
            self.start = values
            return True
        if self.phase == 0:
            self.phase = 1
            self.recorded = True
            self.begin()
            return True
        if self.phase == 1:
            self.phase = 2
            self.close()
        return False

    def test(self, condition):
        if self.phase == 1:
            if not isinstance(condition, Tensor):
                condition = _firn.Tensor(bool(condition))
            self.scope.test(condition)
            return True
        if isinstance(condition, Tensor):
            self.phase = 0  # names that the condition has assigned are assigned anew
            for key, value in zip(self.spec.keys, self.start):
                carried = self.frame.held.get(key)
                if carried is not None and carried.bound is not value and value is not UNBOUND:
                    carried.assign(value)
            return False
        if condition:
            return True
        self.phase = 2
        return False

    def end(self, values):
        if self.phase == 1:
            super().end(values)

    def leave_by(self, what, spec, values):
        if self.phase == 1:
            return super().leave_by(what, spec, values)
        return _leave_python(self.frame, self.depth, what)

    def retry(self):
        if self.phase != 1:
            raise
        super().retry()


# ---- rewritten functions --------------------------------------------------------------------------------------------


class Spec:
    """What is known of a scope before the function runs: the names and attributes that it may carry."""

    __slots__ = ("keys", "places", "refused", "has_else", "returned", "carried", "stored", "live", "idle")

    def __init__(self, names, places, refused=(), has_else=False, returned=None, carried=None, stored=(), live=(), idle=()):
        self.keys = names  # the first `carried` ones; the second side of a branch begins with others as well
        self.carried = len(names) if carried is None else carried
        self.places = places
        self.refused = refused
        self.has_else = has_else
        self.returned = returned
        self.stored = stored  # of a loop: the names that it carries and stores to by index
        self.live = live  # and the names that are used after its start
        self.idle = idle  # of a branch: the names whose values before it are not used


class Frame:
    """One call of a rewritten function: the recorded scopes that it has open."""

    __slots__ = ("specs", "file", "stack", "held")

    def __init__(self, info):
        self.specs, self.file = info
        self.stack = []
        self.held = {}

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.stack:
            self.unwind(0)
            if kind is None:
                fail("a recorded loop or branch was left by a statement that cannot be recorded")

    def depth(self):
        return len(self.stack)

    def unwind(self, depth):
        """Discards the scopes that an exception has left."""
        while len(self.stack) > depth:
            self.stack.pop().discard()

    def caught(self, depth):
        """At the start of an `except` or `finally` clause, and behind a `with`."""
        error = sys.exc_info()[1]
        if isinstance(error, Retry):
            raise error
        self.unwind(depth)

    def sync(self, keys, values):
        held = self.held
        if held:
            for key, value in zip(keys, values):
                carried = held.get(key)
                if carried is not None:
                    carried.sync(value)

    def set(self, key, value):
        carried = self.held.get(key)
        return value if carried is None else carried.assign(value)

    def set_name(self, key, value, other):
        """Behind `x = y`, where one of the two is stored to by index."""
        if key in self.held and type(value) is Tensor:
            fail(
                f"'{key}' becomes another name of the tensor '{other}' in a recorded scope, and one of them is stored "
                f"to by index: write {key} = {other}.copy()"
            )
        return self.set(key, value)

    def put(self, base, attribute):
        """Behind an assignment to an attribute."""
        if state.places:
            carried = state.places.get((id(base), attribute))
            if carried is not None:
                setattr(base, attribute, carried.assign(getattr(base, attribute)))

    def branch(self, condition, spec, values, objects):
        if isinstance(condition, Tensor):
            return Branch(self, self.specs[spec], condition, values, objects)
        return TAKEN if condition else NOT_TAKEN

    def loop(self, iterable, spec, values, objects):
        if isinstance(iterable, Range):
            return ForLoop(self, self.specs[spec], iterable, values, objects)
        return PythonLoop(self, iterable)

    def while_(self, spec, objects):
        return WhileLoop(self, self.specs[spec], objects)

    def leave(self, loop, what, spec, values):
        return loop.leave_by(what, self.specs[spec], values)

    def outside(self, what, name):
        """Refuses to assign a name of another function, or of the module, in a recorded scope."""
        if state.stack:
            fail(f"{what} '{name}' is assigned in a recorded scope: {_REFUSED[what]}")

    def give(self, value):
        """`return` inside of a loop, try or with."""
        if self.stack:
            fail(
                "return stands in a recorded loop, or under a condition that is a tensor inside of a loop, try or "
                "with; keep the value in a name, leave the loop by break, and return behind it"
            )
        return value

    def result(self, value):
        """The value that a function returns at its end, of those that its paths have."""
        return value


class Range:
    """The iterations of a recorded loop, as firn.range gives them."""

    __slots__ = ("begin", "end", "step", "checkpoint")

    def __init__(self, begin, end, step, checkpoint):
        self.begin, self.end, self.step, self.checkpoint = begin, end, step, checkpoint

    def __iter__(self) -> Iterator[Tensor]:
        fail(
            "firn.range is iterated by Python itself, in a comprehension or in a function that is not rewritten; write "
            "a `for` in a function with @firn.function (or @firn.compile, @firn.jit), or `with firn.loop(n) as i:`"
        )

    def __repr__(self):
        return f"firn.range({self.begin!r}, {self.end!r}, {self.step!r})"


# ---- expressions ----------------------------------------------------------------------------------------------------


def choose(condition, then, otherwise):
    """`a if c else b`."""
    if not isinstance(condition, Tensor):
        return then() if condition else otherwise()
    a, b = then(), otherwise()
    if type(a) is Tensor or type(b) is Tensor:
        if (type(a) is Tensor or is_number(a)) and (type(b) is Tensor or is_number(b)):
            return _firn._choose(condition, a, b)
    leaves, tree = flatten(a)
    others, other = flatten(b)
    if tree != other:
        sides = f"{_structure(tree, leaves)} and {_structure(other, others)}"
        fail(f"the sides of a conditional expression over a tensor differ: {sides}")
    out = []
    for x, y in zip(leaves, others):
        tensors = [type(each) is Tensor or is_number(each) for each in (x, y)]
        if all(tensors):
            out.append(_firn._choose(condition, x, y))
        elif _same(x, y):
            out.append(x)
        else:
            sides = f"{_shown(x)} and {_shown(y)}"
            fail(f"a conditional expression over a tensor chooses between {sides}; both must be tensors")
    return build(tree, out)


def and_(a, b):
    if not isinstance(a, Tensor):
        return b() if a else a
    return _joined("and", _firn._and, a, b())


def or_(a, b):
    if not isinstance(a, Tensor):
        return a if a else b()
    return _joined("or", _firn._or, a, b())


def _joined(word, join, a, b):
    if not isinstance(b, Tensor) and not is_number(b):
        b = bool(b)
    for x in (a, b):
        if not (isinstance(x, bool) or (hasattr(x, "dtype") and x.dtype == _firn.boolean)):
            fail(f"`{word}` of tensors joins conditions, which are bools; compare, as in x != 0")
    return join(a, b)


def not_(x):
    return _firn._not(x) if isinstance(x, Tensor) else not x


_COMPARE = {
    "Lt": lambda a, b: a < b,
    "LtE": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "GtE": lambda a, b: a >= b,
    "Eq": lambda a, b: a == b,
    "NotEq": lambda a, b: a != b,
}


def chain(kinds, a, b, *more):
    """`a < b < c`."""
    out = _COMPARE[kinds[0]](a, b)
    for kind, operand in zip(kinds[1:], more):
        if not isinstance(out, Tensor) and not out:
            return out
        a, b = b, operand()
        after = _COMPARE[kind](a, b)
        out = _joined("and", _firn._and, out, after) if isinstance(out, Tensor) else after
    return out


class Runtime:
    """What a rewritten function reaches by the name _firn_."""

    def __init__(self, infos):
        self.infos = infos

    UNBOUND = UNBOUND
    Retry = Retry
    Frame = Frame
    load = staticmethod(load)
    reach = staticmethod(reach)
    choose = staticmethod(choose)
    and_ = staticmethod(and_)
    or_ = staticmethod(or_)
    not_ = staticmethod(not_)
    chain = staticmethod(chain)
