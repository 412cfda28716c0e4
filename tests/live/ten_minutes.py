#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A call between two processes with a spinner on each CPU: random bytes both ways for minutes, all compared.

Usage: ten_minutes.py OFFHOOK [--carrier V34|V22B] [--context CONTEXT] [--minutes M] [--spinners N] [--keep DIR]

Both modems run in the context. Prints what each end received, and the driver's record: blocks late, samples underrun,
samples pending after service, dispatch latency. In a real-time context, a wrong or missing byte, a lost call or a
missing report is a failure. For a normal thread (OTHER), only the record and the end of the call are printed. The time
used by the kernel and the hypervisor (/proc/stat) is printed too, because no context is safe from the latter.
"""
import argparse
import contextlib
import csv
import json
import os
import random
import select
import shutil
import signal
import subprocess
import threading
import time

from live import Bench, dial, fail, hear

BEHIND = 30  # seconds without a byte after which the call counts as dead
UNDER_WAY = 4096  # bytes: one second of V.34, fifteen of V.22bis
NO_CARRIER = b"\r\nNO CARRIER\r\n"


class Way:
    """Bytes from one terminal to the other, sent when they are accepted and compared when they arrive."""

    def __init__(self, name, sender, receiver, seed):
        self.name, self.sender, self.receiver = name, sender, receiver
        self.source, self.reference = random.Random(seed), random.Random(seed)
        self.waiting, self.sent, self.received, self.heard_at = b"", 0, 0, time.time()
        self.wrong_at, self.lost = None, ""

    @staticmethod
    def more(generator):  # no escape sequence, and no beginning of a result code
        return generator.randbytes(256).replace(b"+", b"-").replace(b"\r", b"-").replace(b"\n", b"-")

    def send(self):
        if not self.waiting:
            self.waiting = self.more(self.source)
        with contextlib.suppress(BlockingIOError):
            n = os.write(self.sender, self.waiting)
            self.waiting, self.sent = self.waiting[n:], self.sent + n

    expected = b""

    def receive(self):
        with contextlib.suppress(BlockingIOError):
            got = os.read(self.receiver, 4096)
            if got.endswith(NO_CARRIER):
                got = got[:-len(NO_CARRIER)]
                self.lost = f"NO CARRIER after {self.received + len(got)} bytes {self.name}"
            while len(self.expected) < len(got):
                self.expected += self.more(self.reference)
            if got != self.expected[:len(got)] and self.wrong_at is None:
                good = next(i for i, (g, e) in enumerate(zip(got, self.expected)) if g != e)
                self.wrong_at = self.received + good
            self.expected = self.expected[len(got):]
            self.received, self.heard_at = self.received + len(got), time.time()

    def broken(self):
        if self.wrong_at is not None:
            return f"{self.name}: byte {self.wrong_at} is not the one that was sent"
        if time.time() - self.heard_at > BEHIND:
            return f"{self.name}: nothing came for {BEHIND} s after {self.received} bytes"
        return self.lost


def carry(ways, seconds):
    """@return empty, or the failure"""
    end, limit = time.time() + seconds, time.time() + seconds + 60
    ways_of = {way.receiver: way for way in ways}
    while time.time() < limit:
        sending = [way.sender for way in ways if time.time() < end and way.sent - way.received < UNDER_WAY]
        readable, writable, _ = select.select(list(ways_of), sending, [], 0.1)
        for way in ways:
            if way.receiver in readable:
                way.receive()
            if way.sender in writable:
                way.send()
            if why := way.broken():
                return why
        if time.time() >= end and all(way.received == way.sent for way in ways):
            return ""
    return "the last bytes did not arrive: " + ", ".join(f"{w.received} of {w.sent} {w.name}" for w in ways)


class Cpus:
    """State of the CPUs from /proc/stat, ten times per second: (CLOCK_MONOTONIC ns, seconds idle, stolen, all)."""

    def __init__(self):
        self.samples, self.over = [self.now()], threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    @staticmethod
    def now():
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(f) / os.sysconf("SC_CLK_TCK") for f in file.readline().split()[1:9]]
        return time.monotonic_ns(), fields[3] + fields[4], fields[7], sum(fields)

    def watch(self):
        while not self.over.wait(0.1):
            self.samples.append(self.now())

    def stop(self):
        self.over.set()
        self.thread.join()

    def shares(self):
        """@return percent idle, percent taken by the hypervisor"""
        _, idle, stolen, every = (last - first for first, last in zip(self.samples[0], self.samples[-1]))
        return 100 * idle / every, 100 * stolen / every

    def stolen_ms(self, begin_ns, end_ns):
        """Sum of all CPUs in the samples around this time; /proc/stat counts in steps of 10 ms."""
        before = max((s for s in self.samples if s[0] <= begin_ns), default=self.samples[0])
        after = min((s for s in self.samples if s[0] >= end_ns), default=self.samples[-1])
        return 1000 * (after[2] - before[2])


def record(offhook, log):
    """@return quantiles of the samples pending after each service, and [begin, end, samples late] of each loss, ns"""
    pending, losses = [], []
    with subprocess.Popen([offhook, "report", "export", "--csv", log], stdout=subprocess.PIPE, text=True) as export:
        before = 0  # when the last block was ready: the delay that makes this one late is in between
        for row in csv.DictReader(export.stdout):
            at, argument = int(row["time_ns"]), int(row["argument"])
            if row["kind"] == "service_end":
                pending.append(argument)
            if row["kind"] != "output_ready":
                continue
            before = before or at
            if argument > 0 and losses and losses[-1][1] == before:
                losses[-1][1:] = [at, losses[-1][2] + argument]
            elif argument > 0:
                losses.append([before, at, argument])
            before = at
    pending.sort()
    return {q: pending[min(int(q * len(pending)), len(pending) - 1)] for q in (.5, .99, .999, 1)}, losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("offhook")
    parser.add_argument("--carrier", default="V34")
    parser.add_argument("--context", default="FIFO 50")
    parser.add_argument("--minutes", type=float, default=1 / 3)
    parser.add_argument("--spinners", type=int, default=1, help="on each CPU")
    parser.add_argument("--keep", help="move logs and reports there")
    options = parser.parse_args()
    broken = ""
    with Bench(options.offhook) as bench, contextlib.ExitStack() as stack:
        line, modems, (a, b) = bench.two_modems(options.context, options.context, stdout=subprocess.DEVNULL)
        for cpu in sorted(os.sched_getaffinity(0)) * options.spinners:
            spinner = subprocess.Popen(["timeout", "-k", "2", str(60 * options.minutes + 300), "taskset", "-c",
                                        str(cpu), "sh", "-c", "while :; do :; done"])
            stack.callback(spinner.wait)
            stack.callback(spinner.terminate)
        cpus = Cpus()
        stack.callback(cpus.stop)
        dial(a, b, options.carrier.encode())
        ways = [Way("from the caller", a, b, 1), Way("from the answerer", b, a, 2)]
        began = time.time()
        broken = carry(ways, 60 * options.minutes)
        took = time.time() - began
        if not broken:
            time.sleep(1.2)
            os.write(a, b"+++")
            hear(a, b"OK", 5)
            os.write(a, b"ATH\r")
            hear(b, b"NO CARRIER", 5)
        for modem in modems:
            modem.send_signal(signal.SIGINT)
        errors = [modem.communicate(timeout=120)[1] for modem in modems]
        line.wait(20)

        cpus.samples.append(cpus.now())
        idle, stolen = cpus.shares()
        print(f"{options.carrier}, {options.context}, {options.spinners} spinners on every CPU, {took:.0f} s: "
              f"{broken or 'byte for byte'}")
        print(f"the CPUs were idle for {idle:.2f} % of it; the hypervisor had them for {stolen:.3f} %")
        for way in ways:
            print(f"{way.received:>9} bytes {way.name}, {way.received / took:.1f} a second")
        for end, error in zip("ab", errors):
            out = bench.path("out" + end)
            if not os.path.exists(os.path.join(out, "summary.json")):
                fail(f"no record of {end}: {error!r}")
            with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
                s = json.load(file)
            pending, losses = record(options.offhook, os.path.join(out, "events.ohlog"))
            d = s["dispatch_latency"]
            print(f"modem {end}: {s['blocks_served']} blocks, {s['blocks_late']} late; samples: "
                  f"{s['samples_late']} late, {s['underrun_samples']} underrun, {s['overrun_samples']} overrun")
            print("  pending, samples: " + ", ".join(f"{100 * q:g} % {n}" for q, n in pending.items()))
            print(f"  request to service, us: 50 % {d['p50_us']:.0f}, 99 % {d['p99_us']:.0f}, 99.9 % "
                  f"{d['p999_us']:.0f}, max {d['max_us']:.0f}; yields {s['yields']}, throttles {s['throttles']}")
            for begin, end_ns, samples in losses[:20]:
                since, gap = (begin - cpus.samples[0][0]) * 1e-9, (end_ns - begin) * 1e-6
                print(f"  {samples} samples late at {since:.1f} s: {gap:.0f} ms between two blocks; "
                      f"the hypervisor took {cpus.stolen_ms(begin, end_ns):.0f} ms there")
            for missing in s["without"]:
                print("  without:", missing)
            if not os.path.getsize(os.path.join(out, "report.html")):
                fail("no report of " + end)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                shutil.move(out, os.path.join(options.keep, end))
    if broken and options.context != "OTHER":
        fail(broken)
    print("all passed")


main()
