#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A call over two DAHDI spans connected by the kernel, with samples at dahdi_dummy's clock. V34: a trunk with E&M signalling that is seized
by ATD, rings, is answered by ATA and released by ATH. V90: clear channels, with the digital modem at one end, and an analogue modem behind a
simulated line card at the other.

Usage: dahdi_call.py OFFHOOK ANALOGUE_END MODULES V34|V90. It loads kernel modules, so it is for the virtual machine of `./dev vm dahdi`.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import time

from network import NetworkBench, between, exchange, fail, hear, say, settle

analogue, folder, carrier = sys.argv[2:5]
os.environ["PATH"] += ":/usr/sbin:/sbin"
# Four channels per span: 1 to 4 are connected to 5 to 8.
CONFIGURATION = """dynamic=loc,1:0,4,0
dynamic=loc,1:1,4,0
e&m=1,5
bchan=2-4,6-8
"""


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        fail(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def load(bench):
    if os.environ.get("OFFHOOK_VM") != "1":
        print("SKIPPED: this test loads kernel modules; `./dev vm dahdi` runs it in a virtual machine")
        sys.exit(77)
    run("modprobe", "crc_ccitt")
    run("insmod", f"{folder}/dahdi.ko", "auto_assign_spans=1")
    for name in ("dahdi_dynamic", "dahdi_dynamic_loc"):
        run("insmod", f"{folder}/{name}.ko")
    with open(bench.path("system.conf"), "w", encoding="ascii") as out:
        out.write(CONFIGURATION)
    (libraries,) = {os.path.dirname(path) for path in glob.glob(folder + "/usr/lib/*/libtonezone.so.2.0")}
    run(f"{folder}/usr/sbin/dahdi_cfg", "-c", bench.path("system.conf"), env=dict(os.environ, LD_LIBRARY_PATH=libraries))
    run("insmod", f"{folder}/dahdi_dummy.ko")  # the clock; last, as a span without channels renumbers later ones
    print(run("sh", "-c", "cat /proc/dahdi/*"))


def end(bench, modem, name):
    modem.send_signal(signal.SIGINT)
    modem.wait()
    with open(bench.path(f"out{name}/summary.json"), encoding="utf-8") as text:
        summary = json.load(text)
    print({k: summary[k] for k in ("blocks_late", "samples_late", "pending_max_samples")}, summary["network"])
    if summary["network"]["samples_lost"] > 0 or summary["network"]["samples_received"] < 80000:
        fail("samples were lost, or there were none")


def v34(bench):
    one, a = bench.modem("dahdi:1", "a")
    other, b = bench.modem("dahdi:5", "b")
    for tty in (a, b):
        say(tty, b"ATE0X3+MS=V34;+MR=1")
    os.write(a, b"ATD\r")
    hear(b, b"RING", 20)
    os.write(b, b"ATA\r")
    said = hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    print(said.replace(b"\r", b" ").replace(b"\n", b"").decode())
    if b"+MCR: V34" not in said or b"CONNECT 33600" not in said:
        fail("an unchanged channel carries 33600 bit/s")
    settle(b)
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 20000, 90)
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH", seconds=15)
    hear(b, b"NO CARRIER", 15)
    for modem, name in ((one, "a"), (other, "b")):
        end(bench, modem, name)


def v90(bench):
    modem, tty = bench.modem("dahdi:2", "a")
    if b"V90" not in say(tty, b"AT+MS=?"):
        fail("V.90 is not offered")
    say(tty, b"ATE0+MS=V90;+MR=1;+WHY=1")
    far = subprocess.Popen([analogue, "mu-law", "dahdi", "6"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    bench.processes.append(far)
    os.write(tty, b"ATA\r")
    said = hear(tty, b"CONNECT ", 90)
    settle(tty)
    print(said.replace(b"\r", b" ").replace(b"\n", b"").decode())
    if b"+MCR: V90" not in said:
        fail("another modulation than V.90")
    print(f"{between(tty, far, 60000, 30000):.1f} s")
    time.sleep(1.2)
    os.write(tty, b"+++")
    hear(tty, b"OK", 5)
    say(tty, b"ATH", seconds=15)
    end(bench, modem, "a")


with NetworkBench(sys.argv[1]) as of_test:
    load(of_test)
    {"V34": v34, "V90": v90}[carrier](of_test)
print("all passed")
