#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configure, build and test one component in a chroot of Debian 12 that has only what this component needs.

    component_test.py COMPONENT SOURCE [--below FOLDER] [--suite bookworm]

COMPONENT is dsp, driver, modem, hostsim or decode. The chroot has a compiler, cmake, ninja, GoogleTest, Random123 for the tests, and
the libraries of PACKAGES below: none for dsp and driver. SOURCE is copied into it. --below limits the tests to a folder of tests/unit.

Exit status: 0; 1 if a step fails; 77 without root, mmdebstrap or an archive (with the reason).
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

TOOLS = ["g++", "cmake", "ninja-build", "libgtest-dev", "libgmock-dev", "librandom123-dev"]  # the last: headers of the tests
BASE = ["libfmt-dev", "nlohmann-json3-dev"]
PACKAGES = {"dsp": [], "driver": [], "modem": ["libspandsp-dev"], "hostsim": ["libspandsp-dev", *BASE],
            "decode": ["libspandsp-dev", "libsndfile1-dev", "libjs-dygraphs", "pkg-config", *BASE]}  # fmt: skip

# Tests look at their descriptors and threads in /proc; its mount ends with the command.
IN_CHROOT = 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/bin:/bin "$@"'


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("component", choices=PACKAGES)
    parser.add_argument("source", type=os.path.abspath)
    parser.add_argument("--below", help="tests of this folder of tests/unit alone, such as dsp/qam")
    parser.add_argument("--suite", default="bookworm")
    options = parser.parse_args()
    if os.geteuid() != 0:
        skip("a chroot needs root")
    if not shutil.which("mmdebstrap"):
        skip("no mmdebstrap; `./dev package` installs it")
    with tempfile.TemporaryDirectory() as folder:
        root = folder + "/root"
        packages = ",".join(TOOLS + PACKAGES[options.component])
        made = subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", "--include=" + packages, options.suite, root],
                              check=False, stderr=subprocess.PIPE, text=True)  # fmt: skip
        if made.returncode != 0:
            skip("mmdebstrap: " + " ".join(made.stderr.strip().splitlines()[-2:]))
        os.mkdir(root + "/source")
        listed = subprocess.run(["git", "-C", options.source, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        packed = subprocess.run(["tar", "-C", options.source, "--null", "--no-recursion", "-T", "-", "-c"], input=listed, check=True,
                                stdout=subprocess.PIPE)  # fmt: skip
        subprocess.run(["tar", "-C", root + "/source", "-x"], input=packed.stdout, check=True)
        more = [f"-DOFFHOOK_TESTS_BELOW=/source/tests/unit/{options.below}"] if options.below else []
        for command in (["cmake", "-S", "/source", "-B", "/build", "-G", "Ninja", "-DOFFHOOK_COMPONENTS=" + options.component, *more],
                        ["ninja", "-C", "/build"], ["ctest", "--test-dir", "/build", "--output-on-failure", "-j", str(os.cpu_count())]):
            print("+", *command, flush=True)
            done = subprocess.run(["unshare", "--mount", "sh", "-c", IN_CHROOT, root, *command], check=False)
            if done.returncode != 0:
                return 1
        libraries = subprocess.run(["chroot", root, "sh", "-c", "cd /build/tests && ldd unit_* 2>/dev/null"], check=False,
                                   stdout=subprocess.PIPE, text=True).stdout  # fmt: skip
        print(libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
