#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`offhook measure latency` next to cyclictest, at the same time: compares quantiles, and the cost of our probe.

Usage: cyclictest.py OFFHOOK [SECONDS]. Slices of two seconds with one tool on each CPU. In every pair of slices the tools
exchange CPUs, in random order, so that both meet the same CPUs, times and phases relative to the tick. Exit status 77
with a reason if cyclictest, a second CPU or real-time privilege is missing.

Are the two distributions equal? Successive latencies are not independent (a load lasts longer than a wake-up), so
the limit of Kolmogorov and Smirnov is too strict. A permutation test is valid in any case: if the tools are equal,
exchanging their names in any pair of slices changes nothing. The measured distance is compared with those after such
exchanges. Nothing is asserted; the table is the result.
"""
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

offhook = sys.argv[1]
pairs = max(3, round(float(sys.argv[2]) / 4)) if len(sys.argv) > 2 else 3
INTERVAL_US = 1009  # not a divisor of a tick, so that every phase occurs
PRIORITY, MOST_US = 80, 1000  # cyclictest's histogram has one line per nanosecond
SLICE_S = 2  # the start of one tool disturbs the other
EXCHANGES = 2000


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

limit = ["timeout", "-k", "2", "30"]


def run(our_cpu, their_cpu, folder):
    """One slice. @return cyclictest's latencies {ns: count}, our bars [low, high, count] in ns, maximum and cost"""
    out = os.path.join(folder, "ours.json")
    with open(os.path.join(folder, "theirs.txt"), "w+", encoding="ascii") as text:
        with subprocess.Popen(limit + ["cyclictest", "-q", "-N", "-m", "-t1", f"-a{their_cpu}", f"-p{PRIORITY}",
                                       f"-i{INTERVAL_US}", f"-D{SLICE_S}", f"-h{1000 * MOST_US}"], stdout=text):
            subprocess.run(limit + [offhook, "measure", "latency", "--context", f"FIFO {PRIORITY}", "--cpu",
                                    str(our_cpu), "--interval-us", str(INTERVAL_US), "--seconds", str(SLICE_S), "--json", out],
                           stdout=subprocess.DEVNULL, check=True)
        text.seek(0)
        theirs = {}
        for line in text:
            if line[:1].isdigit():
                at, count = line.split()
                if count != "000000":
                    theirs[int(at)] = int(count)
            elif found := re.match(r"# Histogram Overflows:\s*(\d+)", line):
                theirs[1000 * MOST_US] = int(found[1])
    with open(out, encoding="utf-8") as file:
        result = json.load(file)
    bars = [(round(1000 * low), round(1000 * high), count) for low, high, count in result["latency"]["bars"]]
    return theirs, bars, result["own_cost"]


def on_edges(theirs, bars, edges):
    """Counts of both between the edges. A bar ends where no other begins, so each is between two edges."""
    ours, others, k = [0] * len(edges), [0] * len(edges), 0
    for _, high, count in bars:
        while edges[k] < high:
            k += 1
        ours[k] += count
    k = 0
    for at in sorted(theirs):
        while edges[k] < at:
            k += 1
        others[k] += theirs[at]
    return ours, others


def distance(ours, theirs):
    n, m, a, b, most = sum(ours), sum(theirs), 0, 0, 0
    for o, t in zip(ours, theirs):
        a, b = a + o / n, b + t / m
        most = max(most, abs(a - b))
    return most


def add(lists):
    return [sum(column) for column in zip(*lists)]


lot = random.Random(1)
slices, own_cost = [], []
with tempfile.TemporaryDirectory() as folder:
    for _ in range(pairs):
        first = lot.sample(cpus, 2)
        for our_cpu, their_cpu in (first, first[::-1]):
            slices.append(run(our_cpu, their_cpu, folder))
            own_cost.append(slices[-1][2])
edges = sorted({min(high, 1000 * MOST_US) for _, bars, _ in slices for _, high, _ in bars} | {1000 * MOST_US})
slices = [on_edges({min(at, edges[-1]): n for at, n in theirs.items()},
                   [(low, min(high, edges[-1]), n) for low, high, n in bars], edges) for theirs, bars, _ in slices]
grouped = [(add(s[0] for s in slices[i:i + 2]), add(s[1] for s in slices[i:i + 2])) for i in range(0, len(slices), 2)]
ours, theirs = add(g[0] for g in grouped), add(g[1] for g in grouped)


def quantile(counts, share):
    left = share * sum(counts)
    for edge, count in zip(edges, counts):
        left -= count
        if left <= 0 and count:
            return f"{edge / 1000:.1f}" if edge < edges[-1] else f">{MOST_US}"
    return "-"


n, m = sum(ours), sum(theirs)
if not n or not m:
    print(f"FAIL: {n} wake-ups of offhook, {m} of cyclictest")
    sys.exit(1)
print(f"{'latency, us':14} {'offhook':>9} {'cyclictest':>11}   FIFO {PRIORITY}, every {INTERVAL_US} us, CPUs {cpus}, "
      f"{2 * pairs} slices of {SLICE_S} s")
print(f"{'wake-ups':14} {n:9} {m:11}")
for name, share in (("min", 0), ("10 %", .1), ("50 %", .5), ("90 %", .9), ("99 %", .99), ("99.9 %", .999)):
    print(f"{name:14} {quantile(ours, share):>9} {quantile(theirs, share):>11}")
found = distance(ours, theirs)
others = []
for _ in range(EXCHANGES):
    sides = [g if lot.random() < 0.5 else g[::-1] for g in grouped]
    others.append(distance(add(s[0] for s in sides), add(s[1] for s in sides)))
others.sort()
share = sum(other >= found - 1e-12 for other in others) / EXCHANGES
print(f"largest distance of the distributions: {found:.4f}; with names exchanged at random 95 % stay below "
      f"{others[int(.95 * EXCHANGES)]:.4f}, and {100 * share:.0f} % are as large or larger"
      f" (independent samples: {1.358 * math.sqrt((n + m) / (n * m)):.4f})")
print("the tools differ" if share < 0.05 else "no difference between the tools can be told")
costs = sorted(c["p50"] for c in own_cost)
print(f"our probe itself, from wake-up to its next sleep, us: 50 % {costs[len(costs) // 2]:.2f}, 99 % "
      f"{max(c['p99'] for c in own_cost):.2f} at the most of a slice, max {max(c['max'] for c in own_cost):.1f}")
