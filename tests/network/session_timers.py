#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Session timers (RFC 4028) with sipp (package sip-tester) as the other end: intervals of 90 s, the permitted minimum. The media come
from another modem, so the calls are in data mode, and effects of a refresh on the samples are visible.

Usage: session_timers.py OFFHOOK. Skipped (77) if the program has no SIP or sipp is not installed.
"""
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time

from network import SipBench, exchange, fail, free_ports, hear, say, settle, sipp

if not shutil.which("sipp"):
    print("SKIPPED: sipp is not installed (package sip-tester)")
    sys.exit(77)

SDP = ("Content-Type: application/sdp\nContent-Length: [len]\n\nv=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\n"
       "m=audio [media] RTP/AVP 0\na=rtpmap:0 PCMU/8000\n")
CONTACT = "Contact: <sip:sipp@[local_ip]:[local_port]>\n"


def response(status, headers="", body="Content-Length: 0\n\n", again=""):
    return (f"<send{again}><![CDATA[SIP/2.0 {status}\n[last_Via:]\n[last_From:]\n[last_To:];tag=s[call_number]\n[last_Call-ID:]\n[last_CSeq:]\n"
            f"{CONTACT}{headers}{body}]]></send>")


def within(status, headers="", body="Content-Length: 0\n\n"):
    """A response within the dialog, with the tag."""
    return (f"<send><![CDATA[SIP/2.0 {status}\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\n{CONTACT}{headers}{body}"
            "]]></send>")


def has(header, text):
    """An action: the message's header must contain the text."""
    return (f'<action><ereg regexp="{text}" search_in="hdr" header="{header}:" check_it="true" assign_to="1"/></action>')


def scenario(name, steps):
    reference = '<Reference variables="1"/>' if "assign_to" in steps else ""  # sipp refuses a variable that is not read or not set
    return f'<scenario name="{name}">{steps}{reference}</scenario>'


def request(method, sequence, headers="", body="Content-Length: 0\n\n", to="[peer_tag_param]"):
    return (f"<send><![CDATA[{method} sip:100@[remote_ip]:[remote_port] SIP/2.0\nVia: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\n"
            f"From: <sip:9@[local_ip]:[local_port]>;tag=c[call_number]\nTo: <sip:100@[remote_ip]:[remote_port]>{to}\nCall-ID: [call_id]\n"
            f"CSeq: {sequence} {method}\n{CONTACT}Max-Forwards: 70\n{headers}{body}]]></send>")


TIMER = "Require: timer\nSupported: timer\nSession-Expires: 90;refresher="
RINGS = f'<recv request="INVITE">{has("Supported", "timer")}</recv>' + response("180 Ringing")

# The caller refreshes by UPDATE, and ends the call when the far end no longer knows it.
UPDATES = scenario("updates", RINGS + response("200 OK", "Allow: INVITE, UPDATE\n" + TIMER + "uac\n", SDP) + '<recv request="ACK"/>'
                   f'<recv request="UPDATE" timeout="55000">{has("Session-Expires", "90;refresher=uac")}</recv>'
                   + within("200 OK", TIMER + "uac\n") + '<recv request="UPDATE" timeout="55000"/>' + within("481 Gone")
                   + '<recv request="BYE" timeout="5000"/>' + within("200 OK"))
# Without UPDATE it repeats INVITE with its description; a repeated response is confirmed twice.
INVITES = scenario("invites", RINGS + response("200 OK", "Allow: INVITE\n" + TIMER + "uac\n", SDP) + '<recv request="ACK"/>'
                   '<recv request="INVITE" timeout="55000"><action><ereg regexp="application/sdp" search_in="hdr" header="Content-Type:" '
                   'check_it="true" assign_to="1"/><ereg regexp="[0-9]+ INVITE" search_in="hdr" header="CSeq:" check_it="true" '
                   'assign_to="2"/></action></recv>'
                   + within("200 OK", TIMER + "uas\n", SDP) + '<recv request="ACK" timeout="5000"/>'
                   + within("200 OK", TIMER + "uas\n", SDP).replace("[last_CSeq:]", "CSeq: [$2]") + '<recv request="ACK" timeout="5000"/>'
                   # From now on the far end is the refresher, and sends nothing.
                   '<recv request="BYE" timeout="65000"/>' + within("200 OK"))
# A caller with a timer: it gets the interval, refreshes by both requests, requests too little, and is then silent.
CALLS = scenario("calls", request("INVITE", 1, "Supported: timer\nSession-Expires: 90\n", SDP, to="")
                 + '<recv response="100" optional="true"/><recv response="180"/>'
                 f'<recv response="200">{has("Session-Expires", "90;refresher=uac")}</recv>' + request("ACK", 1)
                 + '<pause milliseconds="1000"/>' + request("UPDATE", 2, "Supported: timer\nSession-Expires: 60;refresher=uac\n")
                 + f'<recv response="422">{has("Min-SE", "90")}</recv>'
                 + request("UPDATE", 3, "Supported: timer\nSession-Expires: 100;refresher=uac\n")
                 + f'<recv response="200">{has("Session-Expires", "100;refresher=uac")}</recv>'
                 + request("INVITE", 4, "Supported: timer\nSession-Expires: 90;refresher=uac\n", SDP)
                 + '<recv response="100" optional="true"/>'
                 f'<recv response="200">{has("Session-Expires", "90;refresher=uac")}</recv>' + request("ACK", 4)
                 + '<recv request="BYE" timeout="65000"/>' + within("200 OK"))
TOO_SHORT = scenario("too short", '<recv request="INVITE"/>' + response("422 Session Interval Too Small", "Min-SE: 2000\n")
                     + '<recv request="ACK"/>')



class Relay(threading.Thread):
    """RTP between the end that first sends to `port` and a modem that sends from `own` to `modem`."""

    def __init__(self, port, own, modem):
        super().__init__(daemon=True)
        self.outside, self.inside = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.outside.bind(("127.0.0.1", port))
        self.inside.bind(("127.0.0.1", own))
        self.modem, self.far = ("127.0.0.1", modem), None

    def run(self):
        while True:
            for s in select.select([self.outside, self.inside], [], [])[0]:
                try:
                    packet, source = s.recvfrom(2048)
                    if s is self.outside:
                        self.far = source
                        self.inside.sendto(packet, self.modem)
                    elif self.far:
                        self.outside.sendto(packet, self.far)
                except ConnectionRefusedError:
                    pass


class Timed:
    """A modem by SIP whose far end has sipp's signalling and another modem's samples."""

    def __init__(self, bench, name, steps, calls):
        own, far, media, inside, port = free_ports(5)
        self.name = name
        _, self.tty = bench.modem(f"sip:100@127.0.0.1:{far},local=127.0.0.1:{own},register=no,session-interval=90", name)
        _, self.other = bench.modem(f"rtp::{port},:{inside}", name + "-far")
        Relay(media, inside, port).start()
        for tty in (self.tty, self.other):
            say(tty, b"ATE0X3+WHY=1;+MS=V22B")
        words = [f"127.0.0.1:{own}"] if calls else []
        self.peer = sipp(bench, steps, far, *words, "-m", "1", "-key", "media", str(media), name=name)
        time.sleep(0.5)
        if calls:
            hear(self.tty, b"RING", 10)
        os.write(self.other, b"ATD\r" if calls else b"ATA\r")
        os.write(self.tty, b"ATA\r" if calls else b"ATDT200\r")

    def connect(self):
        hear(self.tty, b"CONNECT ", 60)
        hear(self.other, b"CONNECT ", 20)
        settle(self.tty)
        settle(self.other)


def too_short(bench):
    """Calls with less than the far end's minimum interval repeat the request once with that interval."""
    own, far = free_ports(2)
    modem, tty = bench.modem(f"sip:100@127.0.0.1:{far},local=127.0.0.1:{own},register=no", "short")
    say(tty, b"ATE0+WHY=1")
    log = bench.path("short.log")
    peer = sipp(bench, TOO_SHORT, far, "-m", "2", "-trace_msg", "-message_file", log, name="short")
    time.sleep(0.5)
    os.write(tty, b"ATDT200\r")
    said = hear(tty, b"reached", 20)
    if b"422" not in said:
        fail(f"an interval that is refused twice: {said!r}")
    peer.wait(20)
    with open(log, encoding="utf-8", errors="replace") as text:
        intervals = [line.split(":")[1].strip() for line in text if line.startswith("Session-Expires")]
    if intervals != ["1800", "2000"]:
        fail(f"it asked for {intervals} s")
    modem.send_signal(signal.SIGINT)
    modem.wait()


with SipBench(sys.argv[1]) as bench:
    too_short(bench)
    started = time.time()
    ends = [Timed(bench, "updates", UPDATES, False), Timed(bench, "invites", INVITES, False), Timed(bench, "calls", CALLS, True)]
    for end in ends:
        end.connect()
    # After the first refreshes, at half of the interval, the bytes are correct.
    time.sleep(max(0, started + 52 - time.time()))
    for end in ends[:2]:
        exchange(end.tty, end.other, 200, 30)
        exchange(end.other, end.tty, 200, 30)
    for end, reason in ((ends[2], b"the session timer ran out"), (ends[1], b"the session timer ran out"),
                        (ends[0], b"the far end has lost the call: 481")):
        said = hear(end.tty, b"reached", 130)
        print(f"{end.name}: {time.time() - started:.0f} s:", said.decode().split("+WHY: ")[-1].strip(), flush=True)
        if reason not in said:
            fail(f"{end.name}: expected {reason!r}: {said!r}")
        if end.peer.wait(20) != 0:
            with open(bench.path(end.name + ".err"), encoding="utf-8", errors="replace") as text:
                fail(f"sipp, {end.name}: {text.read()[-2000:]}")
    for p in bench.processes:
        p.send_signal(signal.SIGINT)
        p.wait()
    for end in ends:
        with open(bench.path(f"out{end.name}/summary.json"), encoding="utf-8") as text:
            summary = json.load(text)
        print(end.name, summary["network"])
        if summary["blocks_late"] == 0 and summary["network"]["packets_received"] < 50 * 40:
            fail("the counts do not reach back to the beginning of the call: a refresh began the stream anew")
print("all passed")
