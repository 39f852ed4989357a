"""The package as it is installed: by CMake's component, as a wheel, and what its import takes."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

import firn as fn

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(fn.__path__[0]).parents[1]
PROGRAM = "import firn as fn; print((fn.tensor([1.0]) + 1).tolist(), fn.__path__[0])"


def run(path, *args):
    return subprocess.run([sys.executable, *args], env={**os.environ, "PYTHONPATH": str(path)}, capture_output=True, text=True, check=True).stdout


class Package(unittest.TestCase):
    def test_the_component_is_whole(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", prefix], check=True, capture_output=True)
            installed = pathlib.Path(prefix) / "lib/python3/dist-packages"
            self.assertEqual(run(installed, "-c", PROGRAM).strip(), f"[2.0] {installed}/firn")

    def test_a_wheel_is_whole(self):
        sys.path.insert(0, str(ROOT / "engine/python"))
        import wheel

        with tempfile.TemporaryDirectory() as folder:
            name = wheel.build_wheel(folder, {"build": str(BUILD)})
            with zipfile.ZipFile(pathlib.Path(folder) / name) as made:
                made.extractall(folder)
                names = set(made.namelist())
            self.assertLessEqual({"firn/py.typed", "firn/_firn.pyi", "firn/__init__.pyi"}, names)
            record = (pathlib.Path(folder) / "firn-0.1.0.dist-info/RECORD").read_text()
            self.assertEqual({line.split(",")[0] for line in record.splitlines()}, names)
            self.assertEqual(run(folder, "-c", PROGRAM).strip(), f"[2.0] {folder}/firn")

    def test_the_import_takes_no_other_package(self):
        loaded = run(BUILD / "python", "-c", "import sys; import firn; print(*sorted(sys.modules))").split()
        for name in ("numpy", "inspect", "ast", "dataclasses", "IPython"):
            self.assertNotIn(name, loaded)

    def test_the_end_of_the_interpreter_is_clean(self):
        window = "import firn as fn; w = fn.Window(headless=True, size=(32, 32)); w.__enter__(); x = fn.ones((32, 32)); "
        for program in ("import firn as fn; x = fn.tensor([1.0]) + 1; x.numpy()",
                        "import firn as fn; f = fn.compile(lambda x: x, fn.f32('n')); f([1.0])",
                        "import firn as fn, threading\n"
                        "t = threading.Thread(target=lambda: (fn.tensor([1.0]) + 1).tolist()); t.start()",
                        # A thread that still calls a function when the main one ends.
                        "import firn as fn, threading\n"
                        "def work():\n"
                        "    f = fn.compile(lambda x: x * 2, fn.f32('n')); began.set()\n"
                        "    while True: f([1.0])\n"
                        "began = threading.Event(); threading.Thread(target=work, daemon=True).start(); began.wait()",
                        window + "w.open(); w.show(x)",
                        window + "import sys; w.open(); w.show(x); sys.exit(0)",
                        "import firn as fn, sys; x = fn.tensor([1.0]) * 2; a = x.numpy(); sys.exit(0)"):
            done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(BUILD / "python")}, timeout=100)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), program)

    def test_two_names_are_one_module(self):
        self.assertEqual(run(BUILD / "python", "-c", "import firn, importlib; import firn as other; print(firn is other, importlib.reload(firn).Tensor is firn.Tensor)"), "True True\n")


if __name__ == "__main__":
    unittest.main()
