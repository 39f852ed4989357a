"""Builds a wheel of the package by CMake and Ninja, for pip and other front ends (PEP 517); needs no other package.

`pip install .` in the source tree builds in build/. An already configured folder is taken by
`--config-settings=build=FOLDER`.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _metadata():
    text = (ROOT / "pyproject.toml").read_text()
    fields = dict(re.findall(r'^(name|version|description|requires-python) = "(.*)"$', text, re.M))
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {fields['name']}",
        f"Version: {fields['version']}",
        f"Summary: {fields['description']}",
        f"Requires-Python: {fields['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "engine/python/README.md").read_text(),
    ]
    return fields, "\n".join(lines)


def _tag():
    import sysconfig

    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel to wheel_directory and returns its name."""
    build = pathlib.Path((config_settings or {}).get("build", ROOT / "build"))
    if not (build / "build.ninja").exists():
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DFIRN_PYTHON=ON", "-DFIRN_BUILD_TESTS=OFF",
             "-DFIRN_BUILD_APPS=OFF", f"-DPython_EXECUTABLE={sys.executable}"],
            check=True,
        )
    subprocess.run(["cmake", "--build", build, "--parallel", "--target", "firn_python"], check=True)
    fields, metadata = _metadata()
    info = f"{fields['name']}-{fields['version']}.dist-info"
    name = f"{fields['name']}-{fields['version']}-{_tag()}.whl"
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(
            ["cmake", "--install", build, "--component", "python", "--prefix", prefix, "--strip"],
            check=True, stdout=subprocess.DEVNULL,
        )
        package = next(pathlib.Path(prefix).rglob("firn/__init__.py")).parent
        files = {f"firn/{path.relative_to(package)}": path.read_bytes()
                 for path in sorted(package.rglob("*")) if path.is_file() and "__pycache__" not in path.parts}
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: firn\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Writes an archive of the committed source tree, and returns its name."""
    fields, _ = _metadata()
    name = f"{fields['name']}-{fields['version']}"
    out = pathlib.Path(sdist_directory) / f"{name}.tar.gz"
    subprocess.run(["git", "-C", ROOT, "archive", f"--prefix={name}/", "-o", out, "HEAD"], check=True)
    return out.name
