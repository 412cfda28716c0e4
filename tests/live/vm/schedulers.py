#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulator's Linux schedulers against Linux: the same threads in a VM and in `offhook schedule`.

    tests/live/vm/schedulers.py build/release/src/offhook [--kernel 6.12] [--keep FOLDER] [--fetch]

Three systems on one CPU: fair hogs; hogs of two nice values beside a thread that sleeps; a SCHED_FIFO hog beside a fair
one. In the machine each thread reads the clock (fair_threads.c). Each measure and thread has a row: the number, and the
quantiles of both in ms. With --keep the machine's output is kept, and read instead of another run.

Exit status: 0; 1 if FOLDER belongs to another kernel; 77 if the machine is not available; or its own status.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TICK_HZ = 250  # CONFIG_HZ of Debian's kernels
# The first kernel's fair class is CFS.
SCHEDULERS = {"6.1": "linux", "6.12": "linux-6.12"}
SYSTEMS = {
    "hogs": (2, ["hog:0", "hog:0", "hog:0"]),
    "sleeper": (4, ["hog:0", "hog:5", "sleeper:0"]),
    "starved": (3.2, ["fifo:50", "hog:0"]),
}
TICK_COST_NS = 100_000  # of the machine's clock interrupt, if an instruction takes 16 ns
PERIOD_NS, WORK_NS, GAP_NS = 10_300_000, 500_000, 200_000  # as in fair_threads.c
MEASURES = ("stretch", "wait", "latency", "response")
QUANTILES = (0, 0.1, 0.5, 0.9, 1)


def measure(kernel: str, keep: pathlib.Path, fetch: bool) -> int:
    """Runs the systems in the machine. @return its exit status"""
    program = keep / "fair_threads"
    subprocess.run(["gcc", "-O2", "-pthread", "-o", program, HERE / "fair_threads.c"], check=True)
    script = ["mount -t debugfs none /sys/kernel/debug", "uname -r >$KEEP/release"]
    script += ["cat /sys/kernel/debug/sched/base_slice_ns >$KEEP/base_slice_ns"]
    for name, (seconds, threads) in SYSTEMS.items():
        script += [
            f"$KEEP/fair_threads {seconds} {' '.join(threads)} >$KEEP/{name}.new && mv $KEEP/{name}.new $KEEP/{name}.txt"
        ]
    command = [sys.executable, HERE / "vm.py", "--kernel", kernel, "--keep", keep, "--shift", "4", "--seconds", "230"]
    return subprocess.run(
        [*command, *(["--fetch"] if fetch else []), "sh", "-c", "\n".join(script)], check=False
    ).returncode


def measured(file: pathlib.Path) -> dict:
    rows = {}
    for line in file.read_text().splitlines():
        kind, thread, ns = line.split()
        rows.setdefault((kind, thread), []).append(int(ns))
    return rows


def simulated(offhook: pathlib.Path, scheduler: str, seconds: float, threads: list) -> dict:
    """The same measures of the same threads in the simulator."""
    entities = [
        {"name": "clock", "kind": "interrupt", "level": 1, "cost_ns": TICK_COST_NS, "period_ns": 10**9 // TICK_HZ}
    ]
    for i, thread in enumerate(threads):
        kind, argument = thread.split(":")
        entity = {"name": f"{kind}{i}", "kind": scheduler, "priority" if kind == "fifo" else "nice": int(argument)}
        entity |= {"offset_ns": 0, "period_ns": 10**15, "cost_ns": 10**15}
        if kind == "sleeper":
            entity |= {"offset_ns": PERIOD_NS, "period_ns": PERIOD_NS, "cost_ns": WORK_NS}
        entities.append(entity)
    # Debian's kernels are built without CONFIG_IRQ_TIME_ACCOUNTING.
    system = {
        "horizon_ns": int(seconds * 1e9),
        "tick_hz": TICK_HZ,
        "charge_stolen_time": True,
        "entities": entities,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "system.json")
        pathlib.Path(path).write_text(json.dumps(system))
        out = subprocess.run([offhook, "schedule", path], capture_output=True, text=True, check=True).stdout
    rows, runs, finished = {}, {}, {}
    for row in csv.DictReader(out.splitlines()):
        name, event, at = row["entity"], row["event"], int(row["time_ns"])
        if name.startswith("sleeper") and event in ("start", "finish"):
            wake = (finished.get(name, 0) + 1) * PERIOD_NS
            rows.setdefault(("latency" if event == "start" else "response", name), []).append(at - wake)
            finished[name] = finished.get(name, 0) + (event == "finish")
        elif name.startswith(("hog", "fifo")):
            of = runs.setdefault(name, [])
            if event in ("preempt", "throttle"):
                of[-1][1] = at
            elif event == "replenish":
                continue  # it may run again; a resume event shows whether it does
            elif of and at - of[-1][1] <= GAP_NS:
                of[-1][1] = None
            else:
                of.append([at, None])
    for name, of in runs.items():  # the ends of the run truncate the first and the last interval
        rows["wait", name] = [
            after[0] - before[1] for before, after in zip([[0, 0], *of], of, strict=False) if after[0] > 0
        ]
        rows["stretch", name] = [end - start for start, end in of[1:] if end is not None]
    return {kind: values for kind, values in rows.items() if values}


def quantile(values: list, q: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=pathlib.Path)
    parser.add_argument("--kernel", choices=SCHEDULERS, default="6.12")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true", help="download the kernel when the cache has none")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keep = (args.keep or pathlib.Path(folder)).resolve()
        keep.mkdir(parents=True, exist_ok=True)
        if not all((keep / f"{name}.txt").exists() for name in SYSTEMS):
            status = measure(args.kernel, keep, args.fetch)
            if status != 0:
                return status
        release = (keep / "release").read_text().strip()
        if not release.startswith(args.kernel + "."):
            sys.exit(f"schedulers.py: error: {keep} is of Linux {release}, expected {args.kernel}")
        slice_ns = (keep / "base_slice_ns").read_text().strip() or "unknown"
        print(f"Linux {release}, base slice {slice_ns} ns, beside {SCHEDULERS[args.kernel]}; ms")
        heads = " ".join(f"{f'{100 * q:g} %':>8}" for q in QUANTILES)
        print(f"{'system':8} {'thread':9} {'measure':9} {'of':9} {'count':>6} {heads}")
        for name, (seconds, threads) in SYSTEMS.items():
            real = measured(keep / f"{name}.txt")
            model = simulated(args.offhook, SCHEDULERS[args.kernel], seconds, threads)
            for kind, thread in sorted(real.keys() | model.keys(), key=lambda k: (k[1], MEASURES.index(k[0]))):
                for of, rows in (("Linux", real), ("simulator", model)):
                    values = rows.get((kind, thread), [])
                    cells = " ".join(f"{quantile(values, q) / 1e6:8.2f}" for q in QUANTILES) if values else ""
                    print(f"{name:8} {thread:9} {kind:9} {of:9} {len(values):6} {cells}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
