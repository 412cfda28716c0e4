#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`offhook trunk-test`: the command must find the effects of this test's network on octets.

Usage: trunk_test.py OFFHOOK. Over RTP through a relay that robs bits and loses packets in one direction, and by SIP as a
call from an account to itself.
"""
import json
import socket
import struct
import subprocess
import sys
import threading

from network import fail, free_ports

offhook = sys.argv[1]


def tested(*words):
    done = subprocess.run([offhook, "trunk-test", *words, "--seconds", "12", "--best-effort", "--json"],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        fail(f"trunk-test {words}: status {done.returncode}, {done.stderr}")
    return json.loads(done.stdout)


class Relay(threading.Thread):
    """From one port to another: the last bit of every sixth octet is 1, and three packets in the middle are lost."""

    def __init__(self, port, to, damages):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.to, self.damages, self.first, self.lost = to, damages, None, 0

    def run(self):
        while True:
            packet = bytearray(self.socket.recv(2048))
            sequence, timestamp = struct.unpack_from(">HI", packet, 2)
            if self.first is None:
                self.first = sequence
            if self.damages:
                if (sequence - self.first) & 0xFFFF in (100, 101, 102):  # 2 s after the beginning
                    self.lost += len(packet) - 12
                    continue
                for k in range(12, len(packet)):
                    if (timestamp + k) % 6 == 0:
                        packet[k] |= 1
            self.other.socket.sendto(packet, ("127.0.0.1", self.to))


a, b, relay_a, relay_b = free_ports(4)
to_b, to_a = Relay(relay_a, b, True), Relay(relay_b, a, False)
to_b.other, to_a.other = to_a, to_b  # each sends from the port that its far end knows
to_b.start(), to_a.start()
r = tested(f"rtp:127.0.0.1:{a},127.0.0.1:{relay_a}", f"rtp:127.0.0.1:{b},127.0.0.1:{relay_b}")
if r["a_to_b"]["path"] != "mapped" or len(r["a_to_b"]["robbed_intervals"]) != 1:
    fail(f"robbed bits: {r['a_to_b']}")
if not 0 < to_b.lost <= r["a_to_b"]["lost_samples"] < to_b.lost + 800:
    fail(f"{to_b.lost} samples were lost: {r['a_to_b']}")
if r["b_to_a"]["path"] != "transparent" or r["b_to_a"]["jumps"]:
    fail(f"the other direction: {r['b_to_a']}")
if r["a_to_b"]["rates"][-1]["bit_rate"] > r["b_to_a"]["rates"][-1]["bit_rate"]:
    fail("robbed bits raise the rate")

(port,) = free_ports(1)
r = tested(f"sip:100@127.0.0.1:{port},register=no,local=127.0.0.1:{port},law=pcma", "--number", "100")
if r["a_to_b"]["path"] != "transparent" or r["b_to_a"]["path"] != "transparent" or not r["v90_from_a"]:
    fail(f"a call with itself: {r}")
done = subprocess.run([offhook, "trunk-test", "null"], capture_output=True, text=True)
if done.returncode != 1 or "expected sip:USER@HOST, or two cards" not in done.stderr:
    fail(f"one card: {done.returncode}, {done.stderr}")
print("ok")
