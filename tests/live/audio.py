#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Soft audio as a duplex ALSA stream: the device on one end of a connected pair, the player on the other.

Usage: audio.py OFFHOOK ALSA_LOOP

ALSA_LOOP is the built tests/live/alsa_loop.c: two connected devices, driven by the clock. At 48 and 96 kHz, the player must
receive the room's sound: its noise, louder by the gain of the room and the equaliser.
"""
import json
import os
import subprocess
import sys

from live import Bench, fail

DEVICE = os.path.join(os.path.dirname(__file__), "../../traces/data/devices/soft-audio.toml")
NOISE_DB = -23.0  # of the player
LOUDER_DB = (0.0, 4.0)

with Bench(sys.argv[1]) as bench:
    with open(bench.path("asound.conf"), "w", encoding="utf-8") as conf:
        conf.write(f'pcm_type.offhook_loop {{ lib "{os.path.abspath(sys.argv[2])}" }}\n')
        for rate in (48000, 96000):
            for end in (0, 1):
                conf.write(f"pcm.loop{rate}_{end} {{ type offhook_loop file {bench.path(f'memory{rate}')} end {end} rate {rate} }}\n")
    for rate in (48000, 96000):
        folder = os.path.dirname(bench.path("device.toml"))
        with open(DEVICE, encoding="utf-8") as device, open(bench.path("device.toml"), "w", encoding="utf-8") as copy:
            copy.write(device.read().replace("rate_hz = 48000", f"rate_hz = {rate}"))
        processes = []
        for end, role in enumerate(("call", "answer")):
            with open(bench.path(role + ".toml"), "w", encoding="utf-8") as scenario:
                scenario.write(f'name = "{role}"\ndevice = "{folder}/device.toml"\npump.role = "{role}"\n')
            processes.append(bench.start("measure", "device", bench.path(role + ".toml"), "--card", f"alsa:loop{rate}_{end}",
                                         "--context", "FIFO 50", "--seconds", "4", "--json",
                                         env={**os.environ, "ALSA_CONFIG_PATH": bench.path("asound.conf")},
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE))  # fmt: skip
        for role, process in zip(("call", "answer"), processes):
            out, errors = process.communicate(timeout=60)
            if process.returncode not in (0, 2):
                fail(f"{rate} {role}: {errors.decode()}")
            result = json.loads(out)
            metrics = {m["name"]: m["value"] for m in result["pump"]["metrics"]}
            print(f"{rate} Hz, {role}: {result['blocks']} blocks, {result['blocks_late']} late; {metrics}", flush=True)
            if result["blocks"] < 100:
                fail(f"{role}: {result}")
            if role == "call" and metrics["partitions computed"] < 100:
                fail(f"{role}: {metrics}")
            if role == "answer" and result["blocks_late"] == 0:
                louder = metrics["level received"] - NOISE_DB
                if not LOUDER_DB[0] < louder < LOUDER_DB[1]:
                    fail(f"the player heard {metrics}, {louder:.1f} dB above its noise")
