"""Notebooks: tensors as pictures and plots, films, live views; in a kernel of Jupyter, in a browser, and without both."""
import base64
import importlib.util
import json
import os
import queue
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings
import zlib

import numpy as np

import chromium
import firn as fn
from display import SECONDS, Display, Program, has_driver, needs, read_png, run

# The client of Jupyter leaves its event loop to the end of the process.
warnings.filterwarnings("ignore", "unclosed (event loop|<socket)", ResourceWarning)


def needs_modules(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, "needs " + ", ".join(missing) + " of Python")


def pixels_of(png):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.png")
        with open(path, "wb") as file:
            file.write(png)
        return read_png(path)


def colours_in(png):
    pixels = pixels_of(png)
    return len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0))


def chunks(png):
    """The parts of a PNG; their checksums are right."""
    out, at = [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", png, at + 8 + length)
        assert checksum == zlib.crc32(kind + data), kind
        out.append((kind, data))
        at += 12 + length
    return out


def frames_of(apng):
    """The frames of an animated PNG as pixels, and how long each lasts in seconds."""
    parts = chunks(apng)
    header = dict(parts)[b"IHDR"]
    frames, delays, numbers = [], [], []
    for kind, data in parts:
        if kind == b"fcTL":
            number, _, _, _, _, above, below, _, _ = struct.unpack(">IIIIIHHBB", data)
            numbers.append(number)
            delays.append(above / below)
            frames.append(b"")
        elif kind == b"IDAT":
            frames[-1] += data
        elif kind == b"fdAT":
            numbers.append(struct.unpack_from(">I", data)[0])
            frames[-1] += data[4:]
    assert numbers == list(range(len(numbers))), numbers

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pngs = [b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", each) + chunk(b"IEND", b"") for each in frames]
    count, plays = struct.unpack(">II", dict(parts)[b"acTL"])
    assert (count, plays) == (len(frames), 0)
    return [pixels_of(each) for each in pngs], delays


WAVES = np.sin(np.arange(40 * 60).reshape(40, 60) / 50).astype("f4")


class Representations(unittest.TestCase):
    def test_matrices_are_pictures_through_viridis(self):
        data, metadata = fn.tensor(WAVES)._repr_mimebundle_()
        self.assertEqual(set(data), {"text/plain", "image/png"})
        self.assertEqual(metadata["image/png"], {"width": 240, "height": 160})
        pixels = pixels_of(data["image/png"])
        self.assertEqual(pixels.shape, (160, 240, 3), "four pixels for each element")
        with fn.Window(headless=True, size=(60, 40)) as window:
            window.open()
            window.show(WAVES, "viridis", smooth=False)
            np.testing.assert_array_equal(pixels[::4, ::4], np.asarray(window.picture())[..., :3])

    def test_pictures_keep_their_colours(self):
        x = np.zeros((16, 16, 4), "f4")
        x[..., 1] = 1
        x[..., 3] = 0.5
        data, _ = fn.tensor(x[..., :3])._repr_mimebundle_()
        self.assertEqual(pixels_of(data["image/png"])[8, 8].tolist(), [0, 255, 0])
        self.assertIn("image/png", fn.tensor(x)._repr_mimebundle_()[0])

    def test_bools_and_bytes_are_grey(self):
        for x in (np.eye(16) > 0, (np.eye(16) * 255).astype("u1"), (np.eye(16) * 65535).astype("u2")):
            pixels = pixels_of(fn.tensor(x)._repr_png_()[0])
            self.assertEqual((pixels[0, 0].tolist(), pixels[0, -1].tolist()), ([255] * 3, [0] * 3))

    def test_large_pictures_are_reduced(self):
        _, metadata = fn.tensor(np.zeros((512, 4096), "f4"))._repr_mimebundle_()
        self.assertEqual(metadata["image/png"], {"width": 1024, "height": 128})

    def test_lists_are_plots_with_gaps(self):
        x = np.sin(np.arange(100) / 5)
        x[50] = np.nan
        html = fn.tensor(x)._repr_html_()
        self.assertEqual(html.count("<polyline"), 2)
        self.assertEqual(html.count(","), 99)
        self.assertIn("f64[100]", html)
        for flat in ([0.0] * 20, [np.nan] * 20, [np.inf, 1.0] * 10, [True, False] * 10):
            self.assertIn("<svg", fn.tensor(flat)._repr_html_())

    def test_all_else_is_text(self):
        for shape in ((), (3,), (4096,), (3, 3), (100, 3), (2, 2, 2, 2), (16, 16, 5), (0, 16), (16, 0, 3)):
            with self.subTest(shape=shape):
                x = fn.tensor(np.zeros(shape, "f4"))
                self.assertEqual(x._repr_mimebundle_(), ({"text/plain": repr(x)}, {}))

    def test_kinds_may_be_chosen(self):
        x = fn.tensor(WAVES)
        self.assertEqual(set(x._repr_mimebundle_(include={"text/plain"})[0]), {"text/plain"})
        self.assertEqual(set(x._repr_mimebundle_(exclude={"text/plain"})[0]), {"image/png"})
        self.assertEqual(x._repr_mimebundle_(exclude={"image/png"})[1], {})

    def test_tensors_that_are_recorded_are_text(self):
        seen = []

        @fn.compile
        def f(x: fn.f32["n", "m"], y: fn.f32[64, 64], z: fn.f32[64]):
            seen.extend(each._repr_mimebundle_() for each in (x, y, z))
            return x

        self.assertEqual([set(data) for data, _ in seen], [{"text/plain"}] * 3)

    def test_drawings_and_frames_are_pictures(self):
        with fn.Window(headless=True, size=(8, 8)) as window:
            window.open()
            window.show(WAVES)
            self.assertEqual(pixels_of(window.picture()._repr_png_()).shape, (8, 8, 3))
        if has_driver():
            self.assertGreater(colours_in(fn.Drawing().points([[0.5, 0.5]], radius=0.2, colour=(1, 0, 0))._repr_png_()), 1)

    def test_nothing_of_this_is_imported_before_it_is_used(self):
        status, out, error = run("""
            import sys
            import firn as fn
            fn.tensor([[0.0] * 16] * 16)._repr_mimebundle_()
            fn.show([[[0.0] * 16] * 16], file="a.png")
            print([name for name in ("IPython", "ipywidgets", "numpy", "zmq") if name in sys.modules])
        """)
        self.assertEqual((status, out, error), (0, "[]\n", ""))


class Films(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def film(self, frames, **options):
        fn.show(frames, file=self.path("film.png"), **options)
        with open(self.path("film.png"), "rb") as file:
            return frames_of(file.read())

    def test_frames_follow_one_another_at_their_rate(self):
        frames, delays = self.film([fn.tensor(np.full((8, 8), k / 4, "f4")) for k in range(5)], fps=12.5, colormap="grey", range=(0, 1), size=(8, 8))
        self.assertEqual([each[0, 0, 0] for each in frames], [0, 64, 128, 191, 255])
        self.assertEqual(delays, [0.08] * 5)

    def test_what_may_be_a_film(self):
        u = WAVES[:16, :16]
        for frames, count in [([u, u], 2), ((each for each in [u, u, u]), 3), (np.stack([u, u]), 2), (fn.tensor(np.zeros((2, 8, 8, 3), "f4")), 2),
                              ([fn.tensor(u)], 1), ([u.tolist()], 1)]:
            self.assertEqual(len(self.film(frames)[0]), count)

    def test_frames_with_alpha_and_without_are_one_film(self):
        opaque, half = np.ones((8, 8, 4), "f4"), np.ones((8, 8, 4), "f4")
        half[..., 3] = 0.5
        frames, _ = self.film([opaque, half])
        self.assertEqual({each.shape for each in frames}, {frames[0].shape})

    def test_files_have_the_form_of_their_name(self):
        frames = [WAVES * k for k in range(3)]
        fn.show(frames, fps=2, file=self.path("a.gif"))
        with open(self.path("a.gif"), "rb") as file:
            data = file.read()
        self.assertEqual((data[:6], data.count(b"\x21\xf9\x04")), (b"GIF89a", 3))
        fn.show(WAVES, file=self.path("b.png"))
        self.assertEqual(read_png(self.path("b.png")).shape[:2], (160, 240))
        fn.show(WAVES, file=self.path("c.jpg"))
        with open(self.path("c.jpg"), "rb") as file:
            self.assertEqual(file.read(3), b"\xff\xd8\xff")

    def test_mistakes_are_said(self):
        for make, error, text in [
            (lambda: fn.show([], file=self.path("a.png")), fn.UserError, "there are no frames"),
            (lambda: fn.show([WAVES], fps=0, file=self.path("a.png")), fn.UserError, "at 0 frames a second; give more than 0"),
            (lambda: fn.show([WAVES, np.zeros((3, 3))], file=self.path("a.png")), fn.UserError, "one size; one is 240x160 and another 255x255"),
            (lambda: fn.show([WAVES], file=self.path("a.txt")), fn.UserError, "a.txt"),
            (lambda: fn.show([np.zeros(3)], file=self.path("a.png")), fn.UserError, r"a picture is \[h, w\], .* and this tensor is 3"),
            (lambda: fn.show(3), TypeError, "and not 'int'"),
            (lambda: fn.show(WAVES, colormap="rainbow", file=self.path("a.png")), fn.UserError, "no colour map 'rainbow'"),
        ]:
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                make()


class WithoutANotebook(unittest.TestCase):
    def test_without_a_display_it_is_said(self):
        environment = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
        for source, who in [("fn.show([[[0.0, 1.0]]])", "firn.show"), ("fn.Live(64, 64).__enter__()", "firn.Live")]:
            status, _, error = run(f"import firn as fn\n{source}\n", environment=environment)
            self.assertEqual(status, 1)
            self.assertRegex(error, f"firn.UserError: {who}: this is no notebook, and no window opens: ")

    @needs("Xvfb", "xdotool", "import")
    @unittest.skipUnless(has_driver(), "no Vulkan driver")
    def test_a_window_takes_the_place_of_the_notebook(self):
        display = Display()
        self.addCleanup(display.close)
        film = Program("""
            import firn as fn
            fn.show([[[k / 3, 0.0]] for k in range(4)], fps=20)
            print("closed", flush=True)
        """, environment=display.environment())
        display.hand("firn", "windowfocus WINDOW key Escape")
        self.assertEqual(film.end(), (0, "closed\n", ""))
        live = Program("""
            import firn as fn
            with fn.Live(320, 240, title="lively") as view:
                dt = view.slider("dt", 0.5, 0, 1)
                n = view.slider("n", 3, 1, 5)
                print("opened", dt + 1, n.value, flush=True)
                while view.show(fn.tensor([[0.0, 1.0]]) * dt, "magma"):
                    pass
            print("closed", flush=True)
        """, environment=display.environment())
        self.assertEqual(live.wait_for("opened"), "opened 1.5 3\n")
        window = display.hand("lively")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.png")
            time.sleep(0.5)
            display.screenshot(window, path)
            with open(path, "rb") as file:
                self.assertGreater(colours_in(file.read()), 40)
        display.hand("lively", "windowfocus WINDOW key Escape")
        self.assertEqual(live.end(), (0, "closed\n", ""))


class Kernel:
    """A kernel of Jupyter with this Python, and a front end that keeps what it sends."""

    def __init__(self, environment=None):
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import KernelSpecManager

        self._folder = tempfile.TemporaryDirectory()
        folder = os.path.join(self._folder.name, "firn")
        os.mkdir(folder)
        # Frozen modules are fine: nothing is debugged.
        spec = {"argv": [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": "firn", "language": "python"}
        with open(os.path.join(folder, "kernel.json"), "w") as file:
            json.dump(spec, file)
        self.specs = KernelSpecManager(kernel_dirs=[self._folder.name])
        self.manager = KernelManager(kernel_name="firn", kernel_spec_manager=self.specs)
        self.manager.start_kernel(env={**os.environ, **(environment or {})}, stderr=subprocess.DEVNULL)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def start(self, code):
        # An error would drop the cells that come until the kernel has seen to it.
        return self.client.execute(textwrap.dedent(code), stop_on_error=False)

    def outputs(self, request, each=None):
        """What a cell shows, in the order in which it came, until it is done; `each` sees every message."""
        out = []
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"the cell does not end; it has shown {out}") from None
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return out
            if kind in ("stream", "display_data", "update_display_data", "execute_result", "error"):
                out.append((kind, content))
                if each:
                    each(kind, content)

    def run(self, code, each=None):
        return self.outputs(self.start(code), each)

    def text(self, code):
        """What a cell prints; it raises nothing."""
        out = self.run(code)
        errors = [content for kind, content in out if kind == "error"]
        assert not errors, "\n".join(errors[0]["traceback"])
        return "".join(content["text"] for kind, content in out if kind == "stream")

    def error(self, code):
        out = self.run(code)
        return next((content["ename"], content["evalue"]) for kind, content in out if kind == "error")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()
        self._folder.cleanup()


@needs_modules("ipykernel", "jupyter_client")
class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = Kernel()
        cls.kernel.text("""
            import time
            import numpy as np
            import firn as fn
            u = fn.tensor(np.sin(np.arange(40 * 60).reshape(40, 60) / 50).astype("f4"))
        """)

    @classmethod
    def tearDownClass(cls):
        cls.kernel.close()

    def png(self, content):
        return base64.b64decode(content["data"]["image/png"])

    def test_tensors_show_themselves(self):
        [(kind, content)] = self.kernel.run("u")
        self.assertEqual((kind, set(content["data"])), ("execute_result", {"text/plain", "image/png"}))
        self.assertGreater(colours_in(self.png(content)), 20)
        [(_, content)] = self.kernel.run("u[0]")
        self.assertEqual(set(content["data"]), {"text/plain", "text/html"})
        [(_, content)] = self.kernel.run("u[:2, :2]")
        self.assertEqual(set(content["data"]), {"text/plain"})

    def test_films_are_shown_in_the_notebook(self):
        [(kind, content)] = self.kernel.run("fn.show([u * k for k in range(1, 6)], fps=10)")
        self.assertEqual(kind, "display_data")
        self.assertEqual(content["metadata"]["image/png"], {"width": 240, "height": 160})
        self.assertEqual(content["data"]["text/plain"], "<firn.show 240x160, 5 frames at 10 a second>")
        self.assertEqual(len(frames_of(self.png(content))[0]), 5)
        [(kind, content)] = self.kernel.run("fn.show(np.zeros((8, 8, 3)))")
        self.assertNotIn(b"acTL", self.png(content))

    def test_live_views_change_in_place(self):
        out = self.kernel.run("""
            with fn.Live(64, 48, fps=20) as view:
                begin = time.monotonic()
                while time.monotonic() < begin + 1:
                    view.show(u * 0 + (time.monotonic() - begin), "grey", (0, 2))
                assert view.show(u * 0 + 2, "grey", (0, 2))
        """)
        self.assertEqual([kind for kind, _ in out[:2]], ["display_data", "update_display_data"])
        self.assertEqual({kind for kind, _ in out[1:]}, {"update_display_data"})
        self.assertEqual(len({content["transient"]["display_id"] for _, content in out}), 1)
        self.assertTrue(4 <= len(out) <= 23, f"{len(out)} updates in a second")
        levels = [int(pixels_of(self.png(content))[24, 32, 0]) for _, content in out]
        self.assertEqual((levels, levels[-1]), (sorted(levels), 255), "the last frame is shown, too")

    def test_live_views_take_what_windows_take(self):
        if not has_driver():
            self.skipTest("no Vulkan driver, which draws shapes")
        [(_, content)] = self.kernel.run("""
            with fn.Live(200, 150) as view:
                view.show(fn.Drawing().points([[0.5, 0.5]], radius=0.2, colour=(1, 0, 0)))
        """)
        self.assertEqual(pixels_of(self.png(content))[75, 100].tolist(), [255, 0, 0])
        [(_, content)] = self.kernel.run("with fn.Live(200, 150) as view: view.show(u, 'magma', colour_bar=True)")
        self.assertGreater(colours_in(self.png(content)), 40)

    def test_errors_come_out_of_live_views(self):
        self.assertEqual(self.kernel.error("with fn.Live() as view: raise LookupError('it rains')"), ("LookupError", "it rains"))
        name, text = self.kernel.error("view = fn.Live(); view.show(u)")
        self.assertEqual(name, "UserError")
        self.assertIn("inside of `with", text)

    SLIDES = """
        import ipywidgets
        with fn.Live(64, 48, fps=20) as view:
            dt = view.slider("dt", 0.25, 0, 1)
            n = view.slider("n", 3, 1, 5)
            widgets = getattr(ipywidgets.Widget, "widgets", None) or ipywidgets.widgets.widget._instances
            moved = [each for each in widgets.values() if isinstance(each, ipywidgets.FloatSlider)][-1]
            print("slides", moved.model_id, ipywidgets.__version__, flush=True)
            begin = time.monotonic()
            while dt < 0.5 and time.monotonic() < begin + 60:
                view.show(u * dt)
            print("stands", dt.value, n.value)
    """

    @needs_modules("ipywidgets")
    def test_sliders_move_while_a_cell_runs(self):
        later = []

        def move(kind, content):
            if kind != "stream" or "slides" not in content["text"]:
                return
            _, model, version = content["text"].split()
            # Another cell, which waits for its turn, stands before the slider's message.
            later.append(self.kernel.start("print('later', dt.value)"))
            data = {"method": "update", "state": {"value": 0.75}} if int(version.split(".")[0]) > 6 else {"method": "backbone", "sync_data": {"value": 0.75}}
            message = self.kernel.client.session.msg("comm_msg", {"comm_id": model, "data": data})
            self.kernel.client.shell_channel.send(message)

        out = self.kernel.run(self.SLIDES, move)
        self.assertFalse([content for kind, content in out if kind == "error"], out)
        texts = "".join(content["text"] for kind, content in out if kind == "stream")
        self.assertIn("stands 0.75 3", texts)
        self.assertNotIn("later", texts)
        self.assertEqual([content["text"] for _, content in self.kernel.outputs(later[0])], ["later 0.75\n"])

    def test_without_ipywidgets_it_is_said(self):
        name, text = self.kernel.error("""
            import sys
            known = sys.modules.get("ipywidgets")
            sys.modules["ipywidgets"] = None
            try:
                with fn.Live() as view:
                    view.slider("dt", 0.25, 0, 1)
            finally:
                del sys.modules["ipywidgets"]
                if known:
                    sys.modules["ipywidgets"] = known
        """)
        self.assertEqual(name, "UserError")
        self.assertIn("ipywidgets, which is not installed", text)

    def test_interrupts_end_what_runs(self):
        begun = []

        def interrupt(kind, content):
            if kind == "stream" and "works" in content["text"]:
                begun.append(time.monotonic())
                self.kernel.manager.interrupt_kernel()

        out = self.kernel.run("""
            step = fn.compile(lambda x: x * 1.0001 + 1e-7, fn.f32("n", "m"))
            x = step(u)
            print("works", flush=True)
            while True:
                x = step(x)
        """, interrupt)
        self.assertEqual(out[-1][1]["ename"], "KeyboardInterrupt", "\n".join(out[-1][1].get("traceback", [])))
        self.assertEqual(self.kernel.text("print(float(step(u)[0, 0]) < 1)"), "True\n")

    def test_programs_run_in_notebooks(self):
        text = self.kernel.text("""
            app = fn.App("cells", help="A program.", size=(8, 8))
            dt = app.param("dt", 0.25)
            def main(window):
                for _ in window:
                    window.show(u * dt)
                print("frames", window.frame())
            app.run(main, ["--headless", "--frames", "3"])
            app.run(main, ["--headless", "--frames", "2"])
        """)
        self.assertIn("frames 3\n", text)
        self.assertIn("frames 2\n", text)
        self.assertEqual(self.kernel.error("app.run(lambda window: 1 / 0, ['--headless'])")[0], "ZeroDivisionError")

    def test_ctrl_c_in_a_program_is_an_interrupt(self):
        def interrupt(kind, content):
            if kind == "stream" and "began" in content["text"]:
                self.kernel.manager.interrupt_kernel()

        out = self.kernel.run("""
            app = fn.App("cells", help="A program.", size=(8, 8))
            def main(window):
                print("began", flush=True)
                for _ in window:
                    window.show(u)
            app.run(main, ["--headless", "--frames", "10000000"])
        """, interrupt)
        self.assertEqual(out[-1][1]["ename"], "KeyboardInterrupt")


NOTEBOOK = [
    "import numpy as np\nimport firn as fn\nu = fn.tensor(np.sin(np.arange(2400).reshape(40, 60) / 50).astype('f4'))\nu",
    "u[0]",
    "fn.show([fn.tensor(np.full((16, 16), k / 7)) for k in range(8)], fps=8, range=(0, 1))",
    "with fn.Live(64, 48) as view:\n    for k in range(3):\n        view.show(u * k, 'magma')",
]


@needs_modules("ipykernel", "nbclient", "nbformat", "nbconvert")
@unittest.skipUnless(chromium.find(), "needs chromium")
class Pages(unittest.TestCase):
    """A notebook as a file, run by Jupyter, exported as a page, in a browser."""

    def test_a_notebook_is_a_page_whose_film_advances(self):
        import nbclient
        import nbformat
        from nbconvert import HTMLExporter

        book = nbformat.v4.new_notebook()
        book.cells = [nbformat.v4.new_code_cell(cell) for cell in NOTEBOOK]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "book.ipynb")
            nbformat.write(book, path)
            book = nbformat.read(path, as_version=4)
            nbclient.NotebookClient(book, kernel_name="python3", timeout=SECONDS).execute()
            page, _ = HTMLExporter(template_name="basic").from_notebook_node(book)
            with open(os.path.join(folder, "book.html"), "w") as file:
                file.write(page)
            with chromium.Page(os.path.join(folder, "book.html"), height=900) as shown:
                places = json.loads(shown.value(
                    "JSON.stringify([...document.querySelectorAll('img, svg')].map(e => e.getBoundingClientRect())"
                    ".map(r => [r.x, r.y, r.width, r.height].map(Math.round)))"))
                parts = [shown.screenshot(*place) for place in places]
                film, deadline = [shown.screenshot(*places[2])], time.monotonic() + SECONDS
                while len(set(film)) < 4 and time.monotonic() < deadline:
                    time.sleep(0.05)
                    film.append(shown.screenshot(*places[2]))
        self.assertEqual([each[2:] for each in places], [[240, 160], [480, 120], [256, 256], [64, 48]])
        for k in (0, 1, 3):
            self.assertGreater(colours_in(parts[k]), 10, places[k])
        frames = sorted(set(film))
        self.assertGreaterEqual(len(frames), 4, "the film advances")
        self.assertEqual([colours_in(each) for each in frames], [1] * len(frames))


if __name__ == "__main__":
    unittest.main()
