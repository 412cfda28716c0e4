#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Error control and compression as programs request them: the results before CONNECT, and bytes in both directions.

Usage: error_control.py OFFHOOK. Without real-time privileges it continues with best effort.
"""
import os
import re
import select
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from live import Bench, fail, hear, say

TEXT = b"".join(b"line %d of a text that says the same again and again\r\n" % i for i in range(40))


def exchange(one, other, sent):
    received, left, end = b"", sent, time.time() + 60
    while sent not in received:
        if time.time() > end:
            fail(f"{len(received)} bytes arrived, not the {len(sent)} that were sent")
        if left and select.select([], [one], [], 0)[1]:
            left = left[os.write(one, left[:256]):]
        if select.select([other], [], [], 0.05)[0]:
            received += os.read(other, 4096)


# Calling, answering, the reports of both, and the bytes of each direction.
CALLS = [
    (b"\\N3;+DS=3", b"\\N3;+DS=3", b"LAPM", (b"V42B", b"V42B"), TEXT),
    (b"\\N3;+DS=1", b"\\N3;+DS=3", b"LAPM", (b"V42B TD", b"V42B RD"), TEXT),
    (b"\\N4;%C0", b"\\N3;+DS=3", b"LAPM", (b"NONE", b"NONE"), TEXT[:400]),
    (b"\\N3;%C0", b"\\N5", b"ALT", (b"NONE", b"NONE"), TEXT[:400]),
    (b"\\N5;\\A1", b"\\N3", b"ALT", (b"MNP5", b"MNP5"), TEXT),
    (b"\\N0", b"\\N0", b"NONE", (b"NONE", b"NONE"), TEXT[:400]),
    (b"\\N3", b"\\N0", b"NONE", (b"NONE", b"NONE"), TEXT[:400]),
]


def try_call(a, b, call, answer, control, compression, text):
    for fd, mode in ((a, call), (b, answer)):
        say(fd, b"AT&FE0+MS=V22B;+MR=1;+ER=1;+DR=1;+ILRR=1")
        for command in mode.split(b";"):
            say(fd, b"AT" + command)
    say(b, b"ATS0=1")
    os.write(a, b"ATDT5551234\r")
    for fd, what in zip((a, b), compression):
        heard = hear(fd, b"CONNECT ", 90)
        order = re.findall(rb"\+(MCR|MRR|ER|DR|ILRR): ?([^\r]*)", heard)
        names = [name for name, _ in order]
        if names != [b"MCR", b"MRR", b"ER", b"DR", b"ILRR"]:
            fail(f"reports in the wrong order or number: {heard!r}")
        if dict(order)[b"ER"] != control or dict(order)[b"DR"] != what:
            fail(f"expected {control!r} and {what!r}: {heard!r}")
    time.sleep(0.5)
    start = time.time()
    for one, other in ((a, b), (b, a)):
        exchange(one, other, text)
    print(call, answer, control, compression, f"{len(text)} bytes both ways, one after the other: "
          f"{time.time() - start:.1f} s, rates {dict(order)[b'MRR'].decode()}", flush=True)
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH")
    hear(b, b"NO CARRIER", 45)  # by DISC, or within the time of a retrain


def refuse_call(a, b):
    """LAPM is required, and not available: no connection."""
    say(a, b"AT&FE0+MS=V22B;\\N4")
    say(b, b"AT&FE0S0=1+MS=V22B;\\N0")
    os.write(a, b"ATDT5551234\r")
    hear(a, b"NO CARRIER", 90)


def use_line(calls, refuse):
    """Calls on a separate line."""
    with Bench(sys.argv[1]) as bench:
        _, _, (a, b) = bench.two_modems("FIFO 50", "FIFO 50")
        for call in calls:
            try_call(a, b, *call)
        if refuse:
            refuse_call(a, b)


with ThreadPoolExecutor() as lines:
    for done in [lines.submit(use_line, CALLS[n::3], n == 2) for n in range(3)]:
        done.result()
print("all passed")
