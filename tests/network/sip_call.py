#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls by SIP between two modems of Offhook: RING, caller's number, S0, data, hang-up, cancellation.

Usage: sip_call.py OFFHOOK CARRIER. Skipped (77) if the program was built without SIP.
"""
import os
import signal
import sys
import time

from network import SipBench, exchange, fail, free_ports, hear, say

carrier = sys.argv[2].encode()
with SipBench(sys.argv[1]) as bench:
    pa, pb = free_ports(2)
    one, a = bench.modem(f"sip:100@127.0.0.1:{pb},local=127.0.0.1:{pa},register=no", "a")
    other, b = bench.modem(f"sip:200@127.0.0.1:{pa},local=127.0.0.1:{pb},register=no", "b")
    say(a, b"ATE0+WHY=1;+MS=" + carrier + b";+MR=1")
    say(b, b"ATE0S0=2+VCID=1;+MS=" + carrier)
    said = bench.connect(a, b, b"5551234")
    if b"+MCR: " + carrier not in said:
        fail(f"another modulation than {carrier!r}: {said!r}")
    for sender, receiver in ((a, b), (b, a)):
        exchange(sender, receiver, 400, 60)
    time.sleep(1.2)
    os.write(a, b"+++")
    hear(a, b"OK", 5)
    say(a, b"ATH", seconds=12)
    hear(b, b"NO CARRIER", 12)

    # The caller cancels while it rings; the next call finds the line free. The answerer accepts it by A.
    say(b, b"ATS0=0")
    os.write(a, b"ATDT1\r")
    hear(b, b"RING", 10)
    say(a, b"x", b"NO CARRIER")
    time.sleep(1)
    os.write(a, b"ATDT2\r")
    hear(b, b"RING", 10)
    os.write(b, b"ATA\r")
    hear(a, b"CONNECT ", 60)
    hear(b, b"CONNECT ", 20)
    # The answerer's program ends: BYE arrives, and the caller prints the reason.
    other.send_signal(signal.SIGINT)
    said = hear(a, b"reached", 15)
    if b"the far end hung up" not in said and b"cleared down" not in said:
        fail(f"the reason was {said!r}")
    other.wait()
    # There is no listener any more. A call needs a number.
    os.write(a, b"ATDT3\r")
    said = hear(a, b"reached", 45)
    if b"NO DIALTONE" not in said:
        fail(f"a call to nobody ended with {said!r}")
    say(a, b"ATD", b"ERROR")
    one.send_signal(signal.SIGINT)
    one.wait()
print("all passed")
