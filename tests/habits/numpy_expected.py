#!/usr/bin/env python3
"""Writes what numpy gives for the rows of numpy_rows.def into numpy_expected.txt, which the test reads: run it
where numpy is. A line has the row's text, the sizes and the elements, between tabs."""
import os
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r'^(ROW|STORE)\("((?:[^"\\]|\\.)*)"')


def variables():
    a = np.arange(12).reshape(3, 4)
    b = (a / 4 - 1).astype(np.float32)
    return {"np": np, "a": a, "b": b, "x": b.copy(), "m": a % 3 == 0, "i": np.array([2, 0]),
            "v": np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32), "w": np.arange(8, dtype=np.float32) / 8,
            "q": np.array([[4, 1], [2, 3]], np.float32)}


lines = []
for line in open(os.path.join(HERE, "numpy_rows.def")):
    row = ROW.match(line)
    if not row:
        continue
    kind, text = row.groups()
    scope = variables()
    if kind == "STORE":
        exec(text, scope)
        result = scope["x"]
    else:
        result = np.asarray(eval(text, scope))
    lines.append("\t".join([text, ",".join(map(str, result.shape)),
                            " ".join(format(float(each), ".9g") for each in result.ravel())]))
with open(os.path.join(HERE, "numpy_expected.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")
