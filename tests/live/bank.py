#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""64 V.22bis modems in one process on one CPU (`offhook measure bank`): no call ends, no byte is wrong.

Usage: bank.py OFFHOOK [CHANNELS [SECONDS]]. Prints the results. Late blocks while the machine ran are reported, but not
asserted.
"""
import json
import os
import subprocess
import sys

from live import fail

channels, seconds = (sys.argv[2:] + ["64", "10"][len(sys.argv) - 2:])[:2]
done = subprocess.run(["timeout", "-k", "5", str(float(seconds) + 60), sys.argv[1], "measure", "bank", "--json",
                       "--best-effort", "--cpu", str(max(os.sched_getaffinity(0))), "--context", "FIFO 50",
                       "--channels", channels, "--seconds", seconds], capture_output=True, text=True, check=False)
if done.returncode not in (0, 2):
    fail(done.stderr)
record = json.loads(done.stdout)
for key in ("channels", "seconds", "blocks", "blocks_late", "blocks_late_in_stalls", "pending_max_samples",
            "cpu_share_percent", "service_time", "dispatch_latency", "stolen_ms", "stalls", "without"):
    print(f"{key}: {record[key]}")
if record["connected"] != int(channels) or record["bytes_wrong"] or record["bytes"] < 100 * int(channels):
    fail(f"{record['connected']} connected, {record['bytes']} bytes arrived, {record['bytes_wrong']} of them wrong")
print("all passed")
