#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The systemd unit and the udev rule: a modem as a service, and one that starts when a USB sound card is plugged in.
Also malicious configuration files and device ids, and a pool of answering modems as a service.

Usage: system_test.py OFFHOOK service|attack|pool. It writes to /etc and /usr/bin, so it runs only in the virtual machine
(`./dev vm --systemd`), where QEMU plugs in the sound card. Skipped (77), with the reason, elsewhere and without udev.
"""
import grp
import hashlib
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import uuid

from live import fail, hear, say, wait_for

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../network"))
from network import Exchange, NetworkBench, free_ports, settle  # noqa: E402

SYSTEM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system")


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


if "OFFHOOK_VM" not in os.environ:
    skip("not in the virtual machine")
os.environ["PATH"] += ":/usr/sbin:/sbin"
if not shutil.which("udevadm") or not os.path.exists("/lib/systemd/systemd-udevd"):
    skip("udev is not installed")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{command}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def active(unit):
    return subprocess.run(["systemctl", "is-active", unit], capture_output=True, text=True, check=False).stdout.strip()


def usable(tty):
    """It has a serial port's group and mode, and a modem behind it."""
    wait_for(lambda: os.path.exists(tty), tty, 60)
    wait_for(lambda: stat.S_IMODE(os.stat(tty).st_mode) == 0o660, tty + "'s mode", 20)
    if grp.getgrgid(os.stat(tty).st_gid).gr_name != "dialout":
        fail(tty + " is not dialout's")
    terminal = os.open(tty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    say(terminal, b"ATI3", b"Offhook soft modem", 20)
    os.write(terminal, b"ATX3S7=1DT5\r")  # until the end of a call, as the service's user may
    hear(terminal, b"NO CARRIER", 30)
    os.close(terminal)


# Root's configuration file gives one card, one context and words for options; no shell reads it. What the
# service may write is its own; the rest of the machine is unchanged.
OWNED = "/run/owned"
PRECIOUS = ("/etc/passwd", "/etc/shadow", "/etc/offhook/plain.conf", "/usr/bin/offhook", "/etc/udev/rules.d/70-offhook.rules")
CONFIGURATIONS = {
    "a command behind the card": f"CARD=null;touch {OWNED}\n",
    "a command in the card": f"CARD=null$(touch {OWNED})\n",
    "a command in quotation marks": f"CARD=\"null`touch {OWNED}`\"\n",
    "a command behind the context": f"CARD=null\nCONTEXT=FIFO 50|touch {OWNED}\n",
    "a command behind the options": f"CARD=null\nOPTIONS=; touch {OWNED}\n",
    "files of the system as a recorded line": "CARD=file:/etc/shadow,/etc/passwd\n",
    "a file of the system to be written": f"CARD=file:/dev/zero,{OWNED}\n",
    "a socket of the system": "CARD=unix:/run/systemd/private\n",
    "an output folder of the system": "CARD=null\nOPTIONS=--out /etc/offhook/out\n",
    "another terminal's name": "CARD=null\nOPTIONS=--tty /etc/passwd\n",
    "no card": "CONTEXT=FIFO 50\n",
    "no text": bytes(range(256)) * 4000,
    "a megabyte": "CARD=" + "x" * 1_000_000 + "\n",
}


def digests():
    """The contents, owners and permissions of the system's files."""
    def of(path):
        status = os.stat(path)
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(), status.st_mode, status.st_uid, status.st_gid
    return {path: of(path) for path in PRECIOUS}


def held(instance, before):
    """After a stop, the unit has left no name in /dev, no file of a command, no changed system file."""
    unit = f"offhook-modem@{instance}"
    subprocess.run(["systemctl", "stop", unit], capture_output=True, check=False)
    if os.path.lexists(f"/dev/ttySM-{instance}"):
        fail(f"{unit}: its name in /dev is left")
    if os.path.lexists(OWNED) or os.path.lexists("/etc/offhook/out"):
        fail(f"{unit}: a file was written outside")
    if digests() != before:
        fail(f"{unit}: a file of the system has changed")


def as_user(user, script):
    """@return the shell's exit status, as a user without further groups"""
    return subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "sh", "-c", script],
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False).returncode


def another_user():
    """An unrelated user against a running modem; then one that has taken over the service's user."""
    before = digests()
    run("systemctl", "start", "offhook-modem@plain")
    usable("/dev/ttySM-plain")
    process = run("systemctl", "show", "--value", "-p", "MainPID", "offhook-modem@plain").strip()
    for what in ("echo ATZ >/dev/ttySM-plain", "cat </dev/ttySM-plain", "rm -f /dev/ttySM-plain",
                 "ln -sfn /etc/passwd /dev/ttySM-plain", "touch /run/offhook-plain/new", "rm -f /run/offhook-plain/tty",
                 "ln -sfn /etc/passwd /run/offhook-plain/tty", "echo CARD=null >/etc/offhook/plain.conf",
                 "echo CARD=null >/etc/offhook/another.conf", f"kill -STOP {process}", f"kill -KILL {process}",
                 f"head -c 1 /proc/{process}/environ", f"head -c 1 /proc/{process}/mem", f"ls /proc/{process}/fd",
                 f"chrt -f -p 1 {process}", "systemctl stop offhook-modem@plain", "systemctl start offhook-modem@Audio"):
        if as_user(65534, what) == 0:
            fail(f"another user may: {what}")
        print("refused:", what, flush=True)
    usable("/dev/ttySM-plain")
    if run("systemctl", "show", "--value", "-p", "MainPID", "offhook-modem@plain").strip() != process:
        fail("another user ended the modem")

    # An attacker in the service can replace its terminal's link. Root does not follow it.
    service = os.stat("/run/offhook-plain").st_uid
    for target in ("/etc/shadow", "/etc/passwd", OWNED):
        if as_user(service, f"ln -sfn {target} /run/offhook-plain/tty") != 0:
            fail("the service's user cannot change its own link, and this attack shows nothing")
        run("systemctl", "restart", "offhook-modem@plain")
        wait_for(lambda: os.path.realpath("/dev/ttySM-plain").startswith("/dev/pts/"), "the terminal", 60)
        if digests() != before or os.path.lexists(OWNED):
            fail(f"a restart touched {target}")
        print("held: the service's link to", target, flush=True)
    as_user(service, "ln -sfn /etc/shadow /run/offhook-plain/tty")
    held("plain", before)


def plug_in():
    """QEMU's sound card: it appears together with the bus, and udev loads what it needs."""
    run("modprobe", "xhci_pci")
    wait_for(lambda: os.path.exists("/proc/asound/Audio"), "USB sound card", 60)


def service():
    run("systemctl", "start", "offhook-modem@plain")
    usable("/dev/ttySM-plain")
    if os.path.exists("/dev/ttySM-Audio"):
        fail("a modem without its card")
    plug_in()
    usable("/dev/ttySM-Audio")
    device = os.stat("/dev/cpu_dma_latency")
    if device.st_gid != 0 or device.st_mode & 0o077:
        fail("/dev/cpu_dma_latency is open to others than root")
    if active("offhook-awake@plain") != "active":
        fail("nothing keeps the CPUs out of deep sleep")
    for card in ("plain", "Audio"):
        run("systemctl", "stop", f"offhook-modem@{card}")
        wait_for(lambda: active(f"offhook-awake@{card}") == "inactive", "the end of offhook-awake", 60)
        if (state := active(f"offhook-modem@{card}")) != "inactive" or os.path.lexists(f"/dev/ttySM-{card}"):
            fail(f"after stop, the unit is {state}")


def attack():
    another_user()
    before = digests()
    for what, text in CONFIGURATIONS.items():
        pathlib.Path("/etc/offhook/bad.conf").write_bytes(text if isinstance(text, bytes) else text.encode())
        subprocess.run(["systemctl", "start", "offhook-modem@bad"], capture_output=True, check=False)
        wait_for(lambda: active("offhook-modem@bad") in ("activating", "failed", "inactive"), "the unit's end", 60)
        held("bad", before)
        print("held:", what, flush=True)
        subprocess.run(["systemctl", "reset-failed", "offhook-modem@bad"], capture_output=True, check=False)

    # A device's id is only a name: without a configuration file it starts nothing, and it is never an option.
    os.remove("/etc/offhook/Audio.conf")
    plug_in()
    card = pathlib.Path("/sys/class/sound", os.readlink("/proc/asound/Audio"))
    for name, configured in (("Unknown", False), ("--help", True)):
        if configured:
            shutil.copy("/etc/offhook/plain.conf", f"/etc/offhook/{name}.conf")
        (card / "id").write_text(name)
        run("udevadm", "trigger", "--settle", "--action=add", str(card))
        if configured:
            wait_for(lambda: os.path.exists(f"/dev/ttySM-{name}"), f"the terminal of {name}", 60)  # noqa: B023
        elif (state := active(f"offhook-modem@{name}")) != "inactive" or os.path.lexists(f"/dev/ttySM-{name}"):
            fail(f"{name}: without a configuration file the unit is {state}")
        held(name, before)
        print("held: device", name, flush=True)
    # Names that no kernel assigns, but an instance may have: a path in them is only a part of the name.
    for name in ("..", "..-..-etc-passwd", "%i"):
        subprocess.run(["systemctl", "start", f"offhook-modem@{name}.service"], capture_output=True, check=False)
        held(name, before)


POOL, CALLS = "offhook-pool@lab", "/var/lib/offhook-pool-lab/calls"


def pool_call(bench, listener, exchange, port, tty):
    """A call to the service, which joins it to a TCP server; the server ends it. @return the log of the call"""
    before = set(os.listdir(CALLS)) if os.path.isdir(CALLS) else set()
    os.write(tty, b"ATD\r")
    exchange.pass_on(exchange.accept(), exchange.connect(port, uuid.uuid4().bytes))
    hear(tty, b"CONNECT ", 120)
    settle(tty)
    server, _ = listener.accept()
    server.settimeout(120)
    os.write(tty, b"from the caller")
    heard = b""
    while heard != b"from the caller" and (more := server.recv(100)):
        heard += more
    server.sendall(b"from the server")
    server.shutdown(socket.SHUT_WR)
    if b"from the server" not in hear(tty, b"NO CARRIER", 120) or heard != b"from the caller":
        fail(f"the server heard {heard!r}")
    server.close()
    wait_for(lambda: len(set(os.listdir(CALLS)) - before) == 1, "event log of the call", 60)
    log = os.path.join(CALLS, *(set(os.listdir(CALLS)) - before))
    run(bench.offhook, "report", "export", log, "--csv", bench.path("events.csv"))
    return log


def pool():
    """A call; the configuration and the log are nobody else's; kill -9, and the next call is taken; a stop ends the service."""
    listener, (port,) = socket.create_server(("127.0.0.1", 0)), free_ports(1, socket.SOCK_STREAM)
    listener.settimeout(120)
    configuration = pathlib.Path("/etc/offhook/pool-lab.conf")
    configuration.write_text(f"ADDRESS=audiosocket::{port},listen\n"
                             f"OPTIONS=--lines 1 --tcp 127.0.0.1:{listener.getsockname()[1]} --log {CALLS}\n", encoding="ascii")
    configuration.chmod(0o600)

    def process():
        return run("systemctl", "show", "--value", "-p", "MainPID", POOL).strip()

    def listening():
        return re.search(rf":{port}\b", run("ss", "-Hltn")) is not None

    run("systemctl", "start", POOL)
    wait_for(listening, "the pool's port", 60)
    with NetworkBench(sys.argv[1]) as bench:
        exchange = Exchange()
        _, tty = bench.modem(f"audiosocket:127.0.0.1:{exchange.port}", "caller")
        say(tty, b"ATE0X3+MS=V22B", seconds=20)
        log = pool_call(bench, listener, exchange, port, tty)
        print("a call:", log, flush=True)
        for what in (f"cat {configuration}", f"cat {log}", f"ls {CALLS}", f"kill -KILL {process()}",
                     f"head -c 1 /proc/{process()}/environ", f"systemctl stop {POOL}"):
            if as_user(65534, what) == 0:
                fail(f"another user may: {what}")
            print("refused:", what, flush=True)
        if (user := os.stat(f"/proc/{process()}").st_uid) == 0:
            fail("the pool runs as root")
        scheduling = run("chrt", "-a", "-p", process())
        if "SCHED_FIFO" not in scheduling:
            fail(f"no thread of user {user} is in SCHED_FIFO: {scheduling}")
        killed = process()
        os.kill(int(killed), signal.SIGKILL)
        wait_for(lambda: process() not in (killed, "0") and listening(), "the restarted pool", 60)
        print("a call after kill -9:", pool_call(bench, listener, exchange, port, tty), flush=True)
    run("systemctl", "stop", POOL)
    if (state := active(POOL)) != "inactive" or listening():
        fail(f"after stop, the unit is {state}")


shutil.copy(sys.argv[1], "/usr/bin/offhook")
for folder, name in (("/etc/systemd/system", "offhook-modem@.service"), ("/etc/systemd/system", "offhook-awake@.service"),
                     ("/etc/systemd/system", "offhook-pool@.service"), ("/etc/udev/rules.d", "70-offhook.rules")):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(SYSTEM, name), folder)
os.makedirs("/etc/offhook", exist_ok=True)
for card in ("plain", "Audio"):
    with open(f"/etc/offhook/{card}.conf", "w", encoding="ascii") as file:
        file.write("CARD=null\n")  # QEMU's sound card does not support 8000 Hz
run("systemctl", "daemon-reload")
run("systemctl", "start", "systemd-udevd")
{"service": service, "attack": attack, "pool": pool}[sys.argv[2]]()
print("all passed")
