#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIP over TLS and SRTP between two modems of Offhook, with certificates from openssl; what is refused, and that no key is visible.

Usage: tls_call.py OFFHOOK CARRIER. Skipped (77) if the program has no SIP or no SRTP, or openssl is not installed.
"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from network import SipBench, authority, certificate, exchange, fail, free_ports, hear, say

carrier = sys.argv[2].encode()
if not shutil.which("openssl"):
    print("SKIPPED: openssl is not installed (package openssl)")
    sys.exit(77)


def said_by(bench, name, expected, seconds=10):
    """Waits until the program's output contains a text."""
    end = time.time() + seconds
    while time.time() < end:
        with open(bench.path("said" + name), encoding="utf-8") as text:
            said = text.read()
        if expected in said:
            return said
        time.sleep(0.1)
    return fail(f"{name} did not say {expected!r}: {said!r}")


def modem(bench, name, address):
    with open(bench.path("said" + name), "wb") as out:
        return bench.modem(address, name, stdout=out, stderr=subprocess.STDOUT)


def dial_fails(tty, reason):
    os.write(tty, b"ATDT1\r")
    said = hear(tty, b"reached", 45)
    if reason not in said:
        fail(f"expected {reason!r}: {said!r}")


with SipBench(sys.argv[1]) as bench:
    said = subprocess.run([bench.offhook, "modem", "sip:1@127.0.0.1,register=no,transport=tls", "--best-effort", "--seconds", "0.1"],
                          capture_output=True, text=True, timeout=60, check=False).stderr
    if "has no SRTP" in said:
        print("SKIPPED: " + said.strip())
        sys.exit(77)
    ca = authority(bench)
    good = certificate(bench, "good", "IP:127.0.0.1")
    wrong = certificate(bench, "wrong", "DNS:pbx.example")
    pa, pb, pc, pd = free_ports(4, socket.SOCK_STREAM)
    tls = f"transport=tls,register=no,ca-file={ca}"
    one, a = modem(bench, "a", f"sip:100@127.0.0.1:{pb},local=127.0.0.1:{pa},cert-file={good},{tls}")
    other, b = modem(bench, "b", f"sip:200@127.0.0.1:{pa},local=127.0.0.1:{pb},cert-file={good},{tls}")
    say(a, b"ATE0+WHY=1;+MS=" + carrier + b";+MR=1")
    say(b, b"ATE0S0=2+VCID=1;+MS=" + carrier)
    said = bench.connect(a, b, b"5551234")
    print(said.decode().replace("\r", " ").replace("\n", ""))
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 400, 60)
    # The hang-up of each end also arrives through TLS: it goes to the other's port with the other's certificate.
    time.sleep(1.2)
    os.write(b, b"+++")
    hear(b, b"OK", 5)
    say(b, b"ATH", seconds=12)
    said = hear(a, b"reached", 15)

    # A server whose certificate has another name or an unknown authority is refused, except with verify=no.
    third, c = modem(bench, "c", f"sip:300@127.0.0.1:{pa},local=127.0.0.1:{pc},cert-file={wrong},{tls}")
    fourth, d = modem(bench, "d", f"sip:400@127.0.0.1:{pc},local=127.0.0.1:{pd},{tls}")
    say(d, b"ATE0+WHY=1;+MS=" + carrier)
    dial_fails(d, b"the certificate of 127.0.0.1 is refused: IP address mismatch")
    fourth.send_signal(signal.SIGINT)
    fourth.wait()
    fourth, e = modem(bench, "e", f"sip:400@127.0.0.1:{pa},local=127.0.0.1:{pd},transport=tls,register=no")
    say(e, b"ATE0+WHY=1;+MS=" + carrier)
    dial_fails(e, b"the certificate of 127.0.0.1 is refused: self-signed certificate in certificate chain")
    fourth.send_signal(signal.SIGINT)
    fourth.wait()
    # If one side has no SRTP, there is no call, and the reason is reported.
    fourth, f = modem(bench, "f", f"sip:400@127.0.0.1:{pa},local=127.0.0.1:{pd},transport=tls,register=no,verify=no,srtp=no")
    say(f, b"ATE0+WHY=1;+MS=" + carrier)
    dial_fails(f, b"488 Not Acceptable Here")

    # No key appears in an argument list, an output or a written file.
    shown = b""
    for p in (one, other, third, fourth):
        with open(f"/proc/{p.pid}/cmdline", "rb") as words:
            shown += words.read()
    for p in (one, other, third, fourth):
        p.send_signal(signal.SIGINT)
        p.wait()
    for path in glob.glob(bench.path("said*")) + glob.glob(bench.path("out*/*")):
        with open(path, "rb") as content:
            shown += content.read()
    if b"inline:" in shown or b"PRIVATE KEY" in shown:
        fail("a key is seen")
    for name in "ab":
        with open(bench.path(f"out{name}/summary.json"), encoding="utf-8") as text:
            network = json.load(text)["network"]
        print(name, network)
        if network["packets_received"] < 500 or network["packets_not_authentic"] > 0 or network["packets_replayed"] > 0:
            fail("the packets of SRTP")

    # Invalid files, reported in one line.
    for options, expected in ((f"ca-file={good}.no", "expected certificates of authorities"),
                              (f"ca-file={ca},cert-file={ca}", "expected a certificate and its key")):
        done = subprocess.run([bench.offhook, "modem", f"sip:1@127.0.0.1,transport=tls,register=no,{options}", "--best-effort"],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1 or expected not in done.stderr or re.search(r"\n.", done.stderr):
            fail(f"{options}: {done.returncode} {done.stderr!r}")
print("all passed")
