"""The examples of apps/python that draw: each runs headless, and what it shows is checked; C++'s show the same."""
import contextlib
import io
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import firn as fn

import display

EXAMPLES = pathlib.Path(__file__).parents[2] / "apps/python"
DEMOS = pathlib.Path(fn.__file__).parents[2] / "bin"


class Run:
    """A headless run of an example in this process: its last frame as numbers, what it printed, and its names."""

    def __init__(self, name, *flags, frames=1, size="96x54", seed=7, file="frame.npy"):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, file)
            shared = ["--headless", "--quiet", "--frames", str(frames), "--size", size, "--seed", str(seed)]
            before, sys.argv = sys.argv, [name, *shared, "--out", out, *flags]
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    self.names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
            finally:
                sys.argv = before
            self.printed = printed.getvalue()
            self.frame = np.load(out) if file.endswith(".npy") else fn.load_image(out).numpy()

    def __getattr__(self, name):
        return self.names[name]


def demo(name, *flags, frames=1, size="96x54", seed=7):
    """The last frame and the output of C++'s demo of that name."""
    program = DEMOS / name
    if not program.exists():
        raise unittest.SkipTest(f"{program} is not built")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "frame.npy")
        shared = ["--headless", "--frames", str(frames), "--size", size, "--seed", str(seed), "--out", out]
        done = subprocess.run([program, *shared, *flags], capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise AssertionError(done.stderr)
        return np.load(out), done.stdout


class Mandelbrot(unittest.TestCase):
    def test_the_set_has_its_area(self):
        # 1.50659; T. Foerstemann, "Numerical estimation of the area of the Mandelbrot set", 2012.
        flags = ["--set", "x=-0.6", "--set", "y=0", "--set", "zoom=0", "--limit", "1000"]
        run = Run("mandelbrot", *flags, size="640x360")
        inside = (run.frame.sum(axis=2) == 0).sum() * (3 / 360) ** 2
        self.assertAlmostEqual(inside, 1.5066, delta=0.015)

    def test_cubes_have_a_set_that_is_symmetric_about_the_origin(self):
        run = Run("mandelbrot", "--set", "x=0", "--set", "y=0", "--zoom", "0", "--power", "3", size="64x64")
        self.assertGreater((run.frame.sum(axis=2) == 0).sum(), 300)
        around = run.frame[1:, 1:]  # the first sample of a pixel is its corner
        np.testing.assert_allclose(around, around[::-1, ::-1], atol=1e-3)

    def test_it_shows_what_the_demo_of_cpp_shows(self):
        # At this zoom the size of a pixel is 1 / 64, so that both see the same points.
        frame, _ = demo("mandelbrot", "--zoom", "1", frames=3, size="96x96")
        ours = Run("mandelbrot", "--zoom", "1", frames=3, size="96x96").frame
        np.testing.assert_allclose(ours, frame, atol=1e-4)


class Blur(unittest.TestCase):
    def test_it_is_the_mean_by_a_bell(self):
        run = Run("blur", "--radius", "2")
        picture = fn.load_image(str(EXAMPLES.parents[1] / "assets/fluid.png")).numpy()
        bell = np.exp(-0.5 * (np.arange(-6, 7) / 2) ** 2)
        expected = np.pad(picture, ((6, 6), (6, 6), (0, 0)), mode="edge")
        for axis in (0, 1):
            expected = np.apply_along_axis(lambda line: np.convolve(line, bell / bell.sum(), "valid"), axis, expected)
        np.testing.assert_allclose(run.frame, expected, atol=1e-5)

    def test_it_runs_without_a_message_of_validation(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "blur.png")
            flags = ["--headless", "--frames", "2", "--size", "64x36", "--device", "0", "--validate", "--out", out]
            command = [sys.executable, EXAMPLES / "blur.py", *flags]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(os.path.exists(out))


class Buddhabrot(unittest.TestCase):
    def test_layers_hold_all_points_of_the_orbits_that_are_in_the_picture(self):
        run = Run("buddhabrot", "--limit", "100", size="96x96")
        hits = run.gather(fn.zeros((96, 96, 3)), 100, 100 // run.PART + 1, 5).numpy()
        c, iterations = fn.jit(run.find_starts)(5, 100)
        x, y, count = np.float32(c.x.numpy()), np.float32(c.y.numpy()), iterations.numpy()
        self.assertTrue(((count == 0) | (count > 5)).all())
        z, orbit = x + 1j * y, np.zeros((96, 96))
        for step in range(count.max()):
            i, j = np.floor((z.real + 2.05) * 32).astype(int), np.floor(z.imag * 32 + 48).astype(int)
            seen = (step < count) & (i >= 0) & (i < 96) & (j >= 0) & (j < 96)
            np.add.at(orbit, (i[seen], j[seen]), 1)
            z = np.where(step < count, z * z + (x + 1j * y), 0)
        # Orbits are chaotic, so that rounding moves some points.
        total = hits.sum(axis=2)
        self.assertLess(abs(total.sum() - orbit.sum()), 0.01 * orbit.sum())
        self.assertGreater(np.corrcoef(total.ravel(), orbit.ravel())[0, 1], 0.99)

    def test_it_shows_what_the_demo_of_cpp_shows(self):
        frame, _ = demo("buddhabrot", frames=2, size="96x96")
        np.testing.assert_allclose(Run("buddhabrot", frames=2, size="96x96").frame, frame, atol=1e-3)


class NBody(unittest.TestCase):
    def setUp(self):
        flags = "--bodies", "256", "--report", "1"
        self.run_ = Run("n_body", *flags, frames=3, size="320x180", file="frame.png")
        self.energies = re.findall(r"step (\d+): kinetic ([\d.]+), potential ([-\d.]+)", self.run_.printed)

    def test_energy_and_momentum_stay(self):
        run = self.run_
        bodies = run.leapfrog(run.colliding_galaxies(256, 3), 0.0, 0.05)
        first = [each.item() for each in run.energy(bodies, 0.05)]
        momentum = [fn.sum(bodies.mass * v).item() for v in bodies.velocity]
        for _ in range(100):
            bodies = run.leapfrog(bodies, 0.01, 0.05)
        last = [each.item() for each in run.energy(bodies, 0.05)]
        self.assertAlmostEqual(sum(first), sum(last), delta=2e-3 * abs(sum(first)))
        self.assertGreater(abs(first[0] - last[0]), 1e-3)  # it moves
        for before, v in zip(momentum, bodies.velocity):
            self.assertAlmostEqual(before, fn.sum(bodies.mass * v).item(), delta=1e-4)

    def test_energies_are_those_of_the_demo_of_cpp(self):
        _, printed = demo("n_body", "--bodies", "256", "--report", "1", frames=3)
        expected = re.findall(r"step (\d+): kinetic ([\d.]+), potential ([-\d.]+)", printed)
        self.assertEqual(len(self.energies), 3)
        for ours, theirs in zip(self.energies, expected):
            self.assertEqual(ours[0], theirs[0])
            np.testing.assert_allclose([float(x) for x in ours[1:]], [float(x) for x in theirs[1:]], rtol=1e-5)

    def test_one_galaxy_is_blue_and_the_other_amber(self):
        red, _, blue = np.moveaxis(self.run_.frame, 2, 0)
        self.assertGreater((blue > red + 0.2).sum(), 20)
        self.assertGreater((red > blue + 0.2).sum(), 20)


class Fluid(unittest.TestCase):
    def test_the_projection_takes_the_divergence_away(self):
        run = Run("fluid", "--stats", "--dt", "0.03", frames=4, size="128x72")
        for before, after in re.findall(r"\(rms\) (\S+) before, (\S+) after", run.printed):
            self.assertGreater(float(before), 20 * float(after))

    def test_nothing_flows_through_obstacles(self):
        run = Run("fluid", "--field", "speed", frames=4, size="128x72")
        open_ = run.obstacles(72, 128).numpy()
        self.assertGreater(run.frame.max(), 1)
        deep = np.ones_like(open_)
        for axis in (0, 1):
            for shift in (-1, 0, 1):
                deep = np.minimum(deep, 1 - np.roll(open_, shift, axis))
        self.assertGreater(deep.sum(), 0)
        self.assertEqual(np.abs(run.frame[deep > 0]).max(), 0)

    def test_it_flows_as_the_demo_of_cpp_does(self):
        flags = "--field", "speed"
        frame, _ = demo("fluid", *flags, frames=4, size="128x72")
        ours = Run("fluid", *flags, frames=4, size="128x72").frame
        self.assertLess(np.abs(ours - frame).max(), 1e-3 * frame.max())


class PathTracer(unittest.TestCase):
    def test_a_white_ball_in_a_white_room_is_not_seen(self):
        run = Run("path_tracer", "--scene", "ball", "--show", "paths", size="32x18")
        sky = run.make_sky(fn.ones((16, 32, 3)))
        total = fn.zeros((18, 32, 3))
        for k in range(64):
            total = run.add_sample(total, sky, run.camera(32 / 18), (1.0, 1.0, 1.0), 1.0, 0.0, 12, k, 1)
        mean = total.numpy() / 64
        self.assertAlmostEqual(mean.mean(), 1, delta=0.01)
        self.assertLess(np.abs(mean - 1).max(), 0.35)

    def test_a_cube_with_holes_is_as_bright_as_in_the_demo_of_cpp(self):
        # C++'s surface without a coat is as dull as this one; only the random numbers differ.
        flags = "--scene", "sponge", "--coat", "0"
        frame, _ = demo("path_tracer", *flags, "--samples", "32", size="64x36")
        ours = Run("path_tracer", *flags, frames=32, size="64x36").frame
        for part in (slice(0, 12), slice(12, 24), slice(24, 36)):
            self.assertAlmostEqual(ours[part].mean(), frame[part].mean(), delta=0.02)

    def test_fractals_are_seen_as_surface_and_as_volume(self):
        for scene in ("sponge", "bulb"):
            for show in ("surface", "volume"):
                run = Run("path_tracer", "--scene", scene, "--show", show, frames=2, size="64x36")
                self.assertTrue(np.isfinite(run.frame).all())
                object_, sky = (part.std(axis=(0, 1)).max() for part in (run.frame[12:24, 26:38], run.frame[:4]))
                self.assertGreater(object_, 5 * sky + 0.05, (scene, show))


SAYS_WHEN_SHOWN = """
    import runpy
    import firn as fn

    show = fn.Window.show

    def shown(window, *args, **named):
        show(window, *args, **named)
        if window.frame() == 3:
            print("shown", flush=True)

    fn.Window.show = shown
    runpy.run_path("{path}", run_name="__main__")
"""
DRAG = [
    "windowfocus WINDOW", "mousemove --window WINDOW 500 120", "sleep 0.5", "mousedown 1", "sleep 0.5",
    "mousemove --window WINDOW 540 120", "sleep 0.5", "mouseup 1", "sleep 0.2", "click 4", "sleep 0.5",
]


@unittest.skipUnless(display.has_driver(), "windows need a driver of Vulkan")
@display.needs("Xvfb", "xdotool")
class Windows(unittest.TestCase):
    """What the mouse does in real windows."""

    def parameters_after(self, name, *drag, flags=()):
        """The parameters at the end of a run in which the mouse did this."""
        screen = display.Display()
        self.addCleanup(screen.close)
        with tempfile.TemporaryDirectory() as folder:
            preset = os.path.join(folder, "preset.json")
            words = ["--size", "640x240", "--forget", "--save-preset", preset, *flags]
            source = SAYS_WHEN_SHOWN.format(path=str(EXAMPLES / f"{name}.py"))
            program = display.Program(source, *words, environment=screen.environment())
            program.wait_for("shown")
            screen.hand(name, *drag, "windowfocus WINDOW key Escape")
            status, _, error = program.end()
            self.assertEqual(status, 0, error)
            with open(preset) as file:
                return json.load(file)["parameters"]

    def test_dragging_stirs_the_fluid(self):
        self.assertIs(self.parameters_after("fluid", *DRAG)["script"], False)

    def test_dragging_and_the_wheel_move_the_mandelbrot_set(self):
        after = self.parameters_after("mandelbrot", *DRAG)
        self.assertLess(after["x"], -0.7455)
        self.assertGreater(after["zoom"], 8.5)

    def test_dragging_turns_the_camera_of_the_path_tracer(self):
        after = self.parameters_after("path_tracer", *DRAG, flags=["--scene", "ball", "--around", "40"])
        self.assertLess(after["around"], 39)
        self.assertLess(after["distance"], 4.7)


if __name__ == "__main__":
    unittest.main()
