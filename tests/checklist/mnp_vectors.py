#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vectors of MNP's frames, only from descriptions of V.42 (1993 and 1996), Annex A, without code of Offhook.

    mnp_vectors.py          print the vectors
    mnp_vectors.py FILE     fail unless FILE contains the printed vectors

A vector is a frame on the line. Octets of start-stop characters (A.3) are hexadecimal. Frames between flags (A.4) are
bits in order of time, from the opening flag to the closing one.
"""
import pathlib
import sys

SYN, DLE, STX, ETX = 0x16, 0x10, 0x02, 0x03


def remainder(octets, polynomial, preset):
    """A division of polynomials, bit by bit, the least significant bit of each octet first; 16 bits in line order."""
    register = [preset] * 16                        # the highest power first
    for octet in octets:
        for k in range(8):
            top = register[0] ^ (octet >> k & 1)
            register = register[1:] + [0]
            if top:
                register = [bit ^ (polynomial >> (15 - i) & 1) for i, bit in enumerate(register)]
    return register


def octets_of(bits):
    return [sum(bit << k for k, bit in enumerate(bits[i:i + 8])) for i in range(0, len(bits), 8)]


def start_stop(body):
    """A.3: x^16 + x^15 + x^2 + 1 from zero, over the frame and the ETX."""
    line = [SYN, DLE, STX]
    for octet in body:
        line += [octet, octet] if octet == DLE else [octet]
    line += [DLE, ETX] + octets_of(remainder(body + [ETX], 0x8005, 0))
    return " ".join(f"{octet:02x}" for octet in line)


def flags(body):
    """A.4, ISO 3309: x^16 + x^12 + x^5 + 1 preset to ones, inverted; a zero after five ones."""
    check = [1 - bit for bit in remainder(body, 0x1021, 1)]
    bits = [octet >> k & 1 for octet in body for k in range(8)] + check
    line, ones = [], 0
    for bit in bits:
        line.append(bit)
        ones = ones + 1 if bit else 0
        if ones == 5:
            line.append(0)
            ones = 0
    return "01111110" + "".join(map(str, line)) + "01111110"


def header(*octets):
    return [len(octets), *octets]


def request(framing, k, n401, optimization):
    """Table A.2."""
    parameters = [1, 6, 1, 0, 0, 0, 0, 255, 2, 1, framing, 3, 1, k, 4, 2, n401 & 255, n401 >> 8]
    if optimization:
        parameters += [8, 1, optimization]
    return header(1, 2, *parameters)


VECTORS = [
    start_stop(request(2, 8, 64, 0)),
    start_stop(request(3, 8, 64, 0)),
    start_stop(request(3, 15, 64, 3)),
    start_stop(request(2, 16, 256, 2)),             # its k is a DLE
    start_stop(header(5, 1, 1, 0, 2, 1, 8)),        # LA, Table A.3a
    start_stop(header(5, 0, 8)),                    # LA, Table A.3b
    start_stop(header(4, 1, 1, 1) + [0x41, DLE, ETX, DLE, DLE, 0xFF]),  # LT, Table A.6a
    start_stop(header(4, DLE) + [DLE]),             # LT, Table A.6b
    start_stop(header(2, 1, 1, 255)),               # LD, Table A.4
    start_stop(header(6, 1, 1, 1, 2, 1, 2)),        # LN
    start_stop(header(7, 1, 1, 1)),                 # LNA
    flags(header(4, 1, 1, 1) + [0x41, 0xFF, 0x7E, 0xFF]),
    flags(header(4, 255) + [0xFF] * 4),
    flags(header(5, 17, 3)),
]

lines = "".join(f'"{vector}",\n' for vector in VECTORS)
if len(sys.argv) > 1:
    same = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8") == lines
    print(f"{sys.argv[1]} has {len(VECTORS)} vectors" if same else f"{sys.argv[1]} is not what {sys.argv[0]} prints")
    sys.exit(not same)
print(lines, end="")
