#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""efax, an independent fax program, with class-1 modems: it sends to `offhook fax receive`, receives from `offhook
fax send`, and sends to itself over two modems. Every pixel of every page must arrive.

Usage: efax.py OFFHOOK. Skipped without efax or python3-pil.
"""
import os
import re
import shutil
import subprocess
import sys
import time

from fax import late, pages, read, whole_call
from live import Bench, fail, wait_for

try:
    from PIL import Image, ImageChops
except ImportError:
    print("SKIPPED: python3-pil is not installed")
    sys.exit(77)
if shutil.which("efax") is None:
    print("SKIPPED: efax is not installed")
    sys.exit(77)

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def efax(bench, end, *more):
    p = subprocess.Popen(["efax", "-d", bench.path("tty" + end), "-v", "ewinch", "-o1", *more], cwd=bench.folder, **PIPES)
    bench.processes.append(p)
    return p


def modem(bench, end):
    p = bench.start("modem", "unix:" + bench.path(end), "--tty", bench.path("tty" + end), **PIPES)
    wait_for(lambda: os.path.exists(bench.path("tty" + end)), "terminal of " + end)
    return p


def ink(page):
    """@return the lines from the first to the last one that is not white"""
    box = ImageChops.invert(page.convert("L")).getbbox()
    return page.crop((0, box[1], page.size[0], box[3])).convert("L")


def equal(sent, got):
    """efax adds white lines above the page for its header."""
    x, y = ink(sent), ink(got)
    return x.size == y.size and got.size[1] >= sent.size[1] and ImageChops.difference(x, y).getbbox() is None


def call(bench, sends, receives):
    """@return status, output and number of late blocks of sender and receiver, and the files of the received pages"""
    a, b = bench.path("a"), bench.path("b")
    for link in (a, b, bench.path("ttya"), bench.path("ttyb")):
        if os.path.lexists(link):
            os.unlink(link)
    line = bench.start("line", a, b, stdout=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists(a) and os.path.exists(b), "cards")
    modems = [modem(bench, end) for end, program in (("a", sends), ("b", receives)) if program == "efax"]
    if receives == "efax":
        receiver = efax(bench, "b", "-w", "-iS0=1", "-l", "+49 30 2", "-r", "got")
        time.sleep(3)  # it initialises the modem, and S0 answers the ring from then on
    else:
        receiver = bench.start("fax", "receive", bench.path("got.tif"), "--force", "unix:" + b, "--ident", "+49 30 2",
                               "--seconds", "150", **PIPES)
    if sends == "efax":
        sender = efax(bench, "a", "-l", "+1 555", "-h", " ", "-t", "T5551234", bench.path("page1.001"),
                      bench.path("page2.001"))
    else:
        sender = bench.start("fax", "send", bench.path("sent.tif"), "5551234", "unix:" + a, "--ident", "+1 555",
                             "--seconds", "150", **PIPES)
    sent, received = sender.communicate(timeout=180)[0], receiver.communicate(timeout=60)[0]
    line.terminate()
    line.wait(20)
    printed = [m.communicate(timeout=20)[0] for m in modems]
    blocks = sum(int(n) for text in printed for n in re.findall(r"blocks late +(\d+)", text)) + late(sent) + late(received)
    files = [bench.path(f) for f in sorted(os.listdir(bench.folder)) if re.fullmatch(r"got\.\d{3}", f)]
    got = [page for f in files for page in read(f)] if receives == "efax" else read(bench.path("got.tif"))
    for f in files:
        os.unlink(f)
    return (sender.returncode, receiver.returncode), sent, received, blocks, got


if __name__ == "__main__":
    with Bench(sys.argv[1]) as bench:
        original = list(pages(1, 136))
        original[0].save(bench.path("sent.tif"), save_all=True, append_images=original[1:], compression="group3",
                         dpi=(204, 196))
        for number, page in enumerate(original, 1):
            page.save(bench.path(f"{number}.pbm"))
            # When it reads other files, efax adds its own lines.
            subprocess.run(["efix", "-R", "204x196", "-n", f"page{number}.%03d", bench.path(f"{number}.pbm")], check=True,
                           cwd=bench.folder, stderr=subprocess.DEVNULL)
        for sends, receives in (("efax", "offhook"), ("offhook", "efax"), ("efax", "efax")):
            sent, received = whole_call(f"{sends} to {receives}", original, equal, lambda: call(bench, sends, receives))
            for text, where in (("+1 555", received), ("+49 30 2", sent), ("14.4kbps" if sends == "efax" else "14400", sent)):
                if text not in where:
                    fail(f"{sends} to {receives}: no {text!r} in\n{where}")
    print("all passed")
