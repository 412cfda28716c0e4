#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Driver and pump in a kernel module: the archives of user space are linked into a module, which Debian's kernel loads. Two modems
call each other there, and the loopback pumps run. The result, including a hash of every sample, must equal that of user space.

usage: kernel_module.py USER_SPACE_PROGRAM OBJECTS ARCHIVE...    OBJECTS: separated by semicolons
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "vm"))
import vm  # noqa: E402

RESULT = re.compile(r"rates (\d+) (\d+), bits (\d+) (\d+), errors (\d+) (\d+), state \d+, hash \w+")
LOOPBACK = re.compile(r"loopback \w+: checked \d+, wrong (\d+), hash \w+")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def result(output):
    found = RESULT.search(output)
    if not found:
        sys.exit(f"no result in\n{output}")
    return found


program, objects, *archives = sys.argv[1:]
try:
    headers = vm.Kernel("6.1").headers()
except vm.Unavailable as lacks:
    print(f"skipped: {lacks}")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    for name in ("Kbuild", "module.c", "two_modems.h"):
        shutil.copy(os.path.join(HERE, name), folder)
    run("ld", "-r", "-o", folder + "/offhook.o", *objects.split(";"), "--whole-archive", *archives)
    with open(folder + "/.offhook.o.cmd", "w", encoding="ascii"):
        pass  # how an object was built, which modpost requires for each
    run("make", "-s", "-C", headers, "M=" + folder, "modules")
    log = run(sys.executable, vm.__file__, "--seconds", "1700", "sh", "-c",
              f"insmod {folder}/offhook_two_modems.ko && dmesg")

in_user_space = run(program)
there, here = result(log), result(in_user_space)
print("kernel:    ", there[0])
print("user space:", here[0])
if there[0] != here[0]:
    sys.exit("they differ")
if there.groups()[:2] != ("33600", "33600") or there.groups()[4:] != ("0", "0"):
    sys.exit("expected 33600 bit/s both ways and no error")
there, here = ([m[0] for m in LOOPBACK.finditer(output)] for output in (log, in_user_space))
print(*there, sep="\n")
if there != here or not there or any("wrong 0," not in line for line in there):
    sys.exit(f"expected the loopbacks of user space:\n{here}")
