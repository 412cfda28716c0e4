#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls over simulated networks: do they last, are the bytes correct, and how is the throughput relative to a clean network?

    tests/bench/network_calls.py build/release/src/offhook --keep calls.jsonl [--calls 100] [--modem v34] [--loss 0.001]
                                 [--cpu-minutes 20]

Each call is `offhook run` of a digital trunk whose packets are lost with the probability of --loss.
The playout buffer of one direction moves by 10 or 20 ms every 30 s, and the clocks differ by up to
50 ppm. Both are random, with the call's number as seed. Delays have an exponential distribution
with the mean --jitter-ms. A buffer of fixed depth (--buffer-ms) delays each packet by its depth and
loses later ones. Jitter has no other effect on the samples. The first calls (--clean) also run on
the same line with the same clocks and delay, but without losses and moves. All calls transfer bytes
for --seconds at the highest rate of the modem. Each call is a line of the --keep file. Calls of the
same program in that file are not run again. With --cpu-minutes, no call starts after that CPU time.
Exit status: 1 if a call ended early or bytes were wrong, 2 if calls remain.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RATES = {"v34": 33_600, "v90": 56_000, "v32bis": 14_400, "v22bis": 2400}
PACKET_MS = 20
JUMP_EVERY_S = 30
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/v34.toml"


def run_call(args: argparse.Namespace, number: int, clean: bool) -> dict:
    draw = random.Random(number)
    jump_ms, clock_ppm = draw.choice((10, 20)), round(draw.uniform(-50, 50), 2)
    late = math.exp(-args.buffer_ms / args.jitter_ms) if args.jitter_ms > 0 else 0
    loss = 0 if clean else 1 - (1 - args.loss) * (1 - late)
    keys = {
        "line.kind": '"digital-trunk"',
        "pump.modem": f'"{args.modem}"',
        "transfer.bytes": RATES[args.modem] * args.seconds // 8,
        "trunk.packet_ms": PACKET_MS,
        "trunk.packet_loss": loss,
        "trunk.delay_ms": 5 + args.buffer_ms,
        "trunk.clock_ppm": clock_ppm,
        "trunk.jump_ms": 0 if clean else jump_ms,
        "trunk.jump_every_s": 0 if clean else JUMP_EVERY_S,
        "trunk.noise_dbm0": -80,
    }
    command = [args.offhook, "run", EXAMPLE, "--context", "INT", "--seed", str(number), "--json"]
    for key, value in keys.items():
        command += ["--set", f"{key}={value}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, "--out", folder + "/run"], capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
    found = json.loads(done.stdout)
    row = {"jump_ms": jump_ms, "clock_ppm": clock_ppm, "failure": "" if found["complete"] else found["ending"]}
    ends = found["figures"]["ends"]
    return row | {
        "transfer_s": found["transfer_s"],
        "bytes": found["bytes_delivered"],
        "received_bps": ends[0]["received_bps"],
        "retrains": sum(end["data_modes"] - 1 for end in ends),
        "frames_again": sum(end["frames_retransmitted"] for end in ends),
    }


def append(keep: Path, row: dict) -> None:
    broken = keep.exists() and keep.read_bytes()[-1:] not in (b"", b"\n")
    with keep.open("a") as file:
        file.write(("\n" if broken else "") + json.dumps(row) + "\n")


def read_kept(keep: Path) -> dict:
    kept = {}
    if keep.exists():
        for line in keep.read_text().splitlines():
            try:
                row = json.loads(line)
                kept[tuple(row["of"])] = row
            except (ValueError, KeyError, TypeError):
                continue  # a line that was incomplete when the run was killed
    return kept


def cpu_minutes() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def summary(rows: list[dict], what: str) -> int:
    """@return calls that ended early"""
    good = [r for r in rows if not r["failure"]]
    for r in rows:
        if r not in good:
            print(f"call {r['of'][-2]}, {what}: {r['failure']}")
    if good:
        times = sorted(r["transfer_s"] for r in good)
        retrains = sum(r["retrains"] for r in good)
        frames = statistics.median(r["frames_again"] for r in good)
        print(f"{what}: {len(good)} of {len(rows)} stayed up with all bytes whole; transfer median {statistics.median(times):.2f} s, "
              f"{times[0]:.2f} to {times[-1]:.2f} s; {retrains} retrains, {frames:g} frames again (median)")
    return len(rows) - len(good)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--clean", type=int, default=20, help="calls of the clean network, the first of them")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--modem", choices=RATES, default="v34")
    parser.add_argument("--loss", type=float, default=0.001)
    parser.add_argument("--jitter-ms", type=float, default=10)
    parser.add_argument("--buffer-ms", type=float, default=80)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpu-minutes", type=float, default=math.inf)
    args = parser.parse_args()
    program = hashlib.sha256(args.offhook.read_bytes()).hexdigest()[:16]
    kept = read_kept(args.keep)
    setting = (program, args.modem, args.loss, args.jitter_ms, args.buffer_ms, args.seconds)
    left = 0

    def one(key: tuple[int, bool]) -> dict | None:
        nonlocal left
        of = (*setting, *key)
        if of in kept:
            return kept[of]
        if cpu_minutes() >= args.cpu_minutes:
            left += 1
            return None
        row = {"of": of, **run_call(args, *key)}
        append(args.keep, row)
        print(f"call {key[0]}{' clean' if key[1] else ''}: {row['transfer_s']:.2f} s, {row['retrains']} retrains {row['failure']}",
              flush=True)
        return row

    keys = [(number, False) for number in range(1, args.calls + 1)] + [(number, True) for number in range(1, args.clean + 1)]
    with ThreadPoolExecutor(args.threads) as pool:
        rows = [row for row in pool.map(one, keys) if row]
    faulty, clean = ([row for row in rows if row["of"][-1] == is_clean] for is_clean in (False, True))
    down = summary(faulty, "network") + summary(clean, "clean network")
    with_times = [[row["transfer_s"] for row in some if row["transfer_s"] > 0] for some in (faulty, clean)]
    if all(with_times):
        of_network, of_clean = (statistics.median(times) for times in with_times)
        print(f"median throughput: {100 * of_clean / of_network:.1f} % of the clean network's")
    if left:
        print(f"{left} of {len(keys)} runs are left: {args.cpu_minutes:g} minutes of CPU were used")
    return 1 if down else 2 if left else 0


if __name__ == "__main__":
    sys.exit(main())
