#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do two commits produce the same bytes? Runs the same seeded commands with both programs and compares the outputs.

    tests/compare/compare_commits.py COMMIT COMMIT     builds each in a clone under build/compare, then compares
    tests/compare/compare_commits.py FILE FILE         two built programs
Exit status: 0 all equal, 1 something differs (each file and each value of a summary is named), 2 a command failed.
"""
import argparse, hashlib, json, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ["transfer.bytes=6000"]
CALLS = [  # scenario or device, context, settings
    ("int", None, []), ("res-2-8", None, []), ("thr-8-spinner", None, ["transfer.bytes=3000"]),
    ("int", "DPC", QUICK), ("int", "THR 24", QUICK), ("int", "RES 3/17 strict", QUICK),
    ("v34", None, ["transfer.bytes=40000"]), ("v34", "RES 2/8 strict", ["transfer.bytes=20000", "link.compression=v42bis"]),
    ("v34", "INT", ["pump.modem=v32bis", "transfer.bytes=10000"]), ("v34", "DPC", ["pump.modem=auto", "transfer.bytes=10000"]),
    ("table3-3-16", None, ["seed=7"]), ("table3-3-16", "RES 2/14 strict", ["seed=3"]), ("table3-3-16", "RES 1/8", []),
    ("stolen-time", None, QUICK), ("two-cpus", None, QUICK), ("two-reservations", None, QUICK),
    ("int", "RES 1/4 strict", QUICK + ["host.name=linux-hz250"]), ("int", "THR 24", QUICK + ["host.name=nt2000-boosts"]),
]
TEXTS = [  # commands whose standard output is compared
    ["advise", "law", "vendor-modem", "--json"], ["mttf", "win98-games", "--context", "THR 28", "--json"],
    ["reproduce", "--json", "--out", "{}"], ["demo", "--json", "--out", "{}"],
    ["advise", "g-lite", "nt2000-p2-450", "--json", "--seconds", "60", "--out", "{}"],
]
FILES = ("events.ohlog", "summary.json", "line.wav")


def build(commit):
    folder = ROOT / "build" / "compare" / commit.replace("/", "_")
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "fetch", "-q", "origin"], check=True)
    wanted = subprocess.run(["git", "-C", str(ROOT), "rev-parse", commit], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "-C", str(folder), "checkout", "-q", wanted], check=True)
    subprocess.run(["cmake", "--preset", "release"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "build/release", "--target", "offhook"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "build/release/src/offhook"


def run(program, arguments, folder):
    done = subprocess.run([str(program)] + arguments, cwd=folder, capture_output=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{program} {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def values(data, prefix=""):
    if isinstance(data, dict):
        for key, value in data.items():
            yield from values(value, f"{prefix}.{key}" if prefix else key)
    elif isinstance(data, list):
        for k, value in enumerate(data):
            yield from values(value, f"{prefix}[{k}]")
    else:
        yield prefix, data


def explain(a, b):
    """The values in which two JSON texts differ, at most eight."""
    try:
        a, b = dict(values(json.loads(a))), dict(values(json.loads(b)))
    except ValueError:
        return []
    keys = [k for k in dict.fromkeys([*a, *b]) if a.get(k, "absent") != b.get(k, "absent")]
    return [f"    {k}: {a.get(k, 'absent')} -> {b.get(k, 'absent')}" for k in keys[:8]] + ([f"    and {len(keys) - 8} more"] if len(keys) > 8 else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before"), parser.add_argument("after")
    parser.add_argument("--calls-only", action="store_true", help="leave law, mttf, reproduce, demo and advise out")
    arguments = parser.parse_args()
    programs = [pathlib.Path(p).resolve() if pathlib.Path(p).is_file() else build(p) for p in (arguments.before, arguments.after)]
    differing = compared = headers = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        def compare(label, before, after):
            nonlocal differing, compared
            compared += 1
            if before != after:
                differing += 1
                print(f"DIFFERS  {label}", *explain(before, after), sep="\n", flush=True)

        for scenario, context, settings in CALLS:
            common = ["run", str(ROOT / "examples" / f"{scenario}.toml")] + (["--context", context] if context else [])
            for s in settings:
                common += ["--set", s]
            label = f"{scenario} {context or ''} {' '.join(settings)}"
            folders = [scratch / str(k) for k in range(2)]
            for program, folder in zip(programs, folders):
                run(program, common + ["--out", str(folder)], scratch)
            for name in FILES:
                texts = [(f / name).read_bytes() if (f / name).exists() else b"absent" for f in folders]
                if name == "events.ohlog" and texts[0] != texts[1]:  # its header contains every key of the scenario
                    texts = [run(programs[1], ["report", "export", "--csv", str(f / name)], scratch) for f in folders]
                    if texts[0] == texts[1]:
                        headers += 1
                compare(f"{label}: {name}", *texts)
        for command in [] if arguments.calls_only else TEXTS:
            outs = []
            for k, program in enumerate(programs):
                outs.append(run(program, [c.format(scratch / f"text{k}") for c in command], scratch).replace(f"text{k}".encode(), b"text"))
            compare(" ".join(command), *outs)
    print(f"{compared - differing} of {compared} equal" + (f", {headers} logs in their events alone" if headers else ""))
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
