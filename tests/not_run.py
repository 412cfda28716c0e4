#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints one line that names each test that did not run, with the reason, from JUnit files of ctest.

Usage: not_run.py FILE [FILE ...]. Tests with the same reason are listed together. Exit status: 0; 1 if a FILE cannot be read.
"""
import re
import sys
import xml.etree.ElementTree

GTEST_SKIP = re.compile(r"^\S+:\d+: Skipped\s*\n(.*?)\s*^\[", re.MULTILINE | re.DOTALL)


def reason(case):
    """@return why this test case did not run: in the test's own words, or otherwise in those of ctest"""
    output = (case.findtext("system-out") or "").strip()
    found = GTEST_SKIP.search(output)
    if found and found.group(1):
        return " ".join(found.group(1).split())
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = [line for line in lines if "skip" in line.lower()] or lines
    if said:
        return re.sub(r"^skipped: ", "", said[-1], flags=re.IGNORECASE)
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else None) or "no reason given"


def main(paths):
    """@return the exit status"""
    cases = []
    for path in paths:
        try:
            cases += xml.etree.ElementTree.parse(path).getroot().iter("testcase")
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            print(f"error: {path}: {error}; expected a JUnit file of ctest", file=sys.stderr)
            return 1
    if not cases:  # ctest -N
        return 0
    absent = {}
    for case in cases:
        if case.get("status") not in ("run", "fail"):
            absent.setdefault(reason(case), []).append(case.get("name"))
    count = sum(len(names) for names in absent.values())
    if count == 0:
        print(f"All {len(cases)} tests ran.")
    else:
        groups = "; ".join(f"{', '.join(names)} ({why})" for why, names in absent.items())
        print(f"{count} of {len(cases)} tests did not run: {groups}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
