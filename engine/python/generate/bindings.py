"""Chooses what of the declarations is bound, and writes the C++ that binds it."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import choices
from conversions import Conversions, Given, Taken, Unknown, bare, python_default
from declarations import Class, Declarations, Enumeration, Field, Function, Parameter


@dataclass
class Argument:
    """A parameter of a binding, as Python sees it."""

    name: str
    cpp_name: str
    taken: Taken
    default: str | None = None  # in Python
    shown: str | None = None  # the default of C++ where Python's is None
    doc: str = ""


@dataclass
class Binding:
    name: str  # in Python
    owner: str  # the class in Python; empty for functions of the module
    declaration: Function | None
    arguments: list[Argument]
    given: Given
    body: list[str]  # statements of C++; `line` is the Line
    doc: str
    kind: str = "function"  # or method, constructor, static, getter, setter
    self_type: str = ""  # of a method: the type of C++
    keyword_only: int | None = None  # the first argument that must be named
    method: str = ""  # the method of Tensor that it is, too

    @property
    def cpp_parameters(self) -> list[str]:
        out = []
        if self.kind == "constructor":
            out.append("py::detail::value_and_holder& self")
        elif self.self_type:
            out.append(f"{self.self_type} self")
        return out + [f"{a.taken.type} {a.cpp_name}" for a in self.arguments]

    def as_method(self) -> "Binding":
        """The same as a method of Tensor, whose first argument is the tensor."""
        return Binding(self.method, "Tensor", self.declaration, self.arguments[1:], self.given, self.body, self.doc,
                       "method")

    @property
    def function_type(self) -> str:
        types = [re.sub(r" \w+$", "", p) for p in self.cpp_parameters]
        return ", ".join([self.given.type] + types)


@dataclass
class Listed:
    """A line of left_out.txt or by_hand.txt."""

    pattern: re.Pattern
    reason: str
    line: int
    used: int = 0


def read_list(path: Path) -> list[Listed]:
    out = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        if len(parts) != 2:
            raise SystemExit(f"{path}:{number}: a pattern and a reason stand on a line, with two blanks between")
        out.append(Listed(re.compile(parts[0]), parts[1], number))
    return out


def found_in(listed: list[Listed], signature: str) -> Listed | None:
    for each in listed:
        if each.pattern.fullmatch(signature):
            each.used += 1
            return each
    return None


@dataclass
class Entity:
    """A public declaration, and what became of it."""

    signature: str
    status: str  # bound, joined (another binding does its work), by_hand, left_out
    name: str  # the attribute of the module, with dots
    reason: str = ""


@dataclass
class Selection:
    bindings: list[Binding] = field(default_factory=list)
    classes: list[tuple[str, str, Class, str]] = field(default_factory=list)  # Python, C++, declaration, base
    enumerations: list[Enumeration] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)  # signature, why not


LINES = ("SourceLine", "CallerLine")
TAKEN_NAMES = {"line", "options", "self", "m"}


class Selector:
    """Goes over all declarations; what has no conversion and stands on no list is an error."""

    def __init__(self, declarations: Declarations, folder: Path) -> None:
        self.declarations = declarations
        self.left_out = read_list(folder / "left_out.txt")
        self.by_hand = read_list(folder / "by_hand.txt")
        self.conversions = Conversions(declarations)
        self.out = Selection()

    # ---- one function ----

    def option_argument(self, each: Field, arguments: dict[str, str]) -> Argument:
        type_text = each.type
        for name, value in arguments.items():
            type_text = re.sub(rf"\b{name}\b", value, type_text)
        taken = self.conversions.option(type_text, each.default)
        shown = None
        default = python_default(each.default)
        if taken.none_is_default or default is None:
            shown = each.default if each.default not in (None, "{}", "nullptr", "std::nullopt") else None
            default = "None"
        return Argument(choices.python_name(each.name), each.name, taken, default, shown, each.doc)

    def arguments(self, function: Function, template: dict[str, str]) -> tuple[list[Argument], list[str], list[str]]:
        """The arguments in Python, statements before the call, and the arguments of the call."""
        out: list[Argument] = []
        before: list[str] = []
        call: list[str] = []
        for number, p in enumerate(function.parameters):
            type_text = p.type
            for name, value in template.items():
                type_text = re.sub(rf"\b{name}\b", value, type_text)
            if bare(type_text) in LINES:
                call.append("line.at")
                continue
            if bare(type_text) == "Access":
                out.append(Argument("x", "x", Taken("const py::object&", "{}", "Tensor")))
                out.append(Argument("index", "index", Taken("const py::object&", "{}", "IndexLike")))
                call.append("place_of(x, index, line.at)")
                continue
            options = self.conversions.options(type_text)
            if options:
                struct, arguments = options
                kept = []
                for each in struct.fields:
                    if each.type == "ByName":
                        continue
                    try:
                        kept.append(self.option_argument(each, arguments))
                    except Unknown:
                        if not any(l.pattern.fullmatch(f"{struct.name}::{each.name}") for l in self.left_out):
                            raise
                        found_in(self.left_out, f"{struct.name}::{each.name}")
                before.append(f"{bare(type_text)} options;")
                for a in kept:
                    value = a.taken.of(self.cpp_name(a, out))
                    set_it = f"options.{a.cpp_name} = {value};"
                    if a.taken.none_is_default:
                        set_it = f"if ({self.cpp_name(a, out)}) {set_it}"
                    before.append(set_it)
                    a.cpp_name = self.cpp_name(a, out)
                    out.append(a)
                call.append("options")
                continue
            taken = self.conversions.taken(type_text)
            name = p.name or f"a{number}"
            default = python_default(p.default)
            if p.default == "{}":  # a list
                taken = Taken(f"const std::optional<{bare(taken.type)}>&", f"{{}}.value_or({bare(taken.type)}())",
                              taken.python + " | None")
                default = "None"
            elif p.default is not None and default is None:
                raise Unknown(f"the default {p.default}")
            a = Argument(choices.python_name(name), name, taken, default)
            a.cpp_name = self.cpp_name(a, out)
            out.append(a)
            call.append(taken.of(a.cpp_name))
        names = [a.name for a in out]
        if len(set(names)) != len(names):
            raise Unknown("two arguments with one name")
        return out, before, call

    def cpp_name(self, argument: Argument, others: list[Argument]) -> str:
        return argument.cpp_name + "_" if argument.cpp_name in TAKEN_NAMES else argument.cpp_name

    def finished(self, given: Given, before: list[str], call: str, waits: bool) -> list[str]:
        value = given.of(call)
        if waits:
            if given.type == "void":
                return before + [f"without_gil([&] {{ {call}; }});"]
            return before + [f"return without_gil([&]() -> {given.type} {{ return {value}; }});"]
        return before + [f"return {value};" if given.type != "void" else f"{call};"]

    def is_math_template(self, function: Function) -> bool:
        names = [t.split()[-1] for t in function.template]
        rest = [p for p in function.parameters if bare(p.type) not in LINES]
        return (bool(names) and all(bare(p.type) in names for p in rest) and function.returns == "Tensor"
                and not function.name.startswith("operator"))

    def free_function(self, function: Function) -> Binding:
        template: dict[str, str] = {}
        name = "firn::" + function.name
        if function.template:
            if not self.is_math_template(function):
                raise Unknown("a template")
            template = {t.split()[-1]: "Arg" for t in function.template}
            function = Function(function.name, function.returns,
                                [p for p in function.parameters if bare(p.type) not in LINES], function.doc,
                                function.header)
            name = f"firn::{function.name}_of"
        given = self.conversions.given(function.returns)
        arguments, before, call = self.arguments(function, template)
        if template:
            before.append(f'require_tensor("{function.name}", {{{", ".join("&" + a.cpp_name for a in arguments)}}});')
        waits = bool(choices.WAITING.fullmatch(function.signature))
        body = self.finished(given, before, f"{name}({', '.join(call)})", waits)
        keyword_only = None
        if function.name in choices.KEYWORD_ONLY and self.conversions.options(function.parameters[-1].type):
            keyword_only = 1
        return Binding(choices.python_name(function.name), "", function, arguments, given, body, function.doc,
                       keyword_only=keyword_only)

    def custom(self, function: Function) -> Binding:
        parameters, returns, body = choices.CUSTOM[function.signature]
        arguments = []
        for type_text, name, default in parameters:
            taken = self.conversions.taken(type_text)
            arguments.append(Argument(choices.python_name(name), name, taken, default))
        given = self.conversions.given(returns)
        return Binding(choices.python_name(function.name), "", function, arguments, given, body, function.doc)

    def instances(self, function: Function) -> list[Function]:
        """A template over the size and kind of vectors, for each of them."""
        if function.template not in (["size_t N"], ["size_t N", "VecKind K"]):
            return [function]
        out = []
        for n in "234":
            for letter, kind in (("", "Float"), ("i", "Int"), ("u", "Uint"), ("b", "Bool")):
                def named(text: str) -> str:
                    text = re.sub(r"\bVec<N, K>", f"{letter}vec{n}", text)
                    text = re.sub(r"\bVec<N, VecKind::Bool>", f"bvec{n}", text)
                    return re.sub(r"\bMat<N>", f"mat{n}", re.sub(r"\bVec<N>", f"vec{n}", text))

                out.append(Function(function.name, named(function.returns),
                                    [Parameter(named(p.type), p.name, p.default) for p in function.parameters],
                                    function.doc, function.header))
                if len(function.template) == 1:
                    break
        return out

    # ---- classes ----

    def method(self, function: Function, python_class: str, cpp_class: str, source: Class,
               template: dict[str, str]) -> list[Binding]:
        is_constructor = function.name == source.name
        if function.name.startswith("operator") and function.name not in choices.OPERATORS:
            raise Unknown("an operator")
        if function.template:
            raise Unknown("a template")
        if is_constructor:
            given = Given("void", "{}", "None")
            arguments, before, call = self.arguments(function, template)
            body = before + [f"self.value_ptr() = new {cpp_class}({', '.join(call)});"]
            return [Binding("__init__", python_class, function, arguments, given, body, function.doc, "constructor")]
        name = choices.OPERATORS.get(function.name, choices.python_name(function.name))
        arguments, before, call = self.arguments(function, template)
        called = f"self.{function.name}({', '.join(call)})"
        if function.is_static:
            given = self.conversions.given(function.returns)
            body = self.finished(given, before, f"{cpp_class}::{function.name}({', '.join(call)})", False)
            return [Binding(name, python_class, function, arguments, given, body, function.doc, "static")]
        if function.returns == "float &" and not arguments:  # a number that can be set
            given = Given("float", "{}", "float")
            value = Argument("value", "value", Taken("float", "{}", "float"))
            return [Binding(name, python_class, function, [], given, [f"return {called};"], function.doc, "getter",
                            f"{cpp_class}&"),
                    Binding(name, python_class, function, [value], Given("void", "{}", "None"),
                            [f"{called} = value;"], "", "setter", f"{cpp_class}&")]
        given = self.conversions.given(function.returns)
        waits = bool(choices.WAITING.fullmatch(function.signature))
        body = self.finished(given, before, called, waits)
        is_property = name in choices.PROPERTIES and not arguments
        return [Binding(name, python_class, function, arguments, given, body, function.doc,
                        "getter" if is_property else "method", f"{cpp_class}&")]

    def field_getter(self, each: Field, python_class: str, cpp_class: str) -> Binding:
        given = self.conversions.given(each.type)
        return Binding(choices.python_name(each.name), python_class, None, [], given,
                       [f"return self.{each.name};"], each.doc, "getter", f"{cpp_class}&")

    def constructor_of_fields(self, source: Class, python_class: str, cpp_class: str) -> Binding:
        arguments, before = [], [f"auto* made = new {cpp_class}{{}};", "self.value_ptr() = made;"]
        for each in source.fields:
            if each.default is None:
                a = Argument(each.name, each.name, self.conversions.taken(each.type), None, None, each.doc)
            else:
                a = self.option_argument(each, {})
            set_it = f"made->{each.name} = {a.taken.of(a.cpp_name)};"
            before.append(f"if ({a.cpp_name}) {set_it}" if a.taken.none_is_default else set_it)
            arguments.append(a)
        return Binding("__init__", python_class, None, arguments, Given("void", "{}", "None"), before, source.doc,
                       "constructor")

    def select_class(self, python_class: str, cpp_class: str, source: Class, template: dict[str, str]) -> None:
        base = next((b for b in source.bases if b in choices.CLASSES), "")
        self.out.classes.append((python_class, cpp_class, source, base))
        for each in source.fields:
            try:
                self.out.bindings.append(self.field_getter(each, python_class, cpp_class))
            except Unknown as why:
                self.out.missing.append((f"{source.name}::{each.name}", str(why)))
        seen = set()
        if source.kind == "struct" and not any(f.name == source.name for f in source.functions):
            self.out.bindings.append(self.constructor_of_fields(source, python_class, cpp_class))
        for function in source.functions:
            if function.is_deleted or function.name.startswith("~"):
                continue
            if self.listed(function.signature, python_class):
                continue
            try:
                bound = self.method(function, python_class, cpp_class, source, template)
            except Unknown as why:
                self.out.missing.append((function.signature, str(why)))
                continue
            name = f"{python_class}.{bound[0].name}"
            key = (name, tuple(a.taken.type for a in bound[0].arguments))
            if key in seen:
                self.entity(function.signature, "joined", name, "another overload takes the same arguments")
                continue
            seen.add(key)
            self.out.bindings += bound
            self.entity(function.signature, "bound", name)

    # ---- everything ----

    def entity(self, signature: str, status: str, name: str, reason: str = "") -> None:
        self.out.entities.append(Entity(signature, status, name, reason))

    def listed(self, signature: str, owner: str = "") -> bool:
        """Whether it is on a list; then it is noted."""
        hand = found_in(self.by_hand, signature)
        if hand:
            self.entity(signature, "by_hand", hand.reason)
            return True
        left = found_in(self.left_out, signature)
        if left:
            self.entity(signature, "left_out", "", left.reason)
            return True
        return False

    def joined_by_options(self, function: Function) -> bool:
        """`sum(x, {0, 1})` beside `sum(x, options)`: the axes are an argument of the options."""
        if not function.parameters or bare(function.parameters[-1].type) != "AxisList":
            return False
        for other in self.declarations.functions:
            if other.name != function.name or len(other.parameters) != len(function.parameters):
                continue
            options = self.conversions.options(other.parameters[-1].type)
            if options and any(f.type == "Axes" for f in options[0].fields) and all(
                    a.type == b.type for a, b in zip(other.parameters[:-1], function.parameters[:-1])):
                return True
        return False

    def select(self) -> Selection:
        by_name = {c.name: c for c in self.declarations.classes}
        wanted: list[tuple[str, str, Class, dict[str, str]]] = []
        for name in choices.CLASSES:
            source = by_name[name]
            if not source.template:
                wanted.append((name, name, source, {}))
                continue
            for alias, target in self.declarations.aliases.items():
                found = re.fullmatch(rf"{name}<(\d)>", target)
                if found:
                    wanted.append((alias, target, source, {"N": found[1]}))
        self.conversions.classes = {w[0] for w in wanted}
        noted = set()
        for python_class, cpp_class, source, template in wanted:
            self.select_class(python_class, cpp_class, source, template)
            if source.name not in noted:
                self.entity(source.signature, "bound", python_class)
            noted.add(source.name)
        for function in self.declarations.functions:
            if function.is_deleted:
                continue
            if self.listed(function.signature):
                continue
            if self.joined_by_options(function):
                self.entity(function.signature, "joined", function.name,
                            "the axes are the argument `axis` of the overload with options")
                continue
            try:
                if function.signature in choices.CUSTOM:
                    made = [self.custom(function)]
                else:
                    made = [self.free_function(each) for each in self.instances(function)]
            except Unknown as why:
                self.out.missing.append((function.signature, str(why)))
                continue
            key = (made[0].name, tuple(a.taken.type for a in made[0].arguments))
            if any((b.name, tuple(a.taken.type for a in b.arguments)) == key for b in self.out.bindings if not b.owner):
                self.entity(function.signature, "joined", made[0].name, "another overload takes the same arguments")
                continue
            self.out.bindings += made
            self.entity(function.signature, "bound", made[0].name)
        for each in self.declarations.classes:
            if each.name in noted:
                continue
            self.other_class(each)
        for each in self.declarations.enumerations:
            if not self.listed(each.signature):
                self.entity(each.signature, "bound", each.name)
                self.out.enumerations.append(each)
        for each in self.out.bindings:
            if (not each.owner and each.name in choices.METHOD_NAMES and each.arguments
                    and each.arguments[0].taken.type in ("const Operand&", "const Arg&")
                    and (each.name not in choices.KEYWORD_ONLY or each.keyword_only is not None)):
                each.method = choices.METHOD_NAMES[each.name]
        self.out.bindings.sort(key=lambda b: [choices.rank(a.taken.type) for a in b.arguments])
        return self.out

    def other_class(self, source: Class) -> None:
        if self.listed(source.signature):
            for function in source.functions:
                if not function.is_deleted and not self.listed(function.signature):
                    self.out.missing.append((function.signature, "its class is on a list, and it is not"))
            return
        if source.name.endswith("Options") or source.name in ("DeviceChoice", "PadWidths"):
            self.entity(source.signature, "joined", "", "its fields are arguments of the functions that take it")
        elif source.name in self.conversions.structs:
            self.entity(source.signature, "bound", source.name)
            for function in source.functions:
                if not function.is_deleted and not self.listed(function.signature):
                    self.out.missing.append((function.signature, "a function of a named tuple"))
        else:
            self.out.missing.append((source.signature, "no rule for it"))
