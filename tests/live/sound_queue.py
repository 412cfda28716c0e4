#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""V.34 on sound devices that queue: 33 600 bit/s both ways for any delay; impossible modulations are reported.

Usage: sound_queue.py OFFHOOK ALSA_LOOP

ALSA_LOOP is the built tests/live/alsa_loop.c: two connected devices, driven by the clock. Each delays played samples by
10, 40, 100 or 200 ms in addition to the two periods queued by ALSA. ALSA does not know this delay, so --device-delay
gives it. Each modem receives its own echo at -12 dB, for whose cancellation the delay is needed.
"""
import os
import re
import signal
import subprocess
import sys

from live import Bench, exchange, fail, hear, say


def start(bench, end, queued_ms):
    return bench.start("modem", f"alsa:loop{end}", "--tty", bench.path(f"tty{end}"), "--device-delay", str(queued_ms),
                       env={**os.environ, "ALSA_CONFIG_PATH": bench.path("asound.conf")}, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)


def said(modem):
    modem.send_signal(signal.SIGINT)
    out, errors = modem.communicate(timeout=20)
    return (out + errors).decode()


def devices(bench, queued_ms):
    with open(bench.path("asound.conf"), "w", encoding="utf-8") as conf:
        conf.write(f'pcm_type.offhook_loop {{ lib "{os.path.abspath(sys.argv[2])}" }}\n')
        for end in (0, 1):
            conf.write(f"pcm.loop{end} {{ type offhook_loop file {bench.path('memory')} end {end} hybrid 1 "
                       f"delay {8 * queued_ms} }}\n")


for queued_ms in (10, 40, 100, 200):
    with Bench(sys.argv[1]) as bench:
        devices(bench, queued_ms)
        modems = [start(bench, end, queued_ms) for end in (0, 1)]
        a, b = (bench.open(f"tty{end}") for end in (0, 1))
        for terminal in (a, b):
            say(terminal, b"ATE0X3+MS=V34")
            if b"V34" in say(terminal, b"AT+MS?").split(b"not offered:")[-1]:
                fail(f"{queued_ms} ms: V.34 is not offered")
        os.write(b, b"ATA\r")
        os.write(a, b"ATDT5\r")
        for terminal in (a, b):
            hear(terminal, b"CONNECT 33600\r\n", 60)
        exchange(a, b, 2000)
        exchange(b, a, 2000)
        for role, modem in zip(("call", "answer"), modems):
            text = said(modem)
            rates = re.findall(r"online \(%s\), (\d+) bit/s sent, (\d+) received" % role, text)
            if not rates or rates[0] != ("33600", "33600"):
                fail(f"{queued_ms} ms, {role}: {rates or text}")
            print(f"{queued_ms} ms at each end, {role}: {rates[0][0]} bit/s sent, {rates[0][1]} received", flush=True)

# A delay beyond the echo cancellers: reported at the start and by AT+MS?, refused by AT+MS=; none is dropped silently.
with Bench(sys.argv[1]) as bench:
    devices(bench, 500)
    modem = start(bench, 0, 500)
    terminal = bench.open("tty0")
    say(terminal, b"ATE0")
    heard = say(terminal, b"AT+MS?")
    if not re.search(rb"not offered: .*V34 \(not possible: card and driver queue 5\d\d ms", heard):
        fail(f"500 ms: AT+MS? said {heard!r}")
    say(terminal, b"AT+MS=V34", b"ERROR")
    if not re.search(r"not offered: .*V34 \(not possible: card and driver queue 5\d\d ms", said(modem)):
        fail("500 ms: nothing was said at the start")
    print("500 ms: V.34 is not offered, and that is said")
print("all passed")
