#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faxes by SIP, whose pixels are compared: T.38 offered by the receiver or the sender, with and without error correction, and G.711 if
one end refuses T.38. With sipp (package sip-tester): offers of another implementation, the answers, and a far end that refuses.

Usage: fax_sip.py OFFHOOK own|sipp. Skipped (77) if the program has no SIP, or without python3-pil or sipp.
"""
import re
import shutil
import subprocess
import sys
import time

from network import SipBench, fail, free_ports, sipp

from fax import ImageChops, late, pages, read  # from the folder that network.py adds

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
HEADERS = "[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\n"
AUDIO = "m=audio 6000 RTP/AVP 0\na=rtpmap:0 PCMU/8000\n"
FAX = "udptl t38\na=T38FaxVersion:0\na=T38FaxRateManagement:transferredTCF\na=T38FaxMaxDatagram:200\na=T38FaxUdpEC:t38UDPRedundancy\n"


def fax(bench, name, send=(), receive=(), ends=(0, 0)):
    """One call. @return the outputs of sender and receiver"""
    pa, pb = free_ports(2)
    got = bench.path(name + ".tif")
    receiver = bench.start("fax", "receive", got, f"sip:200@127.0.0.1:{pa},local=127.0.0.1:{pb},register=no", "--seconds", "200",
                           *receive, **PIPES)
    time.sleep(1)
    sender = bench.start("fax", "send", bench.path("sent.tif"), "200", f"sip:100@127.0.0.1:{pb},local=127.0.0.1:{pa},register=no",
                         "--ident", "+1 555", "--seconds", "200", *send, **PIPES)
    sent, received = sender.communicate(timeout=220)[0], receiver.communicate(timeout=220)[0]
    if (sender.returncode, receiver.returncode) != ends:
        fail(f"{name}: status {sender.returncode} and {receiver.returncode}\n{sent}\n{received}")
    return sent, received, got


def equal_pages(original, got):
    arrived = read(got)
    return len(arrived) == len(original) and all(
        x.size == y.size and ImageChops.difference(x.convert("L"), y.convert("L")).getbbox() is None for x, y in zip(original, arrived))


def own(bench, original):
    for name, send, receive, by, correction in (
            ("receiver-offers", (), (), "T.38", True),
            ("plain", ("--no-error-correction",), (), "T.38", False),
            ("sender-offers", ("--t38", "offer"), ("--t38", "accept"), "T.38", True),
            ("both-offer", ("--t38", "offer"), (), "T.38", True),
            ("sender-refuses", ("--t38", "no"), (), "G.711", True),
            ("receiver-refuses", ("--t38", "offer"), ("--t38", "no"), "G.711", True)):
        sent, received, got = fax(bench, name, send, receive)
        rate = "14400 bit/s" + (", with error correction" if correction else "")
        for text, where in ((rate, sent), (rate, received), ("2 pages sent and confirmed", sent), ("far machine: +1 555", received)):
            if text not in where:
                fail(f"{name}: no {text!r} in\n{where}")
        for where in (sent, received):
            if (re.search(r"^T\.38$", where, re.MULTILINE) is not None) != (by == "T.38"):
                fail(f"{name}: expected {by}\n{where}")
        if by == "G.711" and "refuses T.38: 488" not in sent + received:
            fail(f"{name}: no refusal\n{sent}\n{received}")
        lost = late(sent) + late(received)
        if not equal_pages(original, got) and (by == "T.38" or lost == 0):
            fail(f"{name}: the pages differ")
        print(f"{name}: {by}, pages equal", flush=True)
    # Without an account, directly to an address.
    pb, = free_ports(1)
    got = bench.path("direct.tif")
    receiver = bench.start("fax", "receive", got, f"sip:200@127.0.0.1,local=127.0.0.1:{pb},register=no", "--seconds", "200", **PIPES)
    time.sleep(1)
    sender = bench.start("fax", "send", bench.path("sent.tif"), f"sip:200@127.0.0.1:{pb}", "--seconds", "200", **PIPES)
    said = [p.communicate(timeout=220)[0] for p in (sender, receiver)]
    if (sender.returncode, receiver.returncode) != (0, 0) or not equal_pages(original, got):
        fail(f"direct: {said}")
    print("direct: pages equal", flush=True)


def request(method, cseq, body=""):
    """A request by sipp in the call that it began."""
    kind = "Content-Type: application/sdp\n" if body else ""
    return (f'{method} sip:200@[remote_ip]:[remote_port] SIP/2.0\nVia: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\n'
            f'From: <sip:9@[local_ip]:[local_port]>;tag=[call_number]\nTo: <sip:200@[remote_ip]:[remote_port]>{"[peer_tag_param]" if cseq > 1 else ""}\n'
            f'Call-ID: [call_id]\nCSeq: {cseq} {method}\nContact: <sip:9@[local_ip]:[local_port]>\nMax-Forwards: 70\n{kind}'
            f'Content-Length: [len]\n\n{body}')


def session(media):
    return "v=0\no=- 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [local_ip]\nt=0 0\n" + media


def sends(text, retrans=True):
    return f'<send{" retrans=" + chr(34) + "500" + chr(34) if retrans else ""}><![CDATA[{text}\n]]></send>'


def recv(what, *patterns):
    """A message, and the required text in its body."""
    checks = "".join(f'<ereg regexp="{p}" search_in="body" check_it="true" assign_to="{k}"/>' for k, p in enumerate(patterns, 1))
    used = "".join(f'<log message="[${k}]"/>' for k in range(1, len(patterns) + 1))
    return f"<recv {what}><action>{checks}{used}</action></recv>" if patterns else f"<recv {what}/>"


BEGIN = (sends(request("INVITE", 1, session(AUDIO))) + recv('response="100" optional="true"') + recv('response="180" optional="true"') +
         recv('response="200"', "m=audio [1-9]") + sends(request("ACK", 2).replace("CSeq: 2", "CSeq: 1"), retrans=False))
BYE = sends(request("BYE", 9)) + recv('response="200"')


def scenario(*steps):
    wait = '<pause milliseconds="1500"/>'  # beginning of the receiver's modem, or of its packets
    return '<scenario name="fax">' + BEGIN + "".join(steps) + wait + BYE + "</scenario>"


def reinvite(media, *answers, response="200"):
    ack = sends(request("ACK", 2), retrans=False)
    return sends(request("INVITE", 2, session(media))) + recv('response="100" optional="true"') + recv(f'response="{response}"', *answers) + ack


def with_sipp(bench):
    """sipp has only signalling and no T.38, so T.30 fails when it hangs up."""
    refused = (recv('request="INVITE"', "m=image [1-9][0-9]* udptl t38", "a=T38FaxUdpEC:t38UDPRedundancy") +
               sends("SIP/2.0 488 Not Acceptable Here\n" + HEADERS + "Content-Length: 0\n", retrans=True) + recv('request="ACK"'))
    for name, receive, steps, expected in (
            ("offer", ("--t38", "accept"), reinvite("m=image 6002 " + FAX, "m=image [1-9][0-9]* udptl t38", "T38FaxVersion:0"), "T.38"),
            ("two-streams", ("--t38", "accept"), reinvite("m=audio 0 RTP/AVP 0\nm=image 6002 " + FAX, "m=audio 0 ", "m=image [1-9]"), "T.38"),
            ("not-here", ("--t38", "no"), reinvite("m=image 6002 " + FAX, response="488"), "G.711"),
            ("local-tcf", ("--t38", "accept"), reinvite("m=image 6002 " + FAX.replace("transferredTCF", "localTCF"), response="488"), "G.711"),
            ("refusal", (), refused, "G.711: the far end refuses T.38: 488 Not Acceptable Here")):
        ps, pb = free_ports(2)
        receiver = bench.start("fax", "receive", bench.path(name + ".tif"), f"sip:200@127.0.0.1:{ps},local=127.0.0.1:{pb},register=no",
                               "--seconds", "100", *receive, **PIPES)
        time.sleep(1)
        caller = sipp(bench, scenario(steps), ps, f"127.0.0.1:{pb}", "-m", "1", "-timeout", "60", name=name)
        said = receiver.communicate(timeout=120)[0]
        status = caller.wait(70)
        if status != 0 or expected not in said.splitlines() or receiver.returncode != 2:
            errors = open(bench.path(name + ".err"), encoding="utf-8", errors="replace").read() if status else ""
            fail(f"{name}: sipp {status}, receiver {receiver.returncode}\n{said}\n{errors}")
        print(f"{name}: {expected}", flush=True)


with SipBench(sys.argv[1]) as fax_bench:
    if sys.argv[2] == "sipp":
        if not shutil.which("sipp"):
            print("SKIPPED: sipp is not installed (package sip-tester)")
            sys.exit(77)
        with_sipp(fax_bench)
    else:
        sheets = list(pages(1, 120))
        sheets[0].save(fax_bench.path("sent.tif"), save_all=True, append_images=sheets[1:], compression="group4", dpi=(204, 98))
        own(fax_bench, sheets)
print("all passed")
