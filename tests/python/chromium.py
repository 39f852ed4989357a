"""A page in headless Chromium, by the pipe of its DevTools protocol."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 120


def find():
    """The path of a Chromium that needs no display; None where there is none."""
    return next(filter(None, map(shutil.which, ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"])), None)


class Page:
    def __init__(self, path, width=900, height=1600):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ends = [*os.pipe(), *os.pipe()]
        # It reads commands from descriptor 3 and writes answers to 4, which are none of these.
        to_read, self._write, self._read, to_write = (fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in ends)
        for each in ends:
            os.close(each)
        command = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"],
            pass_fds=[to_read, to_write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._rest, self._number, self._events, self._session = b"", 0, [], None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Page.navigate", url="file://" + path)
        self._receive(lambda message: message.get("method") == "Page.loadEventFired")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("Browser.close")
        except (AssertionError, OSError):
            self._process.terminate()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def screenshot(self, x, y, width, height):
        """The bytes of a PNG of what a part of the page shows now."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self._call("Page.captureScreenshot", format="png", clip=clip)["data"])

    def value(self, expression):
        """What an expression of JavaScript gives."""
        return self._call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def _call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._receive(lambda message: message.get("id") == self._number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def _receive(self, wanted):
        for message in self._events:
            if wanted(message):
                self._events.remove(message)
                return message
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self._rest:
                text, self._rest = self._rest.split(b"\0", 1)
                message = json.loads(text)
                if wanted(message):
                    return message
                if "method" in message:
                    self._events.append(message)
            if not select.select([self._read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError("Chromium does not answer")
            read = os.read(self._read, 1 << 16)
            if not read:
                raise AssertionError("Chromium has ended")
            self._rest += read
