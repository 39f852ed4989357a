"""Writes the C++ of the selected bindings."""

import re
from pathlib import Path

import choices
from bindings import Binding, Selection
from conversions import Conversions, Unknown, bare, python_default
from declarations import Class, Field

HEAD = "// Made from the reference of the headers by engine/python/generate.\n"
INCLUDES = """#include "engine/python/bindings/entries.h"
#include "engine/python/bindings/values.h"
#include "engine/python/generated/structs.h"
"""
KINDS = {"function": "Function", "method": "Method", "constructor": "Constructor", "static": "Static",
         "getter": "Getter", "setter": "Setter"}


# Functions of Python that C++ calls: what they record has lines of its own.
CALLBACKS = re.compile(r"py::function|Callback<|AnyInitialiser|AnyRule")


def quoted(text: str) -> str:
    """A string literal of C++; long ones in pieces, since compilers limit one."""
    pieces = [text[at:at + 8000] for at in range(0, len(text), 8000)] or [""]
    return " ".join(f'R"doc({piece})doc"' for piece in pieces)


def signature(binding: Binding) -> str:
    """The signature in Python, as help() shows it."""
    parts = []
    for number, a in enumerate(binding.arguments):
        if number == binding.keyword_only:
            parts.append("*")
        parts.append(f"{a.name}: {a.taken.python}" + (f" = {a.default}" if a.default is not None else ""))
    return f"{binding.name}({', '.join(parts)}) -> {binding.given.python}"


def docstring(binding: Binding, with_text: bool) -> str:
    """The signature, the text, and what the fields of options mean."""
    if binding.kind in ("getter", "setter"):
        return binding.doc
    out = [signature(binding)]
    if with_text and binding.doc:
        out.append(binding.doc)
    told = []
    for a in binding.arguments:
        words = a.doc.replace("\n", " ")
        if a.shown is not None:
            words = f"default {a.shown}" + (f"; {words}" if words else "")
        if words:
            told.append(f"    {a.name}: {words}")
    if told and with_text:
        out.append("Arguments:\n" + "\n".join(told))
    return "\n\n".join(out)


def arguments_text(binding: Binding) -> str:
    parts = []
    for number, a in enumerate(binding.arguments):
        if number == binding.keyword_only:
            parts.append("*")
        parts.append(a.name + (f"={a.default}" if a.default is not None else ""))
    return ", ".join(parts)


def wrapper(number: int, binding: Binding) -> str:
    uses_line = any("line" in statement for statement in binding.body)
    lines = [f"{binding.given.type} call_{number}({', '.join(binding.cpp_parameters)}) {{"]
    if binding.kind not in ("getter", "setter") or uses_line:
        calls_back = any(CALLBACKS.search(a.taken.type) for a in binding.arguments)
        lines.append("    const LineAt line;" if calls_back else "    const Line line;")
    lines += ["    " + statement for statement in binding.body]
    return "\n".join(lines + ["}"])


def row(number: int, binding: Binding, called: Binding, with_text: bool) -> str:
    return (f'    {{"{binding.name}", {quoted(arguments_text(binding))},\n'
            f"     {quoted(docstring(binding, with_text))},\n"
            f"     &define<{called.function_type}>, reinterpret_cast<void (*)()>(&call_{number}), "
            f"EntryKind::{KINDS[binding.kind]}}},")


def groups_of(selection: Selection) -> list[list[Binding]]:
    """Bindings of one name stand together, since overloads are tried in their order; those of a class, too."""
    groups: dict[str, list[Binding]] = {}
    for each in selection.bindings:
        groups.setdefault("class " + each.owner if each.owner else each.name, []).append(each)
    for owner in list(groups):
        if owner.startswith("class "):  # a setter stands behind its getter
            groups[owner].sort(key=lambda b: b.kind == "setter")
    return list(groups.values())


def shared_out(groups: list, count: int, weight) -> list[list]:
    """Puts groups into `count` lists of about equal weight, in an order that only the declarations decide."""
    out: list[list] = [[] for _ in range(count)]
    weights = [0] * count
    for group in sorted(groups, key=weight, reverse=True):
        at = weights.index(min(weights))
        out[at].append(group)
        weights[at] += weight(group)
    return out


def functions_file(number: int, groups: list[list[Binding]]) -> str:
    headers = sorted({each.declaration.header for group in groups for each in group if each.declaration})
    out = [HEAD, *(f'#include "{header}"' for header in headers), INCLUDES.rstrip(),
           '#include "engine/python/generated/function_types.h"\n', "namespace firn::python {\n", "namespace {\n"]
    tables: dict[str, list[str]] = {}
    at = 0
    for group in groups:
        known: set[tuple[str, str]] = set()
        for binding in group:
            out.append(wrapper(at, binding) + "\n")
            key = (binding.name, binding.doc)
            tables.setdefault(binding.owner, []).append(row(at, binding, binding, key not in known))
            if binding.method:
                tables.setdefault("Tensor", []).append(row(at, binding.as_method(), binding, key not in known))
            known.add(key)
            at += 1
    for owner, rows in tables.items():
        out.append(f"const Entry kEntries{owner}[] = {{\n" + "\n".join(rows) + "\n};\n")
    out.append("}  // namespace\n")
    out.append(f"void bind_generated_{number}(py::module_& m) {{")
    for owner in tables:
        scope = f'm.attr("{owner}")' if owner else "m"
        out.append(f"    define_all(std::begin(kEntries{owner}), std::end(kEntries{owner}), {scope});")
    out.append("}\n\n}  // namespace firn::python")
    return "\n".join(out) + "\n"


def types_header(types: list[str]) -> str:
    out = [HEAD + "#pragma once\n" + INCLUDES, "namespace firn::python {\n"]
    for each in types:
        out.append(f"extern template void define<{each}>(const Entry&, py::handle);")
    return "\n".join(out + ["\n}  // namespace firn::python"]) + "\n"


def types_file(types: list[str]) -> str:
    out = [HEAD + INCLUDES, "namespace firn::python {\n"]
    for each in types:
        out.append(f"template void define<{each}>(const Entry&, py::handle);")
    return "\n".join(out + ["\n}  // namespace firn::python"]) + "\n"


# ---- classes, enumerations and named tuples ----

def classes_file(selection: Selection, conversions: Conversions) -> str:
    out = [HEAD + INCLUDES, "namespace firn::python {\n", "void bind_generated_classes(py::module_& m) {"]
    for each in selection.enumerations:
        out.append(f'    py::enum_<{each.name}>(m, "{each.name}", {quoted(each.doc)})')
        for value, doc in each.values:
            out.append(f'        .value("{choices.python_name(value)}", {each.name}::{value}, {quoted(doc)})')
        out[-1] += ";"
    for python_class, cpp_class, source, base in selection.classes:
        bases = f", {base}" if base else ""
        out.append(f'    py::class_<{cpp_class}{bases}>(m, "{python_class}", {quoted(source.doc)});')
    out.append("    bind_structs(m);")
    out.append("}\n\n}  // namespace firn::python")
    return "\n".join(out) + "\n"


def defaulted(source: Class) -> list:
    """The last fields that have a default, which a named tuple may leave out."""
    out = []
    for each in reversed(source.fields):
        if each.default is None:
            break
        out.insert(0, each)
    return out


def struct_default(each: Field) -> str:
    """The default of a field of a named tuple, in Python."""
    if each.type.startswith("std::vector<"):
        return "()"
    return python_default(each.default) or "None"


# Plain tuples are no complex numbers and no quaternions.
EXACT = {"Complex", "Quaternion"}


def structs_header(structs: list[Class]) -> str:
    headers = sorted({each.header for each in structs})
    out = [HEAD + "#pragma once", *(f'#include "{header}"' for header in headers),
           '#include "engine/python/bindings/values.h"\n', "namespace firn::python {\n",
           "/// Makes the types of the named tuples.", "void bind_structs(py::module_& m);\n"]
    for each in structs:
        out.append(f"bool load_struct(py::handle from, {each.name}& to);")
        out.append(f"py::handle cast_struct(const {each.name}& from);")
    out += ["", "}  // namespace firn::python", "", "namespace pybind11::detail {\n"]
    for each in structs:
        out.append(f"""template <>
struct type_caster<firn::{each.name}> {{
    PYBIND11_TYPE_CASTER(firn::{each.name}, const_name("{each.name}"));
    bool load(handle from, bool) {{ return firn::python::load_struct(from, value); }}
    static handle cast(const firn::{each.name}& from, return_value_policy, handle) {{
        return firn::python::cast_struct(from);
    }}
}};""")
    return "\n".join(out + ["\n}  // namespace pybind11::detail"]) + "\n"


def structs_file(structs: list[Class]) -> str:
    out = [HEAD + '#include "engine/python/generated/structs.h"\n', "namespace firn::python {\n", "namespace {\n"]
    for each in structs:
        out.append(f"py::object type_of_{each.name};  // lives as long as the process")
    out.append("\n}  // namespace\n")
    for each in structs:
        required = len(each.fields) - len(defaulted(each))
        if each.name in EXACT:
            out.append(f"bool load_struct(py::handle from, {each.name}& to) {{")
            out.append(f"    if (!py::isinstance(from, type_of_{each.name})) return false;")
        else:
            out.append(f"bool load_struct(py::handle from, {each.name}& to) {{")
        out.append(f"    const Parts parts(from, {required}, {len(each.fields)});")
        steps = " && ".join(f"take(parts, {k}, to.{f.name})" for k, f in enumerate(each.fields))
        out.append(f"    return parts && {steps};")
        out.append("}")
        out.append(f"py::handle cast_struct(const {each.name}& from) {{")
        values = ", ".join(f"from.{f.name}" for f in each.fields)
        out.append(f"    return named_tuple(type_of_{each.name}, py::make_tuple({values}));")
        out.append("}")
    out.append("\nvoid bind_structs(py::module_& m) {")
    for each in structs:
        defaults = [struct_default(f) for f in defaulted(each)]
        values = ", ".join(default_value(d) for d in defaults)
        names = " ".join(choices.python_name(f.name) for f in each.fields)
        told = "\n".join(f"    {choices.python_name(f.name)}: {' '.join(f.doc.split())}" for f in each.fields if f.doc)
        doc = each.doc + (f"\n\n{told}" if told else "")
        out.append(f'    type_of_{each.name} = make_named_tuple(m, "{each.name}", "{names}", py::make_tuple({values}),')
        out.append(f"                                          {quoted(doc)});")
    out.append("}\n\n}  // namespace firn::python")
    return "\n".join(out) + "\n"


def default_value(text: str) -> str:
    if text == "None":
        return "py::none()"
    if text == "()":
        return "py::tuple()"
    if text in ("True", "False"):
        return text.lower()
    if text.startswith("'"):
        return f'"{text[1:-1]}"'
    return text


def write_changed(path: Path, text: str) -> None:
    """Files that stay as they are keep their time, so that they are not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write(selection: Selection, conversions: Conversions, folder: Path, function_files: int, type_files: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    structs = [conversions.structs[name] for name in sorted(conversions.structs)]
    types = sorted({b.function_type for b in selection.bindings})
    parts = shared_out(groups_of(selection), function_files, len)
    for number, groups in enumerate(parts):
        write_changed(folder / f"functions_{number}.cpp", functions_file(number, groups))
    for number, part in enumerate(shared_out([[t] for t in types], type_files, lambda t: len(t[0]))):
        write_changed(folder / f"function_types_{number}.cpp", types_file([t[0] for t in part]))
    write_changed(folder / "function_types.h", types_header(types))
    write_changed(folder / "classes.cpp", classes_file(selection, conversions))
    write_changed(folder / "structs.h", structs_header(structs))
    write_changed(folder / "structs.cpp", structs_file(structs))
    calls = "\n".join(f"    bind_generated_{number}(m);" for number in range(function_files))
    declared = "\n".join(f"void bind_generated_{number}(py::module_& m);" for number in range(function_files))
    write_changed(folder / "generated.h", HEAD + f"""#pragma once
#include "engine/python/bindings/convert.h"

namespace firn::python {{

void bind_generated_classes(py::module_& m);
{declared}

/// Binds all that is made from the reference.
inline void bind_generated(py::module_& m) {{
    bind_generated_classes(m);
{calls}
}}

}}  // namespace firn::python
""")
