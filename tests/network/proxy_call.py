#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls through a provider of third-party software: kamailio is registrar and proxy with a password, rtpengine relays the media.

Usage: proxy_call.py OFFHOOK CARRIER. Skipped (77) if the program has no SIP, or kamailio or rtpengine is not installed.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from network import SipBench, exchange, fail, free_ports, hear, say

for needed, package in (("kamailio", "kamailio"), ("rtpengine", "rtpengine-daemon")):
    if not shutil.which(needed):
        print(f"SKIPPED: {needed} is not installed (package {package})")
        sys.exit(77)

PASSWORD = "swordfish"
CONFIG = """#!KAMAILIO
debug=2
log_stderror=yes
children=2
tcp_children=2
listen=udp:127.0.0.1:PORT
listen=tcp:127.0.0.1:PORT
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
loadmodule "rtpengine.so"
modparam("rtpengine", "rtpengine_sock", "udp:127.0.0.1:CONTROL")
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (has_totag()) {
    if (loose_route()) {
      if (is_method("BYE")) rtpengine_delete();
      t_relay();
    } else if (!is_method("ACK")) sl_send_reply("404", "Not Here");
    exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("$fd", "PASSWORD", "0")) { www_challenge("$fd", "1"); exit; }
    save("location");
    exit;
  }
  if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  if (!pv_proxy_authenticate("$fd", "PASSWORD", "0")) { proxy_challenge("$fd", "1"); exit; }
  consume_credentials();
  record_route();
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  rtpengine_offer();
  t_on_reply("ANSWER");
  t_relay();
}
onreply_route[ANSWER] {
  if (has_body("application/sdp")) rtpengine_answer();
}
"""


def open_port(port, seconds=10):
    """Waits until a port is listening."""
    end = time.time() + seconds
    while time.time() < end:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    fail(f"nothing listens at port {port}")


def provider(bench):
    """kamailio and rtpengine on free ports. @return kamailio's port, and rtpengine's output file"""
    (port,) = free_ports(1, socket.SOCK_STREAM)
    control, first = free_ports(2)
    config = bench.path("kamailio.cfg")
    with open(config, "w", encoding="ascii") as out:
        out.write(CONFIG.replace("PORT", str(port)).replace("CONTROL", str(control)).replace("PASSWORD", PASSWORD))
    with open(bench.path("relay.log"), "wb") as log:
        bench.processes.append(subprocess.Popen(
            ["rtpengine", "--config-file=none", "--foreground", "--log-stderr", "--log-level=6", "--table=-1", "--delete-delay=0",
             "--interface=127.0.0.1", f"--listen-ng=127.0.0.1:{control}", f"--port-min={first}", f"--port-max={first + 40}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log))
    with open(bench.path("proxy.log"), "wb") as log:
        bench.processes.append(subprocess.Popen(
            ["kamailio", "-DD", "-E", "-f", config, "-Y", bench.folder, "-w", bench.folder, "-P", bench.path("proxy.pid")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log))
    open_port(port)
    return port, bench.path("relay.log")


def registered(bench, name, port, local, password, expected, *more):
    """A modem with account NAME, after it has printed its registration. @return the process and its terminal"""
    with open(bench.path("password" + name), "w", encoding="ascii") as out:
        out.write(password + "\n")
    os.chmod(bench.path("password" + name), 0o600)
    said = bench.path("said" + name)
    with open(said, "wb") as out:
        address = f"sip:{name}@127.0.0.1:{port},local=127.0.0.1:{local},password-file={bench.path('password' + name)}"
        p, terminal = bench.modem(",".join((address, *more)), name, stdout=out, stderr=subprocess.STDOUT)
    end = time.time() + 10
    while time.time() < end:
        with open(said, encoding="utf-8") as text:
            if expected in text.read():
                return p, terminal
        time.sleep(0.1)
    with open(said, encoding="utf-8") as text:
        return fail(f"account {name} did not say {expected!r}: {text.read()!r}")


carrier = sys.argv[2].encode()
with SipBench(sys.argv[1]) as bench:
    port, relay_log = provider(bench)
    pa, pb, pc = free_ports(3)
    one, a = registered(bench, "100", port, pa, PASSWORD, "SIP: registered")
    other, b = registered(bench, "200", port, pb, PASSWORD, "SIP: registered", "transport=tcp", "law=pcma")
    stranger, _ = registered(bench, "300", port, pc, "marlin", "SIP: not registered: 401")
    stranger.send_signal(signal.SIGINT)
    stranger.wait()

    say(a, b"ATE0+WHY=1;+MS=" + carrier)
    say(b, b"ATE0S0=2+VCID=1;+MS=" + carrier)
    print(bench.connect(a, b, b"200").decode().strip().splitlines()[-1], flush=True)
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 2000, 60)
    time.sleep(1.2)
    os.write(b, b"+++")
    hear(b, b"OK", 5)
    say(b, b"ATH", seconds=12)
    hear(a, b"reached", 15)

    # A caller that is not registered is not found; one that is registered need not answer the call.
    os.write(a, b"ATDT999\r")
    said = hear(a, b"reached", 20)
    if b"404" not in said:
        fail(f"a number that the registrar does not know: {said!r}")
    say(b, b"ATS0=0")
    os.write(a, b"ATDT200\r")
    hear(b, b"RING", 10)
    say(a, b"x", b"NO CARRIER")
    for p in (one, other):
        p.send_signal(signal.SIGINT)
        p.wait()

    # The media went through the relay: its packet counts for each end equal those of the ends.
    for name in ("100", "200"):
        with open(bench.path(f"out{name}/summary.json"), encoding="utf-8") as text:
            counts = json.load(text)["network"]
        print(name, counts, flush=True)
        if counts["samples_lost"] > 800:
            fail(f"account {name} lost {counts['samples_lost']} samples: it waited for a far end that had hung up")
    with open(relay_log, encoding="utf-8") as text:
        relayed = [int(p) for p in re.findall(r"SSRC \w+, (\d+) p, \d+ b, 0 e", text.read())]
    if len([p for p in relayed if p > 200]) != 2:
        fail(f"rtpengine relayed {relayed} packets")
    print("rtpengine relayed", relayed, "packets")
print("all passed")
