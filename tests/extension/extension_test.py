#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds one of each, like a new contributor: a pump, a card, a context, a policy, an AT command, a claim.

    extension_test.py SOURCE BUILD Copies the tree, adds the files and lines below at the places
that ARCHITECTURE.md names, builds the program and uses the additions. Counts the changes: each
addition has its own folder or files, and one line elsewhere. The row of a new folder in
ARCHITECTURE.md, which tests/layering requires, does not count, because it is a description.

    extension_test.py SOURCE Checks only whether the
places of the lines still exist, which needs no build.
"""
import os, pathlib, select, shutil, subprocess, sys, time

SOURCE = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build").resolve() / "tests" / "extension"
TREE = WORK / "tree"
PROGRAM = TREE / "build/release/src/offhook"


class Addition:
    """An addition: a file of this folder and its place, or lines after other lines, each unique in its file."""

    def __init__(self, what, files, lines):
        self.what, self.files, self.lines = what, files, lines

    def apply(self):
        for name, place in self.files.items():
            place = TREE / place
            place.parent.mkdir(exist_ok=True)
            if place.exists():
                sys.exit(f"{place} is there already")
            shutil.copy(HERE / name, place)
        for name, behind, line in self.lines:
            path = TREE / name
            path.write_text(path.read_text().replace(behind, behind + line))

    def misplaced(self):
        counts = [(name, (SOURCE / name).read_text().count(behind), behind) for name, behind, _ in self.lines]
        return [f"{name}: {n} times {behind!r}; expected once" for name, n, behind in counts if n != 1]

    def cost(self):
        return f"{len(self.files)} new, {len(self.lines)} lines in {len({name for name, _, _ in self.lines})} files"


ADDITIONS = [
    Addition("pump", {"pump/modulation.h": "dsp/extension/modulation.h", "pump/pump.cpp": "dsp/extension/pump.cpp"}, [
        ("dsp/CMakeLists.txt", "  USES dsp/pump dsp/v8 dsp/v22 dsp/v32 dsp/v34/session dsp/v90/session)\n",
         "offhook_module(dsp/extension FREESTANDING KIND modulation ROWS kExtension USES dsp/modulation)\n")]),
    Addition("card", {"card/extension_card.cpp": "driver/extension/extension_card.cpp"}, [
        ("driver/CMakeLists.txt", "    USES driver/base driver/core dsp/blocks LINK PkgConfig::SNDFILE PkgConfig::ALSA PkgConfig::PORTAUDIO Threads::Threads)\n",
         "offhook_module(driver/extension KIND card ROWS kExtensionCards USES driver/live)\n")]),
    Addition("context", {"context.cpp": "hostsim/host/extension_context.cpp"}, [
        ("hostsim/host/context_table.cpp", '  ROW(make_deferred_context, "DPC")      \\\n',
         '  ROW(make_extension_context, "EXTENSION", "extension", ContextArgument::kNone, 0, 0, "", "as the interrupt routine") \\\n')]),
    Addition("scheduling policy", {"policy.cpp": "hostsim/sched/extension.cpp"}, [
        ("hostsim/sched/scheduler.cpp", "ROW(windows_nt_scheduler) ", "ROW(extension_scheduler) ")]),
    Addition("AT command", {}, [
        ("driver/tty/at_commands.cpp", '    {"GSN", "0", "6.1.7", "serial number"},', ' {"GOI", "extension", "6.1.8", "object identifier"},')]),
    Addition("published claim", {"claim.toml": "traces/data/published/extension.toml", "claim.cpp": "src/lab/reproduce/extension.cpp"}, [
        ("src/lab/reproduce/registry.cpp", '"The card\'s rings and rates")', '  X(extension_ring, "extension.ring", 0, "A ring") ')]),
]


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=3000, **options)
    if done.returncode != status:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stdout[-4000:]}{done.stderr}exit status {done.returncode}")
    return done.stdout + done.stderr


def expect(what, true):
    print(("ok      " if true else "FAILED  ") + what, flush=True)
    if not true:
        sys.exit(1)


def copy_tree():
    shutil.rmtree(TREE, ignore_errors=True)
    files = [n for n in run("git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard").splitlines() if (SOURCE / n).is_file()]
    for name in files:
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, TREE / name)


def said_by_modem(*lines):
    """`offhook modem` on the new card, and its answers to these lines."""
    link = WORK / "tty"
    modem = subprocess.Popen([PROGRAM, "modem", "extension", "--tty", link], cwd=WORK, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(100):
            if link.exists() or modem.poll() is not None:
                break
            time.sleep(0.1)
        if not link.exists():
            modem.kill()
            sys.exit(f"offhook modem extension: {modem.communicate()[1]}")
        line = os.open(link, os.O_RDWR | os.O_NOCTTY)
        answer = b""
        for text in lines:
            os.write(line, text.encode() + b"\r")
            while not answer.endswith(b"OK\r\n") and select.select([line], [], [], 20)[0]:
                answer += os.read(line, 1000)
        os.close(line)
        return answer.decode()
    finally:
        modem.terminate()
        modem.wait(timeout=30)


misplaced = [place for addition in ADDITIONS for place in addition.misplaced()]
if misplaced:
    sys.exit("\n".join(misplaced))
if len(sys.argv) < 3:
    sys.exit(0)
copy_tree()
for addition in ADDITIONS:
    addition.apply()
    print(f"        {addition.what}: {addition.cost()}", flush=True)
run("cmake", "--preset", "release", "-DOFFHOOK_TESTS=OFF", cwd=TREE)
run("nice", "cmake", "--build", TREE / "build/release", "--target", "offhook", "--parallel", "2")
expect("the tree with all six builds", True)

call = ["run", TREE / "examples/int.toml", "--set", "transfer.bytes=2000", "--out"]
said = run(PROGRAM, *call, "pump", "--set", "pump.modem=extension", cwd=WORK)
expect("a call with the pump: " + said.splitlines()[0], "2,000 of 2,000" in said or "whole file arrived" in said)
run(PROGRAM, *call, "context", "--context", "EXTENSION", cwd=WORK)
expect("a call in the context WALK", 'context = "EXTENSION"' in (WORK / "context/scenario.toml").read_text() or
       'kind = "extension"' in (WORK / "context/scenario.toml").read_text())
run(PROGRAM, *call, "policy", "--context", "THR 24", "--set", "host.scheduler=extension", cwd=WORK)
expect("a call under the scheduler extension", 'scheduler = "extension"' in (WORK / "policy/scenario.toml").read_text())
expect("offhook devices lists the card", "extension" in run(PROGRAM, "devices"))
expect("a modem on the card answers the AT command", "extension" in said_by_modem("AT+GOI"))
expect("offhook reproduce has the claim", "extension.ring" in run(PROGRAM, "reproduce", "extension.ring", "--out", "claim", cwd=WORK))
expect("each is a folder or files of its own, and one line where it is named: " +
       ", ".join(f"{a.what} {len(a.lines)}" for a in ADDITIONS), all(len(a.lines) == 1 for a in ADDITIONS))
shutil.rmtree(TREE)
