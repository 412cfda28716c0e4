# SPDX-License-Identifier: MIT
"""Every step of the driver that may lack memory or a resource fails once: in probe, and at the start of a call.

Each step is a call from the module to the kernel that fail_nth/fail_nth.c makes fail. Probe must fail without leaving
anything behind. A call must not begin, and the program must get the reason. Then a complete call must succeed.
"""
import os
import re
import shlex
import subprocess

from rig import Failure, Kind, make_folder

ENOMEM = -12
KZALLOC, VZALLOC, VMALLOC_USER = "kmalloc_trace|__kmalloc_cache_noprof", "vzalloc(_noprof)?", "vmalloc_user(_noprof)?"
# (purpose, names of the kernel's function, its return value, number of the call)
PROBE = (
    ("the device", KZALLOC, 0, 1),
    ("the PCI device", "pcim_enable_device", ENOMEM, 1),
    ("the BARs", "pcim_iomap_regions", ENOMEM, 1),
    ("the DMA mask", "dma_set_mask", -5, 1),
    ("card memory", "dmam_alloc_attrs", 0, 1),
    ("the descriptor queue", "dmam_alloc_attrs", 0, 2),
    ("MSI-X vectors", "pci_alloc_irq_vectors(_affinity)?", -28, 1),
    ("the workqueue", "alloc_workqueue(_noprof)?", 0, 1),
    ("the interrupt", "request_threaded_irq", ENOMEM, 1),
    ("the event log", VMALLOC_USER, 0, 1),
    ("the number", "ida_alloc_range", ENOMEM, 1),
    ("the serial port", KZALLOC, 0, 2),
    ("the serial port's queue", "__kfifo_alloc(_noprof)?", ENOMEM, 1),
    ("the tty device", "tty_port_register_device", ENOMEM, 1),
    ("/dev/offhookN", "misc_register", ENOMEM, 1),
)


# As PROBE, for a call's start.
START = (
    ("the modem's queues", KZALLOC, 0, 1),
    ("octets to the line", "__kfifo_alloc(_noprof)?", ENOMEM, 1),
    ("octets from the line", "__kfifo_alloc(_noprof)?", ENOMEM, 2),
    ("the modem end", VZALLOC, 0, 1),
    ("staging", VZALLOC, 0, 2),
    ("the thread", "kthread_create_on_node", ENOMEM, 1),
)


def build_fail_nth(kernel, build):
    folder = make_folder(os.path.join(build, "kernel", kernel.name + "-fail-nth"))
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fail_nth")
    subprocess.run(["cp", "-u", "--preserve=timestamps", *(os.path.join(here, n) for n in ("Kbuild", "fail_nth.c")), folder],
                   check=True)
    made = subprocess.run(["make", "-s", "-C", kernel.headers(), "M=" + folder, "modules"], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        raise Failure("fail_nth does not build:\n" + made.stdout + made.stderr)
    return os.path.join(folder, "offhook_fail_nth.ko")


def symbol_of(module, pattern):
    """@return the name of a function with which this module was linked"""
    shown = subprocess.run(["nm", "-u", module], capture_output=True, text=True, check=True).stdout.split()
    (symbol,) = [name for name in shown if re.fullmatch(pattern, name)]
    return symbol


def shortage_script(bench, kernel, kind):
    """@return shell commands that leave one line per step in /run/steps: phase, status, hits, remainders"""
    module, fail = bench.module(kernel), build_fail_nth(kernel, bench.options.build)
    script = f"""insmod $MODULE || exit 9
at=/sys/bus/pci/drivers/offhook; device=$(basename $(ls -d $at/0000:*))
set -- $(grep '^offhook ' /proc/modules); size=$2; from=$6
arm() {{ insmod {shlex.quote(fail)} symbol=$1 value=$2 nth=$3 from=$from size=$size || exit 8; }}
disarm() {{ hits=$(cat /sys/module/offhook_fail_nth/parameters/hits); rmmod offhook_fail_nth; }}
left() {{ ls -d /dev/offhook0 /dev/ttySM0 /sys/kernel/debug/offhook/offhook0 2>/dev/null | wc -l; }}
"""
    for _, pattern, value, nth in START:
        script += f"""arm {symbol_of(module, pattern)} {value} {nth}
$OFFHOOK modem kernel --context "OTHER 0" {"" if kind.v42 else "--no-v42 "}--seconds 1 --timeout 20 >/dev/null 2>/run/error; status=$?
disarm; grep -q "Cannot allocate memory" /run/error && told=1 || told=0; echo start $status $hits $told >>/run/steps
"""
    script += "echo $device >$at/unbind\n"
    for _, pattern, value, nth in PROBE:
        script += f"""arm {symbol_of(module, pattern)} {value} {nth}
echo $device >$at/bind; status=$?
disarm; echo probe $status $hits $(left) >>/run/steps
if [ -e $at/$device ]; then echo $device >$at/unbind; fi
"""
    return script + """cp /run/steps $KEEP
echo $device >$at/bind || exit 7
rmmod offhook || exit 6"""


def shortage(bench, kernel, keep):
    """@return "ok" and the number of steps, or the fault"""
    kind = Kind(v42=not bench.options.no_v42)
    said = bench.call(kernel, ["FIFO 50"], kind, keep, beside=shortage_script(bench, kernel, kind))
    verdict = bench.verdict(said, kind)
    with open(os.path.join(keep, "steps"), encoding="ascii") as file:
        lines = [line.split() for line in file]
    wrong = [] if verdict == "ok" else [verdict]
    steps = [("start", *step) for step in START] + [("probe", *step) for step in PROBE]
    if len(lines) != len(steps):
        wrong.append(f"{len(lines)} of {len(steps)} steps")
    for (phase, what, *_), (_, status, hits, last) in zip(steps, lines, strict=False):
        if hits != "1":
            wrong.append(f"{phase}, {what}: never asked for")
        elif status == "0":
            wrong.append(f"{phase}, {what}: goes on without")
        elif phase == "probe" and last != "0":
            wrong.append(f"{phase}, {what}: {last} things are left")
        elif phase == "start" and last != "1":
            wrong.append(f"{phase}, {what}: the program is not told")
    section = f"longest section {said['longest_section_us']:.1f} us, {' to '.join(said['longest_section'])}"
    return "; ".join(wrong) or f"ok, {len(PROBE)} steps of probe and {len(START)} of a call's start, then {kind}; {section}"
