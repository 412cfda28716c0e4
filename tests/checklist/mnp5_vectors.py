#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vectors of MNP's class 5, only from descriptions (docs/mnp.md), without code of Offhook.

    mnp5_vectors.py          print the vectors
    mnp5_vectors.py FILE     fail unless FILE contains the printed vectors

A vector has the octets of a text, with a flush after each of its parts, as hexadecimal digits.
"""
import itertools
import pathlib
import sys


def code(rank):
    """Three bits: how many follow, or one for 000; 111 and seven ones have one more."""
    if rank == 255:
        return "111" + "11111110"
    if rank < 2:
        return "000" + str(rank)
    bits = format(rank, "b")[1:]
    return format(len(bits), "03b") + bits


def encode(parts):
    table = [[0, c] for c in range(256)]            # occurrences, character
    bits, run = "", []

    def character(c):
        rank = next(r for r, row in enumerate(table) if row[1] == c)
        row = table.pop(rank)
        row[0] += 1
        table.insert(sum(other[0] >= row[0] for other in table[:rank]), row)
        if table[0][0] == 255:
            for each in table:
                each[0] //= 2
        return code(rank)

    for part in parts:
        for c in part:
            if len(run) >= 3 and run[0] == c:
                run.append(c)
                if len(run) == 253:
                    bits, run = bits + code(250), []
                continue
            if len(run) >= 3:
                bits += code(len(run) - 3)
            run = [*run, c] if run[:1] == [c] else [c]
            bits += character(c)
        if len(run) >= 3:
            bits, run = bits + code(len(run) - 3), []
        if len(bits) % 8:
            bits += "1" * 11
            bits += "1" * (-len(bits) % 8)
            run = []
    return "".join(f"{int(bits[k:k + 8], 2):02x}" for k in range(0, len(bits), 8))


often = list(itertools.chain.from_iterable((97, 98, 97, 99 + i % 20) for i in range(300)))
TEXTS = [[b"a"], [b"aaa"], [b"aaab"], [b"aaaaaaaa"], [b"x" * 600], [bytes(range(256))], [[255, 254, 255, 253]],
         [b"aaa", b"aaa", b"", b"b"], [often]]

lines = "".join(f'"{encode(text)}",\n' for text in TEXTS)
if len(sys.argv) > 1:
    same = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8") == lines
    print(f"{sys.argv[1]} has {len(TEXTS)} vectors" if same else f"{sys.argv[1]} is not what {sys.argv[0]} prints")
    sys.exit(not same)
print(lines, end="")
