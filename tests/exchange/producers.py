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


def scipy_sparse(name, x):
    import scipy.sparse
    scipy.sparse.save_npz(name, scipy.sparse.csr_matrix(x))


def povray(name, kind):
    with open("scene.pov", "w") as scene:
        scene.write("camera { location <0, 1, -4> look_at 0 } light_source { <5, 9, -9> rgb 1 }\n"
                    "sphere { 0, 1 pigment { rgb <1, 0.5, 0.2> } } background { rgb <0.1, 0.2, 0.4> }\n")
    run("povray", "scene.pov", f"+W{WIDTH}", f"+H{HEIGHT}", f"+F{kind}", f"+O{name}", "-D", "+WT1")


def graphicsmagick(name, x):
    oiio_write("source.png", x)
    run("gm", "convert", "source.png", name)


def gmic(name, x):
    oiio_write("source.png", x)
    run("gmic", "source.png", "-o", name)


def imageio(name, x):
    import imageio
    imageio.imwrite(name, x)


def h5py_write(name, x, **options):
    import h5py
    with h5py.File(name, "w") as file:
        file.create_dataset("run/x", data=x, **options)


def h5py_read(name):
    import h5py
    with h5py.File(name) as file:
        return file["x"][()]


def vtk_mesh():
    """Four points with normals, and two triangles."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk
    points, cells, mesh = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
    points.SetData(numpy_to_vtk(POINTS))
    for triangle in TRIANGLES:
        cells.InsertNextCell(3, triangle)
    mesh.SetPoints(points)
    mesh.SetPolys(cells)
    return mesh


def vtk_write(name, kind, text=False):
    import vtk
    writer = getattr(vtk, kind)()
    writer.SetFileName(name)
    writer.SetInputData(vtk_mesh())
    if kind == "vtkPLYWriter":
        writer.SetFileType(1 if text else 2)
    writer.Write()


def vtk_read(name, kind):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    reader = getattr(vtk, kind)()
    reader.SetFileName(name)
    reader.Update()
    out = reader.GetOutput()
    if kind != "vtkXMLImageDataReader":
        return vtk_to_numpy(out.GetPoints().GetData())
    return vtk_to_numpy(out.GetPointData().GetArray(0)).reshape(out.GetDimensions()[1], out.GetDimensions()[0])


def assimp(name, kind):
    vtk_write("source.ply", "vtkPLYWriter")
    run("assimp", "export", "source.ply", name, f"-f{kind}")


def meshio_write(name):
    import meshio
    meshio.write(name, meshio.Mesh(POINTS, [("triangle", TRIANGLES)]))


def meshio_read(name):
    import meshio
    return meshio.read(name).points


def graded(name):
    """Grey from 0 to 1 by a table of one axis, as ffmpeg applies it."""
    ramp = np.repeat(np.linspace(0, 255, 256).astype(np.uint8).reshape(1, 256, 1), 3, 2)
    oiio_write("ramp.png", ramp)
    run("ffmpeg", "-y", "-loglevel", "error", "-i", "ramp.png", "-vf", f"lut1d={name}", "-pix_fmt", "rgb24", "graded.png")
    return oiio_read("graded.png")[0, ::255]


def ocio_bake(name):
    """A table that OpenColorIO makes of two spaces of its own."""
    with open("config.ocio", "w") as config:
        config.write("ocio_profile_version: 2\nroles: {default: a, scene_linear: a}\n"
                     "file_rules: [!<Rule> {name: Default, colorspace: default}]\n"
                     "displays: {d: [!<View> {name: v, colorspace: a}]}\n"
                     "colorspaces:\n  - !<ColorSpace> {name: a}\n"
                     "  - !<ColorSpace> {name: b, from_scene_reference: !<MatrixTransform> {matrix: "
                     "[0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}}\n")
    run("ociobakelut", "--iconfig", "config.ocio", "--inputspace", "a", "--outputspace", "b", "--format", "iridas_cube",
        "--cubesize", 3, name)


def big(x):
    return x.astype(x.dtype.newbyteorder(">"))


# Producer, file, what is written (or who else reads it), how it is written, the largest error.
M = RANDOM.random((5, 3)).astype(np.float32)
POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0.5]], np.float32)
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
THIRDS = np.linspace(0, 1, 3, dtype=np.float32)
BAKED = np.stack([np.broadcast_to(0.5 * THIRDS[None, None, :], (3, 3, 3)),
                  np.broadcast_to(0.25 * THIRDS[None, :, None], (3, 3, 3)),
                  np.broadcast_to(THIRDS[:, None, None], (3, 3, 3))], -1)
LOOK = np.array([[0, 0.2, 0], [0.5, 0.6, 1]], np.float32)
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
    ("scipy", "sparse.npz", None, lambda n: scipy_sparse(n, M), None),
    ("h5py", "x.h5", M, lambda n: h5py_write(n, M), 0),
    ("h5py", "packed.h5", M, lambda n: h5py_write(n, M, chunks=(2, 2), compression="gzip", shuffle=True), 0),
    ("h5py", "big_endian.h5", M, lambda n: h5py_write(n, big(M)), 0),
    ("h5py", "complex.h5", M, lambda n: h5py_write(n, M.astype("c8")), 0),
    ("VTK", "binary.ply", POINTS, lambda n: vtk_write(n, "vtkPLYWriter"), 0),
    ("VTK", "text.ply", POINTS, lambda n: vtk_write(n, "vtkPLYWriter", True), 0),
    ("VTK", "x.obj", POINTS, lambda n: vtk_write(n, "vtkOBJWriter"), 0),
    ("assimp", "x.obj", POINTS, lambda n: assimp(n, "obj"), 0),
    ("assimp", "x.ply", POINTS, lambda n: assimp(n, "plyb"), 0),
    ("assimp", "x.gltf", POINTS, lambda n: assimp(n, "gltf2"), 0),
    ("assimp", "x.glb", POINTS, lambda n: assimp(n, "glb2"), 0),
    ("meshio", "x.ply", POINTS, meshio_write, 0),
    ("meshio", "x.obj", POINTS, meshio_write, 0),
    ("OpenColorIO", "baked.cube", BAKED, ocio_bake, 1e-5),
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
    ("ImageMagick", "light.hdr", oiio_read, lambda n: magick(n, RGB8, "-colorspace", "RGB", "-set", "colorspace", "RGB"), 1e-6),
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
    ("vips", "rgb8.hdr", oiio_read, lambda n: vips(n, RGB8), 1e-6),
    ("pfstools", "light.hdr", LIGHT, lambda n: pfs(n, LIGHT), "rgbe"),
    ("pfstools", "light.exr", LIGHT, lambda n: pfs(n, LIGHT), 0.01),
    ("pfstools", "light.pfm", LIGHT, lambda n: pfs(n, LIGHT), 0),
    ("POV-Ray", "render.png", oiio_read, lambda n: povray(n, "N"), 1e-6),
    ("POV-Ray", "render16.png", oiio_read, lambda n: povray(n, "N16"), 1e-6),
    ("POV-Ray", "render.exr", oiio_read, lambda n: povray(n, "E"), 1e-6),
    ("POV-Ray", "render.hdr", oiio_read, lambda n: povray(n, "H"), 1e-6),
    ("POV-Ray", "render.ppm", oiio_read, lambda n: povray(n, "P"), 1e-6),
    ("POV-Ray", "render.tga", oiio_read, lambda n: povray(n, "T"), 1e-6),
    ("GraphicsMagick", "rgb8.png", RGB8, lambda n: graphicsmagick(n, RGB8), 1e-6),
    ("GraphicsMagick", "rgb8.bmp", RGB8, lambda n: graphicsmagick(n, RGB8), 1e-6),
    ("GraphicsMagick", "rgb8.tga", RGB8, lambda n: graphicsmagick(n, RGB8), 1e-6),
    ("G'MIC", "rgb8.png", RGB8, lambda n: gmic(n, RGB8), 1e-6),
    ("G'MIC", "rgb8.bmp", RGB8, lambda n: gmic(n, RGB8), 1e-6),
    ("imageio", "rgb8.png", RGB8, lambda n: imageio(n, RGB8), 1e-6),
    ("imageio", "rgb16.png", RGB16[..., 0].copy(), lambda n: imageio(n, RGB16[..., 0]), 1e-6),
    ("netpbm", "rgb16.ppm", RGB16, lambda n: netpbm(n, RGB16), 1e-6),
    ("ffmpeg", "rgb8.png", RGB8, lambda n: ffmpeg(n, RGB8), 1e-6),
    ("ffmpeg", "rgb16.png", RGB16, lambda n: ffmpeg(n, RGB16, "-pix_fmt", "rgb48be"), 1e-6),
    ("ffmpeg", "smooth.jpg", SMOOTH8, lambda n: ffmpeg(n, SMOOTH8, "-q:v", "1"), 0.06),
    ("Blender", "render.png", oiio_read, lambda n: blender(n, "PNG"), 1e-6),
    ("Blender", "render.exr", oiio_read, lambda n: blender(n, "OPEN_EXR"), 1e-6),
    ("Blender", "layers.exr", None, lambda n: blender(n, "OPEN_EXR_MULTILAYER"), None),
    ("Blender", "render.hdr", oiio_read, lambda n: blender(n, "HDR"), 1e-6),
]

# Reader, file, what Firn is given, how it is read, the largest error.
WRITTEN = [
    ("numpy", "x.npy", M, np.load, 0),
    ("numpy", "x.npz", M, lambda n: np.load(n)["x"], 0),
    ("numpy", "x.csv", M, lambda n: np.loadtxt(n, delimiter=",", dtype=np.float32), 0),
    ("pandas", "x.csv", M, lambda n: __import__("pandas").read_csv(n, header=None).values, 1e-7),
    ("h5py", "x.h5", M, h5py_read, 0),
    ("VTK", "x.ply", M, lambda n: vtk_read(n, "vtkPLYReader"), 0),
    ("VTK", "text.ply", M, lambda n: vtk_read(n, "vtkPLYReader"), 0),
    ("VTK", "x.vti", M, lambda n: vtk_read(n, "vtkXMLImageDataReader"), 0),
    ("VTK", "x.vtp", M, lambda n: vtk_read(n, "vtkXMLPolyDataReader"), 0),
    ("meshio", "x.ply", M, meshio_read, 0),
    ("meshio", "text.ply", M, meshio_read, 0),
    ("ffmpeg", "look.cube", LOOK, graded, 1 / 255),
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


NO_PICTURES = (".npy", ".npz", ".csv", ".h5", ".ply", ".obj", ".gltf", ".glb", ".cube", ".vti", ".vtp")


def main():
    os.chdir(tempfile.mkdtemp())
    print("| written by | file | Firn |\n|---|---|---|")
    for producer, name, x, write, error in READ:
        try:
            write(name)
            x = x(name)[..., :3] if callable(x) else x
        except Exception as missing:
            print(f"| {producer} | {name} | not written here: {str(missing)[:60]} |")
            continue
        picture = not name.endswith(NO_PICTURES)
        mesh = name.endswith((".ply", ".obj", ".gltf", ".glb"))
        part = {"sparse.npz": "data", "alpha.png": "alpha"}.get(name) or \
            ("x" if name.endswith(".npz") else "run/x" if name.endswith(".h5") else "positions" if mesh else "")
        try:
            read = firn(name, part)
            if mesh:  # points may be in another order, or several times
                read = read[firn(name, "triangles").ravel()]
                x = x[TRIANGLES.ravel()]
            said = verdict(read, parts(x) if picture and x is not None else x, error)
        except RuntimeError as refused:
            said = refusal(refused)
        print(f"| {producer} | {name} | {said} |", flush=True)
    print("\n| written by Firn | read by | |\n|---|---|---|")
    for reader, name, x, read, error in WRITTEN:
        try:
            by_firn(name, x)
            back = read(name)
            right = x if name.endswith(NO_PICTURES) or x.dtype.kind == "f" else \
                (x / np.float32(np.iinfo(x.dtype).max))
            if name.startswith("alpha"):
                right = right[..., 3]
            said = verdict(back, right, error)
        except Exception as failed:
            said = f"failed: {str(failed)[:80]}"
        print(f"| {name} | {reader} | {said} |", flush=True)
    shutil.rmtree(os.getcwd())


main()
