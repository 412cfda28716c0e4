#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`offhook measure latency` beside cyclictest, at the same time: quantiles side by side, and what our probe costs.

Usage: cyclictest.py OFFHOOK [SECONDS]. Each has a CPU for half of the time, then they change places, so that both see
both. Exit status 77 and a reason where cyclictest, a second CPU or real-time privilege is missing. No time is asserted:
the table and the largest distance of the two distributions (Kolmogorov and Smirnov) are what this is for.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

offhook = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
INTERVAL_US, PRIORITY, MOST_US = 1000, 80, 20000


def skip(why):
    print("skipped:", why)
    sys.exit(77)


if not shutil.which("cyclictest"):
    skip("cyclictest is missing (apt-get install rt-tests)")
cpus = sorted(os.sched_getaffinity(0))[:2]
if len(cpus) < 2:
    skip("two CPUs are needed, one for each")
if subprocess.run(["chrt", "-f", str(PRIORITY), "true"], capture_output=True).returncode != 0:
    skip("no right to SCHED_FIFO (rtprio limit or CAP_SYS_NICE)")

theirs, ours, own_cost = {}, {}, []  # latency in whole us -> count
half = seconds / 2
with tempfile.TemporaryDirectory() as folder:
    for our_cpu, their_cpu in (cpus, cpus[::-1]):
        out = os.path.join(folder, "ours.json")
        limit = ["timeout", "-k", "2", str(half + 20)]
        peer = subprocess.Popen(
            limit + ["cyclictest", "-q", "-m", "-t1", f"-a{their_cpu}", f"-p{PRIORITY}", f"-i{INTERVAL_US}",
                     f"-D{math.ceil(half)}", f"-h{MOST_US}"], stdout=subprocess.PIPE, text=True)
        subprocess.run(limit + [offhook, "measure", "latency", "--context", f"FIFO {PRIORITY}", "--cpu", str(our_cpu),
                                "--interval-us", str(INTERVAL_US), "--seconds", str(math.ceil(half)), "-o", out],
                       stdout=subprocess.DEVNULL, check=True)
        text = peer.communicate()[0]
        for line in text.splitlines():
            if row := re.match(r"(\d+)\s+(\d+)$", line):
                if int(row[2]):
                    theirs[int(row[1])] = theirs.get(int(row[1]), 0) + int(row[2])
        overflow = re.search(r"Histogram Overflows:\s*(\d+)", text)
        if overflow and int(overflow[1]):
            theirs[MOST_US] = theirs.get(MOST_US, 0) + int(overflow[1])
        result = json.load(open(out))
        own_cost.append(result["own_cost"])
        for low, high, count in result["latency"]["bars"]:  # cyclictest cuts to whole us
            ours[int((low + high) / 2)] = ours.get(int((low + high) / 2), 0) + count


def quantile(histogram, share):
    left = share * sum(histogram.values())
    for value in sorted(histogram):
        left -= histogram[value]
        if left <= 0:
            return value
    return max(histogram)


n, m = sum(ours.values()), sum(theirs.values())
if not n or not m:
    print(f"FAIL: {n} wake-ups of offhook, {m} of cyclictest")
    sys.exit(1)
print(f"{'latency, us':14} {'offhook':>9} {'cyclictest':>11}   FIFO {PRIORITY}, every {INTERVAL_US} us, CPUs {cpus}")
print(f"{'wake-ups':14} {n:9} {m:11}")
for name, share in (("min", 0), ("50 %", .5), ("90 %", .9), ("99 %", .99), ("99.9 %", .999), ("max", 1)):
    print(f"{name:14} {quantile(ours, share):9} {quantile(theirs, share):11}")
distance, a, b = 0, 0, 0
for value in sorted(set(ours) | set(theirs)):
    a += ours.get(value, 0) / n
    b += theirs.get(value, 0) / m
    distance = max(distance, abs(a - b))
limit = 1.358 * math.sqrt((n + m) / (n * m))
print(f"largest distance of the distributions: {distance:.4f}; independent samples of one distribution stay below "
      f"{limit:.4f} in 95 of 100 cases")
print("our probe itself, from wake-up to its next sleep, us:",
      ", ".join(f"50 % {c['p50']:.2f}, 99 % {c['p99']:.2f}, max {c['max']:.1f}" for c in own_cost))
