#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For text_keys_test.sh: compares the documents of csv.txt and json.txt in this folder with csv.NAME/ and json.NAME/, the
output of commands. Each written column and key must be described, and each described one written unless it is marked "?". A
decoded call has only some of its keys (json_test.cpp writes all). docs/formats.md, the first argument, must contain both
texts, except decode, which has its own page. Documents named after it are omitted. `--write PAGE PROGRAM` writes both texts
into the page.
"""

import csv
import itertools
import json
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r"  (\S+?)(\?(?=[: ]))?(?: \(([^)]+)\))?: (\S.*)$")
APART = re.compile(r"\(keys: ([a-z-]+)\)$")
SOME = {"decode", "trunk-test"}
ELSEWHERE = {"line", "kernel"}  # need two modems, and a virtual machine (tests/live/vm/bench.py)


def documents(text):
    """@return {document: [(path, whether it may be missing)]}. A part described elsewhere has its keys inserted"""
    out, parts = {}, {}
    for line in filter(None, text.splitlines()):
        if not line.startswith(" "):
            keys = (parts if ": parts of several documents" in line else out).setdefault(line.split(":")[0], [])
        else:
            found = LINE.match(line)
            assert found, f"not a line of a document: {line}"
            keys.append((found[1], bool(found[2]) or "?" in found[1], APART.search(found[4])))
    return {
        name: [
            (path.removesuffix("**") + below, optional or may_be_missing)
            for path, optional, apart in keys
            for below, may_be_missing, _ in (parts[apart[1]] if apart else [("**" if path.endswith("**") else "", False, None)])
        ]
        for name, keys in out.items()
    }


def alternatives(path):
    """{a,b}.c is a.c and b.c"""
    parts = [p.split(",") for p in re.split(r"[{}]", path)]
    parts = [p if i % 2 else [",".join(p)] for i, p in enumerate(parts)]
    return ["".join(words) for words in itertools.product(*parts)]


def pattern(path):
    text = re.escape(path.replace("?", "")).replace(r"\*\*", ".+").replace(r"\*", r"[^\[\]]+")
    return re.compile(text + "$")


def paths(value, at=""):
    """For every value that is not an object or list; an empty one has none."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from paths(below, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for below in value:
            yield from paths(below, at + "[]")
    else:
        yield at


def written(kind, name):
    """@return {path} in all samples, and the paths of an axis, which belong to no document"""
    out = set()
    for file in sorted(pathlib.Path(f"{kind}.{name}").iterdir()):
        text = file.read_text(encoding="utf-8")
        out |= set(next(csv.reader(text.splitlines()))) if kind == "csv" else set(paths(json.loads(text)))
    return {key for key in out if not key.startswith("context.")} if (kind, name) == ("csv", "sweep") else out


def differences(kind, name, keys, found):
    """@param keys  from documents()  @param found  {path} that were written  @return faults, one line each"""
    described = [(pattern(p), p, optional) for path, optional in keys for p in alternatives(path)]
    return [f"keys {kind}: {name} writes {f}" for f in sorted(found) if not any(d.match(f) for d, _, _ in described)] + [
        f"keys {kind}: {name} never writes {p}" for d, p, optional in described
        if not optional and name not in SOME and not any(d.match(f) for f in found)]  # fmt: skip


def for_page(text):
    return re.sub(r"\n\ndecode: .*?(?=\n\n|$)", "", text.strip("\n"), flags=re.DOTALL)


def write(page, program):
    """Each list of the page, between "```text" after its heading and "```", as printed by the program."""
    text = page.read_text(encoding="utf-8")
    for heading, kind in (("## Columns\n", "csv"), ("## Keys\n", "json")):
        said = subprocess.run([program, "help", "keys", kind], check=True, capture_output=True, text=True).stdout
        begin = text.index("```text\n", text.index(heading)) + len("```text\n")
        text = text[:begin] + for_page(said) + "\n" + text[text.index("```", begin) :]
    page.write_text(text, encoding="utf-8")


def main():
    if sys.argv[1] == "--write":
        return write(pathlib.Path(sys.argv[2]), sys.argv[3])
    left_out = ELSEWHERE | set(sys.argv[2:])
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    wrong = []
    for kind in ("csv", "json"):
        text = pathlib.Path(f"{kind}.txt").read_text(encoding="utf-8")
        if "```text\n" + for_page(text) + "\n```" not in page:
            wrong.append(f"docs/formats.md does not have what `offhook help keys {kind}` prints")
        for name, keys in documents(text).items():
            if name not in left_out:
                wrong += differences(kind, name, keys, written(kind, name))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
