#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an input of each kind costs `offhook`: seconds, peak memory, and how both grow when the size doubles.

    tests/fuzz/budget.py build/release/src/offhook             a table in two minutes, from small inputs
    tests/fuzz/budget.py build/release/src/offhook --largest   also the largest accepted input of each kind

Every kind is run with an empty input, a size and twice the size. Growth is (cost of twice - cost of empty) / (cost of
once - cost of empty): 2 is linear, 4 is quadratic. Seconds are CPU time of the process and its children, so that a busy
machine changes them little; judge by the ratios. Exit status 1: a kind grows faster than linear or takes 512 MB.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import wave

MOST_MB = 512
GROWTH = 2.8  # of seconds: 2 is linear, 4 quadratic; between them is noise
COUNTED_S = 0.15  # growth of less CPU time than this is not judged
MB = 1 << 20


def wav(path, seconds, rate=8000, channels=2, noise=True):
    """Noise is the worst case of `decode`: no stage of its search ends early."""
    one = random.Random(1).randbytes(2 * rate * channels) if noise else bytes(2 * rate * channels)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        for _ in range(max(1, int(seconds))):
            out.writeframes(one)


def repeated(path, head, item, separator, tail, size):
    count = max(1, (size - len(head) - len(tail)) // (len(item) + len(separator)))
    path.write_text(head + separator.join([item] * count) + tail)


def perf_text(path, size):
    with open(path, "w", encoding="ascii") as out:
        line, ns = 0, 1_000_000_000
        while out.tell() < size:
            ns += 5000
            for a, b in (("swapper", "worker"), ("worker", "swapper")):
                ns += 1000
                out.write(f"{a:>16} {0 if a == 'swapper' else 77} [000] {ns // 10**9}.{ns % 10**9:09}: "
                          f"sched:sched_switch: prev_comm={a} prev_pid={0 if a == 'swapper' else 77} prev_prio=120 "
                          f"prev_state=S ==> next_comm={b} next_pid={0 if b == 'swapper' else 77} next_prio=120\n")
            line += 2


def crc32(data):
    import zlib
    return zlib.crc32(data)


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Kinds:
    """Each kind writes an input of a size in bytes (seconds for recordings) and says how offhook reads it."""

    def __init__(self, offhook, folder):
        self.offhook, self.folder = offhook, folder
        self.run_folder = folder / "run"
        (folder / "call.toml").write_text('name = "call"\ncontext = "THR 24"\npump.kind = "cost-profile"\n'
                                          'pump.cost_profile = "pentium2-450-vendor"\ntransfer.bytes = 2000\n')
        subprocess.run([offhook, "run", folder / "call.toml", "--out", self.run_folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.summary = (self.run_folder / "summary.json").read_text()
        self.load_head = None

    def recording(self, rate, channels, noise, seconds):
        path = self.folder / "recording.wav"
        wav(path, seconds, rate, channels, noise)
        return ["decode", path, "-q"]

    def scenario(self, head, item, separator, tail, size):
        path = self.folder / "scenario.toml"
        repeated(path, head, item, separator, tail, size)
        return ["run", path, "--out", self.folder / "never"]

    def system(self, item, size):
        path = self.folder / "system.json"
        repeated(path, '{"entities":[', item, ",", "]}", size)
        return ["schedule", path]

    def summary_json(self, size):
        path = self.run_folder / "summary.json"
        repeated(path, '{"figures":[', "{}", ",", "]}", size)
        return ["report", self.run_folder]

    def trace_text(self, size):
        path = self.folder / "trace.txt"
        perf_text(path, size)
        return ["trace", path]

    def load(self, size):
        """A load of as many intervals of 3 bytes as fit: the most memory for a byte."""
        count = max(1, (size - 64) // 3)
        body = self.magic() + number(1) + b"x" + number(count * 2) + number(1) + b"\x02" + number(19) + number(1) + b"t"
        body += number(1) + number(0) + number(0) + number(count) + b"\x02\x00\x01" * count
        path = self.folder / "a.load"
        path.write_bytes(body + struct.pack("<I", crc32(body)))
        return ["trace", path]

    def magic(self):
        if self.load_head is None:
            perf_text(self.folder / "small.txt", 2000)
            subprocess.run([self.offhook, "trace", self.folder / "small.txt", "-o", self.folder / "small.load"],
                           check=True, stdout=subprocess.DEVNULL)
            self.load_head = (self.folder / "small.load").read_bytes()[:8]
        return self.load_head

    def histogram(self, size):
        path = self.folder / "h.hgrm"
        row = "    1000.000     0.500000000000       5000           2.00\n"
        path.write_text("       Value     Percentile TotalCount 1/(1-Percentile)\n\n" + row * (size // len(row)))
        return ["mttf", path, "--hours", "0.001"]

    def event_log(self, size):
        """The log of a call, its blocks of events again and again: what ends in the middle is read as far as it goes."""
        path = self.folder / "log.ohlog"
        log = (self.run_folder / "events.ohlog").read_bytes()
        path.write_bytes((log * (size // len(log) + 1))[:max(size, 64)])
        return ["report", path, "--html", self.folder / "log.html"]

    def file_to_send(self, size):
        path = self.folder / "data.bin"
        with open(path, "wb") as out:
            out.truncate(size)
        return ["run", self.folder / "call.toml", "--file", path, "--set", "limit_s=1", "--out", self.folder / "sent"]

    def table(self):
        """Name, unit, input for a size, a size, the largest that is accepted."""
        s, b = "s", "B"
        return [
            ("recording, 8 kHz, 2 channels, noise", s, lambda n: self.recording(8000, 2, True, n), 20, 3600),
            ("recording, 8 kHz, 1 channel, noise", s, lambda n: self.recording(8000, 1, True, n), 20, 3600),
            ("recording, 192 kHz, 2 channels, silence", s, lambda n: self.recording(192000, 2, False, n), 20, 3600),
            ("TOML: a list of numbers", b, lambda n: self.scenario("a = [", "1", ",", "]\n", n), 200_000, 1_000_000),
            ("TOML: tables", b, lambda n: self.scenario("", "[[a]]\n", "", "", n), 400_000, 1_500_000),
            ("TOML: a comment", b, lambda n: self.scenario("# ", "x" * 60, "", "\na = 1\n", n), 4 * MB, 64 * MB),
            ("JSON system: empty objects", b, lambda n: self.system("{}", n), 600_000, 3_000_000),
            ("JSON system: text", b, lambda n: self.system('"' + "x" * 60 + '"', n), 4 * MB, 64 * MB),
            ("JSON summary of a run", b, self.summary_json, 600_000, 3_000_000),
            ("kernel trace, text", b, self.trace_text, 8 * MB, 256 * MB),
            ("load", b, self.load, 4 * MB, 48 * MB),
            ("histogram (.hgrm)", b, self.histogram, 2 * MB, 64 * MB),
            ("event log", b, self.event_log, 4 * MB, 256 * MB),
            ("file to send", b, self.file_to_send, 8 * MB, 64 * MB),
        ]


def measured(offhook, words, seconds):
    """CPU seconds, peak MB, exit status, last words."""
    pid_file = tempfile.TemporaryFile()
    process = subprocess.Popen([offhook, *map(str, words)], stdout=subprocess.DEVNULL, stderr=pid_file,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    pid_file.seek(0)
    words = pid_file.read().decode(errors="replace").strip().splitlines()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode, words[-1] if words else ""


def growth(empty, once, twice):
    return (twice - empty) / (once - empty) if once > empty else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("offhook")
    parser.add_argument("--largest", action="store_true", help="run the largest accepted input of each kind, too")
    parser.add_argument("--only", default="", help="kinds whose name contains this text")
    parser.add_argument("--json", help="write the rows to this file")
    given = parser.parse_args()
    rows, failed = [], []
    with tempfile.TemporaryDirectory(prefix="offhook-budget-") as name:
        kinds = Kinds(given.offhook, pathlib.Path(name))
        print(f"{'input':42} {'size':>10} {'CPU s':>7} {'MB':>6} {'s x2':>5} {'MB x2':>6}   largest: size, CPU s, MB")
        for kind, unit, make, size, most in kinds.table():
            if given.only not in kind:
                continue
            cost = [measured(given.offhook, make(n), 600) for n in (1 if unit == "s" else 64, size, 2 * size)]
            row = {"input": kind, "size": size, "unit": unit, "cpu_s": cost[1][0], "peak_mb": cost[1][1],
                   "growth_s": growth(*(c[0] for c in cost)), "growth_mb": growth(*(c[1] for c in cost)),
                   "largest": most, "says": cost[2][3]}
            if cost[2][0] - cost[0][0] > COUNTED_S and row["growth_s"] > GROWTH:
                failed.append(f"{kind}: twice the size takes {row['growth_s']:.1f} times the time")
            if given.largest:
                row["largest_cpu_s"], row["largest_mb"], row["largest_status"], row["largest_says"] = measured(
                    given.offhook, make(most), 1800)
            else:  # a line through both sizes
                row["largest_mb"] = cost[2][1] + (cost[2][1] - cost[1][1]) / size * max(0, most - 2 * size)
                row["largest_cpu_s"] = cost[2][0] + (cost[2][0] - cost[1][0]) / size * max(0, most - 2 * size)
            if row["largest_mb"] > MOST_MB:
                failed.append(f"{kind}: the largest takes {row['largest_mb']:.0f} MB; expected at most {MOST_MB}")
            if any(c[2] < 0 for c in cost) or row.get("largest_status", 0) < 0:
                failed.append(f"{kind}: ended by a signal")
            rows.append(row)
            print(f"{kind:42} {size:>8} {unit} {row['cpu_s']:7.2f} {row['peak_mb']:6.0f} {row['growth_s']:5.1f} "
                  f"{row['growth_mb']:6.1f}   {most} {unit}, {row['largest_cpu_s']:.1f}, {row['largest_mb']:.0f}"
                  f"{'' if given.largest else ' (by the line)'}", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    for line in failed:
        print("FAIL:", line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
