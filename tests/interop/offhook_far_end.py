#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Offhook's modem as the PROGRAM of `./dev interop` (docs/interop.md): a second `offhook run`, over an ideal line.

    ./dev interop tests/interop/offhook_far_end.py

OFFHOOK (environment) names the program; the default is that of build/release.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEMS = ("v34", "v32bis", "v22bis", "auto")
BLOCK = 40  # samples of one exchange
LINE = 120  # one-way delay of a line with delay_ms = 0 (hostsim/channel, least_delay())
# Time until the near echo of our signal returns, in each direction: the line, a block, three samples of resampler.
DELAY = 2 * (LINE + BLOCK + 3)
NO_LINE = {"codec": "none", "loss_db": 0, "near_echo_db": 100, "far_echo_db": 100, "noise_dbm0": -120, "delay_ms": 0}


def main():
    if sys.argv[1:] == ["describe"]:
        print(json.dumps({"name": "offhook", "address": f"block={BLOCK}"}))
        return 0
    role, path, send, expect, received = sys.argv[1:6]
    settings = dict(word.split("=", 1) for word in sys.argv[6:])
    if settings.get("modulation") not in MODEMS or "max_rate" in settings:
        return 77  # a scenario has no key for the highest rate
    offhook = os.environ.get("OFFHOOK", str(ROOT / "build/release/src/offhook"))
    words = [offhook, "run", str(ROOT / "examples/int.toml"), "--far-end", f"unix:{path},block={BLOCK}", "--out", "far", "--json",
             "--file", send, "--expect", expect]
    keys = {"pump.modem": settings["modulation"], "pump.role": role, "transfer.time_limit_s": 300,
            "driver.device_delay_samples": DELAY}
    keys.update({f"line.{key}": value for key, value in NO_LINE.items()})
    for key, value in keys.items():
        words += ["--set", f"{key}={value}"]
    pathlib.Path(received).symlink_to("far/received.bin")  # which grows during the call
    return subprocess.run(words, check=False, stdout=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
