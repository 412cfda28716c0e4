#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PPP between two network namespaces over two live modems: pppd and chat unchanged, ping, a file over TCP.

Usage: ppp_test.py OFFHOOK [CARRIER [BYTES [COMPRESSION]]]: +MS's carrier (V22B), the file's length (4000), and what +DR
must report: NONE, or V42B, with a file of text. Skipped (77), with the reason, without pppd, privileges or PPP in the
kernel; the kernel of `./dev vm` has it.
"""
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time

from live import Bench, fail, say, wait_for

NEAR, FAR = "10.64.64.1", "10.64.64.2"
SERVE = """
import socket
s = socket.create_server(("%s", 7000)); c, _ = s.accept(); c.sendall(open("%s", "rb").read()); c.close()
"""


def lacking():
    if os.geteuid() != 0:
        return "network namespaces and pppd need root"
    try:
        if not os.path.exists("/dev/ppp"):
            os.mknod("/dev/ppp", stat.S_IFCHR | 0o600, os.makedev(108, 0))
        os.close(os.open("/dev/ppp", os.O_RDWR))
    except OSError as e:
        return f"the kernel has no PPP (/dev/ppp: {e.strerror})"
    for program in ("pppd", "chat", "ip", "ping"):
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return f"{program} is not installed"
    return ""


if why := lacking():
    print("SKIPPED:", why)
    sys.exit(77)

os.environ["PATH"] += ":/usr/sbin:/sbin"
carrier = sys.argv[2] if len(sys.argv) > 2 else "V22B"
size = int(sys.argv[3]) if len(sys.argv) > 3 else 4000
compression = sys.argv[4] if len(sys.argv) > 4 else "NONE"
spaces = [f"offhook-{end}-{os.getpid()}" for end in "ab"]
with Bench(sys.argv[1]) as bench:
    line, modems, (a, b) = bench.two_modems("FIFO 50", "FIFO 50")
    os.close(a)
    os.close(b)
    pppd = ["pppd", "nodetach", "noauth", "nocrtscts", "noipdefault", "ipcp-accept-local",
            "ipcp-accept-remote", "lcp-echo-interval", "0", "nobsdcomp", "nodeflate"]  # the modems compress
    # The answering end sends nothing before the call is established, because a character would abort it.
    setting = f"+MS={carrier};+DR=1;+DS={0 if compression == 'NONE' else 3}"
    wait, call = (f"chat -t 120 ABORT '+DR: {'V42B' if compression == 'NONE' else 'NONE'}' "
                  f"'' 'ATE0{answer}{setting}' OK {last} CONNECT ''"
                  for answer, last in (("S0=1", "'\\c'"), ("", "ATDT5551234")))
    try:
        for space in spaces:
            subprocess.run(["ip", "netns", "add", space], check=True)
        caller = bench.path("ttya")
        answer = os.path.realpath(bench.path("ttyb"))
        for space, tty, addresses, connect in ((spaces[1], answer, f"{FAR}:{NEAR}", wait),
                                            (spaces[0], caller, f"{NEAR}:{FAR}", call)):
            bench.processes.append(
                subprocess.Popen(["ip", "netns", "exec", space, *pppd, tty, "115200", addresses, "connect", connect]))
        answering = bench.processes[-2]

        def run(space, *command, **more):
            return subprocess.run(["ip", "netns", "exec", space, *command], capture_output=True, check=False, **more)

        wait_for(lambda: run(spaces[0], "ip", "addr", "show", "ppp0").stdout.find(NEAR.encode()) >= 0, "PPP link", 120)
        ping = run(spaces[0], "ping", "-c", "5", "-W", "5", FAR)
        print(ping.stdout.decode().splitlines()[-1])
        if ping.returncode != 0:
            fail("ping: " + ping.stdout.decode())
        with open(bench.path("file"), "wb") as file:
            file.write(b"".join(b"line %d of a text that says much the same again and again\r\n" % i
                                for i in range(size))[:size] if compression != "NONE" else os.urandom(size))
        bench.processes.append(subprocess.Popen(
            ["ip", "netns", "exec", spaces[1], sys.executable, "-c", SERVE % (FAR, bench.path("file"))]))
        start = time.time()
        got = run(spaces[0], sys.executable, "-c", f"""
import socket, sys, time
for attempt in range(20):
    try:
        s = socket.create_connection(("{FAR}", 7000), 30); break
    except OSError: time.sleep(1)
while piece := s.recv(4096): sys.stdout.buffer.write(piece)
""", timeout=600).stdout
        with open(bench.path("file"), "rb") as file:
            sent = file.read()
        print(f"{len(got)} bytes in {time.time() - start:.1f} s, compression {compression}")
        if got != sent:
            fail(f"{len(got)} of {len(sent)} bytes, {hashlib.sha256(got).hexdigest()}")
        # The far modem dies. pppd notices the loss of the carrier, as on a serial port.
        modems[0].kill()
        wait_for(lambda: answering.poll() is not None, "end of the PPP link after the carrier's", 60)
        if answering.returncode != 16:  # "modem hung up"
            fail(f"pppd ended with {answering.returncode} when the carrier was lost")
        subprocess.run(["stty", "-F", bench.path("ttyb"), "-a"], stdout=subprocess.DEVNULL, check=True)  # the next one
    finally:
        for p in reversed(bench.processes):
            if p.poll() is None:
                p.terminate()
                p.wait()
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space], check=False)
print("all passed")
