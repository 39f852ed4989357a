"""Fourier transforms by hand, as tensor code and as one kernel in shared memory, and a filter of pictures by them."""

import math

import firn as fn

ROW, LANES = 256, 64  # of the kernel: elements of a row, and invocations that share it

HELP = "A picture whose fast or slow waves are taken out, and its spectrum."
app = fn.App("fft", help=HELP, size=(1024, 512), headless_frames=1)
cutoff = app.param("cutoff", 20.0, min=1, max=128, help="waves across the picture at which the filter halves")
sharpen = app.param("sharpen", False, help="keep the fast waves instead of the slow ones")


@fn.function
def transform(z, sign=-1):
    """Along the last axis, whose size is a power of two, by Stockham: each step is one kernel."""
    n = z.re.shape[-1]
    place = fn.arange(n)
    span = fn.tensor(1)  # the size of the transforms that are done
    while span < n:
        k = place & (span - 1)
        first = ((place & ~(2 * span - 1)) >> 1) + k
        angle = sign * math.pi * k / span
        a, b = (fn.Complex(z.re[..., k], z.im[..., k]) for k in (first, first + n // 2))
        b = b * fn.Complex(fn.cos(angle), fn.sin(angle))
        z = a + b * fn.select((place & span) == 0, 1, -1)
        span = 2 * span
    return z


@fn.function
def transform_2d(z, sign=-1):
    columns = transform(fn.Complex(z.re.T, z.im.T), sign)
    return transform(fn.Complex(columns.re.T, columns.im.T), sign)


@fn.compile
def transform_rows(z: fn.Complex(fn.f32["rows", ROW], fn.f32["rows", ROW])):
    """The same as one kernel: a group keeps a row in shared memory until it is done."""
    re, im = fn.zeros(z.re.shape), fn.zeros(z.re.shape)

    @fn.kernel((re.shape[0], LANES), group=(1, LANES))
    def _(row, lane):
        real, imaginary = fn.shared(fn.f32, (2, ROW)), fn.shared(fn.f32, (2, ROW))  # halves to read and to write
        for i in [lane + k * LANES for k in range(ROW // LANES)]:  # Python's loops are unrolled
            real[0, i], imaginary[0, i] = z.re[row, i], z.im[row, i]
        side, span = 0, 1
        while span < ROW:
            fn.barrier()
            for i in [lane + k * LANES for k in range(ROW // LANES // 2)]:
                k = i & (span - 1)
                angle = -math.pi / span * k
                a = fn.Complex(real[side, i], imaginary[side, i])
                b = fn.Complex(fn.cos(angle), fn.sin(angle))
                b = b * fn.Complex(real[side, i + ROW // 2], imaginary[side, i + ROW // 2])
                to = 2 * i - k
                real[1 - side, to], imaginary[1 - side, to] = a + b
                real[1 - side, to + span], imaginary[1 - side, to + span] = a - b
            side, span = 1 - side, 2 * span
        fn.barrier()
        for i in [lane + k * LANES for k in range(ROW // LANES)]:
            re[row, i], im[row, i] = real[side, i], imaginary[side, i]

    return fn.Complex(re, im)


@fn.compile
def filtered(picture: fn.f32["n", "m"], cutoff: fn.f32, sharpen: fn.boolean):
    n, m = picture.shape
    spectrum = transform_2d(fn.Complex(picture, fn.zeros((n, m))))
    i, j = fn.indices((n, m))
    # The slowest waves stand in the corners.
    frequency = fn.hypot((i + n // 2) % n - n // 2, (j + m // 2) % m - m // 2)
    slow = fn.exp(-math.log(2) * fn.square(frequency / cutoff))
    spectrum = spectrum * fn.select(sharpen, 1 - slow, slow)
    shown = fn.log(1 + fn.hypot(spectrum.re, spectrum.im))[(i + n // 2) % n, (j + m // 2) % m]
    return transform_2d(spectrum, 1).re / (n * m), shown


def rings(n):
    """Rings that grow narrower from the middle outwards, with a dark square among them."""
    i, j = fn.indices((n, n))
    y, x = (i - n / 2) / n, (j - n / 2) / n
    square = fn.max(abs(x - 0.2), abs(y - 0.2)) < 0.1
    return fn.select(square, 0.1, 0.5 + 0.5 * fn.cos(0.6 * n * (x * x + y * y)))


def main(window):
    picture = rings(512)
    while window.open():
        kept, spectrum = filtered(picture, cutoff, sharpen)
        kept = fn.clamp(kept + 0.5 if sharpen.value else kept, 0, 1)
        window.show_grid([kept, (spectrum, fn.colormap.magma)], columns=2)


if __name__ == "__main__":
    app.run(main)
