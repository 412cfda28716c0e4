#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A function has at most 60 lines, a file at most 900. Lists in the form of a function (options of a command, keys,
rows of a table) may be longer; their names are in LISTS.

    sizes.py TREE
"""

import pathlib
import re
import sys

MOST_LINES, MOST_FILE_LINES = 60, 900
FOLDERS = ("dsp", "driver", "hostsim", "traces", "src", "include")
LISTS = re.compile(r"\b(add_\w+\(App& |\w+_keys\(\)|transitions\(\))")
HEAD = re.compile(r"( *)\S.*[\w)>] ?\{$|( *)\S.*\) (const|noexcept|override).*\{$")
NO_FUNCTION = re.compile(r"\s*(namespace|struct|class|enum|union|extern|if|for|while|switch|else|do|try|return)\b")


def functions(lines):
    """@return [(line number, lines, first line)] of the functions at the outer level or in a class"""
    out, begin = [], None
    for number, line in enumerate(lines, 1):
        found = HEAD.match(line)
        if begin is None and found and "(" in line and not NO_FUNCTION.match(line) and len(line) - len(line.lstrip()) <= 2:
            begin, end = number, line[: len(line) - len(line.lstrip())] + "}"
        elif begin is not None and line == end:
            out.append((begin, number - begin + 1, lines[begin - 1].strip()))
            begin = None
    return out


def main():
    tree = pathlib.Path(sys.argv[1])
    wrong, seen = [], 0
    for file in sorted(f for folder in FOLDERS for f in (tree / folder).rglob("*") if f.suffix in (".c", ".h", ".cpp")):
        name = file.relative_to(tree)
        lines = file.read_text(encoding="utf-8").splitlines()
        if len(lines) > MOST_FILE_LINES:
            wrong.append(f"{name}: {len(lines)} lines; expected at most {MOST_FILE_LINES}")
        for number, length, head in functions(lines):
            seen += 1
            if length > MOST_LINES and not LISTS.search(head):
                wrong.append(f"{name}:{number}: a function of {length} lines; expected at most {MOST_LINES}: {head}")
    print("\n".join(wrong) or f"{seen} functions")
    return bool(wrong) or seen < 1000


if __name__ == "__main__":
    sys.exit(main())
