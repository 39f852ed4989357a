"""App, Param, Window and Drawing: headless, and in real windows of a virtual display."""
import enum
import os
import signal
import tempfile
import threading
import unittest

import numpy as np

import firn as fn
from display import Display, Program, has_driver, needs, read_png, run, until

# A program that shows f32[2, 3] with values from -1 to 4.
SHOWS = """
    import firn as fn
    app = fn.App("late", help="A program.", size=(8, 8), headless_frames=2)
    dt = app.param("dt", 0.25, min=0, max=1, help="time step")
    @app.run
    def main(window):
        print("began with", dt.value, flush=True)
        x = fn.tensor([[-1.0, 0.0, 1.0], [2.0, 3.0, 4.0]])
        while window.open():
            window.show(x, range="auto")
            if window.frame() == 1:
                print("shown", flush=True)
        print("frames", window.frame())
    print("after")
"""


class Params(unittest.TestCase):
    def setUp(self):
        self.app = fn.App("params", help="A program.")

    def test_the_type_of_the_value_is_that_of_the_parameter(self):
        for name, value in {"a": 0.5, "b": 3, "c": True, "d": "text", "e": (1.0, 2.0), "f": (1.0, 2.0, 3.0), "g": (1.0, 2.0, 3.0, 4.0),
                            "h": fn.Colour(0.0, 0.5, 1.0)}.items():
            with self.subTest(value=value):
                param = self.app.param(name, value)
                self.assertEqual(param.value, value)
                self.assertEqual(type(param.value), tuple if isinstance(value, tuple) else type(value))
        self.assertEqual(list(self.app.gui().parameters), list("abcdefgh"))

    def test_angles_have_degrees_on_the_command_line(self):
        turn = self.app.param("turn", fn.Angle(0.0))
        self.app.gui().set("turn", "180")
        self.assertAlmostEqual(turn.value, np.pi, places=5)

    def test_files_are_there(self):
        scene = self.app.param("scene", fn.File(""))
        self.app.gui().set("scene", __file__)
        self.assertEqual(scene.value, __file__)
        with self.assertRaisesRegex(fn.UserError, "nowhere"):
            self.app.gui().set("scene", "/nowhere")

    def test_values_stand_in_expressions(self):
        dt, steps, on = self.app.param("dt", 0.5), self.app.param("steps", 3), self.app.param("on", False)
        self.assertEqual((dt + 1, 1 - dt, dt * steps, -dt, steps // 2, 7 % steps, 2**steps), (1.5, 0.5, 1.5, -0.5, 1, 1, 8))
        self.assertTrue(dt < 1 and dt == 0.5 and steps >= 3 and not on)
        self.assertEqual((list(range(steps)), [10, 11, 12, 13][steps], float(steps), int(dt), f"{dt:.2f}", str(steps)),
                         ([0, 1, 2], 13, 3.0, 0, "0.50", "3"))
        red, green, blue = self.app.param("ink", fn.Colour(1, 0.5, 0))
        self.assertEqual((red, green, blue), (1.0, 0.5, 0.0))

    def test_values_stand_beside_tensors(self):
        dt, where, on = self.app.param("dt", 0.5), self.app.param("where", (1.0, 2.0)), self.app.param("on", True)
        x = fn.tensor([1.0, 2.0])
        for result in (x * dt, dt * x):
            self.assertEqual((result.tolist(), result.dtype), ([0.5, 1.0], fn.f32))
        self.assertEqual((x + where).tolist(), [2.0, 4.0])
        self.assertEqual((x * on).tolist(), [1.0, 2.0])
        with self.assertRaisesRegex(TypeError, "'word' is a text"):
            x + self.app.param("word", "text")

    def test_values_are_arguments_of_compiled_functions_and_changes_compile_nothing(self):
        dt = self.app.param("dt", 0.5)

        @fn.compile
        def scaled(x: fn.f32["n"], dt: fn.f32):
            return x * dt

        x = fn.tensor([1.0, 2.0])
        self.assertEqual(scaled(x, dt).tolist(), [0.5, 1.0])
        count = scaled.variant_count
        dt.value = 3
        self.assertEqual(scaled(x, dt).tolist(), [3.0, 6.0])
        self.assertEqual(scaled.variant_count, count)

    def test_assignments_are_clamped_to_the_limits(self):
        dt = same = self.app.param("dt", 0.5, min=0, max=1)
        dt.value = 2
        self.assertEqual(dt.value, 1.0)
        dt -= 0.25
        self.assertIs(dt, same)
        self.assertEqual(same.value, 0.75)
        where = self.app.param("where", (0.0, 0.5), max=1)
        where.value = (3, 0.25)
        self.assertEqual(where.value, (1.0, 0.25))

    def test_choices_are_names(self):
        view = self.app.param("view", ["dye", "speed"])
        self.assertTrue(view == "dye" and view != "speed" and view.index == 0)
        self.app.gui().set("view", "speed")
        self.assertTrue(view == "speed" and view.changed() and not view.changed())
        view.value = "dye"
        self.assertEqual((view.value, (fn.tensor([5]) + view).tolist()), ("dye", [5]))
        other = fn.Param(self.app, "other", "b", choices=["a", "b"])
        self.assertEqual((other.value, other.index), ("b", 1))
        with self.assertRaisesRegex(fn.UserError, r"'view' is one of \['dye', 'speed'\], and not 'heat'"):
            view.value = "heat"

    def test_members_of_enums_are_choices(self):
        View = enum.Enum("View", ["Dye", "Speed"])
        view = self.app.param("view", View.Speed)
        self.assertIs(view.value, View.Speed)
        self.app.gui().set("view", "Dye")
        self.assertTrue(view == View.Dye)

    def test_panels_are_reset(self):
        dt = self.app.param("dt", 0.5)
        dt.value = 0.75
        self.app.gui().reset()
        self.assertEqual(dt.value, 0.5)

    def test_what_is_wrong_is_said_with_the_line(self):
        dt = self.app.param("dt", 0.5)
        for make, error, text in [
            (lambda: self.app.param("dt", 1.0), fn.UserError, r"dt.*test_app.py"),
            (lambda: self.app.param("far", 2.0, max=1), fn.UserError, r"far.*test_app.py"),
            (lambda: self.app.param("odd", {}), TypeError, "'odd' takes a float, an int, .* and not {}"),
            (lambda: self.app.param("long", 2**40), TypeError, "'long' takes an int of 32 bits"),
            (lambda: self.app.param("x", 1.0, minimum=0), TypeError, "no option 'minimum'; there are choices, min"),
            (lambda: fn.Param(3, "x", 1.0), TypeError, "belongs to an App, a Window or a Gui, and not to 'int'"),
            (lambda: setattr(dt, "value", "fast"), TypeError, "'dt' takes a number, and not 'fast'"),
            (lambda: self.app.param("n", 3).__setattr__("value", 1.5), TypeError, "'n' takes an int, and not 1.5"),
        ]:
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                make()


class HeadlessRuns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self, out):
        """What a program wrote, without the line that tells which device was chosen for it."""
        return [line for line in out.splitlines() if "there is no GPU" not in line]

    def test_the_command_line_says_what_happens(self):
        status, out, error = run(SHOWS, "--headless", "--frames", "3", "--dt", "0.5", "--out", self.path("a.png"))
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(self.lines(out), ["began with 0.5", "shown", "frames 3", f"saved {self.path('a.png')}", "after"])
        pixels = read_png(self.path("a.png"))
        self.assertEqual(pixels.shape[:2], (8, 8))
        self.assertGreater(len(np.unique(pixels)), 3)

    def test_help_lists_the_parameters_and_ends_the_program(self):
        status, out, error = run(SHOWS, "--help")
        self.assertEqual((status, error), (0, ""))
        self.assertIn("time step", out)
        self.assertNotIn("\nafter", out)
        self.assertNotIn("began", out)

    def test_mistakes_have_the_status_of_other_programs(self):
        for words, said in [(["--frame"], "--frame"), (["--dt", "7"], "dt"), (["--device", "nowhere"], "nowhere")]:
            with self.subTest(words=words):
                status, out, error = run(SHOWS, "--headless", *words)
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(error.startswith("late: "), error)
                self.assertIn(said, error)

    def test_exceptions_come_out_with_their_traceback(self):
        video = self.path("video.gif")
        source = """
            import firn as fn
            app = fn.App("late", help="A program.", size=(8, 8))
            def main(window):
                while window.open():
                    window.show(fn.tensor([[0.0, 1.0]]))
                    if window.frame() == 4:
                        raise LookupError("it rains")
            try:
                app.run(main)
            finally:
                print("finally")
        """
        status, out, error = run(source, "--headless", "--frames", "9", "--out", video)
        self.assertEqual(status, 1)
        self.assertIn("finally", out)
        self.assertNotIn("late:", error)
        self.assertIn('program.py", line 8, in main', error)
        self.assertTrue(error.endswith("LookupError: it rains\n"), error)
        with open(video, "rb") as file:
            self.assertEqual(file.read().count(b"\x21\xf9\x04"), 4, "what was recorded is kept")

    def test_errors_of_firn_have_the_line(self):
        status, _, error = run("""
            import firn as fn
            app = fn.App("late", help="A program.")
            @app.run
            def main(window):
                window.open()
                window.show(fn.tensor([1.0]))
        """, "--headless")
        self.assertEqual(status, 1)
        self.assertRegex(error, r"firn.UserError: .*\(.*program.py:7\)\n$")

    def test_exits_of_the_program_are_its_own(self):
        status, _, error = run("""
            import sys
            import firn as fn
            @fn.App("late", help="A program.").run
            def main(window):
                sys.exit(7)
        """, "--headless")
        self.assertEqual((status, error), (7, ""))

    def test_ctrl_c_ends_a_run_as_closing_the_window_does(self):
        program = Program(SHOWS, "--headless", "--frames", "1000000", "--out", self.path("a.png"))
        program.wait_for("shown")
        program.interrupt()
        status, out, error = program.end()
        self.assertEqual(status, 128 + signal.SIGINT, error)
        self.assertIn("ending: files that were asked for are saved", error)
        self.assertNotIn("Traceback", error)
        self.assertNotIn("after", out)
        self.assertTrue(os.path.exists(self.path("a.png")))

    def test_ctrl_c_cuts_long_work(self):
        program = Program("""
            import firn as fn
            app = fn.App("late", help="A program.", size=(8, 8))
            @app.run
            def main(window):
                x = fn.tensor([[0.0, 1.0]])
                step = fn.compile(lambda x: x * 1.0001 + 1e-7, fn.f32("n", "m"))
                window.open()
                window.show(step(x))
                print("works", flush=True)
                while True:  # opens no frame
                    x = step(x)
        """, "--headless", "--frames", "1000000")
        program.wait_for("works")
        program.interrupt()
        status, _, error = program.end()
        self.assertEqual(status, 128 + signal.SIGINT, error)
        self.assertNotIn("Traceback", error)

    def test_what_the_module_made_belongs_to_the_run(self):
        status, out, error = run("""
            import firn as fn
            app = fn.App("late", help="A program.", size=(8, 8))
            u = fn.tensor([[1.0, 2.0]]) * 2
            @fn.compile
            def step(u: fn.f32["n", "m"]):
                return u + 1
            @app.run
            def main(window):
                print(step(u).tolist())
            print((step(u) * 2).tolist())
        """, "--headless")
        self.assertEqual((status, self.lines(out), error), (0, ["[[3.0, 5.0]]", "[[6.0, 10.0]]"], ""))

    @unittest.skipUnless(has_driver(), "no Vulkan driver")
    def test_the_command_line_chooses_the_device_of_what_has_not_run(self):
        source = """
            import firn as fn
            app = fn.App("late", help="A program.", size=(8, 8))
            @fn.compile
            def step(u: fn.f32["n", "m"]):
                return u + 1
            @app.run
            def main(window):
                print(step(fn.tensor([[1.0]])).tolist(), fn.Session.current().device_name)
        """
        for words in (["--device", "0"], ["--validate"], ["--device", "cpu"]):
            with self.subTest(words=words):
                status, out, error = run(source, "--headless", *words)
                self.assertEqual((status, error), (0, ""))
                self.assertTrue(out.startswith("[[2.0]] "), out)
                self.assertEqual("native" in out, words[-1] == "cpu", out)

    @unittest.skipUnless(has_driver(), "no Vulkan driver")
    def test_a_program_uses_several_devices(self):
        source = """
            import firn as fn
            app = fn.App("both", help="A program.", size=(8, 8), devices=2)
            @app.run
            def main(window):
                x, parts = fn.tensor([1.0]), []
                for session in app.devices:
                    y = x.to(session)
                    with session:
                        parts.append(y * 2)
                for part in parts:
                    x.add_from(part)
                print(x.tolist(), len(app.devices))
        """
        status, out, error = run(source, "--headless", "--device", "0,0")
        self.assertEqual((status, self.lines(out), error), (0, ["[5.0] 2"], ""))
        status, out, error = run(source, "--headless", "--device", "0,0,0")
        self.assertEqual((status, "uses at most 2" in error), (2, True))

    @unittest.skipUnless(has_driver(), "no Vulkan driver")
    def test_a_device_that_comes_too_late_is_refused(self):
        source = """
            import firn as fn
            app = fn.App("late", help="A program.", size=(8, 8))
            print((fn.tensor([1.0]) * 2).tolist(), flush=True)
            @app.run
            def main(window):
                print("runs")
        """
        for words in (["--device", "0"], ["--validate"]):
            status, out, error = run(source, "--headless", *words, environment={"FIRN_DEVICE": "cpu"})
            self.assertEqual((status, out), (2, "[2.0]\n"))
            self.assertIn("comes too late: the program has computed on", error)
        self.assertEqual(run(source, "--headless", "--device", "cpu", environment={"FIRN_DEVICE": "cpu"})[0], 0)

    def test_the_example_is_drawn(self):
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../apps/python/wave.py")
        for words in ([], ["--dt", "0"]):
            status, out, error = run(example, "--headless", "--frames", "60", "--size", "160x120",
                                     "--out", self.path("wave.png"), *words)
            self.assertEqual((status, error), (0, ""))
            pixels = read_png(self.path("wave.png")).astype(int)
            if words:  # a drop that stands still
                self.assertGreater(pixels[60, 80, 0], pixels[60, 100, 0])
            else:  # a ring around it
                self.assertLess(pixels[60, 80, 0], pixels[60, 100:120, 0].max())
                np.testing.assert_allclose(pixels[60, 51:80], pixels[60, 81:110][::-1], atol=2)

    def test_options_are_texts_of_the_command_line(self):
        status, out, error = run("""
            import firn as fn
            app = fn.App("late", help="A program.")
            data = app.option("data", "none", "a file of numbers")
            app.run(lambda window: print(data, data.value, app.seed()))
        """, "--headless", "--data", "x.npy", "--seed", "5")
        self.assertEqual((status, self.lines(out), error), (0, ["x.npy x.npy 5"], ""))

    def test_numbers_are_written(self):
        status, _, error = run("""
            import firn as fn
            app = fn.App("late", help="A program.")
            @app.run
            def main(window):
                for _ in window:
                    window.show(fn.tensor([[0.0]]))
                    if app.writes_numbers():
                        app.set_numbers(fn.tensor([1.0, 2.0]) * window.frame())
        """, "--headless", "--frames", "3", "--out", self.path("a.npy"))
        self.assertEqual((status, error), (0, ""))
        np.testing.assert_array_equal(np.load(self.path("a.npy")), [2.0, 4.0])

    def test_words_may_be_given(self):
        app, seen = fn.App("words", help="A program.", size=(8, 8)), []
        dt = app.param("dt", 0.5)
        self.assertTrue(callable(app.run(lambda window: seen.append((dt.value, window.size())), ["--headless", "--dt", "0.75"])))
        self.assertEqual(seen, [(0.75, (8, 8))])
        with self.assertRaisesRegex(TypeError, "a list of words"):
            app.run(lambda window: None, "--headless")
        with self.assertRaisesRegex(TypeError, "a function of the window"):
            app.run(3)

    def test_a_lent_window_ends_with_its_run(self):
        app, kept = fn.App("lent", help="A program.", size=(8, 8)), []
        app.run(kept.append, ["--headless"])
        with self.assertRaisesRegex(fn.UserError, "the window has ended"):
            kept[0].open()

    def test_runs_do_not_nest(self):
        app, said = fn.App("nested", help="A program.", size=(8, 8)), []

        def main(window):
            try:
                app.run(lambda window: None, ["--headless"])
            except fn.UserError as error:
                said.append(str(error))

        app.run(main, ["--headless"])
        self.assertIn("runs already", said[0])


@unittest.skipUnless(has_driver(), "no Vulkan driver, which draws shapes")
class Drawings(unittest.TestCase):
    """What is drawn, in a session whose validation layers must stay silent."""

    @classmethod
    def setUpClass(cls):
        cls.session = fn.Session("0", validation=True)

    @classmethod
    def tearDownClass(cls):
        del cls.session

    def picture_of(self, drawing, size=(64, 64)):
        with self.session, fn.Window(headless=True, size=size) as window:
            window.open()
            window.show(drawing(window) if callable(drawing) else drawing)
            pixels = np.asarray(window.picture())[..., :3].astype(int)
        self.assertEqual(fn.validation_report(self.session), "")
        return pixels

    def test_points_have_their_place_colour_and_size(self):
        pixels = self.picture_of(lambda _: fn.Drawing().limits(0, 64, 0, 64).points([[16.0, 48.0]], colour=(1, 0, 0), radius=6))
        self.assertEqual(pixels[16, 16].tolist(), [255, 0, 0])
        self.assertLess(pixels[48, 48].max(), 40)
        self.assertLess(pixels[16, 26].max(), 40)

    def test_colours_and_sizes_may_be_one_for_each(self):
        pixels = self.picture_of(lambda _: fn.Drawing().limits(0, 64, 0, 64).points(
            np.array([[16.0, 16.0], [48.0, 48.0]]), colour=fn.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), radius=[4.0, 8.0]))
        self.assertEqual((pixels[48, 16].tolist(), pixels[16, 48].tolist()), ([255, 0, 0], [0, 0, 255]))
        self.assertGreater(pixels[16, 42, 2], 200)
        self.assertLess(pixels[48, 22].max(), 40)

    def test_every_shape_is_drawn(self):
        square = np.array([[8.0, 8.0], [56.0, 8.0], [56.0, 56.0]])
        limits = lambda: fn.Drawing().limits(0, 64, 0, 64)
        empty = self.picture_of(lambda _: limits())
        for name, make in {
            "lines": lambda d: d.lines([[[8.0, 8.0], [56.0, 56.0]]], width=4, colour=(1, 1, 0)),
            "path": lambda d: d.path(square, width=3),
            "arrows": lambda d: d.arrows([[8.0, 8.0]], [[4.0, 4.0]], scale=10, width=3),
            "triangles": lambda d: d.triangles([[[8.0, 8.0], [56.0, 8.0], [56.0, 56.0]]], colour=(0, 1, 0, 0.5), lit=False),
            "text": lambda d: d.text((32, 32), "peak", size=20),
            "texts": lambda d: d.text(square, ["a", "b", "c"], shift=(0, -4), align=(0.5, 1)),
            "numbers": lambda d: d.numbers(square, [1.0, 2.0, 3.0], decimals=1),
            "overlay": lambda d: d.overlay(np.full((4, 4, 4), 0.5, "f4"), opacity=0.5),
            "axes": lambda d: d.axes(x="time, s", y="height, m"),
            "caption": lambda d: d.caption("before"),
            "colour_bar": lambda d: d.colour_bar("turbo", (0, 4), "speed"),
            "space": lambda d: d.points([[0.0, 0.0, 0.0]], radius=1).camera(distance=4, yaw=0),
        }.items():
            with self.subTest(name=name):
                changed = (self.picture_of(lambda _: make(limits()), (200, 200)) != self.picture_of(lambda _: limits(), (200, 200))).any(axis=2)
                self.assertGreater(changed.sum(), 20)
        self.assertEqual(len(np.unique(empty.reshape(-1, 3), axis=0)), 1)

    def test_pictures_lie_beneath(self):
        u = np.linspace(0, 1, 64, dtype="f4").reshape(8, 8)
        pixels = self.picture_of(lambda _: fn.Drawing().picture(u, fn.colormap.viridis, smooth=False).points([[4.0, 4.0]], colour=(1, 0, 0), radius=1))
        self.assertEqual(pixels[32, 32].tolist(), [255, 0, 0])
        self.assertGreater(len(np.unique(pixels.reshape(-1, 3), axis=0)), 30)

    def test_views_lie_beside_one_another(self):
        with self.session, fn.Window(headless=True, size=(64, 32)) as window:
            window.open()
            window.show_grid([fn.Drawing().picture(np.ones((4, 4), "f4")), (np.zeros((4, 4), "f4"), "grey")], columns=2)
            pixels = np.asarray(window.picture())
        self.assertEqual((pixels[16, 16, 0], pixels[16, 48, 0] < 200), (255, True))

    def test_mistakes_are_said(self):
        d = fn.Drawing()
        for make, error, text in [
            (lambda: d.points([[0.0, 0.0]], colour="red"), TypeError, "a colour is"),
            (lambda: d.text((0, 0), 3), TypeError, "labels are a str"),
            (lambda: d.picture(np.zeros((4, 4)), "rainbow"), fn.UserError, "no colour map 'rainbow'; there are grey, viridis"),
            (lambda: d.picture(np.zeros((4, 4)), range=3), TypeError, "a range is"),
            (lambda: self.picture_of(lambda _: fn.Drawing().points(np.zeros((3, 4)))), fn.UserError, "test_app.py"),
        ]:
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                make()


class HeadlessWindows(unittest.TestCase):
    def test_loops_are_those_of_python(self):
        with fn.Window(headless=True, frames=3, size=(8, 8)) as window:
            self.assertEqual([frame for frame in window], [0, 1, 2])
            self.assertEqual((window.size().width, window.pixels(), window.ending()), (8, (8, 8), "closed"))
        with self.assertRaisesRegex(fn.UserError, "the window has ended"):
            window.playing()

    def test_pictures_are_arrays(self):
        with fn.Window(headless=True, size=(2, 1)) as window:
            window.open()
            window.show(np.array([[0.0, 1.0]], "f4"), smooth=False)
            picture = window.picture()
            self.assertEqual(np.asarray(picture).tolist(), [[[0, 0, 0, 255], [255, 255, 255, 255]]])
            self.assertEqual(fn.tensor(picture).shape, (1, 2, 4))
            with tempfile.TemporaryDirectory() as folder:
                for name, written in [("a.png", window), ("b.png", picture)]:
                    written.save(os.path.join(folder, name))
                    self.assertEqual(read_png(os.path.join(folder, name))[0, 1, :3].tolist(), [255, 255, 255])
                with self.assertRaisesRegex(fn.UserError, "test_app.py"):
                    picture.save(os.path.join(folder, "a.bmp"))

    def test_keys_have_names(self):
        with fn.Window(headless=True, size=(8, 8)) as window:
            window.open()
            self.assertFalse(window.key_down("a") or window.key_pressed("PageUp"))
            self.assertEqual((window.mouse().left.down, fn.stroke_of(window.mouse())), (False, (0, 0, 0, 0)))
            with self.assertRaisesRegex(fn.UserError, "no key 'Any'; keys are letters and digits, and Space"):
                window.key_down("Any")

    def test_numbers_are_read_later_and_plotted(self):
        taken = []
        with fn.Window(headless=True, frames=4, size=(8, 8)) as window:
            for frame in window:
                u = fn.tensor([1.0, 2.0]) * frame
                window.plot("mean", u[0])
                window.plot("both", {"a": u[0], "b": u[1]}, log=True)
                window.plot("line", u)
                window.histogram("values", u, bins=4)
                window.heat_map("map", u[None, :], fn.colormap.coolwarm)
                window.gui().text("state", "works")
                window.gui().plot("host", 1.0)
                window.gui().bars("counts", [1, 2, 3])
                window.gui().lines("lines", {"a": np.arange(3.0)})
                window.read_later(u, taken.append)
        self.assertEqual([list(each) for each in taken], [[0, 0], [1, 2], [2, 4], [3, 6]])

    def test_errors_of_callbacks_come_out_of_the_loop(self):
        def fail(values):
            raise LookupError("it rains")

        with self.assertRaisesRegex(LookupError, "it rains"):
            with fn.Window(headless=True, frames=3, size=(8, 8)) as window:
                for _ in window:
                    window.read_later(fn.tensor([1.0]), fail)

    def test_structural_functions_are_compiled_anew(self):
        app = fn.App("structural", help="A program.", size=(8, 8))
        power = app.param("power", 1, min=1, max=4)
        made = []

        @fn.structural(power)
        def raised(power):
            made.append(power)
            if power == 4:
                raise fn.UserError("no fourth power")

            def body(x):
                out = x
                for _ in range(power - 1):
                    out = out * x
                return out

            return fn.compile(body, fn.f32("n"))

        x = fn.tensor([3.0])
        self.assertEqual(raised(x).tolist(), [3.0])
        power.value = 2
        until(lambda: raised(x).tolist() == [9.0], "the new program")
        power.value = 4
        for _ in range(3):
            self.assertEqual((raised(x).tolist(), raised.refused), ([9.0], "no fourth power"))
        power.value = 3
        until(lambda: raised(x).tolist() == [27.0], "the last program")
        self.assertEqual((made, raised.refused), ([1, 2, 4, 3], ""))

    def test_other_threads_run_while_a_window_waits(self):
        count, ends = [0], threading.Event()

        def work():
            while not ends.is_set():
                count[0] += 1

        thread = threading.Thread(target=work)
        with fn.Window(headless=True, frames=50, size=(64, 64)) as window:
            thread.start()
            for _ in window:
                window.show(np.ones((64, 64), "f4"))
        ends.set()
        thread.join()
        self.assertGreater(count[0], 0)

    def test_an_interpreter_ends_with_a_live_window(self):
        status, out, error = run("""
            import firn as fn
            window = fn.Window(headless=True, size=(8, 8))
            window.open()
            window.show(fn.tensor([[1.0]]))
            app = fn.App("left", help="A program.")
            dt = app.param("dt", 1.0)
            print("ends")
        """)
        self.assertEqual((status, out, error), (0, "ends\n", ""))


@needs("Xvfb", "xdotool", "import")
@unittest.skipUnless(has_driver(), "no Vulkan driver")
class RealWindows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.display = Display()

    @classmethod
    def tearDownClass(cls):
        cls.display.close()

    def start(self, source, *words):
        return Program(source, *words, environment=self.display.environment())

    APP = """
        import firn as fn
        app = fn.App("shown", help="A program.", size=(320, 240))
        @app.run
        def main(window):
            u = fn.tensor([[k / 80 for k in range(80)]] * 60)
            while window.open():
                window.show(u, fn.colormap.viridis)
                mouse = window.mouse()
                if window.frame() == 5:
                    print("shown", flush=True)
                if mouse.left.pressed and mouse.inside:
                    print("clicked", int(mouse.i), int(mouse.j), flush=True)
                if window.key_pressed("A"):
                    print("typed", flush=True)
            print("closed", flush=True)
    """

    def test_a_window_shows_and_takes_what_the_person_does(self):
        program = self.start(self.APP, "--validate", "--forget")
        program.wait_for("shown")
        window = self.display.hand("shown", "mousemove --window WINDOW 240 180 click 1", "windowfocus WINDOW key a")
        self.assertRegex(program.wait_for("clicked"), r"clicked 4[45] (59|60)")
        program.wait_for("typed")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shown.png")
            self.display.screenshot(window, path)
            colours = np.unique(read_png(path)[..., :3].reshape(-1, 3), axis=0)
        self.assertGreater(len(colours), 40)
        self.display.hand("shown", "windowfocus WINDOW key Escape")
        status, out, error = program.end()
        self.assertEqual((status, out, error), (0, "closed\n", ""))

    def test_ctrl_c_ends_a_window_alone_as_a_keyboard_interrupt(self):
        program = self.start("""
            import firn as fn
            with fn.Window("alone", size=(160, 120)) as window:
                while window.open():
                    window.show(fn.tensor([[0.0, 1.0]]))
                    if window.frame() == 3:
                        print("shown", flush=True)
        """)
        program.wait_for("shown")
        self.display.hand("alone", "windowfocus WINDOW key space")  # a pause waits in C++
        program.interrupt()
        status, _, error = program.end()
        self.assertEqual(status, -signal.SIGINT, error)
        self.assertTrue(error.endswith("KeyboardInterrupt\n"), error)

    def test_a_program_saves_before_it_ends(self):
        program = self.start("""
            import firn as fn
            def save():
                print("saves", flush=True)
            @fn.App("saving", help="A program.", size=(320, 240)).run
            def main(window):
                window.unsaved("3 strokes", save)
                while window.open():
                    window.show(fn.tensor([[0.0, 1.0]]))
                    if window.frame() == 3:
                        print("shown", flush=True)
        """)
        program.wait_for("shown")
        self.display.hand("saving", "windowfocus WINDOW key Escape", "windowfocus WINDOW key Return")
        status, out, error = program.end()
        self.assertEqual((status, out, error), (0, "saves\n", ""))


if __name__ == "__main__":
    unittest.main()
