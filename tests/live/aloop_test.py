#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two modems on the two ends of the kernel's loopback sound card: calls, a delayed modem, another rate, no card.

Usage: aloop_test.py OFFHOOK fastest|losses. It loads snd-aloop and removes it while the modems use it, so it is for the virtual
machine of `./dev vm`. Skipped (77), with the reason, if that is not possible or such a card already exists.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from live import Bench, exchange, fail, hear, say, wait_for

os.environ["PATH"] += ":/usr/sbin:/sbin"
DRIVER = "/sys/bus/platform/drivers/snd_aloop"
ENDS = ("hw:CARD=Loopback,DEV=0", "hw:CARD=Loopback,DEV=1")


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


if os.geteuid() != 0:
    skip("loading a kernel module needs root")
if os.path.exists(DRIVER):
    skip("this machine's loopback card may be in use")
if not shutil.which("amixer"):
    skip("amixer is not installed (alsa-utils)")
if (load := subprocess.run(["modprobe", "snd-aloop"], capture_output=True, text=True, check=False)).returncode != 0:
    skip("modprobe snd-aloop: " + load.stderr)


class Call:
    """Two modems in data mode. The card is only a pair of wires: no dial tone, no ring."""

    def __init__(self, bench, name, carrier=b"V22B", bit_rate=b"2400"):
        self.bench, self.folders = bench, [bench.path(name + end) for end in "ab"]
        ttys = [name + "-tty-" + end for end in "ab"]
        self.modems = [bench.start("modem", "alsa:" + card, "--tty", bench.path(tty), "--out", folder,
                                   stderr=subprocess.PIPE)
                       for card, tty, folder in zip(ENDS, ttys, self.folders)]
        self.terminals = a, b = [bench.open(tty) for tty in ttys]
        for t in (a, b):
            say(t, b"ATE0X3+MS=" + carrier)
        os.write(b, b"ATA\r")
        os.write(a, b"ATDT5\r")
        hear(a, b"CONNECT " + bit_rate + b"\r\n", 90)
        hear(b, b"CONNECT " + bit_rate + b"\r\n", 20)

    def exchange(self):
        a, b = self.terminals
        exchange(a, b, 300)
        exchange(b, a, 300)

    def must_end(self, modem, *reasons):
        """It ends by itself, with one of these reasons, and the recordings exist and can be read."""
        _, errors = self.modems[modem].communicate(timeout=60)
        text = errors.decode()
        print(text.strip())
        if self.modems[modem].returncode != 1 or not any(r in text for r in reasons):
            fail(f"status {self.modems[modem].returncode}, said {text!r}, not {reasons}")
        self.recorded(modem)

    def recorded(self, modem):
        folder = self.folders[modem]
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        log = subprocess.run([self.bench.offhook, "report", "export", "--csv", os.path.join(folder, "events.ohlog")],
                             capture_output=True, text=True, check=False)
        if summary["blocks_served"] < 300 or log.returncode != 0 or log.stdout.count("\n") < 1000:
            fail(f"recorded: {summary}, {log.stdout.count(chr(10))} events, {log.stderr}")
        return summary


with Bench(sys.argv[1]) as bench:
    listed = json.loads(subprocess.run([bench.offhook, "devices", "--json"], capture_output=True, check=True).stdout)
    for end in ENDS:
        device = [d for d in listed if d["address"] == "alsa:" + end]
        if not device or not device[0]["usable"]:
            fail(f"devices: {end} is {device}")

    # With the default queue of a device: the fastest modulation, with one end calling and one answering.
    if sys.argv[2] == "fastest":
        Call(bench, "fastest", b"V34", b"33600").exchange()
        print("all passed")
        sys.exit(0)

    # A modem that is delayed by more than the sound card's buffer loses samples, but not its count of them.
    call = Call(bench, "held-up")
    call.exchange()
    call.modems[0].send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    call.modems[0].send_signal(signal.SIGCONT)
    time.sleep(5)
    call.exchange()

    # The card's clock changes from now on.
    for device in "01":
        subprocess.run(["amixer", "-q", "-c", "Loopback", "cset",
                        f"iface=PCM,name='PCM Rate Shift 100000',device={device}", "110000"], check=True)
    call.must_end(0, "its rate changed")
    call.must_end(1, "its rate changed")
    if (lost := call.recorded(0)["samples_filled_in"]) < 1600:
        fail(f"{lost} samples were filled in after 0.3 s without the modem")
    for device in "01":
        subprocess.run(["amixer", "-q", "-c", "Loopback", "cset",
                        f"iface=PCM,name='PCM Rate Shift 100000',device={device}", "100000"], check=True)

    # The card is removed.
    call = Call(bench, "gone")
    card = next(entry for entry in os.listdir(DRIVER) if entry.startswith("snd_aloop."))
    pulling = subprocess.Popen(["sh", "-c", f"echo {card} >{DRIVER}/unbind"])
    call.must_end(0, "the device is gone")
    call.must_end(1, "the device is gone")
    wait_for(lambda: pulling.poll() is not None, "end of the card's removal")
    if "Loopback" in subprocess.run([bench.offhook, "devices"], capture_output=True, text=True, check=False).stdout:
        fail("a card that is gone is still listed")
print("all passed")
