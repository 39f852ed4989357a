"""How each C++ type is taken from Python and given to it: the table that all bindings are made by."""

import re
from dataclasses import dataclass, field

from declarations import Class, Declarations


@dataclass(frozen=True)
class Taken:
    """A parameter: its type in the binding, the expression that C++ is called with, and its type in Python."""

    type: str
    expression: str  # {} stands for the parameter
    python: str
    none_is_default: bool = False  # a field of options: None leaves the default of C++

    def of(self, value: str) -> str:
        return self.expression.replace("{}", value, 1)


@dataclass(frozen=True)
class Given:
    """A result: its type in the binding, the expression that makes it of C++'s, and its type in Python."""

    type: str
    expression: str
    python: str

    def of(self, value: str) -> str:
        return self.expression.replace("{}", value, 1)


class Unknown(Exception):
    """A type that has no conversion."""


def bare(type_text: str) -> str:
    """Without `const` and references, which change nothing about how a value is converted."""
    out = type_text.strip()
    out = re.sub(r"^const ", "", out)
    return re.sub(r" ?&{1,2}$", "", out).strip()


TENSOR = "TensorLike"
SIZE = "SizeLike"
SHAPE = "ShapeLike"

# Parameters by their bare C++ type.
TAKEN = {
    "Operand": Taken("const Operand&", "{}", TENSOR),
    "Arg": Taken("const Arg&", "{}", TENSOR),
    "Tensor": Taken("const Operand&", "{}.tensor()", TENSOR),
    "ComplexArg": Taken("const ComplexArg&", "{}", "ComplexLike"),
    "Size": Taken("const Size&", "{}", SIZE),
    "Shape": Taken("const Shape&", "{}", SHAPE),
    "Axes": Taken("const Axes&", "{}", "AxesLike"),
    "AxisList": Taken("const Axes&", "AxisList({})", "AxesLike"),
    "DType": Taken("const AnyDType&", "{}.dtype", "DTypeLike"),
    "ShiftList": Taken("const AnyShifts&", "{}.list()", f"Sequence[{TENSOR}]"),
    "std::string": Taken("const std::string&", "{}", "str"),
    "char": Taken("char", "{}", "str"),
    "bool": Taken("bool", "{}", "bool"),
    "int": Taken("int", "{}", "int"),
    "int64_t": Taken("int64_t", "{}", "int"),
    "uint64_t": Taken("uint64_t", "{}", "int"),
    "uint16_t": Taken("uint16_t", "{}", "int"),
    "size_t": Taken("size_t", "{}", "int"),
    "float": Taken("float", "{}", "float"),
    "double": Taken("double", "{}", "float"),
    "std::vector<int>": Taken("const std::vector<int>&", "{}", "Sequence[int]"),
    "std::vector<int64_t>": Taken("const std::vector<int64_t>&", "{}", "Sequence[int]"),
    "std::span<const int64_t>": Taken("const std::vector<int64_t>&", "{}", "Sequence[int]"),
    "std::vector<double>": Taken("const std::vector<double>&", "{}", "Sequence[float]"),
    "std::vector<std::string>": Taken("const std::vector<std::string>&", "{}", "Sequence[str]"),
    "std::vector<Size>": Taken("const Shape&", "{}", SHAPE),
    "std::vector<Tensor>": Taken("const AnyTensors&", "{}.all", f"Sequence[{TENSOR}]"),
    "std::vector<NamedTensor>": Taken("const std::vector<NamedTensor>&", "{}",
                                      f"Mapping[str, {TENSOR}] | Sequence[tuple[str, {TENSOR}]]"),
    "std::vector<Metric>": Taken("const std::vector<Metric>&", "{}",
                                 "Mapping[str, float] | Sequence[tuple[str, float]]"),
    "std::vector<NamedVariable>": Taken("const std::vector<NamedVariable>&", "{}",
                                        "Mapping[str, Variable] | Sequence[tuple[str, Variable]]"),
    "std::vector<Number>": Taken("const std::vector<Number>&", "{}", "Sequence[Number]"),
    "std::vector<std::byte>": Taken("const std::vector<std::byte>&", "{}", "bytes"),
    "std::array<Tensor, 2>": Taken("const AnyTensors&", "{}.array<2>()", f"Sequence[{TENSOR}]"),
    "std::array<Tensor, 4>": Taken("const AnyTensors&", "{}.array<4>()", f"Sequence[{TENSOR}]"),
    "std::vector<std::optional<int>>": Taken("const std::vector<std::optional<int>>&", "{}", "Sequence[int | None]"),
    "State": Taken("const AnyState&", "{}.state", "StateLike"),
    "Initialiser": Taken("const AnyInitialiser&", "{}.call", "Callable[..., Tensor] | None"),
    "Schedule": Taken("const AnySchedule&", "{}.call", "Callable[[int], float]"),
    "UpdateRule": Taken("const AnyRule&", "{}.rule", "UpdateRule"),
    "Callback<Tensor()>": Taken("const Callback<Tensor()>&", "{}", "Callable[[], Tensor]"),
    "Callback<Tensor(const std::vector<Tensor> &)>": Taken("const py::function&", "spread<Tensor>({})",
                                                            "Callable[..., Tensor]"),
    "GradientRule": Taken("const py::function&", "gradient_rule({})", "Callable[..., Sequence[Tensor]]"),
    "TangentRule": Taken("const py::function&", "tangent_rule({})", "Callable[..., Tensor]"),
    "Callback<std::vector<StoredTensor>(int64_t k)>": Taken(
        "const Callback<std::vector<StoredTensor>(int64_t)>&", "{}", "Callable[[int], Sequence[StoredTensor]]"),
}

# A place that is stored to: `x(i, j)` in C++ is a tensor and an index in Python.
PLACE = "Access"

GIVEN = {
    "void": Given("void", "{}", "None"),
    "Tensor": Given("Tensor", "{}", "Tensor"),
    "Size": Given("Size", "{}", "int | Size"),
    "Dimension": Given("Size", "{}", "int | Size"),
    "Shape": Given("Shape", "{}", "tuple[int | Size, ...]"),
    "TensorShape": Given("Shape", "{}", "tuple[int | Size, ...]"),
    "DType": Given("DType", "{}", "DType"),
    "bool": Given("bool", "{}", "bool"),
    "int": Given("int", "{}", "int"),
    "int64_t": Given("int64_t", "{}", "int"),
    "uint16_t": Given("uint16_t", "{}", "int"),
    "size_t": Given("size_t", "{}", "int"),
    "float": Given("float", "{}", "float"),
    "double": Given("double", "{}", "float"),
    "std::string": Given("std::string", "{}", "str"),
    "std::vector<std::string>": Given("std::vector<std::string>", "{}", "list[str]"),
    "std::vector<int>": Given("std::vector<int>", "{}", "list[int]"),
    "std::vector<int64_t>": Given("std::vector<int64_t>", "{}", "list[int]"),
    "std::vector<std::byte>": Given("std::vector<std::byte>", "{}", "bytes"),
    "std::vector<Tensor>": Given("std::vector<Tensor>", "{}", "list[Tensor]"),
    "std::array<Tensor, 4>": Given("std::vector<Tensor>", "listed({})", "list[Tensor]"),
    "std::vector<NamedTensor>": Given("std::vector<NamedTensor>", "{}", "dict[str, Tensor]"),
    "std::vector<NamedVariable>": Given("std::vector<NamedVariable>", "{}", "list[NamedVariable]"),
    "std::vector<NamedNumber>": Given("std::vector<NamedNumber>", "{}", "list[NamedNumber]"),
    "Reader": Given("Reader", "{}", "Reader"),
    "State": Given("State", "{}", "State"),
    "Initialiser": Given("PythonInitialiser", "PythonInitialiser{{}}", "Initialiser"),
    "Schedule": Given("PythonSchedule", "PythonSchedule{{}}", "Schedule"),
    "Variable": Given("Variable", "{}", "Variable"),
    "Number": Given("Number", "{}", "Number"),
    "Linear": Given("Linear", "{}", "Linear"),
}

VECTORS = [f"{kind}vec{n}" for kind in ("", "i", "u", "b") for n in (2, 3, 4)] + ["mat2", "mat3", "mat4"]
for each in VECTORS:
    TAKEN[each] = Taken(f"const {each}&", "{}", each)
    GIVEN[each] = Given(each, "{}", each)
for each in ("Variable", "Number", "Module"):
    TAKEN.setdefault(each, Taken(f"const {each}&", "{}", each))


@dataclass
class Conversions:
    """The tables, and the structs and classes of one set of declarations."""

    declarations: Declarations
    classes: set[str] = field(default_factory=set)  # bound as classes
    structs: dict[str, Class] = field(default_factory=dict)  # as named tuples; filled when they are asked for

    def __post_init__(self) -> None:
        self.enumerations = {e.name for e in self.declarations.enumerations}
        self.by_name = {c.name: c for c in self.declarations.classes}

    def resolved(self, type_text: str) -> str:
        """The bare type, with `Conv1dOptions` and its kin as they are in the headers."""
        return bare(type_text)

    def options(self, type_text: str) -> tuple[Class, dict[str, str]] | None:
        """The struct of options that a parameter has, and the arguments of its template; none for other types."""
        name = bare(type_text)
        name = self.declarations.aliases.get(name, name)
        found = re.fullmatch(r"(\w+)<(\w+)>", name)
        arguments = {}
        if found:
            name, argument = found.groups()
            arguments = {"N": argument}
        if name not in self.by_name or not (name.endswith("Options") or name in ("DeviceChoice", "PadWidths")):
            return None
        return self.by_name[name], arguments

    def struct(self, name: str) -> Class | None:
        """A struct that Python has as a named tuple."""
        found = self.by_name.get(name)
        if found is None or found.kind != "struct" or found.template or not found.fields or name in self.classes:
            return None
        if name not in self.structs:
            self.structs[name] = found  # before its fields, which may need it
            try:
                for each in found.fields:
                    self.given(each.type)
            except Unknown:
                del self.structs[name]
                return None
        return found

    def taken(self, type_text: str) -> Taken:
        name = self.resolved(type_text)
        if name in TAKEN:
            return TAKEN[name]
        if name in self.enumerations:
            return Taken(f"const Choice<{name}>&", "{}.value", f"{name} | str")
        found = re.fullmatch(r"PerAxis<(\d)>", name)
        if found:
            return Taken(f"const PerAxis<{found[1]}>&", "{}", f"{SIZE} | Sequence[{SIZE}]")
        found = re.fullmatch(r"std::optional<(.*)>", name)
        if found:
            inner = self.taken(found[1])
            value = bare(inner.type)
            expression = "{}"
            if inner.expression != "{}":
                expression = "given({}, [](const auto& v) { return " + inner.of("v") + "; })"
            return Taken(f"const std::optional<{value}>&", expression, f"{inner.python} | None")
        found = re.fullmatch(r"std::vector<(\w+)>", name)
        if found and self.struct(found[1]):
            return Taken(f"const std::vector<{found[1]}>&", "{}", f"Sequence[{found[1]}]")
        if self.struct(name) or name in self.classes:
            return Taken(f"const {name}&", "{}", name)
        raise Unknown(f"a parameter of type {type_text}")

    def option(self, type_text: str, default: str | None) -> Taken:
        """A field of options: tensors, lists and functions that are None keep the default of C++."""
        inner = self.taken(type_text)
        if python_default(default) is not None and inner.type != "const Axes&":
            return inner
        if inner.type.startswith("const std::optional<"):
            return inner if default in ("std::nullopt", "{}") else self.unset(inner)
        if inner.type == "const Axes&" or bare(inner.type) in ("AnyInitialiser",):
            return inner
        return self.unset(inner)

    def unset(self, inner: Taken) -> Taken:
        return Taken(f"const std::optional<{bare(inner.type)}>&", inner.expression.replace("{}", "(*{})"),
                     f"{inner.python} | None", none_is_default=True)

    def given(self, type_text: str) -> Given:
        name = self.resolved(type_text)
        if name in ("std::vector<NamedVariable>", "std::vector<NamedNumber>"):
            self.struct(name[len("std::vector<"):-1])
        if name in GIVEN:
            return GIVEN[name]
        if name in self.enumerations:
            return Given(name, "{}", name)
        found = re.fullmatch(r"std::optional<(.*)>", name)
        if found:
            inner = self.given(found[1])
            return Given(f"std::optional<{inner.type}>", "{}", f"{inner.python} | None")
        found = re.fullmatch(r"std::vector<(\w+)>", name)
        if found and self.struct(found[1]):
            return Given(name, "{}", f"list[{found[1]}]")
        if self.struct(name) or name in self.classes:
            return Given(name, "{}", name)
        raise Unknown(f"a result of type {type_text}")


def python_default(default: str | None) -> str | None:
    """The text of a default in Python; none where only C++ can make it."""
    if default is None:
        return None
    if default in ("true", "false"):
        return default.capitalize()
    if default in ("std::nullopt", "nullptr"):
        return "None"
    if re.fullmatch(r"-?\d+", default):
        return default
    found = re.fullmatch(r"(-?\d*\.?\d*(?:[eE][-+]?\d+)?)f?", default)
    if found and found[1] not in ("", "-", "."):
        return repr(float(found[1]))
    if re.fullmatch(r'"[^"\\]*"', default):
        return "'" + default[1:-1] + "'"
    if re.fullmatch(r"'[^'\\]'", default):
        return default
    if re.fullmatch(r"[A-Z]\w*::[A-Z]\w*", default):
        return "'" + default.split("::")[1] + "'"
    if re.fullmatch(r"b?[fiu]\d+|boolean", default):
        return "'" + ("bool" if default == "boolean" else default) + "'"
    return None
