#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live against simulated: a thread's delay on this machine under load, and on the machine replayed from its trace.

Usage: replay.py OFFHOOK [SECONDS [PLOT.html]]. While `measure latency` runs together with stress-ng, the kernel's
scheduling is recorded in a separate tracefs instance. The simulator then replays it around a device with the same
interrupt rate, whose work is in a thread of the same priority. Prints and plots the quantiles of both.

A replay has the use of the CPU, but not the cost of a wake-up itself: a late timer interrupt (interrupts off, the
hypervisor), its handler, the dispatcher. The trace has these for every other thread that sleeps by a timer. So
cyclictest runs on the same CPU, just above the predicted thread, and each of its wake-ups gives

    delivery   from the due time of its timer to the start of the timer's handler dispatch   from there to the
    switch to the thread

each without the time of other interrupts, softirqs and higher threads, which are replayed anyway. The quantiles of the
two, and of their sum, become the table [latency] of the simulated host. The prediction uses no data of the predicted
thread. The time from the switch to the thread's own reading of the clock is not in the trace, so it is missing.

Exit status 77 with a reason if root, tracefs, trace-cmd, stress-ng or cyclictest is missing.
"""
import bisect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

offhook = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
plot = sys.argv[3] if len(sys.argv) > 3 else None
TRACING = "/sys/kernel/tracing"
PRIORITY, CPU = 50, max(os.sched_getaffinity(0))
REFERENCE_US = 1370  # cyclictest's interval, not a multiple of the predicted thread's, nor of a tick
WORK_US = 5  # of the simulated device's block
QUANTILES = (.5, .9, .99, .999, 1)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


for tool, package in (("trace-cmd", "trace-cmd"), ("stress-ng", "stress-ng"), ("cyclictest", "rt-tests")):
    if not shutil.which(tool):
        skip(f"{tool} is missing (apt-get install {package})")
if os.geteuid() != 0 or not os.path.isdir(TRACING + "/instances"):
    skip("recording needs root and tracefs at " + TRACING)

name = f"offhook-replay-{os.getpid()}"
instance = f"{TRACING}/instances/{name}"
events = ["sched/sched_switch", "irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry",
          "irq/softirq_exit", "timer/hrtimer_start", "timer/hrtimer_expire_entry", "timer/hrtimer_expire_exit",
          "irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"]


def put(file, text):
    with open(f"{instance}/{file}", "w", encoding="ascii") as f:
        f.write(text)


def run(*arguments, **more):
    return subprocess.run(["timeout", "-k", "2", str(seconds + 120), *arguments], **more)


def record(folder, dat, live):
    os.mkdir(instance)
    try:
        put("trace_clock", "mono")
        put("buffer_size_kb", "32768")
        for event in events:
            if os.path.isdir(f"{instance}/events/{event}"):
                put(f"events/{event}/enable", "1")
        limit = ["timeout", "-k", "2", str(seconds + 10)]
        with subprocess.Popen(limit + ["stress-ng", "-q", "--temp-path", folder, "--cpu", "1", "--timer", "1", "--hdd",
                                       "1", "-t", str(seconds + 1)]), \
             subprocess.Popen(limit + ["cyclictest", "-q", "-m", "-t1", f"-a{CPU}", f"-p{PRIORITY + 1}",
                                       f"-i{REFERENCE_US}", f"-D{seconds}"], stdout=subprocess.DEVNULL):
            run(offhook, "measure", "latency", "--context", f"FIFO {PRIORITY}", "--cpu", str(CPU), "--seconds",
                str(seconds), "--json", live, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            put("tracing_on", "0")
        run("trace-cmd", "extract", "-B", name, "-o", dat, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        if os.path.isdir(instance):
            os.rmdir(instance)


def wake_ups(dat):
    """For cyclictest's thread. @return [(delivery, dispatch)] in ns, without the replayed time"""
    # "instance:  task-pid  [001]  12345.123456789: event:   fields"; of a thread "name:pid [prio]"
    line_of = re.compile(r"(?:\S+:)?\s*(.+)-(\d+)\s+\[(\d+)\].*?\s(\d+)\.(\d+):\s+(\w+):\s*(.*)")
    threads = re.compile(r"(.*):(\d+) \[(-?\d+)\] \S+ ==> (.*):(\d+) \[(-?\d+)\]")
    due, waiting, found = {}, None, []
    over = []  # (event kind) of current interrupts and softirqs
    taken, mark, above = 0, 0, False  # ns used by replayed entities; current start; a higher thread runs
    reasons = {"irq_handler_entry": "irq_handler_exit", "softirq_entry": "softirq_exit",
               "local_timer_entry": "local_timer_exit"}
    with subprocess.Popen(["trace-cmd", "report", "-i", dat, "-t"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace") as report:
        history_at, history_taken = [], []  # what had been taken when: to look back to the time a timer was due
        for line in report.stdout:
            match = line_of.match(line)
            if not match or int(match[3]) != CPU:
                continue
            at = int(match[4]) * 10**9 + int(match[5].ljust(9, "0"))
            event, fields = match[6], match[7]
            if over or above:
                taken += at - mark
            mark = at
            history_at.append(at)
            history_taken.append(taken)
            if event in reasons:
                over.append(reasons[event])
            elif event in reasons.values():
                if event in over:
                    del over[len(over) - 1 - over[::-1].index(event):]
                if event == "local_timer_exit" and waiting and waiting[2] is None:
                    waiting[2] = taken  # its own interrupt is not replayed, so only the time after it counts
            elif event == "hrtimer_start" and match[1] == "cyclictest" and "hrtimer_wakeup" in fields:
                due[re.search(r"hrtimer=(\S+)", fields)[1]] = int(re.search(r"softexpires=(\d+)", fields)[1]), match[2]
            elif event == "hrtimer_expire_entry":
                timer = re.search(r"hrtimer=(\S+)", fields)[1]
                if timer in due:
                    expires, pid = due.pop(timer)
                    # Before the interrupt in which it expires began: the time used since it was due.
                    begun = history_at[-2] if over == ["local_timer_exit"] and len(history_at) > 1 else at
                    k = bisect.bisect_left(history_at, expires)
                    before = taken - (at - begun if over else 0)
                    replayed = max(0, before - history_taken[min(k, len(history_taken) - 1)])
                    if 0 <= at - expires < 10**9:
                        waiting = [max(0, at - expires - replayed), at, None if over else taken, pid]
            elif event == "sched_switch" and (match := threads.match(fields)):
                over.clear()
                if waiting and match[5] == waiting[3]:
                    replayed = taken - (waiting[2] if waiting[2] is not None else taken)
                    if int(match[6]) == 99 - PRIORITY - 1:  # not another cyclictest; not before it has its priority
                        found.append((waiting[0], max(0, at - waiting[1] - replayed)))
                    waiting = None
                above = int(match[6]) < 99 - PRIORITY and match[4] != "offhook" and match[5] != "0"
    return found


def quantile(ordered, share):
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def latency_table(found):
    """The host's [latency]: the worst of this many waits, up to all of them."""
    shares = [1.25, 1.6, 2, 2.5, 3.3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**5]
    waits = [s for s in shares if s < len(found)] + [len(found)]
    text = f"[latency]\nwaits_per_s = {1 / 3.6}\nuse_hours = [{', '.join(f'{w / 1000:.6f}' for w in waits)}]\n"
    delivery = sorted(d for d, _ in found)
    both = sorted(d + w for d, w in found)
    for key, ordered in (("interrupt", delivery), ("thread", both)):
        ms = [max(quantile(ordered, 1 - 1 / w if w < len(found) else 1) * 1e-6, 1e-5) for w in waits]
        ms = [value * (1 + 1e-7 * i) for i, value in enumerate(ms)]  # they must rise
        text += f"{key}_ms = [{', '.join(f'{value:.9f}' for value in ms)}]\n"
        text += f"{key}_least_ms = {max(ordered[0] * 1e-6, 9e-6):.9f}\n"
    return text


def simulate(folder, load, host=None):
    scenario, out = os.path.join(folder, "replay.toml"), os.path.join(folder, "out")
    with open(scenario, "w", encoding="ascii") as file:
        file.write('name = "replay"\n')
    sets = ["host.name=linux", f"load.trace={load}", f"load.trace_cpu={CPU}", "pump.kind=device",
            "device.block.rate_hz=8000", "device.block.plan_samples=[8]", "device.buffers.count=4",
            f"device.work.block_us={WORK_US}", f"device.work.worst_us={WORK_US}", f"transfer.device_s={seconds}"]
    # The measured dispatch includes the handler and the switch; otherwise the values of traces/data/hosts/linux.toml apply.
    sets += [f"host.latencies={host}", "host.dispatch_us=0", "device.isr.mean_us=0.001", "device.isr.max_us=0.001"] \
        if host else ["device.isr.mean_us=1", "device.isr.max_us=1"]
    arguments = [offhook, "run", scenario, "--context", f"THR {40 + PRIORITY}", "--json", "--out", out]
    for assignment in sets:
        arguments += ["--set", assignment]
    result = run(*arguments, capture_output=True, text=True)
    if result.returncode not in (0, 2):
        print("FAIL:", result.stderr)
        sys.exit(1)
    # From the log itself: the wait of each service, from the card's interrupt to the beginning of its service.
    waits, pending, asked = [], [], []
    with subprocess.Popen([offhook, "report", "export", "--csv", out], stdout=subprocess.PIPE, text=True) as export:
        for line in export.stdout:
            fields = line.split(",")
            if fields[2] == "interrupt":
                asked.append(int(fields[0]))
            elif fields[2] == "service_begin" and asked:
                waits.append((int(fields[0]) - asked[0]) / 1000)
                asked.clear()
            elif fields[2] == "service_end":
                pending.append(int(fields[5]))
    return sorted(waits), sorted(pending)


def svg(curves, title, x_title):
    """Quantile functions: the value (log) over the share of longer values (log)."""
    width, height, left, top = 720, 420, 60, 40
    values = [v for _, _, points in curves for v, _ in points if v > 0]
    low, high = min(values), max(values)
    rarest = min(longer for _, _, points in curves for _, longer in points)
    import math

    def x(v):
        return left + (width - left - 20) * math.log(max(v, low) / low) / math.log(high / low)

    def y(longer):
        return top + (height - top - 50) * math.log(longer) / math.log(rarest)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">'
             f'<text x="{left}" y="20" font-weight="bold">{title}</text>']
    decade = 10.0 ** math.ceil(math.log10(low))
    while decade <= high:
        parts.append(f'<line x1="{x(decade)}" x2="{x(decade)}" y1="{top}" y2="{height - 50}" stroke="#ddd"/>'
                     f'<text x="{x(decade)}" y="{height - 32}" text-anchor="middle">{decade:g}</text>')
        decade *= 10
    share = 1.0
    while share >= rarest:
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(share)}" y2="{y(share)}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y(share) + 4}" text-anchor="end">{share:g}</text>')
        share /= 10
    for k, (label, colour, points) in enumerate(curves):
        path = " ".join(f"{x(v):.1f},{y(longer):.1f}" for v, longer in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{width - 30}" y="{top + 20 + 18 * k}" text-anchor="end" fill="{colour}">{label}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">{x_title}; upwards: share of all that '
                 "are longer</text></svg>")
    return "".join(parts)


with tempfile.TemporaryDirectory() as folder:
    dat, load, live, host = (os.path.join(folder, f) for f in ("host.dat", "host.load", "live.json", "host.toml"))
    record(folder, dat, live)
    run(offhook, "trace", dat, "--without", "offhook", "-o", load, stdout=subprocess.DEVNULL, check=True)
    found = wake_ups(dat)
    if len(found) < 100:
        print(f"FAIL: {len(found)} wake-ups of cyclictest in the trace")
        sys.exit(1)
    with open(host, "w", encoding="ascii") as file:
        file.write(latency_table(found))
    bare, _ = simulate(folder, load)
    waits, pending = simulate(folder, load, host)
    with open(live, encoding="utf-8") as file:
        measured = json.load(file)["latency"]

if not measured["count"] or not waits or not bare:
    print("FAIL: nothing was measured")
    sys.exit(1)


def live_quantile(share):
    left = share * measured["count"]
    for low, high, count in measured["bars"]:
        left -= count
        if left <= 0:
            return (low + high) / 2
    return measured["max"]


reference = sorted((d + w) / 1000 for d, w in found)
print(f"\ntimer or card to thread, us; FIFO {PRIORITY}, CPU {CPU}, every ms for {seconds} s")
print(f"{'':8} {'live':>9} {'replay with what cyclictest waited':>36} {'replay alone':>14} {'cyclictest, rest':>18}")
for share in QUANTILES:
    print(f"{100 * share:6g} % {live_quantile(share) if share < 1 else measured['max']:9.1f} {quantile(waits, share):36.1f}"
          f" {quantile(bare, share):14.1f} {quantile(reference, share):18.1f}")
print(f"{'count':8} {measured['count']:9} {len(waits):36} {len(bare):14} {len(reference):18}")
print("samples pending after service (live: those that 8000 Hz bring in the latency and the device's work)")
for share in QUANTILES:
    late = live_quantile(share) if share < 1 else measured["max"]
    print(f"{100 * share:6g} % {int((late + WORK_US) * 8e-3):9} {quantile(pending, share):36}")
if plot:
    def curve(ordered):
        shares = [10 ** (-k / 12) for k in range(61) if 10 ** (-k / 12) * len(ordered) >= 1]
        return [(quantile(ordered, 1 - s), s) for s in shares]

    shares = [10 ** (-k / 12) for k in range(61) if 10 ** (-k / 12) * measured["count"] >= 1]
    page = svg([("live", "#c33", [(live_quantile(1 - s), s) for s in shares]),
                ("replay with what cyclictest waited", "#36c", curve(waits)),
                ("replay alone", "#999", curve(bare))],
               f"Timer or card to thread, FIFO {PRIORITY}", "us")
    page += svg([("live", "#c33", [(max((live_quantile(1 - s) + WORK_US) * 8e-3, .1), s) for s in shares]),
                 ("replay with what cyclictest waited", "#36c", [(max(v, .1), s) for v, s in curve(pending)])],
                "Pending after service", "samples")
    with open(plot, "w", encoding="utf-8") as file:
        file.write(f"<!DOCTYPE html><meta charset=utf-8><title>Live and replayed</title>{page}\n")
    print("plot:", plot)
