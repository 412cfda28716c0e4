#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls between Offhook's modem and any other modem program, over various lines.

    ./dev interop PROGRAM [--itself] [--cells WORD] [--roles call,answer] [--calls N] [--out DIR] [--list]

PROGRAM speaks the protocol of docs/interop.md. A cell is a line and a modulation; "call" and "answer" are the role of
Offhook's modem. In each call both ends send a file of random bytes, and both files must arrive completely. Each result
is kept in DIR (out/interop/NAME) when the call ends. If the command is repeated, it resumes. Results of another build of
offhook or PROGRAM are not used.

--itself makes calls between PROGRAM and PROGRAM over the same lines. These results are the benchmark target for calls with
Offhook. Only on telephone lines, because PROGRAM is the analogue modem on a trunk.

Progress goes to standard error, the table to standard output. Exit status: 0 if every call was complete, 2 if not, 1
error, 130 interrupted.
"""
import argparse
import contextlib
import hashlib
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WALL_S = 900  # for one call, after which a stalled program is ended
LIMIT_S = 300  # for one call, in line time
GONE_S = 60  # for Offhook's end to write its results after PROGRAM has left
UNABLE = 77  # PROGRAM's exit status if it does not support the settings of a cell

# The line of every cell, as keys of a scenario; a cell may replace them.
LINE = {"codec": "none", "loss_db": 6, "near_echo_db": 60, "far_echo_db": 60, "noise_dbm0": -90, "delay_ms": 10}
# The same for V.90, where Offhook is the digital modem and PROGRAM the analogue one.
TRUNK = {"near_end": "digital", "near_echo_db": 60, "card_echo_db": 60, "noise_dbm0": -90, "delay_ms": 10}
SENT_DBM0 = -12  # bytes that Offhook's modem sends


def cell(name, modem="v34", far=None, file_bytes=20000, **line):
    """far: further settings of PROGRAM, in addition to its modulation"""
    settings = {f"line.{key}": value for key, value in {**LINE, **line}.items()}
    return {"name": name, "modem": modem, "far": {"modulation": modem, **(far or {})}, "bytes": file_bytes, "line": settings}


def trunk_cell(name, file_bytes=60000, **trunk):
    settings = {"line.kind": "digital-trunk", **{f"trunk.{key}": value for key, value in {**TRUNK, **trunk}.items()}}
    return {**cell(f"V.90, {name}", modem="v90", file_bytes=file_bytes), "line": settings}


def snr(db):
    loss = 10
    return {"loss_db": loss, "noise_dbm0": SENT_DBM0 - loss - db}


def hum_cells():
    quiet = {"codec": "mu-law", "loss_db": 20}
    return [
        *(cell(f"hum {level} dBm0 at {hz} Hz, loss 20 dB, mu-law", **quiet, hum_dbm0=level, hum_hz=hz)
          for level in (-32, -26, -20) for hz in (50, 60)),
        cell("hum -18 dBm0 at 50 Hz, mu-law", codec="mu-law", hum_dbm0=-18),
        *(cell(f"hum -26 dBm0 at 50 Hz, SNR {db} dB", **snr(db), hum_dbm0=-26) for db in (22, 20, 18)),
    ]


def slow_cells():
    """V.22bis, whose channel of 600 Hz has 8.2 dB less noise than the row states."""
    return [cell(f"V.22bis, SNR {db} dB", modem="v22bis", far={"automode": 0}, file_bytes=2000, **snr(db))
            for db in (20, 16, 15, 14, 13, 12, 10)]


def cells():
    in_data = {"file_bytes": 60000}  # 15 s at 33,600 bit/s, from about 12 s on
    two_wires = {"near_echo_db": 12, "far_echo_db": 30, "codec": "mu-law"}
    found = [
        cell("clean"),
        cell("2-wire: near echo 12 dB, far 30, mu-law", **two_wires),
        *(cell(f"round trip {ms} ms", delay_ms=ms / 2) for ms in (150, 300, 600, 900, 1050, 1200)),
        cell("drop-out of 100 ms", **in_data, interruption_at_s=16, interruption_ms=100),
        cell("drop-out of 2 s", **in_data, interruption_at_s=16, interruption_ms=2000),
        cell("slip of 5 ms", **in_data, slip_at_s=16, slip_ms=5),
        cell("at most 4800 bit/s", far={"max_rate": 4800}),
        cell("at most 7200 bit/s", far={"max_rate": 7200}),
        cell("band to 3200 Hz", upper_edge_hz=3200),
        cell("band to 3000 Hz", upper_edge_hz=3000),
        cell("phase jitter 5 degrees, 60 Hz", phase_jitter_deg=5, phase_jitter_hz=60),
        cell("listener echo 12 dB", loss_db=0, near_echo_db=12, far_echo_db=6),
        cell("round trip 100 ms, SNR 30 dB", **snr(30), delay_ms=50),
        cell("round trip 300 ms, 2-wire, SNR 30 dB", **snr(30), **two_wires, delay_ms=150),
        cell("round trip 600 ms, 2-wire", **two_wires, delay_ms=300),
        *(cell(f"frequency offset {hz:+d} Hz", frequency_offset_hz=hz) for hz in (7, -7)),
        cell("frequency offset +7 Hz, 2-wire", **two_wires, frequency_offset_hz=7),
        cell("clock +100 ppm", clock_ppm=100),
        cell("loss 25 dB", loss_db=25),
        cell("robbed bit, mu-law", codec="mu-law", robbed_bit="true"),
        cell("an impulse of -20 dBm0 a second", **in_data, impulse_rate_hz=1),
        cell("drop-out of 200 ms at 8 s, in the training", interruption_at_s=8, interruption_ms=200),
        cell("slip of 20 ms", **in_data, slip_at_s=16, slip_ms=20),
        cell("V.56 bis, AD-6 and EDD-3", channel="v56bis-ad6-edd3"),
        cell("V.56 bis, AD-9 and EDD-3", channel="v56bis-ad9-edd3"),
        cell("band to 2400 Hz", upper_edge_hz=2400),
        cell("V.22bis by automode", modem="auto", far={"modulation": "v22bis", "automode": 1}),
        cell("V.22bis", modem="v22bis", far={"automode": 0}),
        cell("V.32bis", modem="v32bis"),
        cell("V.32bis, 2-wire: near echo 12 dB, far 30, mu-law", modem="v32bis", **two_wires),
        cell("V.32bis, at most 4800 bit/s", modem="v32bis", far={"max_rate": 4800}),
        cell("V.32bis, frequency offset +7 Hz", modem="v32bis", file_bytes=8000, frequency_offset_hz=7),
        trunk_cell("clean"),
        trunk_cell("no loss", loss_db=0),
        trunk_cell("noise -80 dBm0", noise_dbm0=-80),
        trunk_cell("near echo 14 dB, line card's 24, noise -80 dBm0", near_echo_db=14, card_echo_db=24, noise_dbm0=-80),
        *(trunk_cell(f"robbed bits {bits.bit_count()} of 6", robbed_bits=bits) for bits in (0b1, 0b1001, 0b10101, 0b111111)),
        *(trunk_cell(f"pad {db} dB", pad_db=db) for db in (3, 6)),
        trunk_cell("pad 6 dB, robbed bits 1 of 6", pad_db=6, robbed_bits=1),
        trunk_cell("mu-law modem, A-law line card", codec="a-law"),
        trunk_cell("A-law", law="a-law", codec="a-law"),
        trunk_cell("loop 12 dB", loss_db=12),
        trunk_cell("clock +50 ppm", clock_ppm=50),
        *(trunk_cell(f"round trip {ms} ms", file_bytes=20000, delay_ms=ms / 2) for ms in (150, 280, 300, 500, 700, 900)),
        trunk_cell("a slip a minute each way", file_bytes=250000, slip_every_s=60),
        trunk_cell("no digital route down", converters="true"),
        trunk_cell("packets of 20 ms, one of 500 lost", packet_ms=20, packet_loss=0.002),
        trunk_cell("packets, jumps of 20 ms every 20 s", packet_ms=20, jump_every_s=20),
    ]
    return found + [cell(f"SNR {db} dB", **snr(db)) for db in range(40, 12, -2)] + hum_cells() + slow_cells()


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit(f"interop: error: {text}")


class Far:
    """The other program: how it is started, and what it reports about itself."""

    def __init__(self, words):
        program = shutil.which(words[0])
        if program is None:
            fail(f"{words[0]}: no program that can be started")
        # Calls run in separate folders.
        self.words = [os.path.abspath(program), *(os.path.abspath(w) if os.path.isfile(w) else w for w in words[1:])]
        done = subprocess.run([*self.words, "describe"], check=False, capture_output=True, text=True, timeout=60)
        try:
            self.about = json.loads(done.stdout)
            self.name, self.address = str(self.about["name"]), str(self.about["address"])
        except (ValueError, TypeError, KeyError):
            fail(f'{words[0]} describe: printed {done.stdout[:200]!r}; expected one JSON object with "name" and "address"')

    def start(self, folder, role, settings, log, files=("from-far.bin", "to-far.bin", "far-received.bin")):
        words = [f"{key}={value}" for key, value in settings.items()]
        return subprocess.Popen([*self.words, role, "socket", *files, *words],
                                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def ours(offhook, folder, c, role, seed, far):
    words = [str(offhook), "run", str(ROOT / "examples/int.toml"), "--seed", str(seed), "--json", "--out", "ours",
             "--far-end", f"unix:socket,{far.address}".rstrip(","), "--file", "to-far.bin", "--expect", "from-far.bin"]
    settings = {"pump.modem": c["modem"], "pump.role": role, "transfer.time_limit_s": LIMIT_S, **c["line"]}
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    return words


def stop(process):
    """Ends it, first by SIGTERM, then by SIGKILL, so that no process outlives its call."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def watch(near, far):
    """Waits until Offhook's end is done.  @return why this test ended it, or nothing"""
    begin, far_gone = time.monotonic(), None
    while near.poll() is None:
        time.sleep(0.05)
        now = time.monotonic()
        if now - begin > WALL_S:
            return f"not over after {WALL_S} s"
        if far.poll() is not None and far_gone is None:
            far_gone = now
        # Offhook's end notices a closed socket immediately. It waits only for a program that never connected.
        if far_gone is not None and now - far_gone > (0 if far.returncode == UNABLE else GONE_S):
            return f"PROGRAM ended with {far.returncode}, and our end did not end"
    return None


def call(offhook, far, folder, c, role, seed):
    """@return the result of one call, in the form that is kept"""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = random.Random(f"{c['name']} {seed}")
    to_far, from_far = (source.randbytes(c["bytes"]) for _ in range(2))
    (folder / "to-far.bin").write_bytes(to_far)
    (folder / "from-far.bin").write_bytes(from_far)
    other = {"call": "answer", "answer": "call"}[role]
    with open(folder / "far.txt", "wb") as far_log, open(folder / "ours.json", "wb") as out, open(folder / "ours.txt", "wb") as err:
        near = subprocess.Popen(ours(offhook, folder, c, role, seed, far), cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=out, stderr=err)
        peer = far.start(folder, other, c["far"], far_log)
        try:
            why = watch(near, peer)
            with contextlib.suppress(subprocess.TimeoutExpired):
                peer.wait(20 if why is None else 0)
        finally:
            stop(near)
            stop(peer)
    if peer.returncode == UNABLE:
        return {"unable": True}
    return result_of(folder, near, why, to_far)


def call_itself(line, far, folder, c, seed):
    """PROGRAM calls PROGRAM, each in its own folder.  @return the result, in the form that is kept"""
    shutil.rmtree(folder, ignore_errors=True)
    source = random.Random(f"{c['name']} {seed}")
    roles = ("call", "answer")
    sent = {role: source.randbytes(c["bytes"]) for role in roles}
    for role, other in (roles, roles[::-1]):
        (folder / role).mkdir(parents=True)
        (folder / role / "send.bin").write_bytes(sent[role])
        (folder / role / "expect.bin").write_bytes(sent[other])
    words = [line, ROOT / "examples/int.toml", *(f"unix:{role}/socket,{far.address}".rstrip(",") for role in roles),
             *(f"{role}/received.bin" for role in roles), c["bytes"], LIMIT_S, f"seed={seed}",
             *(f"{key}={value}" for key, value in c["line"].items())]  # fmt: skip
    files = ("send.bin", "expect.bin", "received.bin")
    received = [folder / role / "received.bin" for role in roles]

    def complete():
        return all(got.exists() and got.read_bytes() == sent[other] for got, other in zip(received, roles[::-1]))

    with contextlib.ExitStack() as stack:
        log = {role: stack.enter_context(open(folder / role / "far.txt", "wb")) for role in roles}
        between = subprocess.Popen([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=stack.enter_context(open(folder / "line.json", "wb")),
                                   stderr=stack.enter_context(open(folder / "line.txt", "wb")))
        stack.callback(stop, between)
        programs = [far.start(folder / role, role, c["far"], log[role], files) for role in roles]
        for program in programs:
            stack.callback(stop, program)
        with contextlib.suppress(subprocess.TimeoutExpired):
            between.wait(WALL_S)
            for program in programs:  # the line is closed: each has received all data, and ends
                program.wait(20)
    try:
        line_said = json.loads((folder / "line.json").read_text())
    except ValueError:
        fail(f"{folder}: the line ended with {between.returncode}: {(folder / 'line.txt').read_text(errors='replace').strip()}")
    if any(program.returncode == UNABLE for program in programs):
        return {"unable": True}
    return {"whole": complete(), "ending": line_said["ending"],
            "transfer_s": line_said["end_s"] - max(line_said["first_s"], 0)}  # fmt: skip


def table_of_itself(far, chosen, results):
    lines = [f"{far.name}, with itself. Medians of the calls that were whole, in seconds from the first octet that it wrote to a file.", "",
             "|  | whole | s |", "|---|---|---|"]  # fmt: skip
    for c in chosen:
        made = results.get((c["name"], "call"), [])
        if any(r.get("unable") for r in made):
            lines.append(f"| {c['name']} | not possible |  |")
            continue
        good = [r["transfer_s"] for r in made if r["whole"]]
        seconds = f"{statistics.median_low(good):.0f}" if good else f"({made[0]['ending']})" if made else ""
        lines.append(f"| {c['name']} | {len(good)} of {len(made)} | {seconds} |" if made else f"| {c['name']} | no call yet |  |")
    return "\n".join(lines)


def result_of(folder, near, why, to_far):
    try:
        summary = json.loads((folder / "ours.json").read_text())
    except ValueError:
        text = (folder / "ours.txt").read_text(errors="replace").strip() or why or f"exit status {near.returncode}"
        tail = (folder / "far.txt").read_text(errors="replace").strip()[-300:]
        fail(f"{folder}: our end wrote no summary: {text}; PROGRAM said: {tail or 'nothing'}")
    received = folder / "far-received.bin"
    end = summary["figures"]["ends"][0]
    # The log of samples and events is large and can be reproduced.
    shutil.rmtree(folder / "ours", ignore_errors=True)
    return {
        "received_whole": bool(summary["complete"]),
        "sent_whole": received.exists() and received.read_bytes() == to_far,
        "ending": why or summary["ending"],
        "sent_bps": end["sent_bps"], "received_bps": end["received_bps"],
        "data_modes": end["data_modes"], "again": end["frames_retransmitted"], "bad_frames": end["bad_frames"],
        "transfer_s": summary.get("transfer_s"),
    }


def whole(r):
    return r["received_whole"] and r["sent_whole"]


def median(values):
    values = [v for v in values if v is not None]
    return f"{statistics.median_low(values):g}" if values else ""


def row(results):
    if not results:
        return ["no call yet"] + [""] * 4
    if any(r.get("unable") for r in results):
        return ["not possible"] + [""] * 4
    good = [r for r in results if whole(r)]
    shown = good or results
    transfer = [r["transfer_s"] for r in good]
    return [f"{len(good)} of {len(results)}",
            f"{median([r['sent_bps'] for r in shown])} {median([r['received_bps'] for r in shown])}",
            median([max(r["data_modes"] - 1, 0) for r in shown]),
            median([r["again"] for r in shown]),
            f"{statistics.median_low(transfer):.1f}" if transfer else f"({results[0]['ending']})"]


def table(far, chosen, roles, results):
    head = [""]
    for role in roles:
        head += [f"we {role}: whole", "bit/s sent, received", "retrains", "frames again", "s"]
    lines = [f"Far end: {far.name}. Medians of the calls that were whole; both files of a call must arrive.", "",
             "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for c in chosen:
        words = [c["name"]]
        for role in roles:
            words += row(results.get((c["name"], role), []))
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def slug(text):
    return "".join(ch if ch.isalnum() or ch in ".+-" else "_" for ch in text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="PROGRAM; its own first words may follow in one argument: \"python3 far.py\"")
    parser.add_argument("--cells", metavar="WORD", action="append", help="only the cell of that name, or those whose name has WORD in it (may be given again)")
    parser.add_argument("--itself", action="store_true", help="PROGRAM at both ends")
    parser.add_argument("--roles", default="call,answer", help="our roles (call,answer)")
    parser.add_argument("--calls", type=int, default=3, help="calls of each cell and role, with seeds 1 to N (3)")
    parser.add_argument("--out", type=pathlib.Path, help="where results are kept (out/interop/NAME)")
    parser.add_argument("--offhook", type=pathlib.Path, default=ROOT / "build/release/src/offhook", help="the built program")
    parser.add_argument("--line", type=pathlib.Path, default=ROOT / "build/release/tests/line_of_two", help="the line of --itself")
    parser.add_argument("--list", action="store_true", help="print the cells and their settings, make no call")
    args = parser.parse_args()
    args.roles = args.roles.split(",")
    if not set(args.roles) <= {"call", "answer"}:
        fail(f"--roles {','.join(args.roles)}: expected call, answer or both")
    if args.calls < 1:
        fail(f"--calls {args.calls}: expected 1 or more")
    names = {c["name"] for c in cells()}
    args.chosen = [c for c in cells() if not args.cells or any(
        word == c["name"] if word in names else word in c["name"] for word in args.cells)]
    if not args.chosen:
        fail(f"--cells {' '.join(args.cells)}: no cell has that in its name; all of them: ./dev interop --list")
    if not args.list and not args.program:
        fail("no PROGRAM; expected a program that speaks the protocol of docs/interop.md, or --list")
    if args.itself:
        args.chosen = [c for c in args.chosen if c["modem"] != "v90"]
        args.roles, args.offhook = ["call"], args.line
    if not args.list and not args.offhook.is_file():
        fail(f"{args.offhook}: not there; build it: ./dev build")
    return args


def identity(program, far, c, role, seed):
    """Properties that a kept result must share."""
    return hashlib.sha256(json.dumps([program, far.words, far.about, c, role, seed], sort_keys=True).encode()).hexdigest()[:16]


def kept(path, by):
    try:
        found = json.loads(path.read_text())
        return found["result"] if found["by"] == by else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(path, by, result):
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"by": by, "result": result}, indent=1) + "\n")
    partial.replace(path)


def run(args):
    far = Far(args.program.split())
    out = args.out or ROOT / "out/interop" / (slug(far.name) + ("-itself" if args.itself else ""))
    printed = (lambda: table_of_itself(far, args.chosen, results)) if args.itself else (
        lambda: table(far, args.chosen, args.roles, results))
    args.offhook = args.offhook.resolve()
    files = [args.offhook, *(w for w in far.words if os.path.isfile(w))]
    program = [hashlib.sha256(pathlib.Path(f).read_bytes()).hexdigest() for f in files]
    calls = [(c, role, seed) for c in args.chosen for role in args.roles for seed in range(1, args.calls + 1)]
    results, begin, made = {}, time.monotonic(), 0
    for at, (c, role, seed) in enumerate(calls):
        folder = out.resolve() / f"{slug(c['name'])}-{role}-{seed}"
        by = identity(program, far, c, role, seed)
        result = kept(folder / "result.json", by)
        if result is None:
            each = (time.monotonic() - begin) / made if made else 0
            left = f", about {math.ceil(each * (len(calls) - at) / 60)} min left" if made else ""
            who = "itself" if args.itself else f"we {role}"
            say(f"{at + 1} of {len(calls)}: {c['name']}, {who}, call {seed}{left}")
            try:
                result = call_itself(args.offhook, far, folder, c, seed) if args.itself else call(
                    args.offhook, far, folder, c, role, seed)
            except KeyboardInterrupt:
                print(printed())
                raise
            keep(folder / "result.json", by, result)
            made += 1
        results.setdefault((c["name"], role), []).append(result)
    print(printed())
    every = [r for rs in results.values() for r in rs if not r.get("unable")]
    return 0 if all(r["whole"] if args.itself else whole(r) for r in every) else 2


def main():
    args = arguments()
    if args.list:
        for c in args.chosen:
            settings = [f"{k}={v}" for k, v in c["line"].items()] + [f"PROGRAM: {k}={v}" for k, v in c["far"].items()]
            print(f"{c['name']}: {c['modem']}, {c['bytes']} bytes; {', '.join(settings)}")
        return 0
    try:
        return run(args)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
