"""Reads the public declarations of Firn from doxygen's XML, as plain data."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import prose


@dataclass
class Parameter:
    type: str
    name: str
    default: str | None = None  # the text of C++; none where it must be given


@dataclass
class Function:
    name: str
    returns: str
    parameters: list[Parameter]
    doc: str
    header: str
    template: list[str] = field(default_factory=list)  # its parameters, as "size_t N"
    owner: str = ""  # the class of a method
    is_static: bool = False
    is_deleted: bool = False
    is_const: bool = False
    is_friend: bool = False

    @property
    def signature(self) -> str:
        """How patterns name it: `sum(const Operand &, const ReduceOptions &)`, `Linear::operator()(..)`."""
        scope = self.owner + "::" if self.owner else ""
        return scope + self.name + "(" + ", ".join(p.type for p in self.parameters) + ")"


@dataclass
class Field:
    type: str
    name: str
    default: str | None
    doc: str


@dataclass
class Class:
    name: str  # without firn::
    kind: str  # class or struct
    doc: str
    header: str
    bases: list[str]
    template: list[str]
    fields: list[Field]
    functions: list[Function]

    @property
    def signature(self) -> str:
        return "class " + self.name


@dataclass
class Enumeration:
    name: str
    doc: str
    values: list[tuple[str, str]]  # with their documentation

    @property
    def signature(self) -> str:
        return "enum " + self.name


@dataclass
class Declarations:
    functions: list[Function]
    classes: list[Class]
    enumerations: list[Enumeration]
    aliases: dict[str, str]  # using Conv2d = ConvLayer< 2 >
    alias_docs: dict[str, str]


def text(element) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def tidy_type(type_text: str) -> str:
    """One spelling of each type: `const std::vector<Tensor> &`, without the namespace."""
    out = type_text.replace("firn::", "")
    out = re.sub(r"< ", "<", out)
    out = re.sub(r" >", ">", out)
    for word in ("[[no_unique_address]]", "constexpr", "inline", "static"):
        out = out.replace(word, "")
    return " ".join(out.split())


def read_parameters(member) -> list[Parameter]:
    out = []
    for each in member.findall("param"):
        array = text(each.find("array"))
        out.append(Parameter(tidy_type(text(each.find("type")) + array), text(each.find("declname")),
                             text(each.find("defval")) if each.find("defval") is not None else None))
    return [p for p in out if p.type != "void"]


def read_template(element) -> list[str]:
    listed = element.find("templateparamlist")
    if listed is None:
        return []
    return [" ".join([text(p.find("type")), text(p.find("declname"))]).strip() for p in listed.findall("param")]


def read_function(member, owner: str = "") -> Function:
    arguments = text(member.find("argsstring"))
    return Function(text(member.find("name")), tidy_type(text(member.find("type"))), read_parameters(member),
                    prose.described(member), member.find("location").get("file"), read_template(member), owner,
                    member.get("static") == "yes", "=delete" in arguments.replace(" ", ""),
                    member.get("const") == "yes", member.get("kind") == "friend")


def default_of(member) -> str | None:
    found = member.find("initializer")
    if found is None:
        return None
    return text(found).removeprefix("=").strip()


def read_class(path: Path) -> Class:
    compound = ElementTree.parse(path).getroot().find("compounddef")
    name = tidy_type(text(compound.find("compoundname")))
    fields, functions = [], []
    for member in compound.iter("memberdef"):
        if member.get("prot") != "public":
            continue
        kind = member.get("kind")
        if kind == "variable":
            fields.append(Field(tidy_type(text(member.find("type"))), text(member.find("name")), default_of(member),
                                prose.described(member)))
        elif kind == "function" or (kind == "friend" and member.find("param") is not None):
            functions.append(read_function(member, name))
    return Class(name, compound.get("kind"), prose.described(compound), compound.find("location").get("file"),
                 [tidy_type(text(b)) for b in compound.findall("basecompoundref")], read_template(compound), fields,
                 functions)


def read(folder: Path) -> Declarations:
    """All public declarations in the XML that `apps/reference` writes to `folder`."""
    index = ElementTree.parse(folder / "index.xml").getroot()
    out = Declarations([], [], [], {}, {})
    for compound in index.findall("compound"):
        if compound.get("kind") in ("class", "struct") and text(compound.find("name")).startswith("firn::"):
            out.classes.append(read_class(folder / (compound.get("refid") + ".xml")))
    namespace = ElementTree.parse(folder / "namespacefirn.xml").getroot().find("compounddef")
    for member in namespace.iter("memberdef"):
        kind, name = member.get("kind"), text(member.find("name"))
        if kind == "function":
            out.functions.append(read_function(member))
        elif kind == "enum":
            out.enumerations.append(
                Enumeration(name, prose.described(member),
                            [(text(v.find("name")), prose.described(v)) for v in member.findall("enumvalue")]))
        elif kind == "typedef":
            out.aliases[name] = tidy_type(text(member.find("type")))
            out.alias_docs[name] = prose.described(member)
    return out
