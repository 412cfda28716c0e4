#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of an input of each kind: CPU time, peak memory, and how both grow when the size doubles.

    tests/fuzz/budget.py build/release/src/offhook             three minutes: small inputs
    tests/fuzz/budget.py build/release/src/offhook --largest   an hour: the largest accepted input of each kind

The output is the table of SECURITY.md. Each kind is run with an empty input, with a size and with twice the size. Growth
is (cost of twice - cost of empty) / (cost of once - cost of empty): 2 is linear, 4 is quadratic. The cost of the largest
input is measured with --largest, otherwise extrapolated from both sizes and marked with ~. Seconds are CPU time, so that
a busy machine changes them little. Exit status 1: the time of a kind grows faster than linearly, its largest input takes
more than 512 MB, or it ends with an unexpected status.
"""
import argparse
import array
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
GROWTH = 2.8  # of seconds: 2 is linear, 4 quadratic; values in between are noise
COUNTED_S = 0.15  # growth below this CPU time is not judged
MB = 1 << 20


def wav(path, seconds, rate=8000, channels=2, noise=True):
    """Noise is the worst case of `decode`, because no stage of its search ends early."""
    one = random.Random(1).randbytes(2 * rate * channels) if noise else bytes(2 * rate * channels)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        for _ in range(max(1, int(seconds))):
            out.writeframes(one)


def echoes(path, seconds):
    """Two stations that send alternately for 3 s and then together, each with the other's echo at -20 dB."""
    dice = random.Random(1)
    loud = [dice.gauss(0, 3000) for _ in range(48000)]
    block = array.array("h", bytes(4 * 96000))
    for t in range(96000):
        speaks = [t % 48000 < 24000 or t >= 48000, t % 48000 >= 24000 or t >= 48000]
        sound = [[loud[(t - late + 7 * c) % 48000] if speaks[c] else 0 for late in (0, 37)] for c in (0, 1)]
        for c in (0, 1):
            block[2 * t + c] = int(max(-32768, min(32767, sound[c][0] + 0.1 * sound[1 - c][1] + dice.gauss(0, 2))))
    with wave.open(str(path), "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(8000)
        for _ in range(int(seconds) // 12):
            out.writeframes(block.tobytes())
        out.writeframes(block.tobytes()[:4 * 8000 * (int(seconds) % 12)])


def evening(path, seconds, call, apart=1800):
    """An evening on a telephone line: a call every half hour, with silence in between. mu-law, like `call`."""
    sound = call.read_bytes()
    at = sound.index(b"data")
    head, body = sound[:at + 4], sound[at + 8:]
    channels, = struct.unpack_from("<H", sound, sound.index(b"fmt ") + 10)
    octets = max(1, int(seconds)) * 8000 * channels
    with open(path, "wb") as out:
        out.write(head + struct.pack("<I", octets))
        for start in range(0, max(1, int(seconds)), apart):
            length = min(apart * 8000 * channels, octets - start * 8000 * channels)
            out.write(body[:length])
            out.write(b"\xff" * (length - len(body[:length])))
        out.seek(4)
        out.write(struct.pack("<I", len(head) + octets - 4))


def capture(path, octets):
    """A packet capture of one call, G.711 in packets of 20 ms in both directions; after an hour, the next."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))  # raw IP
        noise = random.Random(1).randbytes(1 << 16)
        for n in range(max(1, octets // 320)):
            call, k = divmod(n, 50 * 3500)
            for side in (0, 1):
                at = (n * 173 + side * 7919) % (len(noise) - 160)
                rtp = struct.pack(">BBHII", 0x80, 0, k & 0xFFFF, 160 * k & 0xFFFFFFFF, 1 + 2 * call + side)
                rtp += noise[at:at + 160]
                udp = struct.pack(">HHHH", 4000 + 2 * side, 4002 - 2 * side, 8 + len(rtp), 0) + rtp
                ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                                 bytes((10, 0, 0, 1 + side)), bytes((10, 0, 0, 2 - side))) + udp
                ms = 20 * n + 60_000 * call
                out.write(struct.pack("<IIII", ms // 1000, ms % 1000 * 1000, len(ip), len(ip)) + ip)


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
    """Each kind writes an input of a size in bytes (recordings: seconds) and returns offhook's arguments."""

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

    def recording_with_echoes(self, seconds):
        path = self.folder / "recording.wav"
        echoes(path, seconds)
        return ["decode", path, "-q"]

    def evening_of_calls(self, seconds):
        path = self.folder / "recording.wav"
        evening(path, seconds, pathlib.Path(__file__).parents[2] / "examples/call.wav")
        return ["decode", path, "-q"]

    def packet_capture(self, octets):
        path = self.folder / "capture.pcap"
        capture(path, octets)
        return ["decode", path, "-q"]

    def call_of_v34(self, seconds):
        """A simulated call whose data mode fills the recording."""
        scenario, out = self.folder / "v34.toml", self.folder / "v34"
        scenario.write_text(f'name = "v34"\ncontext = "INT"\npump.modem = "v34"\ntransfer.bytes = {5000 * max(12, int(seconds))}\n'
                            f'transfer.time_limit_s = {max(12, int(seconds))}\n')
        subprocess.run([self.offhook, "run", scenario, "--out", out], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return ["decode", out / "line.wav", "-q"]

    def scenario(self, head, item, separator, tail, size):
        path = self.folder / "scenario.toml"
        repeated(path, head, item, separator, tail, size)
        return ["run", path, "--out", self.folder / "never"]

    def system(self, item, size):
        path = self.folder / "system.json"
        repeated(path, '{"entities":[', item, ",", "]}", size)
        return ["schedule", path]

    def valid_system(self, head, item, size):
        """A system with valid entities, where {0} is the number of the item. Simulated for 1 ns."""
        path = self.folder / "system.json"
        count = max(1, size // len(item.format(10000)))
        path.write_text('{"horizon_ns":1,"entities":[' + head + ",".join(item.format(n) for n in range(count)) + "]}")
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
        """A load with as many 3-byte intervals as fit, which needs the most memory per byte."""
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
        """The log of a call whose blocks of events are repeated. A truncated one is read as far as possible."""
        path = self.folder / "log.ohlog"
        log = (self.run_folder / "events.ohlog").read_bytes()
        path.write_bytes((log * (size // len(log) + 1))[:max(size, 64)])
        return ["report", path, "--html", self.folder / "log.html"]

    def file_to_send(self, size):
        path = self.folder / "data.bin"
        with open(path, "wb") as out:
            out.truncate(size)
        return ["run", self.folder / "call.toml", "--file", path, "--set", "transfer.time_limit_s=1", "--out", self.folder / "sent"]

    def table(self):
        """Name, unit, input for a size, a size, the largest accepted size."""
        s, b = "s", "B"
        interrupts = ('{{"name":"i{0}","kind":"interrupt","period_ns":9,"cost_ns":1,"level":1,"dpc":"d{0}"}},'
                      '{{"name":"d{0}","kind":"dpc","cost_ns":1}}')
        slots = ('{{"name":"s{0}","kind":"slot","period_ns":9999,"cost_ns":1,"slot_offset_ns":{0},"slot_length_ns":1,'
                 '"slot_period_ns":9999}}')
        reservations = ('{{"name":"r{0}","kind":"deadline","period_ns":999999999,"cost_ns":1,"budget_ns":1,'
                        '"res_period_ns":999999999}}')
        return [
            ("recording, 8 kHz, 2 channels, noise", s, lambda n: self.recording(8000, 2, True, n), 20, 3600),
            ("recording, 8 kHz, 1 channel, noise", s, lambda n: self.recording(8000, 1, True, n), 20, 3600),
            ("recording, 192 kHz, 2 channels, silence", s, lambda n: self.recording(192000, 2, False, n), 20, 3600),
            ("recording, 2 channels with echoes", s, self.recording_with_echoes, 240, 3600),
            ("recording of a V.34 call", s, self.call_of_v34, 400, 3600),
            ("recording, an evening of calls", s, self.evening_of_calls, 14400, 48 * 3600),
            ("packet capture, its speech", b, self.packet_capture, 2 * MB, 125_000_000),
            ("TOML: a list of numbers", b, lambda n: self.scenario("a = [", "1", ",", "]\n", n), 200_000, 1_000_000),
            ("TOML: tables", b, lambda n: self.scenario("", "[[a]]\n", "", "", n), 400_000, 1_500_000),
            ("TOML: a comment", b, lambda n: self.scenario("# ", "x" * 60, "", "\na = 1\n", n), 4 * MB, 64 * MB),
            ("JSON system: empty objects", b, lambda n: self.system("{}", n), 600_000, 3_000_000),
            ("JSON system: text", b, lambda n: self.system('"' + "x" * 60 + '"', n), 4 * MB, 64 * MB),
            ("JSON system: interrupts and DPCs", b, lambda n: self.valid_system("", interrupts, n), 325_000, 650_000),
            ("JSON system: slots", b, lambda n: self.valid_system("", slots, n), 124_000, 248_000),
            ("JSON system: reservations", b, lambda n: self.valid_system("", reservations, n), 545_000, 1_090_000),
            ("JSON summary of a run", b, self.summary_json, 600_000, 3_000_000),
            ("kernel trace, text", b, self.trace_text, 8 * MB, 256 * MB),
            ("load", b, self.load, 4 * MB, 48 * MB),
            ("histogram (.hgrm)", b, self.histogram, 2 * MB, 64 * MB),
            ("event log", b, self.event_log, 4 * MB, 256 * MB),
            ("file to send", b, self.file_to_send, 8 * MB, 64 * MB),
        ]


def measured(offhook, words, seconds):
    """CPU seconds, peak MB, exit status, last line of output."""
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


def shown_size(size, unit):
    if unit == "s":
        return f"{size} s"
    return f"{size / MB:.0f} MiB" if size >= MB else f"{size // 1000} kB"


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
        print("| input | largest accepted | its CPU s | its peak MB | CPU time, size doubled | memory, size doubled |\n"
              "| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
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
                if row["largest_status"] not in (0, cost[2][2]):
                    failed.append(f"{kind}: the largest ends with status {row['largest_status']}: {row['largest_says']}")
            else:  # a line through both points
                row["largest_mb"] = cost[2][1] + (cost[2][1] - cost[1][1]) / size * max(0, most - 2 * size)
                row["largest_cpu_s"] = cost[2][0] + (cost[2][0] - cost[1][0]) / size * max(0, most - 2 * size)
            if row["largest_mb"] > MOST_MB:
                failed.append(f"{kind}: the largest takes {row['largest_mb']:.0f} MB; expected at most {MOST_MB}")
            if any(c[2] < 0 for c in cost) or row.get("largest_status", 0) < 0:
                failed.append(f"{kind}: ended by a signal")
            rows.append(row)
            # Below a tenth of a second or a MB, growth cannot be measured.
            times = f"{row['growth_s']:.1f}" if cost[1][0] - cost[0][0] > 0.05 else "-"
            memory = f"{row['growth_mb']:.1f}" if cost[1][1] - cost[0][1] > 1 else "-"
            about = "" if given.largest else "~"
            print(f"| {kind} | {shown_size(most, unit)} | {about}{row['largest_cpu_s']:.1f} | "
                  f"{about}{row['largest_mb']:.0f} | {times} | {memory} |", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    for line in failed:
        print("FAIL:", line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
