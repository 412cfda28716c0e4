#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rules for modules against the tree.

    layering_test.py CLAIM --modules FILE --source DIR --build DIR --compiler CXX

CLAIM is the name of a function below. FILE is written by CMake: a line for each module, in the order of declaration, with
`path|what it USES|all that it sees|its public headers`, each a list of words.

    layering_test.py write_map ..    rewrites the table of modules in ARCHITECTURE.md: folders and "may use"
"""
import argparse
import os
import re
import subprocess
import sys

HOUSE = ["include", "dsp", "driver", "hostsim", "traces", "src", "tests"]
# Lower entries may include higher ones.
FLOORS = ["dsp", "driver", "hostsim", "traces", "src"]


class Module:
    def __init__(self, line):
        self.path, *lists = line.rstrip("\n").split("|")
        self.uses, self.sees, self.headers = (words.split() for words in lists)
        self.root = self.path.replace("/", "_")


def read_modules(path):
    with open(path, encoding="utf-8") as lines:
        return [Module(line) for line in lines]


def headers_of(args, folder):
    return sorted(name for name in os.listdir(f"{args.source}/{folder}") if name.endswith(".h"))


def preprocess(args, module, text):
    root = f"{args.build}/modules/{module.root}"  # compiled as the module; a quoted include searches its own folder first
    return subprocess.run([args.compiler, "-E", "-std=c++20", "-x", "c++", "-I", ".", "-o", os.devnull, "-"], input=text,
                          cwd=root, capture_output=True, text=True, timeout=60, check=False)


def tree(args):
    """Files in git; without git (a release), all files of the project."""
    listed = subprocess.run(["git", "-C", args.source, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [f for f in listed.stdout.split("\n") if f and os.path.exists(f"{args.source}/{f}")]
    found = []
    for top in HOUSE:
        for folder, _, files in os.walk(f"{args.source}/{top}"):
            found += [os.path.relpath(f"{folder}/{f}", args.source) for f in files]
    return found


def wrong_includes_fail(args, modules):
    """For each module: headers of an unused module are not found, but its own and those of used modules are."""
    public = sorted({h for module in modules for h in module.headers})
    wrong = []
    for turn, module in enumerate(modules):
        others = [f"{other.path}/{h}" for other in modules if other.path not in module.sees
                  for h in headers_of(args, other.path)]
        others += [f"offhook/{h}" for h in public if h not in module.headers]
        seen = [f"{path}/{h}" for path in module.sees for h in headers_of(args, path)]
        seen += [f"offhook/{h}" for h in module.headers]
        text = "".join(f'#if __has_include("{h}")\n#error reaches {h}\n#endif\n' for h in others)
        text += "".join(f'#if !__has_include("{h}")\n#error misses {h}\n#endif\n' for h in seen)
        result = preprocess(args, module, text)
        wrong += [f"{module.path} {line.split('#error ')[1]}" for line in result.stderr.split("\n") if "#error " in line]
        if result.returncode != 0 and not wrong:
            wrong.append(f"{module.path}: {result.stderr}")
        # The same in the form in which people write it.
        if others:
            deliberate = others[turn % len(others)]
            result = preprocess(args, module, f'#include "{deliberate}"\n')
            if result.returncode == 0 or "No such file" not in result.stderr and "not found" not in result.stderr:
                wrong.append(f'{module.path}: #include "{deliberate}" did not fail: {result.stderr}')
        # Freestanding headers need nothing else, so they must pass.
        allowed = next((h for h in seen if h.startswith(("dsp/blocks/", "dsp/pump/", "offhook/"))), None)
        if allowed is not None:
            result = preprocess(args, module, f'#include "{allowed}"\n')
            if result.returncode != 0:
                wrong.append(f'{module.path}: #include "{allowed}" fails: {result.stderr}')
    return wrong


def modules_use_lower_floors_only(_args, modules):
    return [f"{module.path} uses {used}" for module in modules for used in module.uses
            if FLOORS.index(used.split("/")[0]) > FLOORS.index(module.path.split("/")[0])]


def every_folder_of_sources_is_a_module(args, modules):
    declared = {module.path for module in modules}
    folders = {os.path.dirname(f) for f in tree(args) if f.split("/")[0] in FLOORS and f.endswith((".c", ".cpp", ".h"))}
    programs = {"src/program", "src/measure/exec"}  # main(), which links modules; and one that is started to be measured
    optional = {"dsp/fftw", "dsp/radio", "hostsim/air"}
    kernel = {"driver/linux", "driver/linux/include"}  # compiled by Kbuild with the kernel's headers
    return [f"{folder} is no module" for folder in sorted(folders - declared - programs - optional - kernel)]


def nothing_is_included_by_a_way_out(args, _modules):
    """An include that begins with ".." would leave the module."""
    wrong = []
    for f in tree(args):
        if not f.endswith((".c", ".cpp", ".h", ".inc")):
            continue
        with open(f"{args.source}/{f}", encoding="utf-8") as text:
            wrong += [f"{f}:{n}: {line.strip()}" for n, line in enumerate(text, 1) if re.match(r'\s*#\s*include\s*["<]\.\.', line)]
    return wrong


def precompiled_headers_are_of_libraries(args, _modules):
    """A precompiled header with one of Offhook's headers would let a module see what it does not use."""
    wrong = []
    for folder, _, files in os.walk(args.build):
        for f in files:
            if f == "cmake_pch.hxx":
                with open(f"{folder}/{f}", encoding="utf-8") as text:
                    wrong += [f"{folder}/{f}: {line.strip()}" for line in text if line.startswith("#include") and
                              (not line.startswith("#include <") or re.match(rf"#include <({'|'.join(HOUSE)}|offhook)/", line))]
    return wrong


def no_path_of_a_machine_is_in_the_tree(args, _modules):
    path = re.compile(rb"(?<![\w./~$}-])/(?:work|home|farm|root)/[\w.]")
    wrong = []
    for f in tree(args):
        if f == "tests/layering/layering_test.py" or os.path.islink(f"{args.source}/{f}"):
            continue
        with open(f"{args.source}/{f}", "rb") as text:
            wrong += [f"{f}:{n}: {line.strip()[:100].decode(errors='replace')}"
                      for n, line in enumerate(text, 1) if path.search(line)]
    return wrong


def no_file_names_a_path_outside_the_tree(args, _modules):
    """The test files that skip without recordings or DSL data may name the folder next to the project."""
    allowed = {"tests/recordings.h", "tests/unit/hostsim/channel/dsl_reference.h", "tests/checklist/checklist_test.py",
               "tests/layering/layering_test.py"}
    path = re.compile(rb"(?<![\w./-])(?:\.\./)?(?:shared/\w|\.\./\.library)")
    wrong = []
    for f in tree(args):
        if f in allowed or f.startswith("tests/fuzz/corpus/") or os.path.islink(f"{args.source}/{f}"):
            continue
        with open(f"{args.source}/{f}", "rb") as text:
            wrong += [f"{f}:{n}: {line.strip()[:100].decode(errors='replace')}"
                      for n, line in enumerate(text, 1) if path.search(line)]
    return wrong


def no_file_has_more_than_900_lines(args, _modules):
    """Sources, including tests: a longer file usually contains two ideas (CONTRIBUTING.md)."""
    wrong = []
    for f in tree(args):
        if f.endswith((".c", ".cpp", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt")) or f == "dev":
            with open(f"{args.source}/{f}", encoding="utf-8") as text:
                if (n := sum(1 for _ in text)) > 900:
                    wrong.append(f"{f} has {n} lines")
    return wrong


ROW = re.compile(r"^\| `([^`]+)/` \|(.*)\|([^|]*)\|$")


def map_rows(args):
    """(line, folder, content, may use) of each row of the table of modules."""
    with open(f"{args.source}/ARCHITECTURE.md", encoding="utf-8") as text:
        lines = text.read().split("\n")
    rows = [(n, *(part.strip() for part in m.groups())) for n, line in enumerate(lines) if (m := ROW.match(line))]
    return lines, rows


def may_use(module):
    return ", ".join(module.uses) if module.uses else "nothing"


def architecture_names_every_folder(args, modules):
    """Folders that contain files. tests/unit mirrors the tree: it is named once, and each of its folders must have an original."""
    _, rows = map_rows(args)
    named = [row[1] for row in rows]
    folders = {os.path.dirname(f) for f in tree(args) if f.split("/")[0] in HOUSE and not f.endswith("CMakeLists.txt")
               and not f.startswith("tests/fuzz/corpus/")}
    mirrored = {f for f in folders if f.startswith("tests/unit/")}
    below = {"/".join(f.split("/")[:n]) for f in folders for n in range(1, f.count("/") + 2)}
    wrong = [f"{f} is not named in ARCHITECTURE.md" for f in sorted(folders - mirrored - set(named))]
    wrong += [f"ARCHITECTURE.md names {f}, which has no files" for f in named if f not in below]
    wrong += [f"ARCHITECTURE.md names {f} twice" for f in sorted({f for f in named if named.count(f) > 1})]
    wrong += [f"{f} mirrors no folder" for f in sorted(mirrored) if not os.path.isdir(f"{args.source}/{f[len('tests/unit/'):]}")]
    declared = {module.path: module for module in modules}
    for _, folder, _, uses in rows:
        if folder in declared and uses != may_use(declared[folder]):
            wrong.append(f"ARCHITECTURE.md: {folder} uses {may_use(declared[folder])}, not {uses}")
    return wrong


def write_map(args, modules):
    lines, rows = map_rows(args)
    declared = {module.path: module for module in modules}
    for n, folder, lives, uses in rows:
        uses = may_use(declared[folder]) if folder in declared else uses
        lines[n] = f"| `{folder}/` | {lives} | {uses} |"
    with open(f"{args.source}/ARCHITECTURE.md", "w", encoding="utf-8") as text:
        text.write("\n".join(lines))
    return architecture_names_every_folder(args, modules)


CLAIMS = [wrong_includes_fail, modules_use_lower_floors_only, every_folder_of_sources_is_a_module,
          nothing_is_included_by_a_way_out, precompiled_headers_are_of_libraries, no_path_of_a_machine_is_in_the_tree,
          no_file_names_a_path_outside_the_tree, no_file_has_more_than_900_lines, architecture_names_every_folder,
          write_map]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claim", choices=[f.__name__ for f in CLAIMS])
    for name in ("modules", "source", "build", "compiler"):
        parser.add_argument(f"--{name}", required=True, type=str if name == "compiler" else os.path.abspath)
    args = parser.parse_args()
    modules = read_modules(args.modules)
    if not modules:
        sys.exit(f"{args.modules} names no module")
    wrong = next(f for f in CLAIMS if f.__name__ == args.claim)(args, modules)
    for line in wrong:
        print(line)
    print(f"{args.claim}: {len(modules)} modules, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
