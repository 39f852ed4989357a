#!/usr/bin/python3
"""What Firn costs from Python beside C++: calls of a compiled function, recording, and the start of a program, in turns.

usage: PYTHONPATH=build/python against_cpp.py build/bin/firn_bench_python [ROUNDS]

Both programs live all the time, with a session of the same kind (FIRN_DEVICE), and measure one after the other in each
round: 300 calls by their median, after what compiles in the background is ready. The table has the median of the rounds.
Means would have the time slices of other programs, of some milliseconds each, which are much more than a call.

Then the import of the package, and the time of a process that writes the first picture of the demo wave, where that is
built; what the system keeps of files, and what Firn keeps of compiled programs, is there.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SIZES = (8, 64, 256)
CALLS = 300
OPERATIONS = 1000


def operations(x, y, count):
    for _ in range(0, count, 2):
        x = x * y + 1.0
    return x


class Python:
    """Measures as calls_bench.cpp does."""

    def __init__(self, fn):
        self.fn = fn
        self.function = fn.compile(
            lambda a, b, c, s: a * b + s * c, fn.f32("n", "m"), fn.f32("n", "m"), fn.f32("n", "m"), fn.f32()
        )

    def call(self, size, count):
        function, now = self.function, time.perf_counter
        a = self.fn.ones((size, size))
        b, c = a * 2, a * 3
        self.fn.realize(a, b, c)
        for _ in range(100):
            out = function(a, b, c, 0.5)
        function.finish_compiling()
        taken = []
        for _ in range(count):
            begin = now()
            out = function(a, b, c, 0.5)  # noqa: F841
            taken.append(now() - begin)
        return statistics.median(taken)

    def record(self, count):
        begin = time.perf_counter()
        self.fn.compile(lambda x, y: operations(x, y, count), self.fn.f32("n"), self.fn.f32("n"))
        return time.perf_counter() - begin

    def lazy(self, count):
        x = self.fn.ones((16,))
        y = x * 2
        self.fn.realize(x, y)
        begin = time.perf_counter()
        out = operations(x, y, count)  # noqa: F841
        return time.perf_counter() - begin


class Cpp:
    """Asks the C++ program."""

    def __init__(self, program):
        self.program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __getattr__(self, what):
        def ask(*words):
            print(what, *words, file=self.program.stdin, flush=True)
            return float(self.program.stdout.readline())

        return ask


def seconds_of(words):
    begin = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def import_seconds():
    program = "import time; begin = time.perf_counter(); import firn; print(time.perf_counter() - begin)"
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def measure_start(wave, rounds):
    print(f"\nimport of firn: {1e3 * statistics.median(import_seconds() for _ in range(rounds)):.0f} ms")
    if not wave.exists():
        print(f"{wave} is not built: no first pictures")
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--headless", "--frames", "1", "--out", f"{folder}/first.png"]
        sides = [[wave], [sys.executable, ROOT / "apps/python/wave.py"]]
        taken = [[seconds_of([*side, *arguments]) for side in sides] for _ in range(rounds + 1)][1:]
    first, second = (1e3 * statistics.median(each) for each in zip(*taken))
    print(f"first picture: {first:.0f} ms in C++, {second:.0f} ms in Python, {second - first:.0f} ms later")


def main():
    program = pathlib.Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    import firn as fn

    cases = [(f"call, {n} x {n}", "call", (n, CALLS)) for n in SIZES]
    cases += [(f"record {OPERATIONS} operations", "record", (OPERATIONS,))]
    cases += [("the same lazily", "lazy", (OPERATIONS,))]
    cpp, python = Cpp(program), Python(fn)
    print(f"{fn.Session.current().device_name}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print("| | C++, us | Python, us | ratio | difference, us |\n|---|---|---|---|---|")
    for name, what, words in cases:
        taken = [(getattr(cpp, what)(*words), getattr(python, what)(*words)) for _ in range(rounds)]
        first, second = (1e6 * statistics.median(each) for each in zip(*taken))
        print(f"| {name} | {first:.1f} | {second:.1f} | {second / first:.2f} | {second - first:.1f} |", flush=True)
    cpp.program.stdin.close()
    cpp.program.wait()
    measure_start(program.parent / "wave", rounds)


main()
