"""A virtual display for tests with real windows, programs in them, a hand that types and clicks, and what is seen."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import zlib

import numpy as np

SECONDS = 120  # no wait lasts longer


def has_driver():
    import firn as fn

    return fn.device_report().startswith("0  ")


def needs(*programs):
    """Skips a test where one of these programs is not installed."""
    missing = [each for each in programs if not shutil.which(each)]
    return unittest.skipIf(missing, "needs " + ", ".join(missing))


def read_png(path):
    """The pixels of a PNG without interlacing, as uint8[height, width, channels]."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, header = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, _, colours = struct.unpack_from(">IIBB", header)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colours]
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height, width * channels), np.int32)
    for y in range(height):
        row, above = rows[y, 1:].astype(np.int32), out[y - 1] if y else np.zeros(width * channels, np.int32)
        if rows[y, 0] in (0, 2):
            out[y] = (row + (above if rows[y, 0] == 2 else 0)) % 256
            continue
        for x in range(width * channels):
            left = out[y, x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            guess = [0, left, 0, (left + above[x]) // 2, min((left, above[x], corner), key=lambda v: abs(left + above[x] - corner - v))]
            out[y, x] = (row[x] + guess[rows[y, 0]]) % 256
    return out.reshape(height, width, channels).astype(np.uint8)


class Display:
    """An Xvfb of its own on a free display, and a folder for the settings of windows."""

    def __init__(self):
        read, write = os.pipe()
        # Without -noreset the server starts afresh when the last window is closed, under the next one.
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x800x24", "-noreset", "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as numbers:
            self.name = ":" + numbers.readline().strip()
        self._settings = tempfile.TemporaryDirectory()

    def environment(self):
        return {"DISPLAY": self.name, "XDG_CONFIG_HOME": self._settings.name}

    def hand(self, title, *commands):
        """Runs commands of xdotool on the window of this title, as soon as it is on the screen."""
        environment = {**os.environ, **self.environment()}
        found = subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", f"^{title}$"], env=environment,
                               capture_output=True, text=True, timeout=SECONDS, check=True).stdout.split()[0]
        for command in commands:
            words = [found if word == "WINDOW" else word for word in command.split()]
            subprocess.run(["xdotool", *words], env=environment, check=True, timeout=SECONDS)
        return found

    def screenshot(self, window, path):
        subprocess.run(["import", "-window", window, path], env={**os.environ, **self.environment()}, check=True, timeout=SECONDS)

    def close(self):
        self._server.terminate()
        self._server.wait()
        self._settings.cleanup()


class Program:
    """A program of Python in a process of its own, from its text or its path."""

    def __init__(self, source, *words, environment=None, folder=None):
        self._folder = tempfile.TemporaryDirectory()
        path = source
        if "\n" in source:
            path = os.path.join(self._folder.name, "program.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent(source))
        self.process = subprocess.Popen(
            [sys.executable, "-X", "dev", path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=folder or self._folder.name, env={**os.environ, **(environment or {})})

    def wait_for(self, text):
        """Reads what it writes until a line has this text."""
        for line in self.process.stdout:
            if text in line:
                return line
        raise AssertionError(f"the program ended without {text!r}: {self.process.stderr.read()}")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """Its status, what it wrote (since wait_for), and what it wrote to stderr."""
        try:
            out, error = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, error = self.process.communicate()
            error += "\nit did not end by itself"
        self._folder.cleanup()
        return self.process.returncode, out, error


def run(source, *words, **options):
    return Program(source, *words, **options).end()


def until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {SECONDS} s for {what}")
        time.sleep(0.02)
