"""Every public function and type of C++ is in the package, or on a list with its reason."""
import collections
import json
import pathlib
import re
import sys
import unittest

import firn as fn

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(fn.__path__[0]).parents[1]
GENERATED = BUILD / "engine/python/include/engine/python/generated"
XML = BUILD / "engine/python/reference/xml"
GENERATE = ROOT / "engine/python/generate"


def found(name):
    """The attribute of the package with this name; None where there is none."""
    value = fn
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


class Coverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(GENERATE))
        import declarations

        cls.declarations = declarations.read(XML)
        cls.report = json.loads((GENERATED / "coverage.json").read_text())
        cls.entities = collections.defaultdict(list)
        for each in cls.report["entities"]:
            cls.entities[each["signature"]].append(each)

    def public(self):
        """The signatures of all public functions and types of the reference."""
        for function in self.declarations.functions:
            if not function.is_deleted:
                yield function.signature
        for source in self.declarations.classes:
            yield source.signature
            for function in source.functions:
                if not function.is_deleted and not function.name.startswith("~"):
                    yield function.signature
        for each in self.declarations.enumerations:
            yield each.signature

    def test_each_declaration_is_bound_or_has_a_reason(self):
        signatures = list(self.public())
        missing = []
        for signature in signatures:
            for each in self.entities.get(signature, []):
                if each["status"] != "left_out" and each["name"] and found(each["name"]) is None:
                    missing.append(f"{signature}: firn has no {each['name']}")
                if each["status"] == "left_out" and not each["reason"]:
                    missing.append(f"{signature}: left out without a reason")
            if signature not in self.entities:
                missing.append(f"{signature}: neither bound nor on a list")
        self.assertEqual(missing, [])
        counts = collections.Counter()
        for signature in set(signatures):
            kind = "types" if signature.startswith(("class ", "enum ")) else "functions"
            for each in self.entities[signature][:1]:
                counts[kind, each["status"]] += 1
        for kind in ("functions", "types"):
            total = sum(n for (each, _), n in counts.items() if each == kind)
            print(f"{total} public {kind}:", ", ".join(
                f"{counts[kind, status]} {text}" for status, text in
                (("bound", "made from the reference"), ("joined", "joined with others"), ("by_hand", "by hand"),
                 ("left_out", "left out"))), file=sys.stderr)

    def test_no_line_of_the_lists_is_dead(self):
        dead = [f"{each['list']}:{each['line']}: {each['pattern']}"
                for each in self.report["lists"] if not each["used"]]
        self.assertEqual(dead, [])

    def test_what_is_left_out_is_not_there(self):
        """A list that says that there are no windows is wrong when there are."""
        there = []
        for each in self.report["entities"]:
            name = re.fullmatch(r"class (\w+)", each["signature"])
            if each["status"] == "left_out" and name and hasattr(fn, name[1]):
                there.append(name[1])
        self.assertEqual(there, [])

    def test_functions_show_their_text_and_types(self):
        text = fn.sum.__doc__
        self.assertIn("sum(x: TensorLike, axis: AxesLike = None, keep_dims: bool = False) -> Tensor", text)
        self.assertIn("The sum of elements.", text)
        self.assertIn("reduced axes stay with size 1", text)
        silent = [name for name, each in vars(fn).items()
                  if not name.startswith("_") and callable(each) and not (each.__doc__ or "").strip()]
        self.assertEqual(silent, [])

    def test_methods_are_those_of_the_functions(self):
        import choices

        for function, method in choices.METHOD_NAMES.items():
            self.assertTrue(hasattr(fn, function), function)
            self.assertTrue(hasattr(fn.Tensor, method), method)
        self.assertEqual(fn.tensor([[1, 2], [3, 4]]).sum(0).tolist(), [4, 6])
        self.assertEqual(fn.tensor([[1.0, 5.0], [3.0, 4.0]]).max(1).tolist(), [5.0, 4.0])


if __name__ == "__main__":
    unittest.main()
