#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Soft audio as a duplex ALSA stream: the device on one end of a connected pair, the player on the other.

Usage: audio.py OFFHOOK ALSA_LOOP

ALSA_LOOP is the built tests/live/alsa_loop.c: two connected devices, driven by the clock. At 48 and 96 kHz, the player must
receive the room's sound: its noise, louder by the gain of the room and the equaliser.
"""
import os
import sys

from live import Bench, fail, measure_joined_devices

DEVICE = os.path.join(os.path.dirname(__file__), "../../traces/data/devices/soft-audio.toml")
NOISE_DB = -23.0  # of the player
LOUDER_DB = (0.0, 4.0)

with Bench(sys.argv[1]) as bench:
    for rate in (48000, 96000):
        with open(DEVICE, encoding="utf-8") as device, open(bench.path("device.toml"), "w", encoding="utf-8") as copy:
            copy.write(device.read().replace("rate_hz = 48000", f"rate_hz = {rate}"))
        results, lost = measure_joined_devices(bench, sys.argv[2], bench.path("device.toml"), rate)
        room, player = ({m["name"]: m["value"] for m in result["pump"]["metrics"]} for result in results)
        if room["partitions computed"] < 100:
            fail(f"{room}")
        louder = player["level received"] - NOISE_DB
        if lost == 0 and not LOUDER_DB[0] < louder < LOUDER_DB[1]:
            fail(f"the player heard {player}, {louder:.1f} dB above its noise")
