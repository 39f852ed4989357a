"""Tensors in notebooks: pictures, plots, films, and views that change in place. IPython is imported where it is used."""

from . import _firn

# Rank-2 tensors and pictures with fewer rows or columns are shown as numbers.
LEAST_SIDE = 8
# A smaller picture is enlarged by whole factors to about so many pixels, a larger one is reduced to the second.
SMALL_SIDE, LARGE_SIDE = 256, 1024
# Lists of so many numbers are shown as plots.
LEAST_LINE, LONGEST_LINE = 8, 2048


def kernel_shell():
    """The shell of IPython where this runs in a kernel of Jupyter; else None."""
    import sys

    IPython = sys.modules.get("IPython")
    shell = IPython.get_ipython() if IPython else None
    return shell if getattr(shell, "kernel", None) is not None else None


# ---- one tensor ----


def _known_shape(x):
    shape = x.shape
    return shape if all(isinstance(size, int) for size in shape) else None


def _is_picture(shape, least=1):
    if shape is None or not (len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4))):
        return False
    return shape[0] >= least and shape[1] >= least


def _size_for(shape):
    """The pixels in which a picture is shown: whole multiples of its own where it is small."""
    height, width = shape[0], shape[1]
    longer = max(height, width)
    if longer > LARGE_SIDE:
        return max(1, width * LARGE_SIDE // longer), max(1, height * LARGE_SIDE // longer)
    factor = max(1, SMALL_SIDE // longer)
    return width * factor, height * factor


def _map_for(x, colormap):
    """One channel of numbers goes through viridis; bools and bytes, which files of pictures have, are grey."""
    if colormap is None and x.ndim == 2 and x.dtype not in (_firn.boolean, _firn.u8, _firn.u16):
        return "viridis"
    return colormap


def _picture(x, colormap=None, range=None, size=None):
    if isinstance(x, _firn.Picture):
        return x
    x = x if isinstance(x, _firn.Tensor) else _firn.tensor(x)
    shape = _known_shape(x)
    if not _is_picture(shape):
        shown = "x".join(str(each) for each in x.shape) or "one number"
        raise _firn.UserError(f"firn.show: a picture is [h, w], [h, w, 3] or [h, w, 4], and this tensor is {shown}")
    size = size or _size_for(shape)
    return _firn._picture(x, size, _map_for(x, colormap), range, size[0] < shape[1])


def _plot(values, title):
    """A line through values as SVG; what is not finite leaves a gap."""
    import math

    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    width, height, left, top, bottom = 480, 120, 8, 8, 20
    span = (high - low) or 1.0
    middle = low if high > low else low - 0.5
    step = (width - 2 * left) / max(1, len(values) - 1)
    lines, line = [], []
    for k, value in enumerate(values):
        if math.isfinite(value):
            y = top + (height - top - bottom) * (1 - (value - middle) / span)
            line.append(f"{left + k * step:.1f},{y:.1f}")
        elif line:
            lines, line = [*lines, line], []
    lines = [each if len(each) > 1 else each * 2 for each in [*lines, line] if each]
    drawn = "".join(
        f'<polyline fill="none" stroke="#2a7fb8" stroke-width="1.5" stroke-linecap="round" points="{" ".join(each)}"/>'
        for each in lines
    )
    text = 'font-family="sans-serif" font-size="11" fill="currentColor"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<path d="M{left} {height - bottom + 4}H{width - left}" stroke="currentColor" stroke-opacity="0.3"/>{drawn}'
        f'<text x="{left}" y="{height - 5}" {text}>{title}</text>'
        f'<text x="{width - left}" y="{height - 5}" text-anchor="end" {text}>{low:.4g} to {high:.4g}</text></svg>'
    )


def tensor_png(x):
    """The bytes of a PNG and its size where a tensor is shown as a picture; else None."""
    if _firn.recording_now() or not _is_picture(_known_shape(x), LEAST_SIDE):
        return None
    picture = _picture(x)
    return picture.png(), {"width": picture.width, "height": picture.height}


def tensor_html(x):
    """A plot where a tensor is a short list of numbers; else None."""
    shape = None if _firn.recording_now() else _known_shape(x)
    if shape is None or len(shape) != 1 or not LEAST_LINE <= shape[0] <= LONGEST_LINE:
        return None
    return _plot(x.astype(_firn.f32).tolist(), f"{x.dtype.name}[{shape[0]}]")


def _chosen(data, metadata, include, exclude):
    kept = {
        kind: value
        for kind, value in data.items()
        if (not include or kind in include) and (not exclude or kind not in exclude)
    }
    return kept, {kind: value for kind, value in metadata.items() if kind in kept}


def tensor_mimebundle(x, include=None, exclude=None):
    data, metadata = {"text/plain": repr(x)}, {}
    png = tensor_png(x)
    if png:
        data["image/png"], metadata["image/png"] = png
    html = tensor_html(x)
    if html:
        data["text/html"] = html
    return _chosen(data, metadata, include, exclude)


# ---- films ----


def _chunks(png):
    """The parts of a PNG file (ISO/IEC 15948): their types and data."""
    import struct

    at = 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _apng(pngs, fps):
    """An animated PNG of PNG files of one size and kind, which plays for ever (ISO/IEC 15948:2025)."""
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = dict(_chunks(pngs[0]))[b"IHDR"]
    width, height = struct.unpack_from(">II", header)
    # A frame lasts a fraction of a second of 16 bits above and below.
    delay = (1000, round(1000 * fps)) if 1000 * fps < 65536 else (1, round(fps))
    out = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), chunk(b"acTL", struct.pack(">II", len(pngs), 0))]
    number = 0
    for k, png in enumerate(pngs):
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, *delay, 0, 0)
        out.append(chunk(b"fcTL", control))
        number += 1
        data = b"".join(data for kind, data in _chunks(png) if kind == b"IDAT")
        if k == 0:
            out.append(chunk(b"IDAT", data))
        else:
            out.append(chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    out.append(chunk(b"IEND", b""))
    return b"".join(out)


def _film(pictures, fps):
    first = pictures[0]
    for picture in pictures:
        if (picture.width, picture.height) != (first.width, first.height):
            raise _firn.UserError(
                f"firn.show: the frames of a film have one size; one is {first.width}x{first.height} and another "
                f"{picture.width}x{picture.height}"
            )
    return _apng([picture.png() for picture in pictures], fps)


def _frames_of(x):
    """The frames of a film; None where x is a single picture."""
    if isinstance(x, (_firn.Picture, _firn.Drawing)):
        return None
    if not isinstance(x, _firn.Tensor) and not hasattr(x, "__array__") and not hasattr(x, "__dlpack__"):
        if hasattr(x, "__iter__"):
            return list(x)
        raise TypeError(f"firn.show takes a tensor, an array, or frames of such, and not {type(x).__name__!r}")
    x = x if isinstance(x, _firn.Tensor) else _firn.tensor(x)
    shape = x.shape
    if len(shape) == 4 or (len(shape) == 3 and shape[2] not in (3, 4)):
        return [x[k] for k in range(shape[0])]
    return None


def _drawn(x, colormap, range, size):
    """A picture of anything that a window shows."""
    if isinstance(x, _firn.Drawing):
        with _firn.Window(headless=True, size=size or (640, 480)) as window:
            window.open()
            window.show(x)
            return window.picture()
    return _picture(x, colormap, range, size)


def show(x, fps=30, *, colormap=None, range=None, size=None, file=None):
    """Shows a tensor as a picture, or frames as a film that plays for ever.

    `x` is a tensor or an array [h, w], [h, w, 3] or [h, w, 4], a Drawing or a Picture; a film is an iterable of such,
    or one more axis in front. One channel of numbers goes through viridis from the smallest to the largest element of
    each frame, bools and bytes are grey; `colormap`, `range` (low, high) and `size` (width, height) say otherwise.

    In a kernel of Jupyter the film is an animated PNG in the notebook. Elsewhere it is shown in a window until that is
    closed; without a display that is a UserError. With `file` it is written instead, everywhere: a picture as .png or
    .jpg, a film as .png, .gif, or .mp4 by ffmpeg.
    """
    if not fps > 0:
        raise _firn.UserError(f"firn.show: a film plays at {fps} frames a second; give more than 0")
    frames = _frames_of(x)
    if frames is not None and not frames:
        raise _firn.UserError("firn.show: there are no frames")
    shell = kernel_shell()
    if file is None and shell is None:
        _show_in_window(frames or [x], fps, colormap, range, size)
        return
    pictures = [_drawn(each, colormap, range, size) for each in (frames or [x])]
    if file is not None:
        _write(file, pictures, fps, frames is not None)
        return
    from IPython.display import display  # type: ignore

    first = pictures[0]
    png = first.png() if frames is None else _film(pictures, fps)
    text = f"{first.width}x{first.height}" + ("" if frames is None else f", {len(frames)} frames at {fps} a second")
    display(
        {"image/png": png, "text/plain": f"<firn.show {text}>"},
        metadata={"image/png": {"width": first.width, "height": first.height}},
        raw=True,
    )


def _write(file, pictures, fps, is_film):
    import os

    path = os.fspath(file)
    if not is_film:
        pictures[0].save(path)
    elif path.lower().endswith(".png"):
        with open(path, "wb") as out:
            out.write(_film(pictures, fps))
    else:
        _firn._write_film(path, pictures, fps)


def _open_window(what, **options):
    try:
        return _firn.Window(**options)
    except _firn.UserError as error:
        if "display" not in str(error):
            raise
        raise _firn.UserError(f"{what}: this is no notebook, and no window opens: {error}") from None


def _show_in_window(frames, fps, colormap, range, size):
    if not size:
        first = frames[0]
        if isinstance(first, _firn.Drawing):
            size = (640, 480)
        elif isinstance(first, _firn.Picture):
            size = (first.width, first.height)
        else:
            frames = [each if isinstance(each, (_firn.Tensor, _firn.Picture)) else _firn.tensor(each) for each in frames]
            size = _size_for(frames[0].shape)
    at = 0
    with _open_window("firn.show", title="firn", size=size, max_rate=fps if len(frames) > 1 else 60) as window:
        while window.open():
            each = frames[at]
            if isinstance(each, _firn.Drawing):
                window.show(each)
            elif isinstance(each, _firn.Picture):
                window.show(_firn.tensor(each))
            else:
                window.show(each, _map_for(each, colormap), range)
            if len(frames) > 1 and window.playing():
                at = (at + 1) % len(frames)


# ---- views that change in place ----


class Live:
    """A view that changes in place: a picture in a notebook, a window elsewhere.

        with fn.Live(640, 480) as view:
            dt = view.slider("dt", 0.4, 0, 0.5)
            for _ in range(1000):
                u, v = wave(u, v, dt)
                view.show(u, fn.colormap.viridis)

    `show` takes what Window.show takes, and draws at most `fps` frames a second: in a notebook it leaves frames out
    that come sooner, in a window it waits. It returns whether to go on, which a closed window says no to. In a notebook
    it also takes what happened to the sliders meanwhile; the frame that was left out last is drawn where the `with`
    ends. Without a notebook and a display it is a UserError.
    """

    def __init__(self, width=640, height=480, *, fps=30, title="firn"):
        self.width, self.height, self.fps, self.title = width, height, fps, title
        self._shell = self._window = self._shown = self._left_out = None
        self._next = 0.0

    def __enter__(self):
        self._shell = kernel_shell()
        size = (self.width, self.height)
        if self._shell is None:
            self._window = _open_window("firn.Live", title=self.title, size=size, max_rate=self.fps)
        else:
            self._window = _firn.Window(self.title, headless=True, size=size)
        self._window.open()
        return self

    def __exit__(self, kind, error, traceback):
        try:
            if kind is None and self._left_out is not None:
                self._draw(*self._left_out)
        finally:
            self._left_out = None
            self._window.__exit__(None, None, None)
            self._window = None

    def _open(self):
        if self._window is None:
            raise _firn.UserError("firn.Live: the view is open inside of `with firn.Live(...) as view:`")
        return self._window

    def show(self, x, colormap=None, range=None, **options):
        window = self._open()
        if self._shell is None:
            window.show(x, colormap, range, **options)
            return window.open()
        import time

        _take_widget_messages(self._shell.kernel)
        now = time.monotonic()
        if now < self._next:
            if isinstance(x, _firn.Tensor):
                _firn._compute(x)  # else what is not shown would only be recorded
            self._left_out = (x, colormap, range, options)
            return True
        self._next = now + 1 / self.fps
        self._left_out = None
        self._draw(x, colormap, range, options)
        return True

    def _draw(self, x, colormap, range, options):
        window = self._window
        window.show(x, colormap, range, **options)
        window.open()
        picture = window.picture()
        data = {"image/png": picture.png(), "text/plain": f"<firn.Live {picture.width}x{picture.height}>"}
        metadata = {"image/png": {"width": self.width, "height": self.height}}
        from IPython.display import display, update_display  # type: ignore

        if self._shown is None:
            self._shown = display(data, metadata=metadata, raw=True, display_id=True)
        else:
            update_display(data, metadata=metadata, raw=True, display_id=self._shown.display_id)

    def slider(self, name, value, min, max, *, help=""):
        """A slider, as a Param: of ipywidgets in a notebook, in the panel of a window elsewhere."""
        window = self._open()
        if self._shell is None:
            return window.param(name, value, min=min, max=max, help=help)
        try:
            import ipywidgets  # type: ignore
        except ImportError:
            raise _firn.UserError(
                "view.slider: sliders in notebooks are those of ipywidgets, which is not installed for this Python; "
                "install it (pip install ipywidgets, or Debian's python3-ipywidgets), or write the value in the cell"
            ) from None
        from IPython.display import display  # type: ignore

        param = window.param(name, value, min=min, max=max, help=help)
        is_whole = isinstance(param.value, int)
        step = 1 if is_whole else (max - min) / 200
        kind = ipywidgets.IntSlider if is_whole else ipywidgets.FloatSlider
        widget = kind(value=value, min=min, max=max, step=step, description=name, continuous_update=True)
        widget.observe(lambda change: setattr(param, "value", change["new"]), "value")
        display(widget)
        return param


def _take_widget_messages(kernel):
    """Gives widgets the messages that came while the cell runs; all others stay in their order.

    A kernel takes messages between cells alone. Where its queue is not that of ipykernel 6, sliders do the same.
    """
    queue, stream = getattr(kernel, "msg_queue", None), getattr(kernel, "shell_stream", None)
    if queue is None or stream is None or not hasattr(queue, "get_nowait"):
        return
    import json
    import zmq  # type: ignore

    stream.flush(zmq.POLLIN)
    waiting = [queue.get_nowait() for _ in range(queue.qsize())]
    for each in waiting:
        args = each[-1]
        frames = args[0] if len(args) == 1 and isinstance(args[0], list) else None
        kind = ""
        if frames is not None:
            idents, parts = kernel.session.feed_identities(frames, copy=False)
            kind = json.loads(bytes(parts[1]))["msg_type"]
        take = {"comm_msg": "comm_msg", "comm_close": "comm_close"}.get(kind)
        if take is None:
            queue.put_nowait(each)
            continue
        message = kernel.session.deserialize(parts, content=True, copy=False)
        getattr(kernel.comm_manager, take)(stream, idents, message)


# ---- the classes of the module ----


def _drawing_png(drawing):
    return _drawn(drawing, None, None, None).png()


def dress_classes():
    """Gives tensors and drawings the methods by which notebooks show them."""
    _firn.Tensor._repr_mimebundle_ = tensor_mimebundle
    _firn.Tensor._repr_png_ = tensor_png
    _firn.Tensor._repr_html_ = tensor_html
    _firn.Drawing._repr_png_ = _drawing_png
