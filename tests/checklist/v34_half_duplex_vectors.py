#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vectors of V.34's half-duplex sequences, only from the text (10/96, 10.2), without code of Offhook.

    v34_half_duplex_vectors.py          print the vectors v34_half_duplex_vectors.py FILE     fail unless FILE
    contains the printed vectors

Bits are in order of time; numbers of a table begin with the least significant bit. Symbols are quadrants: 0 is the
first quadrant, then clockwise. After a slash, they have the label of the point in its quarter.
"""
import cmath
import pathlib
import sys


def crc(bits):
    """Figure 14: x^16 + x^12 + x^5 + 1, preset to ones, as a division of polynomials."""
    value = 0xFFFF                                  # bit 15 of this register is bit 0 in the figure
    for bit in bits:
        top = (value >> 15) ^ bit
        value = (value << 1) & 0xFFFF
        if top:
            value ^= 0x1021
    return [value >> k & 1 for k in range(15, -1, -1)]


def number(value, count):
    return [value >> k & 1 for k in range(count)]


def text(bits):
    return "".join(map(str, bits))


def infoh(power, trn, high, pre_emphasis, rate, points16):
    """Table 22."""
    body = number(power, 3) + number(trn, 7) + [high] + number(pre_emphasis, 4) + number(rate, 3) + [points16]
    frame = [1] * 4 + [0, 1, 1, 1, 0, 0, 1, 0] + body + crc(body) + [1] * 4
    assert len(frame) == 51
    return text(frame)


def mph(rate, control, trellis, nonlinear, shaping, mask, asymmetric, taps=None):
    """Tables 23 and 24: bit positions as printed."""
    size = 188 if taps else 88
    frame = [0] * size
    frame[0:17] = [1] * 17
    frame[18] = int(taps is not None)
    frame[20:24] = number(rate, 4)
    frame[27] = control
    frame[29:31] = number(trellis, 2)
    frame[31], frame[32] = nonlinear, shaping
    frame[35:49] = number(mask, 14)
    frame[50] = asymmetric
    starts = [17, 34, 51, 68]
    if taps:
        starts += [85, 102, 119, 136, 153, 170]
        for k, tap in enumerate(taps):
            frame[52 + 17 * k:68 + 17 * k] = number(tap & 0xFFFF, 16)
    at = 171 if taps else 69
    frame[at:at + 16] = crc([bit for k, bit in enumerate(frame[:at]) if k > 16 and k not in starts])
    return text(frame)


def pph():
    """(10-2), with I in place of the printed 1: eighths of a turn."""
    out = []
    for i in range(32):
        k, odd = divmod(i, 2)
        point = cmath.exp(1j * cmath.pi * (2 * k * (k - odd) + 1) / 4)
        out.append(round(cmath.phase(point) / (cmath.pi / 4)) % 8)
    return text(out)


def scrambled(bits, first):
    """Clause 7, from zero: 1 + x^-18 + x^-23 for a call modem, 1 + x^-5 + x^-23 for an answer modem."""
    out = []
    for k, bit in enumerate(bits):
        out.append(bit ^ (out[k - first] if k >= first else 0) ^ (out[k - 23] if k >= 23 else 0))
    return out


def control(bits, first, per_symbol):
    """10.2.4: differential quadrants and labels."""
    z, out, line = 0, [], scrambled(bits, first)
    for k in range(0, len(line), per_symbol):
        i1, i2 = line[k:k + 2]
        q1, q2 = line[k + 2:k + 4] if per_symbol == 4 else (0, 0)
        z = (z + 2 * i2 + i1) % 4
        out.append(f"{z}/{2 * q2 + q1}")
    return " ".join(out)


VECTORS = [
    infoh(0, 43, 0, 0, 5, 0),
    infoh(5, 100, 1, 10, 3, 1),
    mph(14, 1, 2, 0, 1, 0x3FFF, 1),
    mph(1, 0, 0, 1, 0, 0x0001, 0),
    mph(9, 1, 2, 1, 1, 0x1FFE, 1, [0x1234, -2, 0x4000, -0x8000, 77, -12345]),
    pph(),
    control([0, 1] * 24, 18, 2),
    control([0, 1] * 24, 5, 2),
    control([1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1] * 6, 18, 4),
]

lines = "".join(f'"{vector}",\n' for vector in VECTORS)
if len(sys.argv) > 1:
    same = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8") == lines
    print(f"{sys.argv[1]} has {len(VECTORS)} vectors" if same else f"{sys.argv[1]} is not what {sys.argv[0]} prints")
    sys.exit(not same)
print(lines, end="")
