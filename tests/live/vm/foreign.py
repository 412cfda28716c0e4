# SPDX-License-Identifier: MIT
"""The kernel's modem with another program's, for `bench.py live --program PROGRAM`."""
import contextlib
import itertools
import json
import os
import subprocess
import tempfile

import vm
from rig import FILE_OCTETS, Failure, octets_to_send

# Time of the line and limit for the guest. The line is that of the cell "clean" of ./dev interop.
FOREIGN_LINE_S, FOREIGN_TIMEOUT_S = 30, 600
FOREIGN_LINE = {"codec": '"none"', "loss_db": 6, "near_echo_db": 60, "far_echo_db": 60, "noise_dbm0": -90, "delay_ms": 10}


def foreign(bench, options):
    """The kernel's modem and another program's, which uses the protocol of docs/interop.md; each calls the other."""
    bad = 0
    pump = options.pump or "v34"
    about = json.loads(subprocess.run([options.program, "describe"], check=True, capture_output=True, text=True).stdout)
    for kernel, role in itertools.product(map(vm.Kernel, options.kernels), ("call", "answer")):
        with tempfile.TemporaryDirectory() as keep:
            sent = octets_to_send(FILE_OCTETS)
            for name, octets in (("to-far", sent), ("from-far", sent[::-1])):
                with open(os.path.join(keep, name), "wb") as file:
                    file.write(octets)
            script = f"""insmod $MODULE && $OFFHOOK modem kernel --pump {pump} --role {role} --seconds {FOREIGN_LINE_S} \
--timeout {FOREIGN_TIMEOUT_S} --send $KEEP/to-far --receive /run/received >/run/said
status=$?; cp /run/said /run/received $KEEP; rmmod offhook && exit $status"""
            other = {"call": "answer", "answer": "call"}[role]
            try:
                with contextlib.ExitStack() as stack:
                    log = stack.enter_context(open(os.path.join(keep, "far.txt"), "wb"))
                    program = stack.enter_context(subprocess.Popen(
                        [options.program, other, "socket", "from-far", "to-far", "far-received", f"modulation={pump}"],
                        cwd=keep, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                    stack.callback(program.terminate)
                    card = ["--far-end", ",".join(filter(None, ["unix:" + os.path.join(keep, "socket"), about["address"]]))]
                    line = {"trunk.near_end": '"digital"'} if pump == "v90" else {f"line.{k}": v for k, v in FOREIGN_LINE.items()}
                    card += ["--pump", pump, "--role", other, *itertools.chain(*(("--set", f"{k}={v}") for k, v in line.items()))]
                    status, _ = bench.in_vm(kernel, script, keep, card)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        program.wait(20)
                with open(os.path.join(keep, "said"), encoding="ascii") as file:
                    said = json.load(file)
                whole = []
                for name, octets in (("received", sent[::-1]), ("far-received", sent)):
                    try:
                        with open(os.path.join(keep, name), "rb") as file:
                            whole.append(file.read() == octets)
                    except FileNotFoundError:
                        whole.append(False)
                # A program may clear the call down when it has received all, before the time limit: status 2.
                good = status in (0, 2) and all(whole) and said["connected"] and said["card"] == "in call"
                verdict = "ok" if good else f"status {status}, whole (there, here) {whole[::-1]}, {said}"
                verdict += f", {said['tx_bit_rate']} bit/s out and {said['rx_bit_rate']} in, {said['retrains']} retrains"
            except Failure as failure:
                verdict = str(failure)
        bad += not verdict.startswith("ok")
        print(f"{kernel.name:8} {about['name']:12} {pump:6} the kernel's modem {role + 's:':8} {verdict}", flush=True)
    return 1 if bad else 0
