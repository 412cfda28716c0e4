#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""an allow-list, a log line a call, clean end, live page

Usage: pool_call.py OFFHOOK
"""
import os
import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from network import SipBench, fail, free_ports, hear, say, settle, wait_for

with SipBench(sys.argv[1]) as bench:
    pp, *ports = free_ports(5)
    with open(bench.path("allow"), "w", encoding="ascii") as allow:
        allow.write("300\n301\n")
    page, page_port = [], free_ports(1, socket.SOCK_STREAM)[0]
    if subprocess.run(["ldd", sys.argv[1]], capture_output=True, text=True, check=False).stdout.count("libcpp-httplib"):
        page = ["--page", str(page_port)]
    with open(bench.path("log"), "wb") as log:
        pool = bench.start("pool", f"sip:100@127.0.0.1:{ports[0]},local=127.0.0.1:{pp},register=no", "--lines", "2",
                           "--per-caller", "1", "--allow", bench.path("allow"), "--exec", "echo caller $OFFHOOK_CALLER on $OFFHOOK_LINE >/dev/tty; exec cat", *page, stdout=log,
                           stderr=subprocess.STDOUT)

    def logged():
        with open(bench.path("log"), encoding="utf-8") as text:
            return text.read()

    wait_for(lambda: "2 lines" in logged(), "pool")
    callers = [bench.modem(f"sip:{number}@127.0.0.1:{pp},local=127.0.0.1:{port},register=no", f"c{k}")
               for k, (number, port) in enumerate(zip(("300", "300", "301", "302"), ports))]
    ttys = [fd for _, fd in callers]
    for fd in ttys:
        say(fd, b"ATE0+MS=V22B")

    def call(fd):
        """Connected, and the program has printed the caller."""
        os.write(fd, b"ATDT100\r")
        hear(fd, b"CONNECT ", 60)
        return hear(fd, b"on ", 20)

    def echo(fd, text):
        os.write(fd, text)
        if text not in hear(fd, text, 20):
            fail("the program does not echo")

    def lines():
        """The lines on the page."""
        with urllib.request.urlopen(f"http://127.0.0.1:{page_port}/status", timeout=10) as answer:
            return json.loads(answer.read())["lines"]

    if page:
        wait_for(lambda: [x["phase"] for x in lines()] == ["on hook", "on hook"], "page of two lines on hook")
    if b"caller 300 on" not in call(ttys[0]):
        fail("no caller's number")
    if page:
        wait_for(lambda: [(x["phase"], x["caller"], x["modulation"]) for x in lines()] == [("data", "300", "V22B"), ("on hook", "", "")], "call on the page")
    os.write(ttys[1], b"ATDT100\r")  # the same caller again
    hear(ttys[1], b"BUSY", 20)
    os.write(ttys[3], b"ATDT100\r")  # a caller that is not in the file
    hear(ttys[3], b"BUSY", 20)
    call(ttys[2])
    os.write(ttys[3], b"ATDT100\r")  # there is no third line
    hear(ttys[3], b"BUSY", 20)
    settle(ttys[0])
    settle(ttys[2])
    echo(ttys[0], b"to the first")
    echo(ttys[2], b"to the second")
    # The end: calls in progress continue, new ones are refused.
    pool.send_signal(signal.SIGINT)
    wait_for(lambda: "no further calls" in logged(), "word of the end")
    os.write(ttys[3], b"ATDT100\r")
    hear(ttys[3], b"BUSY", 20)
    echo(ttys[0], b"still there")
    for fd in (ttys[0], ttys[2]):
        time.sleep(1.2)
        os.write(fd, b"+++")
        hear(fd, b"OK", 5)
        say(fd, b"ATH", seconds=12)
    if pool.wait(20) != 0:
        fail(f"the pool's exit status: {pool.returncode}")
    print(logged())
    ends = re.findall(r"line (\d) caller (\d+) 2400/2400 bit/s, [\d.]+ s, (\d+) bytes sent, (\d+) received, end: ", logged())
    if {end[:2] for end in ends} != {("0", "300"), ("1", "301")} or any(int(n) < 10 for end in ends for n in end[2:]):
        fail(f"one line for each call was expected, not {ends}")
    if logged().count(" refused: 1 calls of this caller") != 1:
        fail("a refusal is one line")
    if logged().count(" caller 302 refused: not in ") != 1:
        fail("a caller who is not in the file")
    for p, _ in callers:
        p.send_signal(signal.SIGINT)
        p.wait()
print("all passed")
