#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vectors of V.92's PCM upstream, from the text (11/2000, 6.4 and 8.5 to 8.8) alone: no code of the product is used.

    v92_pcm_upstream_vectors.py          print the vectors
    v92_pcm_upstream_vectors.py FILE     fail unless FILE holds what is printed

Bits are in order of time, numbers of a table from the least significant bit. Symbols are signs ("+", "-", "0"), or odd
numbers in units of L_U over the root of 5 or 21. Tables 28 and 29 do not say which bit is first in time: here the sign.
The filters are computed with fractions, without rounding.
"""
import pathlib
import sys
from fractions import Fraction

GPA, GPC = 5, 18          # V.34, clause 7: the tap beside the one of 23
SYNC = [1] * 17


def crc(bits):
    """V.34, Figure 14: x^16 + x^12 + x^5 + 1, preset to ones, as a division of polynomials."""
    value = 0xFFFF                                  # bit 15 of this register is bit 0 of the figure
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


def sequence(words, fill=1):
    """Frame sync, and each word of sixteen bits with its start bit; the CRC is of the words alone."""
    assert all(len(word) == 16 for word in words)
    body = [bit for word in words for bit in word]
    return SYNC + [bit for word in words for bit in [0] + word] + [0] + crc(body) + [0] * fill


def padded(bits, multiple):
    return bits + [0] * (-len(bits) % multiple)


def info(body):
    return [1] * 4 + [0, 1, 1, 1, 0, 0, 1, 0] + body + crc(body) + [1] * 4


def info1d(pcm_upstream, probing, offset):
    """Table 17. probing: carrier, pre-emphasis, rate for 2400 to 3200; for 3429 bit 70 has no carrier."""
    body = number(0, 3) + number(2, 3) + number(0, 7)
    for carrier, filter_index, rate in probing[:5]:
        body += [carrier] + number(filter_index, 4) + number(rate, 4)
    body += [pcm_upstream] + number(probing[5][1], 4) + number(probing[5][2], 4) + number(offset & 1023, 10)
    return info(body)


def info1a(sections, total, each, md, u_info):
    """Table 18."""
    return info(number(sections, 2) + number(total, 2) + number(each, 2) + number(md, 7) + number(u_info, 7) + [0, 0] +
                number(6, 3) + number(6, 3) + [1] * 10)


# --- sequences of the digital modem

def jd(rates, look_ahead):
    """Table 21. rates: numbers, 0 for 28 000."""
    mask = [int(k in rates) for k in range(22)]
    return sequence([mask[:16], mask[16:] + [0] * 6 + [0, 0] + number(look_ahead, 2)], 4)


def jp(extension, points8, points8_later):
    """Table 22."""
    return sequence([number(extension, 16), [0] * 12 + [1, points8, points8_later, 0]], 4)


def suvd(silence, acknowledge):
    """Table 31."""
    return sequence([[1] + [0] * 13 + [silence, acknowledge]])


def cpd(drn, trellis, extend, acknowledge, gain, moduli=None, filters=None, sets=None):
    """Table 30. filters: z1, p1, z2, p2 as integers; sets: (index of each interval, positive points of each set)."""
    words = [[0, int(moduli is not None), int(filters is not None), int(sets is not None)] + number(drn, 5) +
             number(trellis, 2) + [extend] + [0] * 3 + [acknowledge], number(gain, 16)]
    if moduli is not None:
        words += [number(moduli[k], 8) + number(moduli[k + 1], 8) for k in range(0, 12, 2)]
    if filters is not None:
        words += [number(len(taps), 9) + [0] * 7 for taps in filters]
        words += [number(tap & 0xFFFF, 16) for taps in filters for tap in taps]
    if sets is not None:
        interval, points = sets
        size = [len(p) for p in points] + [0] * (6 - len(points))
        words.append([bit for k in range(4) for bit in number(interval[k], 4)])
        words.append(number(interval[4], 4) + number(interval[5], 4) + [0] * 8)
        words += [number(size[k], 8) + number(size[k + 1], 8) for k in range(0, 6, 2)]
        words += [number(point, 16) for p in points for point in p]
    return sequence(words)


# --- sequences of the analogue modem

def suvu(wait, level, silence, acknowledge):
    """Table 27. level in quarters."""
    return sequence([[1] + [0] * 7 + [wait] + number(level & 31, 5) + [silence, acknowledge]])


def cpus(drn, acknowledge):
    """Table 24."""
    return sequence([[0] + number(2, 2) + number(drn, 5) + [0] * 7 + [acknowledge]])


def cp(kind, drn, shaping, acknowledge, a_law, look_ahead, ratio, taps, interval, sets, codec=None):
    """Table 23. kind 0: CPt, 1: CPu. sets: Ucodes of each constellation."""
    words = [[0] + number(kind, 2) + number(drn, 5) + [0] * 5 + number(shaping, 2) + [acknowledge],
             [a_law] + [0] * 13 + number(look_ahead, 2), number(ratio, 16),
             number(taps[0] & 255, 8) + number(taps[1] & 255, 8), number(taps[2] & 255, 8) + number(taps[3] & 255, 8),
             [bit for k in range(4) for bit in number(interval[k], 4)],
             number(interval[4], 4) + number(interval[5], 4) + [int(codec is not None)] + [0] * 7]
    assert max(interval) + 1 == len(sets)
    for ucodes in sets + (codec or []):
        words += [[int(16 * chord + k in ucodes) for k in range(16)] for chord in range(8)]
    return sequence(words)


def dil_descriptor(segments, rates):
    """Table 12 of V.90, of which bits up to 187 + beta + 17 N/2 are V.92's (Table 20); here patterns of 16 bits."""
    count = len(segments)
    words = [number(count, 8) + [0] * 8]
    length = max(0, 16 - 1) if count else 0
    words.append(number(length, 7) + [0] + number(length, 7) + [0])
    words += [[k & 1 for k in range(16)] if count else [0] * 16, [1] * 16 if count else [0] * 16]
    words += [number(2 * k if count else 0, 7) + [0] + number(2 * k + 1 if count else 0, 7) + [0] for k in range(4)]
    words += [number(80 + 2 * k if count else 0, 7) + [0] + number(81 + 2 * k if count else 0, 7) + [0]
              for k in range(4)]
    for k in range(0, count, 2):
        pair = segments[k:k + 2]
        words.append(number(pair[0], 7) + [0] + (number(pair[1], 7) + [0] if len(pair) > 1 else [0] * 8))
    mask = [int(k in rates) for k in range(19)]
    words += [mask[:16], mask[16:] + [0] * 13]
    return padded(sequence(words), 12)


# --- symbols

class Scrambler:
    """V.34, clause 7, from zero."""

    def __init__(self, tap):
        self.tap, self.out = tap, []

    def __call__(self, bit):
        out, n = self.out, len(self.out)
        bit ^= (out[n - self.tap] if n >= self.tap else 0) ^ (out[n - 23] if n >= 23 else 0)
        out.append(bit)
        return bit


def sign(bit):
    return "-" if bit else "+"


class TwoPoints:
    """TRN1u and what is sent with its modulation: 8.5.1, 8.5.2, 8.5.4, 8.5.7."""

    def __init__(self):
        self.scrambler, self.last = Scrambler(GPA), 0

    def trn1u(self, count):
        out = [self.scrambler(1) for _ in range(count)]
        self.last = out[-1]
        return "".join(map(sign, out))

    def coded(self, bits):
        out = ""
        for bit in bits:
            self.last ^= self.scrambler(bit)
            out += sign(self.last)
        return out


class MultiLevel:
    """TRN2u and what is sent with its modulation: 8.7.2, 8.7.3, 8.7.5, 8.7.6."""

    def __init__(self, points, last):
        self.bits, self.scrambler, self.last = {4: 2, 8: 3}[points], Scrambler(GPA), last

    def coded(self, bits):
        out = []
        for k in range(0, len(bits), self.bits):
            line = [self.scrambler(bit) for bit in bits[k:k + self.bits]]
            self.last ^= line[0]
            size = 2 * int(text(line[1:]), 2) + 1
            out.append(f"{sign(self.last)}{size}")
        return " ".join(out)


# --- data mode

class ModulusEncoder:
    """6.4.1."""

    def __init__(self, moduli, k):
        self.moduli, self.k, self.d, self.most = moduli, k, 0, 1
        for m in moduli:
            self.most *= m
        assert 2 ** k <= self.most

    def __call__(self, bits):
        r = sum(bit << k for k, bit in enumerate(bits))
        s = int(Fraction(r) > Fraction(self.most - 1, 2))
        rest = r if self.d == 0 else self.most - 1 - r
        self.d ^= s
        digits = []
        for m in self.moduli:
            digits.append(rest % m)
            rest = (rest - digits[-1]) // m
        return digits


def label(x, v):
    """V.34, Figure 9: turns counter-clockwise until both coordinates are 1 modulo 4, and whether the rest is odd."""
    turns = 0
    while not (x % 4 == 1 and v % 4 == 1):
        x, v, turns = -v, x, turns + 1
    return 4 * (((x - 1) // 4 + (v - 1) // 4) & 1) + turns


def inverse_map(y):
    """6.4.3; Table 13 of V.34. @return Y4, Y3, Y2, Y1"""
    s = [label(2 * y[k] + 1, 2 * y[k + 1] + 1) for k in (0, 2)]
    a2, a1, a0 = (s[0] >> k & 1 for k in (2, 1, 0))
    b2, b1, b0 = (s[1] >> k & 1 for k in (2, 1, 0))
    return a2 ^ b2, a1, a0, a1 ^ b1 ^ (a0 & (1 - b0))


def next_cells(cells, y4, y3, y2, y1):
    """V.34, Figures 10, 11, 12, the cells from left to right. Y0 is the last."""
    if len(cells) == 4:
        a, b, c, d = cells
        return [d, a ^ y2 ^ d, b ^ y2, c ^ y1]
    if len(cells) == 5:
        a, b, c, d, e = cells
        return [e, a ^ y2, b ^ y1, c ^ y4, d ^ y2]
    a, b, c, d, e, f = cells
    return [y4 ^ a ^ b ^ (c & (b ^ y1)), a ^ b ^ y3 ^ (y2 & c) ^ d, b ^ y1 ^ c, c, f, e ^ y2 ^ c]


class Precoder:
    """6.4.2 to 6.4.4."""

    def __init__(self, moduli, cells, gain, filters, sets):
        self.moduli, self.cells, self.gain = moduli, [0] * cells, Fraction(gain, 4 << 16)
        z1, p1, z2, p2 = filters
        self.z1, self.z2 = ([Fraction(tap, 1 << 15) for tap in taps] for taps in (z1, z2))
        self.p1, self.p2 = ([Fraction(tap, 1 << 14) for tap in taps] for taps in (p1, p2))
        interval, points = sets
        self.levels = [{y: p[y] if y >= 0 else -p[-1 - y] for y in range(-len(p), len(p))}
                       for p in (points[interval[i % 6]] for i in range(12))]
        self.u, self.x, self.v, self.n, self.y = [], [], [], 0, []

    @staticmethod
    def past(signal, taps):
        return sum(tap * signal[-k] for k, tap in enumerate(taps, 1) if k <= len(signal))

    def __call__(self, digit):
        i = self.n % 12
        k, m, levels = i % 4, self.moduli[i], self.levels[i]
        if k == 3:
            parity = (sum(self.y) + self.cells[-1]) % 2
            members = [y for y in levels if (y - 2 * digit - parity) % (2 * m) == 0]
        else:
            members = [y for y in levels if (y - digit) % m == 0]
        offset = self.past(self.u, self.z1) + self.past(self.x, self.p1)
        members.sort(key=lambda y: abs(levels[y] + offset))
        y = members[0]
        if len(members) > 1:  # no arithmetic of few bits decides otherwise
            assert abs(levels[members[1]] + offset) - abs(levels[y] + offset) > 1
        self.u.append(Fraction(levels[y]))
        self.x.append(levels[y] + offset)
        v = self.z2[0] * self.x[-1] + self.past(self.x[:-1], self.z2[1:]) + self.past(self.v, self.p2)
        self.v.append(v)
        self.y.append(y)
        if k == 3:
            self.cells = next_cells(self.cells, *inverse_map(self.y))
            self.y = []
        self.n += 1
        return y, float(self.gain * v)


# --- the vectors

UCODES = [list(range(3, 92, 4)), list(range(2, 60, 3))]
MODULI = [25, 25, 25, 13, 25, 25, 24, 13, 25, 24, 24, 13]
SETS = ([0, 1, 0, 1, 0, 1],
        [[60 + 120 * k + k * k for k in range(40)], [55 + 131 * k for k in range(36)]])
FILTERS = [[3000, -1500, 700], [-9000, 2500, -1200, 600], [20000, -6000, 2500, -800, 300], [4000, -1800]]
OTHER = [[], [-5000], [30000, 9000], []]
CP_T = cp(0, 12, 0, 0, 0, 0, 0x2000, (0, 0, 0, 0), [0] * 6, [UCODES[0]])
CP_U = cp(1, 22, 2, 1, 1, 3, 0x1234, (64, -1, -128, 127), [0, 1, 0, 1, 1, 0], UCODES, [UCODES[1], UCODES[0]])
SUVU = suvu(0, -16, 0, 0)
JA = dil_descriptor([], range(19))
CPD = {n: cpd(9, n, int(n == 2), int(n == 1), 40000 + n, MODULI, FILTERS, SETS) for n in range(3)}

vectors = []


def add(name, value):
    vectors.append((name, value))


PROBING = [(0, 0, 9), (1, 2, 10), (0, 1, 10), (1, 3, 11), (0, 6, 12), (0, 4, 11)]
add("INFO1d", text(info1d(1, PROBING, -512)))
add("INFO1d without", text(info1d(0, PROBING, -512)))
add("INFO1a", text(info1a(3, 3, 0, 5, 79)))
add("INFO1a other", text(info1a(2, 1, 2, 0, 111)))
add("Jd", text(jd([0, 1, 16, 21], 2)))
add("Jp", text(jp(0x8001, 0, 0)))
add("Jp 8 points", text(jp(0x1234, 1, 0)))
add("Jp 8 points later", text(jp(0, 0, 1)))
add("SUVu", text(SUVU))
add("SUVu'", text(suvu(1, -5, 1, 1)))
add("CPus'", text(cpus(19, 1)))
add("SUVd", text(suvd(0, 0)))
add("SUVd'", text(suvd(1, 1)))
add("CPt", text(CP_T))
add("CPu'", text(CP_U))
add("DIL 0", text(JA))
add("DIL 3", text(dil_descriptor([70, 10, 127], [0, 2, 15, 16, 18])))
for n in CPD:
    add(f"CPd {n}", text(CPD[n]))
add("CPd moduli", text(cpd(19, 2, 0, 0, 65535, MODULI)))
add("CPd filters", text(cpd(1, 0, 0, 1, 1, filters=OTHER)))
add("CPd points", text(cpd(0, 0, 0, 0, 77, sets=SETS)))
add("CPd header", text(cpd(5, 1, 0, 0, 1000)))

# A start-up, symbol by symbol: TRN1u and Ja; TRN1u, CPt twice, E1u, TRN2u, SUVu twice, E2u.
phase3 = TwoPoints()
add("TRN1u", phase3.trn1u(2040)[:120])
add("Ja", phase3.coded([1] * 24 + JA + JA)[:600])
phase3 = TwoPoints()
phase3.trn1u(2052)
add("CPt symbols", phase3.coded([1] * 24 + padded(CP_T, 12) * 2))
add("E1u", phase3.coded([0] * 12))
for points in (4, 8):
    final = MultiLevel(points, phase3.last)
    frame = 12 * final.bits
    add(f"TRN2u {points}", final.coded([1] * 10 * frame))
    add(f"SUVu {points}", final.coded(padded(SUVU, frame) * 2))
    add(f"E2u {points}", final.coded([0] * frame))

# The digital modem's signs, 0 negative: TRN1d of V.90, then Jd, Jp twice, Jp', and SCR, which is not differential.
scrambler = Scrambler(GPC)
last = [scrambler(1) for _ in range(2040)][-1]
signs = ""
for bit in jd(range(22), 1) + jp(0x8001, 0, 0) * 2 + [0] * 12:
    last ^= scrambler(bit)
    signs += "-+"[last]
add("Jd Jp Jp' signs", signs)
add("SCR signs", "".join("-+"[scrambler(1)] for _ in range(96)))

# B1u: the digits of the modulus encoder, the indices y(n), and G v(n).
for n, cells in ((0, 4), (1, 5), (2, 6)):
    scrambler, modulus = Scrambler(GPA), ModulusEncoder(MODULI, 52)
    precoder = Precoder(MODULI, cells, 40000 + n, FILTERS, SETS)
    digits = [modulus([scrambler(1) for _ in range(52)]) for _ in range(8)]
    sent = [precoder(digit) for frame in digits for digit in frame]
    if n == 0:
        add("B1u digits", " ".join(str(digit) for frame in digits for digit in frame))
    add(f"B1u indices {n}", " ".join(str(y) for y, _ in sent))
    add(f"B1u output {n}", " ".join(f"{w:.4f}" for _, w in sent))

# A product of exactly 2^K, the greatest number of each sign, and 72 bits.
modulus = ModulusEncoder([16] * 12, 48)
add("digits 2^48", " ".join(str(d) for f in ([1] * 48, [0] * 48, [0] * 47 + [1], [1] * 47 + [0]) for d in modulus(f)))
modulus = ModulusEncoder([70, 70, 71, 60, 64, 64, 64, 61, 70, 70, 61, 62], 72)
add("digits 72", " ".join(str(d) for f in ([1] * 72, [0, 1] * 36, [1, 1, 0] * 24, [0] * 71 + [1]) for d in modulus(f)))

lines = "".join(f'{{"{name}",\n "{value}"}},\n' for name, value in vectors)
if len(sys.argv) > 1:
    same = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8") == lines
    print(f"{sys.argv[1]} has {len(vectors)} vectors" if same else f"{sys.argv[1]} is not what {sys.argv[0]} prints")
    sys.exit(not same)
print(lines, end="")
