#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Advice from a trace of a machine, and what happens on that machine: Debian's kernels in QEMU, one CPU that counts instructions.

    tests/live/vm/advice.py build/release/src/offhook [--kernels 6.12 6.12-rt] [--loads fifo19 ...] [--keep FOLDER] [--fetch]
                            [--trace-s 10] [--seconds 24] [--shift 3]

For each kernel and load one boot. The load's threads run (compete.c). The machine is traced for a while without a device. Then
`offhook measure device` runs the declared work of a device in each context for --seconds of the guest's time. On this machine,
`offhook advise DEVICE --trace` says how long that context lasts between two losses. A row for each context: what is promised, with
its evidence, and the late blocks that were seen. A promise is broken if at least as many late blocks would come in fewer than one
of 40 such times. --seconds 120 and five contexts are ten guest minutes. With --keep a combination that is there is not run again.

Exit status: 0, 1 when a promise was broken, 77 when the machine cannot be had.
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
    "fifo19": ["fifo 19 8000 10000"],
    "fifo49": ["fifo 49 6000 20000"],
    "fifo60": ["fifo 60 6000 20000"],
    "deadline": ["deadline 2000 10000", "deadline 3000 20000"],
    "softirq": ["softirq 70 100 5000"],
}
# The cards of the other devices have a million samples a second and more, for which this machine is too slow.
DEVICES = ["rt-audio", "vendor-modem", "soft-audio"]
CONTEXTS = ["FIFO 15", "FIFO 25", "FIFO 51", "FIFO 80", "OTHER"]
EVENTS = ["sched:sched_switch", "irq", "irq_vectors", "timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit"]
RECORDER = ["trace-cmd", "chrt"]
BROKEN = 1 / 40


def combinations(options):
    """Each kernel and load, with a device of its own in turn."""
    every = [(kernel, load) for load in LOADS for kernel in vm.KERNELS if kernel.startswith("6.12")]
    for number, (kernel, load) in enumerate(every):
        if kernel in options.kernels and load in options.loads:
            yield kernel, load, DEVICES[number % len(DEVICES)]


def run_in_machine(options, kernel: str, load: str, device: str, keep: pathlib.Path) -> int:
    """Leaves trace.dat and N.json of each context. @return the machine's exit status"""
    subprocess.run(["gcc", "-O2", "-o", keep / "compete", HERE / "compete.c"], check=True)
    # Each program is read once before there is a load: a page from the host takes its time.
    program = shlex.quote(str(options.offhook))
    script = [
        "uname -r >$KEEP/release; cp $KEEP/compete /run",
        f"{program} measure device {device} --context 'FIFO 80' --seconds 0.2 --json >/dev/null 2>&1",
        "trace-cmd reset >/dev/null 2>&1",
    ]
    script += [f"/run/compete {words} & " for words in LOADS[load]]
    script += [
        "sleep 1",
        f"chrt -f 90 trace-cmd start -C mono -b 65536 {' '.join('-e ' + e for e in EVENTS)} >/dev/null || exit 8",
        f"sleep {options.trace_s}",
        "chrt -f 90 trace-cmd stop && chrt -f 90 trace-cmd extract -o /run/trace.dat >$KEEP/trace-cmd 2>&1",
        "trace-cmd reset; cp /run/trace.dat $KEEP",
    ]
    for number, context in enumerate(CONTEXTS):
        script += [
            f"{program} measure device {device} --context '{context}' --seconds {options.seconds} --json"
            f" >/run/{number}.json 2>$KEEP/{number}.error; cp /run/{number}.json $KEEP"
        ]
    command = [sys.executable, HERE / "vm.py", "--kernel", kernel, "--keep", keep, "--shift", str(options.shift), "--seconds", "3000"]
    return subprocess.run(
        [*command, *(["--fetch"] if options.fetch else []), "sh", "-c", "\n".join(script)], check=False
    ).returncode


def advice(offhook: pathlib.Path, device: str, context: str, trace: pathlib.Path) -> tuple[float | None, str]:
    """@return seconds between losses that are promised at least, None: nothing is; and the evidence"""
    command = [offhook, "advise", device, "--trace", trace, "--set", f"context={context}", "--seconds", "10", "--repeats", "2", "--json"]
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
    """Of `least` events or more where `expected` are, by Poisson."""
    if least > 100:  # as a normal variable
        return 0.5 * math.erfc((least - 0.5 - expected) / math.sqrt(2 * expected))
    return 1 - sum(math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(least))


def compare(options, kernel: str, load: str, device: str, keep: pathlib.Path) -> int:
    """Prints the rows. @return promises that were broken"""
    broken = 0
    load_file = keep / "trace.load"
    command = [options.offhook, "trace", keep / "trace.dat", "--without", *RECORDER, "-o", load_file]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
    for number, context in enumerate(CONTEXTS):
        try:
            seen = json.loads((keep / f"{number}.json").read_text())
        except (OSError, json.JSONDecodeError):
            why = (keep / f"{number}.error").read_text().strip()[-80:] if (keep / f"{number}.error").exists() else ""
            print(f"{kernel:8} {load:9} {device:14} {context:8} not measured: {why}", flush=True)
            continue
        if seen["without"]:  # the thread that plays the card was demoted, or could not be real-time
            print(f"{kernel:8} {load:9} {device:14} {context:8} not valid: {'; '.join(seen['without'])[:80]}", flush=True)
            continue
        low, evidence = advice(options.offhook, device, context, load_file)
        late, seconds = seen["blocks_late"], seen["seconds"]
        over = bool(low) and late > 0 and chance(late, seconds / low) < BROKEN
        broken += over
        promised = f"{low:.4g} s" if low else "nothing"
        print(f"{kernel:8} {load:9} {device:14} {context:8} {promised:>12} {evidence:28} {late:6} of {seen['blocks']:6} in "
              f"{seconds:5.1f} s{'  BROKEN' if over else ''}", flush=True)  # fmt: skip
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--kernels", nargs="+", default=["6.12", "6.12-rt"])
    parser.add_argument("--loads", nargs="+", default=list(LOADS), choices=LOADS)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--trace-s", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=24)
    parser.add_argument("--shift", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        print(f"{'kernel':8} {'load':9} {'device':14} {'context':8} {'promised':>12} {'evidence':28} late blocks seen", flush=True)
        broken = 0
        for kernel, load, device in combinations(options):
            keep = folder / f"{kernel}-{load}"
            keep.mkdir(parents=True, exist_ok=True)
            if not (keep / "done").exists():
                status = run_in_machine(options, kernel, load, device, keep)
                if status == vm.SKIPPED:
                    return status
                if status != 0:
                    print(f"{kernel:8} {load:9} {device:14} the machine ended with {status}", flush=True)
                    continue
                (keep / "done").write_text("")
            broken += compare(options, kernel, load, device, keep)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
