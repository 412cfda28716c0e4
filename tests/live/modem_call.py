#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two live modems on a live line, dialled as by a program: bytes in both directions, escape, hang-up.

Usage: modem_call.py OFFHOOK CONTEXT CONTEXT. Without real-time privileges it continues with best effort.
"""
import os
import signal
import sys
import time

from live import Bench, dial, exchange, fail, hear, say

with Bench(sys.argv[1]) as bench:
    line, modems, (a, b) = bench.two_modems(*sys.argv[2:4])
    say(a, b"AT+ER=1")
    dial(a, b)
    for one, other in ((a, b), (b, a)):
        exchange(one, other, 400)
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH")
    hear(b, b"NO CARRIER", 3)  # by DISC, because the loss of the carrier alone would take longer
    # The far end dials at once, though both hooks must first rest; here nobody answers, and a character ends it.
    say(a, b"ATS0=0")
    os.write(b, b"ATDT1\r")
    hear(a, b"RING", 15)
    say(b, b"x", b"NO CARRIER")
    for p in modems:
        p.send_signal(signal.SIGINT)
    for p in modems:
        p.wait()
    for out in ("outa", "outb"):
        for name in ("events.ohlog", "summary.json", "report.html"):
            if not os.path.getsize(os.path.join(bench.path(out), name)):
                fail(f"no {out}/{name}")
    line.wait(20)
print("all passed")
