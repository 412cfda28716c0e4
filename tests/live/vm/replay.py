# SPDX-License-Identifier: MIT
"""bench.py replay: calls of the kernel's modem, and the same host replayed in the simulator from the kernel's trace.

The calls are those of the experiment (experiment.py), one per context, together with its two cyclictests, while the kernel's
scheduling is traced. The simulator then runs a device in the same context, whose blocks have their cost in INT, where nothing
interrupts them. The host replays the trace without the driver. The prediction uses only the other users of the CPU, and no
data of the predicted call. Reservations are also judged: sufficient in the kernel, and on the replayed host.
"""

import json
import os
import subprocess

from experiment import BLOCK, EXPERIMENT_S, FEATURES, LEAD, RESERVATIONS, begin_script, call_script, on_each_kernel, prepare, read_cell
from rig import Failure, read_events

# The kernel's, and the same for a replayed host, whose threads have their priorities. A reservation is SCHED_DEADLINE in both,
# above all of them, and its budget ends when it is used up (HRTICK_DL).
CONTEXTS = {"INT": "INT", "FIFO 50": "THR 90", **{f"RES {x}ms/{y}ms": f"RES {x}ms/{y}ms strict" for x, y in RESERVATIONS}}
# Those whose quantiles are shown; the other reservations have only a verdict.
SHOWN = list(CONTEXTS)[:3]
EVENTS = ["sched:sched_switch", "irq", "irq_vectors", "timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit"]
# The driver, and the means by which the card's second CPU interrupts the first (pacer/pacer.c).
WITHOUT = ["offhook", "irq_work", "call_function_single"]
QUANTILES = (0, 0.1, 0.5, 0.9, 0.99, 1)


def read_log(offhook, path):
    """@return for each block in order: from the interrupt to its service, us; the service, us; samples pending then"""
    waits, works, pending, asked, begun = [], [], [], None, None
    for at, kind, argument in read_events(offhook, path):
        at /= 1000
        if kind == "interrupt" and asked is None:
            asked = at
        elif kind == "service_begin":
            waits.append(at - (at if asked is None else asked))
            asked, begun = None, at
        elif kind == "service_end" and begun is not None:
            works.append(at - begun)
            pending.append(int(argument))
    return waits, works, pending


def quantile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)]


def simulate(offhook, keep, name, context, work_us, isr_us):
    """@return read_log() of the device on the replayed host, and its lost samples"""
    load, scenario, out = (os.path.join(keep, name + suffix) for suffix in (".load", ".toml", ".out"))
    subprocess.run([offhook, "trace", os.path.join(keep, name + ".dat"), "--without", *WITHOUT, "-o", load],
                   stdout=subprocess.DEVNULL, check=True)
    with open(scenario, "w", encoding="ascii") as file:
        file.write(f"""name = "replay"
[host]
name = "linux"
reservations = "deadline-hrtick"
[load]
trace = {json.dumps(load)}
trace_cpu = 0
[pump]
kind = "device"
[device.block]
rate_hz = 8000
plan_samples = [{BLOCK}]
[device.buffers]
count = 1
samples = 512
lead_samples = {LEAD}
[device.work]
block_us = {quantile(work_us, 0.5)}
spread = {min(1, (quantile(work_us, 0.9) - quantile(work_us, 0.1)) / 2 / quantile(work_us, 0.5))}
worst_us = {max(work_us)}
phi = 1
[device.isr]
mean_us = {isr_us}
max_us = {isr_us}
[transfer]
device_s = {EXPERIMENT_S}
""")
    done = subprocess.run([offhook, "run", scenario, "--context", context, "--out", out], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 2):
        raise Failure("the simulator says: " + done.stderr)
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        figures = json.load(file)["figures"]["total"]
    return read_log(offhook, out), figures["overrun_samples"] + figures["underrun_samples"]


def show(context, lost, kernel, simulated):
    for what, k, s in zip(("interrupt to service, us", "service, us", "samples pending"), kernel, simulated, strict=True):
        for of, values in (("kernel", k), ("simulator", s)):
            row = " ".join(f"{quantile(values, q):9.1f}" for q in QUANTILES)
            print(f"{context:14} {what:24} {of:10} {len(values):6} {row}   {lost if of == 'kernel' else ''}", flush=True)


def replay(bench, options):
    return on_each_kernel(bench, options, "replay", {"cyclictest": "rt-tests", "trace-cmd": "trace-cmd"}, replay_on)


def replay_on(bench, kernel, keep):
    """Prints the table. @return whether every call without losses sent the samples of user space"""
    pacer, line, sent, played = prepare(bench, kernel, keep)
    script = begin_script(pacer, line)
    events = " ".join("-e " + e for e in EVENTS)
    names = {context: f"call{n}" for n, context in enumerate(CONTEXTS)}
    script += f"echo HRTICK_DL >{FEATURES}\n"
    for context, name in names.items():
        script += call_script(name, context, sent, f"trace-cmd start -C mono -b 65536 {events} >/dev/null || exit 8",
                              f"trace-cmd stop && trace-cmd extract -o /run/{name}.dat >$KEEP/trace-cmd 2>&1; trace-cmd reset")
    status, _ = bench.in_vm(kernel, script + "rmmod offhook && rmmod offhook_pacer", keep, ["--clock", "guest"], pacer=True)
    if status != 0:
        raise Failure(f"status {status}")
    said = {context: read_cell(keep, name, played) for context, name in names.items()}
    measured = {context: read_log(bench.offhook, os.path.join(keep, name + ".ohlog")) for context, name in names.items()}
    waits_us, work_us, _ = measured["INT"]  # if nothing interrupts: the cost of the device
    isr_us = max(0.001, quantile(waits_us, 0.5))
    heads = " ".join(f"{f'{100 * q:g} %':>9}" for q in QUANTILES)
    print(f"{kernel.name}: calls of {EXPERIMENT_S} s, and the same host replayed in the simulator; an instruction is 4 ns\n"
          f"{'context':14} {'':24} {'of':10} {'count':>6} {heads}   lost")
    simulated = {context: simulate(bench.offhook, keep, name, CONTEXTS[context], work_us, isr_us) for context, name in names.items()}
    for context in SHOWN:
        show(context, said[context]["lost"], measured[context], simulated[context][0])
    words = {True: "sufficient", False: "insufficient"}
    print(f"{'reservation':14} {'kernel':>13} {'lost':>7} {'simulator':>13} {'lost':>7}")
    for context in list(CONTEXTS)[2:]:
        lost = simulated[context][1]
        print(f"{context:14} {words[said[context]['sufficient']]:>13} {said[context]['lost']:7} {words[lost == 0]:>13} {lost:7}", flush=True)
    return all(call["same"] for call in said.values() if call["lost"] == 0)
