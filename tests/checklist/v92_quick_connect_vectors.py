#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vectors of V.92's QC2 and QCA2, from the texts of V.92 (11/2000) 8.2, 8.3 and V.8 bis (08/96) 7.2 alone: no code of
the product is used.

    v92_quick_connect_vectors.py          print the vectors
    v92_quick_connect_vectors.py FILE     fail unless FILE holds what is printed

Bits are in order of time.
"""
import pathlib
import sys

UQTS = (61, 62, 63, 66, 67, 70, 71, 74, 75, 78, 79, 82, 83, 86, 87, 0)    # Table 2, WXYZ with W first; 0: cleardown
LEVELS = (-95, -120, -150, -180)                                         # Table 11, LM with L first; tenths of dBm0
MARK, OPENING, CLOSING = 30, 3, 1                                        # V.8 bis 7.2.4: 100 ms; 7.2.5: 2 to 5, 1 to 3


def identification(acknowledge, digital, lapm, value):
    """Tables 3, 5, 12, 14. value: the row of Table 2, or of Table 11."""
    field = f"{value:02b}00" if digital else f"{value:04b}"
    return "1011" + "0100" + field + "0" + f"{lapm:d}{acknowledge:d}{digital:d}"


def check_sequence(bits):
    """V.8 bis 7.2.7: the ones' complement of the sum of both remainders, by division of polynomials."""
    generator = 0b1_0001_0000_0010_0001                                   # x16 + x12 + x5 + 1

    def remainder(dividend):
        while dividend.bit_length() > 16:
            dividend ^= generator << (dividend.bit_length() - 17)
        return dividend

    k = len(bits)
    total = remainder(0xFFFF << k) ^ remainder(int(bits, 2) << 16)
    return f"{total ^ 0xFFFF:016b}"


def transparent(bits):
    """V.8 bis 7.2.8"""
    out, ones = "", 0
    for bit in bits:
        out += bit
        ones = ones + 1 if bit == "1" else 0
        if ones == 5:
            out, ones = out + "0", 0
    return out


def message(information):
    flag = "01111110"
    return "1" * MARK + flag * OPENING + transparent(information + check_sequence(information)) + flag * CLOSING


def octets(bits):
    return [int(bits[k : k + 8][::-1], 2) for k in range(0, len(bits), 8)]


def vectors():
    yield "// Printed by tests/checklist/v92_quick_connect_vectors.py."
    for name, fields in (("kQc2Bits", (0, 0, 0, UQTS.index(78))), ("kQca2Bits", (1, 1, 0, LEVELS.index(-120)))):
        bits = message(identification(*fields))
        yield f"constexpr const char* {name} =\n    \"{bits}\";"
    yield "struct IdentificationVector {\n  bool acknowledge, digital, lapm;\n  uint8_t uqts;\n  int16_t level;"
    yield "  uint8_t octets[2];\n};"
    yield "constexpr IdentificationVector kIdentifications[] = {"
    for acknowledge in (0, 1):
        for lapm in (0, 1):
            for value in range(20):
                digital = value >= 16
                a, b = octets(identification(acknowledge, digital, lapm, value - 16 if digital else value))
                uqts, level = (0, LEVELS[value - 16]) if digital else (UQTS[value], 0)
                flags = ", ".join(str(bool(f)).lower() for f in (acknowledge, digital, lapm))
                yield f"    {{{flags}, {uqts}, {level}, {{0x{a:02X}, 0x{b:02X}}}}},"
    yield "};"


text = "\n".join(vectors()) + "\n"
if len(sys.argv) > 1:
    kept = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    sys.exit(0 if kept == text else f"{sys.argv[1]} is not what the text gives")
print(text, end="")
