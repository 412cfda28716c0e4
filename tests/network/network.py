# SPDX-License-Identifier: MIT
"""Functions of the tests of calls over networks: ports, modems and their terminals, an AudioSocket exchange."""
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live import Bench, fail, hear, say, wait_for  # noqa: E402  (from a folder next to this one)

__all__ = ["Bench", "NetworkBench", "SipBench", "Exchange", "authority", "between", "certificate", "exchange", "fail", "free_ports", "hear", "say",
           "settle", "sipp", "wait_for"]


def free_ports(n, kind=socket.SOCK_DGRAM):
    """n ports on the loopback interface that are free, each with the next higher one; even numbers.

    They are below the range from which the kernel numbers other sockets: a port of that range may be taken before its user binds it.
    """
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as text:
        above = int(text.read().split()[0])
    ports = []
    for port in random.sample(range(10000, max(above, 20000) - 1, 2), 1000):
        with socket.socket(socket.AF_INET, kind) as first, socket.socket(socket.AF_INET, kind) as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == n:
            return ports
    return fail(f"fewer than {n} of 1000 ports are free")


def settle(fd, seconds=0.3):
    """The output of the terminal until it is quiet."""
    heard = b""
    while select.select([fd], [], [], seconds)[0]:
        heard += os.read(fd, 4096)
    return heard


def exchange(sender, receiver, n, seconds):
    """n random bytes (except '+') arrive as they were sent, however few the terminal accepts at a time."""
    sent, received, end = os.urandom(n).replace(b"+", b"-"), b"", time.time() + seconds
    left = sent
    while len(received) < n and time.time() < end:
        readable, writable, _ = select.select([receiver], [sender] if left else [], [], 0.1)
        try:
            if writable:
                left = left[os.write(sender, left[:1000]):]
            if readable:
                received += os.read(receiver, 4096)
        except BlockingIOError:
            pass
    if received != sent:
        same = next((i for i, (x, y) in enumerate(zip(received, sent)) if x != y), min(len(received), n))
        fail(f"{len(received)} bytes arrived, {n} were sent; the first {same} agree")


def between(terminal, end, down, up):
    """Random bytes both ways at once between a modem's terminal and another program, without '+'. @return seconds"""
    sent = {terminal: os.urandom(down).replace(b"+", b"-"), end.stdin.fileno(): os.urandom(up)}
    left, received = dict(sent), {terminal: b"", end.stdout.fileno(): b""}
    start = time.time()
    while time.time() < start + 90:
        if len(received[terminal]) >= up and len(received[end.stdout.fileno()]) >= down:
            break
        readable, writable, _ = select.select(list(received), [fd for fd in left if left[fd]], [], 0.1)
        for fd in writable:
            try:
                left[fd] = left[fd][os.write(fd, left[fd][:1000]):]
            except BlockingIOError:
                pass
        for fd in readable:
            try:
                received[fd] += os.read(fd, 4096)
            except BlockingIOError:
                pass
    for source, sink in ((terminal, end.stdout.fileno()), (end.stdin.fileno(), terminal)):
        if received[sink] != sent[source]:
            same = next((i for i, (x, y) in enumerate(zip(received[sink], sent[source])) if x != y), len(received[sink]))
            fail(f"{len(received[sink])} of {len(sent[source])} bytes arrived; the first {same} agree")
    return time.time() - start


def sipp(bench, scenario, port, *words, name="scenario"):
    """sipp (package sip-tester) at a port of the loopback interface, with its own scenario. Its errors go to NAME.err."""
    path = bench.path(name + ".xml")
    with open(path, "w", encoding="ascii") as out:
        out.write('<?xml version="1.0" encoding="ISO-8859-1"?>\n' + scenario)
    p = subprocess.Popen(["sipp", "-sf", path, "-i", "127.0.0.1", "-p", str(port), "-nostdin", "-trace_err", "-error_file",
                          bench.path(name + ".err"), *words], cwd=bench.folder, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    bench.processes.append(p)
    return p


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"openssl {words[0]}: {done.stderr}")


def authority(bench):
    """A certificate authority for the test. @return the file of its certificate"""
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Authority of the test",
            "-keyout", bench.path("ca.key"), "-out", bench.path("ca.pem"))
    return bench.path("ca.pem")


def certificate(bench, name, subject):
    """A certificate from the authority, such as for "IP:127.0.0.1". @return a file with it and its key"""
    key, request, signed, names = (bench.path(name + end) for end in (".key", ".csr", ".crt", ".ext"))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=modem", "-keyout", key, "-out", request)
    with open(names, "w", encoding="ascii") as out:
        out.write("subjectAltName=" + subject + "\n")
    openssl("x509", "-req", "-in", request, "-CA", bench.path("ca.pem"), "-CAkey", bench.path("ca.key"), "-CAcreateserial",
            "-days", "2", "-extfile", names, "-out", signed)
    both = bench.path(name + ".pem")
    with open(both, "w", encoding="ascii") as out:
        os.chmod(both, 0o600)
        for path in (signed, key):
            with open(path, encoding="ascii") as part:
                out.write(part.read())
    return both


class NetworkBench(Bench):
    def modem(self, address, name, **more):
        """A modem at an address, and the descriptor of its terminal."""
        p = self.start("modem", address, "--tty", self.path("tty" + name), "--out", self.path("out" + name), **more)
        return p, self.open("tty" + name)


class SipBench(NetworkBench):
    @staticmethod
    def connect(a, b, number):
        """Modem A calls modem B, whose S0 answers and which prints the caller, 100.  @return output of A"""
        os.write(a, b"ATDT" + number + b"\r")
        hear(b, b"NMBR = 100", 10)
        hear(b, b"RING", 10)
        said = hear(a, b"CONNECT ", 60)
        hear(b, b"CONNECT ", 20)
        settle(b)
        return said

    def __enter__(self):
        """Skips if the program has no SIP."""
        said = subprocess.run([self.offhook, "modem", "sip:1@127.0.0.1,register=no", "--best-effort", "--seconds", "0.1"],
                              capture_output=True, text=True, timeout=60, check=False)
        if "has no SIP" in said.stderr:
            print("SKIPPED: " + said.stderr.strip())
            sys.exit(77)
        return super().__enter__()


class Exchange:
    """AudioSocket by its description: accepts connections in pairs and passes the audio of each to the other. It is
    independent of modems: kind, length in two octets (high one first), payload."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.seen = []  # (kind, length) of each message
        self.uuids = []

    @staticmethod
    def message(connection):
        def whole(n):
            octets = b""
            while len(octets) < n:
                more = connection.recv(n - len(octets))
                if not more:
                    raise ConnectionError("closed within a message")
                octets += more
            return octets
        header = whole(3)
        return header[0], whole(header[1] << 8 | header[2])

    def connect(self, port, uuid=bytes(range(16))):
        """Calls a server, like Asterisk's dial plan."""
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(b"\x01\x00\x10" + uuid)
        return connection

    def accept(self):
        connection, _ = self.listener.accept()
        kind, uuid = self.message(connection)
        if kind != 1 or len(uuid) != 16:
            fail(f"a call begins with kind {kind}, {len(uuid)} octets, and not with a UUID")
        self.uuids.append(uuid)
        return connection

    def pass_on(self, one, other):
        """In both directions until one end hangs up; then the other end is informed."""
        def way(source, sink):
            try:
                while True:
                    kind, payload = self.message(source)
                    self.seen.append((kind, len(payload)))
                    if kind == 0:
                        break
                    sink.sendall(bytes([kind, len(payload) >> 8, len(payload) & 255]) + payload)
            except OSError:
                pass
            try:
                sink.sendall(b"\x00\x00\x00")
            except OSError:
                pass
        ways = [threading.Thread(target=way, args=ends, daemon=True) for ends in ((one, other), (other, one))]
        for w in ways:
            w.start()
        return ways
