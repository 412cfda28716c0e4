#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The live page of a V.34 call: errors, /status, /metrics, /events, harmless clients, Chromium, the end.

Usage: live_page.py OFFHOOK. Without Chromium that part is skipped with a message; axe-core is used if ./dev pages has fetched it.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from browser import Browser, find_browser
from network import NetworkBench, exchange, fail, free_ports, hear, say, settle, wait_for

AXE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "offhook/pages/node_modules/axe-core/axe.min.js"
STREAMS, CONNECTIONS = 8, 32


class Page:
    def __init__(self, port):
        self.port = port

    def get(self, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers), timeout=10) as answer:
            return answer.read().decode()

    def status(self):
        return json.loads(self.get("/status"))

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def ask(self, octets):
        """The first line of the server's answer."""
        with self.connect() as s:
            s.sendall(octets)
            return s.makefile("rb").readline().strip().decode()

    def open_stream(self):
        s = self.connect()
        s.sendall(b"GET /events?line=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return s


def expect(what, condition):
    if not condition:
        fail(what)
    print("as it should be:", what)


def refused(offhook, page, words):
    done = subprocess.run([offhook, "modem", "null", "--best-effort", "--seconds", "0.1", "--page", page], capture_output=True, text=True, timeout=60,
                          check=False)
    if "no HTTP library" in done.stderr:
        print("SKIPPED: " + done.stderr.strip())
        sys.exit(77)
    expect(f"--page {page or '(empty)'}: {done.stderr.strip()}", done.returncode == 1 and done.stderr.count("\n") == 1 and words in done.stderr)


def errors(offhook, port):
    for page in ("x", "0", "65536", "-1", "127.0.0.1", "::1:80", "1.2.3.4.5:8080"):
        refused(offhook, page, "expected")
    refused(offhook, f"203.0.113.1:{port}", "Cannot assign")  # of no host (RFC 5737)
    with socket.create_server(("127.0.0.1", port)):
        refused(offhook, str(port), "in use")


def watch_events(page):
    """Some messages: history first, then states and points."""
    text = b""
    with page.open_stream() as s:
        while text.count(b"event: points") < 8:
            more = s.recv(65536)
            if not more:
                fail("the stream ended")
            text += more
    text = text[:text.rindex(b"event: ")]
    kinds = re.findall(rb"event: (\w+)\n", text)
    states = [json.loads(m) for m in re.findall(rb"event: state\ndata: (.*)\n", text)]
    points = [json.loads(m)["points"] for m in re.findall(rb"event: points\ndata: (.*)\n", text)]
    expect("a stream begins with the history", kinds[0] == b"history")
    expect(f"states follow: {len(states)}", len(states) >= 2)
    expect("each has both lines in data mode", all(x["phase"] == "data" for state in states for x in state["lines"]))
    expect(f"the constellation has new points: {sum(map(len, points)) // 2}", sum(map(len, points)) > 500)


def look(page, folder):
    """The page itself."""
    line = page.status()["lines"][1]
    rates = f"{line['rx_bit_rate']:,} / {line['tx_bit_rate']:,}"
    if not AXE.is_file():
        print("left out: axe-core (./dev pages gets it)")
    if not find_browser():
        print("left out: no Chromium (Debian package chromium)")
        return
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{page.port}/?line=1")
        constellation = "document.getElementById('figure-live-constellation')"
        expect("the page's constellation has points", browser.wait_for(f"Number(({constellation} || {{dataset: {{}}}}).dataset.points) > 300"))
        expect("its canvas has them too", browser.evaluate(f"""(() => {{ const c = {constellation}.querySelector('canvas');
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
            for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0) seen.add(d[i] + d[i + 1] + d[i + 2]);
            return seen.size > 5; }})()"""))
        text = browser.evaluate("document.body.innerText")
        for words in ("2 of 2 lines in data mode", "Line 1", "online (answer)", rates, "SNR", "dBm0", "Retrains", "packets received", "training"):
            expect(f"the page has {words!r}", words in text)
        strips = browser.evaluate("document.querySelectorAll('[data-drawn=yes] canvas').length")
        expect("it has four strips and the constellation", strips == 5)
        expect("nothing failed to be drawn", browser.evaluate("document.querySelectorAll('[data-drawn=failed]').length") == 0)
        for width, dark in ((1280, False), (1280, True), (390, False)):
            browser.look(width, 900, dark)
            time.sleep(1)
            browser.picture(os.path.join(folder, f"live-page-{width}-{'dark' if dark else 'light'}.png"))
            expect(f"at {width} px nothing sticks out", browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
            if AXE.is_file():
                browser.evaluate(AXE.read_text(encoding="utf-8") + ";1")
                found = browser.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
                expect(f"axe finds nothing at {width} px, {'dark' if dark else 'light'}: {found}", not found)
        expect(f"the console is empty: {browser.console}", not browser.console)
    print("pictures in", folder)


def harm(page, modems):
    """Many kinds of clients at once, while a call carries data."""
    wait_for(lambda: "offhook_page_clients 0\n" in page.get("/metrics"), "end of the browser's stream")
    streams = [page.open_stream() for _ in range(STREAMS)]  # that nobody reads
    wait_for(lambda: f"offhook_page_clients {STREAMS}\n" in page.get("/metrics"), "all streams")
    expect("one more stream is refused", " 503 " in page.ask(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    expect("a head beyond 8 KB is refused", " 431 " in page.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + 9000 * b"x" + b"\r\n"))
    expect("octets are refused", " 400 " in page.ask(bytes(range(256)) + b"\n\n"))
    expect("another method is refused", " 405 " in page.ask(b"POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"))
    expect("another host is refused", " 421 " in page.ask(b"GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n"))
    expect("another path is refused", " 404 " in page.ask(b"GET /control HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    silent = [page.connect() for _ in range(2 * CONNECTIONS)]
    exchange(*modems, 20000, 90)
    for s in streams + silent:
        s.close()
    wait_for(lambda: page.ask(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n").endswith("200 OK"), "answer after the other clients")
    wait_for(lambda: "offhook_page_clients 0\n" in page.get("/metrics"), "end of the streams")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as text:
        return [int(n) for n in text.read().split()]


with NetworkBench(sys.argv[1]) as bench:
    a_port, b_port = free_ports(2)
    page = Page(free_ports(1, socket.SOCK_STREAM)[0])
    errors(sys.argv[1], page.port)
    with open(bench.path("said"), "wb") as said:
        bank = bench.start("modem", f"rtp::{a_port},:{b_port}", f"rtp::{b_port},:{a_port}", "--tty", bench.path("tty"), "--page", str(page.port), stdout=said,
                           stderr=subprocess.STDOUT)
    a, b = bench.open("tty0"), bench.open("tty1")
    wait_for(lambda: all(x["state"] == "on hook" for x in page.status()["lines"]), "state of both lines before the call")
    for tty in (a, b):
        say(tty, b"ATE0X3+MS=V34")
    os.write(b, b"ATA\r")
    os.write(a, b"ATD\r")
    hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    settle(b)
    wait_for(lambda: all(x["phase"] == "data" and x["symbols"] > 400 for x in page.status()["lines"]), "data mode on the page")

    lines = page.status()["lines"]
    expect("the state is that of the call", all(x["phase"] == "data" and x["modulation"] == "V34" and x["calls"] == 1 for x in lines))
    expect(f"SNR {lines[0]['snr_db']} dB, level {lines[0]['rx_level_dbm0']} dBm0", lines[0]["snr_db"] > 25 and -30 < lines[0]["rx_level_dbm0"] < 0)
    expect("points of the constellation", len(lines[0]["constellation"]) == 768 and lines[0]["symbols"] > 384)
    expect("the card's counts", lines[0]["network"]["packets_received"] > 100)
    metrics = page.get("/metrics")
    for sample in (r'offhook_line_phase\{line="1",phase="data"\} 1', r'offhook_snr_db\{line="0"\} [\d.]+', r'offhook_bit_rate\{line="0",direction="sent"\} \d{5}',
                   r'offhook_blocks_served_total\{line="0"\} \d+', r'offhook_retrains\{line="0",cause="far"\} \d+'):
        expect("metric " + sample, re.search("^" + sample + "$", metrics, re.MULTILINE))
    watch_events(page)
    look(page, bench.folder)
    harm(page, (a, b))
    exchange(b, a, 20000, 90)
    wait_for(lambda: [x["bytes_received"] for x in page.status()["lines"]] == [20000, 20000], "count of the bytes of both ways")

    [server] = children(bank.pid)
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: b"the live page ended by signal 9" in Path(bench.path("said")).read_bytes(), "word of the page's end")
    exchange(a, b, 2000, 60)  # the call does not depend on it
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH", seconds=12)
    hear(b, b"NO CARRIER", 12)
    bank.send_signal(signal.SIGINT)
    expect("the exit status is that of an interrupt", bank.wait(20) == 130)

    # A page ends with its command, however the command ends.
    bank = bench.start("modem", "null", "--page", str(page.port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers():
        try:
            return page.status()["lines"][0]["phase"] == "on hook"
        except (urllib.error.URLError, ConnectionError):
            return False
    wait_for(answers, "page of the second modem")
    bank.kill()
    bank.wait()
    wait_for(lambda: not answers(), "end of the page with its command")
    # A device, which makes no calls.
    device = bench.start("measure", "device", "rt-audio", "--seconds", "30", "--page", str(page.port), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)

    def blocks():
        try:
            return page.status()["lines"][0]["blocks_served"] > 100
        except (urllib.error.URLError, ConnectionError):
            return False
    wait_for(blocks, "blocks of a device")
    expect("a device is running and has no SNR", page.status()["lines"][0]["phase"] == "running" and "snr_db" not in page.get("/metrics"))
    device.send_signal(signal.SIGINT)
    device.wait()
print("all passed")
