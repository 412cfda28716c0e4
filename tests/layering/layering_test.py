#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the rooms promise, against the tree.

    layering_test.py CLAIM --rooms FILE --source DIR --build DIR --compiler CXX

CLAIM is the name of a function below. FILE is written by CMake: a line for each room, in the order of declaration, with
`path|what it USES|all that it sees|its public headers`, each a list of words.

    layering_test.py write_map ..    rewrites the table of rooms in ARCHITECTURE.md: folders and "may use"
"""
import argparse
import os
import re
import subprocess
import sys

HOUSE = ["include", "dsp", "driver", "hostsim", "traces", "src", "tests"]
# What stands further down may include what stands further up.
FLOORS = ["dsp", "driver", "hostsim", "traces", "src"]


class Room:
    def __init__(self, line):
        self.path, *lists = line.rstrip("\n").split("|")
        self.uses, self.sees, self.headers = (words.split() for words in lists)
        self.root = self.path.replace("/", "_")


def read_rooms(path):
    with open(path, encoding="utf-8") as lines:
        return [Room(line) for line in lines]


def headers_of(args, folder):
    return sorted(name for name in os.listdir(f"{args.source}/{folder}") if name.endswith(".h"))


def preprocess(args, room, text):
    root = f"{args.build}/rooms/{room.root}"  # as the room is compiled; an include in quotes looks where it stands first
    return subprocess.run([args.compiler, "-E", "-std=c++20", "-x", "c++", "-I", ".", "-o", os.devnull, "-"], input=text,
                          cwd=root, capture_output=True, text=True, timeout=60, check=False)


def tree(args):
    """Files that are kept; without git (a release), all that lie in the house."""
    listed = subprocess.run(["git", "-C", args.source, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [f for f in listed.stdout.split("\n") if f and os.path.exists(f"{args.source}/{f}")]
    found = []
    for top in HOUSE:
        for folder, _, files in os.walk(f"{args.source}/{top}"):
            found += [os.path.relpath(f"{folder}/{f}", args.source) for f in files]
    return found


def wrong_includes_fail(args, rooms):
    """Each room in turn: a header of a room that it does not use is not found, one of its own or of a used one is."""
    public = sorted({h for room in rooms for h in room.headers})
    wrong = []
    for turn, room in enumerate(rooms):
        others = [f"{other.path}/{h}" for other in rooms if other.path not in room.sees
                  for h in headers_of(args, other.path)]
        others += [f"offhook/{h}" for h in public if h not in room.headers]
        seen = [f"{path}/{h}" for path in room.sees for h in headers_of(args, path)]
        seen += [f"offhook/{h}" for h in room.headers]
        text = "".join(f'#if __has_include("{h}")\n#error reaches {h}\n#endif\n' for h in others)
        text += "".join(f'#if !__has_include("{h}")\n#error misses {h}\n#endif\n' for h in seen)
        result = preprocess(args, room, text)
        wrong += [f"{room.path} {line.split('#error ')[1]}" for line in result.stderr.split("\n") if "#error " in line]
        if result.returncode != 0 and not wrong:
            wrong.append(f"{room.path}: {result.stderr}")
        # The same once more as people write it.
        if others:
            deliberate = others[turn % len(others)]
            result = preprocess(args, room, f'#include "{deliberate}"\n')
            if result.returncode == 0 or "No such file" not in result.stderr and "not found" not in result.stderr:
                wrong.append(f'{room.path}: #include "{deliberate}" did not fail: {result.stderr}')
        # Freestanding headers need nothing else: they must pass.
        allowed = next((h for h in seen if h.startswith(("dsp/blocks/", "dsp/pump/", "offhook/"))), None)
        if allowed is not None:
            result = preprocess(args, room, f'#include "{allowed}"\n')
            if result.returncode != 0:
                wrong.append(f'{room.path}: #include "{allowed}" fails: {result.stderr}')
    return wrong


def rooms_use_lower_floors_only(_args, rooms):
    return [f"{room.path} uses {used}" for room in rooms for used in room.uses
            if FLOORS.index(used.split("/")[0]) > FLOORS.index(room.path.split("/")[0])]


def every_folder_of_sources_is_a_room(args, rooms):
    declared = {room.path for room in rooms}
    folders = {os.path.dirname(f) for f in tree(args) if f.split("/")[0] in FLOORS and f.endswith((".c", ".cpp", ".h"))}
    programs = {"src/program", "src/measure/exec"}  # main(), which links rooms; and one that is started to be measured
    optional = {"dsp/fftw", "dsp/radio", "hostsim/air"}
    kernel = {"driver/linux", "driver/linux/include"}  # compiled by Kbuild, against the kernel's headers
    return [f"{folder} is no room" for folder in sorted(folders - declared - programs - optional - kernel)]


def nothing_is_included_by_a_way_out(args, _rooms):
    """An include that begins with .. would leave the room."""
    wrong = []
    for f in tree(args):
        if not f.endswith((".c", ".cpp", ".h", ".inc")):
            continue
        with open(f"{args.source}/{f}", encoding="utf-8") as text:
            wrong += [f"{f}:{n}: {line.strip()}" for n, line in enumerate(text, 1) if re.match(r'\s*#\s*include\s*["<]\.\.', line)]
    return wrong


def no_path_of_a_machine_is_in_the_tree(args, _rooms):
    path = re.compile(rb"(?<![\w./~$}-])/(?:work|home|farm|root)/[\w.]")
    wrong = []
    for f in tree(args):
        if f == "tests/layering/layering_test.py" or os.path.islink(f"{args.source}/{f}"):
            continue
        with open(f"{args.source}/{f}", "rb") as text:
            wrong += [f"{f}:{n}: {line.strip()[:100].decode(errors='replace')}"
                      for n, line in enumerate(text, 1) if path.search(line)]
    return wrong


def no_file_has_more_than_500_lines(args, _rooms):
    """Of sources, tests among them: a longer one is usually two ideas (CONTRIBUTING.md)."""
    wrong = []
    for f in tree(args):
        if f.endswith((".c", ".cpp", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt")) or f == "dev":
            with open(f"{args.source}/{f}", encoding="utf-8") as text:
                if (n := sum(1 for _ in text)) > 500:
                    wrong.append(f"{f} has {n} lines")
    return wrong


ROW = re.compile(r"^\| `([^`]+)/` \|(.*)\|([^|]*)\|$")


def map_rows(args):
    """(line, folder, what lives there, may use) of each row of the table of rooms."""
    with open(f"{args.source}/ARCHITECTURE.md", encoding="utf-8") as text:
        lines = text.read().split("\n")
    rows = [(n, *(part.strip() for part in m.groups())) for n, line in enumerate(lines) if (m := ROW.match(line))]
    return lines, rows


def may_use(room):
    return ", ".join(room.uses) if room.uses else "nothing"


def architecture_names_every_folder(args, rooms):
    """Folders with files, that is. tests/unit mirrors the tree: it is named once, and each folder below it must have its original."""
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
    declared = {room.path: room for room in rooms}
    for _, folder, _, uses in rows:
        if folder in declared and uses != may_use(declared[folder]):
            wrong.append(f"ARCHITECTURE.md: {folder} uses {may_use(declared[folder])}, not {uses}")
    return wrong


def write_map(args, rooms):
    lines, rows = map_rows(args)
    declared = {room.path: room for room in rooms}
    for n, folder, lives, uses in rows:
        uses = may_use(declared[folder]) if folder in declared else uses
        lines[n] = f"| `{folder}/` | {lives} | {uses} |"
    with open(f"{args.source}/ARCHITECTURE.md", "w", encoding="utf-8") as text:
        text.write("\n".join(lines))
    return architecture_names_every_folder(args, rooms)


CLAIMS = [wrong_includes_fail, rooms_use_lower_floors_only, every_folder_of_sources_is_a_room,
          nothing_is_included_by_a_way_out, no_path_of_a_machine_is_in_the_tree, no_file_has_more_than_500_lines, architecture_names_every_folder,
          write_map]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claim", choices=[f.__name__ for f in CLAIMS])
    for name in ("rooms", "source", "build", "compiler"):
        parser.add_argument(f"--{name}", required=True, type=str if name == "compiler" else os.path.abspath)
    args = parser.parse_args()
    rooms = read_rooms(args.rooms)
    if not rooms:
        sys.exit(f"{args.rooms} names no room")
    wrong = next(f for f in CLAIMS if f.__name__ == args.claim)(args, rooms)
    for line in wrong:
        print(line)
    print(f"{args.claim}: {len(rooms)} rooms, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
