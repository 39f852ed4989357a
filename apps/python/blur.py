"""A Gaussian blur of a picture in two passes, along the rows and along the columns."""

import math
import pathlib

import firn as fn

PICTURE = pathlib.Path(__file__).parents[2] / "assets/fluid.png"

app = fn.App("blur", help="A Gaussian blur of a picture.", size=(960, 540), headless_frames=1)
radius = app.param("radius", 8.0, min=0, max=64, unit="pixels", help="standard deviation")
path = app.param("picture", fn.File(str(PICTURE)), help="picture that is blurred, from the next reset")


@fn.function
def along(axis, picture, radius, reach):
    """The mean of the pixels along an axis by a bell; beyond the edge the pixels of the edge go on."""
    i, j, c = fn.indices(picture.shape)
    total, weights = 0.0, 0.0
    for k in fn.range(-reach, reach + 1):
        weight = fn.exp(-0.5 * fn.square(k / radius))
        total += weight * (picture[i + k, j, c] if axis == 0 else picture[i, j + k, c])
        weights += weight
    return total / weights


@fn.compile
def blur(picture: fn.f32["h", "w", 3], radius: fn.f32, reach: fn.i32):
    return along(1, along(0, picture, radius, reach), radius, reach)


@app.run
def main(window):
    picture = fn.load_image(path.value)
    while window.open():
        if window.reset():
            picture = fn.load_image(path.value)
        window.show(blur(picture, max(radius, 0.1), math.ceil(3 * radius)))
