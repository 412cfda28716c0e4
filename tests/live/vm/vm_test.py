#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The virtual machine: another kernel, the host's files, the command's output and status, and the time limit."""
import os
import subprocess
import sys
import tempfile

VM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vm.py")


def vm(*arguments):
    done = subprocess.run([sys.executable, VM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    return done


def expect(condition, done):
    if not condition:
        print(f"FAIL: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        sys.exit(1)


with tempfile.TemporaryDirectory() as folder:
    here, kept = os.path.join(folder, "here"), os.path.join(folder, "kept")
    os.mkdir(here)
    script = f"""uname -r; echo "it's said"; echo gone >{here}/gone && cat {here}/gone
echo stays >"$KEEP/stays"; modprobe ppp_async && test -c /dev/ppp && exit 42"""
    done = vm("--keep", kept, "sh", "-c", script)
    expect(done.returncode == 42, done)
    lines = done.stdout.splitlines()
    expect(lines[1:] == ["it's said", "gone"] and lines[0] != os.uname().release, done)
    expect(os.listdir(here) == [] and open(os.path.join(kept, "stays"), encoding="ascii").read() == "stays\n", done)

    done = vm("--seconds", "3", "sleep", "1000")
    expect(done.returncode == 124 and "3.0 s is up" in done.stderr, done)
print("all passed")
