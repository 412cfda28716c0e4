#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Advice of three minutes against two simulated hours on five other seeds, for devices and hosts.

    tests/bench/advice_pairs.py build/release/src/offhook [--devices g-lite ...] [--hosts win98-games ...] [--hours 2]

Runs `offhook advise DEVICE HOST --verify HOURS` for each pair and prints a row for it as soon as it is there: what is
advised, the time between losses that the advice relies on, and what was seen. Ends with 1 when an advice was safer than
what was seen, or could not be given.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

TRACES = Path(__file__).resolve().parents[2] / "traces"


def names(folder: str) -> list[str]:
    return sorted(path.stem for path in (TRACES / folder).glob("*.toml"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook", type=Path)
    parser.add_argument("--devices", nargs="+", default=names("devices"))
    parser.add_argument("--hosts", nargs="+", default=names("hosts"))
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    wrong = 0
    head = f"{'device':14} {'host':18} {'advice':22} {'relies on':>16} {'evidence':>10} {'lost':>8} of blocks"
    print(head, flush=True)
    for device in args.devices:
        for host in args.hosts:
            command = [args.offhook, "advise", device, host, "--json", "--threads", str(args.threads)]
            run = subprocess.run([*command, "--verify", str(args.hours)], capture_output=True, text=True, check=False)
            try:
                advice = json.loads(run.stdout)
            except json.JSONDecodeError:
                print(f"{device:14} {host:18} {run.stderr.strip()[-80:]}", flush=True)
                wrong += 1
                continue
            chosen = next((t for t in advice["trials"] if t["context"] == advice["context"]), None)
            if chosen is None or "verified" not in advice:
                print(f"{device:14} {host:18} none: {advice['headline'][:60]}", flush=True)
                continue
            seen, relied = advice["verified"], chosen["between_losses"]
            wrong += seen["advice_is_safer"]
            print(
                f"{device:14} {host:18} {('' if advice['suffices'] else 'not ') + advice['context']:22}"
                f" {relied['low']:>16} {relied['evidence']:>10} {seen['losses']:>8} of {seen['blocks']}"
                f"{'  SAFER' if seen['advice_is_safer'] else ''}",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
