#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sendfax and mgetty, independent fax programs, with modems of class 2.0: sendfax sends to `offhook fax receive`, and mgetty receives
from `offhook fax send`. Every pixel of every page must arrive.

Usage: mgetty.py OFFHOOK
       mgetty.py --prepare     gets Debian's mgetty and mgetty-fax into the cache; nothing is installed

Both programs have fixed folders in /var, so they run in a mount namespace with a /var of their own. Skipped without root,
python3-pil or the programs.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "vm"))

import vm  # noqa: E402  (from the folder vm)

CACHE = os.path.join(vm.CACHES, "mgetty")
IN_VAR = "mount -t tmpfs var /var && mkdir -p /var/lock /var/log/mgetty/fax /var/spool/fax/incoming && "


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(vm.SKIPPED)


def prepare():
    if os.path.exists(CACHE):
        return
    os.makedirs(vm.CACHES, exist_ok=True)
    new = f"{CACHE}.{os.getpid()}"
    for package in ("mgetty", "mgetty-fax"):
        vm.debian_package(package, new)
    os.rename(new, CACHE)


if sys.argv[1:] == ["--prepare"]:
    try:
        prepare()
    except vm.Unavailable as why:
        sys.exit(f"error: {why}")
    sys.exit(0)

try:
    from PIL import Image, ImageChops
except ImportError:
    skip("python3-pil is not installed")
if not os.path.exists(CACHE):
    skip("no mgetty in the cache; `tests/live/mgetty.py --prepare` gets it")
if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
    skip("a mount namespace needs root")

from fax import pages, read, whole_call  # noqa: E402  (need python3-pil)
from live import Bench, wait_for  # noqa: E402

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
TOOLS = CACHE + "/usr/bin/"


def program(bench, words, behind="true"):
    """One of the two programs; `behind` is a command of the shell that can read its /var."""
    script = f"{IN_VAR}{words}; status=$?; {behind}; exit $status"
    p = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], cwd=bench.folder, **PIPES)
    bench.processes.append(p)
    return p


def modem(bench, end, tty):
    p = bench.start("modem", "unix:" + bench.path(end), "--tty", tty, **PIPES)
    wait_for(lambda: os.path.exists(tty), "terminal of " + end)
    return p


def line(bench):
    for end in "ab":
        if os.path.lexists(bench.path(end)):
            os.unlink(bench.path(end))
    p = bench.start("line", bench.path("a"), bench.path("b"), stdout=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists(bench.path("a")) and os.path.exists(bench.path("b")), "cards")
    return p


def sendfax_to_us(bench, tty):
    """@return statuses, what both printed, and the pages that arrived"""
    receiver = bench.start("fax", "receive", bench.path("got.tif"), "--force", "unix:" + bench.path("b"), "--seconds", "150", **PIPES)
    sender = program(bench, f"{CACHE}/usr/sbin/sendfax -v -l {os.path.basename(tty)} -C c2.0 -m ATZ 5551234 1.g3 2.g3")
    sent, received = sender.communicate(timeout=180)[0], receiver.communicate(timeout=60)[0]
    return (sender.returncode, receiver.returncode), sent, received, read(bench.path("got.tif"))


def us_to_mgetty(bench, tty):
    receiver = program(bench, f"timeout 150 {CACHE}/sbin/mgetty -C c2.0 -F {os.path.basename(tty)}",
                       f"cp /var/spool/fax/incoming/* {bench.folder}/; cat /var/log/mgetty/*")
    time.sleep(7)  # it initialises the modem
    sender = bench.start("fax", "send", bench.path("sent.tif"), "5551234", "unix:" + bench.path("b"), "--seconds", "150", **PIPES)
    sent, received = sender.communicate(timeout=180)[0], receiver.communicate(timeout=60)[0]
    got = []
    for name in sorted(f for f in os.listdir(bench.folder) if f.startswith("ff")):
        with open(bench.path("got.pbm"), "wb") as out:
            subprocess.run([TOOLS + "g32pbm", bench.path(name)], check=True, stdout=out, stderr=subprocess.DEVNULL)
        with Image.open(bench.path("got.pbm")) as page:
            got.append(page.copy())
        os.unlink(bench.path(name))
    return (sender.returncode, receiver.returncode), sent, received, got


def equal(sent, got):
    sent, got = sent.convert("L"), got.convert("L")
    return sent.size == got.size and ImageChops.difference(sent, got).getbbox() is None


def call(bench, between, number):
    """A line, and the modem of a program at one end. @param between  one of the two functions above"""
    tty = f"/dev/ttyOffhook{os.getpid()}{number}"  # the programs look in /dev
    joined, served = line(bench), modem(bench, "a", tty)
    status, sent, received, got = between(bench, tty)
    joined.terminate()
    joined.wait(20)
    printed = served.communicate(timeout=20)[0]
    blocks = sum(int(n) for text in (sent, received, printed) for n in re.findall(r"blocks late:? +(\d+)", text))
    return status, sent, received, blocks, got


with Bench(sys.argv[1]) as bench:
    original = list(pages(1, 136))
    original[0].save(bench.path("sent.tif"), save_all=True, append_images=original[1:], compression="group3", dpi=(204, 196))
    for number, page in enumerate(original, 1):
        page.save(bench.path(f"{number}.pbm"))
        with open(bench.path(f"{number}.g3"), "wb") as out:
            subprocess.run([TOOLS + "pbm2g3", bench.path(f"{number}.pbm")], check=True, stdout=out, stderr=subprocess.DEVNULL)
    for number, between in enumerate((sendfax_to_us, us_to_mgetty)):
        whole_call(between.__name__, original, equal, lambda: call(bench, between, number))
print("all passed")
