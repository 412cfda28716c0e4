#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of all kinds in one long recording: each must be found with the right verdict, in constant memory.

    tests/decode/evening.py PROGRAM FOLDER [--calls N] [--hours H] [--seed N] [--jobs N]

Makes N calls (default 200) of the 20 kinds of signals.py at 20 dB or more, puts them into
one recording of H hours (default 24) in FOLDER, with silence between them, and decodes
it. The recording is a sparse file. Exit status: 0 good, 1 if a call was not found, a
verdict is wrong, or the program took more than 256 MB; 77 if a program is missing.
"""
import argparse, array, collections, concurrent.futures, json, pathlib, random, resource, shutil, struct, sys, tempfile, time

import signals

SNRS_DB = (20, 25, 30, 40, 50, 60)
MOST_MB = 256


def make(shared, number):
    """@return the facts about the call, and its two channels"""
    r = random.Random(shared.seed * 1_000_003 + number)
    snr_db, seconds = r.choice(SNRS_DB), r.choice(signals.LENGTHS_S)
    kind = number % len(signals.KINDS)
    with tempfile.TemporaryDirectory() as work:
        made = signals.KINDS[kind](shared, pathlib.Path(work), r, seconds)
    channels = signals.on_a_line(made, r, snr_db)
    if len(channels) == 1:
        channels = [channels[0], array.array("h", bytes(2 * len(channels[0])))]
    return {"number": number, "kind": signals.NAMES[kind], "snr_db": snr_db, "names": made.names}, channels


def write_evening(path, calls, hours):
    """A WAV file with the calls at equal distances. @return the facts, with start_s and end_s"""
    frames = int(hours * 3600 * signals.RATE_HZ)
    apart = frames // len(calls)
    with open(path, "wb") as f:
        f.write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 4 * frames, b"WAVE", b"fmt ", 16, 1, 2, signals.RATE_HZ,
                            4 * signals.RATE_HZ, 4, 16, b"data", 4 * frames))
        for k, (fact, channels) in enumerate(calls):
            at = k * apart + apart // 4
            mixed = array.array("h", bytes(4 * len(channels[0])))
            mixed[0::2], mixed[1::2] = channels
            f.seek(44 + 4 * at)
            f.write(mixed.tobytes())
            fact.update(start_s=at / signals.RATE_HZ, end_s=(at + len(channels[0])) / signals.RATE_HZ)
        f.truncate(44 + 4 * frames)
    return [fact for fact, _ in calls]


def judge(facts, documents):
    """@return counts of the results, and a line for each call that is wrong or was not found"""
    counts, lines = collections.Counter(), []
    for fact in facts:
        said = [d["verdict"] for d in documents if d["recording"]["start_s"] < fact["end_s"] and
                d["recording"]["start_s"] + d["recording"]["duration_s"] > fact["start_s"]]
        result = signals.result_of(fact, said) if said or not fact["names"] else "not found"
        counts[result] += 1
        if result in ("wrong", "not found"):
            lines.append(f"call {fact['number']} ({fact['kind']}, {fact['snr_db']} dB) at {fact['start_s']:.0f} s: {result}: "
                         + ", ".join(v["technology"] for v in said))
    return counts, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="to make the calls; one decodes them")
    arguments = parser.parse_args()
    absent = [name for name in ("minimodem", "gen_packets", "sox") if shutil.which(name) is None]
    if absent:
        print(f"not on this machine: {', '.join(absent)} (Debian: minimodem, direwolf, sox)")
        return 77
    arguments.folder.mkdir(parents=True, exist_ok=True)
    shared = signals.Shared(arguments.program, arguments.folder.resolve(), arguments.seed)
    for modem in ("v34", "v90", "v32bis"):
        for k in range(signals.CALLS):
            signals.own_call(shared, modem, k)
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        calls = list(pool.map(make, [shared] * arguments.calls, range(arguments.calls)))
    recording, said = arguments.folder / "evening.wav", arguments.folder / "evening.json"
    facts = write_evening(recording, calls, arguments.hours)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    # Memory is the largest child's. The simulator's calls above took less; otherwise they would be the limit.
    signals.run(arguments.program, "decode", recording, "-q", "--json", said, statuses=(0, 2))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    documents = json.loads(said.read_text())
    counts, lines = judge(facts, documents if isinstance(documents, list) else [documents])
    recording.unlink()
    megabytes = after.ru_maxrss / 1024
    print(f"{len(facts)} calls in {arguments.hours:g} h: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    print(f"{after.ru_utime - before.ru_utime:.0f} s of CPU in {time.monotonic() - began:.0f} s, at most {megabytes:.0f} MB")
    print("".join(line + "\n" for line in lines), end="")
    return 1 if lines or megabytes > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
