#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bounds of V.92's PCM upstream: the most points that a power and a spacing permit, as a Markdown table.

    v92_upstream_bound.py [LEVEL]     LEVEL of the points at the codec, dBm0 (-21.2)

The points of a mu-law codec's input are equally likely, and their mean square is LEVEL. Their spacing is a multiple of
the codec's step there. An echo moves a level to places with other steps: then the step is the root of their mean square.
A symbol carries the logarithm of the number of points, less a quarter of a bit for V.34's trellis code.
"""
import math
import sys

FULL_SCALE_DBM0, FULL_SCALE = 3.14, 32768 / math.sqrt(2)  # root mean square of a sine whose peak is full scale
SPACINGS = (1, 1.25, 1.5, 2)
ECHOES = (24, 30, 40, None)  # dB below the digital modem's -12 dBm0


def rms(dbm0):
    return FULL_SCALE * 10 ** ((dbm0 - FULL_SCALE_DBM0) / 20)


def step(level):
    """G.711, mu-law: 8 below the end of the first chord, and twice as much in each further one."""
    return 8 * 2 ** sum(level >= 4 * ((33 << chord) - 33) for chord in range(1, 8))


def mean_step(level, echo):
    places = [(math.exp(-z * z / 2), step(abs(level + echo * z))) for z in (k / 4 for k in range(-12, 13))]
    return math.sqrt(sum(share * size**2 for share, size in places) / sum(share for share, _ in places))


def bits_per_second(dbm0, spacing, echo_db):
    echo = 0 if echo_db is None else rms(-12 - echo_db)
    energy, count, level = 0, 0, spacing * mean_step(0, echo) / 2
    while level < 32124 and energy + level**2 <= (count + 1) * rms(dbm0) ** 2:
        energy, count = energy + level**2, count + 1
        level += spacing * mean_step(level, echo)
    return 8000 * (math.log2(2 * count) - 0.25)


def main():
    dbm0 = float(sys.argv[1]) if len(sys.argv) > 1 else -21.2
    print("| card's echo | " + " | ".join(f"{spacing:g} steps" for spacing in SPACINGS) + " |")
    print("|---|" + "---|" * len(SPACINGS))
    for echo in ECHOES:
        rates = (bits_per_second(dbm0, spacing, echo) for spacing in SPACINGS)
        name = "none" if echo is None else f"{echo} dB"
        print(f"| {name} | " + " | ".join(f"{rate:,.0f}" for rate in rates) + " |")


main()
