#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel driver in a virtual machine, on a card whose hardware is `offhook line card` on this machine.

  bench.py call     one call: boots, loads the module, transfers a file both ways, brings the log back
  bench.py matrix   all contexts on all kernels, one line each; every sample against the same call in user space
  bench.py abuse    what a driver has to bear: contexts changed a hundred times, the card gone, garbled ...
  bench.py live     a call between the kernel's modem and `offhook modem` on this machine; with
                   --program between it and another program, in both roles
  bench.py scenario offhook run SCENARIO --host kernel, and offhook measure latency --host kernel
  bench.py serial   /dev/ttySM0: lines, AT commands, calls, hang-ups (serial_port.py)
  bench.py experiment  what each context does to others and they to it, and reservations beside the law (docs/kernel.md)
  bench.py replay   calls of the experiment beside the simulator, which replays what the kernel's trace says (replay.py)
  bench.py debug-kernel  builds a kernel with lockdep and KASAN; KUnit tests, a call and abuse's shortage under it
  bench.py sparse   what sparse says of the module's C with each kernel's headers
  bench.py style    checkpatch --strict and Coccinelle, as a kernel's maintainer would run them
  bench.py dkms     adds, builds and removes the module by DKMS, in folders of its own, for each kernel's headers

The card's clock is stepped: a block ends when the previous one has been served, so that a slow emulator makes no
block late, and every context must give the same samples. The kernels are Debian's (vm.py).

Exit status: 0; 1 if something differs or fails; 77 if QEMU or a kernel is not available (with the reason).
"""
import argparse
import contextlib
import functools
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tty

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vm  # noqa: E402
from debug_kernel import debug_kernel  # noqa: E402
from experiment import experiment  # noqa: E402
from foreign import foreign  # noqa: E402
from replay import replay  # noqa: E402
from rig import (  # noqa: E402
    CALL_SECONDS,
    CELL_OCTETS,
    CONTEXTS,
    FILE_OCTETS,
    ROOT,
    Bench,
    Failure,
    Kind,
    Ledger,
    chosen_cases,
    instructions,
    make_folder,
    octets_to_send,
)
from shortage import shortage  # noqa: E402
from source_checks import dkms, sparse, style  # noqa: E402


def show(kernel, context, kind, boot, said, verdict):
    print(f"{kernel:8} {context:12} {kind!s:9} {boot:12} {said.get('tx_bit_rate', 0):6} {said.get('rx_bit_rate', 0):6} "
          f"{said.get('received', 0):6} {said.get('card_says', {}).get('hash', '-'):16} "
          f"{said.get('longest_section_us', 0):9.1f} {said.get('coalesced', 0):5} {verdict}", flush=True)


def heading():
    print(f"{'kernel':8} {'context':12} {'pump':9} {'boot':12} {'tx':>6} {'rx':>6} {'octets':>6} {'hash of samples':16} "
          f"{'section us':>9} {'coal.':>5} verdict", flush=True)


def cell(bench, kernel_name, context, kind, boot=""):
    """@return whether everything was as expected; prints a line"""
    keep = bench.options.keep or tempfile.mkdtemp()
    keep = make_folder(os.path.join(keep, f"{kernel_name}-{context}-{kind}-{boot}".replace(" ", "-")))
    try:
        said = bench.call(vm.Kernel(kernel_name), [CONTEXTS.get(context, context)], kind, keep, boot=boot)
        verdict = bench.verdict(said, kind)
    except Failure as failure:
        said, verdict = {}, str(failure)
    show(kernel_name, context, kind, boot or bench.options.boot, said, verdict)
    if verdict == "ok" and "longest_section" in said:
        print("         longest section: " + " to ".join(said["longest_section"]), flush=True)
    if verdict == "ok" and bench.options.what == "call":
        isr, own, pump = instructions(bench.offhook, os.path.join(keep, "call.ohlog"))
        print(f"         instructions, medians: interrupt routine {isr}; service {own}, and the pump's {pump}", flush=True)
    if bench.options.keep is None:
        shutil.rmtree(os.path.dirname(keep))
    return verdict == "ok"


def matrix_cells(options):
    """@return kernel, context, kind and command-line words of each; with --pump, that pump in every context"""
    cells = [(k, c, Kind(options.pump or "v34"), "") for k in options.kernels for c in options.contexts]
    if options.pump:
        return cells
    # Each on every kernel, in different contexts.
    for turn, kind in enumerate((Kind("v32bis"), Kind("v22bis"), Kind(v42=False), Kind("dmt"), Kind("v90"))):
        cells += [(k, options.contexts[(n + turn) % len(options.contexts)], kind, "") for n, k in enumerate(options.kernels)]
    # The kernel's modem waits for V.42 while the far modem is still training.
    cells.append((options.kernels[0], "thread", Kind("v90", far_training=10), ""))
    # A PREEMPT_RT kernel always has them; the others get a boot option.
    cells += [(k, c, Kind(), "preempt=full") for k in options.kernels if not k.endswith("rt") for c in options.contexts
              if c in ("thread", "reservation", "worker")]
    return cells


def matrix(bench, options):
    """Resumes: a cell that passed with the same module and program is not run again."""
    heading()
    options.contexts = options.contexts or list(CONTEXTS)
    cells, good = matrix_cells(options), 0
    for kernel, context, kind, boot in cells:
        entry = [kernel, context, str(kind), f"{options.boot} {boot}"]
        try:
            ledger = Ledger(bench, vm.Kernel(kernel), "matrix")
        except Failure as failure:
            show(kernel, context, kind, boot or options.boot, {}, str(failure))
            continue
        if entry in ledger.entries():
            good += 1
            print(f"{kernel:8} {context:12} {kind!s:9} {boot:12} ok, before", flush=True)
        elif cell(bench, kernel, context, kind, boot):
            good += 1
            ledger.add(entry)
    print(f"{good} of {len(cells)} as they must be")
    return 0 if good == len(cells) else 1


def abuse(bench, options):
    all_contexts = list(CONTEXTS.values()) + ["RR 10", "OTHER -5"]

    def switch(kernel, keep):
        said = bench.call(kernel, all_contexts, Kind(), keep, more="--switch 100")
        verdict = bench.verdict(said, Kind())
        return verdict if said["switches"] == 100 else f"{said['switches']} switches; {verdict}"

    def fault(name):
        def check(kernel, keep):
            # The first call fails, and the tool reports it; the driver can be removed and loaded again.
            script = """mount -t debugfs none /sys/kernel/debug
insmod $MODULE || exit 9
$OFFHOOK modem kernel --seconds 14 --timeout 40 >$KEEP/kernel.json 2>$KEEP/error
rmmod offhook && ! lsmod | grep -q offhook"""
            status, _ = bench.in_vm(kernel, script, keep, ["--clock", "stepped", "--fault", f"{name}@3"])
            if not os.path.exists(os.path.join(keep, "kernel.json")):
                return f"status {status}, and no summary"
            with open(os.path.join(keep, "kernel.json"), encoding="ascii") as file:
                said = json.loads(file.read() or "{}")
            if status != 0:
                return f"status {status}: {said}"
            seen = {"gone": said.get("card") == "failed", "frozen": said.get("card") == "failed",
                    "garbage": said.get("bad", 0) > 0 or said.get("card") == "failed", "storm": said.get("spurious", 0) > 0}[name]
            return "ok" if seen else f"the driver did not notice: {said}"
        return check

    def removed(kernel, keep):
        # The device leaves its driver in mid-call, with the file open; then again, bound anew, by rmmod.
        script = """insmod $MODULE || exit 9
$OFFHOOK modem kernel --context "FIFO 50" --seconds 100 --timeout 100 >$KEEP/kernel.json 2>$KEEP/error & call=$!
for k in $(seq 100); do sleep 0.1; grep -q . /sys/bus/pci/drivers/offhook/*/context && break; done
sleep 3; device=$(basename $(ls -d /sys/bus/pci/drivers/offhook/0000:*))
echo $device >/sys/bus/pci/drivers/offhook/unbind
wait $call; ended=$?
echo $device >/sys/bus/pci/drivers/offhook/bind && test -c /dev/offhook0 || exit 8
echo 1 >/sys/bus/pci/devices/$device/remove
rmmod offhook || exit 7
[ $ended -eq 1 ] && grep -q "No such device" $KEEP/error"""
        status, _ = bench.in_vm(kernel, script, keep, ["--clock", "stepped"])
        return "ok" if status == 0 else f"status {status}"

    def suspend(kernel, keep):
        # Every device is suspended and resumed (pm_test) in a call: the call ends with a message, the next is complete.
        sent, far, seconds = os.path.join(keep, "sent"), os.path.join(keep, "far-received"), CALL_SECONDS["v34"]
        # V.34 has trained and V.42 has a link well before the end of such a call. The time until then depends on this
        # machine's load, so the guest has no time limit for it.
        connected_blocks = 100 * seconds
        with open(sent, "wb") as file:
            file.write(octets_to_send(FILE_OCTETS))
        script = f"""mount -t debugfs none /sys/kernel/debug
insmod $MODULE || exit 9
echo 1 >/sys/module/suspend/parameters/pm_test_delay; echo devices >/sys/power/pm_test || exit 8
$OFFHOOK modem kernel --seconds 100 --timeout 700 >$KEEP/first.json & call=$!
blocks() {{ sed -n 's/^blocks //p' /sys/kernel/debug/offhook/offhook0/counters; }}
for k in $(seq 6000); do sleep 0.1; [ "$(blocks)" -gt {connected_blocks} ] && break; done
[ "$(blocks)" -gt {connected_blocks} ] || exit 6
echo freeze >/sys/power/state || exit 7
wait $call; echo $? >$KEEP/first.status
$OFFHOOK modem kernel --seconds {seconds} --send {sent} --receive $KEEP/near-received >$KEEP/kernel.json; status=$?
rmmod offhook && exit $status"""
        status, calls = bench.in_vm(kernel, script, keep, ["--hash", str(seconds), "--send", sent, "--receive", far],
                                    ram=[bench.module(kernel), sent, *vm.with_libraries(bench.offhook)])
        said = bench.summary(status, keep, calls, sent)
        with open(os.path.join(keep, "first.json"), encoding="ascii") as file:
            first = json.load(file)
        with open(os.path.join(keep, "first.status"), encoding="ascii") as file:
            ended = int(file.read())
        with open(os.path.join(keep, "dmesg"), encoding="utf-8", errors="replace") as file:
            words = "the machine is suspended" in file.read()
        if len(calls) != 2 or not words or ended != 2 or first["card"] != "no call" or not first["connected"]:
            return f"the first call: {len(calls)} calls, status {ended}, {first}"
        return bench.verdict(said, Kind())

    def fpu(kernel, keep):
        # Blocks of 8 samples, in the two contexts that interrupt others, beside live FPU registers. Runs add up.
        here, guard = os.path.dirname(os.path.abspath(__file__)), os.path.join(keep, "guard")
        kind = Kind(block=8, line_seconds=options.interrupts * 8 / 8000)
        subprocess.run(["cc", "-O2", "-pthread", os.path.join(here, "fpu_guard.c"), "-o", guard], check=True)
        beside = f"""modprobe -a algif_skcipher aesni_intel
{guard} 100000 >$KEEP/guard.txt & guard=$!
{shlex.quote(sys.executable)} {here}/crypto_load.py 100000 >$KEEP/crypto.txt & crypto=$!
for k in $(seq 300); do grep -q . $KEEP/crypto.txt && break; sleep 0.1; done
trap 'kill $guard $crypto; wait $guard || exit 6; wait $crypto || exit 5' EXIT"""
        said = bench.call(kernel, ["INT", "SOFTIRQ"], kind, keep, more="--switch 20 --timeout 100000", beside=beside)
        verdict = bench.verdict(said, kind)
        loads = [open(os.path.join(keep, name), encoding="ascii").read().split("\n")[-2] for name in ("guard.txt", "crypto.txt")]
        ledger = Ledger(bench, kernel, "fpu-" + kernel.name)
        if verdict == "ok":
            ledger.add(said["interrupts"])
        sums = f"{sum(ledger.entries())} interrupts in {len(ledger.entries())} runs that were ok"
        return f"{verdict}{'' if verdict == 'ok' else ':'} {said['interrupts']} interrupts; {'; '.join(loads)}; {sums}"

    def program(name, kernel, keep, argument, card):
        """A C program of this folder that has the card to itself. @return "ok" and its output, or the fault"""
        here, built, said = os.path.dirname(os.path.abspath(__file__)), os.path.join(keep, name), os.path.join(keep, "said")
        subprocess.run(["cc", "-O2", "-I", os.path.join(ROOT, "include"), os.path.join(here, name + ".c"), "-o", built], check=True)
        script = f"insmod $MODULE || exit 9\n{built} {argument} >$KEEP/said; status=$?\nrmmod offhook && exit $status"
        status, _ = bench.in_vm(kernel, script, keep, [*card, "--clock", "stepped"])
        with open(said, encoding="ascii") as file:
            return ("ok" if status == 0 else f"status {status}") + ": " + file.read().strip()

    def cells(kernel, keep):
        # The far end's data are not read, and writes are not whole cells.
        sent = os.path.join(keep, "sent")
        with open(sent, "wb") as file:
            file.write(octets_to_send(2000 * CELL_OCTETS))
        return program("cell_rings", kernel, keep, "2.5", ["--pump", "dmt", "--send", sent])

    def unread(kernel, keep):
        # The line waits for the reader of the log.
        return program("unread_log", kernel, keep, "", [])

    cases = {"switch": switch, "cells": cells, "unread": unread, "shortage": functools.partial(shortage, bench), "fpu": fpu,
             "suspend": suspend, **{name: fault(name) for name in ("gone", "frozen", "garbage", "storm")}, "removed": removed}
    bad = 0
    for name in chosen_cases(cases, options.only):
        for kernel_name in options.kernels:
            with tempfile.TemporaryDirectory() as keep:
                try:
                    verdict = cases[name](vm.Kernel(kernel_name), keep)
                except Failure as failure:
                    verdict = str(failure)
            bad += not verdict.startswith("ok")
            print(f"{kernel_name:8} {name:12} {verdict}", flush=True)
    return 1 if bad else 0


def live(bench, options):
    """The kernel's modem calls one of this machine, which has a second card at the other end of the line."""
    bad = 0
    for kernel in map(vm.Kernel, options.kernels):
        bench.module(kernel)
        with tempfile.TemporaryDirectory() as keep:
            sent, far, terminal = (os.path.join(keep, name) for name in ("sent", "far", "tty"))
            octets = bytes(1 + i % 100 for i in range(6000))
            with open(sent, "wb") as file:
                file.write(octets)
            command = [bench.offhook, "modem", "unix:" + far, "--tty", terminal, "--context", "OTHER",
                       "--interrupt-priority", "0", "--best-effort"]
            script = f"""insmod $MODULE && $OFFHOOK modem kernel --seconds 20 --timeout 120 --send {shlex.quote(sent)} >/run/said
status=$?; cp /run/said $KEEP; rmmod offhook && exit $status"""
            received, heard = bytearray(), None

            def listen():
                with contextlib.suppress(OSError):  # the modem ends with its card, its terminal with it
                    while piece := os.read(heard, 4096):
                        received.extend(piece)

            try:
                with contextlib.ExitStack() as stack:
                    def start():
                        nonlocal heard
                        modem = stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                                                     stderr=subprocess.DEVNULL))
                        stack.callback(modem.terminate)
                        wait_for(terminal)
                        heard = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
                        tty.setraw(heard)
                        threading.Thread(target=listen, daemon=True).start()
                        os.write(heard, b"ATE0S7=120A\r")

                    status, _ = bench.in_vm(kernel, script, keep, ["--far-card", far], beside=lambda: (wait_for(far), start()))
                with open(os.path.join(keep, "said"), encoding="ascii") as file:
                    rate = json.load(file)["tx_bit_rate"]
                verdict = "ok" if status == 0 and octets in received else f"status {status}, {len(received)} octets came"
                verdict += f", {rate} bit/s"
            except Failure as failure:
                verdict = str(failure)
        bad += not verdict.startswith("ok")
        print(f"{kernel.name:8} live         {verdict}", flush=True)
    return 1 if bad else 0


def scenario_text(name):
    """@return the scenario of this name: examples/kernel.toml, or that with V.44, or V.90's modems at a digital trunk"""
    with open(os.path.join(ROOT, "examples", "kernel.toml"), encoding="utf-8") as file:
        text = file.read()
    return {"v34": text, "v44": text + '\n[link]\ncompression = "v44"\n',
            "v90": text.replace('modem = "v34"', 'modem = "v90"') + '\n[line]\nkind = "digital-trunk"\n'}[name]


def scenario(bench, options):
    """Calls of scenarios with the kernel's driver, their records, and latencies on the plain scenario's card."""
    bad = 0
    contexts = [CONTEXTS.get(c, c) for c in options.contexts or ["softirq"]]
    names = chosen_cases(dict.fromkeys(("v34", "v44", "v90")), options.only)
    for kernel, context, name in [(vm.Kernel(k), c, n) for k in options.kernels for c in contexts for n in names]:
        with tempfile.TemporaryDirectory() as keep:
            file = os.path.join(keep, "kernel.toml")
            with open(file, "w", encoding="utf-8") as scenario_file:
                scenario_file.write(scenario_text(name))
            latency = f"""$OFFHOOK measure latency --host kernel --context "{context}" --interval-us 2000 --seconds 1 --json >$KEEP/latency || exit 8"""
            script = f"""insmod $MODULE || exit 9
$OFFHOOK run $KEEP/kernel.toml --host kernel --context "{context}" --out /run/out --json >/run/said 2>$KEEP/error; status=$?
cp /run/said $KEEP; cp -r /run/out $KEEP
{latency if name == "v34" else ""}
rmmod offhook && exit $status"""
            try:
                status, _ = bench.in_vm(kernel, script, keep, ["--scenario", file])
                verdict = read_scenario(bench, status, keep, context, name)
            except (Failure, OSError, KeyError, json.JSONDecodeError) as failure:
                verdict = f"{type(failure).__name__}: {failure}"
                with contextlib.suppress(OSError), open(os.path.join(keep, "error"), encoding="utf-8") as said:
                    verdict += "\n" + said.read()
        bad += not verdict.startswith("ok")
        print(f"{kernel.name:8} scenario     {name} {context:12} {verdict}", flush=True)
    return 1 if bad else 0


def read_scenario(bench, status, keep, context, name):
    """@return "ok" and figures, or the fault"""
    out = os.path.join(keep, "out")
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        said = json.load(file)
    wrong = [f"status {status}"] if status != 0 else []
    for what, wanted in (("verdict", "sufficient"), ("context", context), ("bytes_delivered", 16000), ("complete", True)):
        if said[what] != wanted:
            wrong.append(f"{what} {said[what]}")
    if name == "v44" and [said["compression"][key] for key in ("by", "sent", "received")] != ["V.44", True, True]:
        wrong.append(f"compression {said['compression']}")
    near = said["figures"]["ends"][0]
    if min(near["sent_bps"], near["received_bps"]) < 28800:  # the line of the scenario has noise and an echo
        wrong.append(f"{near['sent_bps']} and {near['received_bps']} bit/s")
    total, counted = said["figures"]["total"], said["kernel"]
    # A stepped clock: no block is late, and each interrupt is one block's. The last may be unfinished at the end.
    if total["blocks_late"] + total["underrun_samples"] + total["overrun_samples"] + counted["bad"] + counted["log_lost"]:
        wrong.append(f"losses {total}, {counted}")
    # Both from the log, because the line continues between the driver's count and the call's end.
    if abs(total["blocks"] - total["interrupts"]) > 2 or counted["coalesced"] or counted["interrupts"] > total["interrupts"]:
        wrong.append(f"{total['blocks']} blocks, {total['interrupts']} interrupts, {counted}")
    lacks = [n for n in ("events.ohlog", "report.html", "trace.perfetto", "scenario.toml") if not
             os.path.exists(os.path.join(out, n))]
    # The record is like that of any run: the page can be written again from it, in another place.
    again = subprocess.run([bench.offhook, "report", out], capture_output=True, text=True, check=False)
    if lacks or again.returncode != 0:
        wrong.append(f"lacks {lacks}; {again.stderr}")
    latency = read_latency(keep, wrong) if name == "v34" else said.get("compression", "")
    return "; ".join(wrong) or (f"ok, {near['sent_bps']} and {near['received_bps']} bit/s, {said['transfer_s']:.2f} s of the line, "
                                f"{total['blocks']} blocks; {latency}")


def read_latency(keep, wrong):
    """@return the measurements, as text"""
    with open(os.path.join(keep, "latency"), encoding="utf-8") as file:
        h = json.load(file)["latency"]
    if h["count"] < 490:  # of 500 per second; the call may end within a second
        wrong.append(f"{h['count']} latencies")
    return f"latency of {h['count']}: {h['p50']:.1f} us, {h['max']:.1f} at most"


def wait_for(path):
    for _ in range(200):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    raise Failure(f"{path} does not appear")


# All functions of the port on a V.34 card that rings; a call on a V.90 card.
SERIAL_CASES = ("v34", "v90")


def serial(bench, options):
    """The kernel's serial port, with `offhook modem kernel:0` at its other end."""
    bad = 0
    cases = chosen_cases(dict.fromkeys(SERIAL_CASES), options.only)
    for kernel, case in itertools.product(map(vm.Kernel, options.kernels), cases):
        with tempfile.TemporaryDirectory() as keep:
            sent = os.path.join(keep, "sent")
            with open(sent, "wb") as file:
                file.write(bytes(1 + i % 100 for i in range(4000)))
            here = os.path.dirname(os.path.abspath(__file__))
            script = f"""insmod $MODULE || exit 9
{shlex.quote(sys.executable)} {here}/serial_port.py $OFFHOOK {shlex.quote(sent)} /run/record {case} >$KEEP/said 2>&1
status=$?; cp -r /run/record $KEEP; exit $status"""
            said = os.path.join(keep, "said")
            try:
                card = ["--pump", "v90"] if case == "v90" else ["--ring"]
                status, calls = bench.in_vm(kernel, script, keep, ["--send", sent, *card])
                with open(os.path.join(keep, "record", "summary.json"), encoding="utf-8") as file:
                    summary = json.load(file)
                reports = os.path.exists(os.path.join(keep, "record", "report.html"))
                if not calls:
                    raise Failure("the card saw no call")
                arrived = calls[0]["far_received"] == 4000 + len("+++")
                good = status == 0 and reports and summary["blocks_late"] == 0 and arrived
                verdict = "ok" if good else f"status {status}: {calls[:1]} {summary}"
                verdict += f", {summary['blocks_served']} blocks"
            except (Failure, FileNotFoundError) as failure:
                verdict = str(failure)
            if not verdict.startswith("ok") and os.path.exists(said):
                with open(said, encoding="utf-8", errors="replace") as file:
                    verdict += "\n" + file.read()
        bad += not verdict.startswith("ok")
        print(f"{kernel.name:8} serial {case:5} {verdict}", flush=True)
    return 1 if bad else 0


def call(bench, options):
    options.contexts = options.contexts or ["thread"]
    heading()
    kind = Kind(options.pump or "v34", v42=not options.no_v42, full_rate=options.full_rate, far_training=options.far_training)
    return 0 if all([cell(bench, k, c, kind) for k in options.kernels for c in options.contexts]) else 1


# For each command: the default kernels, and its function.
COMMANDS = {"call": (["6.1"], call), "matrix": (vm.KERNELS, matrix), "abuse": (["6.1"], abuse),
            "live": (["6.1"], lambda bench, options: (foreign if options.program else live)(bench, options)),
            "scenario": (["6.12"], scenario), "serial": (["6.1"], serial), "experiment": (["6.12"], experiment),
            "replay": (["6.12"], replay), "debug-kernel": ([], debug_kernel), "sparse": (vm.KERNELS, sparse), "style": ([], style),
            "dkms": (vm.KERNELS, dkms)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder with src/offhook")
    parser.add_argument("--fetch", action="store_true", help="download a kernel when the cache has none")
    parser.add_argument("--kernel", dest="kernels", action="append", choices=vm.KERNELS, help="may be given again")
    parser.add_argument("--context", dest="contexts", action="append",
                        help=f"{', '.join(CONTEXTS)}, or one of the grammar such as 'FIFO 10'; may be given again")
    parser.add_argument("--pump", choices=("v90", "v34", "v32bis", "v22bis", "dmt"),
                        help="call (default v34), and matrix: this one in all contexts; dmt: G.lite on a subscriber loop, ATM cells")
    parser.add_argument("--program", type=os.path.abspath,
                        help="live: the far end is this program, as of ./dev interop (docs/interop.md), in both roles")
    parser.add_argument("--full-rate", action="store_true", help="call with --pump dmt: at full rate")
    parser.add_argument("--far-training", type=float, default=0,
                        help="call: seconds that the far modem trains longer than the kernel's, up to 20")
    parser.add_argument("--no-v42", action="store_true", help="call, and abuse's shortage: without error control")
    parser.add_argument("--interrupts", type=int, default=16000,
                        help="abuse, case fpu: so many in this run, which is added to those before (default 16000)")
    parser.add_argument("--only", help="abuse, debug-kernel, scenario (v34, v44, v90), serial (v34, v90): this case alone")
    parser.add_argument("--boot", default="", help="more words for the kernel's command line, such as preempt=full")
    parser.add_argument("--keep", help="folder for logs and results")
    parser.add_argument("--seconds", type=float, default=900,
                        help="time limit of one machine (default 900: on a loaded machine some take five minutes)")
    options = parser.parse_args()
    if options.only and options.what not in ("abuse", "debug-kernel", "scenario", "serial"):
        parser.error(f"--only: {options.what} has no cases")
    options.build = os.path.abspath(options.build)
    if options.keep:
        options.keep = os.path.abspath(options.keep)
    if options.full_rate and (options.what, options.pump) != ("call", "dmt"):
        parser.error("--full-rate is of `call --pump dmt`")
    bench = Bench(options)
    try:
        kernels, command = COMMANDS[options.what]
        options.kernels = options.kernels or list(kernels)
        if options.fetch:
            for kernel in options.kernels:  # with the headers, which a command may need before a machine
                vm.Kernel(kernel).fetch()
        return command(bench, options)
    except vm.Unavailable as lacks:
        print("SKIPPED:", lacks)
        return vm.SKIPPED


if __name__ == "__main__":
    sys.exit(main())
