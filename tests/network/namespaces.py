#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A call by SIP and RTP between two network namespaces, over a veth pair that loses 0.1 % of the packets and delays each by 20 +- 10 ms. The
bytes of both directions must be correct, and the summary's counts must match the kernel's.

Usage: namespaces.py OFFHOOK CARRIER. Needs root, the kernel's veth and netem; otherwise skipped (77). `./dev test -L vm` runs it in a
virtual machine whose kernel has both.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from network import SipBench, exchange, fail, hear, say, settle

carrier = sys.argv[2].encode()
os.environ["PATH"] += ":/usr/sbin:/sbin"
SPACES = (("offhook-a", "192.0.2.1"), ("offhook-b", "192.0.2.2"))
NETEM = ["delay", "20ms", "10ms", "loss", "0.1%"]


def tool(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


class Namespaces:
    def __enter__(self):
        subprocess.run(["modprobe", "-aq", "veth", "sch_netem"], capture_output=True, check=False)
        for name, _ in SPACES:
            self.must("ip", "netns", "add", name)
        self.must("ip", "link", "add", "offhook0", "netns", SPACES[0][0], "type", "veth", "peer", "name", "offhook0", "netns", SPACES[1][0])
        for name, address in SPACES:
            inside = ["ip", "-n", name]
            self.must(*inside, "address", "add", address + "/24", "dev", "offhook0")
            self.must(*inside, "link", "set", "offhook0", "up")
            self.must(*inside, "link", "set", "lo", "up")
            self.must("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "offhook0", "root", "netem", *NETEM)
        return self

    def must(self, *words):
        good, said = tool(*words)
        if not good:
            self.__exit__()
            print(f"SKIPPED: {' '.join(words)}: {said.splitlines()[-1] if said else 'failed'}")
            sys.exit(77)

    def __exit__(self, *_):
        for name, _ in SPACES:
            tool("ip", "netns", "del", name)

    @staticmethod
    def dropped(name):
        _, said = tool("ip", "netns", "exec", name, "tc", "-s", "qdisc", "show", "dev", "offhook0")
        return int(re.search(r"dropped (\d+)", said).group(1))


class SpacedBench(SipBench):
    """Each modem in the named namespace."""

    def start(self, *arguments, space=None, **more):
        p = subprocess.Popen([*(("ip", "netns", "exec", space) if space else ()), self.offhook, *arguments, "--best-effort"], **more)
        self.processes.append(p)
        return p


if os.geteuid() != 0:
    print("SKIPPED: namespaces need root")
    sys.exit(77)
with Namespaces() as spaces, SpacedBench(sys.argv[1]) as bench:
    modems, ttys = [], []
    for (space, address), (_, far), number, end in zip(SPACES, SPACES[::-1], ("100", "200"), "ab"):
        modem, tty = bench.modem(f"sip:{number}@{far},local={address}:5060,register=no,buffer=60", end, space=space)
        modems.append(modem)
        ttys.append(tty)
    a, b = ttys
    say(a, b"ATE0+WHY=1;+MS=" + carrier + b";+MR=1")
    say(b, b"ATE0S0=2+VCID=1;+MS=" + carrier)
    said = bench.connect(a, b, b"5551234")
    print(said.replace(b"\r", b" ").replace(b"\n", b"").decode())
    if b"+MCR: " + carrier not in said:
        fail(f"another modulation than {carrier!r}")
    settle(b)
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 40000, 180)
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    print(*re.findall(r"(?:slips|retrains): [^\r\n]*", say(a, b"AT&V1").decode()))
    say(a, b"ATH", seconds=15)
    hear(b, b"NO CARRIER", 15)
    for modem in modems:
        modem.send_signal(signal.SIGINT)
        modem.wait()
    for end, (sender, _) in zip("ab", SPACES[::-1]):
        with open(bench.path(f"out{end}/summary.json"), encoding="utf-8") as text:
            network = json.load(text)["network"]
        print(end, network, f"netem dropped {spaces.dropped(sender)}")
        if network["packets_lost"] > spaces.dropped(sender):
            fail("more packets were missed than the network dropped")
        if not 1 < network["jitter_ms"] < 20 or network["packets_received"] < 500:
            fail("the network has 10 ms of jitter")
print("all passed")
