#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the new program as fast as the old one? Runs the same benchmarks of two builds alternately on one CPU.

    tests/compare/compare_speed.py BUILD BUILD [--bench v34_bench ...] [--rounds 7] [--filter REGEX] The least CPU time of
all rounds counts for each benchmark, which excludes other work of the machine. The column `rounds` has the spread of the
ratio over the rounds. Prints without judging. Run programs with their own tables (v32_bench, pump_cost_bench) by hand,
alternately.
"""
import argparse, json, os, pathlib, statistics, subprocess, sys, tempfile


def times(program, pattern):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [str(program), f"--benchmark_out={out.name}", "--benchmark_out_format=json", "--benchmark_min_time=0.1"]
        done = subprocess.run(command + ([f"--benchmark_filter={pattern}"] if pattern else []),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{program}: exit status {done.returncode}")
        text = open(out.name, encoding="utf-8").read()
        if not text:
            sys.exit(f"{program}: no benchmark is called \"{pattern}\"")
        unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        return {b["name"]: b["cpu_time"] * unit[b["time_unit"]] for b in json.loads(text)["benchmarks"] if "cpu_time" in b}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path), parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--bench", nargs="+", default=["v34_bench", "engine_bench", "call_bench", "event_log_bench"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'benchmark':58} {'before, us':>12} {'after, us':>12} {'after/before':>13} {'rounds':>15}")
    for bench in arguments.bench:
        rounds = []
        for k in range(arguments.rounds):
            print(f"{bench}: round {k + 1} of {arguments.rounds}", end="\r", file=sys.stderr, flush=True)
            order = (arguments.before, arguments.after) if k % 2 == 0 else (arguments.after, arguments.before)
            got = {build: times(build / "tests" / bench, arguments.filter) for build in order}
            rounds.append((got[arguments.before], got[arguments.after]))
        for name in rounds[0][0]:
            both = [(a[name], b[name]) for a, b in rounds if name in a and name in b]
            if not both:
                print(f"{bench + ' ' + name:58} {'':>12} {'gone':>12}")
                continue
            before, after = min(a for a, _ in both), min(b for _, b in both)
            ratios = sorted(b / a for a, b in both)
            print(f"{bench[:-6] + ' ' + name:58.58} {before / 1e3:12.2f} {after / 1e3:12.2f} {after / before:13.3f} "
                  f"{ratios[0]:6.2f}..{ratios[-1]:.2f} (median {statistics.median(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
