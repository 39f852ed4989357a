#!/usr/bin/python3
"""Loading and saving pictures beside OpenImageIO, and arrays beside numpy, in turns.

usage: against.py build/bin/firn_bench_files [SIZE [ROUNDS]]

Processor seconds of a process with one thread, the median of the rounds; needs Debian's python3-openimageio and
python3-numpy. Files lie in the folder for temporary files; each is written where there was none, after what was written
before is on the disk: otherwise the system's work for one contestant is counted as the other's.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy as np


def seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def picture(size):
    """Slopes, edges and a little noise, as photographs have them."""
    y, x = np.mgrid[0:size, 0:size].astype(np.float32) / size
    random = np.random.default_rng(1)
    planes = [0.5 + 0.4 * np.sin(7 * x + 3 * k) * np.cos(5 * y) + (0.05 if k == 1 else 0) * (x * 9 % 1 > 0.5)
              for k in range(3)]
    noise = random.normal(0, 0.01, (size, size, 3)).astype(np.float32)
    return np.clip(np.stack(planes, -1).astype(np.float32) + noise, 0, 1)


def theirs(mode, name, source):
    """One round in this process, which runs nothing else."""
    if name.endswith(".npy"):
        x = np.load(source) if mode == "save" else None
        begin = seconds()
        np.save(name, x) if mode == "save" else np.load(name)
        return seconds() - begin
    import OpenImageIO as oiio
    oiio.attribute("threads", 1)
    oiio.attribute("exr_threads", -1)
    if mode == "load":
        begin = seconds()
        read = oiio.ImageInput.open(name)
        read.read_image("float")
        read.close()
        return seconds() - begin
    x = np.load(source)
    height, width, channels = x.shape
    light = name.endswith((".exr", ".hdr"))
    spec = oiio.ImageSpec(width, height, channels, "float" if light else "uint8")
    if name.endswith(".jpg"):
        spec.attribute("Compression", "jpeg:95")
        spec.attribute("jpeg:subsampling", "4:4:4")
    begin = seconds()
    out = oiio.ImageOutput.create(name)
    out.open(name, spec)
    out.write_image(x)
    out.close()
    return seconds() - begin


def prepare(mode, name):
    if mode == "save" and os.path.exists(name):
        os.remove(name)
    os.sync()


def main():
    if sys.argv[1] == "theirs":
        taken = theirs(*sys.argv[2:5])
        # Not of getrusage, which counts the memory of the process that started this one.
        status = open("/proc/self/status").read()
        print(taken, int(status.split("VmHWM:")[1].split()[0]) // 1024)
        return
    program = sys.argv[1]
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    folder = tempfile.mkdtemp()
    source = os.path.join(folder, "source.npy")
    np.save(source, picture(size))
    large = os.path.join(folder, "large.npy")
    np.save(large, np.zeros((16384, 16384 * size // 4096), np.float32) + 1)
    environment = dict(os.environ, LP_NUM_THREADS="0", OMP_NUM_THREADS="1")
    print("| | Firn, s | theirs, s | ratio | Firn, MB | theirs, MB |\n|---|---|---|---|---|---|")
    for mode in ("save", "load"):
        for ending in ("png", "jpg", "exr", "hdr", "npy"):
            mine, other, memory = [], [], [0, 0]
            name = os.path.join(folder, f"their.{ending}")
            own = os.path.join(folder, f"own.{ending}")
            data = large if ending == "npy" else source
            for _ in range(rounds):
                prepare(mode, own)
                words = [program, "1", mode, own if mode == "save" else name] + ([data] if mode == "save" else [])
                lines = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.split()
                mine.append(float(lines[0]))
                memory[0] = max(memory[0], int(lines[1]))
                prepare(mode, name)
                words = [sys.executable, __file__, "theirs", mode, name, data]
                lines = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.split()
                other.append(float(lines[0]))
                memory[1] = max(memory[1], int(lines[1]))
            first, second = statistics.median(mine), statistics.median(other)
            sizes = "" if mode == "load" else f" ({os.path.getsize(own) / 1e6:.1f} MB, theirs {os.path.getsize(name) / 1e6:.1f})"
            print(f"| {mode} {ending}{sizes} | {first:.2f} | {second:.2f} | {first / second:.2f} | {memory[0]} | {memory[1]} |",
                  flush=True)
            if mode == "save":
                os.remove(own)
    subprocess.run(["rm", "-r", folder], check=True)


main()
