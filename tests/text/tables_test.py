#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every table of every Markdown file is a table in Python-Markdown, which builds `./dev docs`.

    tables_test.py SOURCE

Detects three faults: a row that renders as text with pipes; a row with more or fewer cells than its header, where a renderer silently drops or empties cells; and a
heading that includes the paragraph below it. Exit status 77 without Python-Markdown (skipped).
"""

import pathlib
import re
import subprocess
import sys

try:
    import markdown
except ImportError:
    print("skipped: no Python-Markdown (Debian package python3-markdown)")
    sys.exit(77)

LONGEST_HEADING = 90  # characters


def cells(row: str) -> int:
    """Cells of a row as GitHub counts them: a pipe separates unless a backslash precedes it, even in code spans."""
    return len(re.findall(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))) + 1


def faults(text: str) -> list[str]:
    found = []
    rendered = markdown.markdown(text, extensions=["tables", "fenced_code", "admonition", "attr_list"])
    prose = re.sub(r"<pre>.*?</pre>|<code>.*?</code>", "", rendered, flags=re.DOTALL)
    for line in re.sub(r"<[^>]*>", "", prose).splitlines():
        if line.lstrip().startswith("|"):
            found.append(f"renders as text: {line.strip()[:80]}")
    fenced, header = False, 0
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#") and (len(line) > LONGEST_HEADING or line.endswith(".")):
            found.append(f"line {number}: a paragraph in a heading: {line[:60]}")
        if fenced or not line.startswith("|"):
            header = 0
        elif not header:
            header = cells(line)
        elif cells(line) != header:
            found.append(f"line {number}: {cells(line)} cells, its header has {header}: {line[:60]}")
    return found


def main() -> int:
    for bad in ("a\n\n| a | b |\n|---|---|\n| `x|y` | z |\n", "| a | b |\n| c | d |\n", "# A heading. " + "word " * 20):
        assert faults(bad), f"this fault goes unnoticed: {bad!r}"
    assert not faults("| a | b |\n|---|---|\n| `x\\|y` | z |\n")
    source = pathlib.Path(sys.argv[1])
    names = subprocess.run(["git", "-C", source, "ls-files", "*.md"], capture_output=True, check=True, text=True).stdout
    count = 0
    for name in names.split():
        for fault in faults((source / name).read_text()):
            print(f"{name}: {fault}")
            count += 1
    print(f"{len(names.split())} files, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
