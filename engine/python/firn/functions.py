"""compile and jit: functions of Python over tensors as compiled programs."""

from . import _firn
from .trees import Tree, build, flatten

_NO_SPEC = object()


def _name(function):
    return getattr(function, "__qualname__", None) or repr(function)


def _signature(function):
    import inspect

    return inspect.signature(function)


def _is_spec(value):
    leaves, _ = flatten(value)
    return bool(leaves) and all(isinstance(leaf, _firn.ArgSpec) for leaf in leaves)


def _spec_of_annotation(annotation, function):
    """The spec, or the structure of specs, that an annotation stands for; _NO_SPEC where it is none."""
    if isinstance(annotation, str):  # from __future__ import annotations
        import builtins

        names = dict(vars(builtins))
        names.update(getattr(function, "__globals__", {}))
        cells = getattr(function, "__closure__", None) or ()
        for name, cell in zip(function.__code__.co_freevars, cells):
            try:
                names[name] = cell.cell_contents
            except ValueError:
                pass
        try:
            annotation = eval(annotation, names)
        except NameError:
            return _NO_SPEC
    if isinstance(annotation, _firn.DType):
        return annotation()
    if isinstance(annotation, _firn.ArgSpec) or (not isinstance(annotation, type) and _is_spec(annotation)):
        return annotation
    fields = getattr(annotation, "__dataclass_fields__", None)
    if fields:
        members = {name: field.type for name, field in fields.items()}
    elif isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        members = annotation.__annotations__
        if set(members) != set(annotation._fields):
            return _NO_SPEC
    else:
        return _NO_SPEC
    # Annotations of a class see the names of its module.
    import sys

    module = sys.modules.get(annotation.__module__)
    names = vars(module) if module else {}
    specs = []
    for name, each in members.items():
        if isinstance(each, str):
            each = eval(each, {**vars(__import__("builtins")), **names})
        spec = _spec_of_annotation(each, function)
        if spec is _NO_SPEC:
            return _NO_SPEC
        specs.append(spec)
    return Tree(annotation, tuple(members), [flatten(spec)[1] for spec in specs]).build(
        [leaf for spec in specs for leaf in flatten(spec)[0]]
    )


class _Parameters:
    """The parameters of a function that a call gives: binds names and defaults to positions."""

    def __init__(self, function, count=None):
        self._function = function
        self._count = count  # of arguments that were declared; None: all that a call gives

    def __call__(self, args, named):
        try:
            bound = _signature(self._function).bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{_name(self._function)}: {error}") from None
        if self._count is not None:
            bound.apply_defaults()
        args = [*bound.args, *bound.kwargs.values()]
        if self._count is not None and len(args) < self._count:
            raise TypeError(f"{_name(self._function)} takes {self._count} arguments and not {len(args)}")
        return args if self._count is None else args[: self._count]


def _record(function, specs, trees, state=None):
    """Records a function whose arguments have these specs, flat, and these trees; returns it and its result's structure."""
    structure = None

    def body(leaves):
        nonlocal structure
        arguments, at = [], 0
        for tree in trees:
            count = _leaf_count(tree)
            arguments.append(build(tree, leaves[at : at + count]))
            at += count
        result = function(*arguments)
        if result is None:
            result = ()
        results, structure = flatten(result)
        return results

    made = _firn._record(specs, body, state)
    if isinstance(structure, Tree) and structure.kind is tuple and all(child is None for child in structure.children):
        structure = len(structure.children)
    return made, structure


def _leaf_count(tree):
    return 1 if tree is None else sum(_leaf_count(child) for child in tree.children)


def _dressed(compiled, function):
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        value = getattr(function, name, None)
        if value is not None:
            setattr(compiled, name, value)
    compiled.__wrapped__ = function
    return compiled


class Compiled(_firn._Compiled):
    """A compiled function, as firn.compile gives it: call it with tensors, numbers, arrays and structures of such."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise TypeError(
            f"{self.__qualname__} is compiled and a method: self is no tensor; compile a function inside of __init__, "
            "or decorate the method with @firn.jit"
        )


class Jitted(_firn._Jitted):
    """A function that is compiled when it is called, as firn.jit gives it."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        # One for each object, which is captured; it lives as long as the object does.
        held = instance.__dict__.setdefault("_firn_jitted", {})
        if self not in held:
            held[self] = jit(self.__wrapped__.__get__(instance, owner))
        return held[self]

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def compile(function=None, *specs, state=None):
    """Records a function once, with arguments of the given types and shapes, and compiles it when it is called.

    Specs are `fn.f32("n", "m")` (sizes may be symbols; one that appears twice must be equal at the call, rank 0 takes
    numbers), or structures of specs: tuples, lists, dicts, dataclasses, named tuples. They are given behind the
    function, to the decorator, or as annotations:

        @fn.compile
        def step(u: fn.f32["n", "m"], dt: fn.f32):
            return u * dt

        @fn.compile(fn.f32("n", "m"), fn.f32())
        def step(u, dt): ...

        step = fn.compile(f, fn.f32("n", "m"), fn.f32())

    `state` is a module, an optimizer, or a tuple of such: the function reads and changes their variables in place, so that
    a training step is one program. Those of other modules are captured with the values that they have now.

    Control flow over tensors is recorded (see firn.function). Tensors of outside keep the value they have now.
    Parameters behind the specs need defaults. Raises UserError and TypeError with the line.
    """
    if function is None or _is_spec(function):
        given = specs if function is None else (function, *specs)
        return lambda decorated: compile(decorated, *given, state=state)
    if not callable(function):
        raise TypeError("firn.compile takes a function, and then specs such as firn.f32('n', 'm')")
    from .control import rewrite

    rewritten = rewrite(function)
    if not specs:
        specs = []
        for parameter in _signature(function).parameters.values():
            annotation = parameter.annotation
            spec = _NO_SPEC if annotation is parameter.empty else _spec_of_annotation(annotation, function)
            if spec is _NO_SPEC:
                if parameter.default is not parameter.empty:
                    break
                raise TypeError(
                    f"firn.compile: parameter '{parameter.name}' of {_name(function)} has no spec; annotate it as in "
                    f"`{parameter.name}: firn.f32['n', 'm']`, give specs to the decorator, or use firn.jit"
                )
            specs.append(spec)
    for spec in specs:
        if not _is_spec(spec) and flatten(spec)[0]:
            raise TypeError(f"firn.compile: {spec!r} is no spec; write one as firn.f32('n', 'm')")
    both = [flatten(spec) for spec in specs]
    trees = [tree for _, tree in both]
    made, structure = _record(rewritten, [leaf for leaves, _ in both for leaf in leaves], trees, state)
    return _dressed(Compiled(made, trees, structure, _Parameters(function, len(trees))), function)


def jit(function):
    """Compiles a function for the types, shapes and structures that it is first called with, and again for new ones.

    The 64 that were used last are kept. As a decorator of a method it compiles one for each object.
    """
    if not callable(function):
        raise TypeError("firn.jit takes a function")
    from .control import rewrite

    rewritten = rewrite(function)
    made = Jitted(rewritten, lambda specs, trees: _record(rewritten, specs, trees), _Parameters(function))
    return _dressed(made, function)


def save_program(path, function, *args, devices=(), sizes=(), multiples=None, arguments=(), results=()):
    """Saves a compiled function for calls with such arguments as a file that runs without the compiler.

    `devices` names devices (`vulkan-least` is every device of Vulkan 1.2), `sizes` gives values of symbols, as
    `[{"n": 512}]`; `arguments` and `results` are names.
    """
    options = {"devices": list(devices), "sizes": [list(dict(each).items()) for each in sizes]}
    options.update(arguments=list(arguments), results=list(results))
    if multiples is not None:
        options["multiples"] = list(multiples)
    if not isinstance(function, Compiled):
        raise TypeError("firn.save_program takes a function that firn.compile made")
    function._save(str(path), args, options)
