#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two modems over RTP on the loopback interface: bytes both ways, escape, hang-up, the summary's counts.

Usage: rtp_call.py OFFHOOK CARRIER [OPTION ...]. With loss=N the test's relay drops every Nth packet to the answerer:
V.42 repairs the bytes, and the summary has the number. With hidden=N it alternately drops and repeats every Nth packet
and renumbers the later ones, like a gateway whose buffer moves. The receiver must find each slip by itself, without a
retrain.
"""
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

from network import NetworkBench, exchange, fail, free_ports, hear, say, settle

carrier, words = sys.argv[2].encode(), sys.argv[3:]
loss, hidden = (next((int(w.split("=")[1]) for w in words if w.startswith(name)), 0) for name in ("loss=", "hidden="))
options = "".join("," + w for w in words if not w.startswith(("loss=", "hidden=")))
SILENCE_S = 30
AMOUNT = {b"V22B": 400, b"V32B": 4000, b"V34": 20000}


class Relay(threading.Thread):
    """RTP packets from one address to another, of which one in N is dropped, from 30 s on."""

    def __init__(self, port, to, every):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.connect(("127.0.0.1", to))
        self.every, self.count, self.dropped, self.dropping = every, 0, 0, False
        self.missing = False  # a packet whose gap is hidden
        self.other = None

    def run(self):
        while True:
            try:
                packet = bytearray(self.socket.recv(2048))
            except ConnectionRefusedError:
                continue
            self.count += 1
            if self.dropping and self.count % self.every == 0:
                self.dropped += 1
                if not hidden:
                    continue
                self.missing = not self.missing
                if self.missing:
                    continue
                self.send(packet, 1)
            self.send(packet, self.missing)

    def send(self, packet, earlier):
        """@param earlier  number of packets by which its sequence number was reduced"""
        sequence, timestamp = struct.unpack_from(">HI", packet, 2)
        copy = bytearray(packet)
        struct.pack_into(">HI", copy, 2, sequence - earlier & 0xFFFF, timestamp - earlier * (len(packet) - 12) & 0xFFFFFFFF)
        try:
            self.other.socket.send(copy)
        except ConnectionRefusedError:
            pass


with NetworkBench(sys.argv[1]) as bench:
    a_port, b_port, a_relay, b_relay = free_ports(4)
    if loss or hidden:
        # Each modem has its own relay, which passes its packets to the other's relay.
        of_a, of_b = Relay(a_relay, a_port, 10**9), Relay(b_relay, b_port, 10**9)
        of_a.other, of_b.other = of_b, of_a
        of_a.every = loss or hidden  # the caller's packets are dropped
        of_a.start(), of_b.start()
        remotes = a_relay, b_relay
    else:
        remotes = b_port, a_port
    one, a = bench.modem(f"rtp::{a_port},:{remotes[0]}{options}", "a")
    other, b = bench.modem(f"rtp::{b_port},:{remotes[1]}{options}", "b")
    for tty in (a, b):
        say(tty, b"ATE0X3+MS=" + carrier + b";+MR=1")
    os.write(b, b"ATA\r")
    os.write(a, b"ATD\r")
    said = hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    print("caller:", said.replace(b"\r", b" ").replace(b"\n", b"").decode())
    if b"+MCR: " + carrier not in said:
        fail(f"another modulation than {carrier!r}")
    settle(b)
    if loss or hidden:
        of_a.dropping = True
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, AMOUNT[carrier], 90)
    if loss or hidden:
        time.sleep(3)
        of_a.dropping = False
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH", seconds=12)
    hear(b, b"NO CARRIER", 12)
    report = say(b, b"AT&V1")
    for p in (one, other):
        p.send_signal(signal.SIGINT)
    for p in (one, other):
        p.wait()
    for end in "ab":
        with open(bench.path(f"out{end}/summary.json"), encoding="utf-8") as text:
            summary = json.load(text)
        network = summary["network"]
        print(end, network)
        lost = of_a.dropped if loss and end == "b" else 0
        if hidden and end == "b":
            print(of_a.dropped, "slips made;", *re.findall(rb"(?:slips|retrains): [^\r\n]*", report))
            if summary["blocks_late"] > 0 or network["samples_lost"] > 0:
                print("this host was late itself: only the bytes count")
            elif of_a.dropped < 2 or b"retrains: 0" not in report or b"slips: %d" % of_a.dropped not in report:
                fail(f"{of_a.dropped} slips were made: {report!r}")
        if network["packets_received"] < 500 or network["packets_lost"] != lost:
            fail(f"{lost} packets were dropped on the way")
        if network["samples_lost"] < 160 * lost:
            fail("a packet is 160 samples")
print("all passed")
