#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pool of two lines on one AudioSocket port: two calls at once with data both ways, refusals (no free line, a caller's limit, the
list of callers, no UUID), a call on a line that became free, graceful end. Then invalid addresses.

Usage: pool_audiosocket.py OFFHOOK
"""
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from socket import SOCK_STREAM, create_connection

from network import Exchange, NetworkBench, fail, free_ports, hear, say, settle, wait_for

UUIDS = [bytes([k]) * 16 for k in (0x11, 0x12, 0x13)]
STRANGER = b"\xee" * 16


def text(octets):
    return str(uuid.UUID(bytes=octets))


with NetworkBench(sys.argv[1]) as bench:
    pbx, (port,) = Exchange(), free_ports(1, SOCK_STREAM)
    with open(bench.path("allow"), "w", encoding="ascii") as allow:
        allow.write("".join(text(u) + "\n" for u in UUIDS[:2]) + "13131313-*\n")
    with open(bench.path("log"), "wb") as log:
        pool = bench.start("pool", f"audiosocket::{port},listen", "--lines", "2", "--per-caller", "1", "--allow", bench.path("allow"),
                           "--exec", "echo caller $OFFHOOK_CALLER on $OFFHOOK_LINE >/dev/tty; exec cat", stdout=log,
                           stderr=subprocess.STDOUT)

    def logged():
        with open(bench.path("log"), encoding="utf-8") as lines:
            return lines.read()

    wait_for(lambda: f"2 lines on audiosocket:127.0.0.1:{port}" in logged(), "pool")
    callers = [bench.modem(f"audiosocket:127.0.0.1:{pbx.port},uuid={text(u)}", f"c{k}") for k, u in enumerate(UUIDS)]
    ttys = [fd for _, fd in callers]
    for fd in ttys:
        say(fd, b"ATE0X3+MS=V22B")

    def call(k, line):
        """Caller k is connected on that line of the pool, and the program has printed the caller."""
        os.write(ttys[k], b"ATD\r")
        from_caller = pbx.accept()
        pbx.pass_on(from_caller, pbx.connect(port, UUIDS[k]))
        hear(ttys[k], b"CONNECT ", 60)
        said = hear(ttys[k], b"on ", 20) + settle(ttys[k])
        if f"caller {text(UUIDS[k])} on {line}".encode() not in said:
            fail(f"caller {k} heard {said!r}")

    def echo(k, octets):
        """Its own octets, and none of another call."""
        os.write(ttys[k], octets)
        if hear(ttys[k], octets, 20) != octets:
            fail(f"the program of caller {k} does not echo")

    def refused(octets, why):
        """The pool hangs up, and the log has the reason once."""
        before = logged().count(why)
        with create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(octets)
            if pbx.message(connection) != (0, b""):
                fail(f"no message to hang up: {why}")
            if connection.recv(1):
                fail("octets after the message to hang up")
        wait_for(lambda: logged().count(why) == before + 1, why)

    def hang_up(k):
        time.sleep(1.2)
        os.write(ttys[k], b"+++")
        hear(ttys[k], b"OK", 5)
        say(ttys[k], b"ATH", seconds=12)

    hello = b"\x01\x00\x10"
    call(0, 0)
    refused(hello + UUIDS[0], f"caller {text(UUIDS[0])} refused: 1 calls of this caller")
    refused(hello + STRANGER, f"caller {text(STRANGER)} refused: not in ")
    refused(b"GET / HTTP/1.1\r\n\r\n", "caller unknown refused: its first message is not a UUID")
    refused(hello, "caller unknown refused: its first message is not a UUID")  # and nothing more
    call(1, 1)
    for _ in range(3):
        echo(0, os.urandom(40).hex().encode())
        echo(1, os.urandom(40).hex().encode())
    refused(hello + UUIDS[2], f"caller {text(UUIDS[2])} refused: no line of 2 is free")
    hang_up(0)
    wait_for(lambda: f"line 0 caller {text(UUIDS[0])} 2400/2400 bit/s" in logged(), "end of the first call")
    call(2, 0)
    echo(2, b"the third, on the line of the first")
    echo(1, b"still there")
    pool.send_signal(signal.SIGINT)
    wait_for(lambda: "waiting for those in progress" in logged(), "word of the end")
    hang_up(1)
    wait_for(lambda: f"line 1 caller {text(UUIDS[1])} 2400/2400 bit/s" in logged(), "end of the second call")
    refused(hello + UUIDS[1], f"caller {text(UUIDS[1])} refused: no further calls")
    echo(2, b"to the last")
    hang_up(2)
    if pool.wait(20) != 0:
        fail(f"the pool's exit status: {pool.returncode}")
    print(logged())
    ends = re.findall(r"line (\d) caller (\S+) 2400/2400 bit/s, [\d.]+ s, (\d+) bytes sent, (\d+) received, end: ", logged())
    if [(line, who) for line, who, _, _ in ends] != [("0", text(UUIDS[0])), ("1", text(UUIDS[1])), ("0", text(UUIDS[2]))]:
        fail(f"one line for each call was expected, not {ends}")
    for p, _ in callers:
        p.send_signal(signal.SIGINT)
        p.wait()

    # One error for each. The last span exists on no machine.
    for words, expected in ((["audiosocket::9092"], "expected audiosocket:HOST:PORT,listen"),
                            (["audiosocket:,listen"], "it has no port"),
                            (["tape:1"], "expected sip:USER@HOST, audiosocket:HOST:PORT,listen or dahdi:SPAN"),
                            (["dahdi:1/0"], "expected a span or channels of a span"),
                            (["dahdi:1/3,1/2-4"], "channel 1/3 comes twice"),
                            (["dahdi:999"], "no channels of span 999")):
        said = subprocess.run([sys.argv[1], "pool", *words, "--best-effort"], capture_output=True, text=True, timeout=60, check=False)
        if said.returncode != 1 or expected not in said.stderr or said.stderr.count("\n") != 1:
            fail(f"{words}: status {said.returncode}, {said.stderr!r}")
print("all passed")
