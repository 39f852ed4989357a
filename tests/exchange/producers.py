#!/usr/bin/python3
"""Files of other programs read by Firn, and Firn's read by them: prints a table (README.md)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

warnings.simplefilter("ignore")
FIRN = os.path.abspath(sys.argv[1])
HEIGHT, WIDTH = 37, 53
RANDOM = np.random.default_rng(3)
RGB8 = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
RGB16 = RANDOM.integers(0, 65536, (HEIGHT, WIDTH, 3), dtype=np.uint16)
RGBA8 = RANDOM.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)
LIGHT = (RANDOM.random((HEIGHT, WIDTH, 3)) * 8).astype(np.float32)
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH]
SMOOTH8 = np.stack([4 * X, 6 * Y, 128 + 0 * X], -1).astype(np.uint8)  # what JPEG keeps


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])


def firn(source, part=""):
    """What Firn reads, as an array; raises its message."""
    run(FIRN, source, "read.npy", *([part] if part else []))
    return np.load("read.npy")


def by_firn(name, x):
    np.save("write.npy", x)
    run(FIRN, "write.npy", name)


def oiio_write(name, x, kind=None, **attributes):
    import OpenImageIO as oiio
    spec = oiio.ImageSpec(x.shape[1], x.shape[0], x.shape[2], kind or {"float32": "float"}.get(str(x.dtype), str(x.dtype)))
    for key, value in attributes.items():
        spec.attribute(key.replace("__", ":"), value)
    out = oiio.ImageOutput.create(name)
    out.open(name, spec)
    if not out.write_image(x):
        raise RuntimeError(out.geterror())
    out.close()


def oiio_read(name):
    import OpenImageIO as oiio
    file = oiio.ImageInput.open(name)
    if not file:
        raise RuntimeError(oiio.geterror())
    return file.read_image("float")


def cv_read(name):
    import cv2
    x = cv2.imread(name, cv2.IMREAD_UNCHANGED | cv2.IMREAD_ANYDEPTH)
    return x[..., ::-1] if x.ndim == 3 else x


def cv_write(name, x):
    import cv2
    if not cv2.imwrite(name, np.ascontiguousarray(x[..., ::-1])):
        raise RuntimeError("refused")


def pil_write(name, x, **options):
    from PIL import Image
    Image.fromarray(x).save(name, **options)


def magick(name, x, *options):
    oiio_write("source.png", x)
    run("convert", "source.png", *options, name)


def vips(name, x):
    oiio_write("source.png", x)
    run("vips", "copy", "source.png", name)


def ffmpeg(name, x, *options):
    oiio_write("source.png", x)
    run("ffmpeg", "-y", "-loglevel", "error", "-i", "source.png", *options, "-update", "1", name)


def pfs(name, x):
    oiio_write("source.exr", x)
    run("sh", "-c", f"pfsin source.exr | pfsout {name}")


def netpbm(name, x):
    oiio_write("source.png", x)
    run("sh", "-c", f"pngtopnm source.png > {name}")


def blender(name, kind):
    run("blender", "-b", "--factory-startup", "--python-expr",
        "import bpy; s = bpy.context.scene; s.render.engine = 'CYCLES'; s.cycles.samples = 1; s.cycles.use_denoising = False; "
        "s.render.resolution_x = 53; s.render.resolution_y = 37; s.render.resolution_percentage = 100; "
        "s.view_layers[0].use_pass_normal = True; s.view_layers[0].use_pass_z = True; "
        f"s.render.image_settings.file_format = '{kind}'; s.render.filepath = '{os.path.abspath(name)}'; "
        "bpy.ops.render.render(write_still=True)")


def parts(x):
    """Numbers as Firn reads them, in three channels."""
    x = x.astype(np.float32) / (np.iinfo(x.dtype).max if x.dtype.kind == "u" else 1)
    return x if x.ndim == 3 and x.shape[2] >= 3 else np.repeat(x.reshape(x.shape[0], x.shape[1], 1), 3, 2)


def rgbe(x):
    return x, np.abs(x).max(-1, keepdims=True) / 100


def pandas_csv(name, x):
    import pandas
    pandas.DataFrame(x, columns=["a", "b", "c"]).to_csv(name, index=False)


def big(x):
    return x.astype(x.dtype.newbyteorder(">"))


# Producer, file, what is written, how it is written, the largest error.
M = RANDOM.random((5, 3)).astype(np.float32)
READ = [
    ("numpy", "f32.npy", M, lambda n: np.save(n, M), 0),
    ("numpy", "fortran.npy", M, lambda n: np.save(n, np.asfortranarray(M)), 0),
    ("numpy", "f16.npy", M.astype("f2"), lambda n: np.save(n, M.astype("f2")), 0),
    ("numpy", "i64.npy", np.arange(6), lambda n: np.save(n, np.arange(6)), 0),
    ("numpy", "bool.npy", M > 0.5, lambda n: np.save(n, M > 0.5), 0),
    ("numpy", "big_endian.npy", M, lambda n: np.save(n, big(M)), 0),
    ("numpy", "complex.npy", M, lambda n: np.save(n, M.astype("c8")), 0),
    ("numpy", "records.npy", M, lambda n: np.save(n, np.zeros(3, [("x", "f4"), ("y", "i4")])), 0),
    ("numpy", "x.npz", M, lambda n: np.savez(n, x=M), 0),
    ("numpy", "packed.npz", M, lambda n: np.savez_compressed(n, x=M), 0),
    ("numpy", "savetxt.csv", M, lambda n: np.savetxt(n, M, delimiter=","), 0),
    ("pandas", "frame.csv", M, lambda n: pandas_csv(n, M), 0),
    ("OpenCV", "rgb8.png", RGB8, lambda n: cv_write(n, RGB8), 1e-6),
    ("OpenCV", "rgb16.png", RGB16, lambda n: cv_write(n, RGB16), 1e-6),
    ("OpenCV", "smooth.jpg", SMOOTH8, lambda n: cv_write(n, SMOOTH8), 0.04),
    ("OpenCV", "light.hdr", LIGHT, lambda n: cv_write(n, LIGHT), "rgbe"),
    ("OpenCV", "rgb16.ppm", RGB16, lambda n: cv_write(n, RGB16), 1e-6),
    ("OpenCV", "rgb8.bmp", RGB8, lambda n: cv_write(n, RGB8), 1e-6),
    ("OpenCV", "light.tiff", LIGHT, lambda n: cv_write(n, LIGHT), 0),
    ("OpenCV", "rgb8.webp", RGB8, lambda n: cv_write(n, RGB8), 0),
    ("Pillow", "palette.png", RGB8[..., 0], lambda n: pil_write(n, RGB8[..., 0]), 1e-6),
    ("Pillow", "progressive.jpg", SMOOTH8, lambda n: pil_write(n, SMOOTH8, progressive=True, quality=95), 0.04),
    ("Pillow", "422.jpg", SMOOTH8, lambda n: pil_write(n, SMOOTH8, subsampling=1, quality=95), 0.04),
    ("Pillow", "rgb8.tga", RGB8, lambda n: pil_write(n, RGB8), 1e-6),
    ("Pillow", "grey.gif", RGB8[..., 0], lambda n: pil_write(n, RGB8[..., 0]), 1e-6),
    ("ImageMagick", "interlaced.png", RGB8, lambda n: magick(n, RGB8, "-interlace", "PNG"), 1e-6),
    ("ImageMagick", "cmyk.jpg", SMOOTH8, lambda n: magick(n, SMOOTH8, "-colorspace", "CMYK", "-quality", "98"), 0.06),
    ("ImageMagick", "text.ppm", RGB8, lambda n: magick(n, RGB8, "-compress", "none"), 1e-6),
    ("ImageMagick", "light.hdr", RGB8, lambda n: magick(n, RGB8, "-colorspace", "RGB", "-set", "colorspace", "RGB"), None),
    ("ImageMagick", "rgb8.psd", RGB8, lambda n: magick(n, RGB8), 1e-6),
    ("OpenImageIO", "half.exr", LIGHT.astype("f2"), lambda n: oiio_write(n, LIGHT.astype("f2"), "half"), 0),
] + [
    ("OpenImageIO", f"{c}.exr", LIGHT, lambda n, c=c: oiio_write(n, LIGHT, compression=c), e)
    for c, e in [("none", 0), ("rle", 0), ("zips", 0), ("zip", 0), ("piz", 0), ("pxr24", 1e-3), ("b44", 1),
                 ("dwaa", 0.5)]
] + [
    ("OpenImageIO", "tiled.exr", LIGHT, lambda n: run("oiiotool", "half.exr", "--tile", 16, 16, "-d", "half", "-o", n), 0.004),
    ("OpenImageIO", "light.hdr", LIGHT, lambda n: oiio_write(n, LIGHT), "rgbe"),
    ("OpenImageIO", "alpha.png", RGBA8, lambda n: oiio_write(n, RGBA8, oiio__UnassociatedAlpha=1), 1e-6),
    ("OpenImageIO", "rgb10.dpx", RGB16, lambda n: oiio_write(n, RGB16), 0),
    ("vips", "rgb16.png", RGB16, lambda n: vips(n, RGB16), 1e-6),
    ("vips", "rgb16.ppm", RGB16, lambda n: vips(n, RGB16), 1e-6),
    ("vips", "rgb8.hdr", RGB8, lambda n: vips(n, RGB8), None),
    ("pfstools", "light.hdr", LIGHT, lambda n: pfs(n, LIGHT), "rgbe"),
    ("pfstools", "light.exr", LIGHT, lambda n: pfs(n, LIGHT), 0.01),
    ("pfstools", "light.pfm", LIGHT, lambda n: pfs(n, LIGHT), 0),
    ("netpbm", "rgb16.ppm", RGB16, lambda n: netpbm(n, RGB16), 1e-6),
    ("ffmpeg", "rgb8.png", RGB8, lambda n: ffmpeg(n, RGB8), 1e-6),
    ("ffmpeg", "rgb16.png", RGB16, lambda n: ffmpeg(n, RGB16, "-pix_fmt", "rgb48be"), 1e-6),
    ("ffmpeg", "smooth.jpg", SMOOTH8, lambda n: ffmpeg(n, SMOOTH8, "-q:v", "1"), 0.06),
    ("Blender", "render.png", None, lambda n: blender(n, "PNG"), None),
    ("Blender", "render.exr", None, lambda n: blender(n, "OPEN_EXR"), None),
    ("Blender", "layers.exr", None, lambda n: blender(n, "OPEN_EXR_MULTILAYER"), None),
    ("Blender", "render.hdr", None, lambda n: blender(n, "HDR"), None),
]

# Reader, file, what Firn is given, how it is read, the largest error.
WRITTEN = [
    ("numpy", "x.npy", M, np.load, 0),
    ("numpy", "x.npz", M, lambda n: np.load(n)["x"], 0),
    ("numpy", "x.csv", M, lambda n: np.loadtxt(n, delimiter=",", dtype=np.float32), 0),
    ("pandas", "x.csv", M, lambda n: __import__("pandas").read_csv(n, header=None).values, 1e-7),
    ("OpenCV", "rgb8.png", RGB8, lambda n: cv_read(n) / np.float32(255), 1e-6),
    ("OpenCV", "rgb16.png", RGB16, lambda n: cv_read(n) / np.float32(65535), 1e-6),
    ("OpenCV", "grey16.png", RGB16[..., 0].copy(), lambda n: cv_read(n) / np.float32(65535), 1e-6),
    ("OpenCV", "light.hdr", LIGHT, cv_read, "rgbe"),
    ("OpenCV", "smooth.jpg", SMOOTH8, lambda n: cv_read(n) / np.float32(255), 0.02),
    ("OpenImageIO", "alpha.png", RGBA8, lambda n: oiio_read(n)[..., 3], 1e-6),
    ("OpenImageIO", "light.exr", LIGHT, oiio_read, 0),
    ("OpenImageIO", "half.exr", LIGHT.astype("f2"), oiio_read, 0),
    ("OpenImageIO", "grey.exr", LIGHT[..., 0].copy(), lambda n: oiio_read(n)[..., 0], 0),
    ("OpenImageIO", "light.hdr", LIGHT, oiio_read, "rgbe"),
    ("vips", "rgb16.png", RGB16, lambda n: (run("vips", "copy", n, "v.ppm"), cv_read("v.ppm") / np.float32(65535))[1], 1e-6),
    ("pfstools", "light.hdr", LIGHT, lambda n: (run("sh", "-c", f"pfsin {n} | pfsout v.exr"), oiio_read("v.exr")[..., :3])[1], 0.05),
    ("ImageMagick", "rgb8.png", RGB8, lambda n: (run("convert", n, "v.ppm"), cv_read("v.ppm") / np.float32(255))[1], 1e-6),
    ("ffmpeg", "rgb8.png", RGB8, lambda n: (run("ffmpeg", "-y", "-loglevel", "error", "-i", n, "v.ppm"), cv_read("v.ppm") / np.float32(255))[1], 1e-6),
]


def verdict(read, right, error):
    if right is None or error is None:
        return f"read, {'x'.join(map(str, read.shape))}, {read.min():.3g} to {read.max():.3g}"
    if read.shape != right.shape:
        return f"another shape: {read.shape}, not {right.shape}"
    if isinstance(error, str):
        right, error = rgbe(right)
    worst = float(np.abs(read.astype(np.float64) - right.astype(np.float64)).max())
    if np.all(np.abs(read.astype(np.float64) - right.astype(np.float64)) <= error):
        return "equal" if worst <= 1e-6 else f"equal within {worst:.2g}"
    return f"DIFFERS by {worst:.3g}"


def refusal(error):
    words = re.sub(r"^(picture|file) \S+: ", "", str(error))
    return "refused: " + re.sub(r" \(\S+:\d+\)$", "", words)


def main():
    os.chdir(tempfile.mkdtemp())
    print("| written by | file | Firn |\n|---|---|---|")
    for producer, name, x, write, error in READ:
        try:
            write(name)
        except Exception as missing:
            print(f"| {producer} | {name} | not written here: {str(missing)[:60]} |")
            continue
        picture = not name.endswith((".npy", ".npz", ".csv"))
        part = "x" if name.endswith(".npz") else "alpha" if name.startswith("alpha") else ""
        try:
            said = verdict(firn(name, part), parts(x) if picture and x is not None else x, error)
        except RuntimeError as refused:
            said = refusal(refused)
        print(f"| {producer} | {name} | {said} |", flush=True)
    print("\n| written by Firn | read by | |\n|---|---|---|")
    for reader, name, x, read, error in WRITTEN:
        try:
            by_firn(name, x)
            back = read(name)
            right = x if name.endswith((".npy", ".npz", ".csv")) or x.dtype.kind == "f" else \
                (x / np.float32(np.iinfo(x.dtype).max))
            if name.startswith("alpha"):
                right = right[..., 3]
            said = verdict(back, right, error)
        except Exception as failed:
            said = f"failed: {str(failed)[:80]}"
        print(f"| {name} | {reader} | {said} |", flush=True)
    shutil.rmtree(os.getcwd())


main()
