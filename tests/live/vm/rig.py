# SPDX-License-Identifier: MIT
"""Common parts of bench.py's commands: the module for a kernel, `offhook line card` beside a VM, a call."""

import contextlib
import dataclasses
import filecmp
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import vm

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
import text_keys  # noqa: E402
# The names on the command line and those of the grammar (driver/context/context_spec.h).
CONTEXTS = {"irq": "INT", "softirq": "SOFTIRQ", "threaded": "THREADED", "thread": "FIFO 50", "reservation": "RES 8ms/16ms",
            "worker": "WORKER"}
# In line time: start-up, the file in both directions, and a reserve.
CALL_SECONDS = {"v90": 21, "v34": 16, "v32bis": 24, "v22bis": 80, "dmt": 2.5}
BLOCKS = {"v90": 80, "v34": 80, "v32bis": 80, "v22bis": 80, "dmt": 1104}  # in line time: 10 ms, 4 ms
# A card that receives 2208 kHz, on a loop for full rate (examples/adsl.toml); the pump uses the card's rate.
FULL_RATE = ["--set", "device=full-rate-dsl", "--set", "loop.cable=CSA 6"]
FILE_OCTETS = 16000
CELL_OCTETS = 52  # ATM cells above a DMT pump
# Messages of a kernel when a driver is faulty.
TROUBLE = re.compile(r"\bBUG:|WARNING:|Oops|general protection|Call Trace|rcu:.*stall|nobody cared|INFO: lockdep|"
                     r"locking correctness validator|non-static key|DEBUG_LOCKS_WARN_ON|ODEBUG:|"
                     r"scheduling while atomic|Unpatched return thunk|soft lockup|hung_task|tainted",
                     re.IGNORECASE)


class Failure(Exception):
    """The expected and the actual value."""


def chosen_cases(cases, only):
    """@param only  the name of one case, or None.  @return the names of the cases to run"""
    if only and only not in cases:
        raise SystemExit(f"--only {only}: expected one of {', '.join(cases)}")
    return [only] if only else list(cases)


def stage_module(build, folder):
    """The sources from which DKMS would build the module, in their present state."""
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run(["cmake", "--install", build, "--component", "kernel", "--prefix", stage], check=True,
                       stdout=subprocess.DEVNULL)
        (source,) = os.scandir(os.path.join(stage, "src"))
        # Removes old files and copies only new ones, so that make does only the necessary work.
        for path in glob.glob(folder + "/**/*.c*", recursive=True) + glob.glob(folder + "/**/*.h", recursive=True):
            if not os.path.exists(os.path.join(source.path, os.path.relpath(path, folder))):
                os.unlink(path)
        subprocess.run(["cp", "-r", "-u", "--preserve=timestamps", source.path + "/.", make_folder(folder)], check=True)


def build_module(kernel, build):
    """@return the module for this kernel"""
    folder = os.path.join(build, "kernel", kernel.name)
    stage_module(build, folder)
    if kernel.tests:  # next to the driver, and linked with it
        subprocess.run(["cp", "-r", "-u", "--preserve=timestamps", kernel.tests, folder + "/driver/linux"], check=True)
    made = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", kernel.headers(), "M=" + folder,
                           "CXX=" + ("ccache g++" if shutil.which("ccache") else "g++"), "modules"],
                          capture_output=True, text=True, check=False)
    said = [line for line in made.stderr.splitlines() if "BTF generation" not in line]
    if made.returncode != 0 or said:
        raise Failure("the module does not build without a word:\n" + made.stdout + "\n".join(said))
    return os.path.join(folder, "offhook.ko")


def make_folder(path):
    os.makedirs(path, exist_ok=True)
    return path


def read_events(offhook, log):
    """@return for each event of a log in order: ns, kind, argument"""
    said = subprocess.run([offhook, "report", "export", "--csv", "-", log], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines()[1:]:
        at, _, kind, _, _, argument = line.split(",")
        yield int(at), kind, argument


def instructions(offhook, log):
    """The cost of an interrupt without the pump, from the log of a machine whose clock counts instructions.
    @return medians: of the interrupt routine; of a service's own steps before and after the pump; of the pump with the copy
    of its output"""
    isr, own, pump, last = [], [], [], {}
    for at, kind, _ in read_events(offhook, log):
        last[kind] = at
        if kind == "isr_exit" and "isr_enter" in last:
            isr.append(at - last["isr_enter"])
        elif kind == "service_run_end" and {"service_run_begin", "service_begin", "output_ready"} <= last.keys():
            if last["service_run_begin"] <= last["service_begin"] <= last["output_ready"]:
                own.append(last["service_begin"] - last["service_run_begin"] + at - last["output_ready"])
                pump.append(last["output_ready"] - last["service_begin"])
    return [round(statistics.median(ns) / vm.INSTRUCTION_NS) if ns else 0 for ns in (isr, own, pump)]


def octets_to_send(n):
    return bytes((i * 2654435761 >> 13) & 0xff for i in range(n))


@dataclasses.dataclass(frozen=True)
class Kind:
    """Properties of a call that are the same in the kernel and in user space."""

    pump: str = "v34"
    v42: bool = True
    block: int = 0  # samples per interrupt; 0: the pump's usual number
    line_seconds: float = 0  # 0: the time that start-up and file take
    full_rate: bool = False  # for a DMT pump; otherwise G.lite
    far_training: float = 0  # additional training time of the far modem, in seconds

    def seconds(self):
        return (self.line_seconds or CALL_SECONDS[self.pump]) + self.far_training

    def octets(self):
        """@return the data sent in each direction; above a DMT pump, whole cells"""
        return octets_to_send(FILE_OCTETS // CELL_OCTETS * CELL_OCTETS if self.pump == "dmt" else FILE_OCTETS)

    def __str__(self):
        return self.pump + ("" if self.v42 else " N0") + (" full" if self.full_rate else "") + (" late" if self.far_training else "")

    def at_the_card(self):
        """@return arguments of `offhook line card` in addition to the file"""
        return ["--pump", self.pump, "--hash", str(self.seconds()), *([] if self.v42 else ["--no-v42"]),
                *(FULL_RATE if self.full_rate else []),
                *(["--far-training", str(self.far_training)] if self.far_training else [])]

    def in_the_kernel(self):
        """@return arguments of `offhook modem kernel` in addition to file and context"""
        return ["--pump", self.pump, "--seconds", str(self.seconds()), "--block", str(self.block or BLOCKS[self.pump]),
                *([] if self.v42 else ["--no-v42"])]


def reference(offhook, kind, sent):
    """@return the hash of the same call in user space."""
    done = subprocess.run([offhook, "line", "card", "--in-process", *kind.at_the_card(), "--send", sent,
                           "--block", str(kind.block or BLOCKS[kind.pump])],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["hash"]


class Ledger:
    """Results for this module and this program, so that an interrupted command can resume."""

    def __init__(self, bench, kernel, name):
        self.path = os.path.join(bench.options.build, "kernel", name + ".jsonl")
        digest = hashlib.sha256()
        for part in (bench.module(kernel), bench.offhook):
            with open(part, "rb") as file:
                digest.update(file.read())
        self.of = digest.hexdigest()

    def entries(self):
        """@return the results given to add() for the same module and program"""
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="ascii") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return [line["entry"] for line in lines if line["of"] == self.of]

    def add(self, entry):
        with open(self.path, "a", encoding="ascii") as file:
            file.write(json.dumps({"of": self.of, "entry": entry}) + "\n")


class Card:
    """`offhook line card` while a virtual machine runs."""

    def __init__(self, offhook, folder, *arguments):
        self.socket, self.ram = os.path.join(folder, "card"), tempfile.mktemp(prefix="offhook-", dir="/dev/shm")
        self.process = subprocess.Popen([offhook, "line", "card", self.socket, "--ram", self.ram, *arguments],
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        for _ in range(100):
            if os.path.exists(self.socket):
                return self
            time.sleep(0.05)
        raise Failure("offhook line card does not listen")

    def __exit__(self, *_):
        self.calls()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.ram)

    def calls(self):
        """@return its output for each call, after the machine has ended"""
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=10)
        return [json.loads(line) for line in out.splitlines()] if out else []


class Bench:
    def __init__(self, options):
        self.options = options
        self.offhook = os.path.join(options.build, "src", "offhook")
        self.modules = {}

    def module(self, kernel):
        if kernel.name not in self.modules:
            self.modules[kernel.name] = build_module(kernel, self.options.build)
        return self.modules[kernel.name]

    def in_vm(self, kernel, script, keep, card_arguments, beside=None, boot="", **more):
        """Runs a script in the machine. $MODULE and $OFFHOOK are set. @param beside  called when the card listens
        @return status, output of the card"""
        qemu = kernel.machine(self.options.fetch)
        whole = f"MODULE={shlex.quote(self.module(kernel))}; OFFHOOK={shlex.quote(self.offhook)}\n(" + script + \
            f'\n)\nstatus=$?\n{kernel.checks}\ndmesg >"$KEEP/dmesg"; exit $status'
        with Card(self.offhook, keep, *card_arguments) as card:
            if beside:
                beside()
            status = vm.run(kernel, qemu, ["sh", "-c", whole], keep, seconds=self.options.seconds,
                            card=(card.socket, card.ram), boot=f"{self.options.boot} {boot}", **more)
            calls = card.calls()
        if status in (vm.TIME_IS_UP, vm.NO_BOOT):
            raise Failure(f"the machine did not end by itself: status {status}")
        with open(os.path.join(keep, "dmesg"), encoding="utf-8", errors="replace") as file:
            trouble = [line for line in file.read().splitlines() if TROUBLE.search(line) and "loading out-of-tree" not in line
                       and "module verification failed" not in line]
        if trouble:
            raise Failure("the kernel says: " + "\n".join(trouble[:10]))
        return status, calls

    def call(self, kernel, contexts, kind, keep, more="", beside="", boot=""):
        """One call. @param beside  shell commands run before it  @return the outputs of the kernel's side and the card"""
        sent, far = (os.path.join(keep, name) for name in ("sent", "far-received"))
        with open(sent, "wb") as file:
            file.write(kind.octets())
        # Files of the call are first written to the guest's memory: the card does not wait for the host's disk.
        named = " ".join(shlex.quote(c) for c in contexts)
        script = f"""insmod $MODULE && $OFFHOOK modem kernel {shlex.join(kind.in_the_kernel())} --context {named} \
            --send {shlex.quote(sent)} --receive /run/near-received --log /run/call.ohlog {more} >/run/kernel.json
            status=$?; cp /run/near-received /run/call.ohlog /run/kernel.json $KEEP; cp /sys/kernel/debug/offhook/offhook0/latency $KEEP/latency 2>/dev/null
            rmmod offhook && exit $status"""
        script = f"mount -t debugfs none /sys/kernel/debug\n{beside}\n{script}"
        status, calls = self.in_vm(kernel, script, keep,
                                   [*kind.at_the_card(), "--send", sent, "--receive", far], boot=boot)
        return self.summary(status, keep, calls, sent)

    def summary(self, status, keep, calls, sent):
        """@return the outputs of the kernel's side and the card for the last call, and whether its files are whole"""
        try:
            with open(os.path.join(keep, "kernel.json"), encoding="ascii") as file:
                said = json.load(file)
        except (FileNotFoundError, json.JSONDecodeError) as error:
            raise Failure(f"status {status}, and no summary: {error}") from error
        said["undescribed"] = self.undescribed("kernel", said)
        for call in calls:
            said["undescribed"] += self.undescribed("card", call)
        said["card_says"] = calls[-1] if calls else {}
        said["status"] = status
        for name, arrived in (("to the kernel", "near-received"), ("from the kernel", "far-received")):
            path = os.path.join(keep, arrived)
            said[name] = os.path.exists(path) and filecmp.cmp(sent, path, shallow=False)
        return said

    def undescribed(self, name, said):
        """@return a document's differences from its description in `offhook help keys json`, one line each"""
        text = subprocess.run([self.offhook, "help", "keys", "json", name], capture_output=True, text=True, check=True).stdout
        return text_keys.differences("json", name, text_keys.documents(text)[name], set(text_keys.paths(said)))

    def verdict(self, said, kind):
        """@return "ok", or the fault"""
        wrong = list(said["undescribed"])
        if said["status"] != 0:
            wrong.append(f"status {said['status']}")
        for direction in ("to the kernel", "from the kernel"):
            if not said[direction]:
                wrong.append(f"the file {direction} differs")
        for what in ("overrun", "underrun", "samples_late", "samples_filled_in", "bad", "log_lost"):
            if said[what] != 0:
                wrong.append(f"{what} {said[what]}")
        with tempfile.NamedTemporaryFile() as file:
            file.write(kind.octets())
            file.flush()
            wanted = reference(self.offhook, kind, file.name)
        if said["card_says"].get("hash") != wanted:
            wrong.append(f"samples hash {said['card_says'].get('hash')}, in user space {wanted}")
        return "; ".join(wrong) or "ok"
