#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A live V.90 call: the modem is the digital end on a network of octets, and an analogue modem behind a simulated line card calls it.
Random bytes are sent in both directions.

Usage: v90_call.py OFFHOOK ANALOGUE_END rtp|audiosocket mu-law|a-law
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time

from network import NetworkBench, between, fail, free_ports, hear, say, settle

analogue, kind, law = sys.argv[2:5]
DOWN, UP = 60000, 30000


with NetworkBench(sys.argv[1]) as bench:
    name = "pcma" if law == "a-law" else "pcmu"
    if kind == "rtp":
        own, far = free_ports(2)
        address, words = f"rtp::{own},:{far},law={name}", ("rtp", str(far), str(own))
    else:
        (own,) = free_ports(1, socket.SOCK_STREAM)
        address, words = f"audiosocket::{own},listen,law={name}", ("audiosocket", str(own))
    modem, tty = bench.modem(address, "a")
    offered = say(tty, b"AT+MS=?")
    if b"V90" not in offered:
        fail(f"V.90 is not offered: {offered!r}")
    say(tty, b"ATE0+MS=V90;+MR=1;+WHY=1")
    end = subprocess.Popen([analogue, law, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    bench.processes.append(end)
    if kind == "audiosocket":
        hear(tty, b"RING", 10)
    os.write(tty, b"ATA\r")
    said = hear(tty, b"CONNECT ", 60)
    settle(tty)
    rates = said.replace(b"\r", b" ").replace(b"\n", b"").decode()
    print(rates)
    if "+MCR: V90" not in rates:
        fail("another modulation than V.90")
    seconds = between(tty, end, DOWN, UP)
    print(f"{DOWN} bytes down and {UP} up in {seconds:.1f} s")
    time.sleep(1.2)
    os.write(tty, b"+++")
    hear(tty, b"OK", 5)
    print(say(tty, b"AT&V1").decode().replace("\r", ""))
    say(tty, b"ATH", seconds=15)
    modem.send_signal(signal.SIGINT)
    modem.wait()
    with open(bench.path("outa/summary.json"), encoding="utf-8") as text:
        summary = json.load(text)
    print({k: summary[k] for k in ("blocks_late", "samples_late", "pending_max_samples")}, summary["network"])
print("all passed")
