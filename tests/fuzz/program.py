#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged files of every kind through the whole program, with limits of memory and time for each run.

    tests/fuzz/program.py build/release/src/offhook --seconds 600 [--seed N] [--keep DIR]

A run may succeed, or end with status 1 or 2 and one line of error. It must not end by a signal, need more than 512 MB,
exceed the time limit, or print a control character or std::bad_alloc. Inputs that do are kept in --keep with the
command, and the exit status is 1. The seed of a run is printed; the same seed makes the same inputs.
"""
import argparse
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_BYTES = 768 << 20  # address space: the program's libraries and stacks take about 200 MB of it
LIMIT_CPU_S = 20
NAMES = ["input", "in put", "a\nb", "\x1b[31mred", "\u202eabc", "-x"]


def seeds(offhook, source, folder):
    """(file, command) of valid inputs: {} is the damaged file, {dir} its folder."""
    scratch = folder / "seeds"
    scratch.mkdir()
    (scratch / "call.toml").write_text('name = "call"\ncontext = "THR 24"\npump.kind = "cost-profile"\n'
                                       'pump.cost_profile = "pentium2-450-vendor"\ntransfer.bytes = 2000\n')
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 120}
    subprocess.run([offhook, "run", scratch / "call.toml", "--out", scratch / "run"], check=True, **quiet)
    subprocess.run([offhook, "new", "system", scratch / "system.json"], **quiet)
    examples = source / "examples"
    wav = (examples / "call.wav").read_bytes()
    (scratch / "short.wav").write_bytes(wav[:44 + 8000 * 4 * 3])
    found = [(scratch / "short.wav", ["decode", "{}", "-q", "--json"]),
             (scratch / "call.toml", ["run", "{}", "--out", "{dir}/out", "--set", "transfer.time_limit_s=5"]),
             (scratch / "run/summary.json", ["report", "{run}"]),
             (scratch / "run/scenario.toml", ["report", "{run}"]),
             (scratch / "run/events.ohlog", ["report", "{}", "--html", "{dir}/page.html"]),
             (scratch / "run/events.ohlog", ["report", "export", "{}", "--csv", "{dir}/events.csv"]),
             (examples / "board.load", ["trace", "{}"]),
             (examples / "system.json", ["schedule", "{}"])]
    for file in sorted(examples.glob("*.toml")):
        found.append((file, ["run", "{}", "--out", "{dir}/out", "--set", "transfer.time_limit_s=2"]))
        found.append((file, ["sweep", "plan", "{}", "--out", "{dir}/plan"]))
    for name in ("devices", "hosts"):
        for file in sorted((source / "traces/data" / name).glob("*.toml"))[:4]:
            found.append((file, ["advise", "{}", "--host", "linux-rt", "--seconds", "0.1"] if name == "devices"
                          else ["hosts", "{}"]))
    for target, words in (("event_log_fuzz", ["report", "{}", "--html", "{dir}/page.html"]),
                          ("trace_import_fuzz", ["trace", "{}"]), ("latency_fuzz", ["mttf", "{}", "--hours", "0.01"]),
                          ("wav_fuzz", ["decode", "{}", "-q"]), ("system_fuzz", ["schedule", "{}"])):
        for file in sorted((source / "tests/fuzz/corpus" / target).glob("*")):
            found.append((file, words))
    return [(file.read_bytes(), words, file.suffix, scratch / "run" if "{run}" in words else None, file.name)
            for file, words in found if file.is_file()]


def damaged(dice, data, others):
    """One to four changes as by a byte fuzzer, and some that only size reveals."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at, to = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
        what = dice.randrange(10)
        if what == 0 and data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif what == 1:
            del data[at:]
        elif what == 2:
            del data[at:to]
        elif what == 3:
            data[at:at] = data[at:to] * dice.choice((1, 2, 50, 2000)) if to - at < 4096 else data[at:to]
        elif what == 4:
            data[at:at] = bytes([dice.choice(b'[{"\\=,.:#\n\0\x1b\xff')]) * dice.choice((1, 70, 5000, 300_000))
        elif what == 5:
            data[at:at + 4] = dice.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80"))
        elif what == 6:
            other = dice.choice(others)[0]
            data[at:to] = other[:dice.randint(0, min(len(other), 100_000))]
        elif what == 7:
            data[at:at] = dice.choice((b"1e999", b"-1", b"99999999999999999999", b"nan", b"[{},{},", b"a.b.c.d = 1\n"))
        elif what == 8:
            data[at:to] = dice.randbytes(min(to - at, 4096))
        else:
            data[at:at] = data[max(0, at - 100):at] * dice.choice((1, 10, 3000))
    return bytes(data[:64 << 20])


def complaint(status, error, used_mb):
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    if status not in (0, 1, 2):
        return f"ended with {status}"
    if "bad_alloc" in error or "not enough memory" in error:
        return "ran out of memory"
    if used_mb > 512:
        return f"needed {used_mb:.0f} MB"
    if any(c < " " and c not in "\n\t\r" or c == "\x7f" for c in error):
        return "printed a control character"
    errors = [line for line in error.splitlines() if line.startswith("offhook: error: ")]
    if status == 1 and len(errors) != 1:
        return f"ended with 1 and {len(errors)} lines of error"
    return ""


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one(offhook, folder, data, words, suffix, run):
    """@return status, standard error, peak MB, the command"""
    place = folder / "here"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if run is not None:
        shutil.copytree(run[0], place / "run")
        file = place / "run" / run[1]
    else:
        file = place / (run_name(data) + suffix)
    file.write_bytes(data)
    fill = {"{}": str(file), "{run}": str(place / "run")}
    command = [offhook] + [fill.get(w, w.replace("{dir}", str(place))) for w in words]
    with open(folder / "err", "wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                   cwd=place, preexec_fn=limited)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, (folder / "err").read_text(errors="replace"), used.ru_maxrss / 1024, command


def run_name(data):
    return NAMES[len(data) % len(NAMES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="build/fuzz/program")
    given = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    offhook = str(pathlib.Path(given.offhook).resolve())
    faults, count, worst = 0, {}, {}
    end = time.monotonic() + given.seconds
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="offhook-program-") as name:
        folder = pathlib.Path(name)
        whole = seeds(offhook, source, folder)
        number = 0
        while time.monotonic() < end:
            dice = random.Random(f"{given.seed} {number}")
            number += 1
            data, words, suffix, run, file_name = dice.choice(whole)
            bad = damaged(dice, data, whole)
            status, error, mb, command = one(offhook, folder, bad, words, suffix, run and (run, file_name))
            count[words[0]] = count.get(words[0], 0) + 1
            worst[words[0]] = max(worst.get(words[0], 0), mb)
            if why := complaint(status, error, mb):
                faults += 1
                keep = pathlib.Path(given.keep)
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{given.seed}-{number}{suffix}").write_bytes(bad)
                print(f"FAIL: input {number} {why}: {' '.join(command[1:])!r}\n  {error.strip()[-300:]!r}", flush=True)
    for command, n in sorted(count.items()):
        print(f"{command:10} {n:7} inputs, at most {worst[command]:.0f} MB")
    print(f"{sum(count.values())} inputs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
