"""Writes _firn.pyi: the types and the documentation of the module, for editors and mypy."""

import re
import textwrap
from pathlib import Path

import choices
from bindings import Binding, Selection
from conversions import Conversions
from cpp import defaulted, docstring, struct_default

OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


def operators() -> str:
    lines = []
    for name in OPERATORS:
        for each in (name, "r" + name):
            lines.append(f"    def __{each}__(self, other: TensorLike) -> Tensor: ...")
    return "\n".join(lines)


def vectors() -> str:
    """The classes of vectors and matrices."""
    out = []
    for prefix in ("", "i", "u", "b"):
        for count in (2, 3, 4):
            name = f"{prefix}vec{count}"
            out.append(f"class {name}(_Vector, tuple[{', '.join(['Tensor'] * count)}]):")
            out.append("    def __new__(cls, *parts: Any) -> " + name + ": ...")
            out += [f"    @property\n    def {letter}(self) -> Tensor: ..." for letter in "xyzw"[:count]]
            for operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
                for each in (operator, "r" + operator):
                    out.append(f"    def __{each}__(self, other: Any) -> Any: ...")
            out.append(f"    def __neg__(self) -> {name}: ...")
            out.append("    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]")
            out.append("    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]\n")
    for count in (2, 3, 4):
        name = f"mat{count}"
        out.append(f"class {name}(tuple[{', '.join([f'vec{count}'] * count)}]):")
        out.append("    def __new__(cls, *parts: Any) -> " + name + ": ...")
        for each in ("add", "sub", "mul", "rmul", "matmul", "truediv"):
            out.append(f"    def __{each}__(self, other: Any) -> Any: ...")
        out.append(f"    def __neg__(self) -> {name}: ...\n")
    return "\n".join(out)


def quoted(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if text.endswith('"'):
        text += " "
    lines = text.split("\n")
    return '"""' + "\n".join([lines[0]] + [indent + l if l else "" for l in lines[1:]]) + '"""'


def parameters(binding: Binding, first: list[str]) -> str:
    parts = list(first)
    for number, a in enumerate(binding.arguments):
        if number == binding.keyword_only:
            parts.append("*")
        parts.append(f"{a.name}: {a.taken.python}" + (f" = {a.default}" if a.default is not None else ""))
    return ", ".join(parts)


def function(binding: Binding, indent: str, overloaded: bool, told: bool) -> list[str]:
    out = []
    if overloaded:
        out.append(f"{indent}@overload")
    first = [] if binding.kind in ("function", "static") else ["self"]
    if binding.kind == "static":
        out.append(f"{indent}@staticmethod")
    if binding.kind == "getter":
        out.append(f"{indent}@property")
    if binding.kind == "setter":
        out.append(f"{indent}@{binding.name}.setter")
    text = docstring(binding, told)
    doc = text if binding.kind in ("getter", "setter") else text.partition("\n\n")[2]
    end = f"\n{indent}    {quoted(doc, indent + '    ')}" if doc else " ..."
    taken = parameters(binding, first)
    if binding.name == "__eq__":
        taken = "self, other: object"
    out.append(f"{indent}def {binding.name}({taken}) -> {binding.given.python}:{end}")
    return out


def functions(bindings: list[Binding], indent: str) -> list[str]:
    """The functions of a module or class; overloads stand together, in the order in which they are tried."""
    names: dict[str, list[Binding]] = {}
    for each in bindings:
        names.setdefault(each.name, []).append(each)
    out = []
    for overloads in names.values():
        several = len(overloads) > 1 and overloads[0].kind != "getter"
        told: set[str] = set()
        # Named tuples are sequences, too: for mypy they come first.
        overloads.sort(key=lambda b: any(choices.rank(a.taken.type) < 5 for a in b.arguments[:1]))
        for each in overloads:
            out += function(each, indent, several, each.doc not in told)
            told.add(each.doc)
    return out


def write(selection: Selection, conversions: Conversions, hand: Path) -> str:
    head, _, rest = hand.read_text().partition("# Parts of classes whose other methods")
    parts: dict[str, str] = {}
    for block in re.split(r"^#", rest, flags=re.M)[1:]:
        name, _, body = block.partition("\n")
        parts[name.strip()] = body.rstrip("\n")
    out = [head.replace("@VECTORS@\n", vectors() + "\n").rstrip() + "\n"]
    methods: dict[str, list[Binding]] = {}
    for each in selection.bindings:
        if each.owner:
            methods.setdefault(each.owner, []).append(each)
        if each.method:
            methods.setdefault("Tensor", []).append(each.as_method())
    out.append("class Tensor:")
    out.append(parts.pop("class Tensor").replace("@OPERATORS@", operators()))
    out += functions(methods["Tensor"], "    ") + [""]
    for each in selection.enumerations:
        out.append(f"class {each.name}:\n    {quoted(each.doc, '    ')}")
        out.append("    def __init__(self, value: int) -> None: ...")
        out.append(f"    @property\n    def name(self) -> str: ...\n    @property\n    def value(self) -> int: ...")
        out += [f"    {choices.python_name(value)}: {each.name}" for value, _ in each.values] + [""]
    for name in sorted(conversions.structs):
        source = conversions.structs[name]
        out.append(f"class {name}(NamedTuple):\n    {quoted(source.doc, '    ')}")
        for each in source.fields:
            python = conversions.given(each.type).python
            default = ""
            if each in defaulted(source):
                default = f" = {struct_default(each)}"
                if default == " = ()":
                    python += " | tuple[()]"
                if default == " = None" and "None" not in python:
                    python += " | None"
                if python == "Tensor":
                    python = "Tensor | float"
            hides = "  # type: ignore[assignment]" if each.name in ("count", "index") else ""
            out.append(f"    {choices.python_name(each.name)}: {python}{default}{hides}")
        if f"class {name}" in parts:
            out.append(parts.pop(f"class {name}"))
        out.append("")
    for python_class, _, source, base in selection.classes:
        out.append(f"class {python_class}({base}):" if base else f"class {python_class}:")
        out.append(f"    {quoted(source.doc, '    ')}" if source.doc else "    ...")
        if f"class {python_class}" in parts:
            out.append(parts.pop(f"class {python_class}"))
        bound = sorted(methods.get(python_class, []), key=lambda b: (b.kind != "getter", b.name, b.kind != "getter"))
        order: list[Binding] = []
        for each in bound:  # a setter stands behind its getter
            if each.kind == "setter":
                at = next(k for k, b in enumerate(order) if b.name == each.name)
                order.insert(at + 1, each)
            else:
                order.append(each)
        out += functions(order, "    ") + [""]
    out += functions([b for b in selection.bindings if not b.owner], "")
    out.append(parts.pop("functions", ""))
    unused = [name for name in parts if name.startswith("class ")]
    if unused:
        raise SystemExit(f"{hand}: {unused[0]} is no class that is made")
    return "\n".join(out) + "\n"
