#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signalling with third-party software: sipp (package sip-tester) refuses, challenges, floods and sends invalid data. baresip calls and is
called, also by TLS and with SRTP, which it implements itself.

Usage: sip_peers.py OFFHOOK sipp|baresip|baresip-tls. Skipped (77) if the program has no SIP or the peer is not installed.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import wave

from network import SipBench, authority, certificate, exchange, fail, free_ports, hear, say, settle, sipp

PEER, _, WITH_TLS = sys.argv[2].partition("-")
if not shutil.which(PEER):
    print(f"SKIPPED: {PEER} is not installed (package {'sip-tester' if PEER == 'sipp' else PEER})")
    sys.exit(77)

HEADERS = "[last_Via:]\n[last_From:]\n[last_To:];tag=[pid]t[call_number]\n[last_Call-ID:]\n[last_CSeq:]\n"


def answer_with(status):
    """Scenario: an INVITE is refused."""
    return (f'<scenario name="refuse"><recv request="INVITE"/><send retrans="500"><![CDATA[SIP/2.0 {status}\n{HEADERS}'
            'Content-Length: 0\n\n]]></send><recv request="ACK"/></scenario>')


REGISTRAR = ('<scenario name="registrar"><recv request="REGISTER"/><send><![CDATA[SIP/2.0 401 Unauthorized\n' + HEADERS +
             'WWW-Authenticate: Digest realm="test", nonce="47ebe028cda119c35d4877b383027d28da013815"\n'
             'Content-Length: 0\n\n]]></send><recv request="REGISTER"><action>'
             '<verifyauth assign_to="right" username="100" password="swordfish"/></action></recv>'
             '<nop hide="true" test="right" next="accept"/>'
             '<send next="end"><![CDATA[SIP/2.0 403 Forbidden\n' + HEADERS + 'Content-Length: 0\n\n]]></send>'
             '<label id="accept"/><send><![CDATA[SIP/2.0 200 OK\n' + HEADERS +
             '[last_Contact:]\nExpires: 600\nContent-Length: 0\n\n]]></send><label id="end"/></scenario>')

BUSY_CALLS = ('<scenario name="flood"><send retrans="500"><![CDATA[INVITE sip:100@[remote_ip]:[remote_port] SIP/2.0\n'
              'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\n'
              'From: <sip:9@[local_ip]:[local_port]>;tag=[call_number]\nTo: <sip:100@[remote_ip]:[remote_port]>\n'
              'Call-ID: [call_id]\nCSeq: 1 INVITE\nContact: <sip:9@[local_ip]:[local_port]>\nMax-Forwards: 70\n'
              'Content-Length: 0\n\n]]></send><recv response="100" optional="true"/><recv response="486"/>'
              '<send><![CDATA[ACK sip:100@[remote_ip]:[remote_port] SIP/2.0\n[last_Via:]\n[last_From:]\n[last_To:]\n'
              'Call-ID: [call_id]\nCSeq: 1 ACK\nMax-Forwards: 70\nContent-Length: 0\n\n]]></send></scenario>')


def heard_line(p, text, seconds=10):
    """A line of the program's output that contains the text."""
    end = time.time() + seconds
    while time.time() < end:
        line = p.stdout.readline().decode()
        if text in line:
            return line
    return fail(f"the program never said {text!r}")


def with_sipp(bench):
    pa, ps, pf = free_ports(3)
    modem, a = bench.modem(f"sip:100@127.0.0.1:{ps},local=127.0.0.1:{pa},register=no", "a")
    say(a, b"ATE0+WHY=1")
    for status, result in (("486 Busy Here", b"BUSY"), ("480 Temporarily Unavailable", b"NO ANSWER"),
                           ("404 Not Found", b"NO CARRIER"), ("403 Forbidden", b"NO DIALTONE"),
                           ("503 Service Unavailable", b"NO CARRIER")):
        peer = sipp(bench, answer_with(status), ps, "-m", "1")
        time.sleep(0.5)
        os.write(a, b"ATDT5551234\r")
        said = hear(a, b"reached", 20)
        if result not in said or status.encode() not in said:
            fail(f"{status}: {said!r}")
        peer.wait(20)
        print(status, "->", result.decode(), flush=True)

    # Invalid data, then calls that ring: one line accepts one of them, and the others get "busy".
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for junk in (b"", b"\0" * 100, b"INVITE sip:1@x SIP/2.0\r\n\r\n", b"SIP/2.0 200 OK\r\n\r\n", os.urandom(1400),
                     b"OPTIONS sip:100@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:1;branch=z9hG4bKx\r\n\r\n",
                     b"INVITE " + b"x" * 8000 + b" SIP/2.0\r\n\r\n"):
            s.sendto(junk, ("127.0.0.1", pa))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        s.settimeout(5)
        s.sendto((f"OPTIONS sip:100@127.0.0.1:{pa} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:{s.getsockname()[1]};branch=z9hG4bK1\r\n"
                  f"From: <sip:9@127.0.0.1>;tag=1\r\nTo: <sip:100@127.0.0.1>\r\nCall-ID: o1\r\nCSeq: 1 OPTIONS\r\n"
                  "Max-Forwards: 70\r\nContent-Length: 0\r\n\r\n").encode(), ("127.0.0.1", pa))
        if b"SIP/2.0 200 OK" not in s.recv(4096):
            fail("OPTIONS is not answered by 200")
    # A thousand calls while one is in data mode: all are refused, and the bytes remain correct.
    modem_b, b = bench.modem(f"sip:200@127.0.0.1:{pa},local=127.0.0.1:{pf},register=no", "b")
    say(a, b"ATS0=1+MS=V22B")
    say(b, b"ATE0+MS=V22B")
    os.write(b, b"ATDT100\r")
    hear(b, b"CONNECT ", 60)
    hear(a, b"CONNECT ", 20)
    settle(a)
    flood = sipp(bench, BUSY_CALLS, ps, f"127.0.0.1:{pa}", "-m", "1000", "-r", "200")
    exchange(a, b, 300, 60)
    exchange(b, a, 300, 60)
    if flood.wait(60) != 0:
        fail(f"sipp: {flood.returncode}: not every call was refused")
    for p in (modem, modem_b):
        p.send_signal(signal.SIGINT)
        p.wait()

    # Digest, computed by sipp: the right password and a wrong one. It must not appear anywhere.
    for password, expected in (("swordfish", "SIP: registered"), ("marlin", "SIP: not registered: 403")):
        with open(bench.path("password"), "w", encoding="ascii") as out:
            out.write(password + "\n")
        os.chmod(bench.path("password"), 0o600)
        peer = sipp(bench, REGISTRAR, ps, "-m", "1")
        time.sleep(0.5)
        p = bench.start("modem", f"sip:100@127.0.0.1:{ps},local=127.0.0.1:{pa},password-file={bench.path('password')}",
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(heard_line(p, expected).strip(), flush=True)
        with open(f"/proc/{p.pid}/cmdline", "rb") as words:
            if password.encode() in words.read():
                fail("the password is in the list of processes")
        p.send_signal(signal.SIGINT)
        if password.encode() in p.communicate(timeout=20)[0]:
            fail("the password was printed")
        peer.terminate()
        peer.wait()


def with_baresip(bench):
    pa, pb, pm = free_ports(3)
    modules = next((p for p in ("/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules") if os.path.isdir(p)), None)
    if modules is None:
        print("SKIPPED: baresip's modules are not where Debian has them")
        sys.exit(77)
    folder = bench.path("baresip")
    os.mkdir(folder)
    with wave.open(folder + "/tone.wav", "wb") as tone:  # 30 s at baresip's rate of G.711
        tone.setparams((1, 2, 8000, 0, "NONE", ""))
        tone.writeframes(b"\x00\x10\x00\xf0" * 120_000)
    ours, theirs, more, options = "", f":{pb}", "", ""
    if WITH_TLS:  # on the next port
        ca = authority(bench)
        cert = certificate(bench, "both", "IP:127.0.0.1")
        more = f"module srtp.so\nsip_certificate {cert}\nsip_cafile {ca}\n"
        theirs, options = f":{pb + 1};transport=tls", ";mediaenc=srtp-mand"
        ours = f",transport=tls,ca-file={ca},cert-file={cert}"
    with open(folder + "/config", "w", encoding="ascii") as out:
        out.write(f"sip_listen 127.0.0.1:{pb}\naudio_player aufile,{folder}/heard.wav\naudio_source aufile,{folder}/tone.wav\n"
                  f"audio_alert aufile,/dev/null\nmodule_path {modules}\nmodule g711.so\nmodule aufile.so\n"
                  "module_tmp account.so\nmodule_app menu.so\nmodule_app contact.so\n"
                  f"rtp_ports {pm}-{pm + 200}\nnet_interface 127.0.0.1\n{more}")
    with open(folder + "/accounts", "w", encoding="ascii") as out:
        out.write(f"<sip:200@127.0.0.1{theirs}>;regint=0;answermode=auto;audio_codecs=PCMA/8000/1,PCMU/8000/1{options}\n")
    open(folder + "/contacts", "w", encoding="ascii").close()

    def baresip(*words):
        p = subprocess.Popen(["baresip", "-f", folder, *words], stdin=subprocess.DEVNULL, stdout=open(folder + "/log", "wb"),
                             stderr=subprocess.STDOUT)
        bench.processes.append(p)
        return p

    modem, a = bench.modem(f"sip:100@127.0.0.1:{pb + bool(WITH_TLS)},local=127.0.0.1:{pa},register=no{ours}", "a")
    say(a, b"ATE0+WHY=1;+VCID=1;S7=5")
    # It is called and answers automatically. There is no modem, so S7 ends the call.
    peer = baresip()
    time.sleep(2)
    os.write(a, b"ATDT200\r")
    said = hear(a, b"reached", 20)
    if b"NO CARRIER" not in said:
        fail(f"a call to a telephone ended with {said!r}")
    peer.terminate()
    peer.wait()
    # It calls, A accepts the call, and baresip's end ends the call.
    peer = baresip("-e", f"/dial sip:100@127.0.0.1:{pa}{';transport=tls' if WITH_TLS else ''}", "-t", "6")
    hear(a, b"NMBR = 200", 10)
    say(a, b"ATS7=60")
    os.write(a, b"ATA\r")
    said = hear(a, b"reached", 20)
    if b"the far end hung up" not in said:
        fail(f"after baresip's BYE: {said!r}")
    peer.wait(20)
    modem.send_signal(signal.SIGINT)
    modem.wait()
    with open(bench.path("outa/summary.json"), encoding="utf-8") as text:
        network = json.load(text).get("network", {})
    print(network)
    # With SRTP, one report from baresip may not be authentic. It is not a media packet, of which none is missing.
    if network.get("packets_received", 0) < 50 or network["packets_foreign"] + network["packets_lost"] > 0:
        fail("baresip's G.711 was not heard")


with SipBench(sys.argv[1]) as bench:
    {"sipp": with_sipp, "baresip": with_baresip}[PEER](bench)
print("all passed")
