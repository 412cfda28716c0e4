#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many calls at once in one `offhook pool` on one CPU, live over SIP and RTP on the loopback interface: late blocks, CPU, memory. Then the pool
is killed and started again, and accepts the next call.

Usage: pool_load.py OFFHOOK CARRIER [CALLS [SECONDS]]   (default 100 calls for 600 s after the last has connected)

The pool runs on one CPU, and the callers, a bank of modems with RTP cards, on the others; all have the policies of a live modem (root), or of any
program. Every call echoes bytes all the time. Prints one line per minute and the result. Exit status 1 if a call fails or ends, an echo is wrong,
or the pool's memory grows. Late blocks are printed but not judged, because other work on the machine also causes them.
"""
import json
import os
import re
import select
import signal
import socket
import sys
import time
import urllib.request

from network import SipBench, fail, free_ports, hear, say, wait_for

carrier = sys.argv[2].encode()
CALLS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 600
TICKS = os.sysconf("SC_CLK_TCK")
CPUS = sorted(os.sched_getaffinity(0))
PIECE = 40  # bytes in an echo


def process(pid):
    """CPU seconds, and memory in MiB."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as text:
        words = text.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status", encoding="ascii") as text:
        status = dict(line.split(":", 1) for line in text if ":" in line)
    return (int(words[11]) + int(words[12])) / TICKS, int(status["VmRSS"].split()[0]) / 1024


class Signalling:
    """SIP from the caller's side (RFC 3261), as far as calls need it, because the callers' modems have only RTP cards."""

    def __init__(self, pool_port):
        self.pool_port = pool_port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port, self.request = self.socket.getsockname()[1], b""
        self.to = {}  # by call: the header with the far end's tag

    def send(self, method, call, cseq, body=""):
        to = self.to.get(call, f"<sip:1@127.0.0.1:{self.pool_port}>")
        head = [f"{method} sip:1@127.0.0.1:{self.pool_port} SIP/2.0", f"Via: SIP/2.0/UDP 127.0.0.1:{self.port};branch=z9hG4bK{method}{call}",
                "Max-Forwards: 70", f"From: <sip:{call.split('-')[0]}@127.0.0.1>;tag={call}", f"To: {to}", f"Call-ID: {call}", f"CSeq: {cseq} {method}",
                f"Contact: <sip:caller@127.0.0.1:{self.port}>", f"Content-Length: {len(body)}"] + (["Content-Type: application/sdp"] if body else [])
        self.request = ("\r\n".join(head) + "\r\n\r\n" + body).encode()
        self.socket.sendto(self.request, ("127.0.0.1", self.pool_port))

    def wait(self, call, method):
        """The final answer to the latest request, which is repeated until one arrives."""
        end = time.time() + 30
        while time.time() < end:
            if not select.select([self.socket], [], [], 0.5)[0]:
                self.socket.sendto(self.request, ("127.0.0.1", self.pool_port))
                continue
            answer = self.socket.recv(4096).decode()
            fields = dict(line.split(": ", 1) for line in answer.split("\r\n\r\n")[0].split("\r\n")[1:])
            if fields["Call-ID"] == call and fields["CSeq"].endswith(method) and not answer.startswith("SIP/2.0 1"):
                return answer, fields
        return fail(f"no answer to {method}")

    def call(self, call, media_port):
        """@return the far end's port for RTP"""
        self.send("INVITE", call, 1, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                  f"m=audio {media_port} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=ptime:20\r\n")
        answer, fields = self.wait(call, "INVITE")
        if not answer.startswith("SIP/2.0 200"):
            fail(f"call {call}: {answer.splitlines()[0]}")
        self.to[call] = fields["To"]
        self.send("ACK", call, 1)
        return int(re.search(r"m=audio (\d+)", answer).group(1))

    def release(self, call):
        self.send("BYE", call, 2)
        self.wait(call, "BYE")


class Callers:
    """A bank of modems, each with an RTP card for one line of the pool, and the expected echoes."""

    def __init__(self, bench, calls, far_ports):
        self.ports = free_ports(calls)
        with open(bench.path("callers"), "wb") as log:
            self.process = bench.start("modem", *(f"rtp::{own},:{far}" for own, far in zip(self.ports, far_ports)), "--tty", bench.path("tty"), stdout=log,
                                       stderr=log)
        self.modems = [bench.open("tty" if calls == 1 else f"tty{k}") for k in range(calls)]
        self.ttys, self.sent, self.heard, self.bytes = [], {}, {}, 0
        for tty in self.modems:
            say(tty, b"ATE0X3+MS=" + carrier + b";+MR=1;+WHY=1", seconds=30)

    def dial(self, tty):
        os.write(tty, b"ATD\r")
        self.sent[tty], self.heard[tty] = b"", b""

    def work(self):
        """A call is connected when the far program sends. Sends the next piece after each call's echo."""
        for tty in select.select(list(self.sent), [], [], 0.05)[0]:
            self.heard[tty] += os.read(tty, 4096)
            if tty in self.ttys:
                if not self.sent[tty].startswith(self.heard[tty]):
                    fail(f"the echo of {self.sent[tty]!r} was {self.heard[tty]!r}")
            elif any(word in self.heard[tty] for word in (b"reached", b"ERROR")):
                fail(f"a call did not connect: {self.heard[tty]!r}")
            elif b"CONNECT" in self.heard[tty] and self.heard[tty].endswith(b"READY"):
                self.ttys.append(tty)
                self.heard[tty] = b""
        for tty in self.ttys:
            if self.heard[tty] == self.sent[tty]:
                self.bytes += len(self.sent[tty])
                self.sent[tty], self.heard[tty] = os.urandom(PIECE // 2).hex().encode(), b""
                os.write(tty, self.sent[tty])


class Pool:
    def __init__(self, bench):
        self.bench, self.page = bench, free_ports(1, socket.SOCK_STREAM)[0]
        (self.port,) = free_ports(1)

    def start(self):
        os.sched_setaffinity(0, CPUS[:1])  # inherited by all threads of the pool
        with open(self.bench.path("log"), "ab") as log:
            self.process = self.bench.start(
                "pool", f"sip:1@127.0.0.1:{self.port + 1},local=127.0.0.1:{self.port},register=no", "--lines", str(CALLS), "--per-caller", "1",
                "--per-minute", "10", "--exec", "stty raw -echo; printf READY; exec cat", "--page", str(self.page), stdout=log, stderr=log)
        os.sched_setaffinity(0, CPUS[1:] or CPUS)
        wait_for(lambda: self.lines(), "page of the pool", 60)

    def lines(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/status", timeout=20) as answer:
                return json.loads(answer.read())["lines"]
        except OSError:
            return []

    def late(self):
        """Blocks served, late blocks, the largest number of samples pending, retrains, lines in data mode."""
        lines = self.lines()
        return (sum(x["blocks_served"] for x in lines), sum(x["blocks_late"] for x in lines), max(x["pending_max_samples"] for x in lines),
                sum(sum(x.get("retrain_causes", {}).values()) for x in lines),
                sum(x["phase"] in ("data", "retraining") for x in lines))


def ports_of(pool, calls):
    """The RTP port of each line, which is constant, because every line is called once."""
    signalling = Signalling(pool.port)
    ports = [signalling.call(f"{2000 + k}-first", 9) for k in range(calls)]
    for k in range(calls):
        signalling.release(f"{2000 + k}-first")
    wait_for(lambda: all(x["phase"] == "on hook" for x in pool.lines()), "pool on hook", 60)
    return ports


with SipBench(sys.argv[1]) as test:
    pool = Pool(test)
    pool.start()
    callers = Callers(test, CALLS, ports_of(pool, CALLS))
    signalling = Signalling(pool.port)
    dialled, first = time.time(), process(pool.process.pid)
    for k, fd in enumerate(callers.modems):  # one new call per second; meanwhile, connected calls have their echoes
        signalling.call(f"{1000 + k}-second", callers.ports[k])
        callers.dial(fd)
        while time.time() < dialled + k:
            callers.work()
    while len(callers.ttys) < CALLS:
        callers.work()
        if time.time() > dialled + CALLS + 90:
            fail(f"{len(callers.ttys)} calls of {CALLS} are up after {time.time() - dialled:.0f} s")
    print(f"{CALLS} calls after {time.time() - dialled:.0f} s, {pool.late()[1]} blocks late so far, "
          f"CPU {100 * (process(pool.process.pid)[0] - first[0]) / (time.time() - dialled):.1f} %", flush=True)
    before = pool.late()
    if before[4] != CALLS:
        fail(f"{before[4]} lines of {CALLS} are in data mode")
    cpu, memory = first = process(pool.process.pid)
    began = shown = time.time()
    bytes_before = callers.bytes
    rows = []
    while time.time() < began + SECONDS:
        callers.work()
        if time.time() - shown < 60:
            continue
        now, mib = process(pool.process.pid)
        counts = pool.late()
        print(f"{time.time() - began:5.0f} s: CPU {100 * (now - cpu) / (time.time() - shown):.1f} %, {mib:.1f} MiB, "
              f"{counts[1] - before[1]} of {counts[0] - before[0]} blocks late, {counts[3]} retrains, {counts[4]} lines in data mode, "
              f"load {os.getloadavg()[0]:.1f}", flush=True)
        cpu, shown = now, time.time()
        rows.append(mib)
    after, last = pool.late(), process(pool.process.pid)
    print(json.dumps({"calls": CALLS, "carrier": carrier.decode(), "seconds": round(time.time() - began), "cpu_share": round((last[0] - first[0]) / (time.time() - began), 3),
                      "memory_mib": [round(first[1], 1), round(last[1], 1)], "blocks": after[0] - before[0], "blocks_late": after[1] - before[1],
                      "pending_max_samples": after[2], "retrains": after[3], "bytes_echoed": callers.bytes - bytes_before}), flush=True)
    if after[4] != CALLS:
        fail(f"{after[4]} lines of {CALLS} are in data mode at the end")
    if last[1] > first[1] + 0.02 * first[1] + 1:
        fail(f"the pool's memory grew from {first[1]:.1f} to {last[1]:.1f} MiB")

    pool.process.send_signal(signal.SIGKILL)
    pool.process.wait()
    callers.process.send_signal(signal.SIGTERM)
    callers.process.wait()
    pool.start()
    callers = Callers(test, 1, ports_of(pool, 1))
    Signalling(pool.port).call("1000-third", callers.ports[0])
    os.write(callers.modems[0], b"ATD\r")
    hear(callers.modems[0], b"READY", 90)
    print("after kill -9 and a restart the next call was taken")
print("all passed")
