#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The smallest far end for `offhook run --far-end unix:PATH`: it hears samples and sends the same number back.

Usage: far-end-peer.py PATH [PEAK]: prints the level it hears once a second and sends back silence, or with PEAK noise
whose samples lie within +-PEAK. A real peer puts its modem where this one puts noise().
"""
import array
import math
import random
import socket
import sys
import time


def noise(n, peak):
    return array.array("h", (random.randint(-peak, peak) for _ in range(n)))


path, peak = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
while peer.connect_ex(path) != 0:
    time.sleep(0.1)
heard, energy = 0, 0
while True:
    received = peer.recv(65536)
    if not received:
        break
    if len(received) % 2:
        received += peer.recv(1, socket.MSG_WAITALL)
    samples = array.array("h", received)
    peer.sendall(noise(len(samples), peak).tobytes())
    heard += len(samples)
    energy += sum(s * s for s in samples)
    if heard >= 8000:
        print(f"heard {heard} samples, rms {math.sqrt(energy / heard):.0f}")
        heard, energy = 0, 0
