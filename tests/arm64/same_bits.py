#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pumps and driver core for arm64, by Debian's cross compiler, under qemu-user: the call between two V.34 modems and the
loopback pumps of tests/live/kernel, whose results, a hash of every sample among them, have to be this machine's.

    same_bits.py PROGRAM BUILD [--flags "-O1"]

PROGRAM is `two_modems` as built in BUILD, whose commands are repeated for arm64 with the additional --flags. The
vectors of dsp/blocks must be those of NEON. Skipped (77) without a cross compiler or qemu-aarch64.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

CROSS = "aarch64-linux-gnu-"
MODULES = re.compile(r"/(module_(dsp_(?!spandsp|fftw|radio)\w+|driver_core)|two_modems|two_modems_call|loopback_pumps)\.dir/")
ONLY_HERE = {"-mno-red-zone", "-mno-avx", "-mno-sse", "-mcmodel=kernel"}


def out(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def needed(objects):
    """Of {object: ...}, the objects of the program, found by the symbols that each one defines and needs."""
    defines, wants, todo = {}, {}, []
    for o in objects:
        for line in out("nm", "-P", o).splitlines():
            symbol, kind = line.split()[:2]
            if kind == "U":
                wants.setdefault(o, []).append(symbol)
            elif kind.isupper() or kind == "u":
                defines.setdefault(symbol, o)
        if "/two_modems" in o or "/loopback_pumps" in o:
            todo.append(o)
    found = set()
    while todo:
        o = todo.pop()
        if o not in found:
            found.add(o)
            todo += [defines[s] for s in wants.get(o, ()) if s in defines]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    for tool in (CROSS + "g++", "qemu-aarch64"):
        if not shutil.which(tool):
            print(f"skipped: no {tool} (Debian packages g++-aarch64-linux-gnu and qemu-user)")
            return 77
    build = options.build.resolve()
    units = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        name = str(build / words[words.index("-o") + 1])
        if MODULES.search(name):
            units[name] = words
    chosen = sorted(needed(units))
    with tempfile.TemporaryDirectory() as folder:

        def compile_one(numbered):
            number, name = numbered
            words = [w for w in units[name] if w not in ONLY_HERE and not w.startswith("-mgeneral-regs")]
            first = next(i for i, w in enumerate(words) if re.search(r"/(cc|gcc|c\+\+|g\+\+)[-0-9.]*$", w))
            words = [CROSS + ("g++" if words[-1].endswith(".cpp") else "gcc"), *words[first + 1 :], *options.flags.split()]
            words[words.index("-o") + 1] = made = f"{folder}/{number}-{pathlib.Path(name).name}"
            subprocess.run(words, check=True, cwd=build)
            return made

        print(f"{len(chosen)} files for arm64", flush=True)
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("CTEST_PARALLEL_LEVEL", "1"))) as pool:
            objects = list(pool.map(compile_one, enumerate(chosen)))
        kernels = next(o for o in objects if o.endswith("-kernels.cpp.o"))
        if not re.search(r"\bfmul\s+v\d+\.4s", out(CROSS + "objdump", "-d", kernels)):
            print("dsp/blocks/kernels.cpp has no NEON in it")
            return 1
        subprocess.run([CROSS + "g++", "-static", "-o", f"{folder}/two_modems", *objects, "-lpthread"], check=True)
        # Its status depends on the stack, which differs on another processor.
        there = subprocess.run(["qemu-aarch64", f"{folder}/two_modems"], capture_output=True, text=True, check=False,
                               timeout=1500).stdout  # fmt: skip
    here = out(options.program)

    def results(text):
        return [re.sub(r"state \d+, ", "", line) for line in text.splitlines() if "hash" in line]

    print("arm64:", *results(there), "here: ", *results(here), sep="\n  ")
    return 0 if results(there) == results(here) and len(results(here)) == 3 else 1


if __name__ == "__main__":
    sys.exit(main())
