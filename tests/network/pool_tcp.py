#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pool whose program is a TCP server: data in both directions with and without error control, closing by the server after its last
octets, closing by the caller, a refused connection, no commands from the server, and an event log for each call.

Usage: pool_tcp.py OFFHOOK
"""
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import uuid

from network import Exchange, NetworkBench, fail, free_ports, hear, say, settle, wait_for

with NetworkBench(sys.argv[1]) as bench:
    pbx, (port,) = Exchange(), free_ports(1, socket.SOCK_STREAM)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)
    server = listener.getsockname()
    with open(bench.path("log"), "wb") as log:
        pool = bench.start("pool", f"audiosocket::{port},listen", "--lines", "1", "--tcp", f"127.0.0.1:{server[1]}", "--log",
                           bench.path("calls"), stdout=log, stderr=subprocess.STDOUT)

    def logged():
        with open(bench.path("log"), encoding="utf-8") as lines:
            return lines.read()

    wait_for(lambda: f"1 lines on audiosocket:127.0.0.1:{port}" in logged(), "pool")
    _, tty = bench.modem(f"audiosocket:127.0.0.1:{pbx.port}", "c")
    say(tty, b"ATE0X3+MS=V22B")

    def dial():
        os.write(tty, b"ATD\r")
        pbx.pass_on(pbx.accept(), pbx.connect(port, uuid.uuid4().bytes))
        hear(tty, b"CONNECT ", 60)

    def call():
        """@return the server's end of a connected call"""
        dial()
        settle(tty)
        connection, _ = listener.accept()
        connection.settimeout(60)
        return connection

    def octets(connection, n):
        got = b""
        while len(got) < n and (more := connection.recv(n - len(got))):
            got += more
        return got

    def ends(n):
        """The lines of n ended calls."""
        pattern = r"line 0 caller \S+ 2400/2400 bit/s, [\d.]+ s, (\d+) bytes sent, (\d+) received, end: (.*), log: (\S+)\n"
        wait_for(lambda: len(re.findall(pattern, logged())) == n, f"{n} calls that have ended")
        return re.findall(pattern, logged())

    # The server closes first: its last octets take longer than the release of a call would wait.
    server_end = call()
    os.write(tty, b"from the caller")
    if octets(server_end, 15) != b"from the caller":
        fail("the server did not get the caller's octets")
    server_end.sendall(b"+++")  # no escape
    time.sleep(1.5)
    last = b"ATD1\r" + os.urandom(2000).hex().encode()
    server_end.sendall(last)
    server_end.shutdown(socket.SHUT_WR)
    heard = hear(tty, b"NO CARRIER", 60)
    if b"+++" + last not in heard:
        fail(f"{len(heard)} bytes of the server arrived, {len(last)} were sent")
    (_, _, why, _), = ends(1)
    if why != "the server closed the connection":
        fail(f"the reason of the end: {why}")
    server_end.close()

    # The caller ends first.
    server_end = call()
    os.write(tty, b"good-bye")
    time.sleep(1.5)
    os.write(tty, b"+++")
    hear(tty, b"OK", 5)
    server_end.sendall(b"ATS0=0\r" * 6000)  # more than the modem accepts: with S0=0 it would not answer the next
    time.sleep(0.5)
    say(tty, b"ATH", seconds=12)
    if octets(server_end, 100) != b"good-bye+++":  # the escape sequence is data, too
        fail("the caller's last octets, and the end")
    server_end.close()
    ends(2)

    # Without error control.
    say(tty, b"AT+ES=1,0")
    server_end = call()
    server_end.sendall(b"plain" * 100)
    server_end.shutdown(socket.SHUT_WR)
    heard = hear(tty, b"NO CARRIER", 60)
    if b"plain" * 100 not in heard:
        fail(f"without error control: {heard!r}")
    server_end.close()
    ends(3)

    # Nobody listens.
    listener.close()
    say(tty, b"AT+ES=3,0")
    dial()
    hear(tty, b"NO CARRIER", 30)
    *_, (_, _, why, _) = ends(4)
    if why != f"TCP 127.0.0.1:{server[1]}: Connection refused":
        fail(f"the reason of the end: {why}")

    pool.send_signal(signal.SIGINT)
    if pool.wait(20) != 0:
        fail(f"the pool's exit status: {pool.returncode}")
    print(logged())
    files = [path for *_, path in ends(4)]
    if len(set(files)) != 4 or sorted(os.path.basename(f) for f in files) != sorted(n for n in os.listdir(bench.path("calls")) if n.endswith(".ohlog")):
        fail(f"one log for each call was expected: {files}, {os.listdir(bench.path('calls'))}")
    for path in files:
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            fail(f"{path} is readable for others")
        said = subprocess.run([sys.argv[1], "report", "export", path, "--csv", path + ".csv"], capture_output=True, text=True,
                              timeout=60, check=False)
        if said.returncode != 0:
            fail(f"{path}: status {said.returncode}, {said.stderr}")
        with open(path + ".csv", encoding="utf-8") as events:
            text = events.read()
        for kind in ("service_end", "call_end"):
            if kind not in text:
                fail(f"{path}: no {kind} in {text[:2000]}")
print("all passed")
