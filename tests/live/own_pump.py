#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pump of a plug-in on sound devices: two processes, one for each end, connected by ALSA.

Usage: own_pump.py OFFHOOK ALSA_LOOP PULSE

ALSA_LOOP is the built tests/live/alsa_loop.c: two joined clock devices. PULSE is the built examples/plugins/pulse.c.
"""
import json
import os
import subprocess
import sys

from live import Bench, fail

EXAMPLE = os.path.join(os.path.dirname(__file__), "../../examples/plugins/pulse-device.toml")

with Bench(sys.argv[1]) as bench:
    with open(bench.path("asound.conf"), "w", encoding="utf-8") as conf:
        conf.write(f'pcm_type.offhook_loop {{ lib "{os.path.abspath(sys.argv[2])}" }}\n')
        for end in (0, 1):
            conf.write(f"pcm.loop{end} {{ type offhook_loop file {bench.path('memory')} end {end} rate 48000 }}\n")
    processes = []
    for end, role in enumerate(("call", "answer")):
        with open(bench.path(role + ".toml"), "w", encoding="utf-8") as scenario:
            scenario.write(f'name = "{role}"\ndevice = "{os.path.abspath(EXAMPLE)}"\npump.role = "{role}"\n')
        processes.append(bench.start("--plugin", os.path.abspath(sys.argv[3]), "measure", "device", bench.path(role + ".toml"),
                                     "--card", f"alsa:loop{end}", "--context", "FIFO 50", "--seconds", "4", "--json",
                                     env={**os.environ, "ALSA_CONFIG_PATH": bench.path("asound.conf")},
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE))  # fmt: skip
    for role, process in zip(("call", "answer"), processes):
        out, errors = process.communicate(timeout=60)
        if process.returncode not in (0, 2):
            fail(f"{role}: {errors.decode()}")
        result = json.loads(out)
        received = result["pump"]["received"]
        print(f"{role}: {result['blocks']} blocks, {result['blocks_late']} late; received {received}", flush=True)
        if result["blocks"] < 100 or received["bits_compared"] < 10_000:
            fail(f"{role}: {result}")
        if result["blocks_late"] == 0 and received["wrong_bits"] > 0:
            fail(f"{role}: wrong bits without a late block")
