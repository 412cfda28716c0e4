#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two live modems on a live line, dialled as a program would; bytes both ways, escape, hang-up.

Usage: modem_call.py OFFHOOK CONTEXT CONTEXT. Without real-time privileges it goes on as best it can.
"""
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

offhook, context_a, context_b = sys.argv[1:4]
folder = tempfile.mkdtemp()
path = lambda name: os.path.join(folder, name)
processes = []


def start(*arguments):
    processes.append(subprocess.Popen(["timeout", "-k", "5", "100", offhook, *arguments, "--best-effort"]))


def fail(why):
    print("FAIL:", why)
    for p in processes:
        p.send_signal(signal.SIGTERM)
    sys.exit(1)


def wait_for(condition, what, seconds=20):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            fail("no " + what)
        time.sleep(0.05)


def hear(fd, until, seconds):
    heard, end = b"", time.time() + seconds
    while until not in heard:
        if time.time() > end:
            fail(f"expected {until!r}, heard {heard!r}")
        if select.select([fd], [], [], 0.1)[0]:
            heard += os.read(fd, 4096)
    return heard


start("line", path("a"), path("b"))
wait_for(lambda: os.path.exists(path("a")) and os.path.exists(path("b")), "cards")
start("modem", "unix:" + path("a"), "--tty", path("ttyA"), "--context", context_a, "--out", path("outA"))
start("modem", "unix:" + path("b"), "--tty", path("ttyB"), "--context", context_b, "--out", path("outB"))
wait_for(lambda: os.path.exists(path("ttyA")) and os.path.exists(path("ttyB")), "terminals")
a, b = (os.open(path(t), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK) for t in ("ttyA", "ttyB"))

os.write(b, b"ATE0S0=1\r")
hear(b, b"OK", 5)
os.write(a, b"ATE0+ER=1\r")
hear(a, b"OK", 5)
os.write(a, b"ATDT5551234\r")
hear(a, b"CONNECT ", 45)
hear(b, b"CONNECT ", 10)
time.sleep(0.3)
hear(b, b"\n", 2) if select.select([b], [], [], 0)[0] else None
for one, other in ((a, b), (b, a)):
    sent = os.urandom(400).replace(b"+", b"-")
    os.write(one, sent)
    received, end = b"", time.time() + 20
    while not received.endswith(sent) and time.time() < end:
        if select.select([other], [], [], 0.1)[0]:
            received += os.read(other, 4096)
    if not received.endswith(sent):
        fail(f"{len(received)} bytes arrived, not the {len(sent)} that were sent")
time.sleep(1.2)
os.write(a, b"+++")
hear(a, b"OK", 5)
os.write(a, b"ATH\r")
hear(a, b"OK", 5)
hear(b, b"NO CARRIER", 30)
for p in processes[1:]:
    p.send_signal(signal.SIGINT)
for p in processes[1:]:
    p.wait()
for out in ("outA", "outB"):
    for name in ("events.ohlog", "summary.json", "report.html"):
        if not os.path.getsize(os.path.join(path(out), name)):
            fail(f"no {out}/{name}")
processes[0].wait()
print("all passed")
