#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""V.90 between two live modems on `offhook line` with a digital trunk: either calls, bytes both ways.

Usage: v90_call.py OFFHOOK. Without real-time privileges it continues with best effort.
"""
import os
import re
import signal
import subprocess
import sys

from live import Bench, dial, exchange, fail, wait_for

LEAST_DOWN = 45333  # bit/s; a trunk without pads gives 50,000 and more, unless this machine holds the line up


def modem(bench, end):
    return bench.start("modem", f"unix:{bench.path(end)}", "--tty", bench.path("tty" + end), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)


for caller in ("analogue", "digital"):
    with Bench(sys.argv[1]) as bench:
        line = bench.start("line", bench.path("analogue"), bench.path("digital"), "--set", "line.kind=digital-trunk")
        for end in ("analogue", "digital"):
            wait_for(lambda end=end: os.path.exists(bench.path(end)), "card")
        modems = {end: modem(bench, end) for end in ("analogue", "digital")}
        terminals = {end: bench.open("tty" + end) for end in modems}
        answerer = "digital" if caller == "analogue" else "analogue"
        dial(terminals[caller], terminals[answerer], b"V90,0")
        for one, other in (("analogue", "digital"), ("digital", "analogue")):
            exchange(terminals[one], terminals[other], 2000)
        said = {}
        for end, process in modems.items():
            process.send_signal(signal.SIGINT)
            said[end] = process.communicate(timeout=30)[0].decode()
        rates = re.findall(r"(\d+) bit/s sent, (\d+) received", said["analogue"])
        if not rates or int(rates[0][1]) < LEAST_DOWN:
            fail(f"the {caller} modem calls: {rates or said}")
        print(f"the {caller} modem calls: {rates[0][0]} bit/s up, {rates[0][1]} down", flush=True)
        line.wait(20)
print("all passed")
