#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares advice from three minutes with two simulated hours on five other seeds, for devices and hosts.

    tests/bench/advice_pairs.py build/release/src/offhook [--devices g-lite ...] [--hosts win98-games ...] [--hours 2]
                                [--keep pairs.jsonl [--older]] [--cpu-minutes 20]

Runs `offhook advise DEVICE HOST --verify HOURS` for each pair and prints its row immediately: the advice; the time
between losses that it claims (`not`: the context that comes closest, without a claim; `none`: no claim); the time from
`offhook mttf`, if the host's latencies are known; and the simulated losses. With --keep, each pair is also a line of that
file. A pair from the same program with the same hours is not run again; with --older, a pair from any program. With
--cpu-minutes, no pair starts after that CPU time. Exit status: 1 if advice claimed more than the simulation shows, or
failed; 2 if pairs remain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
from pathlib import Path

VERIFY_RUNS = 5  # from `offhook advise --verify`
TRACES = Path(__file__).resolve().parents[2] / "traces/data"
NO_HOST = "linux"  # for traces only: `offhook advise` requires a version


def names(folder: str) -> list[str]:
    found = sorted(path.stem for path in (TRACES / folder).glob("*.toml") if path.stem != NO_HOST)
    if not found:
        sys.exit(f"no files in {TRACES / folder}")
    return found


def mean_time_to_underrun(offhook: Path, device: str, host: str, context: str, hours: float) -> str:
    """The result of `offhook mttf` for that device in that context; nothing if the host's latencies are unknown."""
    command = [offhook, "mttf", host, "--device", device, "--context", context, "--hours", str(hours), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return "-"
    (row,) = json.loads(run.stdout)["bufferings"]
    return span(row["simulated_s"]) if row["underruns"] else f"over {span(row['low_s'])}"


def span(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


def run_pair(offhook: Path, device: str, host: str, hours: float, threads: int) -> dict:
    """The result of a pair: `row` to print after its names, and whether the advice is `wrong`."""
    command = [offhook, "advise", device, host, "--json", "--threads", str(threads), "--verify", str(hours)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        advice = json.loads(run.stdout)
    except json.JSONDecodeError:
        return {"row": run.stderr.strip()[-80:], "wrong": True}
    if advice["context"] is None:  # no context is sufficient or comes close, so nothing is claimed or run
        return {"row": f"{'none':22} {'nothing':>14} {'-':>9} {'-':>12} {'-':>8}", "wrong": False}
    chosen = next(t for t in advice["trials"] if t["context"] == advice["context"])
    seen, relied = advice["verified"], chosen["between_losses"]
    mttf = mean_time_to_underrun(offhook, device, host, advice["context"], hours * VERIFY_RUNS)
    row = (
        f"{('' if advice['suffices'] else 'not ') + advice['context']:22} {relied['low']:>14} {relied['evidence']:>9}"
        f" {mttf:>12} {seen['losses']:>8} of {seen['blocks']}{'  SAFER' if seen['advice_is_safer'] else ''}"
    )
    return {"row": row, "wrong": seen["advice_is_safer"]}


def read_kept(keep: Path | None) -> dict:
    """@return {(device, host, hours, program): pair}, and the latest of each without the program, (device, host, hours)"""
    kept = {}
    if keep is not None and keep.exists():
        for line in keep.read_text().splitlines():
            try:
                pair = json.loads(line)
                kept[tuple(pair["of"])] = kept[tuple(pair["of"][:3])] = pair
            except (ValueError, KeyError, TypeError):
                continue  # a line that was incomplete when the run was killed
    return kept


def append(keep: Path, pair: dict) -> None:
    """Starts a new line, because a killed run may have left a partial one."""
    broken = keep.exists() and keep.read_bytes()[-1:] not in (b"", b"\n")
    with keep.open("a") as file:
        file.write(("\n" if broken else "") + json.dumps(pair) + "\n")


def cpu_minutes() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=Path)
    parser.add_argument("--devices", nargs="+", default=names("devices"))
    parser.add_argument("--hosts", nargs="+", default=names("hosts"))
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--older", action="store_true", help="take kept pairs of other programs too")
    parser.add_argument("--cpu-minutes", type=float, default=float("inf"))
    args = parser.parse_args()
    program = hashlib.sha256(args.offhook.read_bytes()).hexdigest()[:16]
    kept = read_kept(args.keep)
    wrong = left = 0
    head = f"{'device':16} {'host':19} {'advice':22} {'relies on':>14} {'evidence':>9} {'mttf':>12} {'lost':>8} of blocks"
    print(head, flush=True)
    for device in args.devices:
        for host in args.hosts:
            of = (device, host, args.hours, program)
            pair = kept.get(of) or (kept.get(of[:3]) if args.older else None)
            if pair is None:
                if cpu_minutes() >= args.cpu_minutes:
                    left += 1
                    continue
                pair = {"of": of, **run_pair(args.offhook, device, host, args.hours, args.threads)}
                if args.keep is not None:
                    append(args.keep, pair)
            wrong += pair["wrong"]
            print(f"{device:16} {host:19} {pair['row']}", flush=True)
    if left:
        print(
            f"{left} of {len(args.devices) * len(args.hosts)} pairs were not run: {args.cpu_minutes:g} minutes were used"
        )
    return 1 if wrong else 2 if left else 0


if __name__ == "__main__":
    sys.exit(main())
