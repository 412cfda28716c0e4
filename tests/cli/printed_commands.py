#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command that README, docs and --help print, exactly as printed, in a copy of the git tree.

    printed_commands.py fast|long|list OFFHOOK SOURCE [--only PATTERN]

The commands are read from the texts: the indented lines of README.md and docs/*.md, and the lines below "Examples:" in
the help of each command. `./dev offhook` and `offhook` are OFFHOOK. Commands that take minutes have the label long.
Commands that need a machine, a right or a partner are in ELSEWHERE with the reason.

A ```text block directly after commands is the output of the last one, which must print each of these lines in
order; "..." matches anything, and blanks match blanks.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ELSEWHERE = {
    r"\./dev (demo|test)\b": "builds the tree; CI runs it",
    r"\./dev package": "compiles the tree for minutes: packages.build, label long",
    r"\./dev interop": "makes calls for minutes: cli.interop_test",
    r"tests/bench/advice_pairs": "simulates ten hours for each pair of a device and a host",
    r"tests/decode/signals": "decodes hundreds of signals: decode.signals, label long",
    r"tests/decode/score_calls": "needs recorded calls, and prints a table to read",
    r"tests/decode/evening": "decodes a day: decode.evening, label long",
    r"tests/network/pool_load": "makes 100 live calls: long.pool_load",
    r"tests/bench/network_calls": "simulates calls of five minutes",
    r"\./dev vm ": "boots a virtual machine: label vm-matrix",
    r"modprobe|offhook modem kernel|kernel:0|--host kernel": "needs the kernel module: label vm",
    r"qemu-system|offhook line card ": "needs a virtual machine: label vm",
    r"^sudo |measure cause": "needs root",
    r"/(run|tmp)/card|minicom|out/live": "needs /run and /dev, and several terminals: live.modem_call runs these",
    r"offhook fax ": "needs a line in real time: live.fax",
    r"decode fax(\.wav|es) ": "needs recorded faxes: DecodeFax in unit_src",
    r"tests/install/component_test": "builds in a chroot of Debian 12 for ten minutes",
    r"tests/live/": "is a test, or prints a table to read: label live",
    r"measure bank": "real time for a minute: live.bank",
    r"measure (latency|stolen|kernel|cost|host|device|batch)(?!.*--load help)|modem null": "takes real time: cli.measure_test, cli.live_report_test",
    r"--plugin|^(cc|c\+\+) .*-shared": "needs plug-ins and an installation: the test install runs the tutorials",
    r"compare (before\.json|calls/modem-a|out/map )": "needs two measurements, sweeps or folders of calls: cli.compare_test",
    r"--figures ": "needs Chromium: cli.schedule_test",
    r"cmake --install|^cc ": "needs a prefix of its own: the test install does both",
    r"rtp::|audiosocket:|dahdi:|sip:": "needs a far end on the network: label network",
    r"unix:PATH|unix:/tmp/modem": "needs another modem program: cli.far_end_test",
    r"advise \S+ mine\.toml": "needs what measure host-profile writes: cli.measure_test",
    r"cyclictest\.(hist|json)": "needs a measurement of cyclictest: LatencyHistogram in unit_traces reads such files",
    r"completion fish": "needs fish: cli.help_test",
    r"man -l -": "needs man-db: cli.help_test",
    r"radio\S*\.toml": "needs a build with the radio: cli.radio_liquid_test",
}
LONG = (
    r"reproduce(?! (--list|jones\.table3$))|device-map|g-lite-map|dsl-loops|law --check|--verify|offhook demo|--sensitivity"
    r"|--held-out|--perturb"
    r"|transfer\.bytes=3000000|v90-transfer|reservation-map|sweep (run|merge)|--seconds 600|--hours 24|law .*--confirm"
)
# What must exist first, and the command that creates it.
FIRST = (
    (r"law mine\.toml", "offhook measure cost --device examples/g-lite.toml --seconds 2 --profile mine.toml"),
    (r"out/res-2-8\b", "offhook run examples/res-2-8.toml --out out/res-2-8"),
    (r"out/int\b", "offhook run examples/int.toml --out out/int"),
    (r"sweep (run|merge)", "offhook sweep plan examples/reservation-map.toml --shards 16 --out out/shards"),
    (
        r"sweep merge",
        "for shard in $(seq 1 16); do offhook sweep run out/shards --shard $shard/16 --json >/dev/null; done",
    ),
)
# Commands whose verdict is not "sufficient"; all others end with 0.
STATUS_2 = (
    r"--far-end unix:far-end\.socket",
    r"THR 8",
    r"RES 1/8 strict",
    r"advise g-lite win98-games --verify",
    r"stolen-time\.toml",
    r"--held-out",
    r"--perturb",
    r"transfer\.bytes=3000000",
)


def commands_of(lines):
    """Joins continued lines, and drops comments after two blanks."""
    joined = ""
    for line in lines:
        joined = f"{joined} {line.strip()}".strip()
        if joined.endswith("\\"):
            joined = joined[:-1].strip()
            continue
        command = re.sub(r"\s{2,}#.*| # .*$", "", joined)
        if re.match(
            r"(\./dev|offhook|examples/|tests/|cmake|cc|cmp|sudo|modprobe|minicom|eval|qemu-system)\S*\s", command
        ):
            yield command
        joined = ""


def pages(source):
    for page in ("README.md", *sorted(p.relative_to(source).as_posix() for p in source.glob("docs/**/*.md"))):
        yield page, (source / page).read_text()


def screens(source):
    """@return {command: lines that it prints}"""
    found = {}
    for _, text in pages(source):
        for block, screen in re.findall(r"^((?:    .*\n)+)\n*```text\n((?:(?!```).*\n)*)```$", text, re.MULTILINE):
            found[list(commands_of(block.splitlines()))[-1].removeprefix("./dev ")] = screen.splitlines()
    return found


def not_on_screen(expected, printed):
    """@return the first line of `expected` that is not in `printed` after the previous ones, or nothing"""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in expected:
        pattern = re.escape(" ".join(line.split())).replace(r"\.\.\.", ".*")
        if not any(re.fullmatch(pattern, one) for one in lines):
            return line
    return None


def in_pages(source):
    for page, text in pages(source):
        lines = text.splitlines()
        for command in commands_of(line for line in lines if line.startswith("    ")):
            yield page, command


def in_help(offhook):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([offhook, "help", "man", "--out", folder], check=True)
        for page in sorted(pathlib.Path(folder).glob("*.1")):
            text = page.read_text().replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
            for block in re.findall(r"^\.SH EXAMPLES\n\.PP\n\.nf\n((?:  .*\n)+)", text, re.MULTILINE):
                for command in commands_of(block.splitlines()):
                    yield f"{page.stem.replace('-', ' ')} --help", command


def kind(command):
    for pattern, why in ELSEWHERE.items():
        if re.search(pattern, command):
            return why
    return "long" if re.search(LONG, command) else "fast"


def copy_of(source, offhook, folder):
    """The files of the git tree, with `offhook` in the path, and a `./dev` that runs the program without a build."""
    files = subprocess.run(["git", "-C", source, "ls-files", "-z", "README.md", "LICENSE", "docs", "examples", "traces"],
                           capture_output=True, text=True, check=True).stdout.split("\0")  # fmt: skip
    for name in filter(None, files):
        if (source / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, folder / name)
    (folder / "bin").mkdir()
    (folder / "bin/offhook").symlink_to(offhook)
    (folder / "dev").write_text('#!/bin/sh\n[ "$1" = offhook ] && shift && exec offhook "$@"\nexit 1\n')
    (folder / "dev").chmod(0o755)


def run(command, folder, screen):
    """@return the fault, or nothing"""
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, check=False,
                          text=True, errors="replace", timeout=3000)  # fmt: skip
    expected = 2 if any(re.search(pattern, command) for pattern in STATUS_2) else 0
    if done.returncode != expected:
        return f"ended with {done.returncode}, expected {expected}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
    if "\\x0a" in done.stdout + done.stderr:
        return f"a table in one line:\n{done.stdout[-500:]}"
    missing = not_on_screen(screen, done.stdout)
    if missing is not None:
        return f"did not print the page's line '{missing}':\n{done.stdout[:3000]}"
    return None


def run_all(found, offhook, source):
    failures, ran, shown = 0, set(), screens(source)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy_of(source, offhook, folder)
        background = []
        for where, command in found:
            todo = [first for pattern, first in FIRST if re.search(pattern, command)] + [command]
            for one in todo:
                if one.removeprefix("./dev ") in ran:
                    continue
                ran.add(one.removeprefix("./dev "))
                if one.endswith("&"):  # until the folder is left
                    background.append(subprocess.Popen(one.rstrip("& ").split(), cwd=folder, stdout=subprocess.DEVNULL))
                    continue
                begin = time.monotonic()
                wrong = run(one, folder, shown.get(one.removeprefix("./dev "), ()))
                failures += wrong is not None
                print(f"{'FAILED' if wrong else 'ok':6} {time.monotonic() - begin:6.1f} s  {where}: {one}", flush=True)
                if wrong:
                    print(wrong, flush=True)
        for process in background:
            try:
                if process.wait(10) != 0:
                    failures += 1
                    print(f"FAILED: {process.args} ended with {process.returncode}")
            except subprocess.TimeoutExpired:
                process.kill()
                failures += 1
                print(f"FAILED: {process.args} did not end when its partner had")
    return failures


def main():
    what, offhook, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    found = [*in_pages(source), *in_help(offhook)]
    if what == "list":
        for where, command in found:
            print(f"{kind(command):12.60} | {where} | {command}")
        return
    # Detects a text that is no longer read, and a reason that is not needed.
    if len(found) < 100:
        sys.exit(f"only {len(found)} commands were found in README, docs and --help; expected over 100")
    idle = [p for p in (*ELSEWHERE, *STATUS_2, *(p for p, _ in FIRST)) if not any(re.search(p, c) for _, c in found)]
    if idle:
        sys.exit(f"these patterns match no command any more: {idle}")
    mine = [(where, command) for where, command in found if kind(command) == what]
    if "--only" in sys.argv:
        mine = [(w, c) for w, c in mine if re.search(sys.argv[sys.argv.index("--only") + 1], c)]
    failures = run_all(mine, offhook, source)
    print(f"{len(mine)} commands by label {what}, of {len(found)} printed; {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
