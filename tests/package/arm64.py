#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages for arm64, built by Debian's cross compiler in a chroot of Debian 12: `./dev package arm64`.

The chroot in build/package/arm64/root is reused, as are objects of the same commit. Three steps:

1. `dpkg-buildpackage -aarm64`; the packages are put into out/packages, and lintian checks them.
2. The unit tests of the same tree and flags, with the objects of the packages, under qemu-aarch64: suite by suite,
   without those that have already passed. A test that needs a Linux feature missing in qemu-user is listed with it.
3. With the packages installed, a call with the program under qemu-aarch64: verdict, line and log against those
   of the amd64 package.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time

import package

ROOM = package.STAGE / "arm64"
CHROOT = ROOM / "root"
TESTS = ("unit_dsp", "unit_driver", "unit_hostsim", "unit_traces", "unit_src", "loopback")
TOOLS = "build-essential crossbuild-essential-arm64 qemu-user debhelper cmake ninja-build pkg-config fakeroot lintian"


SETTINGS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive"}  # fmt: skip


def command(script):
    """Runs a shell script in the chroot, with /proc and some devices of this machine."""
    return ["unshare", "--mount", "sh", "-c",
            'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" sh -euc "$1"', str(CHROOT), script]  # fmt: skip


def inside(script, environment=None, **options):
    """@return the script's output, if `stdout` requests it"""
    return package.run(*command(script), env={**SETTINGS, **(environment or {})}, **options)


def make_chroot():
    if (ROOM / "ready").exists():
        return
    shutil.rmtree(CHROOT, ignore_errors=True)
    package.say(f"a chroot of {package.SUITE} with a cross compiler")
    package.run("mmdebstrap", "--variant=apt", "--quiet", "--architectures=amd64,arm64",
                f"--include={','.join(TOOLS.split())}", package.SUITE, CHROOT)  # fmt: skip
    (ROOM / "ready").touch()


def build(tree, commit):
    environment = package.environment_of(commit)
    settings = {name: environment[name] for name in ("DEB_BUILD_OPTIONS", "SOURCE_DATE_EPOCH")}
    where = f"/build/{tree.name}"
    inside(f"apt-get update -qq && cd {where} && apt-get build-dep -qq --no-install-recommends --host-architecture arm64 ./ >/dev/null")
    package.say(f"building {tree.name} for arm64")
    inside(f"cd {where} && dpkg-buildpackage -aarm64 -Pcross,nocheck -us -uc -B -nc", settings)
    package.OUT.mkdir(parents=True, exist_ok=True)
    for made in tree.parent.glob("*_arm64.*"):
        shutil.copy(made, package.OUT)
    inside("lintian --fail-on error,warning --tag-display-limit 0 /build/*_arm64.changes")
    package.no_path_inside(tree, "*_arm64.deb", where)


def listed(tree, name, pattern="*"):
    return inside(f"qemu-aarch64 /build/{tree.name}/build/debian/tests/{name} --gtest_list_tests --gtest_filter='{pattern}'",
                  stdout=subprocess.PIPE, text=True).splitlines()  # fmt: skip


def suites(tree, name):
    """The test suites of a program, as it lists them."""
    return [line.split(".")[0] for line in listed(tree, name) if line and not line.startswith((" ", "Running"))]


def tests_of(tree, name, suite):
    return [f"{suite}.{line.split()[0]}" for line in listed(tree, name, f"{suite}.*") if line.startswith("  ")]


# The message of qemu-user for an unsupported system call or prctl() operation; glibc does not need two of them.
GAP = re.compile(r"Unknown syscall \d+|\w+\(.*errno=38 .*|prctl\(.*errno=22 .*|Exec format error")
NO_MATTER = ("set_robust_list(", "Unknown syscall 293")  # the latter is rseq()


class Suites:
    """Runs the tests of a built tree under qemu-aarch64."""

    def __init__(self, tree):
        self.tree = tree

    def run(self, name, pattern, *options):
        script = (f"cd /build/{self.tree.name} && OFFHOOK_DATA_DIR=$PWD/traces qemu-aarch64 {' '.join(options)} build/debian/tests/{name} --gtest_brief=1 "
                  f"--gtest_filter='{pattern}'")  # fmt: skip
        return subprocess.run(command(script), env=SETTINGS, capture_output=True, text=True, errors="replace", check=False)

    def gap(self, name, one):
        """@return what qemu-user lacks for a failed test, or None"""
        traced = self.run(name, one, "-strace")
        found = (GAP.search(line) for line in (traced.stdout + traced.stderr).splitlines() if not any(w in line for w in NO_MATTER))
        return next((hit.group(0) for hit in found if hit), None)

    def suite(self, job):
        """@return the job, seconds, the failed tests with their output, and {test: what qemu-user lacks}"""
        name, suite = job.split()
        begin = time.monotonic()
        tried, failed, lacking = self.run(name, f"{suite}.*"), {}, {}
        said = tried.stdout
        if tried.returncode:  # then test by test
            for one in tests_of(self.tree, name, suite):
                alone = self.run(name, one)
                if alone.returncode == 0:
                    continue
                lacks = self.gap(name, one)
                if lacks:
                    lacking[one] = lacks
                else:
                    failed[one] = alone.stdout[-4000:] + alone.stderr[-2000:]
        return job, time.monotonic() - begin, failed, lacking, said.count("[  SKIPPED ]")


def test(tree, commit):
    """The objects of the packages and the tests of the tree, one process per suite, one per CPU. A suite that passed is
    not run again for the same commit."""
    inside("apt-get install -qq --no-install-recommends libgtest-dev:arm64 libgmock-dev:arm64 >/dev/null")
    build_folder = f"/build/{tree.name}/build/debian"
    inside(f"cmake -DOFFHOOK_TESTS=ON {build_folder} >/dev/null && ninja -C {build_folder} {' '.join(TESTS)}")
    passed = ROOM / f"passed-{commit}"
    passed.touch()
    done = set(passed.read_text().splitlines())
    jobs = [f"{name} {suite}" for name in TESTS for suite in suites(tree, name)]
    todo = [job for job in jobs if job not in done]
    failed, lacking, began, finished = [], {}, time.monotonic(), 0
    package.say(f"{len(todo)} of {len(jobs)} test suites under qemu-aarch64")
    run = Suites(tree)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run.suite, job) for job in todo]):
            job, seconds, wrong, lacks, skipped = future.result()
            finished += 1
            left = (time.monotonic() - began) / finished * (len(todo) - finished)
            words = f"{finished}/{len(todo)} {job}: {seconds:.0f} s, about {left / 60:.0f} min left"
            if not wrong:
                with passed.open("a") as file:
                    file.write(job + "\n")
            for one, output in wrong.items():
                failed.append(one)
                print(output, flush=True)
            lacking |= lacks
            package.say(words + (", skipped some" if skipped else "") + (": FAILED" if wrong else ""))
    for one, lacks in sorted(lacking.items()):
        package.say(f"{one} cannot run under qemu-user: {lacks}")
    if failed:
        sys.exit(f"error: {len(failed)} tests failed under qemu-aarch64: {', '.join(failed)}")


def call_with_both():
    """The same call with both packages: the arm64 package in the chroot, the amd64 package from its files."""
    inside("apt-get install -qq --no-install-recommends /build/liboffhook0_*_arm64.deb /build/offhook_*_arm64.deb >/dev/null")
    call = "run examples/res-2-8.toml --out"
    tree = next((CHROOT / "build").glob("offhook-*"))
    inside(f"cd /build/{tree.name} && qemu-aarch64 /usr/bin/offhook {call} /build/call")
    here = ROOM / "amd64"
    shutil.rmtree(here, ignore_errors=True)
    package.run("dpkg-deb", "-x", next(package.OUT.glob("offhook_*_amd64.deb")), here)
    package.run(here / "usr/bin/offhook", *call.split(), here / "call", cwd=tree, stdout=subprocess.DEVNULL)
    for name in ("line.wav", "events.ohlog"):
        same = (here / "call" / name).read_bytes() == (CHROOT / "build/call" / name).read_bytes()
        package.say(f"{name} of the call: {'same bytes as' if same else 'other bytes than'} on amd64")


def main():
    ROOM.mkdir(parents=True, exist_ok=True)
    make_chroot()
    commit = package.committed()
    tree = CHROOT / "build" / f"offhook-{package.version()}"
    stamp = ROOM / "commit"
    if not (stamp.exists() and stamp.read_text() == commit and tree.exists()):
        (CHROOT / "build").mkdir(exist_ok=True)
        package.staged(CHROOT / "build", commit)
        stamp.write_text(commit)
    build(tree, commit)
    test(tree, commit)
    call_with_both()


if __name__ == "__main__":
    os.umask(0o022)
    main()
