"""The text of doxygen's descriptions as docstrings: plain text, paragraphs wrapped, examples marked as C++."""

import textwrap

WIDTH = 88


def flat(element) -> str:
    """The words of an element in one line; code keeps its backticks."""
    out = element.text or ""
    for child in element:
        inside = flat(child)
        out += ("`" + inside + "`" if child.tag == "computeroutput" else inside) + (child.tail or "")
    return out


def listing(element) -> str:
    lines = []
    for line in element.findall("codeline"):
        lines.append("".join(word_text(h) for h in line.findall("highlight")))
    return "\n".join(lines)


def word_text(element) -> str:
    out = element.text or ""
    for child in element:
        out += " " if child.tag == "sp" else word_text(child)
        out += child.tail or ""
    return out


BLOCKS = ("simplesect", "programlisting", "itemizedlist", "orderedlist", "parameterlist", "verbatim", "preformatted")


def paragraphs(element) -> list[str]:
    """A paragraph: its words, wrapped, and the blocks that stand in it."""
    out, words = [], element.text or ""

    def flush() -> None:
        line = " ".join(words.split())
        if line:
            out.append(textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False))

    for child in element:
        if child.tag in BLOCKS:
            flush()
            words = ""
            out += blocks([child])
        elif child.tag == "computeroutput":
            words += "`" + flat(child) + "`"
        else:
            words += flat(child)
        words += child.tail or ""
    flush()
    return out


def blocks(elements) -> list[str]:
    """The paragraphs of these elements."""
    out = []
    for child in elements:
        if child.tag == "para":
            out += paragraphs(child)
        elif child.tag == "simplesect":
            found = child.find("title")
            title = "".join(found.itertext()) if found is not None else ""
            if title == "Examples":
                title = "In C++"
            out.append((title + ":\n" if title else "") + textwrap.indent("\n\n".join(blocks(child)), "    "))
        elif child.tag == "programlisting":
            out.append(textwrap.indent(listing(child), "    "))
        elif child.tag in ("verbatim", "preformatted"):
            lines = textwrap.dedent("".join(child.itertext())).strip("\n")
            out.append(textwrap.indent(lines, "    "))
        elif child.tag in ("itemizedlist", "orderedlist"):
            for item in child.findall("listitem"):
                inside = "\n".join(blocks(item))
                out.append("- " + textwrap.indent(inside, "  ")[2:])
        elif child.tag in ("parblock", "sect1", "sect2"):
            out += blocks(child)
    return out


def described(member) -> str:
    """The documentation of a declaration; empty where it has none."""
    out = []
    for tag in ("briefdescription", "detaileddescription"):
        found = member.find(tag)
        if found is not None:
            out += blocks(found)
    return "\n\n".join(out).replace("…", "..")  # as apps/reference writes two dots
