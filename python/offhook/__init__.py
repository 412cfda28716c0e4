# SPDX-License-Identifier: MIT
"""Soft modems and other soft devices in any processing context, simulated: the features of `offhook` in Python.

    import offhook

    call = offhook.run({"context": "RES 2/8", "load.spinner": True, "transfer.bytes": 20000})
    call["verdict"]                              # "sufficient"
    call.events().query("kind == 'tx_underrun'") # pandas
    offhook.advise("g-lite", "nt2000-p2-450")["headline"]

The figures are those of the program's JSON and CSV; docs/formats.md lists their columns. An error of the program becomes
an offhook.Error with its message. The verdict "insufficient" is a result, not an error.
"""

import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pandas

from . import _offhook

__all__ = [
    "Call",
    "Error",
    "__version__",
    "advise",
    "decode",
    "law",
    "main",
    "mttf",
    "policy",
    "read_events",
    "run",
    "schedule",
    "sweep",
]

__version__ = _offhook.__version__

_HERE = pathlib.Path(__file__).resolve().parent
_policies = {}  # name: factory of a thread's policy; read by python/module.cpp


class Error(RuntimeError):
    """An error of the program: its message, with file, line and key if known."""


def program():
    """@return the program to run: that of this package, else the one in PATH  @raise Error if there is none"""
    inside = _HERE / "program/bin/offhook"
    found = str(inside) if inside.exists() else shutil.which("offhook")
    if found is None:
        raise Error("the program offhook is not installed; expected it in PATH")
    return found


def _ask(*arguments):
    """Run the program. @return its standard output; status 2, a verdict, is not an error  @raise Error"""
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    return _answer(done.returncode, done.stdout, done.stderr)


def _answer(status, stdout, stderr):
    if status not in (0, 2):
        lines = stderr.strip().splitlines()
        raise Error(lines[-1].removeprefix("offhook: error: ") if lines else f"ended with {status}")
    return stdout


def _ask_with_policies(*arguments):
    """As _ask(), with the policies of policy(). If there are any, the program runs in a fork of this process."""
    if not _policies:
        return _ask(*arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = main(arguments)
            except BaseException as error:  # the fork must not return into the parent's code
                os.write(2, f"offhook: error: {type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(status)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except KeyboardInterrupt:  # the child also received the signal
            os.waitpid(child, 0)
            raise
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    return _answer(status, *said)


def _settings(settings):
    for key, value in (settings or {}).items():
        yield "--set"
        yield f"{key}={value if isinstance(value, str) else json.dumps(value)}"


class _Folder:
    """The folder of a run: the caller's, or a temporary one that is removed with the last reference to it."""

    def __init__(self, out):
        self._temporary = None if out else tempfile.TemporaryDirectory(prefix="offhook-")
        self.path = pathlib.Path(out or self._temporary.name)


class Call(dict):
    """The summary of a call (summary.json), with its folder."""

    def __init__(self, summary, folder):
        super().__init__(summary)
        self._folder = folder

    @property
    def folder(self):
        return self._folder.path

    def events(self):
        """The event log: time_ns, cpu, kind, id, name, argument."""
        return read_events(self.folder)


def run(scenario=None, *, context=None, seed=None, set=None, file=None, out=None):
    """Runs one call, as `offhook run` does.

    `host.scheduler` may be the name of a policy that policy() registered.

    @param scenario  a file, or a dict of keys (`offhook help keys scenario`): {"context": "THR 24", "load.spinner": True}
    @param set       keys that override those of the scenario
    @param out       output folder; without it, a temporary folder that lives as long as the result
    """
    folder = _Folder(out)
    settings = dict(set or {})
    arguments = ["--json", "--out", folder.path]
    for name, value in (("--context", context), ("--seed", seed), ("--file", file)):
        if value is not None:
            arguments += [name, value]
    if scenario is not None and not isinstance(scenario, dict):
        return Call(json.loads(_ask_with_policies("run", scenario, *arguments, *_settings(settings))), folder)
    with tempfile.TemporaryDirectory(prefix="offhook-") as empty:  # the defaults and the keys that override them
        (pathlib.Path(empty) / "call.toml").touch()
        said = _ask_with_policies("run", f"{empty}/call.toml", *arguments, *_settings({**(scenario or {}), **settings}))
    return Call(json.loads(said), folder)


def read_events(path):
    """The event log of a folder or an .ohlog file as a DataFrame: time_ns, cpu, kind, id, name, argument."""
    return pandas.read_csv(io.StringIO(_ask("report", "export", "--csv", path)))


def _run_shard(folder, shard, shards):
    _ask("sweep", "run", folder, "--shard", f"{shard}/{shards}", "--threads", 1, "--json")


def _sweep_on(client, grid, folder, shards):
    """Runs the shards on a dask.distributed.Client. If a worker dies, another one runs its shard again."""
    if shards is None:
        shards = 4 * max(1, sum(client.nthreads().values()))
    _ask("sweep", "plan", grid, "--shards", shards, "--out", folder, "--json")
    numbers = range(1, shards + 1)
    client.gather(client.map(_run_shard, [str(folder)] * shards, numbers, [shards] * shards, pure=False, retries=3))
    _ask("sweep", "merge", folder, "--json")
    return pandas.read_csv(folder / "results.csv")


def sweep(grid, *, out=None, threads=None, client=None, shards=None):
    """Runs a grid file, as `offhook sweep` does. @return one row per run: axes, repeat, seed and every figure

    @param client  a dask.distributed.Client: its workers run the shards, and the result is identical. They need this
        package and access to `out`, which is mandatory with a client
    @param shards  number of shards with a client (default: four per thread of a worker)
    """
    if client is None and shards is not None:
        raise Error("shards= has no effect without client=")
    if client is not None and threads is not None:
        raise Error("threads= has no effect with client=: a shard takes one thread of a worker")
    if client is not None:
        if out is None:
            raise Error("a sweep by a client has no folder; expected out=, a folder that every worker can access")
        return _sweep_on(client, grid, pathlib.Path(out).resolve(), shards)
    folder = _Folder(out)
    arguments = ["sweep", grid, "--json", "--out", folder.path]
    if threads is not None:
        arguments += ["--threads", threads]
    _ask_with_policies(*arguments)
    return pandas.read_csv(folder.path / "results.csv")


def law(device, *, tick_hz=None, x_max=None, buffers=None):
    """Computes the sufficient reservations of a device: boundary, gap and share (`offhook advise law --json`)."""
    arguments = ["advise", "law", device, "--json"]
    for name, value in (("--tick-hz", tick_hz), ("--x-max", x_max), ("--buffers", buffers)):
        if value is not None:
            arguments += [name, value]
    return json.loads(_ask(*arguments))


def mttf(source, *, context="DPC", buffers=(2, 3, 4, 6), buffer_ms=(4, 6, 8, 10, 12, 16), hours=100, seed=1, unit_us=1):
    """Mean time to an underrun on a host that is described by its latencies. @return one row per buffering"""
    said = _ask("mttf", source, "--context", context, "--buffers", ",".join(map(str, buffers)), "--buffer-ms",
                ",".join(map(str, buffer_ms)), "--hours", hours, "--seed", seed, "--unit-us", unit_us, "--quiet", "--json")  # fmt: skip
    return pandas.DataFrame(json.loads(said)["bufferings"])


def advise(device, host=None, *, trace=None, set=None, seconds=None, repeats=None):
    """Where a device's work should run on a host, with how many buffers, and why (`offhook advise --json`)."""
    arguments = ["advise", device, *([host] if host else []), "--json", *_settings(set)]
    for name, value in (("--trace", trace), ("--seconds", seconds), ("--repeats", repeats)):
        if value is not None:
            arguments += [name, value]
    return json.loads(_ask(*arguments))


def decode(recording):
    """Decodes a recorded call (docs/decode-json.md)."""
    return json.loads(_ask("decode", recording, "--quiet", "--json"))


def policy(name, factory):
    """Registers a scheduling policy as a kind of `schedule()`, and as host.scheduler of `run()`, `sweep()` and `main()`.

    @param factory  called with the priority of a thread; returns that thread's policy, an object. Its methods, with
        times in ns: `standing(now)` (mandatory; the smallest value runs), `begin_job(now, release, deadline, woken)`,
        `charge(ran)`, `update(now)` (true: the thread moves behind its equals), `allowance()` (running time until the
        next update), `next_change(now)` (time at which the standing of a waiting thread changes), `sleep(now)`,
        `stopped()`. None means "never".
    """
    if name not in _policies:
        _offhook.register_policy(name)
    _policies[name] = factory


def schedule(system):
    """Simulates a system without a modem. @param system a file, or a dict (`offhook help keys system`)

    @return (events: time_ns, cpu, entity, event; one row per entity: jobs, misses, response times, CPU time)
    """
    if isinstance(system, dict):
        text, name = json.dumps(system), "system"
    else:
        text, name = pathlib.Path(system).read_text(), str(system)
    try:
        csv, summary = _offhook.schedule(text, name)
    except _offhook.SystemError as error:
        raise Error(str(error)) from None
    return pandas.read_csv(io.StringIO(csv)), pandas.DataFrame(json.loads(summary)["entities"])


def main(arguments):
    """Runs the program in this process, with policy()'s policies. It prints as usual. @return its exit status"""
    data = _HERE / "program/share/offhook"
    if data.exists():
        os.environ.setdefault("OFFHOOK_DATA_DIR", str(data))
    return _offhook.run_program([str(a) for a in arguments])
