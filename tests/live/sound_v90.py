#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""V.90's analogue modem on a sound device of 48,000 or 16,000 Hz, against a digital modem behind a simulated trunk.

Usage: sound_v90.py OFFHOOK ALSA_LOOP SOUND_TRUNK

ALSA_LOOP is the built tests/live/alsa_loop.c: two devices by the clock, joined. SOUND_TRUNK is the built
tests/live/sound_trunk.cpp.
"""
import os
import re
import signal
import subprocess
import sys
import time

from live import Bench, exchange, fail, hear, say

LEAST_DOWN = 45333  # bit/s; the trunk gives 50,000 and more, unless this machine holds a thread up

for rate in (48000, 16000):
    with Bench(sys.argv[1]) as bench:
        with open(bench.path("asound.conf"), "w", encoding="utf-8") as conf:
            conf.write(f'pcm_type.offhook_loop {{ lib "{os.path.abspath(sys.argv[2])}" }}\n')
            for end, hybrid in enumerate((1, 0)):
                conf.write(f"pcm.loop{end} {{ type offhook_loop file {bench.path('memory')} end {end} rate {rate} "
                           f"hybrid {hybrid} }}\n")
        environment = {**os.environ, "ALSA_CONFIG_PATH": bench.path("asound.conf")}
        far = subprocess.Popen([sys.argv[3], "loop1"], env=environment, stdin=subprocess.PIPE)
        bench.processes.append(far)
        modem = bench.start("modem", "alsa:loop0", "--tty", bench.path("tty"), env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
        terminal = bench.open("tty")
        say(terminal, b"ATE0X3+MS=V90,0")
        os.write(terminal, b"ATDT5\r")
        hear(terminal, b"CONNECT ", 60)
        time.sleep(0.3)
        exchange(terminal, terminal, 2000)
        modem.send_signal(signal.SIGINT)
        said = modem.communicate(timeout=30)[0].decode()
        far.stdin.close()
        if far.wait(20) != 0:
            fail(f"the far end: status {far.returncode}")
        rates = re.findall(r"(\d+) bit/s sent, (\d+) received", said)
        if not rates or int(rates[0][1]) < LEAST_DOWN:
            fail(f"{rate} Hz: {rates or said}")
        print(f"{rate} Hz: {rates[0][0]} bit/s up, {rates[0][1]} down", flush=True)
print("all passed")
