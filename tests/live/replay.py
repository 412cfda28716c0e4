#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live against simulated: how late a thread runs on this machine under load, and on the machine replayed from its trace.

Usage: replay.py OFFHOOK [SECONDS]. While `measure latency` runs beside stress-ng, the kernel's scheduling is recorded in
a tracefs instance of its own; the simulator then replays it around a device that interrupts as often, its work in a
thread of the same priority. Prints the quantiles of both side by side. Exit status 77 and a reason where root, tracefs,
trace-cmd or stress-ng is missing. What a trace cannot hold (interrupts and preemption off, the hypervisor) is the
difference; it is printed, not asserted.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

offhook = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
TRACING = "/sys/kernel/tracing"
PRIORITY, CPU = 50, max(os.sched_getaffinity(0))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


for tool, package in (("trace-cmd", "trace-cmd"), ("stress-ng", "stress-ng")):
    if not shutil.which(tool):
        skip(f"{tool} is missing (apt-get install {package})")
if os.geteuid() != 0 or not os.path.isdir(TRACING + "/instances"):
    skip("recording needs root and tracefs at " + TRACING)

name = f"offhook-replay-{os.getpid()}"
instance = f"{TRACING}/instances/{name}"
events = ["sched/sched_switch", "irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry",
          "irq/softirq_exit", "timer/hrtimer_expire_entry", "timer/hrtimer_expire_exit",
          "irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"]


def put(file, text):
    with open(f"{instance}/{file}", "w") as f:
        f.write(text)


def run(*arguments, **more):
    return subprocess.run(["timeout", "-k", "2", str(seconds + 120), *arguments], **more)


with tempfile.TemporaryDirectory() as folder:
    dat, load, live = (os.path.join(folder, f) for f in ("host.dat", "host.load", "live.json"))
    os.mkdir(instance)
    try:
        put("trace_clock", "mono")
        put("buffer_size_kb", "16384")
        for event in events:
            if os.path.isdir(f"{instance}/events/{event}"):
                put(f"events/{event}/enable", "1")
        stress = subprocess.Popen(["timeout", "-k", "2", str(seconds + 10), "stress-ng", "-q", "--temp-path", folder,
                                   "--cpu", "1", "--timer", "1", "--hdd", "1", "-t", str(seconds + 1)])
        run(offhook, "measure", "latency", "--context", f"FIFO {PRIORITY}", "--cpu", str(CPU), "--seconds",
            str(seconds), "-o", live, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        put("tracing_on", "0")
        stress.wait()
        run("trace-cmd", "extract", "-B", name, "-o", dat, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        if os.path.isdir(instance):
            os.rmdir(instance)
    run(offhook, "trace", dat, "--without", "offhook", "-o", load, check=True)
    sets = ["host.name=linux", f"load.trace={load}", f"load.trace_cpu={CPU}", "pump.kind=device",
            "device.block.rate_hz=8000", "device.block.plan_samples=[8]", "device.buffers.count=4",
            "device.work.block_us=5", "device.work.worst_us=5", "device.isr.mean_us=1", "device.isr.max_us=1",
            f"transfer.device_s={seconds}"]
    scenario = os.path.join(folder, "replay.toml")
    open(scenario, "w").write('name = "replay"\n')
    arguments = [offhook, "run", scenario, "--context", f"THR {40 + PRIORITY}", "--json", "--out", folder + "/out"]
    for assignment in sets:
        arguments += ["--set", assignment]
    result = run(*arguments, capture_output=True, text=True)
    if result.returncode not in (0, 2):
        print("FAIL:", result.stderr)
        sys.exit(1)
    figures = json.loads(result.stdout)["figures"]
    measured = json.load(open(live))["latency"]

simulated = figures["interrupt_to_service"]
print(f"\ntimer or card to thread, us    live   simulated   FIFO {PRIORITY}, CPU {CPU}, every ms for {seconds} s")
for label, key in (("50 %", "p50"), ("99 %", "p99"), ("99.9 %", "p999"), ("max", "max")):
    there = measured["p99.9" if key == "p999" else key]
    print(f"{label:25} {there:10.1f} {1000 * simulated[key + '_ms']:11.1f}")
print(f"{'wake-ups':25} {measured['count']:10} {simulated['count']:11}")
if not measured["count"] or not simulated["count"]:
    print("FAIL: nothing was measured")
    sys.exit(1)
