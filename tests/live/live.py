# SPDX-License-Identifier: MIT
"""Common functions of the live tests: real processes of the program, terminals, and waiting with a limit."""
import json
import os
import select
import subprocess
import sys
import tempfile
import time


class Bench:
    """Processes of one test in a separate folder. All of them are ended at the end."""

    def __init__(self, offhook):
        self.offhook = offhook
        self.folder = tempfile.mkdtemp()
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.processes:
            if p.poll() is None:
                p.terminate()
        for p in self.processes:
            p.wait()

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments, **more):
        p = subprocess.Popen([self.offhook, *arguments, "--best-effort"], **more)
        self.processes.append(p)
        return p

    def two_modems(self, *contexts, options=(), **more):
        """A line and a modem at each of its ends. @param options  of both modems @return their processes and terminals' descriptors."""
        a, b = self.path("a"), self.path("b")
        line = self.start("line", a, b, **more)
        wait_for(lambda: os.path.exists(a) and os.path.exists(b), "cards")
        modems = [self.start("modem", "unix:" + self.path(end), "--tty", self.path("tty" + end), "--context", context,
                             "--out", self.path("out" + end), *[o.format(end=end) for o in options],
                             stderr=subprocess.PIPE, **more)
                  for end, context in zip("ab", contexts)]
        return line, modems, [self.open("ttya"), self.open("ttyb")]

    def open(self, tty):
        wait_for(lambda: os.path.exists(self.path(tty)), "terminal " + tty)
        return os.open(self.path(tty), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def measure_joined_devices(bench, alsa_loop, device, rate, options=()):
    """Runs `measure device` for 4 s in both roles, joined by two devices of alsa_loop.c at `rate` Hz.

    A sample lost at either end spoils what both hear, so a run with a loss is repeated, at most twice.
    @return the results of the caller and the answerer, and the samples lost at both ends
    """
    conf = bench.path("asound.conf")
    with open(conf, "w", encoding="utf-8") as file:
        file.write(f'pcm_type.offhook_loop {{ lib "{os.path.abspath(alsa_loop)}" }}\n')
        for end in (0, 1):
            file.write(f"pcm.loop{end} {{ type offhook_loop file {bench.path(f'memory{rate}')} end {end} rate {rate} }}\n")
    for _ in range(3):
        processes = []
        for end, role in enumerate(("call", "answer")):
            with open(bench.path(role + ".toml"), "w", encoding="utf-8") as scenario:
                scenario.write(f'name = "{role}"\ndevice = "{os.path.abspath(device)}"\npump.role = "{role}"\n')
            processes.append(bench.start(*options, "measure", "device", bench.path(role + ".toml"), "--card", f"alsa:loop{end}",
                                         "--context", "FIFO 50", "--seconds", "4", "--json",
                                         env={**os.environ, "ALSA_CONFIG_PATH": conf},
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE))  # fmt: skip
        results, lost = [], 0
        for process in processes:
            out, errors = process.communicate(timeout=60)
            if process.returncode not in (0, 2):
                fail(errors.decode())
            result = json.loads(out)
            results.append(result)
            here = result["samples_late"] + result["underrun_samples"] + result["overrun_samples"]
            lost += here
            print(f"{rate} Hz, {result['scenario']}: {result['blocks']} blocks, {here} samples lost; {result['pump']}", flush=True)
            if result["blocks"] < 100:
                fail(f"{result}")
        if lost == 0:
            break
    return results, lost


def fail(why):
    print("FAIL:", why)
    sys.exit(1)


def wait_for(condition, what, seconds=20):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            fail("no " + what)
        time.sleep(0.05)


def hear(fd, until, seconds):
    heard, end = b"", time.time() + seconds
    while until not in heard:
        if time.time() > end:
            fail(f"expected {until!r}, heard {heard!r}")
        if select.select([fd], [], [], 0.1)[0]:
            try:
                heard += os.read(fd, 4096)
            except BlockingIOError:  # a terminal may be reported readable and have no data
                pass
    return heard


def say(fd, line, answer=b"OK", seconds=5):
    os.write(fd, line + b"\r")
    return hear(fd, answer, seconds)


def dial(a, b, carrier=b"V22B"):
    """Both are in data mode when it returns."""
    say(b, b"ATE0S0=1+MS=" + carrier)
    say(a, b"ATE0+MS=" + carrier)
    os.write(a, b"ATDT5551234\r")
    hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    time.sleep(0.3)
    while select.select([b], [], [], 0)[0]:
        os.read(b, 4096)


def exchange(sender, receiver, n, seconds=20):
    """n random bytes (except '+', which could be taken as the escape) arrive as they were sent."""
    sent, received, end = os.urandom(n).replace(b"+", b"-"), b"", time.time() + seconds
    os.write(sender, sent)
    while not received.endswith(sent) and time.time() < end:
        if select.select([receiver], [], [], 0.1)[0]:
            received += os.read(receiver, 4096)
    if not received.endswith(sent):
        fail(f"{len(received)} bytes arrived, not the {n} that were sent")
