#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two fax machines of the program on a live line: every pixel of every page must arrive. Also tests failures.

Usage: fax.py OFFHOOK. Skipped without python3-pil.
"""
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from live import Bench, fail, wait_for

try:
    from PIL import Image, ImageChops, ImageSequence
except ImportError:
    print("SKIPPED: python3-pil is not installed")
    sys.exit(77)


def pages(seed, lines):
    numbers = random.Random(seed)
    for _ in range(2):
        page = Image.new("1", (1728, lines), 1)
        for y in range(40, lines, 24):
            for x in range(100, 1600, numbers.choice((16, 24, 32))):
                page.paste(0, (x, y, x + numbers.randint(2, 12), min(y + 16, lines)))
        yield page


def read(path):
    with Image.open(path) as image:
        return [page.convert("1") for page in ImageSequence.Iterator(image)]


def late(printed):
    counted = re.search(r"blocks late: (\d+)", printed)
    return int(counted.group(1)) if counted else 0


def whole_call(name, original, equal, call):
    """A call in which this machine served blocks late is tried again, at most twice: it has no error correction.

    @param equal  of a sent and a received page
    @param call   @return the statuses of sender and receiver, what both printed, late blocks, and the received pages
    @return what both printed
    """
    for _ in range(3):
        status, sent, received, blocks, got = call()
        same = [equal(x, y) for x, y in zip(original, got)]
        if status == (0, 0) and len(got) == len(original) and all(same):
            print(f"{name}: equal {same}, blocks late {blocks}", flush=True)
            return sent, received
        if blocks == 0:
            fail(f"{name}: ended with {status}, {len(got)} pages, equal: {same}\n{sent}\n{received}")
    print(f"SKIPPED: in three calls of {name} this machine served blocks late, {blocks} at last")
    sys.exit(77)


def call(bench, name, sends, receives):
    """@param sends, receives  options of the two programs
    @return status and output of sender and receiver, and the received file"""
    a, b = bench.path("a" + name), bench.path("b" + name)
    line = bench.start("line", a, b, stdout=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists(a) and os.path.exists(b), "cards")
    got = bench.path(name + ".tif")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    receiver = bench.start("fax", "receive", got, "unix:" + b, "--ident", "+49 30 2", "--seconds", "200",
                           *receives, **pipes)
    sender = bench.start("fax", "send", bench.path("sent.tif"), "5551234", "unix:" + a, "--ident", "+1 555", "--seconds",
                         "200", *sends, **pipes)
    sent, received = sender.communicate(timeout=220)[0], receiver.communicate(timeout=220)[0]
    line.wait(20)
    return (sender.returncode, receiver.returncode), sent, received, got


def successful_call(bench, name, sends, receives):
    """A call in which this machine served blocks late may be tried again. Without late blocks it must succeed."""
    for attempt in range(3):
        status, sent, received, got = call(bench, f"{name}{attempt}", sends, receives)
        if status == (0, 0):
            return sent, received, got
        if late(sent) + late(received) == 0:
            fail(f"{name}: ended with {status}\n{sent}\n{received}")
    print(f"SKIPPED: in three calls of {name} this machine served blocks late, {late(sent)} and {late(received)} at last")
    sys.exit(77)


def try_modulation(bench, original, name, sends, receives, rates):
    sent, received, got = successful_call(bench, name, sends, receives)
    rate = int(re.search(r"at (\d+) bit/s", sent).group(1))
    if rate not in rates:
        fail(f"{name}: {rate} bit/s\n{sent}")
    for text, where in (("received DIS: V.27ter, V.29, V.17", sent), ("sent     DCS: V.", sent),
                        (f"{rate} bit/s{'' if name == 'plain' else ', with error correction'}", sent),
                        ("2 pages sent and confirmed", sent), ("2 pages received", received),
                        ("far machine: +1 555", received)):
        if text not in where:
            fail(f"{name}: no {text!r} in\n{where}")
    arrived = read(got)
    equal = [ImageChops.difference(x.convert("L"), y.convert("L")).getbbox() is None and x.size == y.size
             for x, y in zip(original, arrived)]
    # Without error correction, a late block on a busy machine may cost a line.
    if len(arrived) != 2 or (name != "plain" and not all(equal)):
        fail(f"{name}: {len(arrived)} pages, equal: {equal}")
    print(f"{name}: equal {equal}, blocks late {late(sent)} and {late(received)}", flush=True)


def main():
    with Bench(sys.argv[1]) as bench, ThreadPoolExecutor() as lines:
        original = list(pages(1, 120))
        original[0].save(bench.path("sent.tif"), save_all=True, append_images=original[1:], compression="group4",
                         dpi=(204, 98))
        for done in [lines.submit(try_modulation, bench, original, *call)
                     for call in (("v17", (), (), (14400,)),
                                  ("v29", ("--max-bit-rate", "9600"), (), (9600,)),
                                  ("v34", ("--v34",), ("--v34",), range(16800, 33601)),
                                  ("fall-back", ("--v34",), (), (14400,)),
                                  ("plain", ("--no-error-correction",), (), (14400,)))]:
            done.result()
    print("all passed")


if __name__ == "__main__":
    main()
