#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The systemd unit and the udev rule: a modem as a service, and one that starts when a USB sound card is plugged in.

Usage: system_test.py OFFHOOK. It writes to /etc and /usr/bin, so it goes on in the virtual machine only (`./dev vm
--systemd`), where QEMU plugs in the sound card. Skipped (77), with the reason, elsewhere and without udev.
"""
import grp
import os
import shutil
import stat
import subprocess
import sys

from live import fail, hear, say, wait_for

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
    os.write(terminal, b"ATX3S7=1DT5\r")  # to the end of a call, as the service's user may
    hear(terminal, b"NO CARRIER", 30)
    os.close(terminal)


shutil.copy(sys.argv[1], "/usr/bin/offhook")
for folder, name in (("/etc/systemd/system", "offhook-modem@.service"), ("/etc/udev/rules.d", "70-offhook.rules")):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(SYSTEM, name), folder)
os.makedirs("/etc/offhook", exist_ok=True)
for card in ("plain", "Audio"):
    with open(f"/etc/offhook/{card}.conf", "w", encoding="ascii") as file:
        file.write("CARD=null\n")  # QEMU's sound card cannot do 8000 Hz
run("systemctl", "daemon-reload")
run("systemctl", "start", "systemd-udevd", "offhook-modem@plain")
usable("/dev/ttySM-plain")

if os.path.exists("/dev/ttySM-Audio"):
    fail("a modem without its card")
run("modprobe", "xhci_pci")  # with the bus comes the sound card, and udev loads what it needs
wait_for(lambda: os.path.exists("/proc/asound/Audio"), "USB sound card", 60)
usable("/dev/ttySM-Audio")
run("udevadm", "trigger", "--settle", "--action=add", "/sys/class/misc/cpu_dma_latency")
if grp.getgrgid(os.stat("/dev/cpu_dma_latency").st_gid).gr_name != "audio":
    fail("/dev/cpu_dma_latency is not audio's")

for card in ("plain", "Audio"):
    run("systemctl", "stop", f"offhook-modem@{card}")
    if (state := active(f"offhook-modem@{card}")) != "inactive" or os.path.lexists(f"/dev/ttySM-{card}"):
        fail(f"after stop, the unit is {state}")
print("all passed")
