#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faxes through `offhook fax gateway`, whose pixels are compared: a fax machine with modem signals on a line of `offhook line`, and one
on T.38, each as sender; a network that loses every tenth datagram; and a far end that refuses T.38.

Usage: fax_gateway.py OFFHOOK. Skipped (77) if the program has no SIP, or without python3-pil.
"""
import os
import socket
import subprocess
import sys
import threading
import time

from network import SipBench, fail, free_ports, wait_for

from fax import ImageChops, late, pages, read  # from the folder that network.py adds

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def equal_pages(original, got):
    arrived = read(got) if os.path.exists(got) else []
    return len(arrived) == len(original) and all(
        x.size == y.size and ImageChops.difference(x.convert("L"), y.convert("L")).getbbox() is None for x, y in zip(original, arrived))


class LossyRelay:
    """SIP between two ports of the loopback interface, and the datagrams of T.38 that its descriptions announce, every tenth of which is
    lost in each direction. Each end believes that the relay is the other end."""

    def __init__(self, a, b):
        self.ends, self.running, self.lost = (a, b), True, 0
        self.sip = [self.bound(), self.bound()]  # the side of a, the side of b
        self.media = {}
        threading.Thread(target=self.carry_sip, args=(0,), daemon=True).start()
        threading.Thread(target=self.carry_sip, args=(1,), daemon=True).start()

    @staticmethod
    def bound():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        s.settimeout(0.2)
        return s

    def port(self, side):
        return self.sip[side].getsockname()[1]

    def announced(self, port):
        """Our port in place of a port of media."""
        if port not in self.media:
            self.media[port] = self.bound()
            threading.Thread(target=self.carry_media, args=(port,), daemon=True).start()
        return self.media[port].getsockname()[1]

    def carry_sip(self, side):
        """From the end at `side` to the other one. Addresses in the text become ours, as the other end sees them."""
        while self.running:
            try:
                text = self.sip[side].recv(8192).decode("utf-8", "replace")
            except socket.timeout:
                continue
            mine, theirs = self.ends[side], self.port(1 - side)
            head, _, body = text.partition("\r\n\r\n")
            lines = []
            for line in body.split("\r\n"):
                if line.startswith("m=image ") and line.split()[1] != "0":
                    words = line.split()
                    words[1] = str(self.announced(int(words[1])))
                    line = " ".join(words)
                lines.append(line)
            body = "\r\n".join(lines)
            head = head.replace(f"127.0.0.1:{self.port(side)}", f"127.0.0.1:{self.ends[1 - side]}").replace(
                f"127.0.0.1:{mine}", f"127.0.0.1:{theirs}")
            head = "\r\n".join(f"Content-Length: {len(body)}" if h.lower().startswith("content-length") else h for h in head.split("\r\n"))
            self.sip[1 - side].sendto((head + "\r\n\r\n" + body).encode(), ("127.0.0.1", self.ends[1 - side]))

    def carry_media(self, port):
        """To the end whose port this is; from the relay's port for the other one, once that is known."""
        n = 0
        while self.running:
            try:
                datagram, sender = self.media[port].recvfrom(2048)
            except socket.timeout:
                continue
            n += 1
            if n % 10 == 0:
                self.lost += 1
                continue
            back = self.media.get(sender[1])
            if back is not None:
                back.sendto(datagram, ("127.0.0.1", port))

    def stop(self):
        self.running = False


def call(bench, name, line_sends, relay=False, t38="accept", correction=True):
    """One call. @return outputs of machine on the line, gateway, machine on T.38; their exit status; the received file"""
    cards = [bench.path(f"{end}-{name}") for end in "ab"]
    bench.start("line", *cards, stdout=subprocess.DEVNULL)
    wait_for(lambda: all(os.path.exists(card) for card in cards), "cards")
    pg, pt = free_ports(2)
    carrier = LossyRelay(pg, pt) if relay else None
    gateway_peer, far_peer = (carrier.port(0), carrier.port(1)) if carrier else (pt, pg)
    got, page = bench.path(name + ".tif"), bench.path("sent.tif")
    common = ("--seconds", "200") + (() if correction else ("--no-error-correction",))
    account = f"sip:200@127.0.0.1:{far_peer},local=127.0.0.1:{pt},register=no"
    line_card = "unix:" + cards[0 if line_sends else 1]
    gateway_card = "unix:" + cards[1 if line_sends else 0]
    serves = ("--to", "200") if line_sends else ("--dial", "5551234")
    gateway = bench.start("fax", "gateway", gateway_card, f"sip:100@127.0.0.1:{gateway_peer},local=127.0.0.1:{pg},register=no", *serves,
                          "--calls", "1", "--seconds", "200", **PIPES)
    if line_sends:
        far = bench.start("fax", "receive", got, account, *common, "--t38", t38, **PIPES)
        time.sleep(1)
        near = bench.start("fax", "send", page, "5551234", line_card, *common, "--ident", "+1 555", **PIPES)
    else:
        near = bench.start("fax", "receive", got, line_card, *common, **PIPES)
        time.sleep(1)
        far = bench.start("fax", "send", page, "100", account, *common, "--t38", t38, "--ident", "+1 555", **PIPES)
    ends = (near, gateway, far)
    if t38 == "no":  # the machine on the line is not answered
        gateway.wait(60)
        for end in (near, far):
            end.send_signal(2)
    said = [end.communicate(timeout=220)[0] for end in ends]
    if carrier:
        carrier.stop()
        if carrier.lost < 20:
            fail(f"{name}: the relay lost {carrier.lost} datagrams\n" + "\n".join(said))
    return said, [end.returncode for end in ends], got


with SipBench(sys.argv[1]) as fax_bench:
    sheets = list(pages(1, 120))
    sheets[0].save(fax_bench.path("sent.tif"), save_all=True, append_images=sheets[1:], compression="group4", dpi=(204, 98))
    for name, options in (("line-to-t38", {"line_sends": True}), ("t38-to-line", {"line_sends": False}),
                          ("line-to-t38-lossy", {"line_sends": True, "relay": True}),
                          ("t38-to-line-lossy", {"line_sends": False, "relay": True}),
                          ("plain", {"line_sends": True, "correction": False})):
        for attempt in range(3):
            said, status, got = call(fax_bench, f"{name}{attempt}", **options)
            whole = status == [0, 0, 0] and equal_pages(sheets, got)
            if whole or not sum(late(text) for text in said):
                break
        everything = "\n".join(said)
        if not whole:
            fail(f"{name}: status {status}\n{everything}")
        for text in ("T.38 is agreed", "call over: 2 pages confirmed at 14400 bit/s"):
            if text not in said[1]:
                fail(f"{name}: no {text!r} in\n{everything}")
        for word in ("DIS", "DCS", "DCN"):
            if word not in said[1]:
                fail(f"{name}: no frame {word} in\n{everything}")
        if options.get("relay") and "t38_packets_recovered: 0" in said[1]:
            fail(f"{name}: no packet was recovered\n{everything}")
        print(f"{name}: pages equal", flush=True)
    said, status, got = call(fax_bench, "refused", line_sends=True, t38="no")
    if status[1] != 2 or "the far end refuses T.38: 488" not in said[1]:
        fail(f"refused: status {status}\n" + "\n".join(said))
    print("refused: the line is not answered")
print("all passed")
