#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live modems whose +MS differ: the call uses what both permit, and reports it.

Usage: fall_back.py OFFHOOK.
"""
import os
import sys
import time

from live import Bench, fail, hear, say

CALLS = (  # +MS of the caller and of the answerer; what the caller then reports
    (b"V34,1", b"V32B,1,,9600", b"+MCR: V32B", b"CONNECT 9600"),
    (b"V32B,1", b"V22B,0", b"+MCR: V22B", b"CONNECT 2400"),
    (b"V34,0", b"V32B,0", None, b"NO CARRIER"),
    (b"V22B,0,4800", b"V22B,0", None, b"ERROR"),
)

with Bench(sys.argv[1]) as bench:
    line, modems, (a, b) = bench.two_modems("FIFO 50", "FIFO 50")
    for caller, answerer, carrier, result in CALLS:
        what = f"{caller.decode()} calls {answerer.decode()}"
        say(b, b"ATE0S0=1S7=30+MS=0,1,0,0;+MS=" + answerer)
        say(a, b"ATE0S7=30+MR=1;+MS=0,1,0,0;+MS=" + caller)
        os.write(a, b"ATDT5551234\r")
        heard = hear(a, result, 60)
        if carrier and carrier not in heard:
            fail(f"{what}: expected {carrier!r}, heard {heard!r}")
        print(what + ":", " ".join(heard.decode().split()), flush=True)
        if carrier:
            hear(b, b"CONNECT ", 20)
            time.sleep(1.2)
            os.write(a, b"+++")
            hear(a, b"OK", 5)
            say(a, b"ATH")
        if result != b"ERROR":
            hear(b, b"NO CARRIER", 40)
print("all passed")
