#!/usr/bin/env python3
"""Makes Python's bindings, their types and their documentation from the reference of the public headers.

usage: generate.py XML OUT [--functions N] [--types N]

XML is the folder that `apps/reference --xml` writes. OUT gets the files of C++, _firn.pyi and coverage.json, which says
what became of each public declaration.
"""

import argparse
import json
import sys
from pathlib import Path

import bindings
import cpp
import declarations
import stubs


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes Python's bindings from the reference of the headers.")
    parser.add_argument("xml", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--functions", type=int, default=6, help="files of functions")
    parser.add_argument("--types", type=int, default=6, help="files of types of functions")
    options = parser.parse_args()
    folder = Path(__file__).parent
    selector = bindings.Selector(declarations.read(options.xml), folder)
    selection = selector.select()
    for signature, why in selection.missing:
        print(f"{signature}: {why}; it needs a conversion, or a line in {folder}/left_out.txt or by_hand.txt",
              file=sys.stderr)
    if selection.missing:
        return 1
    cpp.write(selection, selector.conversions, options.out, options.functions, options.types)
    cpp.write_changed(options.out / "_firn.pyi",
                      stubs.write(selection, selector.conversions, folder / "by_hand.pyi"))
    cpp.write_changed(options.out / "coverage.json", json.dumps(
        {"entities": [vars(e) for e in selection.entities],
         "lists": [{"list": name, "line": l.line, "pattern": l.pattern.pattern, "used": l.used}
                   for name, listed in (("left_out.txt", selector.left_out), ("by_hand.txt", selector.by_hand))
                   for l in listed]}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
