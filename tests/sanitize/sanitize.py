#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fast tests under a sanitizer: `./dev sanitize asan|tsan`.

    sanitize.py BUILD [--threaded RELEASE] [--fresh]

BUILD is a built tree. Tests that have passed in it are not run again until something in it is rebuilt (or with
--fresh). The command can be interrupted at any time, and then resumes.

--threaded omits tests in which no process starts a second thread, because they have no races. A run of all tests in
RELEASE, a built tree without a sanitizer, with threaded.c preloaded shows which tests start one.

Progress goes to standard error. Exit status: 0 all passed, 1 some failed, 130 interrupted.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
CHUNK = 8  # tests per CPU that one ctest runs; an interruption loses at most this many


def say(text):
    print(f"[sanitize] {text}", file=sys.stderr, flush=True)


def ctest(build, *options, **more):
    return subprocess.run(["ctest", "--test-dir", str(build), *options], check=False, **more)


PATIENCE_S = 3000  # for one run of the program in a script of tests/cli


def listed(build, *options):
    shown = ctest(build, "--show-only=json-v1", *options, stdout=subprocess.PIPE, text=True)
    return json.loads(shown.stdout)["tests"]


def tests_of(build):
    """@return [(number, name, command)] of the fast tests, with the numbers of `ctest -I`"""
    number = {test["name"]: at for at, test in enumerate(listed(build), 1)}
    return [(number[test["name"]], test["name"], test.get("command", [])) for test in listed(build, "-L", "fast")]


def stamp(build):
    """A value that changes whenever anything is built."""
    return str((build / ".ninja_log").stat().st_mtime_ns)


def kept(path, wanted):
    """@return the lines of a file whose first line is the stamp, or None"""
    lines = path.read_text().splitlines() if path.exists() else []
    return lines[1:] if lines and lines[0] == wanted else None


def threaded_tests(release, room):
    """@return the names of the tests that start a thread"""
    path = room / "threaded.txt"
    known = kept(path, stamp(release))
    if known is not None:
        return set(known)
    say(f"a run of {release} without a sanitizer: which tests start a thread?")
    library, seen = room / "threaded.so", room / "threaded.seen"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", str(HERE / "threaded.c"), "-o", str(library)], check=True)
    seen.unlink(missing_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(library.resolve()), "OFFHOOK_THREADED": str(seen.resolve())}
    if ctest(release, "-L", "fast", "--output-on-failure", "-j", str(os.cpu_count()), env=environment, stdout=sys.stderr).returncode:
        sys.exit(f"error: tests of {release} fail without a sanitizer; those come first")
    commands = set(seen.read_text().splitlines())
    names = [name for _, name, command in tests_of(release) if "\0".join(command) in commands]
    path.write_text("\n".join([stamp(release), *names]) + "\n")
    return set(names)


def run(build, todo, passed_file):
    """@return names of the failed tests, and of those that did not run"""
    failed, skipped, began, at_once = [], [], time.monotonic(), CHUNK * os.cpu_count()
    report = build / "sanitize.xml"
    for first in range(0, len(todo), at_once):
        chunk = todo[first : first + at_once]
        numbers = ",".join(str(number) for number, _, _ in chunk)
        report.unlink(missing_ok=True)
        ctest(build, "-I", f"0,0,0,{numbers}", "-j", str(os.cpu_count()), "--output-on-failure", "--output-junit",
              str(report.resolve()), stdout=sys.stderr, env={**os.environ, "OFFHOOK_PATIENCE_S": str(PATIENCE_S)})  # fmt: skip
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            {"fail": failed, "notrun": skipped}.get(case.get("status"), []).append(case.get("name"))
            if case.get("status") == "run":
                with passed_file.open("a") as file:
                    file.write(case.get("name") + "\n")
        done = first + len(chunk)
        left = (time.monotonic() - began) / done * (len(todo) - done) / 60
        say(f"{done} of {len(todo)}, {len(failed)} failed, about {left:.0f} min left")
    return failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threaded", metavar="RELEASE", type=pathlib.Path)
    parser.add_argument("--fresh", action="store_true", help="run what has passed already, too")
    options = parser.parse_args()
    tests = tests_of(options.build)
    if options.threaded:
        threaded = threaded_tests(options.threaded, options.build)
        say(f"{len(threaded)} of {len(tests)} tests start a thread")
        tests = [test for test in tests if test[1] in threaded]
    passed_file = options.build / "sanitize.passed"
    passed = None if options.fresh else kept(passed_file, stamp(options.build))
    if passed is None:
        passed_file.write_text(stamp(options.build) + "\n")
    todo = [test for test in tests if test[1] not in set(passed or ())]
    say(f"{len(todo)} of {len(tests)} tests to run")
    began = time.monotonic()
    failed, skipped = run(options.build, todo, passed_file)
    say(f"{len(tests) - len(failed) - len(skipped)} of {len(tests)} tests passed; {(time.monotonic() - began) / 60:.0f} minutes")
    if skipped:
        say(f"{len(skipped)} did not run: {', '.join(skipped)}")
    if failed:
        sys.exit(f"error: {len(failed)} tests failed: {', '.join(failed)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
