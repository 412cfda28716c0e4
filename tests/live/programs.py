#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unmodified programs that dial, on the modem's terminal: chat, minicom's runscript, wvdial and its probe.

Usage: programs.py OFFHOOK. Skipped (77) if none of them is installed.
"""
import os
import shutil
import subprocess
import sys
import time

from live import Bench, fail, hear, say

os.environ["PATH"] += ":/usr/sbin:/sbin"
# Occasionally wvdial detects a damaged stack of its own while it waits for the carrier, with any modem.
WVDIAL_FAULT, WVDIAL_TRIES = "WVTASK_MAGIC", 5
present = [p for p in ("chat", "runscript", "wvdialconf", "wvdial") if shutil.which(p)]
if not present:
    print("SKIPPED: neither chat nor minicom nor wvdial is installed")
    sys.exit(77)
print("with", ", ".join(present))

with Bench(sys.argv[1]) as bench:
    line, modems, (a, b) = bench.two_modems("FIFO 50", "FIFO 50")
    say(b, b"ATE0S0=1+MS=V22B")

    if "wvdialconf" in present and os.access("/dev", os.W_OK):
        link = f"/dev/ttySM{os.getpid()}"  # it searches only /dev/ttyS*
        os.symlink(os.path.realpath(bench.path("ttya")), link)
        try:
            probe = subprocess.run(["wvdialconf", bench.path("wvdial.conf")], capture_output=True, text=True,
                                   timeout=60, check=False)
        finally:
            os.unlink(link)
        # It may also find other modems of this machine, and store the first one.
        found = f"{os.path.basename(link)}<Info>: Speed 460800; init \"ATQ0 V1 E1 S0=0 &C1 &D2 +FCLASS=0\""
        if found not in probe.stderr + probe.stdout:
            fail("wvdial found no modem: " + probe.stderr)

    def on_terminal(*command, timeout=90):
        tty = os.open(bench.path("ttya"), os.O_RDWR | os.O_NOCTTY)
        try:
            return subprocess.run(command, stdin=tty, stdout=tty, stderr=subprocess.PIPE, timeout=timeout, check=False)
        finally:
            os.close(tty)

    if "runscript" in present:
        script = bench.path("script")
        with open(script, "w", encoding="ascii") as file:
            file.write('timeout 20\nsend "AT&F"\nexpect {\n "OK" break\n timeout 5 exit 1\n}\n'
                       'send "ATI3"\nexpect {\n "Offhook soft modem" exit 0\n timeout 5 exit 2\n}\n')
        done = on_terminal("runscript", script)
        if done.returncode != 0:
            fail(f"minicom's runscript: {done.returncode} {done.stderr!r}")

    if "chat" in present:
        # &D0: closing the terminal between the two does not hang up.
        done = on_terminal("chat", "-v", "-t", "90", "ABORT", "BUSY", "ABORT", "NO CARRIER", "ABORT", "NO DIALTONE", "",
                           "AT&F&D0+MS=V22B", "OK", "ATDT5551234", "CONNECT", "")
        if done.returncode != 0:
            fail(f"chat: {done.returncode} {done.stderr!r}")
        hear(b, b"CONNECT", 20)
        done = on_terminal("chat", "-t", "20", "", "\\d\\d+++\\d\\d\\c", "OK", "ATH", "OK", "")
        if done.returncode != 0:
            fail(f"chat, hanging up: {done.returncode} {done.stderr!r}")
        hear(b, b"NO CARRIER", 5)

    if "wvdial" in present:
        # Its own init strings and dialogue. A script replaces pppd and reports that it was called.
        pppd, ran = bench.path("pppd"), bench.path("ran")
        with open(pppd, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ntouch {ran}\nsleep 2\n")
        os.chmod(pppd, 0o755)
        with open(bench.path("wvdial.conf"), "w", encoding="ascii") as file:
            file.write(f"[Dialer Defaults]\nModem = {os.path.realpath(bench.path('ttya'))}\nBaud = 115200\n"
                       "Init1 = ATZ\nInit2 = ATQ0 V1 E1 S0=0 &C1 &D2 +FCLASS=0\nInit3 = AT+MS=V22B\nPhone = 5551234\n"
                       f"Username = u\nPassword = p\nStupid Mode = yes\nPPPD Path = {pppd}\nDial Attempts = 1\n"
                       "Auto Reconnect = no\nCarrier Check = no\n")
        for _ in range(WVDIAL_TRIES):
            try:
                done = subprocess.run(["wvdial", "-C", bench.path("wvdial.conf")], capture_output=True, text=True, timeout=90,
                                      check=False)  # fmt: skip
                said = done.stdout + done.stderr
            except subprocess.TimeoutExpired as late:
                said = f"still there: {late.stdout!r} {late.stderr!r}"
            if os.path.exists(ran) or WVDIAL_FAULT not in said:
                break
            print("wvdial 1.61 aborted by an assertion of its own (the stacks of its tasks); again", flush=True)
            time.sleep(12)  # the call that it left is established by then, or over
            os.write(a, b"+++")
            time.sleep(1.5)
            os.write(a, b"\rATH\r")
            hear(a, b"OK", 10)
            time.sleep(2)
        if os.path.exists(ran):
            hear(b, b"CONNECT", 20)
        elif WVDIAL_FAULT in said:
            print(f"SKIPPED: a call by wvdial, which aborted {WVDIAL_TRIES} times by an assertion of its own", flush=True)
        else:
            fail("wvdial: " + said)
print("all passed")
