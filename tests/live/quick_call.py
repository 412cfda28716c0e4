#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quick Connect of V.92 between two live modems by AT commands: the profile of a call serves the next one, also of the
next program; +PSS=2 and a far end with +PQC=3 have a full start-up. Then the PCM upstream by +PIG.

Usage: quick_call.py OFFHOOK. Without real-time privileges it continues with best effort.
"""
import os
import re
import signal
import subprocess
import sys
import time

from live import Bench, exchange, fail, hear, say, wait_for

ENDS = ("analogue", "digital")


class Programs:
    """A line and its two modems; the profiles are in files of the bench."""

    def __init__(self, bench):
        self.line = bench.start("line", *map(bench.path, ENDS), "--set", "line.kind=digital-trunk",
                                stdout=subprocess.DEVNULL)
        for end in ENDS:
            wait_for(lambda end=end: os.path.exists(bench.path(end)), "card")
        self.modems = [bench.start("modem", "unix:" + bench.path(end), "--tty", bench.path("tty" + end), "--profiles",
                                   bench.path(end + ".profiles"), stdout=subprocess.DEVNULL) for end in ENDS]
        self.caller, self.answerer = [bench.open("tty" + end) for end in ENDS]
        for fd in self.caller, self.answerer:
            say(fd, b"ATE0S0=0+MS=V92,0;+MR=1")
        say(self.answerer, b"ATS0=1")

    def call(self):
        """@return whether it had Quick Connect, and bit/s upstream"""
        begin = time.time()
        os.write(self.caller, b"ATDT5551234\r")
        heard = hear(self.caller, b"CONNECT ", 60)
        hear(self.answerer, b"CONNECT ", 20)
        took = time.time() - begin
        exchange(self.caller, self.answerer, 1000)
        exchange(self.answerer, self.caller, 1000)
        time.sleep(1.2)
        os.write(self.caller, b"+++")
        hear(self.caller, b"OK", 5)
        facts = say(self.caller, b"AT&V1")
        say(self.caller, b"ATH", seconds=15)
        hear(self.answerer, b"NO CARRIER", 15)
        quick = b"start-up: Quick Connect" in facts
        up = int(re.search(rb"\+MRR: (\d+),", heard)[1])
        print(f"CONNECT after {took:.1f} s, {up} bit/s up{', Quick Connect' if quick else ''}", flush=True)
        return quick, up

    def end(self):
        for modem in self.modems:
            modem.send_signal(signal.SIGINT)
        for process in *self.modems, self.line:
            process.wait(30)
        os.close(self.caller)
        os.close(self.answerer)


def expect(quick, call, what):
    if call[0] != quick:
        fail(f"{what}: {'a full start-up' if quick else 'Quick Connect'}")


with Bench(sys.argv[1]) as bench:
    first = Programs(bench)
    for fd in first.caller, first.answerer:
        say(fd, b"AT+PQC=0")
    expect(False, first.call(), "an unknown line")
    expect(True, first.call(), "a known line")
    say(first.caller, b"AT+PSS=2")
    expect(False, first.call(), "+PSS=2")
    first.end()
    for end in ENDS:
        with open(bench.path(end + ".profiles"), encoding="ascii") as file:
            print(file.read(), end="")

    second = Programs(bench)
    say(second.caller, b"AT+PQC=0")
    expect(False, second.call(), "a far end with +PQC=3")
    say(second.answerer, b"AT+PQC=0")
    expect(True, second.call(), "the next program")
    for fd in second.caller, second.answerer:
        say(fd, b"AT+PQC=3;+PIG=0")
    if second.call()[1] <= 33600:
        fail("no PCM upstream")
    second.end()
print("all passed")
