#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The smallest far end for `offhook run --far-end unix:PATH`: it gets samples and sends the same number back.

A real peer has its modem in place of noise(). It ends when the call does.
"""

import argparse
import array
import math
import random
import socket
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", metavar="PATH", help="the socket that --far-end names; waits until it is there")
    parser.add_argument(
        "peak",
        metavar="PEAK",
        type=int,
        nargs="?",
        default=0,
        help="send noise whose samples lie within +-PEAK, not silence",
    )
    return parser.parse_args()


def noise(n, peak):
    return array.array("h", (random.randint(-peak, peak) for _ in range(n)))


def answer(peer, peak):
    """Prints the received level once per second of line time."""
    heard, energy = 0, 0
    while True:
        received = peer.recv(65536)
        if not received:
            return
        if len(received) % 2:
            received += peer.recv(1, socket.MSG_WAITALL)
        samples = array.array("h", received)
        peer.sendall(noise(len(samples), peak).tobytes())
        heard += len(samples)
        energy += sum(s * s for s in samples)
        if heard >= 8000:
            print(f"heard {heard} samples, rms {math.sqrt(energy / heard):.0f}", flush=True)
            heard, energy = 0, 0


def main():
    args = arguments()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            while peer.connect_ex(args.path) != 0:
                time.sleep(0.1)
            answer(peer, args.peak)
        except (BrokenPipeError, ConnectionResetError):  # the other side has hung up
            pass
        except KeyboardInterrupt:
            sys.exit(130)


if __name__ == "__main__":
    main()
