#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls over AudioSocket, with an exchange written from its description: a modem that calls through it, one that it calls.

Usage: audiosocket_call.py OFFHOOK CARRIER
"""
import os
import signal
import sys

from network import Exchange, NetworkBench, exchange, fail, free_ports, hear, say, settle
from socket import SOCK_STREAM

carrier = sys.argv[2].encode()
UUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"

with NetworkBench(sys.argv[1]) as bench:
    pbx, (port,) = Exchange(), free_ports(1, SOCK_STREAM)
    answering, b = bench.modem(f"audiosocket::{port},listen", "b")
    calling, a = bench.modem(f"audiosocket::{pbx.port},uuid={UUID}", "a")
    say(b, b"ATE0S0=2+MS=" + carrier + b";+VCID=1")
    say(a, b"ATE0X3+WHY=1;+MS=" + carrier)
    os.write(a, b"ATD\r")
    from_a = pbx.accept()
    if pbx.uuids != [bytes(range(16))]:
        fail(f"the UUID was {pbx.uuids}")
    to_b = pbx.connect(port)
    hear(b, UUID.encode(), 5)  # the first ring, and the caller
    ways = pbx.pass_on(from_a, to_b)
    hear(b, b"RING", 10)  # the second of S0=2
    hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    settle(b)
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 400, 60)
    # A second call while the line is busy gets the answer immediately.
    second = pbx.connect(port)
    kind, _ = pbx.message(second)
    if kind != 0:
        fail("a busy line took a second call")
    to_b.close()  # the exchange fails without a hang-up message
    hear(b, b"NO CARRIER", 5)
    from_a.sendall(b"\x00\x00\x00")
    said = hear(a, b"reached", 5)
    if b"the far end hung up" not in said:
        fail(f"the reason was {said!r}")
    sizes = {length for kind, length in pbx.seen if kind == 0x10}
    if sizes != {320}:
        fail(f"audio came in messages of {sizes} octets; expected 20 ms")
    # Nobody listens.
    pbx.listener.close()
    os.write(a, b"ATD\r")
    said = hear(a, b"reached", 10)
    if b"NO CARRIER" not in said or b"does not answer" not in said:
        fail(f"a call to nobody ended with {said!r}")
    for p in (calling, answering):
        p.send_signal(signal.SIGINT)
        p.wait()
print("all passed")
