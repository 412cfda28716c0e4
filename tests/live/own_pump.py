#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pump of a plug-in on sound devices: two processes, one for each end, connected by ALSA.

Usage: own_pump.py OFFHOOK ALSA_LOOP PULSE

ALSA_LOOP is the built tests/live/alsa_loop.c: two joined clock devices. PULSE is the built examples/plugins/pulse.c.
"""
import os
import sys

from live import Bench, fail, measure_joined_devices

EXAMPLE = os.path.join(os.path.dirname(__file__), "../../examples/plugins/pulse-device.toml")

with Bench(sys.argv[1]) as bench:
    results, lost = measure_joined_devices(bench, sys.argv[2], EXAMPLE, 48000, ("--plugin", os.path.abspath(sys.argv[3])))
    for result in results:
        received = result["pump"]["received"]
        if received["bits_compared"] < 10_000:
            fail(f"{result}")
        if lost == 0 and received["wrong_bits"] > 0:
            fail("wrong bits without a lost sample")
