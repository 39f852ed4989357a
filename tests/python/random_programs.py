"""Random programs of Python over scalars and arrays, as text: the same text runs over numpy and over Firn.

Values are such that arithmetic is exact: integers below 101, and floats that are multiples of a half below 64.
"""

import random

SIZE = 4


class Writer:
    """Writes one program. Each name keeps its type: scalars `i` and `f`, arrays `I` and `F`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.fresh = 0
        self.loops = []  # of each loop around: whether it is recorded
        self.conditions = 0  # recorded branches since the innermost loop
        self.statements = 0
        self.in_else = 0  # of loops

    def choose(self, *options):
        return self.random.choice(options)

    def chance(self, probability):
        return self.random.random() < probability

    def write(self, depth, text):
        self.lines.append("    " * depth + text)

    # ---- expressions

    def of_type(self, names, kind):
        return [name for name, each in names.items() if each == kind]

    def number(self, kind):
        value = self.random.randint(-5, 20)
        return str(value) if kind in "iI" else f"{value}.{self.choose(0, 5)}"

    def leaf(self, names, kind):
        known = self.of_type(names, kind)
        if kind == "i" and self.chance(0.1):
            known = known + ["python"]
        if not known or self.chance(0.15):
            return self.number(kind)
        return self.random.choice(known)

    def expression(self, names, kind, depth=2):
        if depth == 0 or self.chance(0.25):
            return self.leaf(names, kind)
        a = self.expression(names, kind, depth - 1)
        roll = self.random.random()
        scalar = kind in "if"
        if roll < 0.12 and not scalar:
            return f"select({self.condition(names, arrays=True)}, {a}, {self.expression(names, kind, depth - 1)})"
        if roll < 0.24 and scalar:
            return f"({a} if {self.condition(names)} else {self.expression(names, kind, depth - 1)})"
        if roll < 0.34 and scalar:
            arrays = self.of_type(names, kind.upper())
            if arrays:
                return f"{self.random.choice(arrays)}[{self.index(names)}]"
        if roll < 0.42:
            return f"helper_{kind}({a})" if scalar else f"({a} + {self.leaf(names, kind.lower())})"
        if roll < 0.5:
            return f"({a} * {self.choose(2, 3)} % {97 if kind in 'iI' else 53.0})"
        if roll < 0.56:
            return f"({a} // {self.choose(2, 3)})"
        b = self.expression(names, kind, depth - 1)
        return f"({a} {self.choose('+', '-')} {b})"

    def bounded(self, names, kind):
        if kind not in "if" and self.chance(0.3) and self.of_type(names, kind):
            array = self.random.choice(self.of_type(names, kind))
            return f"({array} + {self.leaf(names, kind.lower())}) % {self.modulus(kind)}"
        text = self.expression(names, kind)
        if kind not in "if" and not self.of_type(names, kind):
            return None
        if kind not in "if":
            text = f"{self.random.choice(self.of_type(names, kind))} * 0 + {text}"
        return f"({text}) % {self.modulus(kind)}"

    @staticmethod
    def modulus(kind):
        return "101" if kind in "iI" else "64.0"

    def index(self, names):
        return f"({self.expression(names, 'i', 1)}) % {SIZE}"

    def condition(self, names, depth=1, arrays=False, python=False):
        if python:
            return self.choose("python > 2", "python == 3", "not flag", "flag", "flag and python < 9")
        if arrays:
            kind = self.choose("I", "F")
            known = self.of_type(names, kind)
            left = self.random.choice(known)
            return f"{left} {self.choose('<', '>', '>=', '!=')} {self.leaf(names, kind.lower())}"
        kind = self.choose("i", "f")
        a = self.random.choice(self.of_type(names, kind))
        b = self.expression(names, kind, 1)
        roll = self.random.random()
        if depth and roll < 0.12:
            return f"({self.condition(names, 0)} {self.choose('and', 'or')} {self.condition(names, 0)})"
        if depth and roll < 0.18:
            return f"(not {self.condition(names, 0)})"
        if roll < 0.26:
            return f"{self.number(kind)} {self.choose('<', '<=')} {a} < {b}"
        return f"{a} {self.choose('<', '<=', '>', '>=', '==', '!=')} {b}"

    # ---- statements

    def block(self, depth, names, room):
        """Writes a block; returns the names that have a value behind it."""
        names = dict(names)
        before = len(self.lines)
        for _ in range(self.random.randint(1, max(room, 1))):
            if self.statement(depth, names, room) == "left":
                break
        if len(self.lines) == before:
            self.write(depth, "pass")
        return names

    def statement(self, depth, names, room):
        self.statements += 1
        roll = self.random.random()
        deep = depth > 4 or self.statements > 45
        if roll < 0.34 or deep:
            return self.assignment(depth, names)
        if roll < 0.44:
            return self.store(depth, names)
        if roll < 0.66:
            return self.branch(depth, names, room)
        if roll < 0.82:
            return self.loop(depth, names, room)
        if roll < 0.9:
            return self.while_loop(depth, names, room)
        if self.loops and self.chance(0.8):
            return self.jump(depth, names)
        if not self.loops and not self.in_else and self.chance(0.4):
            return self.early_return(depth, names)
        return self.assignment(depth, names)

    def assignment(self, depth, names):
        roll = self.random.random()
        kind = self.choose("i", "i", "f", "f", "I", "F")
        known = [each for each in self.of_type(names, kind) if not each.startswith("k")]
        if roll < 0.12:
            pairs = [each for each in ("i", "f") if len([n for n in self.of_type(names, each) if n[0] != "k"]) > 1]
            if pairs:
                kind = self.random.choice(pairs)
                a, b = self.random.sample([n for n in self.of_type(names, kind) if n[0] != "k"], 2)
                self.write(depth, f"{a}, {b} = {b}, {self.bounded(names, kind)}")
                return None
        if roll < 0.2:
            self.write(depth, f"box.{self.choose('u', 'v')} = (box.u + {self.expression(names, 'i', 1)}) % 101")
            return None
        if roll < 0.26:
            self.write(depth, f"pair = (pair[1] + {self.number('i')}) % 101, {self.bounded(names, 'i')}")
            return None
        if roll < 0.3:
            self.write(depth, f"i1 = (i1 + box.{self.choose('u', 'v')} + pair[{self.choose(0, 1)}]) % 101")
            return None
        if roll < 0.4 and known and kind in "if":
            name = self.random.choice(known)
            self.write(depth, f"{name} {self.choose('+=', '-=')} {self.number(kind)}")
            return None
        text = self.bounded(names, kind)
        if text is None:
            return None
        if self.chance(0.2) or not known:
            self.fresh += 1
            name = f"t{self.fresh}"
            names[name] = kind
        else:
            name = self.random.choice(known)
        self.write(depth, f"{name} = {text}")
        return None

    def store(self, depth, names):
        kind = self.choose("I", "F")
        known = [each for each in self.of_type(names, kind) if each[0] in "st"]
        if not known:
            return None
        operator = self.choose("=", "=", "+=")
        value = self.bounded(names, kind.lower()) if operator == "=" else self.leaf(names, kind.lower())
        self.write(depth, f"{self.random.choice(known)}[{self.index(names)}] {operator} {value}")
        return None

    def branch(self, depth, names, room):
        python = self.chance(0.15)
        self.write(depth, f"if {self.condition(names, python=python)}:")
        self.conditions += not python
        sides = [self.block(depth + 1, names, room - 1)]
        if self.chance(0.2):
            self.write(depth, f"elif {self.condition(names)}:")
            self.conditions += 1
            sides.append(self.block(depth + 1, names, room - 1))
            self.conditions -= 1
        if self.chance(0.5):
            self.write(depth, "else:")
            sides.append(self.block(depth + 1, names, room - 1))
        else:
            sides.append(dict(names))
        self.conditions -= not python
        for name in sides[0]:
            if all(side.get(name) == sides[0][name] for side in sides):
                names[name] = sides[0][name]
        return None

    def loop(self, depth, names, room):
        self.fresh += 1
        index = f"k{self.fresh}"
        recorded = self.chance(0.75)
        inside = {**names, index: "i"}
        if recorded:
            bounds = self.choose(
                str(self.random.randint(0, 4)), f"({self.expression(names, 'i', 1)}) % 4", "1, 4", "3, 0, -1", "python"
            )
            self.write(depth, f"for {index} in loop_range({bounds}):")
        else:
            self.write(depth, f"for {index} in {self.choose('[1, 2]', 'range(2)', '(3,)')}:")
        self.in_loop(depth, inside, room, recorded)
        if not recorded and self.chance(0.1):
            self.write(depth, "else:")
            self.in_else += 1
            self.block(depth + 1, names, 1)
            self.in_else -= 1
        return None

    def in_loop(self, depth, inside, room, recorded):
        conditions, self.conditions = self.conditions, 0
        self.loops.append(recorded)
        self.block(depth + 1, inside, room - 1)
        self.loops.pop()
        self.conditions = conditions

    def while_loop(self, depth, names, room):
        self.fresh += 1
        count = f"k{self.fresh}"
        recorded = self.chance(0.8)
        if recorded:
            self.write(depth, f"{count} = zero")
            more = f" and {self.condition(names, 0)}" if self.chance(0.4) else ""
            bound = f"({self.expression(names, 'i', 1)}) % 5"
            if self.chance(0.2):
                self.write(depth, f"while ({count} := {count} + 1) < {bound}{more}:")
                names[count] = "i"
                self.in_loop(depth, names, room, True)
                return None
            self.write(depth, f"while {count} < {bound}{more}:")
        else:
            self.write(depth, f"{count} = 0")
            self.write(depth, f"while {count} < 2:")
        names[count] = "i"
        self.write(depth + 1, f"{count} = {count} + 1")
        self.in_loop(depth, names, room, recorded)
        return None

    def jump(self, depth, names):
        word = self.choose("break", "continue")
        if self.loops[-1]:
            if self.chance(0.7):
                self.write(depth, f"if {self.condition(names)}:")
                self.write(depth + 1, word)
                return None
            self.write(depth, word)
            return "left"
        if self.conditions:
            return None
        self.write(depth, f"if {self.condition(names, python=True)}:")
        self.write(depth + 1, word)
        return None

    def early_return(self, depth, names):
        self.write(depth, f"if {self.condition(names)}:")
        self.write(depth + 1, self.returned(names))
        return None

    def returned(self, names):
        values = [self.bounded(names, kind) for kind in "ifI"]
        return f"return {', '.join(values)}, i1, f1, s1, p2"

    # ---- the program

    def program(self):
        names = {"i1": "i", "i2": "i", "f1": "f", "f2": "f", "s1": "I", "p1": "I", "s2": "F", "p2": "F"}
        self.write(0, "def program(i1, i2, f1, f2, s1, p1, s2, p2, flag=True, python=3):")
        self.write(1, "zero, box, pair = i1 * 0, Box(i1, i2), (i2, 0)")
        self.write(1, "def helper_i(x, most=30):")
        self.write(2, "if x > most:")
        self.write(3, "return x - most")
        self.write(2, "if x < 0:")
        self.write(3, "x = -x")
        self.write(2, "return x % 101")
        self.write(1, "def helper_f(x):")
        self.write(2, f"for step in loop_range({self.random.randint(1, 3)}):")
        self.write(3, f"if x {self.choose('<', '>')} {self.number('f')}:")
        self.write(4, f"x = x {self.choose('+', '-')} step")
        self.write(2, "return x % 64.0")
        for count in range(self.random.randint(1, 2)):
            self.write(1, f"w{count} = {self.random.randint(0, 9)}")  # a number, which may become a float
            names[f"w{count}"] = self.choose("i", "f")
        names = self.block(1, names, self.random.randint(3, 8))
        kept = list(names)
        total = " + ".join(name for name in kept if names[name] == "i")
        real = " + ".join(name for name in kept if names[name] == "f")
        integers = " + ".join(name for name in kept if names[name] == "I")
        reals = " + ".join(name for name in kept if names[name] == "F")
        total += " + box.u * 3 + box.v + pair[0] * 5 + pair[1]"
        self.write(1, f"return {total}, {real}, {integers}, i1, f1, s1, {reals}")
        return "\n".join(self.lines) + "\n"


def program(seed):
    """The text of a program."""
    return Writer(seed).program()


def arguments(seed):
    """Its arguments: numbers and lists."""
    chosen = random.Random(seed * 7 + 1)
    whole = lambda: chosen.randint(0, 40)  # noqa: E731
    half = lambda: chosen.randint(0, 80) / 2  # noqa: E731
    return (
        [whole(), whole(), half(), half()]
        + [[whole() for _ in range(SIZE)] for _ in range(2)]
        + [[half() for _ in range(SIZE)] for _ in range(2)]
    )
