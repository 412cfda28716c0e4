#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a sweep with Debian's Slurm on one node: the bytes must equal the local sweep's, even after a kill.

slurm_test.py OFFHOOK       skipped (77) without slurmctld, slurmd and sbatch, or without root
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SHARDS = 6
GRID = """repeats = 6
[scenario]
pump.kind = "cost-profile"
load.spinner = true
transfer.bytes = 20000
transfer.time_limit_s = 60
[axes]
context = ["INT", "THR 24", "RES 2/8"]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def configuration(folder):
    host = socket.gethostname().split(".")[0]
    return f"""ClusterName=offhook
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@contextlib.contextmanager
def slurm(folder):
    """Starts one controller and one node in the folder. @return the environment for their clients"""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    file = folder / "slurm.conf"
    file.write_text(configuration(folder))
    environment = {**os.environ, "SLURM_CONF": str(file)}
    daemons = []
    for name in ("slurmctld", "slurmd"):
        log = (folder / f"{name}.log").open("w")
        daemons.append(subprocess.Popen([name, "-D", "-f", file], stdout=log, stderr=log, env=environment))
    try:
        for _ in range(600):
            node = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
            if node.stdout.strip() == "idle":
                break
            time.sleep(0.1)
        else:
            sys.exit("FAILED  the node is not idle after a minute: " + (folder / "slurmctld.log").read_text()[-500:])
        yield environment
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait()


def tasks_of(sweep):
    """Process ids of the running shards."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes().split(b"\0")
            if b"--shard" in words and str(sweep).encode() in words:
                yield int(entry.parent.name)


def kill_one(sweep, job):
    while job.poll() is None:
        for pid in tasks_of(sweep):
            os.kill(pid, signal.SIGKILL)
            return True
        time.sleep(0.002)
    return False


def main():
    offhook = pathlib.Path(sys.argv[1]).resolve()
    missing = [name for name in ("slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print("skipped: " + (f"no {', '.join(missing)} (Debian's slurm-wlm)" if missing else "slurmd needs root"))
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "grid.toml").write_text(GRID)
        local, swept = folder / "local", folder / "on slurm"
        subprocess.run([offhook, "sweep", "grid.toml", "--out", local, "--json"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([offhook, "sweep", "plan", "grid.toml", "--shards", str(SHARDS), "--out", swept], cwd=folder, check=True)
        with slurm(folder) as environment:
            submit = ["sbatch", "--wait", swept / "slurm.sh"]
            environment["OFFHOOK"] = str(offhook)
            job = subprocess.Popen(submit, env=environment, cwd=folder)
            killed = kill_one(swept, job)
            status = job.wait()
            print(f"{'ok      ' if killed and status != 0 else 'FAILED  '}one task was killed: sbatch ends with {status}")
            again = subprocess.run(submit, env=environment, cwd=folder, check=False).returncode
            print(f"{'ok      ' if again == 0 else 'FAILED  '}submitted again: {again}")
        subprocess.run([offhook, "sweep", "merge", swept, "--json"], check=True, stdout=subprocess.DEVNULL)
        same = all((local / f).read_bytes() == (swept / f).read_bytes() for f in ("results.csv", "results.json", "report.html"))
        print(f"{'ok      ' if same else 'FAILED  '}{SHARDS} shards on slurm give the bytes of the local sweep")
        sys.exit(0 if killed and status != 0 and again == 0 and same else 1)


if __name__ == "__main__":
    main()
