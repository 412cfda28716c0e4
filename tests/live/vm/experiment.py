# SPDX-License-Identifier: MIT
"""bench.py experiment: each context's effects on other work and the reverse; reservations and the law (docs/kernel.md)."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile

import vm
from rig import ROOT, Failure, make_folder, octets_to_send

# The experiment's device: blocks of 12.5 ms, two of them queued ahead, like the modem of the papers.
BLOCK, LEAD, EXPERIMENT_S, EXPERIMENT_OCTETS = 100, 200, 14, 8000
EXPERIMENT_CONTEXTS = ["INT", "SOFTIRQ", "THREADED", "FIFO 50", "WORKER", "RES 8ms/16ms"]
# (X, Y) in ms: above and below the share that the pump needs, with short and long gaps; the second list is at ticks,
# too.
RESERVATIONS = [(8, 16), (3, 16), (2, 16), (8, 24), (4, 16), (2, 8), (1, 8)]
AT_TICKS = RESERVATIONS[:4]
# A clock interrupt is 4 ms (HZ 250). With HRTICK_DL a budget ends when used up, else at the next one.
FEATURES = "/sys/kernel/debug/sched/features"


def build_pacer(kernel, build):
    """@return the module that acts as the card's hardware in the machine (pacer/pacer.c)"""
    folder = make_folder(os.path.join(build, "kernel", kernel.name + "-pacer"))
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pacer")
    subprocess.run(["cp", "-u", "--preserve=timestamps", *(os.path.join(here, n) for n in ("Kbuild", "pacer.c")), folder],
                   check=True)
    for part in ("include", "driver/linux/include", "driver/core"):
        subprocess.run(["cp", "-r", "-u", "--preserve=timestamps", os.path.join(ROOT, part) + "/.",
                        make_folder(os.path.join(folder, part))], check=True)
    made = subprocess.run(["make", "-s", "-C", kernel.headers(), "M=" + folder, "modules"], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        raise Failure("the pacer does not build:\n" + made.stdout + made.stderr)
    return os.path.join(folder, "offhook_pacer.ko")


def begin_script(pacer, line):
    """@return the steps before the calls: the card's hardware, the driver, the line"""
    return f"""mount -t debugfs none /sys/kernel/debug
insmod {shlex.quote(pacer)} && insmod $MODULE && cat {shlex.quote(line)} >/dev/pacer || exit 9
probe() {{ cyclictest -q -a 0 -t 1 -i 1000 -h 20000 "$@" >/dev/null 2>&1 & }}
"""


def call_script(name, context, sent, before="", after=""):
    """@return a call that leaves NAME.json, NAME.fifo, NAME.other in $KEEP. @param before, after  shell text"""
    return f"""{before}
{{ sleep 1; probe --priority=80 --json=/run/{name}.fifo; fifo=$!; probe --policy=other --json=/run/{name}.other; other=$!
sleep {EXPERIMENT_S - 2}; kill -INT $fifo $other; wait $fifo $other; }} & probes=$!
$OFFHOOK modem kernel --context "{context}" --seconds {EXPERIMENT_S} --timeout 60 --block {BLOCK} --lead {LEAD} --drop \
  --send {shlex.quote(sent)} --receive /run/{name}.got --log /run/{name}.ohlog >/run/{name}.json 2>/run/{name}.error
wait $probes
{after}
cat /dev/pacer >/run/{name}.pacer; cp /run/{name}.* $KEEP
"""


def experiment_script(pacer, line, sent, cells):
    """@param cells  (name, context, HRTICK_DL)"""
    script = begin_script(pacer, line)
    for name, context, hrtick in cells:
        script += call_script(name, context, sent, before=f"echo {'' if hrtick else 'NO_'}HRTICK_DL >{FEATURES}")
    return script + "rmmod offhook && rmmod offhook_pacer"


def read_cell(keep, name, played):
    """@return the result of one call, and of the programs next to it"""
    with open(os.path.join(keep, name + ".json"), encoding="utf-8") as file:
        said = json.load(file)
    for probe in ("fifo", "other"):
        with open(os.path.join(keep, f"{name}.{probe}"), encoding="utf-8") as file:
            said[probe] = json.load(file)["thread"]["0"]
    with open(os.path.join(keep, name + ".pacer"), encoding="ascii") as file:
        _, hashed, late_us = file.read().split()
    said["same"], said["late_us"] = hashed == played, int(late_us)
    said["lost"] = said["overrun"] + said["underrun"]
    said["sufficient"] = said["lost"] == 0 and said["connected"] and said["received"] == EXPERIMENT_OCTETS
    return said


def percentile(histogram, share):
    """@param histogram  of cyclictest: us to count"""
    counts = sorted((int(us), count) for us, count in histogram.items())
    left = share * sum(count for _, count in counts)
    for us, count in counts:
        left -= count
        if left <= 0:
            return us
    return 0


def law(offhook, keep, cost_us, worst_us, isr_us):
    """@return for each X in ms, the longest Y in ms for a device with the measured cost"""
    device = os.path.join(keep, "device.toml")
    with open(device, "w", encoding="ascii") as file:
        file.write(f"""name = "the kernel's modem"
[block]
rate_hz = 8000
plan_samples = [{BLOCK}]
[buffers]
count = 1
samples = 512
lead_samples = {LEAD}
[work]
block_us = {cost_us}
worst_us = {worst_us}
phi = 1  # the driver queues output when the pump's call is over
[isr]
mean_us = {isr_us}
max_us = {isr_us}
""")
    done = subprocess.run([offhook, "advise", "law", device, "--json", "--tick-hz", "1000", "--x-max", "8"], capture_output=True,
                          text=True, check=True)
    said = json.loads(done.stdout)
    return said, {int(row["x_ms"]): row["full_law_y_ms"] for row in said["boundary"]}


def on_each_kernel(bench, options, name, tools, function):
    """@param tools  the required ones: their Debian packages. @param function  (bench, kernel, folder); whether it passed.
    @return an exit status"""
    for tool, package in tools.items():
        if shutil.which(tool) is None:
            raise vm.Unavailable(f"no {tool} (Debian: {package})")
    bad = 0
    for kernel in map(vm.Kernel, options.kernels):
        keep = make_folder(os.path.join(options.keep or tempfile.mkdtemp(), f"{kernel.name}-{name}"))
        try:
            bad += not function(bench, kernel, keep)
        except Failure as failure:
            bad += 1
            print(f"{kernel.name:8} {name:12} {failure}", flush=True)
        if options.keep is None:
            shutil.rmtree(os.path.dirname(keep))
    return 1 if bad else 0


def experiment(bench, options):
    return on_each_kernel(bench, options, "experiment", {"cyclictest": "rt-tests"}, experiment_on)


def prepare(bench, kernel, keep):
    """@return the card's module, the line's recording, the sent data, and the samples' hash of a lossless call"""
    pacer, line, sent = build_pacer(kernel, bench.options.build), os.path.join(keep, "line"), os.path.join(keep, "sent")
    with open(sent, "wb") as file:
        file.write(octets_to_send(EXPERIMENT_OCTETS))
    done = subprocess.run([bench.offhook, "line", "card", "--in-process", "--hash", str(EXPERIMENT_S), "--send", sent, "--block",
                           str(BLOCK), "--lead", str(LEAD), "--record", line], capture_output=True, text=True, check=True)
    return pacer, line, sent, json.loads(done.stdout)["hash_played"]


def experiment_on(bench, kernel, keep):
    """@return whether every call without losses sent the samples of user space"""
    pacer, line, sent, played = prepare(bench, kernel, keep)
    contexts = [(f"context{n}", context, True) for n, context in enumerate(EXPERIMENT_CONTEXTS)]
    reservations = [(f"res-{x}-{y}{'' if hrtick else '-tick'}", f"RES {x}ms/{y}ms", hrtick)
                    for hrtick, pairs in ((True, RESERVATIONS), (False, AT_TICKS)) for x, y in pairs]
    script = experiment_script(pacer, line, sent, contexts + reservations)
    status, _ = bench.in_vm(kernel, script, keep, ["--clock", "guest"], pacer=True)
    if status != 0:
        raise Failure(f"status {status}")
    cells = {name: read_cell(keep, name, played) for name, *_ in contexts + reservations}
    return show_experiment(bench, kernel, keep, contexts, cells)


def show_experiment(bench, kernel, keep, contexts, cells):
    """Prints the tables. @return whether every call without losses sent the samples of user space"""
    print(f"{kernel.name}: a call of {EXPERIMENT_S} s, blocks of {BLOCK} samples, {LEAD} queued ahead; an instruction is 4 ns.\n"
          f"{'':14} {'pending':>15} {'latency, us':>15} {'service, us':>15} {'cyclictest 80':>15} {'SCHED_OTHER':>15} {'card':>6} "
          f"{'lost':>6} samples\n"
          f"{'context':14} {'p50':>4} {'p99':>5} {'max':>4} {'p50':>7} {'max':>7} {'p50':>7} {'max':>7} {'p99':>7} {'max':>7} "
          f"{'p99':>7} {'max':>7} {'late':>6}")
    for name, context, _ in contexts:
        c = cells[name]
        print(f"{context:14} {c['pending_samples']['p50']:4} {c['pending_samples']['p99']:5} {c['pending_samples']['max']:4} "
              f"{c['interrupt_to_service']['p50_us']:7.0f} {c['interrupt_to_service']['max_us']:7.0f} "
              f"{c['service_time']['p50_us']:7.0f} {c['service_time']['max_us']:7.0f} "
              f"{percentile(c['fifo']['histogram'], 0.99):7} {c['fifo']['max']:7} "
              f"{percentile(c['other']['histogram'], 0.99):7} {c['other']['max']:7} {c['late_us']:6} {c['lost']:6} "
              f"{'the same' if c['same'] else 'others'}")
    cost = cells["context3"]["service_time"]  # time of a thread without its preemptions: cyclictest
    said, longest = law(bench.offhook, keep, round(cost["p50_us"]), round(cost["p999_us"]),
                        round(cells["context0"]["interrupt_to_service"]["p50_us"]))
    print(f"law: {cost['p50_us']:.0f} us a block, {cost['p999_us']:.0f} at the worst: a share of {said['share']:.3f}, gaps up to "
          f"{said['longest_gap_ms']:.1f} ms\n{'X/Y, ms':8} {'share':>6} {'gap':>4} {'law: Y <=':>10} {'law':>13} "
          f"{'HRTICK_DL':>13} {'lost':>7} {'at ticks':>13} {'lost':>7}")
    agree = 0
    words = {True: "sufficient", False: "insufficient"}
    for x, y in RESERVATIONS:
        by_law = y <= longest[x]
        exact, tick = (cells.get(f"res-{x}-{y}{suffix}") for suffix in ("", "-tick"))
        agree += by_law == exact["sufficient"]
        at_ticks = f"{words[tick['sufficient']]:>13} {tick['lost']:7}" if tick else ""
        print(f"{f'{x}/{y}':8} {x / y:6.3f} {y - x:4} {longest[x]:10.2f} {words[by_law]:>13} {words[exact['sufficient']]:>13} "
              f"{exact['lost']:7} {at_ticks}")
    whole = [c["same"] for c in cells.values() if c["lost"] == 0]
    same = bool(whole) and all(whole)
    print(f"{agree} of {len(RESERVATIONS)} with HRTICK_DL as the law says; "
          f"{'every call without a loss sent' if same else 'NOT every call without a loss sent'} the samples of user space; "
          f"the card itself was late by up to {max(c['late_us'] for c in cells.values())} us, which the most pending hold",
          flush=True)
    return same
