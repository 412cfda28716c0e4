#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The signal of a V.34 transmitter in Phase 3, decoded by a receiver that shares only V.34 (10/96) with it.

    v34_waveform_test.py V34_TRANSMIT

At every symbol rate and carrier: S, S-bar, PP and TRN of the call or the answer modem. The carrier is removed,
samples are interpolated with a windowed sinc, and a T/2 equaliser is trained with the first half of TRN. Then the
second half of TRN, PP, S-bar and S must equal those of the Recommendation. Needs only Python's own library.
"""
import array
import cmath
import math
import subprocess
import sys

# Tables 1 and 2: S is a/c * 2400; carriers are d/e * S, low and high.
SYMBOL_RATES = [(1, 1), (8, 7), (7, 6), (5, 4), (4, 3), (10, 7)]
CARRIERS = [((2, 3), (3, 4)), ((3, 5), (2, 3)), ((3, 5), (2, 3)), ((3, 5), (2, 3)), ((4, 7), (3, 5)), ((4, 7), (4, 7))]
S, S_BAR, PP, TRN = 128, 16, 288, 1500
TAPS = 48  # of the equaliser, T/2 apart
KNOWN = 800  # symbols of TRN with which it is trained
LEAST_SNR_DB = 40


def trn(role, count):
    """10.1.3.8: ones through the scrambler of clause 7 from zero; I = I1 + 2 I2 turns (1, 1) clockwise in quarters."""
    tap = 18 if role == "call" else 5  # GPC, GPA
    register, symbols = [0] * 23, []

    def bit():
        out = 1 ^ register[tap - 1] ^ register[22]
        register.insert(0, out)
        register.pop()
        return out
    for _ in range(count):
        first, second = bit(), bit()
        symbols.append((1 + 1j) / math.sqrt(2) * (-1j) ** (first + 2 * second))
    return symbols


def pp():
    """(10-1), six periods of 48."""
    period = []
    for i in range(48):
        k, n = divmod(i, 4)
        period.append(cmath.exp(1j * math.pi / 6 * (k * n + (4 if k % 3 == 1 else 0))))
    return period * 6


def s(count, turned):
    """10.1.3.7: alternates point 0 and the same, turned a quarter left; S-bar begins with the opposite of S."""
    sign = -1 if turned else 1
    return [sign * (1 + 1j) / math.sqrt(2) * (1j if n % 2 else 1) for n in range(count)]


class Receiver:
    def __init__(self, samples, rate_hz, carrier_hz):
        self.rate_hz = rate_hz
        self.base = [x * cmath.exp(-2j * math.pi * carrier_hz * n / 8000) for n, x in enumerate(samples)]
        mean = math.sqrt(sum(x * x for x in samples) / len(samples))
        self.base = [x / mean for x in self.base]
        self.cut = min(0.62 * rate_hz / 8000, 0.25)  # of the low-pass, cycles per sample
        self.taps = [0j] * TAPS
        self.cache = {}

    def at(self, half):
        """Baseband at this many half symbols after the first sample: a low-pass that also interpolates."""
        if half not in self.cache:
            t, total = half * 4000 / self.rate_hz, 0j
            for n in range(max(0, math.ceil(t - 20)), min(len(self.base), math.floor(t + 20) + 1)):
                d = n - t
                window = 0.5 + 0.5 * math.cos(math.pi * d / 20.5)
                sinc = 2 * self.cut if d == 0 else math.sin(2 * math.pi * self.cut * d) / (math.pi * d)
                total += self.base[n] * window * sinc
            self.cache[half] = total
        return self.cache[half]

    def inputs(self, symbol):
        return [self.at(2 * symbol + k - TAPS // 2) for k in range(TAPS)]

    def learn(self, first, known, step):
        """LMS over the symbols `known`, of which the first is the line's symbol `first`.

        @return mean squared error of the last 100
        """
        errors = []
        for n, wanted in enumerate(known):
            x = self.inputs(first + n)
            error = wanted - sum(t * v for t, v in zip(self.taps, x))
            power = sum(abs(v) ** 2 for v in x)
            self.taps = [t + step * error * v.conjugate() / power for t, v in zip(self.taps, x)]
            errors.append(abs(error) ** 2)
        return sum(errors[-100:]) / 100

    def snr_db(self, first, wanted):
        error = 0.0
        for n, w in enumerate(wanted):
            error += abs(w - sum(t * v for t, v in zip(self.taps, self.inputs(first + n)))) ** 2
        return 10 * math.log10(len(wanted) / error)


def check(program, rate, carrier, role):
    a, c = SYMBOL_RATES[rate]
    d, e = CARRIERS[rate][carrier]
    done = subprocess.run([program, str(rate), "high" if carrier else "low", role], capture_output=True, check=True)
    samples = array.array("h", done.stdout)
    rate_hz = 2400 * a / c
    receiver = Receiver(samples, rate_hz, rate_hz * d / e)
    known = trn(role, TRN)
    # The pulse's peak comes some symbols after its first sample, so the line's symbol 0 was sent as one of these.
    best = None
    for delay in range(8, 25):
        receiver.taps = [0j] * TAPS
        error = receiver.learn(delay + S + S_BAR + PP, known[:250], 0.5)
        if best is None or error < best[0]:
            best = error, delay
    begin = best[1]
    receiver.taps = [0j] * TAPS
    receiver.learn(begin + S + S_BAR + PP, known[:KNOWN], 0.5)
    receiver.learn(begin + S + S_BAR + PP, known[:KNOWN], 0.1)
    failures = []
    at = begin + S + S_BAR + PP
    # The last symbols of TRN have not completely left the transmitter.
    parts = [("S", begin + 64, s(64, False)), ("S-bar", begin + S, s(S_BAR, True)), ("PP", begin + S + S_BAR, pp()),
             ("TRN", at + KNOWN, known[KNOWN:TRN - 40])]
    snr = {name: receiver.snr_db(first, wanted) for name, first, wanted in parts}
    for name, db in snr.items():
        if db < LEAST_SNR_DB:
            failures.append(f"{name} is {db:.1f} dB over its difference from the text; expected {LEAST_SNR_DB}")
    where = f"{rate_hz:.1f} symbols/s, carrier {rate_hz * d / e:.1f} Hz, {role} modem"
    failures = [f"{where}: {failure}" for failure in failures]
    print(where + ":", ", ".join(f"{name} {db:.1f} dB" for name, db in snr.items()))
    return failures


def main():
    failures = []
    for rate in range(6):
        for carrier in (0, 1):
            failures += check(sys.argv[1], rate, carrier, "answer" if (rate + carrier) % 2 else "call")
    for failure in failures:
        print("FAIL:", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
