#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every requirement of a checklist has a grade and tests that can fail, or is in CAVEATS.md.

    checklist_test.py CHECKLIST SOURCE_DIR [PROGRAM...]

A line is an identifier, a grade and the names of tests:
    foreign   agrees with signals or bits of other modems: recorded calls, captures vector    independent values: a
    printed table, a worked example, another implementation, a number or a
              waveform of the Recommendation that is measured ours      the two ends of Offhook agree; nothing
    else is known open      not shown: CAVEATS.md has the reason under "[identifier]"; tests of a part may be
    named
A whole list may be without grades; "-" then means open.

A named test must exist, must not be disabled, and must assert something in its body or in a function of its file that
it calls. PROGRAM, which must contain them, runs tests that may skip themselves. A skipped test is a failure unless its
recordings are missing on this machine, which is reported.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

GRADES = ("foreign", "vector", "ours", "open")
ASSERTION = re.compile(r"\b(EXPECT|ASSERT)_\w+\(|\b(ADD_FAILURE|FAIL)\(")
HEAD = re.compile(r"^(?:TYPED_)?TEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\s*\)\s*\{", re.M)
FUNCTION = re.compile(r"^[\w:<>&*,\s\[\]]*?\b(\w+)\([^;{}]*\)\s*(?:const\s*)?\{", re.M)


def body(text, brace):
    """From an opening brace to the closing one, by counting; strings and comments of tests have them in pairs."""
    depth = 0
    for at in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[brace : at + 1]
    return text[brace:]


class Tests:
    """The tests of the tree by name: their bodies, and the assertions of functions in their file."""

    def __init__(self, folder):
        self.bodies = {}
        helpers = {}
        for path in sorted(folder.rglob("*.h")):
            helpers.update(self.functions(path.read_text(encoding="utf-8")))
        for path in sorted(folder.rglob("*.cpp")):
            text = path.read_text(encoding="utf-8")
            own = {**helpers, **self.functions(text)}
            for m in HEAD.finditer(text):
                self.bodies[f"{m[1]}.{m[2]}"] = (body(text, m.end() - 1), own)

    @staticmethod
    def functions(text):
        return {m[1]: body(text, m.end() - 1) for m in FUNCTION.finditer(text) if not m[1].startswith("TEST")}

    def asserts(self, name, depth=2):
        text, helpers = self.bodies[name]
        seen = [text]
        for _ in range(depth):
            if any(ASSERTION.search(t) for t in seen):
                return True
            seen = [helpers[f] for t in seen for f in set(re.findall(r"\b(\w+)\(", t)) if f in helpers]
        return any(ASSERTION.search(t) for t in seen)

    def may_skip(self, name):
        return re.search(r"GTEST_SKIP|NEEDS_RECORDINGS", self.bodies[name][0]) is not None


def skipped(programs, names):
    """Those of `names` that PROGRAM skips, and those that no program has."""
    left, skips = set(names), set()
    for program in programs:
        pattern = ":".join(f"{n}:{n}/*:*/{n}:*/{n}/*" for n in sorted(names))
        done = subprocess.run([program, f"--gtest_filter={pattern}"], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            m = re.match(r"\[ *(OK|SKIPPED|FAILED) *\] ([\w./]+)", line)
            if not m:
                continue
            suite, test = m[2].split(".")[:2]
            for name in [f"{part}.{test.split('/')[0]}" for part in suite.split("/")]:
                left.discard(name)
                if m[1] == "SKIPPED" and name in names:
                    skips.add(name)
    return skips, left


def have_recordings():
    at = os.environ.get("OFFHOOK_RECORDINGS")
    if at:
        return pathlib.Path(at).exists()
    return any((p / "shared" / "recordings").exists() for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents])


def main():
    checklist, source, programs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    tests = Tests(source / "tests")
    caveats = (source / "CAVEATS.md").read_text(encoding="utf-8")
    failures, seen, grades, may_skip = [], set(), collections.Counter(), set()
    for number, line in enumerate(checklist.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where, (name, *rest) = f"{checklist.name}:{number}", words
        grade, names = (rest[0], rest[1:]) if rest else ("", [])
        if grade == "-":
            grade = "open"
        elif "." in grade:
            grade, names = "ungraded", rest
        if name in seen:
            failures.append(f"{where}: {name} twice")
        seen.add(name)
        if grade not in (*GRADES, "ungraded"):
            failures.append(f"{where}: {name}: expected a grade ({', '.join(GRADES)}), got {grade or 'nothing'}")
            continue
        grades[grade] += 1
        if grade == "open" and f"[{name}]" not in caveats:
            failures.append(f"{where}: {name} is open and CAVEATS.md does not say why: expected \"[{name}]\" there")
        if grade != "open" and not names:
            failures.append(f"{where}: {name}: expected tests")
        for test in names:
            if test not in tests.bodies:
                failures.append(f"{where}: {name}: there is no test {test}")
            elif test.split(".")[1].startswith("DISABLED_"):
                failures.append(f"{where}: {name}: {test} is disabled")
            elif not tests.asserts(test):
                failures.append(f"{where}: {name}: {test} asserts nothing")
            elif tests.may_skip(test):
                may_skip.add(test)
    if programs and may_skip and have_recordings():
        skips, absent = skipped(programs, may_skip)
        failures += [f"{test} was skipped" for test in sorted(skips)]
        failures += [f"{test} is in none of the programs" for test in sorted(absent)]
    elif may_skip:
        why = "no recordings on this machine" if programs else "no program given"
        print(f"not run, {why}: {', '.join(sorted(may_skip))}")
    graded = sum(grades[g] for g in GRADES if g != "open")
    if grades["ungraded"] and graded:
        failures.append(f"{checklist.name}: {graded} are graded and {grades['ungraded']} are not")
    if not seen:
        failures.append(f"{checklist} lists nothing")
    print(f"{len(seen)} requirements: " + ", ".join(f"{grades[g]} {g}" for g in (*GRADES, "ungraded") if grades[g]))
    for failure in failures:
        print("FAIL:", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
