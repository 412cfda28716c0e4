#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no row of `offhook reproduce` selects its simulated value by the published one.

    published_answers.py PROGRAM SOURCE_FOLDER CLAIM...

Runs the claims, runs them again from files in which every published result is 20 % higher, and compares. Inputs of a claim
are unchanged. Prints the faults; the exit status is 1 if there are any.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.\"])(\d+(?:\.\d+)?)(?![\w.\"])")
HIGHER = 1.2
# Keys of configurations that happen to have the value of a result.
CONFIGURATION = re.compile(r"\b(of|x_ms|y_ms|bytes|rows|files|repetitions)\s*=\s*$")


def run(program, claims, out):
    command = [program, "reproduce", *claims, "--repeats", "2", "--out", out]
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    assert status.returncode in (0, 2), status.stderr
    return {c["id"]: c["rows"] for c in json.loads(pathlib.Path(out, "results.json").read_text())["claims"]}


def with_other_answers(block, rows):
    """A claim's text with every published result increased. @return the text, and the changed results"""
    inputs = {r["published"] for r in rows if r["provenance"] == "input"}
    results = {r["published"] for r in rows if r["provenance"] != "input" and r["grade"] != "paper"}
    results = {v for v in results if isinstance(v, (int, float)) and v != 0} - inputs
    changed = set()

    def other(match):
        value = float(match[1])
        if value not in results or CONFIGURATION.search(match.string[: match.start()]):
            return match[0]
        changed.add(value)
        return f"{value * HIGHER:.10g}"

    lines = []
    for line in block.splitlines():
        in_words = line.startswith(("id", "seed", "at ", "grade", "  { what", "#"))
        lines.append(line if in_words else NUMBER.sub(other, line))
    return "\n".join(lines) + "\n", changed


def main():
    program, source, *claims = sys.argv[1:]
    before = run(program, claims, "answers-before")
    shutil.copytree(pathlib.Path(source) / "traces/data", "answers-data")
    changed = {}
    for path in pathlib.Path("answers-data/published").glob("*.toml"):
        head, *blocks = path.read_text().split("[[claim]]\n")
        for i, block in enumerate(blocks):
            claim = re.match(r'id = "(.*?)"', block)[1]
            if claim in before:
                blocks[i], changed[claim] = with_other_answers(block, before[claim])
        path.write_text("[[claim]]\n".join([head, *blocks]))
    os.environ["OFFHOOK_DATA_DIR"] = os.path.abspath("answers-data")
    after = run(program, claims, "answers-after")
    wrong, compared, noticed = [], 0, 0
    for claim, rows in before.items():
        for was, now in zip(rows, after[claim], strict=True):
            if was["simulated"] != now["simulated"] and was["provenance"] != "input":
                wrong.append(f"{claim}, {was['what']}: {was['simulated']}, with another answer {now['simulated']}")
            if was["published"] == now["published"] or was["provenance"] == "input" or was["grade"] == "paper":
                continue
            compared += 1
            noticed += was["agrees"] != now["agrees"]
    print(f"{compared} published results 20 % higher: {noticed} rows no longer agree or now do")
    print("\n".join(wrong))
    assert compared > 30 and noticed > 15, "too little was changed"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
