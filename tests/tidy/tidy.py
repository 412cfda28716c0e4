#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-tidy over source files on all CPUs: a part of `./dev check`.

    git ls-files -- '*.cpp' | tidy.py BUILD

BUILD is a built tree. A file without findings is checked again only if it, an included header, its compile command,
.clang-tidy or clang-tidy itself changes. The command can be interrupted at any time, and then resumes.

Findings go to standard output, progress to standard error. Exit status: 0 none, 1 some, 130 interrupted.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time


def say(text):
    print(f"[tidy] {text}", file=sys.stderr, flush=True)


# A header precompiled by GCC, which clang cannot read.
PRECOMPILED = re.compile(r" -Winvalid-pch -include \S+/cmake_pch\.hxx| -fpch-preprocess| --param=\S+")


def compiled(build):
    """@return the compile commands of BUILD; a file that is compiled together with others has a command of its own"""
    units = []
    for unit in json.loads((build / "compile_commands.json").read_text()):
        together = pathlib.Path(unit["file"])
        if not re.fullmatch(r"unity_\d+_cxx\.cxx", together.name):
            units.append(unit)
            continue
        for source in re.findall(r'#include "(.+)"', together.read_text()):
            units.append({**unit, "file": source, "command": unit["command"].replace(unit["file"], source)})
    return units


def write_commands(build):
    """@return a folder with the compile commands of BUILD without precompiled headers"""
    units = compiled(build)
    for unit in units:
        unit["command"] = PRECOMPILED.sub("", unit["command"])
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(units))
    return folder


@functools.cache
def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


def includes(build):
    """@return {object file: [source and headers]}, with ninja's paths"""
    shown = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for block in shown.split("\n\n"):
        lines = block.splitlines()
        if lines:
            found[lines[0].split(": #deps")[0]] = [line.strip() for line in lines[1:]]
    return found


def keys(build, sources):
    """@return {source: what changes whenever its findings could}; None for one that BUILD does not compile"""
    version = subprocess.run(["clang-tidy", "--version"], check=True, stdout=subprocess.PIPE).stdout
    common = version + pathlib.Path(".clang-tidy").read_bytes()
    headers, commands = includes(build), {}
    for unit in compiled(build):
        commands.setdefault(pathlib.Path(unit["file"]), []).append(unit["command"])
    key = dict.fromkeys(sources)
    for source in sources:
        content, known = hashlib.sha256(common), False
        for command in commands.get(source.resolve(), []):
            words = shlex.split(command)
            content.update(command.encode())
            for path in headers.get(words[words.index("-o") + 1], []):
                content.update(digest(build / path))
                known = True
        if known:
            key[source] = content.hexdigest()
    return key


def look(commands, source):
    """@return (findings as printed by clang-tidy, whether there are any)"""
    done = subprocess.run(["clang-tidy", "-p", str(commands), "--quiet", "--warnings-as-errors=*", str(source)], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    return done.stdout or done.stderr, done.returncode != 0  # standard error counts the suppressed warnings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    sources = [pathlib.Path(line) for line in sys.stdin.read().split()]
    key = keys(options.build, sources)
    commands = write_commands(options.build)
    clean_file = options.build / "tidy.clean"
    clean = dict(line.split(" ") for line in clean_file.read_text().splitlines()) if clean_file.exists() else {}
    clean_file.write_text("".join(f"{source} {known}\n" for source, known in clean.items()))
    todo = [source for source in sources if key[source] is None or clean.get(str(source)) != key[source]]
    say(f"{len(todo)} of {len(sources)} files to look at")
    began, found, told = time.monotonic(), [], 0.0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {pool.submit(look, commands, source): source for source in todo}
        try:
            for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
                source, (text, findings) = jobs[job], job.result()
                if findings:
                    found.append(source)
                    print(text, flush=True)
                elif key[source]:
                    with clean_file.open("a") as file:
                        file.write(f"{source} {key[source]}\n")
                elapsed = time.monotonic() - began
                if elapsed - told > 20 or done == len(todo):
                    told = elapsed
                    left = elapsed / done * (len(todo) - done) / 60
                    say(f"{done} of {len(todo)}, {len(found)} with findings, about {left:.0f} min left")
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    if found:
        sys.exit(f"error: clang-tidy has findings in {len(found)} files: {', '.join(map(str, found))}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
