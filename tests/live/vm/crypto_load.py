#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets the kernel encrypt with its vector registers (AES-NI by AF_ALG) until it is stopped, and compares every result with
the first one, which detects disturbed kernel_fpu_begin() sections.

usage: crypto_load.py SECONDS      or until SIGTERM; prints "begun", then the number of encryptions; exit status 1: one differed, 77: no AF_ALG
"""
import signal
import socket
import sys
import time

seconds, count, first = float(sys.argv[1]), 0, None
try:
    algorithm = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
    algorithm.bind(("skcipher", "cbc(aes)"))
except OSError as error:
    print(f"no AF_ALG: {error}")
    sys.exit(77)
algorithm.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, bytes(range(32)))
end = time.monotonic() + seconds
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
print("begun", flush=True)
while not stopped and time.monotonic() < end:
    operation, _ = algorithm.accept()
    with operation:
        operation.sendmsg_afalg([bytes(4096)], op=socket.ALG_OP_ENCRYPT, iv=bytes(16))
        result = operation.recv(4096)
    first = first or result
    if result != first:
        print(f"encryption {count} differs")
        sys.exit(1)
    count += 1
print(f"{count} encryptions")
