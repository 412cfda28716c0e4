#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares advice from a machine's trace with results on that machine: Debian's kernels in QEMU, one CPU.

    tests/live/vm/advice.py build/release/src/offhook [--kernels 6.12 6.12-rt] [--loads fifo19 ...] [--devices fax ...]
                            [--contexts "FIFO 51" ...] [--rows rows.jsonl] [--keep FOLDER] [--fetch] [--trace-s 10]
                            [--seconds 24] [--shift 3] [--minutes 60]

One boot for each kernel and load, with the devices in turn. The load's threads run (compete.c). The machine is traced for a
while without a device. Then `offhook measure device` runs the declared work of a device in each context for --seconds of the
guest's time. On the host, `offhook advise DEVICE --trace` predicts the time between two losses in that context. Each context has
a row: the prediction with its evidence, and the observed late blocks. A prediction is refuted if at least as many late blocks would occur in fewer than one
of 40 such times. --seconds 120 and five contexts take ten guest minutes.

The guest must be fast enough for the device: an instruction takes 2^SHIFT ns. A service costs 7000 instructions more than its
work. --shift 4 is enough for modems and audio, 3 for DSL, 2 for radios. Idle time of the guest costs nothing.

With --rows, each row is immediately written to that file. An existing row with at least as many seconds is not run again, and
all rows of the file are printed. A machine that ends early leaves the rows of the finished contexts.

Exit status: 0; 1 if a prediction was refuted; 2 if rows are missing; 77 if the machine is not available.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

import vm

HERE = pathlib.Path(__file__).resolve().parent
# Threads of compete.c.
LOADS = {
    "none": [],
    "fifo19": ["fifo 19 6000 10000"],
    "fifo49": ["fifo 49 6000 20000"],
    "fifo60": ["fifo 60 6000 20000"],
    "deadline": ["deadline 2000 10000", "deadline 3000 20000"],
    "softirq": ["softirq 70 2000 5000"],
}
# Cheap ones first: blocks per second times their work.
DEVICES = ["rt-audio", "vendor-modem", "soft-audio", "fax", "g-lite", "full-rate-dsl", "bluetooth", "soft-radio-ofdm", "soft-radio"]
CONTEXTS = ["FIFO 15", "FIFO 25", "FIFO 51", "FIFO 80", "OTHER"]
EVENTS = ["sched:sched_switch", "irq", "irq_vectors", "timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit"]
RECORDER = ["trace-cmd", "chrt"]
BROKEN = 1 / 40
HEAD = f"{'kernel':8} {'load':9} {'device':14} {'context':8} {'promised':>12} {'evidence':28} late blocks seen"


class Combination:
    """A kernel and a load, with one device at a time, and the contexts to measure."""

    def __init__(self, kernel: str, load: str, device: str, contexts: list[str]):
        self.kernel, self.load, self.device, self.contexts = kernel, load, device, contexts

    def of(self, context: str) -> list[str]:
        return [self.kernel, self.load, self.device, context]


def combinations(options, rows: list[dict]):
    """The contexts whose rows are missing."""
    every = [(kernel, load) for load in LOADS for kernel in vm.KERNELS if kernel.startswith("6.12")]
    for number, (kernel, load) in enumerate(every):
        if kernel not in options.kernels or load not in options.loads:
            continue
        c = Combination(kernel, load, options.devices[number % len(options.devices)], options.contexts)
        there = [row["of"] for row in rows if row["asked_s"] >= options.seconds]
        c.contexts = [context for context in options.contexts if c.of(context) not in there]
        if c.contexts:
            yield c


def run_in_machine(options, c: Combination, keep: pathlib.Path) -> int:
    """Leaves trace.dat, and N.json for each context. @return the machine's exit status"""
    subprocess.run(["gcc", "-O2", "-o", keep / "compete", HERE / "compete.c"], check=True)
    # Each program is read once before the load starts, because a page from the host takes time.
    program = shlex.quote(str(options.offhook))
    script = [
        "uname -r >$KEEP/release; cp $KEEP/compete /run",
        f"{program} measure device {c.device} --context 'FIFO 80' --seconds 0.2 --json >/dev/null 2>&1",
        "trace-cmd reset >/dev/null 2>&1",
    ]
    script += [f"/run/compete {words} & " for words in LOADS[c.load]]
    script += [
        "sleep 1",
        f"chrt -f 90 trace-cmd start -C mono -b 65536 {' '.join('-e ' + e for e in EVENTS)} >/dev/null || exit 8",
        f"sleep {options.trace_s}",
        "chrt -f 90 trace-cmd stop && chrt -f 90 trace-cmd extract -o /run/trace.dat >$KEEP/trace-cmd 2>&1",
        "trace-cmd reset; cp /run/trace.dat $KEEP",
    ]
    for number, context in enumerate(c.contexts):
        script += [
            f"{program} measure device {c.device} --context '{context}' --seconds {options.seconds} --json"
            f" >/run/{number}.json 2>$KEEP/{number}.error; cp /run/{number}.json $KEEP; cut -d' ' -f1 /proc/uptime >$KEEP/{number}.up"
        ]
    command = [sys.executable, HERE / "vm.py", "--kernel", c.kernel, "--keep", keep, "--shift", str(options.shift), "--skip-idle"]
    command += ["--seconds", str(60 * options.minutes), *(["--fetch"] if options.fetch else [])]
    return subprocess.run([*command, "sh", "-c", "\n".join(script)], check=False).returncode


def advice(options, device: str, context: str, trace: pathlib.Path) -> tuple[float | None, str]:
    """@return predicted minimum seconds between losses, None if there is no prediction; and the evidence"""
    seconds = str(max(10, math.ceil(options.trace_s)))  # a shorter simulation would not use all of the trace
    command = [options.offhook, "advise", device, "--trace", trace, "--set", f"context={context}", "--seconds", seconds]
    command += ["--repeats", "2", "--json"]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    try:
        said = json.loads(run.stdout)
    except json.JSONDecodeError:
        return None, (run.stderr.strip().splitlines() or ["?"])[-1][-60:]
    trial = next((t for t in said["trials"] if t["context"] == context or context in t["in_full"]), None)
    if trial is None:
        return None, "not tried"
    between = trial["between_losses"]
    return between["low_s"], between["evidence"] if trial["loses_nothing"] else f"{between['evidence']}, loses {trial['blocks_late']}"


def chance(least: int, expected: float) -> float:
    """Probability of at least `least` events if `expected` are expected (Poisson)."""
    if least > 100:  # as a normal variable
        return 0.5 * math.erfc((least - 0.5 - expected) / math.sqrt(2 * expected))
    return 1 - sum(math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(least))


def row_of(options, c: Combination, number: int, keep: pathlib.Path, load_file: pathlib.Path) -> dict | str:
    """@return the row, or the reason why there is none"""
    try:
        seen = json.loads((keep / f"{number}.json").read_text())
    except (OSError, json.JSONDecodeError):
        error = keep / f"{number}.error"
        return "not measured: " + (error.read_text().strip()[-80:] if error.exists() else "")
    if seen["without"]:  # the thread that acts as the card was demoted, or could not be real-time
        return f"not valid: {'; '.join(seen['without'])[:80]}"
    low, evidence = advice(options, c.device, c.contexts[number], load_file)
    late, seconds = seen["blocks_late"], seen["seconds"]
    return {
        "of": c.of(c.contexts[number]),
        "asked_s": options.seconds,
        "trace_s": options.trace_s,
        "shift": options.shift,
        "idle": "skipped",
        "release": (keep / "release").read_text().strip(),
        "low_s": low,
        "evidence": evidence,
        "late": late,
        "blocks": seen["blocks"],
        "seconds": seconds,
        "demoted": seen["demoted"],
        "broken": bool(low) and late > 0 and chance(late, seconds / low) < BROKEN,
    }


def text_of(row: dict) -> str:
    kernel, load, device, context = row["of"]
    promised = f"{row['low_s']:.4g} s" if row["low_s"] else "nothing"
    return (
        f"{kernel:8} {load:9} {device:14} {context:8} {promised:>12} {row['evidence']:28} {row['late']:6} of {row['blocks']:6} in "
        f"{row['seconds']:5.1f} s{'  BROKEN' if row['broken'] else ''}{'  demoted' if row.get('demoted') else ''}"
    )


def measure(options, c: Combination, keep: pathlib.Path) -> tuple[int, list[dict]]:
    """One boot; the rows of the finished contexts are printed and kept. @return the exit status too"""
    status = run_in_machine(options, c, keep)
    if status == vm.SKIPPED:
        return status, []
    rows, load_file = [], keep / "trace.load"
    if not (keep / "trace.dat").exists():
        print(f"{c.kernel:8} {c.load:9} {c.device:14} the machine ended with {status}, without a trace", flush=True)
        return status, rows
    command = [options.offhook, "trace", keep / "trace.dat", "--without", *RECORDER, "-o", load_file]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
    for number, context in enumerate(c.contexts):
        row = row_of(options, c, number, keep, load_file)
        if isinstance(row, str):
            print(f"{c.kernel:8} {c.load:9} {c.device:14} {context:8} {row}", flush=True)
            continue
        rows.append(row)
        print(text_of(row), flush=True)
        if options.rows:
            with options.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
    return status, rows


def read_rows(path: pathlib.Path | None) -> list[dict]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--kernels", nargs="+", default=["6.12", "6.12-rt"])
    parser.add_argument("--loads", nargs="+", default=list(LOADS), choices=LOADS)
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--contexts", nargs="+", default=CONTEXTS)
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--trace-s", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=24)
    parser.add_argument("--shift", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60, help="time limit of a boot, in this machine's time")
    options = parser.parse_args()
    rows = read_rows(options.rows)
    print(HEAD, flush=True)
    for row in rows:
        print(text_of(row), flush=True)
    wanted = list(combinations(options, rows))
    lacking = sum(len(c.contexts) for c in wanted)
    for c in wanted:
        with tempfile.TemporaryDirectory() as temporary:
            keep = (options.keep or pathlib.Path(temporary)) / f"{c.kernel}-{c.load}"
            keep.mkdir(parents=True, exist_ok=True)
            for old in [*keep.glob("*.json"), *keep.glob("trace.*")]:  # of other contexts
                old.unlink()
            status, more = measure(options, c, keep)
        if status == vm.SKIPPED:
            return status
        rows += more
        lacking -= len(more)
    if any(row["broken"] for row in rows):
        return 1
    return 2 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
